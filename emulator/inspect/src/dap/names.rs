//! Names of the source: uniforms, attributes and varyings, by the symbols of a program.

use super::Source;
use emulator::driver::link::{elements, is_sampler};
use emulator::exec::observed::Line;
use loader::mbs::{NO_PARENT, Stage, Symbol, SymbolType};
use utgard::debug::Debug;

/// Limit on the names of a program.
const MAX_NAMES: usize = 1024;

/// Limit on the symbols that are looked at, those of arrays of structures again for each element.
const MAX_STEPS: u32 = 1 << 14;

/// Limit on the length of a structure's name with those that enclose it.
const MAX_NAME: usize = 512;

/// What the values of a name are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A uniform.
    Uniform,
    /// An attribute of a vertex.
    Attribute,
    /// What a vertex gives.
    Output,
    /// What a fragment gets.
    Varying,
}

/// A number, a vector, or a column or element of something larger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// The name, with the index of the column or element.
    pub name: String,
    /// What its values are.
    pub kind: Kind,
    /// The float that it begins at; of attributes and outputs, which have four each, the same with one behind the other.
    first: u32,
    /// Number of components.
    components: u32,
}

/// The names of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ProgramNames {
    symbols: Vec<Named>,
    /// Functions and local variables.
    pub debug: Debug,
    /// Addresses of the instructions.
    addresses: Vec<u32>,
    /// Their first lines.
    lines: Vec<Option<u32>>,
}

impl ProgramNames {
    /// The names that a program's symbols have.
    ///
    /// `lines` are the program's instructions.
    pub(super) fn of(source: &Source, lines: &[Line]) -> Self {
        let program = &source.program;
        let [(_, uniforms), (_, attributes), (_, varyings)] = program.tables();
        let is_vertex = program.stage == Stage::Vertex;
        let given = if is_vertex { Kind::Output } else { Kind::Varying };
        let mut names = Vec::new();
        for (symbols, kind) in [
            (uniforms, Kind::Uniform),
            (attributes, Kind::Attribute),
            (varyings, given),
        ] {
            let mut all: Vec<usize> = (0..symbols.len())
                .filter(|at| kind == Kind::Attribute || symbols[*at].parent == NO_PARENT)
                .collect();
            all.sort_by_key(|at| symbols[*at].offset);
            let table = Table { symbols, kind };
            let mut room = MAX_STEPS;
            all.into_iter()
                .for_each(|at| table.add(at, "", 0, &mut names, &mut room));
        }
        Self {
            symbols: names,
            debug: source.debug.clone(),
            lines: source.lines.iter().map(|lines| lines.first().copied()).collect(),
            addresses: lines.iter().map(|line| line.address).collect(),
        }
    }

    /// The rows of a kind, with their values among the floats of that kind.
    pub(super) fn values(&self, kind: Kind, floats: &[f32]) -> Vec<(&str, Vec<f32>)> {
        let named = self.symbols.iter().filter(|named| named.kind == kind);
        named
            .filter_map(|named| {
                let first = named.first as usize;
                let values = floats.get(first..first + named.components as usize)?;
                Some((named.name.as_str(), values.to_vec()))
            })
            .collect()
    }

    /// The number of the instruction at an address.
    pub(super) fn instruction(&self, address: u32) -> Option<usize> {
        self.addresses.binary_search(&address).ok()
    }

    /// The calls that the instruction at an address is in, the innermost first, each with its line.
    pub(super) fn stack(&self, address: u32) -> Vec<(u32, u32)> {
        let instruction = self.instruction(address);
        let line = instruction.and_then(|at| *self.lines.get(at)?);
        let found = instruction.zip(line);
        found
            .map(|(instruction, line)| self.debug.stack(instruction, line))
            .unwrap_or_default()
    }

    /// Number of floats of varyings that have a name.
    pub(super) fn varyings(&self) -> usize {
        let all = self.symbols.iter().filter(|named| named.kind == Kind::Varying);
        all.map(|named| (named.first + named.components) as usize)
            .max()
            .unwrap_or(0)
    }
}

/// The symbols of a kind.
struct Table<'a> {
    symbols: &'a [Symbol],
    kind: Kind,
}

impl Table<'_> {
    /// Adds the rows of a symbol behind those that enclose it, which are at most as deep as there are symbols.
    fn add(&self, at: usize, enclosing: &str, base: u32, names: &mut Vec<Named>, room: &mut u32) {
        if *room == 0 {
            return;
        }
        *room -= 1;
        let symbol = &self.symbols[at];
        // Constants of compilers have names that no source can have.
        if !symbol.is_used() || is_sampler(symbol) || symbol.name.starts_with(b"?") || names.len() >= MAX_NAMES {
            return;
        }
        let (name, first) = (format!("{enclosing}{}", symbol.name()), base + u32::from(symbol.offset));
        if symbol.kind == SymbolType::STRUCT {
            // Members come behind their structure, so that no circle is followed.
            let is_member = |member: &usize| usize::from(self.symbols[*member].parent) == at && *member != at;
            let members: Vec<usize> = (0..self.symbols.len()).filter(is_member).collect();
            for element in 0..u32::from(symbol.entries.max(1)).min(*room) {
                let of = match symbol.entries {
                    0 => format!("{name}."),
                    _ => format!("{name}[{element}]."),
                };
                if of.len() > MAX_NAME {
                    return;
                }
                let start = first + element * u32::from(symbol.stride);
                members
                    .iter()
                    .for_each(|member| self.add(*member, &of, start, names, room));
            }
            return;
        }
        let (count, components, step) = elements(symbol);
        // What vertices get and give are vec4s, whatever their size.
        let step = match self.kind {
            Kind::Attribute | Kind::Output => 4,
            Kind::Uniform | Kind::Varying => step,
        };
        if !(1..=4).contains(&components) {
            return;
        }
        for element in 0..count.min(MAX_NAMES as u32) {
            names.push(Named {
                name: match count {
                    1 if symbol.entries == 0 => name.clone(),
                    _ => format!("{name}[{element}]"),
                },
                kind: self.kind,
                first: first + element * step,
                components,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loader::mbs::Program;
    use loader::mbs::layout::{Declaration, StorageClass, Type, symbol};

    fn declared(name: &str, ty: Type, entries: u16, offset: u16, parent: u16) -> Symbol {
        let declaration = Declaration {
            name: name.to_owned(),
            ty,
            entries,
        };
        symbol(&declaration, StorageClass::GpUniform, offset, parent)
    }

    #[test]
    fn symbols_name_values() {
        let float = |rows| Type::Vector(SymbolType::FLOAT, rows);
        let mut program = Program::new(Stage::Vertex, Vec::new());
        let mut light = declared("light", float(4), 2, 16, NO_PARENT);
        (light.kind, light.stride) = (SymbolType::STRUCT, 8);
        program.uniforms = Some(vec![
            declared("turn", Type::Matrix(4), 0, 0, NO_PARENT),
            light,
            declared("color", float(3), 0, 0, 1),
            declared("power", float(1), 0, 4, 1),
            declared("?constant", float(4), 0, 32, NO_PARENT),
            declared("gone", float(4), 0, loader::mbs::UNUSED, NO_PARENT),
        ]);
        let source = Source {
            path: "a.vert".to_owned(),
            stage: emulator::exec::observed::Stage::Vertex,
            lines: Vec::new(),
            program,
            debug: Debug::default(),
        };
        let names = ProgramNames::of(&source, &[]);
        let floats: Vec<f32> = (0..40u8).map(f32::from).collect();
        let values = names.values(Kind::Uniform, &floats);
        let have: Vec<(&str, f32, usize)> = values.iter().map(|(name, row)| (*name, row[0], row.len())).collect();
        assert_eq!(
            have,
            [
                ("turn[0]", 0.0, 4),
                ("turn[1]", 4.0, 4),
                ("turn[2]", 8.0, 4),
                ("turn[3]", 12.0, 4),
                ("light[0].color", 16.0, 3),
                ("light[0].power", 20.0, 1),
                ("light[1].color", 24.0, 3),
                ("light[1].power", 28.0, 1),
            ]
        );
        assert!(names.values(Kind::Varying, &floats).is_empty());
        // Where there are fewer floats, names have no values.
        assert_eq!(names.values(Kind::Uniform, &floats[..8]).len(), 2);
    }
}
