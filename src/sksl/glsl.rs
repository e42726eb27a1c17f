//! A runtime effect spelled in GLSL.

use super::unsupported;
use loader::Result;
use loader::sksl::*;
use std::fmt::Write;

/// Spells a runtime effect as a GLSL 4.50 fragment shader.
///
/// Locals and functions get their symbol's number behind their names, so nothing collides with GLSL's own words.
///
/// # Errors
/// Unsupported for other program kinds and for what GLSL has no words for, by name.
pub fn to_glsl(tree: &Tree) -> Result<String> {
    let Header::Program { kind, .. } = tree.header else {
        return Err(unsupported("translating a module"));
    };
    if !(ProgramKind::RUNTIME_COLOR_FILTER..=ProgramKind::PRIVATE_RUNTIME_SHADER).contains(&kind) {
        return Err(unsupported(format!("translating a {kind} program")));
    }
    let mut spelled = Glsl {
        tree,
        typer: Typer::new(tree),
        out: String::new(),
        uniforms: String::new(),
        setup: String::new(),
    };
    spelled.structs()?;
    for element in tree.list(tree.top) {
        spelled.element(element)?;
    }
    spelled.entry()
}

struct Glsl<'a> {
    tree: &'a Tree,
    typer: Typer<'a>,
    out: String,
    /// Members of the uniform block.
    uniforms: String,
    /// Initial values of globals.
    setup: String,
}

impl Glsl<'_> {
    fn ty(&self, ty: Ty) -> Result<String> {
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

    fn reference(&self, ty: Ref) -> Result<String> {
        self.ty(self.typer.resolve(ty))
    }

    /// A symbol's name with its number; uniforms keep theirs as it is, for they are an interface.
    fn name(&self, symbol: Ref) -> String {
        let Some(handle) = symbol.as_symbol() else {
            return "?".into();
        };
        let text = match &self.tree.symbols[handle] {
            Symbol::Variable { modifiers, name, .. } if modifiers.flags & modifier::UNIFORM != 0 => {
                return format!("sk_u.{}", &self.tree.strings[*name]);
            }
            Symbol::Variable { name, .. } | Symbol::Function { name, .. } | Symbol::Struct { name, .. } => {
                &self.tree.strings[*name]
            }
            _ => "s",
        };
        let plain: String = text.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        format!("s{}_{plain}", handle.index())
    }

    fn structs(&mut self) -> Result<()> {
        for (handle, symbol) in self.tree.symbols.iter() {
            if let Symbol::Struct { fields, .. } = symbol {
                let mut text = format!("struct {} {{\n", self.name(Ref::symbol(handle)));
                for (i, field) in fields.iter().enumerate() {
                    let _ = writeln!(text, "    {} f{i};", self.reference(field.ty)?);
                }
                self.out += &(text + "};\n");
            }
        }
        Ok(())
    }

    fn element(&mut self, element: Handle<Element>) -> Result<()> {
        match self.tree.elements[element] {
            Element::Function { declaration, body } => {
                let head = self.head(declaration)?;
                self.out += &head;
                self.braced(body)?;
            }
            // Definitions come before their uses but for prototypes, and naga orders functions by definition.
            Element::Prototype { .. } | Element::Struct { .. } => {}
            Element::Global { declaration } => self.global(declaration)?,
            Element::InterfaceBlock { .. } => return Err(unsupported("an interface block in a runtime effect")),
            Element::Shared { definition, .. } => self.element(definition)?,
        }
        Ok(())
    }

    fn global(&mut self, declaration: Handle<Statement>) -> Result<()> {
        let Statement::Variable { variable, value, .. } = self.tree.statements[declaration] else {
            return Ok(());
        };
        let Some(Symbol::Variable {
            modifiers, name, ty, ..
        }) = self.tree.symbol(variable)
        else {
            return Ok(());
        };
        let ty = self.reference(*ty)?;
        if modifiers.flags & modifier::UNIFORM != 0 {
            let _ = writeln!(self.uniforms, "    {ty} {};", &self.tree.strings[*name]);
            return Ok(());
        }
        let name = self.name(variable);
        let _ = writeln!(self.out, "{ty} {name};");
        if let Some(value) = value {
            let value = self.expression(value)?;
            let _ = writeln!(self.setup, "    {name} = {value};");
        }
        Ok(())
    }

    fn head(&self, function: Ref) -> Result<String> {
        let Some(Symbol::Function {
            parameters, returns, ..
        }) = self.tree.symbol(function)
        else {
            return Err(unsupported("a function without a declaration"));
        };
        let mut all = Vec::new();
        for parameter in self.tree.list(*parameters) {
            let Some(Symbol::Variable { modifiers, ty, .. }) = self.tree.symbol(parameter) else {
                return Err(unsupported("a parameter without a variable"));
            };
            let way = match modifiers.flags & (modifier::IN | modifier::OUT) {
                modifier::OUT => "out ",
                n if n & modifier::OUT != 0 => "inout ",
                _ => "",
            };
            all.push(format!("{way}{} {}", self.reference(*ty)?, self.name(parameter)));
        }
        Ok(format!(
            "{} {}({}) ",
            self.reference(*returns)?,
            self.name(function),
            all.join(", ")
        ))
    }

    /// The whole text, with the entry point that sets globals up and calls the effect's `main`.
    fn entry(mut self) -> Result<String> {
        let mut main = None;
        for (handle, symbol) in self.tree.symbols.iter() {
            if let Symbol::Function { name, parameters, .. } = symbol
                && &self.tree.strings[*name] == "main"
            {
                main = Some((Ref::symbol(handle), *parameters));
            }
        }
        let (main, parameters) = main.ok_or_else(|| unsupported("a program without main"))?;
        let mut arguments = Vec::new();
        for parameter in self.tree.list(parameters) {
            let Some(Symbol::Variable { modifiers, .. }) = self.tree.symbol(parameter) else {
                continue;
            };
            arguments.push(match modifiers.layout.builtin {
                10009 => "gl_FragCoord.xy",
                10010 => "sk_u.sk_Color",
                10011 => "sk_u.sk_Dest",
                n => return Err(unsupported(format!("a parameter of main with builtin {n}"))),
            });
        }
        for (argument, member) in [("sk_u.sk_Color", "sk_Color"), ("sk_u.sk_Dest", "sk_Dest")] {
            if arguments.contains(&argument) {
                let _ = writeln!(self.uniforms, "    vec4 {member};");
            }
        }
        let mut text = String::from("#version 450\nlayout(location = 0) out vec4 sk_Out;\n");
        if !self.uniforms.is_empty() {
            let _ = writeln!(
                text,
                "layout(set = 1, binding = 0) uniform sk_Uniforms {{\n{}}} sk_u;",
                self.uniforms
            );
        }
        text += &self.out;
        let _ = writeln!(
            text,
            "void main() {{\n{}    sk_Out = {}({});\n}}",
            self.setup,
            self.name(main),
            arguments.join(", ")
        );
        Ok(text)
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

    fn statement(&mut self, handle: Handle<Statement>) -> Result<()> {
        match self.tree.statements[handle] {
            Statement::Block { statements, kind, .. } if kind != BlockKind::BRACED => self.all(statements)?,
            Statement::Block { .. } => self.braced(handle)?,
            Statement::Break => self.line("break;"),
            Statement::Continue => self.line("continue;"),
            Statement::Discard => self.line("discard;"),
            Statement::Nop => {}
            Statement::Do { body, test } => {
                self.out += "do ";
                self.braced(body)?;
                let test = self.expression(test)?;
                self.line(&format!("while ({test});"));
            }
            Statement::Expression(expression) => {
                let text = self.expression(expression)?;
                self.line(&format!("{text};"));
            }
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
                let test = self.expression(test)?;
                let _ = write!(self.out, "if ({test}) ");
                self.braced(then)?;
                if let Some(otherwise) = otherwise {
                    self.out += "else ";
                    self.braced(otherwise)?;
                }
            }
            Statement::Return(None) => self.line("return;"),
            Statement::Return(Some(value)) => {
                let value = self.expression(value)?;
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
                let value = value.map_or(Ok(String::new()), |value| {
                    Ok::<_, loader::Error>(format!(" = {}", self.expression(value)?))
                })?;
                self.line(&format!("{ty} {name}{value};"));
            }
        }
        Ok(())
    }

    fn arguments(&mut self, arguments: List<Handle<Expression>>) -> Result<String> {
        let all: Result<Vec<String>> = self
            .tree
            .list(arguments)
            .map(|argument| self.expression(argument))
            .collect();
        Ok(all?.join(", "))
    }

    fn expression(&mut self, handle: Handle<Expression>) -> Result<String> {
        Ok(match self.tree.expressions[handle] {
            Expression::Binary { left, op, right } => {
                let (l, r) = (self.expression(left)?, self.expression(right)?);
                format!("({l} {op} {r})")
            }
            Expression::Bool(value) => value.to_string(),
            Expression::Float { bits, .. } => {
                let value = f32::from_bits(bits);
                if !value.is_finite() {
                    return Err(unsupported("a literal that is not finite"));
                }
                format!("{value:?}")
            }
            Expression::Int { ty, bits } => match self.typer.resolve(ty).scalar().map(Scalar::class) {
                Some(2) => format!("{bits}u"),
                _ => (bits as i32).to_string(),
            },
            Expression::Constructor { ty, arguments, .. } => {
                let ty = self.reference(ty)?;
                format!("{ty}({})", self.arguments(arguments)?)
            }
            Expression::FieldAccess { base, index, .. } => format!("{}.f{index}", self.expression(base)?),
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
            Expression::Variable { variable, .. } => match variable.target() {
                Target::Builtin(name) if &self.tree.strings[name] == "sk_FragCoord" => "gl_FragCoord".into(),
                Target::Builtin(name) => return Err(unsupported(format!("the builtin {}", &self.tree.strings[name]))),
                _ => self.name(variable),
            },
        })
    }

    fn call(&mut self, function: Ref, arguments: List<Handle<Expression>>) -> Result<String> {
        let Target::Builtin(name) = function.target() else {
            return Ok(format!("{}({})", self.name(function), self.arguments(arguments)?));
        };
        let text = self.arguments(arguments)?;
        Ok(match &self.tree.strings[name] {
            "saturate" => format!("clamp({text}, 0.0, 1.0)"),
            "unpremul" => format!("vec4(({text}).rgb / max(({text}).a, 0.0001), ({text}).a)"),
            name @ ("toLinearSrgb" | "fromLinearSrgb") => return Err(unsupported(format!("the function {name}"))),
            name => format!("{name}({text})"),
        })
    }
}
