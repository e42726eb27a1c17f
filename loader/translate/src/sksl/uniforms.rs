//! Uniforms and uniform blocks: the block's members, and replacements for members that naga or WGSL lacks.

use super::glsl::{Glsl, Place, unsupported};
use crate::Result;
use crate::marks::BLOCKS;
use loader::sksl::*;
use std::collections::HashMap;
use std::fmt::Write;

/// Limit on bytes between two fields of a block: the minimum guaranteed size of a uniform block.
const MOST_PADDING: u32 = 16384;

/// Limit on scalars, vectors, matrices, arrays and structs in an interface type.
const MOST_PARTS: u64 = 4096;

/// Layout rules of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rules {
    Std140,
    /// For push constants.
    Std430,
}

/// A member of a block: its declaration, and the expression of its value if that is not the member itself.
struct Member {
    declared: String,
    value: Option<String>,
    /// Whether the value differs from the member only in its stride.
    strided: bool,
}

impl<'a> Glsl<'a> {
    /// A uniform outside a block; it becomes a member of the shared block.
    pub(super) fn uniform(&mut self, variable: Ref) -> Result<()> {
        let ty = self.typer.variable(variable);
        self.bounded(ty)?;
        let name = format!("u_{}", self.plain_name(variable));
        let taken = |text: &str| text.contains(&format!(" {name};")) || text.contains(&format!(" {name}["));
        let name = match taken(&self.uniforms) {
            // A parameter of `main` may have the name of a uniform.
            true => format!("u_{}", self.name(variable)),
            false => name,
        };
        let place = format!("sk_u.{name}");
        if matches!(ty, Ty::Struct(_)) && !self.is_plain(ty) {
            return self.scattered(variable, ty, &name);
        }
        let member = self.declare(ty, &name, &place)?;
        // If only the stride differs, no copy is needed for element accesses.
        let value = member.value.filter(|_| !member.strided || self.is_used_whole(variable));
        let place = self.held(variable, "", ty, place, value)?;
        self.places.insert(variable, Place::Plain(place));
        Ok(())
    }

    /// Declares a member of the shared uniform block.
    fn declare(&mut self, ty: Ty, name: &str, place: &str) -> Result<Member> {
        let member = match ty {
            Ty::Matrix(_, columns, 2) => self.narrow_matrix(ty, columns, name, place)?,
            _ => self.member(ty, name, place, Rules::Std140)?,
        };
        let _ = writeln!(self.uniforms, "    {};", member.declared);
        Ok(member)
    }

    /// The expression that reads a value: the member, or a global set by the entry point.
    fn held(&mut self, variable: Ref, part: &str, ty: Ty, place: String, value: Option<String>) -> Result<String> {
        let Some(value) = value else { return Ok(place) };
        let (own, made) = (format!("{}{part}", self.name(variable)), self.ty(ty)?);
        let _ = writeln!(self.out, "{made} {own};");
        let _ = writeln!(self.setup, "    {own} = {value};");
        Ok(own)
    }

    /// Whether an array is used other than by element; a parameter of `main` is, because it is passed on.
    fn is_used_whole(&self, variable: Ref) -> bool {
        let tree = self.tree;
        let is = |expression: Handle<Expression>| matches!(tree.expressions[expression], Expression::Variable { variable: v, .. } if v == variable);
        let (mut uses, mut elements) = (0, 0);
        for (handle, expression) in tree.expressions.iter() {
            uses += u32::from(is(handle));
            elements += u32::from(matches!(expression, Expression::Index { base, .. } if is(*base)));
        }
        let parameter =
            matches!(tree.symbol(variable), Some(Symbol::Variable { storage, .. }) if *storage == Storage::PARAMETER);
        parameter || uses > elements
    }

    /// Rejects types with very many parts: nested structs can double at each level, and every part is visited.
    pub(super) fn bounded(&self, ty: Ty) -> Result<()> {
        match self.part_count(ty, &mut HashMap::new()) {
            0..=MOST_PARTS => Ok(()),
            n => Err(unsupported(format!("a type of {n} parts; {MOST_PARTS} are the most"))),
        }
    }

    fn part_count(&self, ty: Ty, known: &mut HashMap<Handle<Symbol>, u64>) -> u64 {
        let (Ty::Array(handle) | Ty::Struct(handle)) = ty else {
            return 1;
        };
        if let Some(count) = known.get(&handle) {
            return *count;
        }
        // A recursive type is unbounded.
        known.insert(handle, u64::MAX);
        let count = match &self.tree.symbols[handle] {
            Symbol::Array { count, .. } => {
                let element = self.part_count(self.typer.element(handle), known);
                element
                    .saturating_mul(u64::try_from(*count).unwrap_or(0))
                    .saturating_add(1)
            }
            Symbol::Struct { fields, .. } => fields.iter().fold(1, |sum: u64, field| {
                sum.saturating_add(self.part_count(self.typer.resolve(field.ty), known))
            }),
            _ => 1,
        };
        known.insert(handle, count);
        count
    }

    /// Whether a struct can be a block member unchanged.
    fn is_plain(&self, ty: Ty) -> bool {
        match ty {
            Ty::Scalar(s) | Ty::Vector(s, _) => s != Scalar::Bool,
            Ty::Matrix(..) => true,
            Ty::Array(array) => self.is_plain(self.typer.element(array)),
            Ty::Struct(handle) => match &self.tree.symbols[handle] {
                Symbol::Struct { fields, .. } => fields.iter().all(|f| self.is_plain(self.typer.resolve(f.ty))),
                _ => false,
            },
            _ => false,
        }
    }

    /// A struct with a member that no block can have: each of its fields becomes a member of the block.
    fn scattered(&mut self, variable: Ref, ty: Ty, name: &str) -> Result<()> {
        let own = self.name(variable);
        let _ = writeln!(self.out, "{} {own};", self.ty(ty)?);
        self.scatter(ty, name, &own)?;
        self.places.insert(variable, Place::Plain(own));
        Ok(())
    }

    fn scatter(&mut self, ty: Ty, name: &str, own: &str) -> Result<()> {
        let Ty::Struct(handle) = ty else {
            let place = format!("sk_u.{name}");
            let member = self.declare(ty, name, &place)?;
            let value = self.member_of(ty, member.value.unwrap_or(place))?;
            let _ = writeln!(self.setup, "    {own} = {value};");
            return Ok(());
        };
        let Symbol::Struct { fields, .. } = &self.tree.symbols[handle] else {
            return Ok(());
        };
        for (i, field) in fields.iter().enumerate() {
            let name = format!("{name}_{}", &self.tree.strings[field.name]);
            self.scatter(self.typer.resolve(field.ty), &name, &format!("{own}.f{i}"))?;
        }
        Ok(())
    }

    /// A block member named `name` and read at `place`.
    fn member(&mut self, ty: Ty, name: &str, place: &str, rules: Rules) -> Result<Member> {
        let made = self.ty(ty)?;
        let with = |declared: String, value: String| Member {
            declared,
            value: Some(value),
            strided: false,
        };
        Ok(match ty {
            // Bools are integers in a block.
            Ty::Scalar(Scalar::Bool) => with(format!("uint {name}"), format!("{place} != 0u")),
            Ty::Vector(Scalar::Bool, n) => with(format!("uvec{n} {name}"), format!("notEqual({place}, uvec{n}(0u))")),
            Ty::Array(array) => {
                let (element, Symbol::Array { count, .. }) = (self.typer.element(array), &self.tree.symbols[array])
                else {
                    return Err(unsupported("an array without elements"));
                };
                let all = |part: &dyn Fn(String) -> String| -> String {
                    let parts: Vec<String> = (0..*count).map(|i| part(format!("{place}[{i}]"))).collect();
                    format!("{made}({})", parts.join(", "))
                };
                let wide = rules == Rules::Std140 && self.portable;
                match element {
                    Ty::Scalar(Scalar::Bool) => {
                        with(format!("uvec4 {name}[{count}]"), all(&|at| format!("({at}.x != 0u)")))
                    }
                    Ty::Vector(Scalar::Bool, n) => with(
                        format!("uvec4 {name}[{count}]"),
                        all(&|at| format!("notEqual({}, uvec{n}(0u))", first(&at, n))),
                    ),
                    // Elements that std140 pads to 16 bytes each, which WGSL requires explicitly.
                    Ty::Scalar(s) if wide => {
                        let of = self.ty(Ty::Vector(s, 4))?;
                        with(format!("{of} {name}[{count}]"), all(&|at| format!("{at}.x")))
                    }
                    Ty::Vector(s, 2) if wide => {
                        let of = self.ty(Ty::Vector(s, 4))?;
                        with(format!("{of} {name}[{count}]"), all(&|at| format!("{at}.xy")))
                    }
                    Ty::Scalar(_) | Ty::Vector(_, 2) if rules == Rules::Std140 => Member {
                        declared: format!("{made} {name}"),
                        value: Some(all(&|at| at)),
                        strided: true,
                    },
                    Ty::Matrix(_, columns, 2) if rules == Rules::Std140 => {
                        let matrix = self.ty(element)?;
                        let columns = u32::from(columns);
                        let whole = (0..u32::try_from(*count).unwrap_or(0)).map(|i| {
                            let parts = (0..columns).map(|c| format!("{place}[{}].xy", i * columns + c));
                            format!("{matrix}({})", parts.collect::<Vec<_>>().join(", "))
                        });
                        let value = format!("{made}({})", whole.collect::<Vec<_>>().join(", "));
                        with(
                            format!("vec4 {name}[{}]", u32::try_from(*count).unwrap_or(0) * columns),
                            value,
                        )
                    }
                    _ => Member {
                        declared: format!("{made} {name}"),
                        value: None,
                        strided: false,
                    },
                }
            }
            // Columns of 16 bytes, as in std140.
            Ty::Matrix(_, columns, 2) if rules == Rules::Std140 => {
                let parts: Vec<String> = (0..columns).map(|c| format!("{place}[{c}].xy")).collect();
                with(
                    format!("vec4 {name}[{columns}]"),
                    format!("{made}({})", parts.join(", ")),
                )
            }
            _ => Member {
                declared: format!("{made} {name}"),
                value: None,
                strided: false,
            },
        })
    }

    /// A two-row matrix, which naga lacks in blocks: its numbers are stored tightly in another shape.
    fn narrow_matrix(&mut self, ty: Ty, columns: u8, name: &str, place: &str) -> Result<Member> {
        let (shape, rows) = match columns {
            2 => ("vec4", 4),
            3 => ("mat2x3", 3),
            _ => ("mat2x4", 4),
        };
        let numbers = (0..2 * columns).map(|i| match shape {
            "vec4" => format!("{place}[{i}]"),
            _ => format!("{place}[{}][{}]", i / rows, i % rows),
        });
        let (made, numbers) = (self.ty(ty)?, numbers.collect::<Vec<_>>().join(", "));
        Ok(Member {
            declared: format!("{shape} {name}"),
            value: Some(format!("{made}({numbers})")),
            strided: false,
        })
    }

    /// A uniform block, or an array of them: then the block's only member is an array of structs, which naga supports;
    /// [`crate::marks`] turns it into an array of blocks.
    pub(super) fn uniform_block(&mut self, variable: Ref, handle: Handle<Symbol>, modifiers: &Modifiers) -> Result<()> {
        let Symbol::Struct { fields, .. } = &self.tree.symbols[handle] else {
            return Ok(());
        };
        let count = match self.typer.variable(variable) {
            Ty::Array(array) => match self.tree.symbols[array] {
                Symbol::Array { count, .. } if count > 0 => Some(count),
                _ => return Err(unsupported("an array of interface blocks without a size")),
            },
            _ => None,
        };
        let (set, binding) = (modifiers.layout.set.max(0), modifiers.layout.binding.max(0));
        let name = self.name(variable);
        let (place, rules) = match modifiers.layout.flags & layout::PUSH_CONSTANT {
            0 => (format!("set = {set}, binding = {binding}"), Rules::Std140),
            _ => ("std430, push_constant".into(), Rules::Std430),
        };
        let mut members = String::new();
        for (i, at) in self.placed(fields, rules)? {
            let Some(i) = i else {
                // Unused floats fill the space before a field.
                let _ = writeln!(members, "    float pad{at};");
                continue;
            };
            let (ty, place) = (self.typer.resolve(fields[i].ty), format!("{name}.f{i}"));
            let member = self.member(ty, &format!("f{i}"), &place, rules)?;
            let _ = writeln!(members, "    {};", member.declared);
            if member.strided {
                continue;
            }
            if member.value.is_some() && count.is_some() {
                let what = "a matrix of two rows, a narrow array or a truth value in an array of interface blocks";
                return Err(unsupported(what));
            }
            if member.value.is_some() {
                let held = self.held(variable, &format!("_f{i}"), ty, place, member.value)?;
                self.fields.insert((variable, i), held);
            }
        }
        self.top += &match count {
            None => format!("layout({place}) uniform {name}_block {{\n{members}}} {name};\n"),
            Some(count) => format!(
                "struct {name}_element {{\n{members}}};\n\
                 layout({place}) uniform {}{name} {{\n    {name}_element all[{count}];\n}} {name};\n",
                BLOCKS
            ),
        };
        let place = match count {
            None => name,
            Some(_) => format!("{name}.all"),
        };
        self.places.insert(variable, Place::Plain(place));
        Ok(())
    }

    /// The fields of a block in offset order, with floats (which have no field) filling the gaps, so that the layout
    /// rules put every field at the program's offset.
    fn placed(&self, fields: &[StructField], rules: Rules) -> Result<Vec<(Option<usize>, u32)>> {
        let mut places = Vec::new();
        let mut end = 0u32;
        for (i, field) in fields.iter().enumerate() {
            let wanted = u32::try_from(field.modifiers.layout.offset).ok();
            let Some((size, align)) = self.extent(self.typer.resolve(field.ty), rules) else {
                // A struct or a block of structs: only the default layout is known to be right.
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

    /// Size and alignment in bytes by the rules; `None` for structs.
    fn extent(&self, ty: Ty, rules: Rules) -> Option<(u32, u32)> {
        let spread = |size: u32, align: u32| match rules {
            Rules::Std140 => 16,
            Rules::Std430 => size.next_multiple_of(align),
        };
        Some(match ty {
            Ty::Scalar(_) => (4, 4),
            Ty::Vector(_, 2) => (8, 8),
            Ty::Vector(_, n) => (4 * u32::from(n), 16),
            Ty::Matrix(_, columns, rows) => {
                let (size, align) = if rows == 2 { (8, 8) } else { (16, 16) };
                let stride = spread(size, align);
                (stride * u32::from(columns), stride)
            }
            Ty::Array(array) => {
                let Symbol::Array { count, .. } = self.tree.symbols[array] else {
                    return None;
                };
                let (size, align) = self.extent(self.typer.element(array), rules)?;
                let align = align.max(spread(4, 4));
                (size.next_multiple_of(align) * u32::try_from(count).ok()?, align)
            }
            _ => return None,
        })
    }
}

/// The first components of a vec4.
fn first(vector: &str, count: u8) -> String {
    format!("{vector}.{}", &"xyzw"[..usize::from(count.min(4))])
}
