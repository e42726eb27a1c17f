//! Where the GP's operands come from and where its results go: the selectors of the instruction's fields, named.

use crate::field::{Code, codes};
use crate::vector::Component;

/// A unit whose result can be read and stored. The order is the one units are printed in.
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

/// What there is to know about a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitRow {
    /// The unit.
    pub unit: Unit,
    /// Suffix of its operations in texts.
    pub suffix: &'static str,
    /// Name of its result in texts, behind `^` or `^^`.
    pub name: &'static str,
    /// Number among the results of an instruction in texts: `^N` is unit `N % 6` of instruction `N / 6`.
    pub slot: u32,
    /// Number in the store fields.
    store: u32,
    /// Number as the result of the previous instruction.
    last: u32,
    /// Number as the result of the instruction before that, where there is one.
    before: Option<u32>,
}

macro_rules! units {
    ($($unit:ident: $suffix:literal, $name:literal, slot $slot:literal, store $store:literal, last $last:literal
        $(, before $before:literal)?;)*) => {
        /// The units in the order they are printed.
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

/// Results of an instruction, counted in texts.
pub const SLOTS: u32 = 6;

impl Unit {
    /// Its row.
    pub const fn row(self) -> &'static UnitRow {
        const ROWS: &[UnitRow; 6] = &UNITS;
        &ROWS[self as usize]
    }

    /// Its place in [`UNITS`].
    #[inline(always)]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Name of its result in texts.
    pub const fn name(self) -> &'static str {
        self.row().name
    }
}

/// How many instructions ago a result was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Age {
    /// By the instruction before this one.
    One,
    /// By the one before that.
    Two,
}

impl Age {
    /// Instructions.
    pub const fn instructions(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

/// Where an operand comes from: a port, the memory load, or a result and its age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
// Four bytes, so that one load takes it out of a table.
#[repr(align(4))]
pub enum Source {
    /// What the first port loads in this instruction: an attribute or a register.
    Port0(Component),
    /// What the second port loads in this instruction: a register.
    Port1(Component),
    /// What the memory load brings in this instruction: a uniform or a temporary.
    Memory(Component),
    /// An earlier result. The complex unit's is there for one instruction only: [`Source::result`] knows.
    Result(Unit, Age),
    /// What the first port loaded in the previous instruction.
    Port0Before(Component),
    /// Nothing: the unit is idle.
    Idle,
    /// A number that no known program has.
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
    /// As second operand of an adder 0.0, of a multiplier 1.0: there the number of the last complex result means a
    /// constant. See [`Operand`].
    pub const IDENTITY: Self = Self::Result(Unit::Complex, Age::One);

    /// The limits of a clamp.
    pub const LIMITS: [Self; 2] = [Self::Memory(Component::X), Self::Memory(Component::Y)];

    /// Every source that means something, by number.
    pub fn all() -> impl Iterator<Item = Self> {
        SOURCES
            .iter()
            .copied()
            .filter(|source| !matches!(source, Self::Undocumented(_)))
    }

    /// A result of an earlier instruction, if the hardware still has it then.
    pub const fn result(unit: Unit, age: Age) -> Option<Self> {
        match (unit.row().before, age) {
            (None, Age::Two) => None,
            _ => Some(Self::Result(unit, age)),
        }
    }

    /// The unit is not idle.
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
            // A result nobody has any more is as good as none.
            Self::Result(unit, Age::Two) => unit.row().before.unwrap_or(Self::Idle.code()),
            Self::Port0Before(component) => 28 + component as u32,
            Self::Idle => 21,
            Self::Undocumented(code) => code.into(),
        }
    }
}

/// A second operand of an adder or a multiplier, where the number of [`Source::IDENTITY`] means a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A value from somewhere.
    Source(Source),
    /// What changes nothing: 0.0 in a sum, 1.0 in a product.
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

/// What is stored as a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stored {
    /// A unit's result of this instruction.
    Unit(Unit),
    /// Nothing.
    Nothing,
    /// A number that no known program has.
    Undocumented(u8),
}

/// All that can be stored, by number.
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
    /// What is added to the memory load's address.
    pub open enum LoadOffset, 3 bits {
        /// Address register 0 (\[?\] in docs/spec/mali/gp.md, section 2: no known program has it).
        Address0 = 0, "a0";
        /// Address register 1.
        Address1 = 1, "a1";
        /// Address register 2.
        Address2 = 2, "a2";
        /// Address register 3.
        Address3 = 3, "a3";
        /// Nothing.
        Nothing = 7, "nothing";
    }
}

impl LoadOffset {
    /// Number of the address register; numbers without a row are taken for none.
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
    fn the_complex_result_is_there_once() {
        assert_eq!(Source::result(Unit::Complex, Age::Two), None);
        assert_eq!(
            Operand::from(Source::Result(Unit::Complex, Age::One)),
            Operand::Identity
        );
        assert_eq!(Source::all().count(), 28);
    }
}
