/*
 * A Mali-400 or Mali-450 for QEMU's machines: registers and interrupt lines in front of libskrymir_board.
 *
 * The library runs jobs on threads of its own and reads and writes the machine's memory directly. It announces the levels of
 * the interrupt lines from any thread; a bottom half forwards them under QEMU's lock.
 *
 * Properties: product (400 or 450), pixel-processors, engine (scalar, wide, native), record (a folder for the jobs), registers
 * (a file for the registers' accesses), ram (address of the machine's memory).
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/atomic.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "hw/boards.h"
#include "hw/irq.h"
#include "hw/qdev-properties.h"
#include "hw/sysbus.h"
#include "exec/memory.h"
#include "migration/blocker.h"
#include "skrymir_board.h"

#define TYPE_SKRYMIR_MALI "skrymir-mali"
OBJECT_DECLARE_SIMPLE_TYPE(SkrymirMaliState, SKRYMIR_MALI)

struct SkrymirMaliState {
    SysBusDevice parent;
    MemoryRegion io;
    qemu_irq irq[SKRYMIR_BOARD_LINES];
    QEMUBH *bottom_half;
    struct SkrymirBoard *board;
    Error *migration_blocker;
    uint32_t levels;
    uint32_t product;
    uint32_t pixel_processors;
    uint64_t ram;
    char *engine;
    char *record;
    char *registers;
};

/* From any thread. */
static void skrymir_mali_line(void *opaque, uint32_t line, bool level)
{
    SkrymirMaliState *s = opaque;

    if (level) {
        qatomic_or(&s->levels, 1u << line);
    } else {
        qatomic_and(&s->levels, ~(1u << line));
    }
    qemu_bh_schedule(s->bottom_half);
}

static void skrymir_mali_update(void *opaque)
{
    SkrymirMaliState *s = opaque;
    uint32_t levels = qatomic_read(&s->levels);

    for (int line = 0; line < SKRYMIR_BOARD_LINES; line++) {
        qemu_set_irq(s->irq[line], levels >> line & 1);
    }
}

/* The machine maps its memory after its chips: the device is made when the machine is complete. */
static bool skrymir_mali_start(SkrymirMaliState *s)
{
    struct SkrymirBoardConfig config = {
        .product = s->product,
        .pixel_processors = s->pixel_processors,
        .engine = s->engine,
        .memory_address = s->ram,
        .line_changed = skrymir_mali_line,
        .user = s,
        .record = s->record,
        .registers = s->registers,
    };
    MemoryRegion *ram = current_machine->ram;

    if (s->board) {
        return true;
    }
    if (!ram) {
        return false;
    }
    /* Regions that chips overlay on it, such as a memory controller's mirror of a row, are invisible to the GPU. */
    config.memory = memory_region_get_ram_ptr(ram);
    config.memory_size = memory_region_size(ram);
    s->board = skrymir_board_create(&config);
    if (!s->board) {
        error_report("skrymir-mali: %s", skrymir_board_error());
        exit(1);
    }
    return true;
}

static uint64_t skrymir_mali_read(void *opaque, hwaddr offset, unsigned size)
{
    SkrymirMaliState *s = opaque;
    uint64_t value = 0;

    if (skrymir_mali_start(s)) {
        value = skrymir_board_read(s->board, offset);
        skrymir_mali_update(s);
    }
    return value;
}

static void skrymir_mali_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    SkrymirMaliState *s = opaque;

    if (skrymir_mali_start(s)) {
        skrymir_board_write(s->board, offset, value);
        /* Interrupts that the driver has just cleared must not be raised again. */
        skrymir_mali_update(s);
    }
}

static const MemoryRegionOps skrymir_mali_ops = {
    .read = skrymir_mali_read,
    .write = skrymir_mali_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
};

static void skrymir_mali_reset(DeviceState *dev)
{
    SkrymirMaliState *s = SKRYMIR_MALI(dev);

    if (s->board) {
        skrymir_board_reset(s->board);
    }
}

static void skrymir_mali_realize(DeviceState *dev, Error **errp)
{
    SkrymirMaliState *s = SKRYMIR_MALI(dev);
    SysBusDevice *bus = SYS_BUS_DEVICE(dev);
    uint64_t size = s->product == 450 ? 0x30000 : 0x10000;

    /* Running jobs are not part of the machine's state. */
    error_setg(&s->migration_blocker, "skrymir-mali cannot be migrated");
    if (migrate_add_blocker(s->migration_blocker, errp) < 0) {
        return;
    }
    s->bottom_half = qemu_bh_new(skrymir_mali_update, s);
    memory_region_init_io(&s->io, OBJECT(s), &skrymir_mali_ops, s, TYPE_SKRYMIR_MALI, size);
    sysbus_init_mmio(bus, &s->io);
    for (int line = 0; line < SKRYMIR_BOARD_LINES; line++) {
        sysbus_init_irq(bus, &s->irq[line]);
    }
}

static void skrymir_mali_unrealize(DeviceState *dev)
{
    SkrymirMaliState *s = SKRYMIR_MALI(dev);

    skrymir_board_destroy(s->board);
    s->board = NULL;
    qemu_bh_delete(s->bottom_half);
    migrate_del_blocker(s->migration_blocker);
    error_free(s->migration_blocker);
}

static Property skrymir_mali_properties[] = {
    DEFINE_PROP_UINT32("product", SkrymirMaliState, product, 400),
    DEFINE_PROP_UINT32("pixel-processors", SkrymirMaliState, pixel_processors, 1),
    DEFINE_PROP_UINT64("ram", SkrymirMaliState, ram, 0x40000000),
    DEFINE_PROP_STRING("engine", SkrymirMaliState, engine),
    DEFINE_PROP_STRING("record", SkrymirMaliState, record),
    DEFINE_PROP_STRING("registers", SkrymirMaliState, registers),
    DEFINE_PROP_END_OF_LIST(),
};

static void skrymir_mali_class_init(ObjectClass *class, void *data)
{
    DeviceClass *device = DEVICE_CLASS(class);

    device->realize = skrymir_mali_realize;
    device->unrealize = skrymir_mali_unrealize;
    device->reset = skrymir_mali_reset;
    device_class_set_props(device, skrymir_mali_properties);
}

static const TypeInfo skrymir_mali_type = {
    .name = TYPE_SKRYMIR_MALI,
    .parent = TYPE_SYS_BUS_DEVICE,
    .instance_size = sizeof(SkrymirMaliState),
    .class_init = skrymir_mali_class_init,
};

static void skrymir_mali_register(void)
{
    type_register_static(&skrymir_mali_type);
}

type_init(skrymir_mali_register)
