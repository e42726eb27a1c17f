//! Whole programs as MBS: code, and symbols as Arm's files have them.

use crate::error::{Error, Result};
use crate::interface::{Interface, Stage, Variable};
use crate::ir::{Function, Input, Op, Output, Value, range};
use crate::layout::{Table, lay_out};
use crate::{gp, pp};
use loader::mbs::layout::{Declaration, StorageClass, Type, symbol};
use loader::mbs::{NO_PARENT, Program, Stage as MbsStage, Symbol, SymbolType, UNUSED};
use std::collections::{HashMap, HashSet};
use utgard::pp::ops::Origin;

/// Varyings a program may have, in vec4s.
pub const MAX_VARYINGS: u32 = 12;
/// Attributes a program may have.
pub const MAX_ATTRIBUTES: u32 = 16;

/// Texture units of a fragment program, as the drivers have them.
pub const MAX_SAMPLERS: usize = 16;

/// Where the last of some variables is declared.
fn last_span(variables: &[Variable]) -> Option<std::ops::Range<usize>> {
    range(variables.last().and_then(|variable| variable.span))
}

/// A program with what was found out about it on the way.
#[derive(Clone, Debug)]
pub enum Code {
    /// Of the vertex processor.
    Vertex(gp::Program),
    /// Of the fragment processor.
    Fragment(pp::Program),
}

/// A compiled program.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// As MBS has it.
    pub program: Program,
    /// The code.
    pub code: Code,
    /// Floats of uniforms, without constants.
    pub uniforms: u32,
}

/// Compiles a lowered program to machine code with its symbols.
///
/// # Errors
/// Limits that are exceeded, and what the back ends refuse.
pub fn emit(stage: Stage, function: &Function, interface: &Interface, conservative: bool) -> Result<Emitted> {
    match stage {
        Stage::Vertex => vertex(function, interface),
        Stage::Fragment => fragment(function, interface, conservative),
    }
}

/// Scalars of uniforms, attributes, varyings and samplers that a program reads.
#[derive(Default)]
struct Used {
    uniforms: HashSet<u32>,
    attributes: HashSet<u32>,
    varyings: HashSet<u32>,
    units: HashSet<u32>,
}

fn used(function: &Function) -> Used {
    let mut used = Used::default();
    let mut seen = HashSet::new();
    let mut pending: Vec<Value> = Vec::new();
    for block in function.order() {
        pending.extend(&function.block(block).insts);
        if let crate::ir::Term::Branch(value, ..) = function.block(block).term {
            pending.push(value);
        }
    }
    pending.extend(function.outputs.iter().map(|(_, value)| *value));
    while let Some(value) = pending.pop() {
        if !seen.insert(value) {
            continue;
        }
        let inst = function.inst(value);
        pending.extend(&inst.args);
        match inst.op {
            Op::Uniform(slot) => {
                used.uniforms.insert(slot);
            }
            Op::UniformAt { base, stride, count } => used.uniforms.extend((0..count).map(|at| base + at * stride)),
            Op::Input(Input::Attribute(slot)) => {
                used.attributes.insert(slot);
            }
            Op::Input(Input::Varying(slot)) => {
                used.varyings.insert(slot);
            }
            Op::Texture { unit, .. } => {
                used.units.insert(unit);
            }
            _ => {}
        }
    }
    used
}

fn is_used(variable: &Variable, slots: &HashSet<u32>) -> bool {
    (variable.first..variable.first + variable.scalars()).any(|slot| slots.contains(&slot))
}

/// Lays out the variables that are used; the others have symbols that lie nowhere.
fn table(variables: &[Variable], slots: &HashSet<u32>, class: StorageClass) -> Result<Table> {
    let (there, gone): (Vec<Variable>, Vec<Variable>) =
        variables.iter().cloned().partition(|variable| is_used(variable, slots));
    let laid = lay_out(&there, class)?;
    let mut places = vec![
        0;
        variables
            .last()
            .map_or(0, |last| (last.first + last.scalars()) as usize)
    ];
    let mut at = 0;
    for variable in &there {
        for number in 0..variable.scalars() {
            places[(variable.first + number) as usize] = laid.places[at];
            at += 1;
        }
    }
    let mut symbols = laid.symbols;
    let nowhere = lay_out(&gone, class)?;
    symbols.extend(nowhere.symbols.into_iter().map(|symbol| Symbol {
        offset: UNUSED,
        ..symbol
    }));
    Ok(Table {
        symbols,
        space: laid.space,
        places,
    })
}

/// A symbol of the compiler's own.
fn own(name: &str, ty: Type, entries: u16, offset: u32) -> Symbol {
    let declaration = Declaration {
        name: name.to_owned(),
        ty,
        entries,
    };
    symbol(&declaration, StorageClass::GpUniform, offset as u16, NO_PARENT)
}

/// What Arm's compiler writes into the fields whose meaning is not known.
fn as_arm(symbols: &mut [Symbol], indexed: bool) {
    for symbol in symbols {
        symbol.unknown = 2;
        if indexed {
            let gradient = matches!(symbol.kind, SymbolType::SAMPLER_2D | SymbolType::SAMPLER_CUBE);
            symbol.index = Some([u32::MAX, u32::MAX, if gradient { 0 } else { u32::MAX }]);
        }
    }
}

/// Output numbers of the vertex program's varyings, a vec4 each, behind the position.
fn outputs(function: &Function, interface: &Interface) -> Result<(gp::Outputs, Vec<Symbol>)> {
    let mut next = 1u16;
    let mut places = Vec::new();
    let mut symbols = Vec::new();
    let declare = |name: &str, kind: SymbolType, rows: u32, entries: u32, offset: u16| {
        let ty = match kind {
            SymbolType::MATRIX => Type::Matrix(rows as u16),
            kind => Type::Vector(kind, rows as u16),
        };
        let mut symbol = own(name, ty, entries as u16, u32::from(offset));
        symbol.size = 4;
        symbol
    };
    for variable in &interface.varyings {
        let columns = variable.columns * variable.entries.max(1);
        if u32::from(next) + columns > MAX_VARYINGS + 1 {
            return Err(Error::unsupported(format!(
                "the varying {}: there are {MAX_VARYINGS} vec4s of varyings",
                variable.name
            ))
            .at(range(variable.span)));
        }
        symbols.push(declare(
            &variable.name,
            variable.kind,
            variable.rows,
            variable.entries,
            next * 4,
        ));
        for column in 0..columns {
            places.extend((0..variable.rows).map(|row| (next + column as u16, row as u8)));
        }
        next += columns as u16;
    }
    let has_size = function.outputs.iter().any(|(output, _)| *output == Output::PointSize);
    let position = declare("gl_Position", SymbolType::FLOAT, 4, 0, 0);
    let mut size = declare(
        "gl_PointSize",
        SymbolType::FLOAT,
        1,
        0,
        if has_size { next * 4 } else { UNUSED },
    );
    size.precision = 2;
    symbols.extend([position, size]);
    symbols.reverse();
    let outputs = gp::Outputs {
        position: 0,
        point_size: next,
        varyings: places,
    };
    Ok((outputs, symbols))
}

fn vertex(function: &Function, interface: &Interface) -> Result<Emitted> {
    let used = used(function);
    let mut uniforms = table(&interface.uniforms, &used.uniforms, StorageClass::GpUniform)?;
    let attributes = table(&interface.attributes, &used.attributes, StorageClass::Attribute)?;
    if attributes.space > 4 * MAX_ATTRIBUTES {
        return Err(Error::unsupported(format!(
            "{} attributes: there are {MAX_ATTRIBUTES}",
            attributes.space / 4
        ))
        .at(last_span(&interface.attributes)));
    }
    let (outputs, mut varyings) = outputs(function, interface)?;
    let viewport = uniforms.space.next_multiple_of(4);
    let point_size = viewport + 8;
    let has_size = function.outputs.iter().any(|(output, _)| *output == Output::PointSize);
    let inputs = gp::Inputs {
        uniforms: &uniforms,
        attributes: &attributes,
        viewport,
        point_size,
        free: if has_size { point_size + 4 } else { point_size },
    };
    let compiled = gp::compile(function, &inputs, &outputs)?;
    let user = uniforms.space;
    let mut symbols = Vec::new();
    for (number, (offset, floats)) in compiled.constants.iter().enumerate().rev() {
        let name = format!("?__maligp2_constant_{number:03}");
        let mut symbol = own(&name, Type::Vector(SymbolType::FLOAT, floats.len() as u16), 0, *offset);
        symbol.initial = Some(floats.iter().map(|float| float.to_bits()).collect());
        symbols.push(symbol);
    }
    let vec4 = || Type::Vector(SymbolType::FLOAT, 4);
    if has_size {
        symbols.push(own("gl_mali_PointSizeParameters", vec4(), 0, point_size));
    }
    symbols.push(own("gl_mali_ViewportTransform", vec4(), 2, viewport));
    uniforms.symbols.reverse();
    symbols.append(&mut uniforms.symbols);
    as_arm(&mut symbols, true);
    let mut attribute_symbols = attributes.symbols.clone();
    as_arm(&mut attribute_symbols, false);
    as_arm(&mut varyings, false);
    let code: Vec<u32> = compiled
        .instructions
        .iter()
        .flat_map(|instruction| instruction.encode())
        .collect();
    let last = compiled
        .instructions
        .iter()
        .rposition(|instruction| instruction.register0_is_attribute)
        .map_or(0, |at| at as u32 + 1);
    let mut program = Program::new(MbsStage::Vertex, code);
    program.instructions = Some([0, compiled.instructions.len() as u32, last]);
    program.uniform_space = compiled.space.max(viewport + 8);
    program.uniforms = Some(symbols);
    program.attributes = Some(attribute_symbols);
    program.varyings = Some(varyings);
    Ok(Emitted {
        program,
        code: Code::Vertex(compiled),
        uniforms: user,
    })
}

/// Samplers that are used get the first units, in their order.
fn renumber(function: &mut Function, used: &Used) -> Vec<u32> {
    let mut units: Vec<u32> = used.units.iter().copied().collect();
    units.sort_unstable();
    let numbers: HashMap<u32, u32> = units.iter().enumerate().map(|(at, unit)| (*unit, at as u32)).collect();
    for inst in &mut function.values {
        if let Op::Texture { unit, .. } = &mut inst.op {
            *unit = numbers.get(unit).copied().unwrap_or(*unit);
        }
    }
    units
}

fn fragment(function: &Function, interface: &Interface, conservative: bool) -> Result<Emitted> {
    let used = used(function);
    let mut function = function.clone();
    let units = renumber(&mut function, &used);
    let mut uniforms = table(&interface.uniforms, &used.uniforms, StorageClass::PpUniform)?;
    let varyings = table(&interface.varyings, &used.varyings, StorageClass::Varying)?;
    if varyings.space > 4 * MAX_VARYINGS {
        return Err(Error::unsupported(format!(
            "{} vec4s of varyings: there are {MAX_VARYINGS}",
            varyings.space / 4
        ))
        .at(last_span(&interface.varyings)));
    }
    if let Some(unit) = units.get(MAX_SAMPLERS) {
        let sampler = &interface.samplers[*unit as usize];
        return Err(
            Error::unsupported(format!("the texture {}: there are {MAX_SAMPLERS} units", sampler.name))
                .at(range(sampler.span)),
        );
    }
    // Samplers lie in front, a float each.
    let front = (units.len() as u32).next_multiple_of(4);
    for place in &mut uniforms.places {
        *place += front;
    }
    for symbol in &mut uniforms.symbols {
        symbol.offset = if symbol.offset == UNUSED {
            UNUSED
        } else {
            symbol.offset + front as u16
        };
    }
    let user = uniforms.space;
    let mut symbols = Vec::new();
    for (number, sampler) in interface.samplers.iter().enumerate() {
        let kind = if sampler.cube {
            SymbolType::SAMPLER_CUBE
        } else {
            SymbolType::SAMPLER_2D
        };
        let declaration = Declaration {
            name: sampler.name.clone(),
            ty: Type::Sampler(kind),
            entries: 0,
        };
        let unit = units.iter().position(|unit| *unit == number as u32);
        let offset = unit.map_or(UNUSED, |unit| unit as u16);
        symbols.push(symbol(&declaration, StorageClass::PpUniform, offset, NO_PARENT));
    }
    symbols.extend(uniforms.symbols.iter().cloned());
    symbols.reverse();
    as_arm(&mut symbols, true);
    let compiled = pp::compile(&function, interface, &uniforms, &varyings, conservative)?;
    let mut varying_symbols = varyings.symbols.clone();
    let coordinates: HashSet<u32> = compiled
        .instructions
        .iter()
        .filter(|instruction| instruction.sampler.is_some())
        .filter_map(|instruction| instruction.varying)
        .filter(|varying| varying.written().is_none() && varying.kind.row().origin == Origin::Memory)
        .map(|varying| varying.index << varying.alignment.shift())
        .collect();
    for symbol in &mut varying_symbols {
        symbol.precision = 2;
        let size = u32::from(symbol.stride) * u32::from(symbol.entries.max(1));
        let reach = u32::from(symbol.offset)..u32::from(symbol.offset) + size;
        if symbol.offset != UNUSED && coordinates.iter().any(|float| reach.contains(float)) {
            symbol.flags |= 8;
        }
    }
    as_arm(&mut varying_symbols, false);
    let mut program = Program::new(MbsStage::Fragment, compiled.words.clone());
    let slots = compiled.temporaries.div_ceil(4).max(1);
    program.stack = Some([slots, slots]);
    program.discard = Some(u32::from(compiled.discards));
    if !symbols.is_empty() {
        program.uniform_space = (front + user).max(4);
        program.uniforms = Some(symbols);
    }
    if !varying_symbols.is_empty() {
        program.varyings = Some(varying_symbols);
    }
    Ok(Emitted {
        program,
        code: Code::Fragment(compiled),
        uniforms: user,
    })
}
