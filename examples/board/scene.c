/* scene FILE: a picture with depth, a texture and blending, drawn by OpenGL ES 2 and written as PNG. */
#include "../../tests/gles/check.h"
#include "png.h"

#define SIZE 256

int main(int count, char **arguments)
{
    static const float corners[] = { -0.9f, -0.8f, 0.5f, 0.9f, -0.6f, -0.5f, 0.1f, 0.9f, 0.2f,
                                     -0.8f, 0.6f, -0.5f, 0.9f, 0.4f, 0.3f, 0.2f, -0.9f, -0.2f };
    static const float square[] = { -1, -1, 0.99f, 1, -1, 0.99f, -1, 1, 0.99f, 1, 1, 0.99f };
    static unsigned char texels[16 * 16 * 4], pixels[SIZE * SIZE * 4];
    const char *vertex = "attribute vec4 position; varying vec3 at;"
                         "void main() { gl_Position = position; at = position.xyz; }";
    struct target target = open_target(SIZE, SIZE, 1);
    GLuint image, wall, glass;

    for (int texel = 0; texel < 256; texel++) {
        int on = (texel >> 1 ^ texel >> 5) & 1;
        texels[4 * texel] = on ? 230 : 40 + texel / 2;
        texels[4 * texel + 1] = on ? 180 : 60;
        texels[4 * texel + 2] = on ? 90 : 120;
        texels[4 * texel + 3] = 255;
    }
    glGenTextures(1, &image);
    glBindTexture(GL_TEXTURE_2D, image);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    wall = program(vertex, "precision mediump float; uniform sampler2D image; varying vec3 at;"
                           "void main() { gl_FragColor = texture2D(image, at.xy * 0.5 + 0.5); }");
    glass = program(vertex, "precision mediump float; varying vec3 at;"
                            "void main() { gl_FragColor = vec4(0.5 + 0.5 * sin(9.0 * at), 0.75); }");
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glEnable(GL_DEPTH_TEST);
    glEnableVertexAttribArray(0);
    glUseProgram(wall);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, square);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glUseProgram(glass);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, corners);
    glDrawArrays(GL_TRIANGLES, 0, 6);
    glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    if (count > 1 && !png_write(arguments[1], pixels, SIZE, SIZE)) {
        perror(arguments[1]);
        return 1;
    }
    close_target(&target);
    return 0;
}
