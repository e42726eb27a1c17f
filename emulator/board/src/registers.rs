//! The registers of every unit, one row each (docs/spec/mali/registers.md): reads, writes, resets and texts follow from the
//! row. What a write starts is in [`crate::state`].

/// How the processor sees a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Keeps what is written.
    ReadWrite,
    /// Writes are ignored.
    ReadOnly,
    /// Reads as 0; a write starts something.
    Command,
}

/// One register.
#[derive(Clone, Copy, Debug)]
pub struct Register {
    /// Byte offset within the unit.
    pub offset: u32,
    /// Name in texts.
    pub name: &'static str,
    /// How the processor sees it.
    pub access: Access,
    /// Value after a reset.
    pub reset: u32,
    /// Bits that keep what is written.
    pub mask: u32,
    /// Bits that have names.
    pub bits: &'static [Bit],
}

/// A named bit of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bit {
    /// Its number.
    pub number: u32,
    /// Its name in texts.
    pub name: &'static str,
}

macro_rules! bits {
    ($(#[$meta:meta])* $module:ident, $table:ident { $($(#[$doc:meta])* $name:ident = $number:literal, $text:literal;)* }) => {
        $(#[$meta])*
        pub mod $module {
            $($(#[$doc])* pub const $name: u32 = 1 << $number;)*
        }
        const $table: &[Bit] = &[$(Bit { number: $number, name: $text }),*];
    };
}

macro_rules! registers {
    ($(#[$meta:meta])* $module:ident {
        $($(#[$doc:meta])* $name:ident = $offset:literal, $text:literal, $access:ident, $reset:literal, $mask:literal, $bits:ident;)*
    }) => {
        $(#[$meta])*
        pub mod $module {
            use super::*;
            $($(#[$doc])* pub const $name: u32 = $offset;)*
            /// All of them, by offset.
            pub const TABLE: &[Register] = &[$(Register {
                offset: $offset,
                name: $text,
                access: Access::$access,
                reset: $reset,
                mask: $mask,
                bits: $bits,
            }),*];
        }
    };
}

const NONE: &[Bit] = &[];

bits! {
    /// Commands of the geometry processor.
    gp_command, GP_COMMAND {
        /// Runs the vertex stream.
        START_VS = 0, "start_vs";
        /// Runs the polygon list stream.
        START_PLBU = 1, "start_plbu";
        /// Takes over a new heap.
        UPDATE_HEAP = 4, "update_heap";
        /// Resets everything.
        RESET = 5, "reset";
        /// Hangs on purpose.
        FORCE_HANG = 6, "force_hang";
        /// Stops access to the bus.
        STOP_BUS = 9, "stop_bus";
        /// Ends the job and resets, and says so by an interrupt.
        SOFT_RESET = 10, "soft_reset";
    }
}

bits! {
    /// Interrupts of the geometry processor.
    gp_interrupt, GP_INTERRUPT {
        /// The vertex stream is at its end.
        VS_END = 0, "vs_end";
        /// The polygon list stream is at its end.
        PLBU_END = 1, "plbu_end";
        /// The heap is full.
        OUT_OF_MEMORY = 2, "plbu_out_of_memory";
        /// A semaphore of the vertex stream.
        VS_SEMAPHORE = 3, "vs_semaphore";
        /// A semaphore of the polygon list stream.
        PLBU_SEMAPHORE = 4, "plbu_semaphore";
        /// A watchdog ran out.
        HANG = 5, "hang";
        /// It was made to hang.
        FORCE_HANG = 6, "force_hang";
        /// A counter is at its limit.
        COUNTER_0_LIMIT = 7, "counter_0_limit";
        /// A counter is at its limit.
        COUNTER_1_LIMIT = 8, "counter_1_limit";
        /// A write outside the bounds.
        WRITE_BOUND = 9, "write_bound";
        /// A synchronisation error.
        SYNC_ERROR = 10, "sync_error";
        /// The bus answered with an error.
        BUS_ERROR = 11, "bus_error";
        /// Access to the bus has stopped.
        BUS_STOPPED = 12, "bus_stopped";
        /// A command of the vertex stream that does not exist.
        VS_INVALID = 13, "vs_invalid_command";
        /// A command of the polygon list stream that does not exist.
        PLBU_INVALID = 14, "plbu_invalid_command";
        /// A soft reset is done.
        RESET_COMPLETED = 19, "reset_completed";
        /// A semaphore was lowered below 0.
        SEMAPHORE_UNDERFLOW = 20, "semaphore_underflow";
        /// A semaphore was raised too far.
        SEMAPHORE_OVERFLOW = 21, "semaphore_overflow";
        /// An entry outside the array of list pointers.
        POINTER_OUT_OF_BOUNDS = 22, "pointer_out_of_bounds";
    }
}

/// All interrupts of the geometry processor.
pub const GP_INTERRUPTS: u32 = 0x0078_7fff;

bits! {
    /// What the geometry processor is doing.
    gp_status, GP_STATUS {
        /// The vertex stream runs.
        VS_ACTIVE = 1, "vs_active";
        /// Access to the bus has stopped.
        BUS_STOPPED = 2, "bus_stopped";
        /// The polygon list stream runs.
        PLBU_ACTIVE = 3, "plbu_active";
        /// The bus answered with an error.
        BUS_ERROR = 6, "bus_error";
        /// A write outside the bounds.
        WRITE_BOUND = 8, "write_bound";
    }
}

registers! {
    /// The geometry processor.
    gp {
        /// First command of the vertex stream.
        VS_START = 0x00, "vs_start", ReadWrite, 0, 0xffff_fff8, NONE;
        /// End of the vertex stream.
        VS_END = 0x04, "vs_end", ReadWrite, 0, 0xffff_fff8, NONE;
        /// First command of the polygon list stream.
        PLBU_START = 0x08, "plbu_start", ReadWrite, 0, 0xffff_fff8, NONE;
        /// End of the polygon list stream.
        PLBU_END = 0x0c, "plbu_end", ReadWrite, 0, 0xffff_fff8, NONE;
        /// Where lists that outgrow their blocks go on.
        HEAP_START = 0x10, "heap_start", ReadWrite, 0, 0xffff_ff80, NONE;
        /// End of that room.
        HEAP_END = 0x14, "heap_end", ReadWrite, 0, 0xffff_ff80, NONE;
        /// Starts, stops, resets.
        COMMAND = 0x20, "command", Command, 0, 0, GP_COMMAND;
        /// Interrupts that are raised, masked or not.
        INT_RAWSTAT = 0x24, "int_rawstat", ReadWrite, 0, 0x0078_7fff, GP_INTERRUPT;
        /// Takes interrupts back.
        INT_CLEAR = 0x28, "int_clear", Command, 0, 0, GP_INTERRUPT;
        /// Interrupts that reach the line.
        INT_MASK = 0x2c, "int_mask", ReadWrite, 0, 0x0078_7fff, GP_INTERRUPT;
        /// Interrupts that are raised and not masked.
        INT_STAT = 0x30, "int_stat", ReadOnly, 0, 0, GP_INTERRUPT;
        /// Lowest address that may be written.
        WRITE_BOUND_LOW = 0x34, "write_bound_low", ReadWrite, 0, 0xffff_ff00, NONE;
        /// Highest address that may be written.
        WRITE_BOUND_HIGH = 0x38, "write_bound_high", ReadWrite, 0xffff_ff00, 0xffff_ff00, NONE;
        /// Whether the first counter counts.
        COUNTER_0_ENABLE = 0x3c, "counter_0_enable", ReadWrite, 0, 0x3, NONE;
        /// Whether the second counter counts.
        COUNTER_1_ENABLE = 0x40, "counter_1_enable", ReadWrite, 0, 0x3, NONE;
        /// What the first counter counts.
        COUNTER_0_SOURCE = 0x44, "counter_0_source", ReadWrite, 0, 0xff, NONE;
        /// What the second counter counts.
        COUNTER_1_SOURCE = 0x48, "counter_1_source", ReadWrite, 0, 0xff, NONE;
        /// The first counter.
        COUNTER_0 = 0x4c, "counter_0", ReadWrite, 0, 0xffff_ffff, NONE;
        /// The second counter.
        COUNTER_1 = 0x50, "counter_1", ReadWrite, 0, 0xffff_ffff, NONE;
        /// Where the first counter raises an interrupt.
        COUNTER_0_LIMIT = 0x54, "counter_0_limit", ReadWrite, 0, 0xffff_ffff, NONE;
        /// Where the second counter raises an interrupt.
        COUNTER_1_LIMIT = 0x58, "counter_1_limit", ReadWrite, 0, 0xffff_ffff, NONE;
        /// What it is doing.
        STATUS = 0x68, "status", ReadOnly, 0, 0, GP_STATUS;
        /// Product and revision; the layout has the value.
        VERSION = 0x6c, "version", ReadOnly, 0, 0, NONE;
        /// Where the vertex stream is.
        VS_POSITION = 0x80, "vs_position", ReadOnly, 0, 0, NONE;
        /// Where the polygon list stream is.
        PLBU_POSITION = 0x84, "plbu_position", ReadOnly, 0, 0, NONE;
        /// What the bus answered.
        BUS_ERROR_STATUS = 0x94, "bus_error_status", ReadOnly, 0, 0, NONE;
    }
}

bits! {
    /// Commands of a pixel processor.
    pp_control, PP_CONTROL {
        /// Stops access to the bus.
        STOP_BUS = 0, "stop_bus";
        /// Empties its caches.
        FLUSH_CACHES = 3, "flush_caches";
        /// Resets everything.
        RESET = 5, "reset";
        /// Runs the list of tiles.
        START = 6, "start";
        /// Ends the job and resets, and says so by an interrupt.
        SOFT_RESET = 7, "soft_reset";
    }
}

bits! {
    /// Interrupts of a pixel processor.
    pp_interrupt, PP_INTERRUPT {
        /// The list of tiles is at its end.
        END_OF_FRAME = 0, "end_of_frame";
        /// A tile is done.
        END_OF_TILE = 1, "end_of_tile";
        /// A watchdog ran out.
        HANG = 2, "hang";
        /// It was made to hang.
        FORCE_HANG = 3, "force_hang";
        /// The bus answered with an error.
        BUS_ERROR = 4, "bus_error";
        /// Access to the bus has stopped.
        BUS_STOPPED = 5, "bus_stopped";
        /// A counter is at its limit.
        COUNTER_0_LIMIT = 6, "counter_0_limit";
        /// A counter is at its limit.
        COUNTER_1_LIMIT = 7, "counter_1_limit";
        /// A write outside the bounds.
        WRITE_BOUND = 8, "write_bound";
        /// A command of the lists that does not exist.
        INVALID_COMMAND = 9, "invalid_list_command";
        /// A return without a call.
        STACK_UNDERFLOW = 10, "call_stack_underflow";
        /// Too many calls.
        STACK_OVERFLOW = 11, "call_stack_overflow";
        /// A soft reset is done.
        RESET_COMPLETED = 12, "reset_completed";
    }
}

/// All interrupts of a pixel processor.
pub const PP_INTERRUPTS: u32 = 0x1fff;

bits! {
    /// What a pixel processor is doing.
    pp_status, PP_STATUS {
        /// A job runs.
        ACTIVE = 0, "active";
        /// Access to the bus has stopped.
        BUS_STOPPED = 4, "bus_stopped";
    }
}

registers! {
    /// A pixel processor; before these lie the frame's registers and the write-back units (docs/spec/mali/frame.md).
    pp {
        /// Product and revision; the layout has the value.
        VERSION = 0x1000, "version", ReadOnly, 0, 0, NONE;
        /// Where the list of tiles is.
        LIST_POSITION = 0x1004, "list_position", ReadOnly, 0, 0, NONE;
        /// What it is doing.
        STATUS = 0x1008, "status", ReadOnly, 0, 0, PP_STATUS;
        /// Starts, stops, resets.
        CONTROL = 0x100c, "control", Command, 0, 0, PP_CONTROL;
        /// Interrupts that are raised, masked or not.
        INT_RAWSTAT = 0x1020, "int_rawstat", ReadWrite, 0, 0x1fff, PP_INTERRUPT;
        /// Takes interrupts back.
        INT_CLEAR = 0x1024, "int_clear", Command, 0, 0, PP_INTERRUPT;
        /// Interrupts that reach the line.
        INT_MASK = 0x1028, "int_mask", ReadWrite, 0, 0x1fff, PP_INTERRUPT;
        /// Interrupts that are raised and not masked.
        INT_STATUS = 0x102c, "int_status", ReadOnly, 0, 0, PP_INTERRUPT;
        /// Whether writes are held within bounds.
        WRITE_BOUND_ENABLE = 0x1040, "write_bound_enable", ReadWrite, 0, 0x1, NONE;
        /// Lowest address that may be written.
        WRITE_BOUND_LOW = 0x1044, "write_bound_low", ReadWrite, 0, 0xffff_ff00, NONE;
        /// Highest address that may be written.
        WRITE_BOUND_HIGH = 0x1048, "write_bound_high", ReadWrite, 0, 0xffff_ff00, NONE;
        /// What the bus answered.
        BUS_ERROR_STATUS = 0x1050, "bus_error_status", ReadOnly, 0, 0, NONE;
        /// Whether the first counter counts.
        COUNTER_0_ENABLE = 0x1080, "counter_0_enable", ReadWrite, 0, 0x3, NONE;
        /// What the first counter counts.
        COUNTER_0_SOURCE = 0x1084, "counter_0_source", ReadWrite, 0, 0xff, NONE;
        /// Where the first counter raises an interrupt.
        COUNTER_0_LIMIT = 0x1088, "counter_0_limit", ReadWrite, 0, 0xffff_ffff, NONE;
        /// The first counter.
        COUNTER_0 = 0x108c, "counter_0", ReadWrite, 0, 0xffff_ffff, NONE;
        /// Whether the second counter counts.
        COUNTER_1_ENABLE = 0x10a0, "counter_1_enable", ReadWrite, 0, 0x3, NONE;
        /// What the second counter counts.
        COUNTER_1_SOURCE = 0x10a4, "counter_1_source", ReadWrite, 0, 0xff, NONE;
        /// Where the second counter raises an interrupt.
        COUNTER_1_LIMIT = 0x10a8, "counter_1_limit", ReadWrite, 0, 0xffff_ffff, NONE;
        /// The second counter.
        COUNTER_1 = 0x10ac, "counter_1", ReadWrite, 0, 0xffff_ffff, NONE;
        /// How counters are stored in memory.
        COUNTERS_CONTROL = 0x10b0, "counters_control", ReadWrite, 0, 0xffff_ffff, NONE;
        /// Where counters are stored in memory.
        COUNTERS_BASE = 0x10b4, "counters_base", ReadWrite, 0, 0xffff_ff00, NONE;
    }
}

bits! {
    /// Bits of a memory management unit's status.
    mmu_status, MMU_STATUS {
        /// Addresses are translated.
        PAGING = 0, "paging";
        /// A page fault waits for an answer.
        PAGE_FAULT = 1, "page_fault";
        /// Accesses wait.
        STALL = 2, "stall";
        /// No access is under way.
        IDLE = 3, "idle";
        /// No access waits to be done again.
        REPLAY_EMPTY = 4, "replay_empty";
        /// The access that faulted was a write.
        FAULT_IS_WRITE = 5, "fault_is_write";
    }
}

bits! {
    /// Interrupts of a memory management unit.
    mmu_interrupt, MMU_INTERRUPT {
        /// An address without a translation.
        PAGE_FAULT = 0, "page_fault";
        /// The bus answered a read of the page tables with an error.
        READ_BUS_ERROR = 1, "read_bus_error";
    }
}

/// Commands of a memory management unit.
pub mod mmu_command {
    /// Translates addresses from now on.
    pub const ENABLE_PAGING: u32 = 0;
    /// Uses addresses as they are.
    pub const DISABLE_PAGING: u32 = 1;
    /// Lets accesses wait.
    pub const ENABLE_STALL: u32 = 2;
    /// Lets them go on.
    pub const DISABLE_STALL: u32 = 3;
    /// Forgets translations.
    pub const ZAP_CACHE: u32 = 4;
    /// Tries the access that faulted again.
    pub const PAGE_FAULT_DONE: u32 = 5;
    /// Resets the unit.
    pub const RESET: u32 = 6;
}

registers! {
    /// A memory management unit, one before each processor.
    mmu {
        /// Physical address of the page directory.
        DIRECTORY = 0x00, "directory", ReadWrite, 0, 0xffff_f000, NONE;
        /// What it is doing.
        STATUS = 0x04, "status", ReadOnly, 0x18, 0, MMU_STATUS;
        /// A number of [`mmu_command`].
        COMMAND = 0x08, "command", Command, 0, 0, NONE;
        /// The address that faulted.
        FAULT_ADDRESS = 0x0c, "fault_address", ReadOnly, 0, 0, NONE;
        /// Forgets the translation of one address.
        ZAP_ONE_LINE = 0x10, "zap_one_line", Command, 0, 0, NONE;
        /// Interrupts that are raised, masked or not.
        INT_RAWSTAT = 0x14, "int_rawstat", ReadWrite, 0, 0x3, MMU_INTERRUPT;
        /// Takes interrupts back.
        INT_CLEAR = 0x18, "int_clear", Command, 0, 0, MMU_INTERRUPT;
        /// Interrupts that reach the line.
        INT_MASK = 0x1c, "int_mask", ReadWrite, 0, 0x3, MMU_INTERRUPT;
        /// Interrupts that are raised and not masked.
        INT_STATUS = 0x20, "int_status", ReadOnly, 0, 0, MMU_INTERRUPT;
    }
}

bits! {
    /// What a level 2 cache is doing.
    l2_status, L2_STATUS {
        /// A command runs.
        COMMAND_BUSY = 0, "command_busy";
        /// Data is on its way.
        DATA_BUSY = 1, "data_busy";
    }
}

bits! {
    /// Commands of a level 2 cache.
    l2_command, L2_COMMAND {
        /// Forgets everything.
        CLEAR_ALL = 0, "clear_all";
    }
}

bits! {
    /// What a level 2 cache does.
    l2_enable, L2_ENABLE {
        /// It is on.
        ACCESS = 0, "access";
        /// Reads are kept.
        READ_ALLOCATE = 1, "read_allocate";
    }
}

registers! {
    /// A level 2 cache. Guest memory is read where it lies, so there is nothing to keep: it answers, and is never busy.
    l2 {
        /// 64 KiB, 4 ways, lines of 64 bytes, a bus of 128 bits, each as a power of two.
        SIZE = 0x04, "size", ReadOnly, 0x0710_0206, 0, NONE;
        /// What it is doing.
        STATUS = 0x08, "status", ReadOnly, 0, 0, L2_STATUS;
        /// Forgets.
        COMMAND = 0x10, "command", Command, 0, 0, L2_COMMAND;
        /// Forgets a page.
        CLEAR_PAGE = 0x14, "clear_page", Command, 0, 0, NONE;
        /// Reads under way at most.
        MAX_READS = 0x18, "max_reads", ReadWrite, 0x1c, 0x1f, NONE;
        /// What it does.
        ENABLE = 0x1c, "enable", ReadWrite, 0, 0x3, L2_ENABLE;
        /// What the first counter counts.
        COUNTER_0_SOURCE = 0x20, "counter_0_source", ReadWrite, 0, 0x7f, NONE;
        /// The first counter.
        COUNTER_0 = 0x24, "counter_0", ReadWrite, 0, 0xffff_ffff, NONE;
        /// What the second counter counts.
        COUNTER_1_SOURCE = 0x28, "counter_1_source", ReadWrite, 0, 0x7f, NONE;
        /// The second counter.
        COUNTER_1 = 0x2c, "counter_1", ReadWrite, 0, 0xffff_ffff, NONE;
    }
}

bits! {
    /// Interrupts of the power unit.
    pmu_interrupt, PMU_INTERRUPT {
        /// A command is done.
        COMMAND_DONE = 0, "command_done";
    }
}

registers! {
    /// The power unit: a bit for each domain that can be switched.
    pmu {
        /// Switches domains on.
        POWER_UP = 0x00, "power_up", Command, 0, 0, NONE;
        /// Switches domains off.
        POWER_DOWN = 0x04, "power_down", Command, 0, 0, NONE;
        /// Domains that are off.
        STATUS = 0x08, "status", ReadOnly, 0, 0, NONE;
        /// Interrupts that reach the line.
        INT_MASK = 0x0c, "int_mask", ReadWrite, 0, 0x1, PMU_INTERRUPT;
        /// Interrupts that are raised, masked or not.
        INT_RAWSTAT = 0x10, "int_rawstat", ReadOnly, 0, 0, PMU_INTERRUPT;
        /// Takes interrupts back.
        INT_CLEAR = 0x18, "int_clear", Command, 0, 0, PMU_INTERRUPT;
        /// Cycles between two domains' switching.
        DELAY = 0x1c, "delay", ReadWrite, 0, 0xffff, NONE;
    }
}

registers! {
    /// A Mali-450's load-balancing unit, which hands tiles to pixel processors that have none.
    dlbu {
        /// Physical address of a page of its own; bit 0: it is on.
        PAGE = 0x00, "page", ReadWrite, 0, 0xffff_f001, NONE;
        /// The address at which pixel processors read its list.
        LIST_ADDRESS = 0x04, "list_address", ReadWrite, 0, 0xffff_f000, NONE;
        /// Address of the polygon lists' blocks.
        BLOCKS = 0x08, "blocks", ReadWrite, 0, 0xffff_ffff, NONE;
        /// Columns and rows of tiles less one.
        SIZE = 0x0c, "size", ReadWrite, 0, 0x00ff_00ff, NONE;
        /// Tiles and bytes of a block.
        BLOCK = 0x10, "block", ReadWrite, 0, 0xffff_ffff, NONE;
        /// The first tile.
        START = 0x14, "start", ReadWrite, 0, 0x00ff_00ff, NONE;
        /// Pixel processors that get tiles.
        ENABLE = 0x18, "enable", ReadWrite, 0, 0xff, NONE;
    }
}

registers! {
    /// A Mali-450's broadcast unit.
    broadcast {
        /// Which pixel processors (low half) and which of their MMUs (high half) a write to all reaches.
        MASK = 0x00, "mask", ReadWrite, 0, 0x00ff_00ff, NONE;
        /// Pixel processors whose interrupts go to the common line.
        INTERRUPT_MASK = 0x04, "interrupt_mask", ReadWrite, 0, 0xff, NONE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_in_order_and_fit_their_blocks() {
        let tables = [
            (gp::TABLE, 0x1000),
            (pp::TABLE, 0x2000),
            (mmu::TABLE, 0x1000),
            (l2::TABLE, 0x1000),
            (pmu::TABLE, 0x1000),
            (dlbu::TABLE, 0x1000),
            (broadcast::TABLE, 0x1000),
        ];
        for (table, size) in tables {
            assert!(table.is_sorted_by_key(|register| register.offset));
            for register in table {
                assert!(register.offset % 4 == 0 && register.offset < size, "{}", register.name);
                let numbers: u32 = register.bits.iter().map(|bit| 1 << bit.number).sum();
                if register.access == Access::ReadWrite && !register.bits.is_empty() {
                    assert_eq!(register.mask & !numbers, 0, "{}: a bit without a name", register.name);
                }
            }
        }
        let all = |bits: &[Bit]| bits.iter().map(|bit| 1 << bit.number).sum::<u32>();
        assert_eq!((all(GP_INTERRUPT), all(PP_INTERRUPT)), (GP_INTERRUPTS, PP_INTERRUPTS));
    }
}
