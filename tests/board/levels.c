/* Levels of detail: where the level changes, the number of steps between two levels, the filter in use,
 * and the source of the bias. Levels are 0, 40, 80, ... red; columns of level 0 alternate in green. */
#include "board.h"

#define TEXELS 64

static void texture(GLenum small, GLenum large, GLenum wrap)
{
    static unsigned char texels[TEXELS * TEXELS * 4];
    GLuint name;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    for (int level = 0, size = TEXELS; size > 0; level++, size /= 2) {
        for (int at = 0; at < size * size; at++) {
            texels[4 * at] = (unsigned char)(40 * level);
            texels[4 * at + 1] = level == 0 && at % 2 ? 255 : 0;
            texels[4 * at + 2] = 0;
            texels[4 * at + 3] = 255;
        }
        glTexImage2D(GL_TEXTURE_2D, level, GL_RGBA, size, size, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    }
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, (GLint)small);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, (GLint)large);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, (GLint)wrap);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, (GLint)wrap);
}

/* Red and green for a number of texels per pixel. */
static void at_scale(float texels, unsigned char color[4])
{
    float far = texels * SIZE / TEXELS;
    float corners[] = { -1, -1, 1, -1, -1, 1, 1, 1 };
    float places[] = { 0, 0, far, 0, 0, far, far, far };
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corners);
    glVertexAttribPointer(2, 2, GL_FLOAT, GL_FALSE, 0, places);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(2);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    read_pixel(20, 20, color);
}

#define VERTEX "attribute vec4 position; attribute vec2 place; uniform float more; varying vec3 at;" \
               "void main() { gl_Position = position; at = vec3(place, more); }"
#define FRAGMENT(look) "precision mediump float; varying vec3 at; uniform sampler2D picture; uniform float bias;" \
                       "void main() { gl_FragColor = " look "; }"

int main(void)
{
    struct target target = start();
    struct {
        const char *name;
        GLenum small, large;
    } filters[] = {
        { "nearest, nearest level, larger nearest", GL_NEAREST_MIPMAP_NEAREST, GL_NEAREST },
        { "nearest, nearest level, larger blended", GL_NEAREST_MIPMAP_NEAREST, GL_LINEAR },
        { "nearest, blended levels, larger nearest", GL_NEAREST_MIPMAP_LINEAR, GL_NEAREST },
        { "nearest, blended levels, larger blended", GL_NEAREST_MIPMAP_LINEAR, GL_LINEAR },
        { "blended, nearest level, larger nearest", GL_LINEAR_MIPMAP_NEAREST, GL_NEAREST },
        { "blended, nearest level, larger blended", GL_LINEAR_MIPMAP_NEAREST, GL_LINEAR },
        { "blended, blended levels, larger nearest", GL_LINEAR_MIPMAP_LINEAR, GL_NEAREST },
        { "blended, blended levels, larger blended", GL_LINEAR_MIPMAP_LINEAR, GL_LINEAR },
    };
    const GLenum wraps[] = { GL_REPEAT, GL_CLAMP_TO_EDGE, GL_MIRRORED_REPEAT };
    program(VERTEX, FRAGMENT("texture2D(picture, at.xy)"));
    for (unsigned filter = 0; filter < 8; filter++) {
        for (unsigned wrap = 0; wrap < 3; wrap++) {
            texture(filters[filter].small, filters[filter].large, wraps[wrap]);
            printf("%s, wrap %#x\n", filters[filter].name, wraps[wrap]);
            /* Thirty-seconds of a level from -1/4 to 1 5/8: red and green of each. */
            float scale = 0.8408964f;
            for (int step = -8; step <= 52; step++, scale *= 1.0218971f) {
                unsigned char color[4];
                at_scale(scale, color);
                printf(" %d/32:%d,%d", step, color[0], color[1]);
            }
            printf("\n");
        }
    }
    const char *looks[] = { "texture2D(picture, at.xy, 1.0)", "texture2D(picture, at.xy, bias)",
                            "texture2D(picture, at.xy, at.z)", "texture2D(picture, at.xy, at.z * bias)" };
    for (unsigned look = 0; look < 4; look++) {
        char text[300];
        snprintf(text, sizeof text, FRAGMENT("%s"), looks[look]);
        program(VERTEX, text);
        glUniform1f(uniform("bias"), 1);
        glUniform1f(uniform("more"), 1);
        texture(GL_NEAREST_MIPMAP_NEAREST, GL_NEAREST, GL_REPEAT);
        printf("%s:", looks[look]);
        for (float scale = 1; scale < 20; scale *= 2) {
            unsigned char color[4];
            at_scale(scale, color);
            printf(" %d", color[0]);
        }
        printf("\n");
    }
    /* A bias that grows by two levels from column to column, and none: reds of a quad's four fragments. */
    program(VERTEX, FRAGMENT("texture2D(picture, at.xy, 2.0 * mod(floor(gl_FragCoord.x), 2.0))"));
    texture(GL_NEAREST_MIPMAP_NEAREST, GL_NEAREST, GL_REPEAT);
    unsigned char color[4];
    at_scale(2, color);
    printf("a bias of 0 and 2 in a quad:");
    for (int at = 0; at < 4; at++) {
        read_pixel(20 + at % 2, 20 + at / 2, color);
        printf(" %d", color[0]);
    }
    printf("\n");
    close_target(&target);
    return 0;
}
