//! The GP's units, operations and sources as rows. Evidence in facts/mali/gp.md, sections 3, 5 and 6.

/// An operation: its number, its name in texts, and how many operands it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// The number in the field.
    pub code: u16,
    /// Name in texts.
    pub name: &'static str,
    /// Operands.
    pub operands: u8,
}

const fn op(code: u16, name: &'static str, operands: u8) -> Op {
    Op { code, name, operands }
}

/// Operations of both adders; in texts `mov` is an addition of -0.0.
pub const ACC: &[Op] = &[
    op(0, "add", 2),
    op(1, "floor", 1),
    op(2, "sign", 1),
    op(4, "ge", 2),
    op(5, "lt", 2),
    op(6, "min", 2),
    op(7, "max", 2),
];

/// Product of the multipliers; in texts `mov` is a multiplication by 1.0.
pub const MUL: u16 = 0;
/// Four operands, last step of the transcendental functions; takes both multipliers.
pub const COMPLEX1: u16 = 1;
/// Two operands on mul0, second step of the transcendental functions; mul1 multiplies as ever.
pub const COMPLEX2: u16 = 3;
/// One of two operands by a third; takes both multipliers.
pub const SELECT: u16 = 4;

/// Operations of the complex unit.
pub const COMPLEX: &[Op] = &[
    op(2, "exp2", 1),
    op(3, "log2", 1),
    op(4, "rsqrt", 1),
    op(5, "rcp", 1),
    op(9, "mov", 1),
    op(10, "temp_addr_pair", 1),
    op(12, "temp_store_addr", 1),
    op(13, "temp_load_addr_1", 1),
    op(14, "temp_load_addr_2", 1),
    op(15, "temp_load_addr_3", 1),
];

/// Limits from the memory load's x and y.
pub const CLAMP: u16 = 6;

/// Operations of the pass unit.
pub const PASS: &[Op] = &[
    op(2, "mov", 1),
    op(4, "preexp2", 1),
    op(5, "postlog2", 1),
    op(CLAMP, "clamp", 3),
];

/// The row of an operation's number.
pub fn by_code(table: &[Op], code: u16) -> Option<&Op> {
    table.iter().find(|op| op.code == code)
}

/// The row of an operation's name.
pub fn by_name<'a>(table: &'a [Op], name: &str) -> Option<&'a Op> {
    table.iter().find(|op| op.name == name)
}

/// A unit whose results can be read and stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Suffix of its operations in texts.
    pub suffix: &'static str,
    /// Name of its result in texts, behind `^` or `^^`.
    pub name: &'static str,
    /// Number among the results of an instruction in texts: `^N` is unit `N % 6` of instruction `N / 6`.
    pub slot: u32,
    /// Number in the store fields.
    pub store: u16,
    /// Source number of the previous instruction's result.
    pub last: u16,
    /// Source number of the result before that, where there is one.
    pub before: Option<u16>,
}

/// The units in the order they are printed.
pub const UNITS: [Unit; 6] = [
    Unit {
        suffix: "a0",
        name: "acc0",
        slot: 0,
        store: 0,
        last: 16,
        before: Some(24),
    },
    Unit {
        suffix: "a1",
        name: "acc1",
        slot: 1,
        store: 1,
        last: 17,
        before: Some(25),
    },
    Unit {
        suffix: "m0",
        name: "mul0",
        slot: 2,
        store: 2,
        last: 18,
        before: Some(26),
    },
    Unit {
        suffix: "m1",
        name: "mul1",
        slot: 3,
        store: 3,
        last: 19,
        before: Some(27),
    },
    Unit {
        suffix: "c",
        name: "complex",
        slot: 5,
        store: 6,
        last: 22,
        before: None,
    },
    Unit {
        suffix: "p",
        name: "pass",
        slot: 4,
        store: 4,
        last: 20,
        before: Some(23),
    },
];

/// Results of an instruction, counted in texts.
pub const SLOTS: u32 = 6;

/// Source: the unit is idle.
pub const IDLE: u16 = 21;
/// Source: a constant as second operand of the adders (0.0) and multipliers (1.0), the last complex result elsewhere.
pub const IDENTITY: u16 = 22;
/// Store source: nothing is stored.
pub const NO_STORE: u16 = 7;
/// Load offset: nothing is added.
pub const NO_OFFSET: u16 = 7;
/// First source of port 0, port 1, the memory load, and the previous instruction's port 0.
pub const PORT0: u16 = 0;
/// First source of port 1.
pub const PORT1: u16 = 4;
/// First source of the memory load.
pub const MEMORY: u16 = 12;
/// First source of the previous instruction's port 0.
pub const PORT0_BEFORE: u16 = 28;
