//! Prints a [`Tree`] as Skia prints a program.

use super::enums::*;
use super::tree::*;
use super::types::{Ty, Typer};
use std::fmt::Write;

/// The program's text, with nothing folded or dropped. Source of the form: docs/spec/sksl.md,
/// section 9.
///
/// # Errors
/// If the tree cannot be [written](super::write()), which limits its depth.
pub fn print(tree: &Tree) -> crate::Result<String> {
    super::write(tree)?;
    let mut printer = Printer {
        tree,
        typer: Typer::new(tree),
        out: String::with_capacity(tree.expressions.len() * 12),
    };
    if let Header::Program { kind, version, .. } = tree.header
        && kind >= ProgramKind::RUNTIME_COLOR_FILTER
    {
        let _ = writeln!(printer.out, "#version {version}");
    }
    for element in tree.list(tree.top) {
        printer.element(element);
    }
    Ok(printer.out)
}

/// A declaration on one line: a function's result, name and parameters, or a variable's modifiers, type and name.
/// `None` for other symbols.
pub(super) fn declared(tree: &Tree, symbol: &Symbol) -> Option<String> {
    let mut printer = Printer {
        tree,
        typer: Typer::new(tree),
        out: String::new(),
    };
    match symbol {
        Symbol::Function { .. } => printer.signature(symbol),
        Symbol::Variable {
            modifiers, name, ty, ..
        } => {
            printer.modifiers(modifiers);
            printer.ty(*ty);
            printer.out += " ";
            printer.str(*name);
        }
        _ => return None,
    }
    Some(printer.out)
}

struct Printer<'a> {
    tree: &'a Tree,
    typer: Typer<'a>,
    out: String,
}

/// Flags in print order; in and out come between `uniform` and `highp`.
const FLAGS: [(u32, &str); 13] = [
    (modifier::ES3, "$es3 "),
    (modifier::HAS_SIDE_EFFECTS, "sk_has_side_effects "),
    (modifier::NO_INLINE, "noinline "),
    (modifier::FLAT, "flat "),
    (modifier::NO_PERSPECTIVE, "noperspective "),
    (modifier::CONST, "const "),
    (modifier::UNIFORM, "uniform "),
    (modifier::IN | modifier::OUT, "inout "),
    (modifier::IN, "in "),
    (modifier::OUT, "out "),
    (modifier::HIGHP, "highp "),
    (modifier::MEDIUMP, "mediump "),
    (modifier::LOWP, "lowp "),
];

impl Printer<'_> {
    fn str(&mut self, s: Str) {
        self.out += &self.tree.strings[s];
    }

    fn modifiers(&mut self, modifiers: &Modifiers) {
        self.layout(&modifiers.layout);
        let mut left = modifiers.flags;
        for (flag, text) in FLAGS {
            if left & flag == flag {
                self.out += text;
                left &= !flag;
            }
        }
    }

    fn layout(&mut self, l: &Layout) {
        let values = [
            ("location", i32::from(l.location)),
            ("offset", l.offset.into()),
            ("binding", l.binding.into()),
            ("index", l.index.into()),
            ("set", l.set.into()),
            ("builtin", l.builtin.into()),
            ("input_attachment_index", l.input_attachment_index.into()),
        ];
        let flags = [
            (layout::ORIGIN_UPPER_LEFT, "origin_upper_left"),
            (layout::BLEND_SUPPORT_ALL_EQUATIONS, "blend_support_all_equations"),
            (layout::PUSH_CONSTANT, "push_constant"),
            (layout::COLOR, "color"),
        ];
        let valued = values
            .iter()
            .filter(|(_, value)| *value >= 0)
            .map(|(name, value)| format!("{name} = {value}"));
        let set = flags
            .iter()
            .filter(|(flag, _)| l.flags & flag != 0)
            .map(|(_, name)| (*name).to_owned());
        let all: Vec<String> = valued.chain(set).collect();
        if !all.is_empty() {
            let _ = write!(self.out, "layout ({})", all.join(", "));
        }
    }

    fn ty(&mut self, reference: Ref) {
        match reference.target() {
            Target::None => self.out += "?",
            Target::Builtin(name) => match &self.tree.strings[name] {
                "$floatLiteral" => self.out += "float",
                "$intLiteral" => self.out += "int",
                name => self.out += name,
            },
            Target::Symbol(handle) => match &self.tree.symbols[handle] {
                Symbol::Array { component, count } => {
                    self.ty(*component);
                    let _ = match count {
                        -1 => write!(self.out, "[]"),
                        n => write!(self.out, "[{n}]"),
                    };
                }
                Symbol::Struct { name, .. } => self.str(*name),
                _ => self.out += "?",
            },
        }
    }

    /// Name of a variable or function.
    fn name(&mut self, reference: Ref) {
        match reference.target() {
            Target::None => self.out += "?",
            Target::Builtin(name) => self.str(name),
            Target::Symbol(handle) => match &self.tree.symbols[handle] {
                Symbol::Function { name, .. } | Symbol::Variable { name, .. } | Symbol::Struct { name, .. } => {
                    self.str(*name);
                }
                Symbol::Overloads { functions } => {
                    let first = self.tree.list(*functions).next();
                    first.into_iter().for_each(|first| self.name(first));
                }
                _ => self.out += "?",
            },
        }
    }

    /// A struct's fields are printed with their layouts, a block's without.
    fn fields(&mut self, ty: Ref, with_modifiers: bool, after: &str) {
        let mut ty = ty;
        while let Some(Symbol::Array { component, .. }) = self.tree.symbol(ty) {
            ty = *component;
        }
        if let Some(Symbol::Struct { fields, .. }) = self.tree.symbol(ty) {
            for field in fields {
                if with_modifiers {
                    self.modifiers(&field.modifiers);
                }
                self.ty(field.ty);
                self.out += " ";
                self.str(field.name);
                self.out += after;
            }
        }
    }

    /// Return type, name and parameters: Skia prints no modifiers here, `inout` included.
    fn declaration(&mut self, function: Ref) {
        if let Some(symbol) = self.tree.symbol(function) {
            self.signature(symbol);
        }
    }

    fn signature(&mut self, function: &Symbol) {
        let Symbol::Function {
            name,
            parameters,
            returns,
            ..
        } = function
        else {
            return;
        };
        self.ty(*returns);
        self.out += " ";
        self.str(*name);
        self.out += "(";
        for (i, parameter) in self.tree.list(*parameters).enumerate() {
            if i > 0 {
                self.out += ", ";
            }
            if let Some(Symbol::Variable { name, ty, .. }) = self.tree.symbol(parameter) {
                self.ty(*ty);
                self.out += " ";
                self.str(*name);
            }
        }
        self.out += ")";
    }

    fn element(&mut self, element: Handle<Element>) {
        match self.tree.elements[element] {
            Element::Function { declaration, body } => {
                self.declaration(declaration);
                self.out += " ";
                self.statement(body);
            }
            Element::Prototype { declaration } => {
                self.declaration(declaration);
                self.out += ";";
            }
            Element::Global { declaration } => self.statement(declaration),
            Element::InterfaceBlock {
                variable,
                type_name,
                instance_name,
                array_size,
            } => {
                let Some(Symbol::Variable { modifiers, ty, .. }) = self.tree.symbol(variable) else {
                    return;
                };
                self.modifiers(modifiers);
                self.str(type_name);
                self.out += " {\n";
                self.fields(*ty, false, ";\n");
                self.out += "}";
                if !self.tree.strings[instance_name].is_empty() {
                    self.out += " ";
                    self.str(instance_name);
                    if array_size > 0 {
                        let _ = write!(self.out, "[{array_size}]");
                    }
                }
                self.out += ";";
            }
            Element::Struct { ty } => {
                self.out += "struct ";
                self.ty(ty);
                self.out += " { ";
                self.fields(ty, true, "; ");
                self.out += "};";
            }
            Element::Shared { definition, .. } => self.element(definition),
        }
    }

    fn is_empty(&self, statement: Handle<Statement>) -> bool {
        match self.tree.statements[statement] {
            Statement::Nop => true,
            Statement::Block { statements, .. } => self.tree.list(statements).all(|s| self.is_empty(s)),
            _ => false,
        }
    }

    fn statement(&mut self, handle: Handle<Statement>) {
        match self.tree.statements[handle] {
            Statement::Block { statements, kind, .. } => {
                let braces = kind == BlockKind::BRACED || self.is_empty(handle);
                self.out += if braces { "{" } else { "" };
                for statement in self.tree.list(statements) {
                    self.out += "\n";
                    self.statement(statement);
                }
                self.out += if braces { "\n}\n" } else { "\n" };
            }
            Statement::Break => self.out += "break;",
            Statement::Continue => self.out += "continue;",
            Statement::Discard => self.out += "discard;",
            Statement::Nop => self.out += ";",
            Statement::Do { body, test } => {
                self.out += "do ";
                self.statement(body);
                self.out += " while (";
                self.expression(test);
                self.out += ");";
            }
            Statement::Expression(expression) => {
                self.expression(expression);
                self.out += ";";
            }
            Statement::For {
                initializer,
                test,
                next,
                body,
                ..
            } => {
                self.out += "for (";
                match initializer {
                    Some(initializer) => self.statement(initializer),
                    None => self.out += ";",
                }
                self.out += " ";
                test.into_iter().for_each(|test| self.expression(test));
                self.out += "; ";
                next.into_iter().for_each(|next| self.expression(next));
                self.out += ") ";
                self.statement(body);
            }
            Statement::If {
                is_static,
                test,
                then,
                otherwise,
            } => {
                self.out += if is_static { "@if (" } else { "if (" };
                self.expression(test);
                self.out += ") ";
                self.statement(then);
                if let Some(otherwise) = otherwise {
                    self.out += " else ";
                    self.statement(otherwise);
                }
            }
            Statement::Return(None) => self.out += "return;",
            Statement::Return(Some(value)) => {
                self.out += "return ";
                self.expression(value);
                self.out += ";";
            }
            Statement::Switch {
                is_static,
                value,
                cases,
                ..
            } => {
                self.out += if is_static { "@switch (" } else { "switch (" };
                self.expression(value);
                self.out += ") {\n";
                for case in self.tree.list(cases) {
                    let Case { value, body } = self.tree.cases[case];
                    let _ = match value {
                        Some(value) => writeln!(self.out, "case {value}:"),
                        None => writeln!(self.out, "default:"),
                    };
                    self.statement(body);
                }
                self.out += "}";
            }
            Statement::Variable {
                variable,
                base_type,
                array_size,
                value,
            } => {
                if let Some(Symbol::Variable { modifiers, .. }) = self.tree.symbol(variable) {
                    self.modifiers(modifiers);
                }
                self.ty(base_type);
                self.out += " ";
                self.name(variable);
                if array_size > 0 {
                    let _ = write!(self.out, "[{array_size}]");
                }
                if let Some(value) = value {
                    self.out += " = ";
                    self.expression(value);
                }
                self.out += ";";
            }
        }
    }

    fn arguments(&mut self, arguments: List<Handle<Expression>>) {
        self.out += "(";
        for (i, argument) in self.tree.list(arguments).enumerate() {
            if i > 0 {
                self.out += ", ";
            }
            self.expression(argument);
        }
        self.out += ")";
    }

    /// The operator with the spaces between operands; prefix `+` and `-` keep them.
    fn operator(&mut self, op: Operator) {
        let _ = match op {
            Operator::NOT | Operator::BIT_NOT | Operator::INCREMENT | Operator::DECREMENT => write!(self.out, "{op}"),
            Operator::COMMA => write!(self.out, ", "),
            _ => write!(self.out, " {op} "),
        };
    }

    fn expression(&mut self, handle: Handle<Expression>) {
        match self.tree.expressions[handle] {
            Expression::Binary { left, op, right } => {
                self.out += "(";
                self.expression(left);
                self.operator(op);
                self.expression(right);
                self.out += ")";
            }
            Expression::Bool(value) => self.out += if value { "true" } else { "false" },
            Expression::Float { bits, .. } => self.out += &float(f32::from_bits(bits)),
            Expression::Int { ty, bits } => {
                let unsigned = matches!(self.typer.resolve(ty).scalar(), Some(s) if s.class() == 2);
                let _ = match unsigned {
                    true => write!(self.out, "{bits}"),
                    false => write!(self.out, "{}", bits as i32),
                };
            }
            Expression::Constructor { ty, arguments, .. } => {
                self.ty(ty);
                self.arguments(arguments);
            }
            Expression::FieldAccess { base, index, .. } => self.field_access(base, index),
            Expression::Call {
                function, arguments, ..
            } => {
                self.name(function);
                self.arguments(arguments);
            }
            Expression::Index { base, index } => {
                self.expression(base);
                self.out += "[";
                self.expression(index);
                self.out += "]";
            }
            Expression::Prefix { op, operand } => {
                self.operator(op);
                self.expression(operand);
            }
            Expression::Postfix { op, operand } => {
                self.expression(operand);
                self.operator(op);
            }
            Expression::Setting(name) => self.str(name),
            Expression::Swizzle {
                base,
                components,
                count,
            } => {
                self.expression(base);
                self.out += ".";
                for component in &components[..usize::from(count.min(4))] {
                    self.out += ["x", "y", "z", "w"].get(usize::from(*component)).unwrap_or(&"?");
                }
            }
            Expression::Ternary { test, then, otherwise } => {
                self.out += "(";
                self.expression(test);
                self.out += " ? ";
                self.expression(then);
                self.out += " : ";
                self.expression(otherwise);
                self.out += ")";
            }
            Expression::Variable { variable, .. } => self.name(variable),
        }
    }

    fn field_access(&mut self, base: Handle<Expression>, index: u8) {
        let before = self.out.len();
        self.expression(base);
        if self.out.len() > before {
            self.out += ".";
        }
        let ty = self.typer.of(base);
        if let Some(field) = self.typer.field(ty, index) {
            self.str(field.name);
            return;
        }
        // The only built-in block that programs refer to without containing its type.
        let known = match (ty, self.tree.expressions[base]) {
            (Ty::Unknown, Expression::Variable { variable, .. }) => match variable.target() {
                Target::Builtin(name) => super::builtins::block_field(&self.tree.strings[name], index),
                _ => None,
            },
            _ => None,
        };
        match known {
            Some(row) => self.out += row.0,
            None => {
                let _ = write!(self.out, "{index}");
            }
        }
    }
}

/// As a C++ stream prints a double at precision 17, with `.0` appended to integers.
fn float(value: f32) -> String {
    if value.is_nan() || value.is_infinite() {
        let text = if value.is_nan() { "nan" } else { "inf" };
        return format!("{}{text}.0", if value.is_sign_negative() { "-" } else { "" });
    }
    if value == 0.0 {
        return if value.is_sign_negative() {
            "-0.0".into()
        } else {
            "0.0".into()
        };
    }
    let scientific = format!("{:.16e}", f64::from(value));
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..17).contains(&exponent) {
        let places = usize::try_from(16 - exponent).unwrap_or(0);
        let mut text = format!("{:.places$}", f64::from(value));
        if text.contains('.') {
            text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
        }
        if !text.contains('.') {
            text += ".0";
        }
        return text;
    }
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::float;

    #[test]
    fn floats_print_as_cpp_streams_print_them() {
        for (value, text) in [
            (1.0, "1.0"),
            (0.1, "0.10000000149011612"),
            (1e20, "1.0000000200408773e+20"),
            (1e-5, "9.9999997473787516e-06"),
            (-2.5, "-2.5"),
            (0.0, "0.0"),
            (16777216.0, "16777216.0"),
            (1e30, "1.0000000150474662e+30"),
        ] {
            assert_eq!(float(value), text);
        }
    }
}
