//! A program's interface: its stage, uniforms, inputs, outputs, and the entry point.

use super::glsl::{Glsl, Place, unsupported};
use super::outside::{ATTACHMENTS, Way, globals, mesh_inputs, separate};
use crate::Result;
use crate::guard::deep;
use crate::marks::ATTACHMENT;
use loader::sksl::*;
use naga::ShaderStage;
use std::fmt::Write;

/// The stage of a program; a generic program's `main` runs as a fragment program.
///
/// # Errors
/// Unsupported for modules, which have no entry point.
pub fn stage(tree: &Tree) -> Result<ShaderStage> {
    match tree.header {
        Header::Module => Err(unsupported("translating a module, which has no entry point")),
        Header::Program { kind, .. } => match kind {
            ProgramKind::VERTEX | ProgramKind::GRAPHITE_VERTEX | ProgramKind::MESH_VERTEX => Ok(ShaderStage::Vertex),
            _ => Ok(ShaderStage::Fragment),
        },
    }
}

/// Names of the program's inputs, in order.
pub(super) fn inputs(tree: &Tree) -> Vec<String> {
    let own = globals(tree).filter(|(_, modifiers, _)| modifiers.flags & modifier::IN != 0);
    let own = own.map(|(_, _, name)| tree.strings[name].to_owned());
    let mesh = mesh_inputs(tree)
        .into_iter()
        .filter_map(|input| match tree.symbol(input)? {
            Symbol::Variable { name, .. } => Some(tree.strings[*name].to_owned()),
            _ => None,
        });
    own.chain(mesh).collect()
}

/// Writes a program as a GLSL 4.50 shader of its stage.
///
/// Locals and functions get their symbol's number appended, so that names never collide with GLSL's keywords.
/// `portable` requests a uniform block that every language can lay out as std140.
///
/// # Errors
/// Unsupported for other program kinds and for constructs that GLSL lacks, by name.
pub fn to_glsl(tree: &Tree, portable: bool) -> Result<String> {
    spell(tree, portable, false)
}

/// [`to_glsl`]; `hidden_literals` keeps naga from evaluating constants.
pub(super) fn spell(tree: &Tree, portable: bool, hidden_literals: bool) -> Result<String> {
    // The writer's limits bound the depth of a tree from any origin.
    write(tree)?;
    deep("naga", || {
        let stage = stage(tree)?;
        let mut spelled = Glsl::new(tree, stage, portable);
        spelled.hidden_literals = hidden_literals;
        spelled.structs()?;
        spelled.interface()?;
        for element in spelled.ordered()? {
            spelled.element(element)?;
        }
        spelled.entry()
    })
}

impl Glsl<'_> {
    /// Declares uniforms, inputs, outputs and blocks.
    fn interface(&mut self) -> Result<()> {
        let tree = self.tree;
        let all: Vec<_> = globals(tree).collect();
        let taken = |direction: u32| -> Vec<i8> {
            let fixed = all.iter().filter(|(_, m, _)| m.flags & direction != 0);
            fixed.map(|(_, m, _)| m.layout.location).collect()
        };
        self.locations = [taken(modifier::IN), taken(modifier::OUT)];
        // Other targets number blocks and samplers separately; here the sampler moves.
        for (variable, modifiers, _) in &all {
            if self.block(self.typer.variable(*variable)).is_some() && modifiers.flags & modifier::UNIFORM != 0 {
                let layout = &modifiers.layout;
                self.bindings.insert((layout.set.max(0), layout.binding.max(0).into()));
            }
        }
        for (variable, modifiers, _) in &all {
            let ty = self.typer.variable(*variable);
            let opaque = matches!(ty, Ty::Opaque(_));
            let block = self.block(ty);
            let direction = modifiers.flags & (modifier::IN | modifier::OUT);
            let pushed = modifiers.layout.flags & layout::PUSH_CONSTANT != 0;
            if pushed && block.is_none() {
                return Err(unsupported("a push constant outside a block"));
            }
            match (modifiers.flags & modifier::UNIFORM != 0, direction) {
                (true, _) if opaque => self.opaque(*variable, modifiers)?,
                (true, _) => match block {
                    Some(handle) => self.uniform_block(*variable, handle, modifiers)?,
                    None => self.uniform(*variable)?,
                },
                (_, modifier::IN) => self.stage_variable(*variable, modifiers, Way::In)?,
                (_, modifier::OUT) => self.stage_variable(*variable, modifiers, Way::Out)?,
                (_, 0) if opaque => self.opaque(*variable, modifiers)?,
                (_, 0) if block.is_some() => {
                    return Err(unsupported("an interface block that is neither in, out nor uniform"));
                }
                (_, 0) => {}
                _ => return Err(unsupported("a global that is in and out")),
            }
        }
        Ok(())
    }

    /// The struct of an interface block, or of an array of them.
    fn block(&self, ty: Ty) -> Option<Handle<Symbol>> {
        let inner = match ty {
            Ty::Array(array) => self.typer.element(array),
            other => other,
        };
        let Ty::Struct(handle) = inner else { return None };
        let is_block = matches!(
            self.tree.symbols[handle],
            Symbol::Struct {
                interface_block: true,
                ..
            }
        );
        is_block.then_some(handle)
    }

    /// A texture, a sampler, both combined, or a subpass input.
    fn opaque(&mut self, variable: Ref, modifiers: &Modifiers) -> Result<()> {
        let Ty::Opaque(ty) = self.typer.variable(variable) else {
            return Ok(());
        };
        let ty = &self.tree.strings[ty];
        let name = self.name(variable);
        let set = match (modifiers.layout.set, ty) {
            (-1, "subpassInput") => ATTACHMENTS,
            (set, _) => set.max(0),
        };
        let mut binding = i32::from(modifiers.layout.binding.max(0));
        if matches!(ty, "shader" | "colorFilter" | "blender") {
            // A child whose colour is never requested is harmless, and requests cannot be expressed here.
            return Ok(());
        }
        while !self.bindings.insert((set, binding)) {
            binding += 1;
        }
        let plain = self.plain_name(variable);
        let mut declare = |binding: i32, ty: &str, name: &str| {
            let _ = writeln!(
                self.top,
                "layout(set = {set}, binding = {binding}) uniform {ty} {name};"
            );
        };
        let place = match (ty, separate(ty)) {
            ("sampler", _) => {
                declare(binding, "sampler", &name);
                Place::Plain(name)
            }
            ("subpassInput", _) => {
                let index = modifiers.layout.input_attachment_index.max(0);
                let name = format!("{}{index}_{}", ATTACHMENT, plain);
                declare(binding, "texture2D", &name);
                Place::Plain(name)
            }
            (_, Some(texture)) if ty.contains("texture") => {
                declare(binding, texture, &name);
                Place::Plain(name)
            }
            (_, Some(texture)) => {
                let (t, s) = (format!("{name}_t"), format!("{name}_s"));
                declare(binding, texture, &t);
                // Far from the textures, whose bindings the program chooses.
                declare(binding + SAMPLER_BINDINGS, "sampler", &s);
                Place::Sampler(format!("{texture} {t}"), s)
            }
            _ => return Err(unsupported(format!("a variable of the type {ty}"))),
        };
        self.places.insert(variable, place);
        Ok(())
    }
}

/// Distance of a sampler's binding from its texture's.
const SAMPLER_BINDINGS: i32 = 1000;
