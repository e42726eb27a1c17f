//! The units of each GPU and their offsets, one row each.

use crate::registers::{Access, Register, broadcast, dlbu, gp, l2, mmu, pmu, pp};
use std::fmt::Write;
use utgard::frame::{PP_REGISTERS, PpRegisters, WRITE_BACKS, WriteBackUnit};
use utgard::words::Place;

/// Bytes of the register range of a Mali-400.
pub const SIZE_400: u32 = 0x1_0000;

/// Bytes of the register range of a Mali-450.
pub const SIZE_450: u32 = 0x3_0000;

/// The GPU product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// Mali-400, 1 to 4 pixel processors.
    Mali400,
    /// Mali-450, 1 to 8 pixel processors.
    Mali450,
}

impl Product {
    /// Maximum number of pixel processors.
    pub fn most_pixel_processors(self) -> u32 {
        match self {
            Self::Mali400 => 4,
            Self::Mali450 => 8,
        }
    }
}

/// A GPU product with its number of pixel processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    product: Product,
    pixel_processors: u32,
}

impl Model {
    /// A model; `None` if the product cannot have this many pixel processors.
    pub fn new(product: Product, pixel_processors: u32) -> Option<Self> {
        (1..=product.most_pixel_processors())
            .contains(&pixel_processors)
            .then_some(Self {
                product,
                pixel_processors,
            })
    }

    /// The product.
    pub fn product(self) -> Product {
        self.product
    }

    /// The number of pixel processors.
    pub fn pixel_processors(self) -> u32 {
        self.pixel_processors
    }

    /// Size of its register range in bytes.
    pub fn size(self) -> u32 {
        match self.product {
            Product::Mali400 => SIZE_400,
            Product::Mali450 => SIZE_450,
        }
    }

    /// Its units.
    pub fn units(self) -> impl Iterator<Item = &'static Placed> {
        let placed = match self.product {
            Product::Mali400 => MALI_400,
            Product::Mali450 => MALI_450,
        };
        placed.iter().filter(move |placed| placed.unit.is_in(self))
    }

    /// The unit at an offset.
    pub fn unit_at(self, offset: u32) -> Option<&'static Placed> {
        self.units()
            .find(|placed| (placed.offset..placed.offset + placed.unit.size()).contains(&offset))
    }

    /// The power domain of a unit, as a bit of the power unit's registers; 0 if it is always on.
    pub fn domain(self, unit: Unit) -> u32 {
        match (self.product, unit) {
            (_, Unit::Pmu) => 0,
            (_, Unit::Gp | Unit::GpMmu) => 1 << 0,
            (Product::Mali400, Unit::Pp(number) | Unit::PpMmu(number)) => 1 << (2 + number),
            (Product::Mali400, _) => 1 << 1,
            (Product::Mali450, Unit::Pp(0) | Unit::PpMmu(0)) => 1 << 1,
            (Product::Mali450, Unit::Pp(1..=3) | Unit::PpMmu(1..=3)) => 1 << 2,
            (Product::Mali450, Unit::Pp(_) | Unit::PpMmu(_)) => 1 << 3,
            (Product::Mali450, _) => 0,
        }
    }

    /// All power domains.
    pub fn domains(self) -> u32 {
        self.units().fold(0, |all, placed| all | self.domain(placed.unit))
    }

    /// Describes a register access, given as offset and value in a bus log.
    pub fn describe(self, offset: u32, value: u32) -> String {
        let Some(placed) = self.unit_at(offset) else {
            return format!("{offset:#07x} (nothing) = {value:#010x}");
        };
        let within = offset - placed.offset;
        let Some(row) = placed.unit.register(within) else {
            return format!("{}.{within:#06x} = {value:#010x}", placed.name);
        };
        let mut text = format!("{}.{} = {value:#010x}", placed.name, row.name());
        if let Row::Register(register) = row {
            let mut rest = value;
            for bit in register.bits.iter().filter(|bit| value >> bit.number & 1 != 0) {
                let _ = write!(text, " {}", bit.name);
                rest &= !(1 << bit.number);
            }
            if !register.bits.is_empty() && rest != 0 {
                let _ = write!(text, " +{rest:#x}");
            }
        }
        text
    }
}

/// A unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// The geometry processor.
    Gp,
    /// A pixel processor.
    Pp(u32),
    /// The geometry processor's MMU.
    GpMmu,
    /// A pixel processor's MMU.
    PpMmu(u32),
    /// A level 2 cache.
    L2(u32),
    /// The power unit.
    Pmu,
    /// The load-balancing unit.
    Dlbu,
    /// The broadcast unit.
    Broadcast,
    /// Broadcast to all pixel processors in the mask.
    AllPps,
    /// Broadcast to their MMUs.
    AllMmus,
}

/// A register, or a word of a frame.
#[derive(Clone, Copy, Debug)]
pub enum Row {
    /// A dedicated register.
    Register(&'static Register),
    /// A word of a pixel job's frame.
    Frame(&'static Place),
    /// A word of a write-back unit.
    WriteBack(&'static Place),
    /// An unnamed word of a frame.
    Unnamed,
}

impl Row {
    /// Its name in text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Register(register) => register.name,
            Self::Frame(place) | Self::WriteBack(place) => place.name,
            Self::Unnamed => "frame word",
        }
    }
}

impl Unit {
    /// Size of its block in bytes.
    pub fn size(self) -> u32 {
        match self {
            Self::Pp(_) | Self::AllPps => 0x2000,
            _ => 0x1000,
        }
    }

    /// Its registers.
    pub fn registers(self) -> &'static [Register] {
        match self {
            Self::Gp => gp::TABLE,
            Self::Pp(_) | Self::AllPps => pp::TABLE,
            Self::GpMmu | Self::PpMmu(_) | Self::AllMmus => mmu::TABLE,
            Self::L2(_) => l2::TABLE,
            Self::Pmu => pmu::TABLE,
            Self::Dlbu => dlbu::TABLE,
            Self::Broadcast => broadcast::TABLE,
        }
    }

    /// The register at an offset of its block.
    pub fn register(self, offset: u32) -> Option<Row> {
        if let (Self::Pp(_) | Self::AllPps, Some(word)) = (self, frame_word(offset)) {
            let named = |places: &'static [Place], word: usize| places.iter().find(|place| place.word == word);
            return Some(match word.checked_sub(PP_REGISTERS) {
                None => named(PpRegisters::PLACES, word).map_or(Row::Unnamed, Row::Frame),
                Some(word) => {
                    named(WriteBackUnit::PLACES, word % WriteBackUnit::WORDS).map_or(Row::Unnamed, Row::WriteBack)
                }
            });
        }
        let table = self.registers();
        let found = table.binary_search_by_key(&offset, |register| register.offset);
        found.ok().map(|at| Row::Register(&table[at]))
    }

    fn is_in(self, model: Model) -> bool {
        let pps = model.pixel_processors;
        match self {
            Self::Pp(number) | Self::PpMmu(number) => number < pps,
            // The second pixel processor cache serves processors from the fifth on.
            Self::L2(2) => pps > 4,
            _ => true,
        }
    }
}

/// Index of a frame's word (write-back units last) at an offset of a pixel processor.
pub(crate) fn frame_word(offset: u32) -> Option<usize> {
    let word = (offset / 4) as usize;
    if word < PP_REGISTERS {
        return Some(word);
    }
    let (unit, within) = ((offset >> 8) as usize, (offset & 0xff) as usize / 4);
    let is_unit = (1..=WRITE_BACKS).contains(&unit) && within < WriteBackUnit::WORDS;
    is_unit.then(|| PP_REGISTERS + (unit - 1) * WriteBackUnit::WORDS + within)
}

/// A unit with its offset.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// The unit.
    pub unit: Unit,
    /// Offset of its block.
    pub offset: u32,
    /// Its name in text, as in the Linux driver.
    pub name: &'static str,
}

macro_rules! placed {
    ($($unit:expr, $offset:literal, $name:literal;)*) => {
        &[$(Placed { unit: $unit, offset: $offset, name: $name }),*]
    };
}

const MALI_400: &[Placed] = placed! {
    Unit::Gp, 0x0000, "gp";
    Unit::L2(0), 0x1000, "l2_cache0";
    Unit::Pmu, 0x2000, "pmu";
    Unit::GpMmu, 0x3000, "gpmmu";
    Unit::PpMmu(0), 0x4000, "ppmmu0";
    Unit::PpMmu(1), 0x5000, "ppmmu1";
    Unit::PpMmu(2), 0x6000, "ppmmu2";
    Unit::PpMmu(3), 0x7000, "ppmmu3";
    Unit::Pp(0), 0x8000, "pp0";
    Unit::Pp(1), 0xa000, "pp1";
    Unit::Pp(2), 0xc000, "pp2";
    Unit::Pp(3), 0xe000, "pp3";
};

const MALI_450: &[Placed] = placed! {
    Unit::Gp, 0x0_0000, "gp";
    Unit::L2(1), 0x0_1000, "l2_cache1";
    Unit::Pmu, 0x0_2000, "pmu";
    Unit::GpMmu, 0x0_3000, "gpmmu";
    Unit::PpMmu(0), 0x0_4000, "ppmmu0";
    Unit::PpMmu(1), 0x0_5000, "ppmmu1";
    Unit::PpMmu(2), 0x0_6000, "ppmmu2";
    Unit::PpMmu(3), 0x0_7000, "ppmmu3";
    Unit::Pp(0), 0x0_8000, "pp0";
    Unit::Pp(1), 0x0_a000, "pp1";
    Unit::Pp(2), 0x0_c000, "pp2";
    Unit::Pp(3), 0x0_e000, "pp3";
    Unit::L2(0), 0x1_0000, "l2_cache0";
    Unit::L2(2), 0x1_1000, "l2_cache2";
    Unit::Broadcast, 0x1_3000, "bcast";
    Unit::Dlbu, 0x1_4000, "dlbu";
    Unit::AllMmus, 0x1_5000, "ppmmu_bcast";
    Unit::AllPps, 0x1_6000, "pp_bcast";
    Unit::PpMmu(4), 0x1_c000, "ppmmu4";
    Unit::PpMmu(5), 0x1_d000, "ppmmu5";
    Unit::PpMmu(6), 0x1_e000, "ppmmu6";
    Unit::PpMmu(7), 0x1_f000, "ppmmu7";
    Unit::Pp(4), 0x2_8000, "pp4";
    Unit::Pp(5), 0x2_a000, "pp5";
    Unit::Pp(6), 0x2_c000, "pp6";
    Unit::Pp(7), 0x2_e000, "pp7";
};

/// An interrupt line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Line {
    /// The geometry processor's.
    Gp,
    /// Its MMU's.
    GpMmu,
    /// A pixel processor's.
    Pp(u32),
    /// A pixel processor's MMU's.
    PpMmu(u32),
    /// The power unit's.
    Pmu,
    /// The line shared by all pixel processors of a Mali-450's broadcast unit.
    AllPps,
}

impl Line {
    /// The line's number: 0 the geometry processor, 1 its MMU, 2 the power unit, 3 all pixel processors, then a pair of
    /// pixel processor and MMU for each.
    pub fn number(self) -> u32 {
        match self {
            Self::Gp => 0,
            Self::GpMmu => 1,
            Self::Pmu => 2,
            Self::AllPps => 3,
            Self::Pp(number) => 4 + 2 * number,
            Self::PpMmu(number) => 5 + 2 * number,
        }
    }

    /// The line with this number, if any.
    pub fn from_number(number: u32) -> Option<Self> {
        let most = Product::Mali450.most_pixel_processors();
        let pairs = (0..most).flat_map(|number| [Self::Pp(number), Self::PpMmu(number)]);
        let mut all = [Self::Gp, Self::GpMmu, Self::Pmu, Self::AllPps]
            .into_iter()
            .chain(pairs);
        all.find(|line| line.number() == number)
    }
}

impl std::fmt::Display for Line {
    /// The name of the unit whose line it is.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Gp => out.write_str("gp"),
            Self::GpMmu => out.write_str("gpmmu"),
            Self::Pmu => out.write_str("pmu"),
            Self::AllPps => out.write_str("pp"),
            Self::Pp(number) => write!(out, "pp{number}"),
            Self::PpMmu(number) => write!(out, "ppmmu{number}"),
        }
    }
}

/// Whether a register stores what is written.
pub(crate) fn keeps(register: &Register) -> bool {
    register.access == Access::ReadWrite
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_apart_and_in_range() {
        for (product, most) in [(Product::Mali400, 4), (Product::Mali450, 8)] {
            assert_eq!(Model::new(product, 0), None);
            assert_eq!(Model::new(product, most + 1), None);
            for pps in 1..=most {
                let model = Model::new(product, pps).unwrap();
                let mut end = 0;
                for placed in model.units() {
                    assert!(placed.offset >= end, "{} overlaps", placed.name);
                    end = placed.offset + placed.unit.size();
                    assert!(std::ptr::eq(model.unit_at(end - 4).unwrap(), placed));
                }
                assert!(end <= model.size());
                let count = model
                    .units()
                    .filter(|placed| matches!(placed.unit, Unit::Pp(_)))
                    .count();
                assert_eq!(count, pps as usize);
            }
        }
    }

    #[test]
    fn accesses_have_names() {
        let model = Model::new(Product::Mali400, 2).unwrap();
        assert_eq!(
            model.describe(0x28, 0x80001),
            "gp.int_clear = 0x00080001 vs_end reset_completed"
        );
        assert_eq!(model.describe(0x9000, 0xcd07_0101), "pp0.version = 0xcd070101");
        assert_eq!(model.describe(0x8000, 0x1000), "pp0.tile_list = 0x00001000");
        assert_eq!(model.describe(0x8104, 0x40), "pp0.address = 0x00000040");
        assert_eq!(model.describe(0xc000, 1), "0x0c000 (nothing) = 0x00000001");
        assert_eq!(
            model.describe(0x900c, 0xc0),
            "pp0.control = 0x000000c0 start soft_reset"
        );
    }

    #[test]
    fn power_domains_are_the_drivers() {
        let domains = |product, pps| Model::new(product, pps).unwrap().domains();
        assert_eq!(domains(Product::Mali400, 1), 0b111);
        assert_eq!(domains(Product::Mali400, 4), 0b11_1111);
        assert_eq!(domains(Product::Mali450, 1), 0b11);
        assert_eq!(domains(Product::Mali450, 4), 0b111);
        assert_eq!(domains(Product::Mali450, 8), 0b1111);
    }
}
