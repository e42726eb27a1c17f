//! Textures, samplers and subpass inputs.

use super::glsl::{Glsl, Place, unsupported};
use super::outside::{ATTACHMENTS, separate};
use crate::Result;
use crate::marks::ATTACHMENT;
use loader::sksl::*;
use std::fmt::Write;

/// An SkSL sampler: its GLSL texture kind, and the expressions of texture and sampler.
struct Sampled {
    kind: &'static str,
    texture: String,
    sampler: String,
    /// Whether coordinates are in texels.
    in_texels: bool,
}

impl Sampled {
    fn combined(&self) -> String {
        let made = self.kind.replace("texture", "sampler");
        format!("{made}({}, {})", self.texture, self.sampler)
    }
}

impl<'a> Glsl<'a> {
    /// The GLSL parameter or parameters for one of SkSL, without direction.
    pub(super) fn parameter(&mut self, parameter: Ref) -> Result<String> {
        let (ty, name) = (self.typer.variable(parameter), self.name(parameter));
        let Ty::Opaque(opaque) = ty else {
            return Ok(format!("{} {name}", self.ty(ty)?));
        };
        let opaque = &self.tree.strings[opaque];
        Ok(match separate(opaque) {
            Some(texture) if opaque.contains("sampler") => {
                let (t, s) = (format!("{name}_t"), format!("{name}_s"));
                let text = format!("{texture} {t}, sampler {s}");
                self.places
                    .insert(parameter, Place::Sampler(format!("{texture} {t}"), s));
                text
            }
            Some(texture) => format!("{texture} {name}"),
            None if opaque == "sampler" => format!("sampler {name}"),
            None => return Err(unsupported(format!("a parameter of the type {opaque}"))),
        })
    }

    /// The two arguments for a sampler passed to a function.
    pub(super) fn texture_and_sampler(&mut self, argument: Handle<Expression>) -> Result<Option<String>> {
        let Ty::Opaque(opaque) = self.typer.of(argument) else {
            return Ok(None);
        };
        let opaque = &self.tree.strings[opaque];
        if opaque == "sampler" || !opaque.contains("sampler") {
            return Ok(None);
        }
        let sampled = self.sampled(argument)?;
        Ok(Some(format!("{}, {}", sampled.texture, sampled.sampler)))
    }

    fn sampled(&mut self, sampler: Handle<Expression>) -> Result<Sampled> {
        let tree = self.tree;
        match tree.expressions[sampler] {
            Expression::Variable { variable, .. } => {
                let Some(Place::Sampler(texture, sampler)) = self.places.get(&variable) else {
                    return Err(unsupported("a sampler that is not a uniform"));
                };
                let ty = match self.typer.variable(variable) {
                    Ty::Opaque(ty) => &tree.strings[ty],
                    _ => "",
                };
                let (Some((_, texture)), Some(kind)) = (texture.split_once(' '), separate(ty)) else {
                    return Err(unsupported("a sampler without a texture"));
                };
                Ok(Sampled {
                    kind,
                    texture: texture.to_owned(),
                    sampler: sampler.clone(),
                    in_texels: ty == "sampler2DRect",
                })
            }
            Expression::Call {
                function, arguments, ..
            } if self.is_builtin(function, "makeSampler2D") => {
                let parts: Vec<_> = tree.list(arguments).collect();
                let [texture, sampler] = parts[..] else {
                    return Err(unsupported(
                        "makeSampler2D of something other than a texture and a sampler",
                    ));
                };
                Ok(Sampled {
                    kind: "texture2D",
                    texture: self.expression(texture)?,
                    sampler: self.expression(sampler)?,
                    in_texels: false,
                })
            }
            _ => Err(unsupported("a sampler that is not a uniform")),
        }
    }

    fn is_builtin(&self, function: Ref, name: &str) -> bool {
        matches!(function.target(), Target::Builtin(called) if &self.tree.strings[called] == name)
    }

    /// `sample(sampler, coordinates, bias)`; one coordinate more than the texture's dimensions is a divisor.
    pub(super) fn sample(&mut self, arguments: List<Handle<Expression>>) -> Result<String> {
        let all: Vec<_> = self.tree.list(arguments).collect();
        let [sampler, place, bias @ ..] = &all[..] else {
            return Err(unsupported("sample with fewer than two arguments"));
        };
        let sampled = self.sampled(*sampler)?;
        let dimensions = match sampled.kind {
            "texture1D" => 1,
            "texture3D" => 3,
            _ => 2,
        };
        let combined = sampled.combined();
        let projected = self.typer.of(*place).slots() > dimensions;
        let mut at = self.expression(*place)?;
        if sampled.in_texels {
            // The divisor, if present, is the third.
            let size = format!("vec2(textureSize({combined}, 0))");
            at = match projected {
                true => format!("({at} / vec3({size}, 1.0))"),
                false => format!("({at} / {size})"),
            };
        }
        let bias = match bias {
            [bias, ..] => format!(", {}", self.expression(*bias)?),
            [] => String::new(),
        };
        let function = if projected { "textureProj" } else { "texture" };
        Ok(format!("{function}({combined}, {at}{bias})"))
    }

    /// `textureSize(sampler)`, of the largest level.
    pub(super) fn texture_size(&mut self, arguments: List<Handle<Expression>>) -> Result<String> {
        let Some(sampler) = self.tree.list(arguments).next() else {
            return Err(unsupported("textureSize without a sampler"));
        };
        Ok(format!("textureSize({}, 0)", self.sampled(sampler)?.combined()))
    }

    /// `subpassLoad(input)`: the texel of the pixel.
    pub(super) fn subpass_load(&mut self, arguments: List<Handle<Expression>>) -> Result<String> {
        let all: Vec<_> = self.tree.list(arguments).collect();
        let [input] = all[..] else {
            return Err(unsupported("a multisampled subpass input"));
        };
        let input = self.expression(input)?;
        Ok(texel(&input))
    }

    /// The destination colour before the fragment: an input attachment after all other bindings of its set.
    pub(super) fn last_color(&mut self) -> String {
        let name = format!("{}0_sk_LastFragColor", ATTACHMENT);
        if !self.top.contains(&name) {
            let mut binding = 0;
            while !self.bindings.insert((ATTACHMENTS, binding)) {
                binding += 1;
            }
            let _ = writeln!(
                self.top,
                "layout(set = {ATTACHMENTS}, binding = {binding}) uniform texture2D {name};"
            );
        }
        texel(&name)
    }
}

fn texel(texture: &str) -> String {
    format!("texelFetch({texture}, ivec2(gl_FragCoord.xy), 0)")
}
