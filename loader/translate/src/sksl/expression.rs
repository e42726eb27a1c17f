//! Expressions and calls in GLSL.

use super::glsl::{Around, Glsl, Place, unsupported};
use super::helpers;
use super::walk::root;
use crate::Result;
use loader::sksl::*;
use naga::ShaderStage;

impl Glsl<'_> {
    fn arguments(&mut self, arguments: List<Handle<Expression>>) -> Result<Vec<String>> {
        self.tree
            .list(arguments)
            .map(|argument| self.expression(argument))
            .collect()
    }

    pub(super) fn expression(&mut self, handle: Handle<Expression>) -> Result<String> {
        Ok(match self.tree.expressions[handle] {
            Expression::Binary { left, op, right } => self.binary(left, op, right)?,
            Expression::Bool(value) => value.to_string(),
            Expression::Float { bits, .. } => self.float(bits),
            Expression::Int { ty, bits } => match self.typer.resolve(ty).scalar().map(Scalar::class) {
                Some(2) => self.hidden("uint", format!("{bits}u")),
                _ if bits == 1 << 31 => self.hidden("int", "(-2147483647 - 1)".into()),
                _ if (bits as i32) < 0 => self.hidden("int", format!("({})", bits as i32)),
                _ => self.hidden("int", bits.to_string()),
            },
            Expression::Constructor { ty, arguments, .. } => self.constructor(ty, arguments)?,
            Expression::FieldAccess { base, index, .. } => {
                let text = self.field(base, index)?;
                match self.held_member(handle)? {
                    Some(ty) => self.member_value(ty, text)?,
                    None => text,
                }
            }
            Expression::Call {
                ty,
                function,
                arguments,
            } => self.call(ty, function, arguments)?,
            Expression::Index { base, index } => {
                let held = self.held_member(base)?;
                let text = match (held, tree_field(self.tree, base)) {
                    (Some(_), Some((base, index))) => self.field(base, index)?,
                    _ => self.expression(base)?,
                };
                let part = held.map_or(Ok(""), |ty| self.member_part(ty))?;
                let index = self.expression(index)?;
                // A component of a column is read from its vector: nested parts are never written.
                let text = match self.is_held_column(base)? {
                    true => text.strip_suffix(".xy").unwrap_or(&text).to_owned(),
                    false => text,
                };
                format!("{text}[{index}]{part}")
            }
            Expression::Prefix { op, operand } if op == Operator::MINUS && self.is_matrix(operand) => {
                format!("(-1.0 * {})", self.expression(operand)?)
            }
            Expression::Prefix { op, operand } if op == Operator::MINUS && self.is_unsigned(operand) => {
                // naga cannot negate unsigned integers.
                let ty = self.typer.of(operand);
                let zero = self.ty(ty)?;
                format!("({zero}(0u) - {})", self.expression(operand)?)
            }
            Expression::Prefix { op, operand } => format!("({op}{})", self.expression(operand)?),
            Expression::Postfix { op, operand } => format!("({}{op})", self.expression(operand)?),
            Expression::Setting(name) => return Err(unsupported(format!("the setting {}", &self.tree.strings[name]))),
            Expression::Swizzle {
                base,
                components,
                count,
            } => {
                let text = self.expression(base)?;
                let names = &components[..usize::from(count.min(4))];
                match self.typer.of(base) {
                    // GLSL has no swizzle of a scalar.
                    Ty::Scalar(_) if count == 1 => text,
                    Ty::Scalar(s) => format!("{}({text})", self.ty(Ty::of(s, count))?),
                    // naga cannot write to a swizzle of a matrix column.
                    _ if count == 1 && matches!(self.tree.expressions[base], Expression::Index { .. }) => {
                        let held = self.is_held_column(base)?;
                        let text = text.strip_suffix(".xy").filter(|_| held).unwrap_or(&text);
                        format!("{text}[{}]", components[0] & 3)
                    }
                    _ => format!(
                        "{text}.{}",
                        names
                            .iter()
                            .map(|c| ["x", "y", "z", "w"][usize::from(*c & 3)])
                            .collect::<String>()
                    ),
                }
            }
            Expression::Ternary { test, then, otherwise } => {
                let (test, a, b) = (
                    self.expression(test)?,
                    self.expression(then)?,
                    self.expression(otherwise)?,
                );
                format!("({test} ? {a} : {b})")
            }
            Expression::Variable { variable, .. } => self.variable(variable)?,
        })
    }

    /// A float; infinities and NaN have no literal and are made from their bits.
    fn float(&mut self, bits: u32) -> String {
        let value = f32::from_bits(bits);
        if !value.is_finite() {
            // naga rejects non-finite constants, so the bits come from a call.
            self.helper("sk_hidden_uint", || hidden_text("uint"));
            return format!("uintBitsToFloat(sk_hidden_uint({bits}u))");
        }
        let text = match value.is_sign_negative() {
            true => format!("({value:?})"),
            false => format!("{value:?}"),
        };
        self.hidden("float", text)
    }

    /// A literal, wrapped in a call if literals must be hidden from constant evaluation.
    fn hidden(&mut self, ty: &str, literal: String) -> String {
        if !self.hidden_literals {
            return literal;
        }
        let called = format!("sk_hidden_{ty}");
        self.helper(&called, || hidden_text(ty));
        format!("{called}({literal})")
    }

    fn variable(&mut self, variable: Ref) -> Result<String> {
        let Target::Builtin(name) = variable.target() else {
            return match self.places.get(&variable) {
                Some(Place::Plain(place)) => Ok(place.clone()),
                Some(_) => Err(unsupported(format!("{} as a value", self.plain_name(variable)))),
                None => Ok(self.name(variable)),
            };
        };
        let (name, fragment) = (&self.tree.strings[name], self.stage == ShaderStage::Fragment);
        Ok(match (name, fragment) {
            ("sk_FragCoord", true) => "gl_FragCoord",
            ("sk_Clockwise", true) => "gl_FrontFacing",
            ("sk_FragColor", true) => {
                self.writes_color = true;
                "sk_FragColor"
            }
            ("sk_SecondaryFragColor", true) => {
                self.writes_secondary = true;
                "sk_SecondaryFragColor"
            }
            ("sk_LastFragColor", true) => return Ok(self.last_color()),
            ("sk_VertexID", false) => "int(gl_VertexIndex)",
            ("sk_InstanceID", false) => "int(gl_InstanceIndex)",
            _ => return Err(unsupported(format!("the builtin {name}"))),
        }
        .into())
    }

    fn field(&mut self, base: Handle<Expression>, index: u8) -> Result<String> {
        if let Expression::Variable { variable, .. } = self.tree.expressions[base] {
            if let Target::Builtin(name) = variable.target()
                && &self.tree.strings[name] == "sk_PerVertex"
                && self.stage == ShaderStage::Vertex
            {
                return Ok(["gl_Position", "gl_PointSize"][usize::from(index.min(1))].into());
            }
            if let Some(held) = self.fields.get(&(variable, usize::from(index))) {
                return Ok(held.clone());
            }
            if let Some(Place::Fields(prefix)) = self.places.get(&variable) {
                return Ok(format!("{prefix}_f{index}"));
            }
        }
        Ok(format!("{}.f{index}", self.expression(base)?))
    }

    pub(super) fn binary(
        &mut self,
        left: Handle<Expression>,
        op: Operator,
        right: Handle<Expression>,
    ) -> Result<String> {
        let ty = self.typer.of(left);
        if op.is_assignment()
            && let (Some(held), Some((base, index))) = (self.held_member(left)?, tree_field(self.tree, left))
        {
            let (member, mut value) = (self.field(base, index)?, self.expression(right)?);
            if let Some(op) = op.without_assignment() {
                value = format!("({} {op} {value})", self.member_value(held, member.clone())?);
            }
            return Ok(format!("{member} = {}", self.member_of(held, value)?));
        }
        let (l, r) = (self.expression(left)?, self.expression(right)?);
        if matches!(op, Operator::EQ | Operator::NE) && matches!(ty, Ty::Array(_) | Ty::Struct(_) | Ty::Matrix(..)) {
            let sign = if op == Operator::EQ { "" } else { "!" };
            return Ok(format!("({sign}{}({l}, {r}))", self.equality(ty)?));
        }
        if op == Operator::NE && ty.scalar().is_some_and(|s| s.class() == 0) {
            // NaN differs from everything; naga's float comparison disagrees.
            return Ok(format!("(!({l} == {r}))"));
        }
        // naga always evaluates both operands of these, but only one branch of a conditional.
        if self.has_effects(right) {
            match op {
                Operator::AND => return Ok(format!("({l} ? {r} : false)")),
                Operator::OR => return Ok(format!("({l} ? true : {r})")),
                _ => {}
            }
        }
        Ok(format!("({l} {op} {r})"))
    }

    /// The function that compares two values of a type; GLSL has one for scalars and vectors.
    fn equality(&mut self, ty: Ty) -> Result<String> {
        let spelled = self.ty(ty)?;
        let name = format!("sk_equal_{}", self.letters(ty)?);
        if self.helpers.iter().any(|(known, _)| *known == name) {
            return Ok(name);
        }
        let tree = self.tree;
        let parts: Vec<(String, Ty)> = match ty {
            Ty::Array(array) => match tree.symbols[array] {
                Symbol::Array { count, .. } => (0..count.max(0))
                    .map(|i| (format!("[{i}]"), self.typer.element(array)))
                    .collect(),
                _ => Vec::new(),
            },
            Ty::Struct(handle) => match &tree.symbols[handle] {
                Symbol::Struct { fields, .. } => {
                    let all = fields.iter().enumerate();
                    all.map(|(i, field)| (format!(".f{i}"), self.typer.resolve(field.ty)))
                        .collect()
                }
                _ => Vec::new(),
            },
            Ty::Matrix(s, columns, rows) => (0..columns).map(|i| (format!("[{i}]"), Ty::Vector(s, rows))).collect(),
            _ => Vec::new(),
        };
        let mut tests = Vec::new();
        let is_struct = matches!(ty, Ty::Struct(_));
        for (part, ty) in parts {
            tests.push(match ty {
                Ty::Array(_) | Ty::Matrix(..) if is_struct => {
                    let a = self.member_value(ty, format!("a{part}"))?;
                    let b = self.member_value(ty, format!("b{part}"))?;
                    format!("{}({a}, {b})", self.equality(ty)?)
                }
                Ty::Array(_) | Ty::Struct(_) | Ty::Matrix(..) => format!("{}(a{part}, b{part})", self.equality(ty)?),
                _ => format!("a{part} == b{part}"),
            });
        }
        let text = format!(
            "bool {name}({spelled} a, {spelled} b) {{ return {}; }}\n",
            tests.join(" && ")
        );
        self.helpers.push((name.clone(), text));
        Ok(name)
    }

    /// The text of all used helpers, each defined before its use.
    pub(super) fn helper_text(&self) -> String {
        self.helpers.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// Adds a helper function once.
    pub(super) fn helper(&mut self, called: &str, text: impl FnOnce() -> String) {
        if !self.helpers.iter().any(|(known, _)| known == called) {
            self.helpers.push((called.to_owned(), text()));
        }
    }

    fn is_matrix(&mut self, expression: Handle<Expression>) -> bool {
        matches!(self.typer.of(expression), Ty::Matrix(..))
    }

    fn is_unsigned(&mut self, expression: Handle<Expression>) -> bool {
        self.typer.of(expression).scalar().is_some_and(|s| s.class() == 2)
    }

    fn constructor(&mut self, ty: Ref, arguments: List<Handle<Expression>>) -> Result<String> {
        let tree = self.tree;
        let made = self.typer.resolve(ty);
        let types: Vec<Ty> = tree.list(arguments).map(|a| self.typer.of(a)).collect();
        let spelled = self.ty(made)?;
        let mut values = self.arguments(arguments)?;
        if matches!(made, Ty::Struct(_)) {
            for (value, ty) in values.iter_mut().zip(&types) {
                *value = self.member_of(*ty, std::mem::take(value))?;
            }
        }
        let values = values.join(", ");
        if let (Ty::Array(to), [Ty::Array(from)]) = (made, &types[..])
            && !matches!(self.typer.element(to), Ty::Array(_))
            && self.typer.element(*from).scalar().is_some()
        {
            return self.array_cast(to, *from, &values);
        }
        // naga requires scalars where GLSL accepts vectors and matrices.
        let is_matrix = |ty: &Ty| matches!(ty, Ty::Matrix(..));
        let apart = (is_matrix(&made) && types.len() > 1 || types.iter().any(is_matrix) || is_matrix(&made))
            && made.scalar().is_some()
            && types.iter().all(|ty| ty.scalar().is_some())
            && types.iter().map(|ty| ty.slots()).sum::<u32>() == made.slots()
            && types.iter().any(|ty| ty.slots() > 1)
            && !(types.len() == 1 && is_matrix(&types[0]) && is_matrix(&made));
        if !apart {
            return Ok(format!("{spelled}({values})"));
        }
        let (mut name, mut parameters, mut parts) = (format!("sk_make_{spelled}"), Vec::new(), Vec::new());
        for (i, ty) in types.iter().enumerate() {
            let of = self.ty(*ty)?;
            name += &format!("_{of}");
            parameters.push(format!("{of} a{i}"));
            match *ty {
                Ty::Vector(_, n) => parts.extend((0..n).map(|c| format!("a{i}[{c}]"))),
                Ty::Matrix(_, columns, rows) => {
                    parts.extend((0..columns * rows).map(|k| format!("a{i}[{}][{}]", k / rows, k % rows)));
                }
                _ => parts.push(format!("a{i}")),
            }
        }
        self.helper(&name, || {
            let component = if matches!(made, Ty::Matrix(..)) { "float" } else { "" };
            let parts: Vec<String> = parts.iter().map(|part| format!("{component}({part})")).collect();
            format!(
                "{spelled} {name}({}) {{ return {spelled}({}); }}\n",
                parameters.join(", "),
                parts.join(", ")
            )
        });
        Ok(format!("{name}({values})"))
    }

    /// An array whose elements differ in precision (which has no effect here) or class.
    fn array_cast(&mut self, to: Handle<Symbol>, from: Handle<Symbol>, value: &str) -> Result<String> {
        let (a, b) = (self.ty(Ty::Array(to))?, self.ty(Ty::Array(from))?);
        if a == b {
            return Ok(value.to_owned());
        }
        let Symbol::Array { count, .. } = self.tree.symbols[to] else {
            return Ok(value.to_owned());
        };
        let element = self.ty(self.typer.element(to))?;
        let letters = format!("{a}_{b}").replace(['[', ']'], "_");
        let name = format!("sk_cast_{letters}");
        self.helper(&name, || {
            let all: Vec<String> = (0..count).map(|i| format!("{element}(a[{i}])")).collect();
            format!("{a} {name}({b} a) {{ return {a}({}); }}\n", all.join(", "))
        });
        Ok(format!("{name}({value})"))
    }

    fn call(&mut self, ty: Ref, function: Ref, arguments: List<Handle<Expression>>) -> Result<String> {
        let tree = self.tree;
        let around = self.around.take();
        let own = match function.target() {
            Target::Builtin(name) => self.shared(&tree.strings[name], arguments),
            _ => Some(function),
        };
        if let Some(own) = own {
            let written = match tree.symbol(own) {
                Some(Symbol::Function { parameters, .. }) => {
                    let all = tree.list(*parameters).map(|parameter| match tree.symbol(parameter) {
                        Some(Symbol::Variable { modifiers, .. }) => modifiers.flags & modifier::OUT != 0,
                        _ => false,
                    });
                    all.collect()
                }
                _ => Vec::new(),
            };
            let values = self.passed(arguments, &written, around)?;
            return Ok(format!("{}({values})", self.name(own)));
        }
        let Target::Builtin(name) = function.target() else {
            return Err(unsupported("a call without a function"));
        };
        let name = &tree.strings[name];
        match name {
            "sample" => return self.sample(arguments),
            "subpassLoad" => return self.subpass_load(arguments),
            "textureSize" => return self.texture_size(arguments),
            "outerProduct" => return self.outer_product(ty, arguments),
            _ => {}
        }
        let first = tree.list(arguments).next().map(|a| self.typer.of(a));
        if let Some(ty) = first.filter(|ty| ty.scalar().is_some()) {
            let scalar = matches!(ty, Ty::Scalar(_));
            if let Some((called, text)) = helpers::spelled(name, &self.ty(ty)?, scalar) {
                self.helper(&called, || text);
                let values = self.passed(arguments, &[false, matches!(name, "modf" | "frexp")], around)?;
                return Ok(format!("{called}({values})"));
            }
        }
        if !helpers::is_shared(name) {
            return Err(unsupported(format!("the function {name}")));
        }
        Ok(format!("{name}({})", self.arguments(arguments)?.join(", ")))
    }

    /// Arguments of a call. naga cannot pass a part of a vector (or of a struct) by reference, so such an argument is a
    /// copy that is written back after the statement; this works only if the call is the statement or its value.
    fn passed(
        &mut self,
        arguments: List<Handle<Expression>>,
        written: &[bool],
        around: Option<Around>,
    ) -> Result<String> {
        let tree = self.tree;
        let (mut around, mut texts) = (around, Vec::new());
        // naga also does not separate two arguments that alias one variable.
        let all = tree.list(arguments).enumerate();
        let roots: Vec<_> = all
            .filter(|(i, _)| written.get(*i) == Some(&true))
            .map(|(_, argument)| root(tree, argument))
            .collect();
        for (i, argument) in tree.list(arguments).enumerate() {
            if let Some(both) = self.texture_and_sampler(argument)? {
                texts.push(both);
                continue;
            }
            let text = self.expression(argument)?;
            let own = root(tree, argument);
            let shared = roots.iter().filter(|other| **other == own).count() > 1;
            let held = self.held_member(argument)?;
            let must = shared || held.is_some() || self.is_through_vector(argument);
            let whole = matches!(tree.expressions[argument], Expression::Variable { .. });
            let around = match &mut around {
                Some(around) if written.get(i) == Some(&true) && (must || !whole) => around,
                None if written.get(i) == Some(&true) && must => {
                    return Err(unsupported(
                        "an out argument that is part of a vector, or occurs twice, inside an expression",
                    ));
                }
                _ => {
                    texts.push(text);
                    continue;
                }
            };
            let (copy, ty) = (format!("sk_copy{}", self.next_copy), self.typer.of(argument));
            self.next_copy += 1;
            around.before += &format!("{} {copy} = {text};\n", self.ty(ty)?);
            if let Expression::Swizzle {
                base,
                components,
                count: count @ 2..,
            } = tree.expressions[argument]
            {
                let base = self.expression(base)?;
                for (i, component) in components.iter().enumerate().take(usize::from(count)) {
                    around.behind += &format!("\n{base}[{component}] = {copy}[{i}];");
                }
            } else if let (Some(ty), Some((base, index))) = (held, tree_field(tree, argument)) {
                let (member, value) = (self.field(base, index)?, self.member_of(ty, copy.clone())?);
                around.behind += &format!("\n{member} = {value};");
            } else {
                around.behind += &format!("\n{text} = {copy};");
            }
            texts.push(copy);
        }
        self.around = around;
        Ok(texts.join(", "))
    }

    /// Whether an expression is a column of a struct's matrix that is stored in another shape.
    fn is_held_column(&mut self, expression: Handle<Expression>) -> Result<bool> {
        let Expression::Index { base, .. } = self.tree.expressions[expression] else {
            return Ok(false);
        };
        Ok(self.held_member(base)?.is_some())
    }

    /// Whether an l-value is a component, a swizzle, or a column of a matrix.
    fn is_through_vector(&mut self, argument: Handle<Expression>) -> bool {
        match self.tree.expressions[argument] {
            Expression::Swizzle { .. } => true,
            Expression::Index { base, .. } => self.typer.of(base).scalar().is_some(),
            _ => false,
        }
    }

    /// naga has it only for vectors of one size.
    fn outer_product(&mut self, ty: Ref, arguments: List<Handle<Expression>>) -> Result<String> {
        let (made, values) = (self.typer.resolve(ty), self.arguments(arguments)?.join(", "));
        let Ty::Matrix(_, columns, rows) = made else {
            return Err(unsupported("the function outerProduct"));
        };
        let (spelled, name) = (self.ty(made)?, format!("sk_outerProduct_{columns}x{rows}"));
        self.helper(&name, || {
            let all: Vec<String> = (0..columns).map(|c| format!("a * b[{c}]")).collect();
            let parameters = format!("vec{rows} a, vec{columns} b");
            format!(
                "{spelled} {name}({parameters}) {{ return {spelled}({}); }}\n",
                all.join(", ")
            )
        });
        Ok(format!("{name}({values})"))
    }

    /// A module function contained in the file; calls use its name like any other built-in.
    pub(super) fn shared(&mut self, name: &str, arguments: List<Handle<Expression>>) -> Option<Ref> {
        let tree = self.tree;
        let types: Vec<Ty> = tree.list(arguments).map(|a| self.typer.of(a)).collect();
        tree.list(tree.top).find_map(|element| {
            let Element::Shared { declaration, .. } = tree.elements[element] else {
                return None;
            };
            let Some(Symbol::Function { parameters, .. }) = tree.symbol(declaration) else {
                return None;
            };
            let same = self.plain_name(declaration) == name
                && parameters.len() == types.len()
                && tree.list(*parameters).zip(&types).all(|(parameter, ty)| {
                    let wanted = self.typer.variable(parameter);
                    match (wanted.scalar(), ty.scalar()) {
                        (Some(a), Some(b)) => a.class() == b.class() && ty.with_scalar(a) == wanted,
                        _ => true,
                    }
                });
            same.then_some(declaration)
        })
    }
}

/// Base and index of a field access.
fn tree_field(tree: &Tree, expression: Handle<Expression>) -> Option<(Handle<Expression>, u8)> {
    match tree.expressions[expression] {
        Expression::FieldAccess { base, index, .. } => Some((base, index)),
        _ => None,
    }
}

/// A function that returns its argument.
fn hidden_text(ty: &str) -> String {
    format!("{ty} sk_hidden_{ty}({ty} x) {{ return x; }}\n")
}
