/* A PNG of RGBA bytes, stored without compression, so that no library is needed. Rows are bottom up, as glReadPixels has them. */
#include <stdint.h>
#include <stdio.h>

static uint32_t png_crc(uint32_t crc, const unsigned char *bytes, size_t length)
{
    crc = ~crc;
    while (length--) {
        crc ^= *bytes++;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static void png_word(unsigned char *at, uint32_t word)
{
    for (int byte = 0; byte < 4; byte++)
        at[byte] = word >> (24 - 8 * byte);
}

static void png_chunk(FILE *file, const char *name, const unsigned char *bytes, size_t length)
{
    unsigned char word[4];
    png_word(word, length);
    fwrite(word, 1, 4, file);
    fwrite(name, 1, 4, file);
    fwrite(bytes, 1, length, file);
    png_word(word, png_crc(png_crc(0, (const unsigned char *)name, 4), bytes, length));
    fwrite(word, 1, 4, file);
}

/* Rows of at most 65,534 bytes: one stored block for each. */
static int png_write(const char *path, const unsigned char *rgba, int width, int height)
{
    size_t row = 1 + 4 * (size_t)width, used = 2;
    unsigned char *out = malloc(2 + height * (row + 5) + 4), head[13] = { 0 };
    uint32_t a = 1, b = 0;
    FILE *file = fopen(path, "wb");
    if (!file || !out)
        return 0;
    out[0] = 0x78, out[1] = 1;
    for (int y = height - 1; y >= 0; y--) {
        unsigned char *at = out + used;
        at[0] = y == 0;
        at[1] = row, at[2] = row >> 8, at[3] = ~row, at[4] = ~row >> 8;
        at[5] = 0;
        memcpy(at + 6, rgba + 4 * (size_t)width * y, row - 1);
        for (size_t byte = 0; byte < row; byte++)
            a = (a + at[5 + byte]) % 65521, b = (b + a) % 65521;
        used += 5 + row;
    }
    png_word(out + used, b << 16 | a);
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);
    png_word(head, width), png_word(head + 4, height);
    head[8] = 8, head[9] = 6;
    png_chunk(file, "IHDR", head, 13);
    png_chunk(file, "IDAT", out, used + 4);
    png_chunk(file, "IEND", out, 0);
    free(out);
    return fclose(file) == 0;
}
