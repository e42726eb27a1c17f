//! The registers of every unit, one row each (docs/spec/mali/registers.md): reads, writes, resets and text are
//! generated from the row. The effects of writes are in `state.rs`.

/// CPU access to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Stores what is written.
    ReadWrite,
    /// Writes are ignored.
    ReadOnly,
    /// Reads as 0; a write triggers an action.
    Command,
}

/// One register.
#[derive(Clone, Copy, Debug)]
pub struct Register {
    /// Byte offset within the unit.
    pub offset: u32,
    /// Name in text.
    pub name: &'static str,
    /// CPU access.
    pub access: Access,
    /// Value after a reset.
    pub reset: u32,
    /// Bits that store what is written.
    pub mask: u32,
    /// Named bits.
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
        /// Adopts a new heap.
        UPDATE_HEAP = 4, "update_heap";
        /// Resets everything.
        RESET = 5, "reset";
        /// Hangs, for testing.
        FORCE_HANG = 6, "force_hang";
        /// Stops access to the bus.
        STOP_BUS = 9, "stop_bus";
        /// Ends the job, resets, and raises an interrupt.
        SOFT_RESET = 10, "soft_reset";
    }
}

bits! {
    /// Interrupts of the geometry processor.
    gp_interrupt, GP_INTERRUPT {
        /// End of the vertex stream.
        VS_END = 0, "vs_end";
        /// End of the polygon list stream.
        PLBU_END = 1, "plbu_end";
        /// The heap is full.
        OUT_OF_MEMORY = 2, "plbu_out_of_memory";
        /// A semaphore of the vertex stream.
        VS_SEMAPHORE = 3, "vs_semaphore";
        /// A semaphore of the polygon list stream.
        PLBU_SEMAPHORE = 4, "plbu_semaphore";
        /// A watchdog expired.
        HANG = 5, "hang";
        /// A forced hang.
        FORCE_HANG = 6, "force_hang";
        /// A counter reached its limit.
        COUNTER_0_LIMIT = 7, "counter_0_limit";
        /// A counter reached its limit.
        COUNTER_1_LIMIT = 8, "counter_1_limit";
        /// A write outside the bounds.
        WRITE_BOUND = 9, "write_bound";
        /// A synchronisation error.
        SYNC_ERROR = 10, "sync_error";
        /// The bus answered with an error.
        BUS_ERROR = 11, "bus_error";
        /// Access to the bus has stopped.
        BUS_STOPPED = 12, "bus_stopped";
        /// An invalid command in the vertex stream.
        VS_INVALID = 13, "vs_invalid_command";
        /// An invalid command in the polygon list stream.
        PLBU_INVALID = 14, "plbu_invalid_command";
        /// A soft reset is done.
        RESET_COMPLETED = 19, "reset_completed";
        /// Semaphore underflow.
        SEMAPHORE_UNDERFLOW = 20, "semaphore_underflow";
        /// Semaphore overflow.
        SEMAPHORE_OVERFLOW = 21, "semaphore_overflow";
        /// An entry outside the array of list pointers.
        POINTER_OUT_OF_BOUNDS = 22, "pointer_out_of_bounds";
    }
}

/// All interrupts of the geometry processor.
pub const GP_INTERRUPTS: u32 = 0x0078_7fff;

bits! {
    /// Status of the geometry processor.
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
        /// Start of the heap for lists that outgrow their blocks.
        HEAP_START = 0x10, "heap_start", ReadWrite, 0, 0xffff_ff80, NONE;
        /// End of the heap.
        HEAP_END = 0x14, "heap_end", ReadWrite, 0, 0xffff_ff80, NONE;
        /// Starts, stops, resets.
        COMMAND = 0x20, "command", Command, 0, 0, GP_COMMAND;
        /// Pending interrupts, before the mask.
        INT_RAWSTAT = 0x24, "int_rawstat", ReadWrite, 0, 0x0078_7fff, GP_INTERRUPT;
        /// Acknowledges interrupts.
        INT_CLEAR = 0x28, "int_clear", Command, 0, 0, GP_INTERRUPT;
        /// Interrupts enabled for the line.
        INT_MASK = 0x2c, "int_mask", ReadWrite, 0, 0x0078_7fff, GP_INTERRUPT;
        /// Pending interrupts, after the mask.
        INT_STAT = 0x30, "int_stat", ReadOnly, 0, 0, GP_INTERRUPT;
        /// Lowest address that may be written.
        WRITE_BOUND_LOW = 0x34, "write_bound_low", ReadWrite, 0, 0xffff_ff00, NONE;
        /// Highest address that may be written.
        WRITE_BOUND_HIGH = 0x38, "write_bound_high", ReadWrite, 0xffff_ff00, 0xffff_ff00, NONE;
        /// Enables the first counter.
        COUNTER_0_ENABLE = 0x3c, "counter_0_enable", ReadWrite, 0, 0x3, NONE;
        /// Enables the second counter.
        COUNTER_1_ENABLE = 0x40, "counter_1_enable", ReadWrite, 0, 0x3, NONE;
        /// Event of the first counter.
        COUNTER_0_SOURCE = 0x44, "counter_0_source", ReadWrite, 0, 0xff, NONE;
        /// Event of the second counter.
        COUNTER_1_SOURCE = 0x48, "counter_1_source", ReadWrite, 0, 0xff, NONE;
        /// The first counter.
        COUNTER_0 = 0x4c, "counter_0", ReadWrite, 0, 0xffff_ffff, NONE;
        /// The second counter.
        COUNTER_1 = 0x50, "counter_1", ReadWrite, 0, 0xffff_ffff, NONE;
        /// Interrupt limit of the first counter.
        COUNTER_0_LIMIT = 0x54, "counter_0_limit", ReadWrite, 0, 0xffff_ffff, NONE;
        /// Interrupt limit of the second counter.
        COUNTER_1_LIMIT = 0x58, "counter_1_limit", ReadWrite, 0, 0xffff_ffff, NONE;
        /// Status.
        STATUS = 0x68, "status", ReadOnly, 0, 0, GP_STATUS;
        /// Product and revision; the value comes from the layout.
        VERSION = 0x6c, "version", ReadOnly, 0, 0, NONE;
        /// Current address in the vertex stream.
        VS_POSITION = 0x80, "vs_position", ReadOnly, 0, 0, NONE;
        /// Current address in the polygon list stream.
        PLBU_POSITION = 0x84, "plbu_position", ReadOnly, 0, 0, NONE;
        /// Status of the bus error.
        BUS_ERROR_STATUS = 0x94, "bus_error_status", ReadOnly, 0, 0, NONE;
    }
}

bits! {
    /// Commands of a pixel processor.
    pp_control, PP_CONTROL {
        /// Stops access to the bus.
        STOP_BUS = 0, "stop_bus";
        /// Flushes its caches.
        FLUSH_CACHES = 3, "flush_caches";
        /// Resets everything.
        RESET = 5, "reset";
        /// Runs the tile list.
        START = 6, "start";
        /// Ends the job, resets, and raises an interrupt.
        SOFT_RESET = 7, "soft_reset";
    }
}

bits! {
    /// Interrupts of a pixel processor.
    pp_interrupt, PP_INTERRUPT {
        /// End of the tile list.
        END_OF_FRAME = 0, "end_of_frame";
        /// A tile is done.
        END_OF_TILE = 1, "end_of_tile";
        /// A watchdog expired.
        HANG = 2, "hang";
        /// A forced hang.
        FORCE_HANG = 3, "force_hang";
        /// The bus answered with an error.
        BUS_ERROR = 4, "bus_error";
        /// Access to the bus has stopped.
        BUS_STOPPED = 5, "bus_stopped";
        /// A counter reached its limit.
        COUNTER_0_LIMIT = 6, "counter_0_limit";
        /// A counter reached its limit.
        COUNTER_1_LIMIT = 7, "counter_1_limit";
        /// A write outside the bounds.
        WRITE_BOUND = 8, "write_bound";
        /// An invalid command in the lists.
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
    /// Status of a pixel processor.
    pp_status, PP_STATUS {
        /// A job runs.
        ACTIVE = 0, "active";
        /// Access to the bus has stopped.
        BUS_STOPPED = 4, "bus_stopped";
    }
}

registers! {
    /// A pixel processor; the frame's registers and the write-back units precede these (docs/spec/mali/frame.md).
    pp {
        /// Product and revision; the value comes from the layout.
        VERSION = 0x1000, "version", ReadOnly, 0, 0, NONE;
        /// Current address in the tile list.
        LIST_POSITION = 0x1004, "list_position", ReadOnly, 0, 0, NONE;
        /// Status.
        STATUS = 0x1008, "status", ReadOnly, 0, 0, PP_STATUS;
        /// Starts, stops, resets.
        CONTROL = 0x100c, "control", Command, 0, 0, PP_CONTROL;
        /// Pending interrupts, before the mask.
        INT_RAWSTAT = 0x1020, "int_rawstat", ReadWrite, 0, 0x1fff, PP_INTERRUPT;
        /// Acknowledges interrupts.
        INT_CLEAR = 0x1024, "int_clear", Command, 0, 0, PP_INTERRUPT;
        /// Interrupts enabled for the line.
        INT_MASK = 0x1028, "int_mask", ReadWrite, 0, 0x1fff, PP_INTERRUPT;
        /// Pending interrupts, after the mask.
        INT_STATUS = 0x102c, "int_status", ReadOnly, 0, 0, PP_INTERRUPT;
        /// Whether writes are checked against the bounds.
        WRITE_BOUND_ENABLE = 0x1040, "write_bound_enable", ReadWrite, 0, 0x1, NONE;
        /// Lowest address that may be written.
        WRITE_BOUND_LOW = 0x1044, "write_bound_low", ReadWrite, 0, 0xffff_ff00, NONE;
        /// Highest address that may be written.
        WRITE_BOUND_HIGH = 0x1048, "write_bound_high", ReadWrite, 0, 0xffff_ff00, NONE;
        /// Status of the bus error.
        BUS_ERROR_STATUS = 0x1050, "bus_error_status", ReadOnly, 0, 0, NONE;
        /// Enables the first counter.
        COUNTER_0_ENABLE = 0x1080, "counter_0_enable", ReadWrite, 0, 0x3, NONE;
        /// Event of the first counter.
        COUNTER_0_SOURCE = 0x1084, "counter_0_source", ReadWrite, 0, 0xff, NONE;
        /// Interrupt limit of the first counter.
        COUNTER_0_LIMIT = 0x1088, "counter_0_limit", ReadWrite, 0, 0xffff_ffff, NONE;
        /// The first counter.
        COUNTER_0 = 0x108c, "counter_0", ReadWrite, 0, 0xffff_ffff, NONE;
        /// Enables the second counter.
        COUNTER_1_ENABLE = 0x10a0, "counter_1_enable", ReadWrite, 0, 0x3, NONE;
        /// Event of the second counter.
        COUNTER_1_SOURCE = 0x10a4, "counter_1_source", ReadWrite, 0, 0xff, NONE;
        /// Interrupt limit of the second counter.
        COUNTER_1_LIMIT = 0x10a8, "counter_1_limit", ReadWrite, 0, 0xffff_ffff, NONE;
        /// The second counter.
        COUNTER_1 = 0x10ac, "counter_1", ReadWrite, 0, 0xffff_ffff, NONE;
        /// Control of counter dumps to memory.
        COUNTERS_CONTROL = 0x10b0, "counters_control", ReadWrite, 0, 0xffff_ffff, NONE;
        /// Address of counter dumps in memory.
        COUNTERS_BASE = 0x10b4, "counters_base", ReadWrite, 0, 0xffff_ff00, NONE;
    }
}

bits! {
    /// Bits of a memory management unit's status.
    mmu_status, MMU_STATUS {
        /// Addresses are translated.
        PAGING = 0, "paging";
        /// A page fault is pending.
        PAGE_FAULT = 1, "page_fault";
        /// Accesses are stalled.
        STALL = 2, "stall";
        /// No access is in progress.
        IDLE = 3, "idle";
        /// No access is waiting for replay.
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
        /// A bus error while reading the page tables.
        READ_BUS_ERROR = 1, "read_bus_error";
    }
}

/// Commands of a memory management unit.
pub mod mmu_command {
    /// Enables translation.
    pub const ENABLE_PAGING: u32 = 0;
    /// Disables translation.
    pub const DISABLE_PAGING: u32 = 1;
    /// Stalls accesses.
    pub const ENABLE_STALL: u32 = 2;
    /// Resumes accesses.
    pub const DISABLE_STALL: u32 = 3;
    /// Invalidates the TLB.
    pub const ZAP_CACHE: u32 = 4;
    /// Retries the faulting access.
    pub const PAGE_FAULT_DONE: u32 = 5;
    /// Resets the unit.
    pub const RESET: u32 = 6;
}

registers! {
    /// A memory management unit, one before each processor.
    mmu {
        /// Physical address of the page directory.
        DIRECTORY = 0x00, "directory", ReadWrite, 0, 0xffff_f000, NONE;
        /// Status.
        STATUS = 0x04, "status", ReadOnly, 0x18, 0, MMU_STATUS;
        /// A number of [`mmu_command`].
        COMMAND = 0x08, "command", Command, 0, 0, NONE;
        /// The faulting address.
        FAULT_ADDRESS = 0x0c, "fault_address", ReadOnly, 0, 0, NONE;
        /// Invalidates the translation of one address.
        ZAP_ONE_LINE = 0x10, "zap_one_line", Command, 0, 0, NONE;
        /// Pending interrupts, before the mask.
        INT_RAWSTAT = 0x14, "int_rawstat", ReadWrite, 0, 0x3, MMU_INTERRUPT;
        /// Acknowledges interrupts.
        INT_CLEAR = 0x18, "int_clear", Command, 0, 0, MMU_INTERRUPT;
        /// Interrupts enabled for the line.
        INT_MASK = 0x1c, "int_mask", ReadWrite, 0, 0x3, MMU_INTERRUPT;
        /// Pending interrupts, after the mask.
        INT_STATUS = 0x20, "int_status", ReadOnly, 0, 0, MMU_INTERRUPT;
    }
}

bits! {
    /// Status of a level 2 cache.
    l2_status, L2_STATUS {
        /// A command is in progress.
        COMMAND_BUSY = 0, "command_busy";
        /// A transfer is in progress.
        DATA_BUSY = 1, "data_busy";
    }
}

bits! {
    /// Commands of a level 2 cache.
    l2_command, L2_COMMAND {
        /// Invalidates everything.
        CLEAR_ALL = 0, "clear_all";
    }
}

bits! {
    /// Enable bits of a level 2 cache.
    l2_enable, L2_ENABLE {
        /// The cache is enabled.
        ACCESS = 0, "access";
        /// Reads allocate lines.
        READ_ALLOCATE = 1, "read_allocate";
    }
}

registers! {
    /// A level 2 cache. Guest memory is read in place, so nothing is cached: it only answers, and is never busy.
    l2 {
        /// 64 KiB, 4 ways, lines of 64 bytes, a bus of 128 bits, each as log2.
        SIZE = 0x04, "size", ReadOnly, 0x0710_0206, 0, NONE;
        /// Status.
        STATUS = 0x08, "status", ReadOnly, 0, 0, L2_STATUS;
        /// Invalidates.
        COMMAND = 0x10, "command", Command, 0, 0, L2_COMMAND;
        /// Invalidates a page.
        CLEAR_PAGE = 0x14, "clear_page", Command, 0, 0, NONE;
        /// Maximum outstanding reads.
        MAX_READS = 0x18, "max_reads", ReadWrite, 0x1c, 0x1f, NONE;
        /// Enable bits.
        ENABLE = 0x1c, "enable", ReadWrite, 0, 0x3, L2_ENABLE;
        /// Event of the first counter.
        COUNTER_0_SOURCE = 0x20, "counter_0_source", ReadWrite, 0, 0x7f, NONE;
        /// The first counter.
        COUNTER_0 = 0x24, "counter_0", ReadWrite, 0, 0xffff_ffff, NONE;
        /// Event of the second counter.
        COUNTER_1_SOURCE = 0x28, "counter_1_source", ReadWrite, 0, 0x7f, NONE;
        /// The second counter.
        COUNTER_1 = 0x2c, "counter_1", ReadWrite, 0, 0xffff_ffff, NONE;
    }
}

bits! {
    /// Interrupts of the power unit.
    pmu_interrupt, PMU_INTERRUPT {
        /// Command completed.
        COMMAND_DONE = 0, "command_done";
    }
}

registers! {
    /// The power unit: one bit per switchable domain.
    pmu {
        /// Switches domains on.
        POWER_UP = 0x00, "power_up", Command, 0, 0, NONE;
        /// Switches domains off.
        POWER_DOWN = 0x04, "power_down", Command, 0, 0, NONE;
        /// Domains that are off.
        STATUS = 0x08, "status", ReadOnly, 0, 0, NONE;
        /// Interrupts enabled for the line.
        INT_MASK = 0x0c, "int_mask", ReadWrite, 0, 0x1, PMU_INTERRUPT;
        /// Pending interrupts, before the mask.
        INT_RAWSTAT = 0x10, "int_rawstat", ReadOnly, 0, 0, PMU_INTERRUPT;
        /// Acknowledges interrupts.
        INT_CLEAR = 0x18, "int_clear", Command, 0, 0, PMU_INTERRUPT;
        /// Cycles between switching two domains.
        DELAY = 0x1c, "delay", ReadWrite, 0, 0xffff, NONE;
    }
}

registers! {
    /// A Mali-450's load-balancing unit, which distributes tiles among pixel processors.
    dlbu {
        /// Physical address of its private page; bit 0: enabled.
        PAGE = 0x00, "page", ReadWrite, 0, 0xffff_f001, NONE;
        /// The address at which pixel processors read its list.
        LIST_ADDRESS = 0x04, "list_address", ReadWrite, 0, 0xffff_f000, NONE;
        /// Address of the polygon lists' blocks.
        BLOCKS = 0x08, "blocks", ReadWrite, 0, 0xffff_ffff, NONE;
        /// Columns and rows of tiles, minus one.
        SIZE = 0x0c, "size", ReadWrite, 0, 0x00ff_00ff, NONE;
        /// Size of a block in tiles and bytes.
        BLOCK = 0x10, "block", ReadWrite, 0, 0xffff_ffff, NONE;
        /// The first tile.
        START = 0x14, "start", ReadWrite, 0, 0x00ff_00ff, NONE;
        /// Pixel processors that receive tiles.
        ENABLE = 0x18, "enable", ReadWrite, 0, 0xff, NONE;
    }
}

registers! {
    /// A Mali-450's broadcast unit.
    broadcast {
        /// Pixel processors (low half) and MMUs (high half) that receive broadcasts.
        MASK = 0x00, "mask", ReadWrite, 0, 0x00ff_00ff, NONE;
        /// Pixel processors whose interrupts raise the common line.
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
