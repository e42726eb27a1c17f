//! Whether a stage's SPIR-V agrees with the reflection.
//!
//! The code is a subset of the reflection: unused declarations are absent from it, and everything in it must be in the
//! reflection. Tables of different types share one set and binding, so each variable is checked by itself; a (set,
//! binding) pair has no single type.

use super::declared::{self, Type, type_of};
use super::image;
use super::limits::{MAX_BINDINGS, MAX_MEMBERS};
use super::types::{BaseType, Binding, Shape, Stage, Tables, TexelRank, TexelType, Variable};
use super::view::{Code, Member, Vbc};
use crate::spirv::{Image, Located, ModuleIndex, Node, class, decoration, image_format, op};
use crate::{Report, Severity};
use std::collections::BTreeMap;

/// Reports everything in a stage's code that the reflection lacks or contradicts.
pub(super) fn check<'a>(file: &Vbc<'a>, stage: Stage, code: Code<'a>, report: &mut Report) {
    let module = match file.module(stage) {
        None => return,
        Some(Ok(module)) => module,
        Some(Err(error)) => {
            let offset = code.offset() + error.offset().unwrap_or(0);
            let message = error.message().to_owned();
            return report.push(Severity::Error, "spirv-malformed", stage, message, Some(offset));
        }
    };
    if let Some(schema) = code.word(4).filter(|schema| *schema != 0) {
        let message = format!("the header's schema word is {schema:#x}, it must be 0");
        report.push(
            Severity::Error,
            "spirv-malformed",
            stage,
            message,
            Some(code.offset() + 16),
        );
    }
    let bindings = file.bindings().take(MAX_BINDINGS).collect();
    let mut checks = Checks {
        file,
        stage,
        code,
        bindings,
        module,
        report,
    };
    checks.entry_point();
    checks.variables();
}

struct Checks<'f, 'a> {
    file: &'f Vbc<'a>,
    stage: Stage,
    code: Code<'a>,
    bindings: Vec<Binding>,
    module: &'f ModuleIndex<'a>,
    report: &'f mut Report,
}

impl Checks<'_, '_> {
    fn error(&mut self, rule: &'static str, message: impl Into<String>, at: Located) {
        self.error_at(rule, message, at.position);
    }

    fn error_at(&mut self, rule: &'static str, message: impl Into<String>, position: usize) {
        let offset = self.code.offset() + 4 * position as u64;
        self.report
            .push(Severity::Error, rule, self.stage, message, Some(offset));
    }

    /// There is one entry point, named `main`, with the stage's execution model (numbered as the stages are).
    fn entry_point(&mut self) {
        const MAIN: [u32; 2] = [u32::from_le_bytes(*b"main"), 0];
        let model = self.stage.index() as u32;
        let is_main = |entry: Node| matches!(entry.head(), Some([m, _, a, b]) if m == model && [a, b] == MAIN);
        if !self.module.entry_points().any(is_main) {
            let message = format!("no entry point \"main\" of the {} execution model", self.stage);
            let offset = Some(self.code.offset());
            self.report
                .push(Severity::Error, "entry-point", self.stage, message, offset);
        }
    }

    fn variables(&mut self) {
        for node in self.module.variables() {
            let Some([pointer, id, class]) = node.head() else {
                self.error_at("spirv-malformed", "a variable without storage class", node.position);
                continue;
            };
            let Some(pointee) = self.module.pointee(pointer) else {
                self.error_at(
                    "spirv-malformed",
                    format!("variable %{id} is not a pointer"),
                    node.position,
                );
                continue;
            };
            let position = node.position;
            self.variable(Located {
                id,
                pointee,
                class,
                position,
            });
        }
    }

    fn variable(&mut self, variable: Located) {
        let Located {
            id,
            pointee,
            class: storage,
            ..
        } = variable;
        let location = self.module.decoration(id, decoration::LOCATION);
        match (storage, self.stage) {
            (class::INPUT, Stage::Vert) => self.interface(variable, location, pointee, true),
            (class::OUTPUT, Stage::Frag) => self.interface(variable, location, pointee, false),
            (class::PUSH_CONSTANT, _) => self.push_constants(variable, pointee),
            (class::UNIFORM_CONSTANT | class::UNIFORM | class::STORAGE_BUFFER, _) => {
                self.descriptor(variable, id, pointee);
            }
            _ => {}
        }
    }

    /// A vertex input or fragment output matches one of the reflection's by location and type.
    fn interface(&mut self, variable: Located, location: Option<u32>, pointee: u32, input: bool) {
        let Some(location) = location else { return };
        let same = |known: &Variable| u32::from(known.location) == location;
        let (what, known) = if input {
            ("input", self.file.inputs().find(same))
        } else {
            ("output", self.file.outputs().find(same))
        };
        let Some(known) = known else {
            let rule = if input {
                "input-unreflected"
            } else {
                "output-unreflected"
            };
            let message = format!("the code has an {what} at location {location}, the reflection has none");
            return self.error(rule, message, variable);
        };
        let reflected = Type::Numeric(known.base, known.dims, u32::from(known.array));
        let found = type_of(self.module, pointee);
        if found != reflected {
            let rule = if input { "input-type" } else { "output-type" };
            let message = format!("{what} at location {location}: the code has {found}, the reflection {reflected}");
            self.error(rule, message, variable);
        }
    }

    /// The push block holds a 16-bit index for each slot up to the highest, in whole words.
    fn push_constants(&mut self, variable: Located, pointee: u32) {
        let expected = push_constant_bytes(&self.bindings);
        let found = declared::block_bytes(self.module, pointee);
        if found != Some(expected) {
            let found = found.map_or("no known size".to_owned(), |bytes| format!("{bytes} bytes"));
            let message = format!("the push-constant block has {found}, the bindings' slots need {expected}");
            self.error("push-size", message, variable);
        }
    }

    fn descriptor(&mut self, variable: Located, id: u32, pointee: u32) {
        let set = self.module.decoration(id, decoration::DESCRIPTOR_SET);
        let binding = self.module.decoration(id, decoration::BINDING);
        match (set, binding) {
            (Some(0), Some(table @ 0..=4)) => self.table(variable, id, pointee, table as usize),
            (Some(1), Some(0)) => self.uniform(variable, pointee),
            (Some(2), Some(index)) => self.subpass(variable, id, pointee, index),
            _ => {
                let number = |n: Option<u32>| n.map_or("none".to_owned(), |n| n.to_string());
                let message = format!(
                    "set {}, binding {} has no meaning in this format",
                    number(set),
                    number(binding)
                );
                self.error("descriptor-unknown", message, variable);
            }
        }
    }

    /// A table is an array of the header's length, of a type that some binding of this stage has.
    fn table(&mut self, variable: Located, id: u32, pointee: u32, table: usize) {
        let name = Tables::NAMES[table];
        let Some((element, length)) = self.module.array(pointee) else {
            return self.error(
                "descriptor-type",
                format!("the table of {name} is not an array"),
                variable,
            );
        };
        let size = u32::from(self.file.tables.sizes()[table]);
        if length != size {
            let message = format!("the table of {name} has {length} entries in the code, {size} in the header");
            self.error("table-size", message, variable);
        }
        let Some(found) = self.resource(id, element, table) else {
            let message = format!("the table of {name} has elements of another kind");
            return self.error("descriptor-type", message, variable);
        };
        let (stage, bindings) = (self.stage, &self.bindings);
        if !bindings.iter().any(|b| b.stages.contains(stage) && found.is(b)) {
            let message = format!("the code uses {found}, no binding of this stage is that");
            self.error("descriptor-unreflected", message, variable);
        }
    }

    /// The resource type of a table's element.
    fn resource(&self, variable: u32, element: u32, table: usize) -> Option<Resource> {
        let module = self.module;
        let texels = |base, id: u32, sampled: u32| {
            let (image, texel) = declared::image(module, id).filter(|(image, _)| image.sampled == sampled)?;
            Some(Resource::Texels(base, image, texel))
        };
        match table {
            0 => {
                let [_, id] = module.operands(element, op::TYPE_SAMPLED_IMAGE)?;
                texels(BaseType::SAMPLER, id, Image::SAMPLED)
            }
            2 => {
                let (stride, read_only) = declared::runtime_array_block(module, variable, element)?;
                let base = if read_only {
                    BaseType::RO_BUFFER
                } else {
                    BaseType::RW_BUFFER
                };
                Some(Resource::Buffer(base, stride))
            }
            _ => {
                let (base, sampled) = match table {
                    1 => (BaseType::IMAGE, Image::STORAGE),
                    3 => (BaseType::RO_TEXELS, Image::SAMPLED),
                    _ => (BaseType::RW_TEXELS, Image::STORAGE),
                };
                texels(base, element, sampled)
            }
        }
    }

    /// The uniform is a block around the user's struct. Its members must match the reflection; a stage may lack some.
    fn uniform(&mut self, variable: Located, pointee: u32) {
        let Some(uniform) = self.file.uniform.filter(|u| u.stages.contains(self.stage)) else {
            let message = "the code uses a uniform, the reflection has none in this stage";
            return self.error("uniform-unreflected", message, variable);
        };
        let module = self.module;
        let inner = module.members(pointee).and_then(|mut members| members.next());
        let Some(id) = inner.filter(|id| module.members(*id).is_some()) else {
            return self.error("uniform-layout", "the uniform is not a block around a struct", variable);
        };
        let leaves = match declared::leaves(module, id) {
            Ok(leaves) => leaves,
            Err(path) => {
                let message =
                    format!("{path} is not a number, vector or matrix at an offset, and no array or struct of them");
                return self.error("uniform-layout", message, variable);
            }
        };
        let known: BTreeMap<u32, Member> = uniform
            .members()
            .take(MAX_MEMBERS)
            .map(|member| (member.offset, member))
            .collect();
        for leaf in leaves {
            let found = Type::Numeric(leaf.base, leaf.dims, leaf.count);
            let reflected = known.get(&leaf.offset).map(|member| {
                // A bool is an unsigned integer in memory.
                let base = match member.base {
                    BaseType::BOOL => BaseType::UINT,
                    base => base,
                };
                Type::Numeric(base, member.dims, u32::from(member.array))
            });
            if reflected != Some(found) {
                let reflected = reflected.map_or_else(|| "nothing".to_owned(), |reflected| reflected.to_string());
                let (path, at) = (leaf.path, leaf.offset);
                let message = format!("{path}: the code has {found} at {at}, the reflection has {reflected} there");
                return self.error("uniform-layout", message, variable);
            }
        }
    }

    fn subpass(&mut self, variable: Located, id: u32, pointee: u32, index: u32) {
        let input = self.file.subpass_inputs().nth(index as usize);
        let Some(input) = input.filter(|_| self.stage == Stage::Frag) else {
            let message = format!("the code uses subpass input {index}, the reflection has none in this stage");
            return self.error("subpass-unreflected", message, variable);
        };
        let attachment = self.module.decoration(id, decoration::INPUT_ATTACHMENT_INDEX);
        if attachment != Some(index) {
            let message = format!("subpass input {index} has attachment index {attachment:?}");
            self.error("attachment-index", message, variable);
        }
        let found = declared::image(self.module, pointee).filter(|(image, _)| image.is_subpass());
        if found.is_none_or(|(_, texel)| texel != input.texel) {
            let message = format!("subpass input {index} is not of {} texels in the code", input.texel);
            self.error("descriptor-type", message, variable);
        }
    }
}

/// Bytes of the push-constant block: an index of 16 bits for each slot up to the highest, in whole words.
pub(super) fn push_constant_bytes(bindings: &[Binding]) -> u32 {
    let highest = bindings.iter().map(|binding| binding.slot).max();
    highest.map_or(0, |slot| (u32::from(slot) + 2) / 2 * 4)
}

/// The resource type of a table's element in the code.
enum Resource {
    Buffer(BaseType, u32),
    Texels(BaseType, Image, TexelType),
}

impl Resource {
    /// Whether a binding is of this type.
    fn is(&self, binding: &Binding) -> bool {
        match (self, binding.shape) {
            (Self::Buffer(base, stride), Shape::Buffer { size }) => *base == binding.base && *stride == u32::from(size),
            (
                Self::Texels(base, image, class),
                Shape::Texel {
                    rank,
                    texel,
                    size,
                    components,
                },
            ) => {
                *base == binding.base
                    && image::rank(image) == Some(rank)
                    && match image::texel_format(image.format) {
                        Some(format) => format == (texel, size, components),
                        None => image.format == image_format::UNKNOWN && *class == texel,
                    }
            }
            _ => false,
        }
    }
}

impl std::fmt::Display for Resource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Buffer(base, stride) => write!(f, "a {base} of {stride}-byte structs"),
            Self::Texels(base, image, class) => {
                let rank = image::rank(image).unwrap_or(TexelRank(255));
                let (texel, size, components) = image::texel_format(image.format).unwrap_or((*class, 4, 4));
                write!(f, "a {rank} {base} of {components} {texel} components of {size} bytes")
            }
        }
    }
}
