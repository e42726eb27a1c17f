//! The interface of two programs, from their symbols.

use super::Pair;
use loader::mbs::{Symbol, SymbolType};
use loader::vbc::{BaseType, Binding, Shape, Stages, TexelRank, TexelType, Variable};
use scene::interface::{Input, Interface, Slot, Uniform};
use std::collections::BTreeMap;

/// The numbers of a program's symbols in the interface.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// Locations of attributes.
    pub inputs: BTreeMap<String, u32>,
    /// Slots of samplers.
    pub slots: BTreeMap<String, u8>,
}

/// Prefixes of symbols that the runtime sets, not the scene.
const RUNTIME: [&[u8]; 2] = [b"gl_", b"skrymir_"];

/// The interface of a pair. Attributes and samplers are numbered in order of declaration; clip space is OpenGL's.
pub(super) fn interface(pair: &Pair) -> (Interface, Numbers) {
    let mut all = Interface {
        y_up: true,
        outputs: vec![0],
        ..Interface::default()
    };
    let mut numbers = Numbers::default();
    let [_, (_, attributes), _] = pair.vertex.tables();
    for (location, symbol) in (0u8..=u8::MAX).zip(attributes) {
        let name = symbol.name();
        if !symbol.is_used() {
            all.declared.insert(name);
            continue;
        }
        if is_of_runtime(symbol) {
            continue;
        }
        numbers.inputs.insert(name.clone(), location.into());
        all.inputs.push(Input {
            name: Some(name),
            variable: Variable {
                location,
                base: BaseType::FLOAT,
                dims: [symbol.components.clamp(1, 4) as u8, 1],
                array: 1,
            },
        });
    }
    for program in [&pair.vertex, &pair.fragment] {
        let [(_, uniforms), ..] = program.tables();
        uniforms.iter().for_each(|symbol| uniform(symbol, &mut all));
    }
    all.declared
        .retain(|name| !all.uniform.iter().any(|member| member.name == name.as_bytes()));
    let [(_, samplers), ..] = pair.fragment.tables();
    let samplers = samplers.iter().filter_map(|symbol| Some((symbol, rank(symbol)?)));
    for (number, (symbol, rank)) in (0u8..32).zip(samplers) {
        numbers.slots.insert(symbol.name(), number);
        all.slots.push(Slot {
            name: Some(symbol.name()),
            binding: Binding {
                slot: number,
                base: BaseType::SAMPLER,
                stages: Stages::NONE,
                shape: Shape::Texel {
                    rank,
                    texel: TexelType::FLOAT,
                    size: 4,
                    components: 4,
                },
            },
        });
    }
    (all, numbers)
}

fn is_of_runtime(symbol: &Symbol) -> bool {
    RUNTIME.iter().any(|prefix| symbol.name.starts_with(prefix))
}

/// The rank of a sampler's texture; none for other symbols.
fn rank(symbol: &Symbol) -> Option<TexelRank> {
    match symbol.kind {
        SymbolType::SAMPLER_2D | SymbolType::SAMPLER_EXTERNAL => Some(TexelRank::D2),
        SymbolType::SAMPLER_CUBE => Some(TexelRank::CUBE),
        _ => None,
    }
}

/// Adds a uniform: a number, a vector, a square matrix, or an array of them. Both programs may have it.
fn uniform(symbol: &Symbol, all: &mut Interface) {
    let components = symbol.components.clamp(1, 4) as u8;
    let (base, dims) = match symbol.kind {
        SymbolType::FLOAT => (BaseType::FLOAT, [components, 1]),
        SymbolType::INT => (BaseType::INT, [components, 1]),
        SymbolType::BOOL => (BaseType::BOOL, [components, 1]),
        SymbolType::MATRIX => (BaseType::FLOAT, [components, components]),
        _ => return,
    };
    let name = symbol.name().into_bytes();
    if is_of_runtime(symbol) || all.uniform.iter().any(|known| known.name == name) {
        return;
    }
    if !symbol.is_used() {
        all.declared.insert(symbol.name());
        return;
    }
    let member = Uniform {
        name,
        offset: all.uniform_size,
        base,
        dims,
        elements: usize::from(symbol.entries).max(1),
    };
    all.uniform_size += 4 * member.components() * member.elements;
    all.uniform.push(member);
}
