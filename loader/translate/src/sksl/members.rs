//! Struct members that naga lays out with wider gaps than their values have (arrays of scalars and pairs) or not at all
//! (two-row matrices). They are stored as arrays of vec4s and rebuilt when read.

use super::glsl::{Glsl, unsupported};
use crate::Result;
use loader::sksl::*;

/// The stored form of such a member.
struct Wide {
    /// The type of the member.
    held: String,
    /// The used part of each element.
    part: &'static str,
    count: u32,
}

impl<'a> Glsl<'a> {
    fn wide(&self, ty: Ty) -> Result<Option<Wide>> {
        let wide = |of: Ty, part: &'static str, count: u32| -> Result<Option<Wide>> {
            let held = format!("{}[{count}]", self.ty(of)?);
            Ok(Some(Wide { held, part, count }))
        };
        let element = match ty {
            Ty::Matrix(s, columns, 2) => return wide(Ty::Vector(s, 4), ".xy", columns.into()),
            Ty::Array(array) => match self.tree.symbols[array] {
                Symbol::Array { count, .. } if count > 0 => (self.typer.element(array), count as u32),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        match element {
            // Bools are not stored in blocks, and none are this wide.
            (Ty::Scalar(Scalar::Bool) | Ty::Vector(Scalar::Bool, _), _) => Ok(None),
            (Ty::Scalar(s), count) => wide(Ty::Vector(s, 4), ".x", count),
            (Ty::Vector(s, 2), count) => wide(Ty::Vector(s, 4), ".xy", count),
            (Ty::Matrix(_, _, 2), _) => Err(unsupported("an array of matrices with two rows in a struct")),
            _ => Ok(None),
        }
    }

    /// The type of a struct's member.
    pub(super) fn member_type(&self, ty: Ty) -> Result<String> {
        match self.wide(ty)? {
            Some(wide) => Ok(wide.held),
            None => self.ty(ty),
        }
    }

    /// The used part of a member's elements: an empty suffix if it is unchanged.
    pub(super) fn member_part(&self, ty: Ty) -> Result<&'static str> {
        Ok(self.wide(ty)?.map_or("", |wide| wide.part))
    }

    /// Reads a struct's member.
    pub(super) fn member_value(&mut self, ty: Ty, member: String) -> Result<String> {
        let Some(wide) = self.wide(ty)? else {
            return Ok(member);
        };
        let (made, name) = (self.ty(ty)?, format!("sk_from_wide_{}", self.letters(ty)?));
        let parts: Vec<String> = (0..wide.count).map(|i| format!("a[{i}]{}", wide.part)).collect();
        let text = format!(
            "{made} {name}({} a) {{ return {made}({}); }}\n",
            wide.held,
            parts.join(", ")
        );
        self.helper(&name, || text);
        Ok(format!("{name}({member})"))
    }

    /// Converts a value to the stored form of a member.
    pub(super) fn member_of(&mut self, ty: Ty, value: String) -> Result<String> {
        let Some(wide) = self.wide(ty)? else {
            return Ok(value);
        };
        let (given, name) = (self.ty(ty)?, format!("sk_to_wide_{}", self.letters(ty)?));
        let vector = wide.held.split('[').next().unwrap_or_default();
        let doubled = |i: u32| match wide.part {
            ".x" => format!("{vector}(a[{i}])"),
            _ => format!("{vector}(a[{i}], a[{i}])"),
        };
        let parts: Vec<String> = (0..wide.count).map(doubled).collect();
        let text = format!(
            "{held} {name}({given} a) {{ return {held}({}); }}\n",
            parts.join(", "),
            held = wide.held
        );
        self.helper(&name, || text);
        Ok(format!("{name}({value})"))
    }

    /// The type of a struct member stored in another shape, if the expression is one.
    pub(super) fn held_member(&mut self, expression: Handle<Expression>) -> Result<Option<Ty>> {
        let Expression::FieldAccess { base, .. } = self.tree.expressions[expression] else {
            return Ok(None);
        };
        let is_struct = matches!(self.typer.of(base), Ty::Struct(handle)
            if matches!(self.tree.symbols[handle], Symbol::Struct { interface_block: false, .. }));
        let ty = self.typer.of(expression);
        Ok(if is_struct { self.wide(ty)?.map(|_| ty) } else { None })
    }

    /// A type's name as a part of identifiers.
    pub(super) fn letters(&self, ty: Ty) -> Result<String> {
        let spelled = self.ty(ty)?;
        let letters = spelled.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
        Ok(letters.collect())
    }
}
