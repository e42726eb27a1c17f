// Draws two triangles on a device of the library's own, with four samples per pixel: the second only where the first is
// not. `--plain` draws it everywhere.
//
//   cc -std=c99 examples/capi/draw.c -Ivulkan/capi/include -Ltarget/release -lskrymir_capi -o draw
//   ./draw tests/data/vbc/triangle.vbc out.ppm

#include <skrymir.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const float POSITIONS[6][2] = {{-0.8f, -0.8f}, {0.4f, 0.0f},  {-0.8f, 0.8f},
                                      {0.8f, -0.8f},  {-0.4f, 0.0f}, {0.8f, 0.8f}};
static const float COLORS[6][3] = {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 1, 0}, {0, 1, 0}};

static void check(SkrymirResult result, const char *call) {
    if (result == SKRYMIR_RESULT_OK) return;
    fprintf(stderr, "%s: %s\n", call, skrymir_error_message());
    exit(1);
}

int main(int count, char **arguments) {
    static uint8_t bytes[1 << 20];
    FILE *file = count < 3 ? NULL : fopen(arguments[1], "rb");
    if (!file) {
        fprintf(stderr, "usage: draw triangle.vbc OUT.ppm [--plain]\n");
        return 1;
    }
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);

    SkrymirContext *context;
    SkrymirShader *shader;
    SkrymirProgram *program;
    check(skrymir_context_open(NULL, &context), "open");
    check(skrymir_shader_load(bytes, size, &shader), "load");
    check(skrymir_program_create(context, shader, &program), "program");

    SkrymirPipelineInfo state = {0};
    state.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    state.samples = VK_SAMPLE_COUNT_4_BIT;
    state.stencil_test = count == 3;
    state.stencil_front.compareOp = VK_COMPARE_OP_EQUAL;
    state.stencil_front.passOp = VK_STENCIL_OP_INCREMENT_AND_CLAMP;
    state.stencil_front.compareMask = state.stencil_front.writeMask = 0xff;
    state.stencil_back = state.stencil_front;
    SkrymirVertexData vertices[2] = {{0, POSITIONS, sizeof POSITIONS}, {1, COLORS, sizeof COLORS}};
    SkrymirDrawInfo info = {0};
    info.state = &state;
    info.width = info.height = 256;
    info.vertex_count = 6;
    info.clear_color[3] = 1.0f;
    info.vertex_data_count = 2;
    info.vertex_data = vertices;

    SkrymirSubmission *submission;
    SkrymirFrame *frame;
    SkrymirPixels pixels;
    check(skrymir_draw_submit(program, &info, &submission), "draw");
    check(skrymir_submission_wait(submission, &frame), "wait");
    check(skrymir_frame_target(frame, 0, &pixels), "target");
    file = fopen(arguments[2], "wb");
    if (!file) return 1;
    fprintf(file, "P6\n%u %u\n255\n", pixels.width, pixels.height);
    for (size_t at = 0; at < pixels.size; at += 4) fwrite(pixels.bytes + at, 1, 3, file);
    if (fclose(file) != 0) return 1;
    printf("picture: %s (Skrymir %s)\n", arguments[2], skrymir_version());

    skrymir_frame_destroy(frame);
    skrymir_submission_destroy(submission);
    skrymir_program_destroy(program);
    skrymir_shader_destroy(shader);
    skrymir_context_destroy(context);
    return 0;
}
