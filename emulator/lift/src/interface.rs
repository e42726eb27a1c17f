//! The external interface of a program: uniforms, inputs, outputs, samplers; by symbols in an MBS file, or by number if
//! there is only code.

use crate::Error;
use loader::mbs::{Program, Symbol, SymbolType};
use std::collections::{BTreeMap, BTreeSet};
use utgard::pp::ops::Origin;
use utgard::{gp, pp};

/// Rows and columns of a uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Components of a vector, or of a matrix' column.
    pub rows: u8,
    /// Columns; 1 for vectors and scalars.
    pub columns: u8,
    /// Elements of an array; `None` if it is not an array.
    pub elements: Option<u32>,
    /// Distance in floats between elements (or columns).
    pub stride: u32,
}

impl Shape {
    /// Whether it is the same type, at any offset.
    fn is_like(&self, other: &Self) -> bool {
        (self.rows, self.columns, self.elements) == (other.rows, other.columns, other.elements)
    }

    /// Size in floats, from the first to the end of the last.
    fn extent(&self) -> u32 {
        (self.elements.unwrap_or(1) * u32::from(self.columns) - 1) * self.stride + u32::from(self.rows)
    }
}

/// A uniform.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Index of its first float.
    pub float: u32,
    /// Its type.
    pub shape: Shape,
}

/// A component of a uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index of the member.
    pub member: usize,
    /// Element of an array.
    pub element: u32,
    /// Column of a matrix.
    pub column: u32,
    /// Component.
    pub row: u32,
}

/// An input or an output of the stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Index of its first float.
    pub float: u32,
    /// Components.
    pub components: u8,
    /// Its location in the next stage.
    pub location: u32,
}

/// A texture with its sampler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampler {
    /// Its name.
    pub name: String,
    /// Its number in the code.
    pub number: u32,
    /// Whether it is a cube map.
    pub cube: bool,
}

/// The external interface of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interface {
    /// Named uniforms; empty if only their numbers are known.
    pub uniforms: Vec<Member>,
    /// Names and types of the uniform block, if two programs share one.
    pub block: Option<Vec<(String, Shape)>>,
    /// Values of floats that are part of the program.
    pub constants: Vec<(u32, f32)>,
    /// Total floats of uniforms.
    pub uniform_floats: u32,
    /// Attributes of a vertex, varyings of a fragment.
    pub inputs: Vec<Variable>,
    /// Varyings of a vertex.
    pub outputs: Vec<Variable>,
    /// Textures.
    pub samplers: Vec<Sampler>,
    /// Float of the output that is the position.
    pub position: Option<u32>,
    /// Float of the output that is the size of points.
    pub point_size: Option<u32>,
    /// Float of the viewport's scale, four floats before its offset, if the program reads it.
    pub viewport: Option<u32>,
    /// Leave the position in window coordinates, as the program computes it, because the viewport is unknown.
    pub in_window: bool,
    /// Register of the fragment's final colour.
    pub color_register: u8,
    /// Register of its final depth, if it writes one.
    pub depth_register: Option<u8>,
}

/// The runtime's viewport uniform.
const VIEWPORT: &str = "gl_mali_ViewportTransform";

/// A symbol's name as an identifier.
pub fn identifier(name: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    name.chars().map(fits).collect()
}

fn is_sampler(symbol: &Symbol) -> bool {
    matches!(
        symbol.kind,
        SymbolType::SAMPLER_2D | SymbolType::SAMPLER_CUBE | SymbolType::SAMPLER_EXTERNAL
    )
}

fn shape(symbol: &Symbol) -> Shape {
    let (components, entries) = (symbol.components.clamp(1, 4) as u8, u32::from(symbol.entries));
    let array = (entries > 1).then_some(entries);
    let stride = u32::from(symbol.stride).max(1);
    if symbol.kind == SymbolType::MATRIX {
        let column = (stride / u32::from(components)).max(1);
        return Shape {
            rows: components,
            columns: components.max(2),
            elements: array,
            stride: column,
        };
    }
    Shape {
        rows: components,
        columns: 1,
        elements: array,
        stride,
    }
}

impl Interface {
    /// From the symbols of an MBS program.
    pub fn of(program: &Program) -> Self {
        let [(_, uniforms), (_, attributes), (_, varyings)] = program.tables();
        let mut interface = Self::default();
        for symbol in uniforms.iter().filter(|symbol| symbol.is_used()) {
            interface.uniform(symbol);
        }
        interface.samplers.sort_by_key(|sampler| sampler.number);
        for (number, sampler) in interface.samplers.iter_mut().enumerate() {
            sampler.number = number as u32;
        }
        let vertex = program.stage == loader::mbs::Stage::Vertex;
        let inputs = if vertex { attributes } else { varyings };
        interface.inputs = variables(inputs);
        if vertex {
            let find = |name: &str| {
                let found = varyings
                    .iter()
                    .find(|symbol| symbol.is_used() && symbol.name == name.as_bytes());
                found.map(|symbol| u32::from(symbol.offset))
            };
            (interface.position, interface.point_size) = (find("gl_Position"), find("gl_PointSize"));
            interface.outputs = variables(varyings);
            interface.outputs.retain(|output| !output.name.starts_with("gl_"));
            number(&mut interface.outputs);
        } else {
            interface.color_register = pp::flow::output_register(&program.code);
        }
        interface
    }

    /// From a vertex program's code alone: numbered attributes and outputs, the first output being the position.
    pub fn of_vertex_code(program: &[gp::Instruction]) -> Self {
        let mut interface = Self {
            position: Some(0),
            ..Self::default()
        };
        let (mut attributes, mut outputs) = (BTreeSet::new(), BTreeSet::new());
        for i in program {
            let reads = |source: &gp::Source| matches!(source, gp::Source::Port0(_));
            if i.register0_is_attribute && i.sources().iter().any(reads) {
                attributes.insert(u32::from(i.register0_address));
            }
            for (stored, target) in i.stores() {
                if let (gp::Stored::Unit(_), gp::Target::Varying(number)) = (stored, target) {
                    outputs.insert(u32::from(number));
                }
            }
        }
        outputs.remove(&0);
        interface.inputs = slots("attribute", attributes);
        interface.outputs = slots("varying", outputs);
        interface
    }

    /// From a fragment program's code alone: varyings by slot, textures by number.
    pub fn of_fragment_code(program: &[(u32, pp::Instruction)]) -> Self {
        let mut interface = Self {
            color_register: pp::flow::output_register_of(program),
            ..Self::default()
        };
        let (mut varyings, mut samplers) = (BTreeSet::new(), BTreeMap::new());
        for (_, i) in program {
            if let Some(unit) = i.varying.filter(|unit| unit.kind.row().origin == Origin::Memory) {
                let first = unit.index << unit.alignment.shift();
                match unit.offset() {
                    None => varyings.extend([first / 4]),
                    Some(_) => varyings.extend(0..VARYINGS),
                }
            }
            if let Some(unit) = i.sampler {
                samplers.insert(unit.index, unit.is_cube());
            }
        }
        interface.inputs = slots("varying", varyings);
        interface.samplers = samplers
            .into_iter()
            .map(|(number, cube)| Sampler {
                name: format!("texture{number}"),
                number,
                cube,
            })
            .collect();
        interface
    }

    /// Matches the fragment's inputs to the vertex program's outputs by name.
    ///
    /// # Errors
    /// An input without an output of its name.
    pub fn link(vertex: &Self, fragment: &mut Self) -> Result<(), Error> {
        for input in &mut fragment.inputs {
            let output = vertex.outputs.iter().find(|output| output.name == input.name);
            let Some(output) = output else {
                let message = format!(
                    "the fragment program's varying {} is not an output of the vertex program",
                    input.name
                );
                return Err(Error::interface(message));
            };
            input.location = output.location;
        }
        Ok(())
    }

    fn uniform(&mut self, symbol: &Symbol) {
        let float = u32::from(symbol.offset);
        if is_sampler(symbol) {
            self.samplers.push(Sampler {
                name: identifier(&symbol.name()),
                // Samplers are numbered by offset.
                number: float,
                cube: symbol.kind == SymbolType::SAMPLER_CUBE,
            });
            return;
        }
        let shape = shape(symbol);
        self.uniform_floats = self.uniform_floats.max(float + shape.extent());
        if symbol.name == VIEWPORT.as_bytes() {
            self.viewport = Some(float);
        }
        match &symbol.initial {
            Some(words) => {
                let values = words.chunks(usize::from(shape.rows)).enumerate();
                for (element, words) in values {
                    let first = float + element as u32 * shape.stride;
                    let floats = words
                        .iter()
                        .enumerate()
                        .map(|(at, word)| (first + at as u32, f32::from_bits(*word)));
                    self.constants.extend(floats);
                }
            }
            None => self.uniforms.push(Member {
                name: identifier(&symbol.name()),
                float,
                shape,
            }),
        }
    }

    /// Makes two programs share one uniform block.
    ///
    /// # Errors
    /// A uniform with two types.
    pub fn share(programs: [&mut Self; 2]) -> Result<(), Error> {
        let mut block: Vec<(String, Shape)> = Vec::new();
        for interface in &programs {
            for uniform in interface
                .uniforms
                .iter()
                .filter(|uniform| interface.viewport != Some(uniform.float))
            {
                match block.iter().find(|(name, _)| *name == uniform.name) {
                    Some((_, shape)) if !shape.is_like(&uniform.shape) => {
                        let message = format!("the uniform {} has two types", uniform.name);
                        return Err(Error::interface(message));
                    }
                    Some(_) => {}
                    None => block.push((uniform.name.clone(), uniform.shape)),
                }
            }
        }
        for interface in programs {
            interface.block = Some(block.clone());
        }
        Ok(())
    }

    /// The value of a float that is part of the program.
    pub fn constant(&self, float: u32) -> Option<f32> {
        self.constants
            .iter()
            .find(|(at, _)| *at == float)
            .map(|(_, value)| *value)
    }

    /// The uniform that a float belongs to.
    pub fn place(&self, float: u32) -> Option<Place> {
        self.uniforms.iter().enumerate().find_map(|(member, uniform)| {
            let Shape {
                rows, columns, stride, ..
            } = uniform.shape;
            let at = float
                .checked_sub(uniform.float)
                .filter(|at| *at < uniform.shape.extent())?;
            let (vector, row) = (at / stride, at % stride);
            (row < u32::from(rows)).then_some(Place {
                member,
                element: vector / u32::from(columns),
                column: vector % u32::from(columns),
                row,
            })
        })
    }
}

/// Varyings of a fragment, as vec4s.
const VARYINGS: u32 = 12;

/// Numbered vec4s; the number is also the location.
fn slots(name: &str, numbers: BTreeSet<u32>) -> Vec<Variable> {
    let slot = |number| Variable {
        name: format!("{name}{number}"),
        float: 4 * number,
        components: 4,
        location: number,
    };
    numbers.into_iter().map(slot).collect()
}

/// Inputs or outputs, sorted by offset.
fn variables(symbols: &[Symbol]) -> Vec<Variable> {
    let mut variables = Vec::new();
    for symbol in symbols.iter().filter(|symbol| symbol.is_used()) {
        let shape = shape(symbol);
        let vectors = shape.elements.unwrap_or(1) * u32::from(shape.columns);
        for vector in 0..vectors {
            let name = identifier(&symbol.name());
            variables.push(Variable {
                name: if vectors == 1 { name } else { format!("{name}_{vector}") },
                float: u32::from(symbol.offset) + vector * shape.stride,
                components: shape.rows,
                location: 0,
            });
        }
    }
    variables.sort_by_key(|variable| variable.float);
    number(&mut variables);
    variables
}

fn number(variables: &mut [Variable]) {
    for (location, variable) in variables.iter_mut().enumerate() {
        variable.location = location as u32;
    }
}
