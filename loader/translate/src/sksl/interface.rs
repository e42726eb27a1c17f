//! What a program has to do with the outside: its stage, uniforms, inputs, outputs, and the entry point.

use super::glsl::{Glsl, Place, unsupported};
use crate::Result;
use crate::guard::deep;
use loader::sksl::*;
use naga::ShaderStage;
use std::fmt::Write;

/// The stage a program is for; generic programs have `main` run as a fragment program's.
///
/// # Errors
/// Unsupported for modules and for mesh programs, whose `main` takes and gives structs of the host's making.
pub fn stage(tree: &Tree) -> Result<ShaderStage> {
    match tree.header {
        Header::Module => Err(unsupported("translating a module, which has no entry point")),
        Header::Program { kind, .. } => match kind {
            ProgramKind::VERTEX | ProgramKind::GRAPHITE_VERTEX => Ok(ShaderStage::Vertex),
            ProgramKind::MESH_VERTEX | ProgramKind::MESH_FRAGMENT => {
                Err(unsupported(format!("translating a {kind} program")))
            }
            _ => Ok(ShaderStage::Fragment),
        },
    }
}

/// Names of the program's inputs, in order.
pub(super) fn inputs(tree: &Tree) -> Vec<String> {
    globals(tree)
        .filter(|(_, modifiers, _)| modifiers.flags & modifier::IN != 0)
        .map(|(_, _, name)| tree.strings[name].to_owned())
        .collect()
}

/// Global variables and interface blocks of the program's own, in order.
fn globals(tree: &Tree) -> impl Iterator<Item = (Ref, &Modifiers, Str)> {
    tree.list(tree.top).filter_map(|element| {
        let variable = match tree.elements[element] {
            Element::Global { declaration } => match tree.statements[declaration] {
                Statement::Variable { variable, .. } => variable,
                _ => return None,
            },
            Element::InterfaceBlock { variable, .. } => variable,
            _ => return None,
        };
        match tree.symbol(variable)? {
            Symbol::Variable { modifiers, name, .. } => Some((variable, modifiers, *name)),
            _ => None,
        }
    })
}

/// Spells a program as a GLSL 4.50 shader of its stage.
///
/// Locals and functions get their symbol's number behind their names, so nothing collides with GLSL's own words.
/// `portable` asks for a uniform block that every language can lay out like std140.
///
/// # Errors
/// Unsupported for other program kinds and for what GLSL has no words for, by name.
pub fn to_glsl(tree: &Tree, portable: bool) -> Result<String> {
    spell(tree, portable, false)
}

/// As [`to_glsl`]; `hidden_literals` keeps naga from evaluating what is constant.
pub(super) fn spell(tree: &Tree, portable: bool, hidden_literals: bool) -> Result<String> {
    // The writer's limits bound how deep a tree is, whoever built it.
    write(tree)?;
    deep(|| {
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
        let mut used = [taken(modifier::IN), taken(modifier::OUT)];
        // Elsewhere blocks and samplers are counted apart; here a sampler gives way.
        for (variable, modifiers, _) in &all {
            if matches!(self.typer.variable(*variable), Ty::Struct(_)) && modifiers.flags & modifier::UNIFORM != 0 {
                let layout = &modifiers.layout;
                self.bindings.insert((layout.set.max(0), layout.binding.max(0).into()));
            }
        }
        for (variable, modifiers, _) in &all {
            let ty = self.typer.variable(*variable);
            let opaque = matches!(ty, Ty::Opaque(_));
            let is_block =
                matches!(ty, Ty::Struct(s) if matches!(tree.symbols[s], Symbol::Struct { interface_block: true, .. }));
            let array_of_blocks = matches!(ty, Ty::Array(a) if matches!(self.typer.element(a), Ty::Struct(s)
                if matches!(tree.symbols[s], Symbol::Struct { interface_block: true, .. })));
            if array_of_blocks {
                return Err(unsupported("an array of interface blocks"));
            }
            let direction = modifiers.flags & (modifier::IN | modifier::OUT);
            let pushed = modifiers.layout.flags & layout::PUSH_CONSTANT != 0;
            if pushed && !is_block {
                return Err(unsupported("a push constant outside a block"));
            }
            match (modifiers.flags & modifier::UNIFORM != 0, direction) {
                (true, _) if is_block => self.uniform_block(*variable, modifiers)?,
                (true, _) if opaque => self.sampler(*variable, modifiers)?,
                (true, _) => self.uniform(*variable)?,
                (_, modifier::IN) => self.stage_variable(*variable, modifiers, "in", &mut used[0])?,
                (_, modifier::OUT) => self.stage_variable(*variable, modifiers, "out", &mut used[1])?,
                (_, 0) if opaque => self.sampler(*variable, modifiers)?,
                (_, 0) if is_block => {
                    return Err(unsupported("an interface block that is neither in, out nor uniform"));
                }
                (_, 0) => {}
                _ => return Err(unsupported("a global that is in and out")),
            }
        }
        Ok(())
    }

    fn uniform(&mut self, variable: Ref) -> Result<()> {
        let ty = self.typer.variable(variable);
        let inner = match ty {
            Ty::Array(array) => self.typer.element(array),
            other => other,
        };
        match inner {
            Ty::Struct(_) => return Err(unsupported("a uniform of structs")),
            _ if inner.scalar() == Some(Scalar::Bool) => return Err(unsupported("a uniform of bools")),
            Ty::Matrix(_, columns, 2) => return self.narrow_matrix(variable, ty, columns),
            _ => {}
        }
        if let Ty::Array(array) = ty
            && self.portable
            && matches!(inner, Ty::Scalar(_) | Ty::Vector(_, 2))
        {
            return self.wide_array(variable, array, inner);
        }
        let name = self.plain_name(variable);
        let _ = writeln!(self.uniforms, "    {} u_{name};", self.ty(ty)?);
        self.places.insert(variable, Place::Plain(format!("sk_u.u_{name}")));
        Ok(())
    }

    /// A matrix of two rows, which naga has in no block: its numbers stand in another shape, and a global is set from
    /// them.
    fn narrow_matrix(&mut self, variable: Ref, ty: Ty, columns: u8) -> Result<()> {
        if matches!(ty, Ty::Array(_)) {
            return Err(unsupported("a uniform array of matrices with two rows"));
        }
        let (plain, own) = (self.plain_name(variable), self.name(variable));
        let (shape, rows) = match columns {
            2 => ("vec4", 4),
            3 => ("mat2x3", 3),
            _ => ("mat2x4", 4),
        };
        let numbers = (0..2 * columns).map(|i| match shape {
            "vec4" => format!("sk_u.u_{plain}[{i}]"),
            _ => format!("sk_u.u_{plain}[{}][{}]", i / rows, i % rows),
        });
        let (made, numbers) = (self.ty(ty)?, numbers.collect::<Vec<_>>().join(", "));
        let _ = writeln!(self.uniforms, "    {shape} u_{plain};");
        let _ = writeln!(self.out, "{made} {own};");
        let _ = writeln!(self.setup, "    {own} = {made}({numbers});");
        self.places.insert(variable, Place::Plain(own));
        Ok(())
    }

    /// An array whose elements std140 spreads over 16 bytes each, which WGSL wants spelled out: elements are vectors of
    /// four, and a global is set from their first components.
    fn wide_array(&mut self, variable: Ref, array: Handle<Symbol>, element: Ty) -> Result<()> {
        let (Symbol::Array { count, .. }, Some(scalar)) = (&self.tree.symbols[array], element.scalar()) else {
            return Ok(());
        };
        let (plain, own) = (self.plain_name(variable), self.name(variable));
        let wide = self.ty(Ty::Vector(scalar, 4))?;
        let part = if matches!(element, Ty::Scalar(_)) { "x" } else { "xy" };
        let made = self.ty(Ty::Array(array))?;
        let _ = writeln!(self.uniforms, "    {wide} u_{plain}[{count}];");
        let _ = writeln!(self.out, "{made} {own};");
        for i in 0..*count {
            let _ = writeln!(self.setup, "    {own}[{i}] = sk_u.u_{plain}[{i}].{part};");
        }
        self.places.insert(variable, Place::Plain(own));
        Ok(())
    }

    fn uniform_block(&mut self, variable: Ref, modifiers: &Modifiers) -> Result<()> {
        let Ty::Struct(handle) = self.typer.variable(variable) else {
            return Ok(());
        };
        let Symbol::Struct { fields, .. } = &self.tree.symbols[handle] else {
            return Ok(());
        };
        let (set, binding) = (modifiers.layout.set.max(0), modifiers.layout.binding.max(0));
        let name = self.name(variable);
        let place = match modifiers.layout.flags & layout::PUSH_CONSTANT {
            0 => format!("set = {set}, binding = {binding}"),
            _ => "push_constant".into(),
        };
        let mut text = format!("layout({place}) uniform {name}_block {{\n");
        for (i, at) in self.placed(fields)? {
            match (i, at) {
                (Some(i), _) => {
                    let ty = self.typer.resolve(fields[i].ty);
                    let _ = writeln!(text, "    {} f{i};", self.ty(ty)?);
                }
                // What nothing reads fills the room before a field.
                (None, at) => {
                    let _ = writeln!(text, "    float pad{at};");
                }
            }
        }
        self.top += &(text + &format!("}} {name};\n"));
        self.places.insert(variable, Place::Plain(name));
        Ok(())
    }

    /// The fields of a block in the order of their offsets, with the floats that fill the room between them (and have
    /// no field): std140 then puts every field where the program wants it.
    fn placed(&self, fields: &[StructField]) -> Result<Vec<(Option<usize>, u32)>> {
        let mut places = Vec::new();
        let mut end = 0u32;
        for (i, field) in fields.iter().enumerate() {
            let wanted = u32::try_from(field.modifiers.layout.offset).ok();
            let Some((size, align)) = self.extent(self.typer.resolve(field.ty)) else {
                // A struct or a block of them: only its own place by the order of the fields is known to be right.
                if fields.iter().all(|field| field.modifiers.layout.offset == -1) {
                    return Ok((0..fields.len()).map(|i| (Some(i), 0)).collect());
                }
                return Err(unsupported(
                    "offsets in an interface block beside a field of structs or bools",
                ));
            };
            let start = wanted.unwrap_or(end.next_multiple_of(align));
            if !start.is_multiple_of(align) {
                return Err(unsupported(
                    "a field of an interface block where its alignment does not let it stand",
                ));
            }
            end = start + size;
            places.push((start, end, i));
        }
        places.sort_unstable();
        let (mut all, mut at) = (Vec::new(), 0);
        for (start, end, i) in places {
            if start < at {
                return Err(unsupported("fields of an interface block that overlap"));
            }
            if start - at > MOST_PADDING {
                return Err(unsupported("a field of an interface block far behind the others"));
            }
            all.extend((at..start).step_by(4).map(|at| (None, at)));
            all.push((Some(i), start));
            at = end;
        }
        Ok(all)
    }

    /// Size and alignment in bytes by the rules of std140; `None` for what is no number, vector, matrix or array of them.
    fn extent(&self, ty: Ty) -> Option<(u32, u32)> {
        Some(match ty {
            Ty::Scalar(_) => (4, 4),
            Ty::Vector(_, 2) => (8, 8),
            Ty::Vector(_, n) => (4 * u32::from(n), 16),
            Ty::Matrix(_, columns, _) => (16 * u32::from(columns), 16),
            Ty::Array(array) => {
                let Symbol::Array { count, .. } = self.tree.symbols[array] else {
                    return None;
                };
                let (size, _) = self.extent(self.typer.element(array))?;
                (size.next_multiple_of(16) * u32::try_from(count).ok()?, 16)
            }
            _ => return None,
        })
    }

    /// Texture and sampler of one SkSL sampler: GLSL for Vulkan, as naga reads it, has the two apart.
    fn sampler(&mut self, variable: Ref, modifiers: &Modifiers) -> Result<()> {
        let Ty::Opaque(ty) = self.typer.variable(variable) else {
            return Ok(());
        };
        let texture = match &self.tree.strings[ty] {
            "sampler1D" => "texture1D",
            "sampler2D" | "samplerExternalOES" => "texture2D",
            "sampler3D" => "texture3D",
            "isampler2D" => "itexture2D",
            "shader" | "colorFilter" | "blender" => {
                // A child that is never asked for a colour does no harm, and asking cannot be written in this format.
                return Ok(());
            }
            other => return Err(unsupported(format!("a variable of the type {other}"))),
        };
        let (set, name) = (modifiers.layout.set.max(0), self.name(variable));
        let mut binding = i32::from(modifiers.layout.binding.max(0));
        while !self.bindings.insert((set, binding)) {
            binding += 1;
        }
        // Far from the textures, which are what programs number.
        let other = binding + SAMPLER_BINDINGS;
        let _ = writeln!(
            self.top,
            "layout(set = {set}, binding = {binding}) uniform {texture} {name}_t;"
        );
        let _ = writeln!(
            self.top,
            "layout(set = {set}, binding = {other}) uniform sampler {name}_s;"
        );
        let place = Place::Sampler(format!("{texture} {name}_t"), format!("{name}_s"));
        self.places.insert(variable, place);
        Ok(())
    }

    /// An input or output, or a block of them, which becomes one variable for each field.
    fn stage_variable(&mut self, variable: Ref, modifiers: &Modifiers, way: &str, used: &mut Vec<i8>) -> Result<()> {
        let tree = self.tree;
        let name = self.name(variable);
        let ty = self.typer.variable(variable);
        if modifiers.layout.index > 0 {
            return Err(unsupported("an output for blending with two sources"));
        }
        if let Ty::Struct(handle) = ty
            && let Symbol::Struct { fields, .. } = &tree.symbols[handle]
        {
            for (i, field) in fields.iter().enumerate() {
                let ty = self.typer.resolve(field.ty);
                self.located(&format!("{name}_f{i}"), ty, &field.modifiers, way, used)?;
            }
            self.places.insert(variable, Place::Fields(name));
            return Ok(());
        }
        self.located(&name, ty, modifiers, way, used)?;
        self.places.insert(variable, Place::Plain(name));
        Ok(())
    }

    fn located(&mut self, name: &str, ty: Ty, modifiers: &Modifiers, way: &str, used: &mut Vec<i8>) -> Result<()> {
        let fits = matches!(ty, Ty::Scalar(s) | Ty::Vector(s, _) if s != Scalar::Bool);
        if !fits {
            return Err(unsupported(format!(
                "an {way} variable that is no number or vector of numbers"
            )));
        }
        let location = match modifiers.layout.location {
            -1 => (0..=i8::MAX).find(|n| !used.contains(n)).unwrap_or(i8::MAX),
            given => given,
        };
        used.push(location);
        let interpolation = match modifiers.flags {
            f if f & modifier::FLAT != 0 => "flat ",
            // Between the stages whole numbers are never interpolated.
            _ if ty.scalar().is_some_and(|s| s.class() != 0)
                && (way == "in") == (self.stage == ShaderStage::Fragment) =>
            {
                "flat "
            }
            f if f & modifier::NO_PERSPECTIVE != 0 => "noperspective ",
            _ => "",
        };
        let ty = self.ty(ty)?;
        let _ = writeln!(
            self.top,
            "layout(location = {location}) {interpolation}{way} {ty} {name};"
        );
        Ok(())
    }

    /// The whole text, with the entry point that sets globals up and calls the program's `main`.
    fn entry(mut self) -> Result<String> {
        let main = self.main().ok_or_else(|| unsupported("a program without main"))?;
        let Some(Symbol::Function {
            parameters, returns, ..
        }) = self.tree.symbol(main)
        else {
            return Err(unsupported("a program without main"));
        };
        let mut arguments = Vec::new();
        for parameter in self.tree.list(*parameters) {
            let Some(Symbol::Variable { modifiers, .. }) = self.tree.symbol(parameter) else {
                continue;
            };
            arguments.push(match modifiers.layout.builtin {
                10009 if self.stage == ShaderStage::Fragment => "gl_FragCoord.xy",
                10010 => "sk_u.u_sk_Color",
                10011 => "sk_u.u_sk_Dest",
                -1 => return Err(unsupported("a parameter of main that the host fills in")),
                n => return Err(unsupported(format!("a parameter of main with builtin {n}"))),
            });
        }
        for (argument, member) in [("sk_u.u_sk_Color", "sk_Color"), ("sk_u.u_sk_Dest", "sk_Dest")] {
            if arguments.contains(&argument) {
                let _ = writeln!(self.uniforms, "    vec4 u_{member};");
            }
        }
        let mut call = format!("{}({})", self.name(main), arguments.join(", "));
        match (self.typer.resolve(*returns), self.stage) {
            (Ty::Void, _) => {}
            (Ty::Vector(_, 4), ShaderStage::Fragment) => {
                self.writes_color = true;
                call = format!("sk_FragColor = {call}");
            }
            _ => return Err(unsupported("a main that returns something other than a colour")),
        }
        let mut text = String::from("#version 450\n");
        if self.writes_color {
            text += "layout(location = 0) out vec4 sk_FragColor;\n";
        }
        if !self.uniforms.is_empty() {
            let _ = writeln!(
                text,
                "layout(set = 1, binding = 0) uniform sk_Uniforms {{\n{}}} sk_u;",
                self.uniforms
            );
        }
        let fix = self.position_fix();
        if self.stage == ShaderStage::Vertex && !self.out.contains("gl_Position") && fix.is_empty() {
            // A vertex stage has a position, wherever it is.
            self.setup += "    gl_Position = vec4(0.0);\n";
        }
        let _ = writeln!(self.out, "void main() {{\n{}    {call};\n{fix}}}", self.setup);
        for part in [&self.top, &self.helper_text(), &self.out] {
            text += part;
        }
        Ok(text)
    }

    /// The program's `main`, by the last definition of that name.
    fn main(&self) -> Option<Ref> {
        let tree = self.tree;
        let defined = tree.list(tree.top).filter_map(|element| match tree.elements[element] {
            Element::Function { declaration, .. } => Some(declaration),
            _ => None,
        });
        defined.rev().find(|declaration| {
            matches!(tree.symbol(*declaration), Some(Symbol::Function { name, .. }) if &tree.strings[*name] == "main")
        })
    }

    /// A vertex program that names `sk_RTAdjust` gives positions in pixels; Skia's back ends bring them to clip space
    /// by its scale (x, z) and offset (y, w) after `main`.
    fn position_fix(&mut self) -> String {
        if self.stage != ShaderStage::Vertex {
            return String::new();
        }
        let tree = self.tree;
        let mut adjust = None;
        for (variable, _, name) in globals(tree) {
            let Some(Place::Plain(place)) = self.places.get(&variable) else {
                continue;
            };
            if &tree.strings[name] == "sk_RTAdjust" {
                adjust = Some(place.clone());
            }
            if let Ty::Struct(handle) = self.typer.variable(variable)
                && let Symbol::Struct { fields, .. } = &tree.symbols[handle]
                && let Some(i) = fields.iter().position(|f| &tree.strings[f.name] == "sk_RTAdjust")
            {
                adjust = Some(format!("{place}.f{i}"));
            }
        }
        adjust.map_or(String::new(), |a| {
            format!("    gl_Position = vec4(gl_Position.xy * {a}.xz + gl_Position.ww * {a}.yw, 0.0, gl_Position.w);\n")
        })
    }
}

/// Most bytes between two fields of a block: what a uniform block can have on every device.
const MOST_PADDING: u32 = 16384;

/// How far the binding of a sampler is from its texture's.
const SAMPLER_BINDINGS: i32 = 1000;
