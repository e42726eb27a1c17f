//! The entry point: the arguments of `main`, and the destination of its result.

use super::glsl::{Glsl, Place, unsupported};
use super::outside::{Way, globals, is_mesh, main};
use crate::Result;
use loader::sksl::*;
use naga::ShaderStage;
use std::fmt::Write;

impl<'a> Glsl<'a> {
    /// The complete text, with an entry point that initialises globals and calls the program's `main`.
    pub(super) fn entry(mut self) -> Result<String> {
        let main = main(self.tree).ok_or_else(|| unsupported("a program without main"))?;
        let Some(Symbol::Function {
            parameters, returns, ..
        }) = self.tree.symbol(main)
        else {
            return Err(unsupported("a program without main"));
        };
        let mut arguments = Vec::new();
        for parameter in self.tree.list(*parameters) {
            if let Some(Symbol::Variable { modifiers, .. }) = self.tree.symbol(parameter) {
                arguments.push(self.argument(parameter, modifiers)?);
            }
        }
        let call = format!("{}({})", self.name(main), arguments.join(", "));
        let call = self.result(self.typer.resolve(*returns), call)?;
        if self.writes_color {
            self.locations[Way::Out as usize].push(0);
        }
        for (name, ty) in std::mem::take(&mut self.handed_back) {
            self.spread(&format!("{name}_out"), &name, ty, &Modifiers::default(), Way::Out)?;
        }
        let mut text = format!("#version 450\n{}", self.top);
        for (written, name, index) in [
            // Dual-source outputs come in pairs.
            (self.writes_color || self.writes_secondary, "sk_FragColor", 0),
            (self.writes_secondary, "sk_SecondaryFragColor", 1),
        ] {
            if written {
                let index = if self.writes_secondary {
                    format!(", index = {index}")
                } else {
                    String::new()
                };
                let _ = writeln!(text, "layout(location = 0{index}) out vec4 {name};");
            }
        }
        if !self.uniforms.is_empty() {
            let _ = writeln!(
                text,
                "layout(set = 1, binding = 0) uniform sk_Uniforms {{\n{}}} sk_u;",
                self.uniforms
            );
        }
        let fix = self.position_fix();
        let positioned = self.out.contains("gl_Position") || call.contains("gl_Position") || !fix.is_empty();
        if self.stage == ShaderStage::Vertex && !positioned {
            // A vertex stage must write a position.
            self.setup += "    gl_Position = vec4(0.0);\n";
        }
        let _ = writeln!(self.out, "void main() {{\n{}{call}{}{fix}}}", self.setup, self.finish);
        text += &self.helper_text();
        text += &self.out;
        Ok(text)
    }

    /// The argument for a parameter of `main`: by the number in its layout, or from the host.
    fn argument(&mut self, parameter: Ref, modifiers: &Modifiers) -> Result<String> {
        let (argument, member) = match modifiers.layout.builtin {
            10009 if self.stage == ShaderStage::Fragment => return Ok("gl_FragCoord.xy".into()),
            10010 => ("sk_u.u_sk_Color", "sk_Color"),
            10011 => ("sk_u.u_sk_Dest", "sk_Dest"),
            -1 => return self.host_argument(parameter, modifiers),
            n => return Err(unsupported(format!("a parameter of main with builtin {n}"))),
        };
        let declared = format!("    vec4 u_{member};\n");
        if !self.uniforms.contains(&declared) {
            self.uniforms += &declared;
        }
        Ok(argument.into())
    }

    /// A parameter that the host fills in: a vertex program's attributes and a fragment program's varyings come from
    /// the previous stage, anything else is a uniform; values written back go to the next stage.
    fn host_argument(&mut self, parameter: Ref, modifiers: &Modifiers) -> Result<String> {
        let ty = self.typer.variable(parameter);
        let (reads, writes) = match modifiers.flags & (modifier::IN | modifier::OUT) {
            modifier::OUT => (false, true),
            flags => (true, flags & modifier::OUT != 0),
        };
        let mesh = is_mesh(self.tree);
        let name = format!("{}_main", self.name(parameter));
        let spelled = self.ty(ty)?;
        let _ = writeln!(self.setup, "    {spelled} {name};");
        if mesh && writes && self.stage == ShaderStage::Fragment {
            // A mesh fragment program can only return its colour this way.
            self.writes_color = true;
            let _ = writeln!(self.finish, "    sk_FragColor = vec4({name});");
            return Ok(name);
        }
        if reads && mesh {
            self.spread(&format!("{name}_in"), &name, ty, &Modifiers::default(), Way::In)?;
        } else if reads {
            self.uniform(parameter)?;
            if let Some(Place::Plain(place)) = self.places.remove(&parameter) {
                let _ = writeln!(self.setup, "    {name} = {place};");
            }
        }
        if writes {
            self.handed_back.push((name.clone(), ty));
        }
        Ok(name)
    }

    /// The call of `main` as a statement, with its result stored in the stage's output.
    fn result(&mut self, returns: Ty, call: String) -> Result<String> {
        let fragment = self.stage == ShaderStage::Fragment;
        let kind = match self.tree.header {
            Header::Program { kind, .. } => kind,
            Header::Module => ProgramKind::GENERIC,
        };
        Ok(match (returns, kind) {
            (Ty::Void, _) => format!("    {call};\n"),
            (Ty::Vector(s, 2), ProgramKind::MESH_VERTEX) if s.class() == 0 => {
                format!("    gl_Position = vec4({call}, 0.0, 1.0);\n")
            }
            (Ty::Struct(_), ProgramKind::MESH_VERTEX) => self.varyings(returns, call)?,
            (Ty::Vector(s, 2), ProgramKind::MESH_FRAGMENT) if s.class() == 0 => {
                // If the colour comes from the paint, the result is its coordinates.
                if self.writes_color {
                    self.locations[Way::Out as usize].push(0);
                }
                self.given("sk_LocalCoords", returns, call)?
            }
            (Ty::Vector(s, 4), _) if fragment && s.class() == 0 => {
                self.writes_color = true;
                format!("    sk_FragColor = {call};\n")
            }
            (_, ProgramKind::GENERIC) => self.given("sk_Result", returns, call)?,
            _ => return Err(unsupported("a main that returns something other than a colour")),
        })
    }

    /// A result as separate outputs.
    fn given(&mut self, name: &str, ty: Ty, call: String) -> Result<String> {
        let spelled = self.ty(ty)?;
        // Stage interfaces cannot contain bools.
        let (ty, value) = match ty {
            Ty::Scalar(Scalar::Bool) => (Ty::Scalar(Scalar::Uint), format!("{name} ? 1u : 0u")),
            _ => (ty, name.to_owned()),
        };
        self.spread(&format!("{name}_out"), &value, ty, &Modifiers::default(), Way::Out)?;
        Ok(format!("    {spelled} {name} = {call};\n"))
    }

    /// The varyings that a mesh vertex program returns, including the position.
    fn varyings(&mut self, ty: Ty, call: String) -> Result<String> {
        let Ty::Struct(handle) = ty else {
            return Err(unsupported("a main that returns no varyings"));
        };
        let Symbol::Struct { fields, .. } = &self.tree.symbols[handle] else {
            return Err(unsupported("a main that returns no varyings"));
        };
        let position = fields
            .iter()
            .position(|field| &self.tree.strings[field.name] == "position");
        let position = position.filter(|i| matches!(self.typer.resolve(fields[*i].ty), Ty::Vector(_, 2)));
        let Some(position) = position else {
            return Err(unsupported("a mesh program whose varyings have no float2 position"));
        };
        let text = self.given("sk_Varyings", ty, call)?;
        Ok(format!(
            "{text}    gl_Position = vec4(sk_Varyings.f{position}, 0.0, 1.0);\n"
        ))
    }

    /// A vertex program that uses `sk_RTAdjust` outputs positions in pixels; like Skia's back ends, converts them to
    /// clip space by its scale (x, z) and offset (y, w) after `main`.
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
