// A Mali-400 or Mali-450 as a device on a bus, for emulators of whole machines.
//
// Any number of threads may use one device at once. Made by cbindgen from emulator/board/src/c.rs; a test holds it equal.

#ifndef SKRYMIR_BOARD_H
#define SKRYMIR_BOARD_H

#include <stdbool.h>
#include <stdint.h>

// The line of the geometry processor.
#define SKRYMIR_BOARD_LINE_GP 0

// The line of the geometry processor's MMU.
#define SKRYMIR_BOARD_LINE_GP_MMU 1

// The line of the power unit.
#define SKRYMIR_BOARD_LINE_PMU 2

// The line of all pixel processors of a Mali-450.
#define SKRYMIR_BOARD_LINE_ALL_PPS 3

// The line of the first pixel processor; that of its MMU follows, then those of the others.
#define SKRYMIR_BOARD_LINE_PP0 4

// Lines there can be.
#define SKRYMIR_BOARD_LINES 20

// A Mali-400 or Mali-450 on a bus.
typedef struct SkrymirBoard SkrymirBoard;

// Is told a line's new level: the caller's pointer, the line's number, the level. Called from any thread, also from within
// reads, writes and resets: it must return soon and must not use the device.
typedef void (*SkrymirLineChanged)(void *user, uint32_t line, bool level);

// How a device is.
typedef struct SkrymirBoardConfig {
  // 400 or 450.
  uint32_t product;
  // Pixel processors: 1 to 4 of a Mali-400, 1 to 8 of a Mali-450.
  uint32_t pixel_processors;
  // Threads that shade tiles; 0 for as many as the machine has processors.
  uint32_t threads;
  // "scalar", "wide" or "native"; NULL for the fastest.
  const char *engine;
  // The guest's memory, aligned to 8 bytes.
  void *memory;
  // Its physical address.
  uint64_t memory_address;
  // Its bytes, a multiple of 8.
  uint64_t memory_size;
  // Is told the interrupt lines' levels; may be NULL.
  SkrymirLineChanged line_changed;
  // Is handed to `line_changed`.
  void *user;
  // A folder for recordings of jobs, one file for each address space; NULL for none.
  const char *record;
  // A file for the registers' accesses, the lines and the memory that jobs see; NULL for none. With it a job runs within
  // the write that starts it.
  const char *registers;
} SkrymirBoardConfig;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Why the last call on this thread that failed did, in UTF-8; empty before the first.
const char *skrymir_board_error(void);

// A device that was switched on just now, or NULL; `skrymir_board_error` says why.
//
// # Safety
// `config` is NULL or a configuration: its texts are C strings, its memory has its size and stays until the device is
// destroyed, and `line_changed` may be called with `user` from any thread until then.
struct SkrymirBoard *skrymir_board_create(const struct SkrymirBoardConfig *config);

// Destroys a device; a job that still runs writes nothing more.
//
// # Safety
// NULL, or a device that no other thread uses.
void skrymir_board_destroy(struct SkrymirBoard *board);

// Bytes of the device's register range.
//
// # Safety
// NULL or a device.
uint32_t skrymir_board_size(const struct SkrymirBoard *board);

// Reads the register at a byte offset; 0 where there is none.
//
// # Safety
// NULL or a device.
uint32_t skrymir_board_read(const struct SkrymirBoard *board, uint32_t offset);

// Writes the register at a byte offset; ignored where there is none.
//
// # Safety
// NULL or a device.
void skrymir_board_write(const struct SkrymirBoard *board, uint32_t offset, uint32_t value);

// The chip's reset line: everything is as after it was switched on.
//
// # Safety
// NULL or a device.
void skrymir_board_reset(const struct SkrymirBoard *board);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SKRYMIR_BOARD_H */
