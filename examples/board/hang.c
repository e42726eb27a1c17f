/* A fragment program that never ends: the kernel driver's time-out ends its job and resets the GPU. The driver then refuses
 * this context's other jobs; those of other programs are right. */
#include "../../tests/gles/check.h"

static void cover(GLuint name, float red)
{
    static const float corners[] = { -1, -1, 3, -1, -1, 3 };
    glUseProgram(name);
    glUniform4f(glGetUniformLocation(name, "tint"), red, 0, 0, 1);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corners);
    glEnableVertexAttribArray(0);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

int main(void)
{
    struct target target = open_target(64, 64, 1);
    const char *vertex = "attribute vec4 position; void main() { gl_Position = position; }";
    GLuint endless = program(vertex, "precision mediump float; uniform vec4 tint;"
                                     "void main() { float x = tint.x; while (x > 0.5) x = max(x, tint.x);"
                                     " gl_FragColor = vec4(x); }");
    begin("a job that never ends");
    cover(endless, 1);
    glFinish();
    printf("the endless job has ended\n");
    close_target(&target);
    return summary();
}
