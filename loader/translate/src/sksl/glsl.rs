//! Writes a program as GLSL: types, names, elements and statements.

use crate::{Error, Result};
use loader::sksl::*;
use naga::ShaderStage;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// The program uses a feature that GLSL, or the subset used here, lacks.
pub(super) fn unsupported(what: impl std::fmt::Display) -> Error {
    loader::Error::unsupported(FORMAT, what.to_string()).into()
}

/// The GLSL form of an interface value.
pub(super) enum Place {
    /// A variable or member expression.
    Plain(String),
    /// A combined sampler: texture and sampler.
    Sampler(String, String),
    /// An unnamed block: each field is a variable with this prefix.
    Fields(String),
}

/// A program being written as GLSL.
pub(super) struct Glsl<'a> {
    pub(super) tree: &'a Tree,
    pub(super) typer: Typer<'a>,
    pub(super) stage: ShaderStage,
    /// Whether the uniform block must have a layout that every language can express as std140.
    pub(super) portable: bool,
    /// Structs, and the declarations of the interface.
    pub(super) top: String,
    /// Helper functions: name and text.
    pub(super) helpers: Vec<(String, String)>,
    /// Globals and functions of the program.
    pub(super) out: String,
    /// Members of the uniform block.
    pub(super) uniforms: String,
    /// Initial values of globals.
    pub(super) setup: String,
    /// Places of the interface variables.
    pub(super) places: HashMap<Ref, Place>,
    /// Used sets and bindings.
    pub(super) bindings: HashSet<(i8, i32)>,
    /// Fields of blocks that are stored outside their block.
    pub(super) fields: HashMap<(Ref, usize), String>,
    /// Locations taken by inputs and by outputs.
    pub(super) locations: [Vec<i8>; 2],
    /// Statements of the entry point after `main`, which set outputs.
    pub(super) finish: String,
    /// Arguments of `main` whose values go to the next stage.
    pub(super) handed_back: Vec<(String, Ty)>,
    /// Whether `sk_FragColor` is used.
    pub(super) writes_color: bool,
    /// Whether `sk_SecondaryFragColor` is used.
    pub(super) writes_secondary: bool,
    /// Statements before and after the current one; `None` if there can be none.
    pub(super) around: Option<Around>,
    /// Whether calls of a function have side effects, as far as known.
    pub(super) effects: HashMap<Ref, bool>,
    /// Number of the next temporary.
    pub(super) next_copy: u32,
    /// Whether literals are wrapped in function calls, which naga does not evaluate. It rejects constants that it
    /// cannot compute (the root of -1, an index out of bounds), and both languages leave those to run time.
    pub(super) hidden_literals: bool,
}

impl<'a> Glsl<'a> {
    pub(super) fn new(tree: &'a Tree, stage: ShaderStage, portable: bool) -> Self {
        Self {
            tree,
            portable,
            typer: Typer::new(tree),
            stage,
            top: String::new(),
            helpers: Vec::new(),
            out: String::new(),
            uniforms: String::new(),
            setup: String::new(),
            places: HashMap::new(),
            bindings: HashSet::new(),
            fields: HashMap::new(),
            locations: [Vec::new(), Vec::new()],
            finish: String::new(),
            handed_back: Vec::new(),
            writes_color: false,
            writes_secondary: false,
            around: None,
            effects: HashMap::new(),
            next_copy: 0,
            hidden_literals: false,
        }
    }

    pub(super) fn ty(&self, ty: Ty) -> Result<String> {
        let class = |s: Scalar| match s.class() {
            0 => ("float", ""),
            1 => ("int", "i"),
            2 => ("uint", "u"),
            _ => ("bool", "b"),
        };
        Ok(match ty {
            Ty::Void => "void".into(),
            Ty::Scalar(s) => class(s).0.into(),
            Ty::Vector(s, n) => format!("{}vec{n}", class(s).1),
            Ty::Matrix(_, c, r) if c == r => format!("mat{c}"),
            Ty::Matrix(_, c, r) => format!("mat{c}x{r}"),
            Ty::Array(handle) => match self.tree.symbols[handle] {
                Symbol::Array { count, .. } if count > 0 => {
                    format!("{}[{count}]", self.ty(self.typer.element(handle))?)
                }
                _ => return Err(unsupported("an array without a size")),
            },
            Ty::Struct(handle) => self.name(Ref::symbol(handle)),
            Ty::Opaque(name) => return Err(unsupported(format!("the type {}", &self.tree.strings[name]))),
            Ty::Generic(_) | Ty::Unknown => return Err(unsupported("an expression of unknown type")),
        })
    }

    pub(super) fn reference(&self, ty: Ref) -> Result<String> {
        self.ty(self.typer.resolve(ty))
    }

    /// A symbol's original name; empty if it has none.
    pub(super) fn plain_name(&self, symbol: Ref) -> &'a str {
        match self.tree.symbol(symbol) {
            Some(Symbol::Variable { name, .. } | Symbol::Function { name, .. } | Symbol::Struct { name, .. }) => {
                &self.tree.strings[*name]
            }
            _ => "",
        }
    }

    /// A symbol's name with its number appended.
    pub(super) fn name(&self, symbol: Ref) -> String {
        let number = symbol.as_symbol().map_or(0, |handle| handle.index());
        let letters = self.plain_name(symbol).chars();
        let plain: String = letters.filter(|c| c.is_ascii_alphanumeric()).collect();
        format!("s{number}_{plain}")
    }

    pub(super) fn structs(&mut self) -> Result<()> {
        for (handle, symbol) in self.tree.symbols.iter() {
            if let Symbol::Struct {
                fields,
                interface_block: false,
                ..
            } = symbol
            {
                let mut text = format!("struct {} {{\n", self.name(Ref::symbol(handle)));
                for (i, field) in fields.iter().enumerate() {
                    let ty = self.member_type(self.typer.resolve(field.ty))?;
                    let _ = writeln!(text, "    {ty} f{i};");
                }
                self.top += &(text + "};\n");
            }
        }
        Ok(())
    }

    /// Top-level elements, with functions after those they call: naga requires definitions before uses.
    ///
    /// # Errors
    /// Unsupported for recursion, which neither language has.
    pub(super) fn ordered(&mut self) -> Result<Vec<Handle<Element>>> {
        let tree = self.tree;
        let mut order = Order {
            bodies: HashMap::new(),
            open: Vec::new(),
            done: Vec::new(),
        };
        let mut first = Vec::new();
        for element in tree.list(tree.top) {
            let inner = match tree.elements[element] {
                Element::Shared { definition, .. } => definition,
                _ => element,
            };
            match tree.elements[inner] {
                Element::Function { declaration, body } => drop(order.bodies.insert(declaration, (inner, body))),
                Element::Global { .. } => first.push(inner),
                // Structs are defined at first use, and prototypes are unnecessary once functions are ordered.
                _ => {}
            }
        }
        // Sorted by symbol, so that the output is deterministic.
        let mut all: Vec<Ref> = order.bodies.keys().copied().collect();
        all.sort_by_key(|function| function.as_symbol().map(|handle| handle.index()));
        for function in all {
            self.visit(function, &mut order)?;
        }
        first.extend(order.done);
        Ok(first)
    }

    fn visit(&mut self, function: Ref, order: &mut Order) -> Result<()> {
        let Some(&(element, body)) = order.bodies.get(&function) else {
            return Ok(());
        };
        if order.done.contains(&element) {
            return Ok(());
        }
        if order.open.contains(&function) {
            return Err(unsupported(format!(
                "the recursive function {}",
                self.plain_name(function)
            )));
        }
        order.open.push(function);
        let mut called = Vec::new();
        self.calls_of_statement(body, &mut called);
        for callee in called {
            self.visit(callee, order)?;
        }
        order.open.pop();
        order.done.push(element);
        Ok(())
    }

    pub(super) fn element(&mut self, element: Handle<Element>) -> Result<()> {
        match self.tree.elements[element] {
            Element::Function { declaration, body } => {
                let head = self.head(declaration)?;
                self.out += &head;
                self.function_body(declaration, body)
            }
            Element::Global { declaration } => self.global(declaration),
            _ => Ok(()),
        }
    }

    fn global(&mut self, declaration: Handle<Statement>) -> Result<()> {
        let Statement::Variable { variable, value, .. } = self.tree.statements[declaration] else {
            return Ok(());
        };
        let ty = self.typer.variable(variable);
        // A variable without a GLSL type outside the interface is a child, which only calls would use.
        if self.places.contains_key(&variable) || matches!(ty, Ty::Opaque(_)) {
            return Ok(());
        }
        let (ty, name) = (self.ty(ty)?, self.name(variable));
        let _ = writeln!(self.out, "{ty} {name};");
        if let Some(value) = value {
            let value = self.expression(value)?;
            let _ = writeln!(self.setup, "    {name} = {value};");
        }
        Ok(())
    }

    fn head(&mut self, function: Ref) -> Result<String> {
        let Some(Symbol::Function {
            parameters, returns, ..
        }) = self.tree.symbol(function)
        else {
            return Err(unsupported("a function without a declaration"));
        };
        let mut all = Vec::new();
        for parameter in self.tree.list(*parameters) {
            let Some(Symbol::Variable { modifiers, .. }) = self.tree.symbol(parameter) else {
                return Err(unsupported("a parameter without a variable"));
            };
            let way = match modifiers.flags & (modifier::IN | modifier::OUT) {
                modifier::OUT => "out ",
                n if n & modifier::OUT != 0 => "inout ",
                _ => "",
            };
            all.push(format!("{way}{}", self.parameter(parameter)?));
        }
        Ok(format!(
            "{} {}({}) ",
            self.reference(*returns)?,
            self.name(function),
            all.join(", ")
        ))
    }

    /// The body in braces; naga requires a return at the end even if it is unreachable.
    fn function_body(&mut self, function: Ref, body: Handle<Statement>) -> Result<()> {
        let returns = match self.tree.symbol(function) {
            Some(Symbol::Function { returns, .. }) => self.typer.resolve(*returns),
            _ => Ty::Void,
        };
        self.out += "{\n";
        let statements: Vec<_> = match self.tree.statements[body] {
            Statement::Block { statements, .. } => self.tree.list(statements).collect(),
            _ => vec![body],
        };
        for statement in &statements {
            self.statement(*statement)?;
        }
        let ends = statements
            .last()
            .is_some_and(|last| matches!(self.tree.statements[*last], Statement::Return(_)));
        if returns != Ty::Void && !ends {
            let ty = self.ty(returns)?;
            let _ = writeln!(self.out, "{ty} sk_none;\nreturn sk_none;");
        }
        self.out += "}\n";
        Ok(())
    }

    fn braced(&mut self, statement: Handle<Statement>) -> Result<()> {
        self.out += "{\n";
        match self.tree.statements[statement] {
            Statement::Block { statements, .. } => self.all(statements)?,
            _ => self.statement(statement)?,
        }
        self.out += "}\n";
        Ok(())
    }

    fn all(&mut self, statements: List<Handle<Statement>>) -> Result<()> {
        self.tree
            .list(statements)
            .try_for_each(|statement| self.statement(statement))
    }

    fn line(&mut self, text: &str) {
        self.out += text;
        self.out += "\n";
    }

    pub(super) fn statement(&mut self, handle: Handle<Statement>) -> Result<()> {
        match self.tree.statements[handle] {
            Statement::Block { statements, kind, .. } if kind != BlockKind::BRACED => self.all(statements)?,
            Statement::Block { .. } => self.braced(handle)?,
            Statement::Break => self.line("break;"),
            Statement::Continue => self.line("continue;"),
            Statement::Discard => self.line("discard;"),
            Statement::Nop => {}
            Statement::Do { body, test } => {
                let start = self.out.len();
                self.braced(body)?;
                let body = self.out.split_off(start);
                let test = self.expression(test)?;
                // naga's `continue` skips the test.
                let text = match body.contains("continue;") {
                    true => format!(
                        "{{\nbool sk_again = false;\nwhile (true) {{\n\
                         if (sk_again) {{ if (!({test})) break; }}\nsk_again = true;\n{body}}}\n}}"
                    ),
                    false => format!("do {body}while ({test});"),
                };
                self.line(&text);
            }
            Statement::Expression(expression) => self.effect(expression)?,
            Statement::For {
                initializer,
                test,
                next,
                body,
                ..
            } => {
                self.out += "{\n";
                initializer.map_or(Ok(()), |initializer| self.statement(initializer))?;
                let test = test.map_or(Ok("true".into()), |test| self.expression(test))?;
                let next = next.map_or(Ok(String::new()), |next| self.expression(next))?;
                let _ = write!(self.out, "for (; {test}; {next}) ");
                self.braced(body)?;
                self.out += "}\n";
            }
            Statement::If {
                test, then, otherwise, ..
            } => {
                let test = self.first_value(test)?;
                let _ = write!(self.out, "if ({test}) ");
                self.braced(then)?;
                if let Some(otherwise) = otherwise {
                    self.out += "else ";
                    self.braced(otherwise)?;
                }
            }
            Statement::Return(None) => self.line("return;"),
            Statement::Return(Some(value)) => {
                let value = self.last_of(value)?;
                let value = self.first_value(value)?;
                self.line(&format!("return {value};"));
            }
            Statement::Switch { value, cases, .. } => {
                let value = self.expression(value)?;
                self.line(&format!("switch ({value}) {{"));
                for case in self.tree.list(cases) {
                    let Case { value, body } = self.tree.cases[case];
                    self.line(&value.map_or("default:".into(), |value| format!("case {value}:")));
                    self.statement(body)?;
                }
                self.line("}");
            }
            Statement::Variable { variable, value, .. } => {
                let ty = self.ty(self.typer.variable(variable))?;
                let name = self.name(variable);
                let Some(value) = value else {
                    self.line(&format!("{ty} {name};"));
                    return Ok(());
                };
                let value = self.last_of(value)?;
                if self.is_call(value) {
                    self.line(&format!("{ty} {name};"));
                    return self.surrounded(value, &format!("{name} = "));
                }
                let value = self.expression(value)?;
                self.line(&format!("{ty} {name} = {value};"));
            }
        }
        Ok(())
    }

    fn is_call(&self, expression: Handle<Expression>) -> bool {
        matches!(self.tree.expressions[expression], Expression::Call { .. })
    }

    /// An expression statement. Sequences become statements, because naga does not support void parts.
    fn effect(&mut self, expression: Handle<Expression>) -> Result<()> {
        match self.tree.expressions[expression] {
            Expression::Binary { left, op, right } if op == Operator::COMMA => {
                self.effect(left)?;
                self.effect(right)
            }
            Expression::Binary { left, op, right } if op == Operator::ASSIGN => {
                let right = self.last_of(right)?;
                if self.held_member(left)?.is_some() {
                    let text = self.binary(left, op, right)?;
                    self.line(&format!("{text};"));
                    return Ok(());
                }
                let left = self.expression(left)?;
                if self.is_call(right) {
                    return self.surrounded(right, &format!("{left} = "));
                }
                let right = self.expression(right)?;
                self.line(&format!("{left} = {right};"));
                Ok(())
            }
            Expression::Call { .. } => self.surrounded(expression, ""),
            _ => {
                let text = self.expression(expression)?;
                self.line(&format!("{text};"));
                Ok(())
            }
        }
    }

    /// The last part of a sequence; the others become statements before it.
    fn last_of(&mut self, mut expression: Handle<Expression>) -> Result<Handle<Expression>> {
        while let Expression::Binary { left, op, right } = self.tree.expressions[expression]
            && op == Operator::COMMA
        {
            self.effect(left)?;
            expression = right;
        }
        Ok(expression)
    }

    /// The value that a statement evaluates first and unconditionally, so a call that needs copies of its arguments can
    /// precede it.
    fn first_value(&mut self, expression: Handle<Expression>) -> Result<String> {
        match self.tree.expressions[expression] {
            Expression::Call { .. } => {
                self.around = Some(Around::default());
                let text = self.expression(expression)?;
                let Around { before, behind } = self.around.take().unwrap_or_default();
                if behind.is_empty() {
                    return Ok(text);
                }
                let (ty, copy) = (self.typer.of(expression), format!("sk_copy{}", self.next_copy));
                self.next_copy += 1;
                let ty = self.ty(ty)?;
                let _ = writeln!(self.out, "{before}{ty} {copy} = {text};{behind}");
                Ok(copy)
            }
            Expression::Ternary { test, then, otherwise } if self.is_call(test) => {
                let test = self.first_value(test)?;
                let (then, otherwise) = (self.expression(then)?, self.expression(otherwise)?);
                Ok(format!("({test} ? {then} : {otherwise})"))
            }
            _ => self.expression(expression),
        }
    }

    /// A call as a statement, with the copies of its arguments.
    fn surrounded(&mut self, call: Handle<Expression>, target: &str) -> Result<()> {
        self.around = Some(Around::default());
        let text = self.expression(call)?;
        let around = self.around.take().unwrap_or_default();
        let _ = writeln!(self.out, "{}{target}{text};{}", around.before, around.behind);
        Ok(())
    }
}

/// Statements before and after another.
#[derive(Default)]
pub(super) struct Around {
    pub(super) before: String,
    pub(super) behind: String,
}

/// Functions in call order.
struct Order {
    /// Definition and body of each function.
    bodies: HashMap<Ref, (Handle<Element>, Handle<Statement>)>,
    /// Functions on the current call path.
    open: Vec<Ref>,
    done: Vec<Handle<Element>>,
}
