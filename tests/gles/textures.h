/* Textures: filters, wraps, levels, cubes. */
static const char textured[] = "attribute vec4 position; varying vec2 at;"
                               "void main() { gl_Position = position; at = position.xy * 0.5 + 0.5; }";
static const char sampled[] = "precision mediump float; uniform sampler2D image; varying vec2 at;"
                              "void main() { gl_FragColor = texture2D(image, at); }";

static GLuint texture(GLenum target, GLint filter, GLint wrap)
{
    GLuint name;
    glGenTextures(1, &name);
    glBindTexture(target, name);
    glTexParameteri(target, GL_TEXTURE_MIN_FILTER, filter);
    glTexParameteri(target, GL_TEXTURE_MAG_FILTER, filter);
    glTexParameteri(target, GL_TEXTURE_WRAP_S, wrap);
    glTexParameteri(target, GL_TEXTURE_WRAP_T, wrap);
    return name;
}

static void textures(void)
{
    static const unsigned char four[] = { 255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255, 255, 255, 128 };
    begin("texture, nearest");
    program(textured, sampled);
    GLuint name = texture(GL_TEXTURE_2D, GL_NEAREST, GL_CLAMP_TO_EDGE);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 2, 2, 0, GL_RGBA, GL_UNSIGNED_BYTE, four);
    clear(0, 0, 0, 0);
    rectangle(-1, -1, 1, 1, 0);
    pixel(8, 8, 255, 0, 0, 255, 0);
    pixel(56, 8, 0, 255, 0, 255, 0);
    pixel(8, 56, 0, 0, 255, 255, 0);
    pixel(56, 56, 255, 255, 255, 128, 1);

    begin("texture, linear");
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    rectangle(-1, -1, 1, 1, 0);
    pixel(2, 2, 255, 0, 0, 255, 1);
    pixel(32, 2, 124, 131, 0, 255, 5);
    pixel(2, 32, 124, 0, 131, 255, 5);

    begin("texture, part replaced");
    static const unsigned char one[] = { 255, 255, 0, 255 };
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 1, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, one);
    rectangle(-1, -1, 1, 1, 0);
    pixel(8, 8, 255, 0, 0, 255, 0);
    pixel(56, 8, 255, 255, 0, 255, 0);

    begin("texture of 16 bits");
    static const GLushort packed[] = { 0xf800, 0x07e0, 0x001f, 0xffff };
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB, 2, 2, 0, GL_RGB, GL_UNSIGNED_SHORT_5_6_5, packed);
    rectangle(-1, -1, 1, 1, 0);
    pixel(8, 8, 255, 0, 0, 255, 0);
    pixel(56, 8, 0, 255, 0, 255, 0);
    pixel(56, 56, 255, 255, 255, 255, 0);

    begin("texture of luminance");
    static const unsigned char gray[] = { 10, 100, 200, 250 };
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_LUMINANCE, 2, 2, 0, GL_LUMINANCE, GL_UNSIGNED_BYTE, gray);
    rectangle(-1, -1, 1, 1, 0);
    pixel(8, 8, 10, 10, 10, 255, 1);
    pixel(56, 56, 250, 250, 250, 255, 1);
    glDeleteTextures(1, &name);

    begin("texture, large and repeated");
    static unsigned char big[128 * 32 * 4];
    for (int at = 0; at < 128 * 32; at++)
        memcpy(big + 4 * at, at % 128 < 64 ? "\377\0\0\377" : "\0\0\377\377", 4);
    program("attribute vec4 position; varying vec2 at;"
            "void main() { gl_Position = position; at = position.xy * 2.0; }",
            sampled);
    name = texture(GL_TEXTURE_2D, GL_NEAREST, GL_REPEAT);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 128, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, big);
    rectangle(-1, -1, 1, 1, 0);
    for (int at = 0; at < 8; at++)
        pixel(4 + 8 * at, 30, at % 2 ? 0 : 255, 0, at % 2 ? 255 : 0, 255, 0);
    glDeleteTextures(1, &name);
    no_error();
}

static void mipmaps(void)
{
    begin("mipmap levels");
    program("attribute vec4 position; uniform float scale; varying vec2 at;"
            "void main() { gl_Position = position; at = position.xy * scale; }",
            sampled);
    GLuint name = texture(GL_TEXTURE_2D, GL_NEAREST, GL_REPEAT);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
    static unsigned char level[64 * 64 * 4];
    static const unsigned char colors[7][4] = {
        { 255, 0, 0, 255 }, { 0, 255, 0, 255 }, { 0, 0, 255, 255 }, { 255, 255, 0, 255 },
        { 255, 0, 255, 255 }, { 0, 255, 255, 255 }, { 255, 255, 255, 255 },
    };
    for (int number = 0; number < 7; number++) {
        int side = 64 >> number;
        for (int at = 0; at < side * side; at++)
            memcpy(level + 4 * at, colors[number], 4);
        glTexImage2D(GL_TEXTURE_2D, number, GL_RGBA, side, side, 0, GL_RGBA, GL_UNSIGNED_BYTE, level);
    }
    for (int number = 0; number < 6; number++) {
        clear(0, 0, 0, 0);
        glUniform1f(uniform("scale"), 0.5f * (float)(1 << number));
        rectangle(-1, -1, 1, 1, 0);
        pixel(20, 33, colors[number][0], colors[number][1], colors[number][2], 255, 0);
    }

    /* Between levels, with every filter: how far from red (level 0) to green (level 1). */
    static const struct { GLint smaller, larger; float level; int green; } cases[] = {
        { GL_NEAREST_MIPMAP_NEAREST, GL_NEAREST, 0.3f, 0 },   { GL_NEAREST_MIPMAP_NEAREST, GL_NEAREST, 0.7f, 255 },
        { GL_NEAREST_MIPMAP_NEAREST, GL_LINEAR, 0.8f, 255 },  { GL_NEAREST_MIPMAP_NEAREST, GL_LINEAR, 0.3f, 0 },
        { GL_LINEAR_MIPMAP_NEAREST, GL_NEAREST, 0.3f, 0 },    { GL_LINEAR_MIPMAP_NEAREST, GL_LINEAR, 0.7f, 255 },
        { GL_NEAREST_MIPMAP_LINEAR, GL_NEAREST, 0.5f, 128 },  { GL_NEAREST_MIPMAP_LINEAR, GL_LINEAR, 0.75f, 191 },
        { GL_LINEAR_MIPMAP_LINEAR, GL_NEAREST, 0.25f, 64 },   { GL_LINEAR_MIPMAP_LINEAR, GL_LINEAR, 0.5f, 128 },
        { GL_LINEAR_MIPMAP_LINEAR, GL_LINEAR, -0.5f, 0 },     { GL_NEAREST, GL_LINEAR, 3.0f, 0 },
    };
    begin("between mipmap levels");
    for (int at = 0; at < (int)(sizeof cases / sizeof cases[0]); at++) {
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, cases[at].smaller);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, cases[at].larger);
        glUniform1f(uniform("scale"), 0.5f * powf(2, cases[at].level));
        rectangle(-1, -1, 1, 1, 0);
        pixel(20, 33, 255 - cases[at].green, cases[at].green, 0, 255, 17);
    }
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);

    begin("mipmaps the driver makes");
    for (int at = 0; at < 64 * 64; at++)
        memcpy(level + 4 * at, (at + at / 64) % 2 ? "\377\377\377\377" : "\0\0\0\377", 4);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 64, 64, 0, GL_RGBA, GL_UNSIGNED_BYTE, level);
    glGenerateMipmap(GL_TEXTURE_2D);
    glUniform1f(uniform("scale"), 4);
    rectangle(-1, -1, 1, 1, 0);
    pixel(20, 33, 128, 128, 128, 255, 3);
    glDeleteTextures(1, &name);
    no_error();
}

static void cube(void)
{
    begin("cube map");
    program("attribute vec4 position; void main() { gl_Position = position; }",
            "precision mediump float; uniform samplerCube image; uniform vec3 way;"
            "void main() { gl_FragColor = textureCube(image, way); }");
    GLuint name = texture(GL_TEXTURE_CUBE_MAP, GL_NEAREST, GL_CLAMP_TO_EDGE);
    for (int face = 0; face < 6; face++) {
        unsigned char texels[16][4];
        for (int at = 0; at < 16; at++)
            memcpy(texels[at], (unsigned char[4]) { 40 * face, 255 - 40 * face, 7, 255 }, 4);
        glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, GL_RGBA, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    }
    for (int face = 0; face < 6; face++) {
        float way[3] = { 0.1f, 0.2f, -0.3f };
        way[face / 2] = face % 2 ? -1 : 1;
        glUniform3fv(uniform("way"), 1, way);
        rectangle(-1, -1, 1, 1, 0);
        pixel(31, 31, 40 * face, 255 - 40 * face, 7, 255, 1);
    }
    glDeleteTextures(1, &name);
    no_error();
}
