//! Expressions and calls in GLSL.

use super::glsl::Glsl;
use super::interface::Place;
use super::{helpers, unsupported};
use loader::Result;
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
            Expression::Float { bits, .. } => {
                let value = f32::from_bits(bits);
                if !value.is_finite() {
                    return Err(unsupported("a literal that is not finite"));
                }
                if value.is_sign_negative() {
                    format!("({value:?})")
                } else {
                    format!("{value:?}")
                }
            }
            Expression::Int { ty, bits } => match self.typer.resolve(ty).scalar().map(Scalar::class) {
                Some(2) => format!("{bits}u"),
                _ if bits == 1 << 31 => "(-2147483647 - 1)".into(),
                _ if (bits as i32) < 0 => format!("({})", bits as i32),
                _ => bits.to_string(),
            },
            Expression::Constructor { ty, arguments, .. } => {
                let ty = self.reference(ty)?;
                format!("{ty}({})", self.arguments(arguments)?.join(", "))
            }
            Expression::FieldAccess { base, index, .. } => self.field(base, index)?,
            Expression::Call {
                function, arguments, ..
            } => self.call(function, arguments)?,
            Expression::Index { base, index } => {
                let (base, index) = (self.expression(base)?, self.expression(index)?);
                format!("{base}[{index}]")
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
                    // GLSL has no swizzle of a number.
                    Ty::Scalar(_) if count == 1 => text,
                    Ty::Scalar(s) => format!("{}({text})", self.ty(Ty::of(s, count))?),
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
            if let Some(Place::Fields(prefix)) = self.places.get(&variable) {
                return Ok(format!("{prefix}_f{index}"));
            }
        }
        Ok(format!("{}.f{index}", self.expression(base)?))
    }

    fn binary(&mut self, left: Handle<Expression>, op: Operator, right: Handle<Expression>) -> Result<String> {
        let ty = self.typer.of(left);
        let (l, r) = (self.expression(left)?, self.expression(right)?);
        if matches!(op, Operator::EQ | Operator::NE) && matches!(ty, Ty::Array(_) | Ty::Struct(_) | Ty::Matrix(..)) {
            let sign = if op == Operator::EQ { "" } else { "!" };
            return Ok(format!("({sign}{}({l}, {r}))", self.equality(ty)?));
        }
        // A matrix and a number: GLSL and naga agree on products and quotients only.
        Ok(format!("({l} {op} {r})"))
    }

    /// The function that compares two values of a type, which GLSL has for numbers and vectors.
    fn equality(&mut self, ty: Ty) -> Result<String> {
        let spelled = self.ty(ty)?;
        let letters = spelled.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
        let name = format!("sk_equal_{}", letters.collect::<String>());
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
        for (part, ty) in parts {
            tests.push(match ty {
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

    /// Texts of all helpers used, in an order in which each is defined before it is used.
    pub(super) fn helper_text(&self) -> String {
        self.helpers.iter().map(|(_, text)| text.as_str()).collect()
    }

    fn call(&mut self, function: Ref, arguments: List<Handle<Expression>>) -> Result<String> {
        let Target::Builtin(name) = function.target() else {
            return Ok(format!(
                "{}({})",
                self.name(function),
                self.arguments(arguments)?.join(", ")
            ));
        };
        let name = &self.tree.strings[name];
        if let Some(shared) = self.shared(name, arguments) {
            return Ok(format!(
                "{}({})",
                self.name(shared),
                self.arguments(arguments)?.join(", ")
            ));
        }
        if name == "sample" {
            return self.sample(arguments);
        }
        let first = self.tree.list(arguments).next().map(|a| self.typer.of(a));
        if let Some(ty) = first.filter(|ty| ty.scalar().is_some()) {
            let scalar = matches!(ty, Ty::Scalar(_));
            if let Some((called, text)) = helpers::spelled(name, &self.ty(ty)?, scalar) {
                if !self.helpers.iter().any(|(known, _)| *known == called) {
                    self.helpers.push((called.clone(), text));
                }
                return Ok(format!("{called}({})", self.arguments(arguments)?.join(", ")));
            }
        }
        if !helpers::is_shared(name) {
            return Err(unsupported(format!("the function {name}")));
        }
        Ok(format!("{name}({})", self.arguments(arguments)?.join(", ")))
    }

    /// A function of a module that the file holds itself: calls name it like any other builtin.
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

    /// `sample(sampler, coordinates, bias)`; one coordinate more than the texture has is a divisor.
    fn sample(&mut self, arguments: List<Handle<Expression>>) -> Result<String> {
        let tree = self.tree;
        let all: Vec<_> = tree.list(arguments).collect();
        let [sampler, at, bias @ ..] = &all[..] else {
            return Err(unsupported("sample with fewer than two arguments"));
        };
        let place = match tree.expressions[*sampler] {
            Expression::Variable { variable, .. } => self.places.get(&variable),
            _ => None,
        };
        let Some(Place::Sampler(texture, sampler)) = place else {
            return Err(unsupported("a sampler that is no uniform"));
        };
        let Some((ty, texture)) = texture.split_once(' ') else {
            return Err(unsupported("a sampler without a texture"));
        };
        let dimensions = match ty {
            "texture1D" => 1,
            "texture3D" => 3,
            _ => 2,
        };
        let combined = format!("{}({texture}, {sampler})", ty.replace("texture", "sampler"));
        let projected = self.typer.of(*at).slots() > dimensions;
        let at = self.expression(*at)?;
        let bias = match bias {
            [bias, ..] => format!(", {}", self.expression(*bias)?),
            [] => String::new(),
        };
        let function = if projected { "textureProj" } else { "texture" };
        Ok(format!("{function}({combined}, {at}{bias})"))
    }

    /// Every function that a statement calls, in order.
    pub(super) fn calls_of_statement(&mut self, statement: Handle<Statement>, found: &mut Vec<Ref>) {
        let tree = self.tree;
        let (mut statements, mut expressions) = (Vec::new(), Vec::new());
        match tree.statements[statement] {
            Statement::Block { statements: all, .. } => statements.extend(tree.list(all)),
            Statement::Break | Statement::Continue | Statement::Discard | Statement::Nop => {}
            Statement::Do { body, test } => (statements.push(body), expressions.push(test)).0,
            Statement::Expression(expression) => expressions.push(expression),
            Statement::For {
                initializer,
                test,
                next,
                body,
                ..
            } => {
                statements.extend(initializer);
                statements.push(body);
                expressions.extend(test.into_iter().chain(next));
            }
            Statement::If {
                test, then, otherwise, ..
            } => {
                expressions.push(test);
                statements.push(then);
                statements.extend(otherwise);
            }
            Statement::Return(value) => expressions.extend(value),
            Statement::Switch { value, cases, .. } => {
                expressions.push(value);
                statements.extend(tree.list(cases).map(|case| tree.cases[case].body));
            }
            Statement::Variable { value, .. } => expressions.extend(value),
        }
        expressions
            .into_iter()
            .for_each(|expression| self.calls(expression, found));
        statements
            .into_iter()
            .for_each(|statement| self.calls_of_statement(statement, found));
    }

    fn calls(&mut self, expression: Handle<Expression>, found: &mut Vec<Ref>) {
        let tree = self.tree;
        let mut parts = Vec::new();
        match tree.expressions[expression] {
            Expression::Binary { left, right, .. } => parts.extend([left, right]),
            Expression::Constructor { arguments, .. } => parts.extend(tree.list(arguments)),
            Expression::Call {
                function, arguments, ..
            } => {
                parts.extend(tree.list(arguments));
                let target = match function.target() {
                    Target::Builtin(name) => self.shared(&tree.strings[name], arguments),
                    _ => Some(function),
                };
                found.extend(target);
            }
            Expression::FieldAccess { base, .. } | Expression::Swizzle { base, .. } => parts.push(base),
            Expression::Index { base, index } => parts.extend([base, index]),
            Expression::Prefix { operand, .. } | Expression::Postfix { operand, .. } => parts.push(operand),
            Expression::Ternary { test, then, otherwise } => parts.extend([test, then, otherwise]),
            Expression::Bool(_)
            | Expression::Float { .. }
            | Expression::Int { .. }
            | Expression::Setting(_)
            | Expression::Variable { .. } => {}
        }
        parts.into_iter().for_each(|part| self.calls(part, found));
    }
}
