//! The named selectors of the GP's operands and results.

use crate::field::{Code, codes};
use crate::vector::Component;

/// A unit with a result that can be read and stored, in printing order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// First adder.
    Acc0,
    /// Second adder.
    Acc1,
    /// First multiplier.
    Mul0,
    /// Second multiplier.
    Mul1,
    /// Complex unit.
    Complex,
    /// Pass unit.
    Pass,
}

/// The properties of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitRow {
    /// The unit.
    pub unit: Unit,
    /// Suffix of its operations in text.
    pub suffix: &'static str,
    /// Name of its result in text, after `^` or `^^`.
    pub name: &'static str,
    /// Index among an instruction's results in text: `^N` is unit `N % 6` of instruction `N / 6`.
    pub slot: u32,
    /// Number in the store fields.
    store: u32,
    /// Number as the result of the previous instruction.
    last: u32,
    /// Number as the result of the instruction before that, if it can be read.
    before: Option<u32>,
}

macro_rules! units {
    ($($unit:ident: $suffix:literal, $name:literal, slot $slot:literal, store $store:literal, last $last:literal
        $(, before $before:literal)?;)*) => {
        /// The units in printing order.
        pub const UNITS: [UnitRow; 6] = [$(UnitRow {
            unit: Unit::$unit,
            suffix: $suffix,
            name: $name,
            slot: $slot,
            store: $store,
            last: $last,
            before: {
                let before: &[u32] = &[$($before)?];
                if before.is_empty() { None } else { Some(before[0]) }
            },
        }),*];
    };
}

units! {
    Acc0: "a0", "acc0", slot 0, store 0, last 16, before 24;
    Acc1: "a1", "acc1", slot 1, store 1, last 17, before 25;
    Mul0: "m0", "mul0", slot 2, store 2, last 18, before 26;
    Mul1: "m1", "mul1", slot 3, store 3, last 19, before 27;
    Complex: "c", "complex", slot 5, store 6, last 22;
    Pass: "p", "pass", slot 4, store 4, last 20, before 23;
}

/// Results per instruction, as counted in text.
pub const SLOTS: u32 = 6;

impl Unit {
    /// Its row.
    pub const fn row(self) -> &'static UnitRow {
        const ROWS: &[UnitRow; 6] = &UNITS;
        &ROWS[self as usize]
    }

    /// Its index in [`UNITS`].
    #[inline(always)]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Name of its result in text.
    pub const fn name(self) -> &'static str {
        self.row().name
    }
}

/// The age of a result in instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Age {
    /// Computed by the previous instruction.
    One,
    /// Computed by the instruction before that.
    Two,
}

impl Age {
    /// Number of instructions.
    pub const fn instructions(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

/// The source of an operand: a port, the memory load, or a result and its age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
// Four bytes, so that one table load yields it.
#[repr(align(4))]
pub enum Source {
    /// The first port's load in this instruction: an attribute or a register.
    Port0(Component),
    /// The second port's load in this instruction: a register.
    Port1(Component),
    /// The memory load of this instruction: a uniform or a temporary.
    Memory(Component),
    /// An earlier result. The complex unit's is available for one instruction only; see [`Source::result`].
    Result(Unit, Age),
    /// The first port's load in the previous instruction.
    Port0Before(Component),
    /// None: the unit is idle.
    Idle,
    /// A number that occurs in no known program.
    Undocumented(u8),
}

/// All sources by their numbers.
static SOURCES: [Source; 32] = {
    let mut sources = [Source::Undocumented(0); 32];
    let mut at = 0;
    while at < sources.len() {
        let component = Component::ALL[at % 4];
        sources[at] = match at / 4 {
            0 => Source::Port0(component),
            1 => Source::Port1(component),
            3 => Source::Memory(component),
            7 => Source::Port0Before(component),
            _ => Source::Undocumented(at as u8),
        };
        at += 1;
    }
    let mut unit = 0;
    while unit < UNITS.len() {
        let row = &UNITS[unit];
        sources[row.last as usize] = Source::Result(row.unit, Age::One);
        if let Some(before) = row.before {
            sources[before as usize] = Source::Result(row.unit, Age::Two);
        }
        unit += 1;
    }
    sources[21] = Source::Idle;
    sources
};

impl Source {
    /// As second operand of an adder or multiplier, the number of the last complex result means the constant 0.0 or
    /// 1.0. See [`Operand`].
    pub const IDENTITY: Self = Self::Result(Unit::Complex, Age::One);

    /// The limits of a clamp.
    pub const LIMITS: [Self; 2] = [Self::Memory(Component::X), Self::Memory(Component::Y)];

    /// Every documented source, by number.
    pub fn all() -> impl Iterator<Item = Self> {
        SOURCES
            .iter()
            .copied()
            .filter(|source| !matches!(source, Self::Undocumented(_)))
    }

    /// A result of an earlier instruction, if the hardware still provides it.
    pub const fn result(unit: Unit, age: Age) -> Option<Self> {
        match (unit.row().before, age) {
            (None, Age::Two) => None,
            _ => Some(Self::Result(unit, age)),
        }
    }

    /// Whether the unit is active.
    #[inline(always)]
    pub fn is_used(self) -> bool {
        self != Self::Idle
    }
}

impl Default for Source {
    /// The number zero.
    fn default() -> Self {
        Self::Port0(Component::X)
    }
}

impl Code for Source {
    #[inline(always)]
    fn from_code(code: u32) -> Self {
        SOURCES[(code & 31) as usize]
    }

    fn code(self) -> u32 {
        match self {
            Self::Port0(component) => component as u32,
            Self::Port1(component) => 4 + component as u32,
            Self::Memory(component) => 12 + component as u32,
            Self::Result(unit, Age::One) => unit.row().last,
            // An expired result is encoded as none.
            Self::Result(unit, Age::Two) => unit.row().before.unwrap_or(Self::Idle.code()),
            Self::Port0Before(component) => 28 + component as u32,
            Self::Idle => 21,
            Self::Undocumented(code) => code.into(),
        }
    }
}

/// A second operand of an adder or multiplier, for which [`Source::IDENTITY`] means a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A source.
    Source(Source),
    /// The identity: 0.0 in a sum, 1.0 in a product.
    Identity,
}

impl From<Source> for Operand {
    #[inline(always)]
    fn from(source: Source) -> Self {
        match source {
            Source::IDENTITY => Self::Identity,
            source => Self::Source(source),
        }
    }
}

impl Operand {
    /// The source, unless it is the constant.
    pub fn source(self) -> Option<Source> {
        match self {
            Self::Source(source) => Some(source),
            Self::Identity => None,
        }
    }
}

/// The stored value of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stored {
    /// A unit's result in this instruction.
    Unit(Unit),
    /// Nothing.
    Nothing,
    /// A number that occurs in no known program.
    Undocumented(u8),
}

/// All stored values, by number.
static STORED: [Stored; 8] = {
    let mut stored = [Stored::Nothing; 8];
    let mut at = 0;
    while at < 7 {
        stored[at] = Stored::Undocumented(at as u8);
        at += 1;
    }
    let mut unit = 0;
    while unit < UNITS.len() {
        stored[UNITS[unit].store as usize] = Stored::Unit(UNITS[unit].unit);
        unit += 1;
    }
    stored
};

impl Default for Stored {
    /// The number zero.
    fn default() -> Self {
        Self::Unit(Unit::Acc0)
    }
}

impl Code for Stored {
    #[inline(always)]
    fn from_code(code: u32) -> Self {
        STORED[(code & 7) as usize]
    }

    fn code(self) -> u32 {
        match self {
            Self::Unit(unit) => unit.row().store,
            Self::Nothing => 7,
            Self::Undocumented(code) => code.into(),
        }
    }
}

codes! {
    /// The offset of the memory load's address.
    pub open enum LoadOffset, 3 bits {
        /// Address register 0 (\[?\] in docs/spec/mali/gp.md, section 2: in no known program).
        Address0 = 0, "a0";
        /// Address register 1.
        Address1 = 1, "a1";
        /// Address register 2.
        Address2 = 2, "a2";
        /// Address register 3.
        Address3 = 3, "a3";
        /// None.
        Nothing = 7, "nothing";
    }
}

impl LoadOffset {
    /// Index of the address register; `None` for numbers without a row.
    pub const fn register(self) -> Option<usize> {
        match self {
            Self::Address0 => Some(0),
            Self::Address1 => Some(1),
            Self::Address2 => Some(2),
            Self::Address3 => Some(3),
            Self::Nothing | Self::Undocumented(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::every_code_survives;

    #[test]
    fn numbers_survive() {
        every_code_survives::<Source>(5);
        every_code_survives::<Stored>(3);
        every_code_survives::<LoadOffset>(3);
        for (at, row) in UNITS.iter().enumerate() {
            assert_eq!(row.unit.index(), at);
        }
    }

    #[test]
    fn the_complex_result_expires_after_one_instruction() {
        assert_eq!(Source::result(Unit::Complex, Age::Two), None);
        assert_eq!(
            Operand::from(Source::Result(Unit::Complex, Age::One)),
            Operand::Identity
        );
        assert_eq!(Source::all().count(), 28);
    }
}
