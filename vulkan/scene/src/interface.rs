//! A shader's declarations, independent of the file format, to which scenes and default data apply.

use loader::spirv::block::Field;
use loader::spirv::{class, decoration};
use loader::vbc::fit;
use loader::vbc::{BaseType, Binding, Primitive, Stage, SubpassInput, Variable, Vbc, input_primitive};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Fields of the struct in each buffer slot, from the shader's code.
pub type BufferFields = BTreeMap<u8, Vec<Field>>;

/// A vertex input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name in the code, if known.
    pub name: Option<String>,
    /// Its location and type.
    pub variable: Variable,
}

/// A member of the uniform block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uniform {
    /// Its name.
    pub name: Vec<u8>,
    /// Byte offset in the block.
    pub offset: usize,
    /// Component type: bool, int, uint or float, each of 4 bytes.
    pub base: BaseType,
    /// Rows, then columns; columns and elements are tightly packed.
    pub dims: [u8; 2],
    /// Elements of an array; 1 if it is not an array.
    pub elements: usize,
}

impl Uniform {
    /// Components of one element.
    pub fn components(&self) -> usize {
        usize::from(self.dims[0]) * usize::from(self.dims[1])
    }
}

/// A slot: an image, a buffer or a texel buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its name in the code, if known.
    pub name: Option<String>,
    /// Its number and type.
    pub binding: Binding,
}

/// Information from a file's sources that the file does not contain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Names of slots.
    pub slots: BTreeMap<u8, String>,
    /// Names of vertex inputs by location, for code that has none.
    pub inputs: BTreeMap<u8, String>,
    /// All declared names, including unused ones.
    pub declared: BTreeSet<String>,
    /// Whether clip space is OpenGL's, with y up: default positions are then flipped, so that the picture is not.
    pub y_up: bool,
}

/// A shader's declarations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Vertex inputs.
    pub inputs: Vec<Input>,
    /// Bytes of the uniform block.
    pub uniform_size: usize,
    /// Members of the uniform block.
    pub uniform: Vec<Uniform>,
    /// Slots.
    pub slots: Vec<Slot>,
    /// Subpass inputs, by attachment index.
    pub subpass: Vec<SubpassInput>,
    /// Locations of fragment outputs, ascending.
    pub outputs: Vec<u8>,
    /// The primitive type that the stages after the vertex stage require.
    pub primitive: Option<Primitive>,
    /// Fields of buffers.
    pub fields: BufferFields,
    /// Declared names that no program uses.
    pub declared: BTreeSet<String>,
    /// Whether clip space is OpenGL's.
    pub y_up: bool,
}

/// Locations of fragment outputs; a shader without any draws to 0.
fn outputs(vbc: &Vbc<'_>) -> Vec<u8> {
    let locations: BTreeSet<u8> = vbc.outputs().map(|output| output.location).collect();
    match locations.is_empty() {
        true => vec![0],
        false => locations.into_iter().collect(),
    }
}

impl Interface {
    /// The interface of a VBC, with information from its sources.
    pub fn of_vbc(vbc: &Vbc<'_>, sources: &Sources) -> Self {
        let names = input_names(vbc);
        let inputs = vbc.inputs().map(|variable| Input {
            name: names
                .get(&variable.location)
                .or(sources.inputs.get(&variable.location))
                .cloned(),
            variable,
        });
        let slots = vbc.bindings().map(|binding| Slot {
            name: sources.slots.get(&binding.slot).cloned(),
            binding,
        });
        let members = vbc.uniform().into_iter().flat_map(|uniform| uniform.members());
        let uniform = members.map(|member| Uniform {
            name: member.name.to_vec(),
            offset: member.offset as usize,
            base: member.base,
            dims: member.dims,
            elements: usize::from(member.array),
        });
        Self {
            inputs: inputs.collect(),
            uniform_size: vbc.uniform().map_or(0, |uniform| uniform.size as usize),
            uniform: uniform.collect(),
            slots: slots.collect(),
            subpass: vbc.subpass_inputs().collect(),
            outputs: outputs(vbc),
            primitive: input_primitive(vbc),
            fields: buffer_fields(vbc),
            declared: sources.declared.clone(),
            y_up: sources.y_up,
        }
    }

    /// The input with this location or name.
    pub fn input(&self, key: &str) -> Option<&Input> {
        match key.parse::<u8>() {
            Ok(location) => self.inputs.iter().find(|input| input.variable.location == location),
            Err(_) => self.inputs.iter().find(|input| input.name.as_deref() == Some(key)),
        }
    }

    /// The slot with this number or name.
    pub fn slot(&self, key: &str) -> Option<&Slot> {
        match key.parse::<u8>() {
            Ok(number) => self.slots.iter().find(|slot| slot.binding.slot == number),
            Err(_) => self.slots.iter().find(|slot| slot.name.as_deref() == Some(key)),
        }
    }

    /// The parts of the uniform that a name refers to; empty if it is unknown.
    ///
    /// Some compilers turn an array of structures into one member per field (`lights_color`, an array), others into one
    /// per element (`lights[1].color`, only used ones): either name finds either.
    pub fn parts(&self, name: &str) -> Vec<Part<'_>> {
        let part = |member, elements, from| Part { member, elements, from };
        let named = |name: &str| self.uniform.iter().find(|member| member.name == name.as_bytes());
        if let Some(member) = named(name) {
            return vec![part(member, 0..member.elements, 0)];
        }
        let (flat, element) = flattened(name);
        if let Some(member) = named(&flat) {
            return match element {
                None => vec![part(member, 0..member.elements, 0)],
                Some(at) if at < member.elements => vec![part(member, at..at + 1, 0)],
                Some(_) => Vec::new(),
            };
        }
        let members = self.uniform.iter().filter_map(|member| {
            let (own, at) = flattened(std::str::from_utf8(&member.name).ok()?);
            (own == name).then(|| part(member, 0..member.elements, at.unwrap_or(0) * member.elements))
        });
        members.collect()
    }
}

/// Elements of a uniform member that a name refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// The member.
    pub member: &'a Uniform,
    /// The range of elements.
    pub elements: Range<usize>,
    /// Index of the given number that the first element gets.
    pub from: usize,
}

/// The field name of an array of structures in a block, `lights_color` for `lights[1].color`, and the index.
fn flattened(name: &str) -> (String, Option<usize>) {
    let (mut flat, mut element) = (String::new(), None);
    for part in name.split('[') {
        let rest = match part.split_once(']') {
            Some((index, rest)) => {
                element = element.or(index.parse().ok());
                rest
            }
            None => part,
        };
        flat.push_str(rest);
    }
    (flat.replace('.', "_"), element)
}

/// The names of inputs in the vertex stage's code.
fn input_names(vbc: &Vbc<'_>) -> BTreeMap<u8, String> {
    let Some(Ok(module)) = vbc.module(Stage::Vert) else {
        return BTreeMap::new();
    };
    let inputs = module.globals().filter(|variable| variable.class == class::INPUT);
    let named = |variable: loader::spirv::Located| {
        let location = module.decoration(variable.id, decoration::LOCATION)?;
        let name = module.name(variable.id).filter(|name| !name.is_empty())?;
        Some((u8::try_from(location).ok()?, name))
    };
    inputs.filter_map(named).collect()
}

/// The fields of each buffer slot's struct, from the code: lowered code has one variable per slot. Slots of stages that
/// cannot be lowered have none, and their default data is zeros.
fn buffer_fields(vbc: &Vbc<'_>) -> BufferFields {
    let mut all = BufferFields::new();
    let is_buffer = |slot: u8| {
        vbc.bindings()
            .any(|binding| binding.slot == slot && binding.base.is_buffer())
    };
    if !vbc.bindings().any(|binding| binding.base.is_buffer()) {
        return all;
    }
    for module in Stage::ALL
        .into_iter()
        .filter_map(|stage| vbc.module(stage)?.as_ref().ok())
    {
        let Ok(needs) = fit::needs(module) else { continue };
        for (slot, ty) in needs.slots.into_iter().filter(|(slot, _)| is_buffer(*slot)) {
            if let Some(fields) = loader::spirv::block::fields_of(module, ty) {
                all.entry(slot).or_insert(fields);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_structures_are_found_by_either_name() {
        let member = |name: &str, elements| Uniform {
            name: name.into(),
            offset: 0,
            base: BaseType::FLOAT,
            dims: [3, 1],
            elements,
        };
        let found = |interface: &Interface, name: &str| -> Vec<(String, Range<usize>, usize)> {
            let parts = interface.parts(name).into_iter();
            let name = |part: &Part<'_>| String::from_utf8_lossy(&part.member.name).into_owned();
            parts
                .map(|part| (name(&part), part.elements.clone(), part.from))
                .collect()
        };
        let block = Interface {
            uniform: vec![member("lights_color", 2), member("sun_color", 1)],
            ..Interface::default()
        };
        assert_eq!(found(&block, "lights[1].color"), [("lights_color".to_owned(), 1..2, 0)]);
        assert_eq!(found(&block, "sun.color"), [("sun_color".to_owned(), 0..1, 0)]);
        assert_eq!(found(&block, "lights[2].color"), []);
        assert_eq!(found(&block, "lights"), []);
        // The first element is unused.
        let symbols = Interface {
            uniform: vec![member("lights[2].color", 1), member("lights[1].color", 1)],
            ..Interface::default()
        };
        let all = [
            ("lights[2].color".to_owned(), 0..1, 2),
            ("lights[1].color".to_owned(), 0..1, 1),
        ];
        assert_eq!(found(&symbols, "lights_color"), all);
    }
}
