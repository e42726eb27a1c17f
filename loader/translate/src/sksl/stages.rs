//! Inputs from the previous stage and outputs to the next.

use super::glsl::{Glsl, Place, unsupported};
use super::outside::{Way, globals};
use crate::Result;
use loader::sksl::*;
use naga::ShaderStage;
use std::fmt::Write;

/// Limit on the locations of one variable; devices have 16 to 32 in all.
const MAX_LOCATIONS: usize = 64;

impl<'a> Glsl<'a> {
    /// An input or output. A block becomes one variable for each field; other types that are neither numbers nor
    /// vectors become one per location, and a global of the original type.
    pub(super) fn stage_variable(&mut self, variable: Ref, modifiers: &Modifiers, way: Way) -> Result<()> {
        let (name, ty) = (self.name(variable), self.typer.variable(variable));
        if let Ty::Struct(handle) = ty
            && let Symbol::Struct {
                fields,
                interface_block: true,
                ..
            } = &self.tree.symbols[handle]
        {
            for (i, field) in fields.iter().enumerate() {
                let ty = self.typer.resolve(field.ty);
                self.stage_value(&format!("{name}_f{i}"), ty, &field.modifiers, way)?;
            }
            self.places.insert(variable, Place::Fields(name));
            return Ok(());
        }
        self.stage_value(&name, ty, modifiers, way)?;
        self.places.insert(variable, Place::Plain(name));
        Ok(())
    }

    fn stage_value(&mut self, name: &str, ty: Ty, modifiers: &Modifiers, way: Way) -> Result<()> {
        if matches!(ty, Ty::Scalar(_) | Ty::Vector(..)) {
            return self.located(name, ty, modifiers, way);
        }
        let spelled = self.ty(ty)?;
        let _ = writeln!(self.out, "{spelled} {name};");
        self.spread(name, name, ty, modifiers, way)
    }

    /// The variables `begin_N`, one for each location of a type, copied from or to the parts of `value`.
    pub(super) fn spread(&mut self, begin: &str, value: &str, ty: Ty, modifiers: &Modifiers, way: Way) -> Result<()> {
        self.bounded(ty)?;
        let mut leaves = Vec::new();
        self.leaves(String::new(), ty, &mut leaves)?;
        for (i, (path, ty)) in leaves.into_iter().enumerate() {
            let (part, mut modifiers) = (format!("{begin}_{i}"), *modifiers);
            if modifiers.layout.location >= 0 {
                modifiers.layout.location = modifiers.layout.location.saturating_add(i as i8);
            }
            self.located(&part, ty, &modifiers, way)?;
            let _ = match way {
                Way::In => writeln!(self.setup, "    {value}{path} = {part};"),
                Way::Out => writeln!(self.finish, "    {part} = {value}{path};"),
            };
        }
        Ok(())
    }

    /// The scalars and vectors that a type consists of, each with its access path.
    fn leaves(&self, path: String, ty: Ty, found: &mut Vec<(String, Ty)>) -> Result<()> {
        if found.len() >= MAX_LOCATIONS {
            return Err(unsupported("a variable with more locations than a device has"));
        }
        match ty {
            Ty::Matrix(s, columns, rows) => {
                found.extend((0..columns).map(|c| (format!("{path}[{c}]"), Ty::Vector(s, rows))));
            }
            Ty::Array(array) => {
                let Symbol::Array { count, .. } = self.tree.symbols[array] else {
                    return Ok(());
                };
                for i in 0..count {
                    self.leaves(format!("{path}[{i}]"), self.typer.element(array), found)?;
                }
            }
            Ty::Struct(handle) => {
                let Symbol::Struct { fields, .. } = &self.tree.symbols[handle] else {
                    return Ok(());
                };
                for (i, field) in fields.iter().enumerate() {
                    let (ty, from) = (self.typer.resolve(field.ty), found.len());
                    self.leaves(format!("{path}.f{i}"), ty, found)?;
                    let part = self.member_part(ty)?;
                    found[from..].iter_mut().for_each(|(path, _)| *path += part);
                }
            }
            other => found.push((path, other)),
        }
        Ok(())
    }

    /// Whether dual-source blending is used: then the first output needs an index too.
    fn has_second_source(&self) -> bool {
        globals(self.tree).any(|(_, modifiers, _)| modifiers.flags & modifier::OUT != 0 && modifiers.layout.index > 0)
    }

    fn located(&mut self, name: &str, ty: Ty, modifiers: &Modifiers, way: Way) -> Result<()> {
        let fits = matches!(ty, Ty::Scalar(s) | Ty::Vector(s, _) if s != Scalar::Bool);
        let word = way.word();
        if !fits {
            return Err(unsupported(format!(
                "an {word} variable that is not a number or vector of numbers"
            )));
        }
        let used = &self.locations[way as usize];
        let location = match modifiers.layout.location {
            -1 => (0..=i8::MAX).find(|n| !used.contains(n)).unwrap_or(i8::MAX),
            given => given,
        };
        self.locations[way as usize].push(location);
        let interpolation = match modifiers.flags {
            f if f & modifier::FLAT != 0 => "flat ",
            // Integers are never interpolated between stages.
            _ if ty.scalar().is_some_and(|s| s.class() != 0)
                && (way == Way::In) == (self.stage == ShaderStage::Fragment) =>
            {
                "flat "
            }
            f if f & modifier::NO_PERSPECTIVE != 0 => "noperspective ",
            _ => "",
        };
        let ty = self.ty(ty)?;
        let index = match modifiers.layout.index {
            1.. if way == Way::Out => ", index = 1",
            _ if way == Way::Out && location == 0 && self.has_second_source() => ", index = 0",
            _ => "",
        };
        let _ = writeln!(
            self.top,
            "layout(location = {location}{index}) {interpolation}{word} {ty} {name};"
        );
        Ok(())
    }
}
