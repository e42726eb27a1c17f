//! Writes a [`Tree`] as Skia's encoder does.
//!
//! Ids count from 1 in order of first use, strings are written in order of first use, and layouts and modifiers have
//! the shortest exact form.

use super::enums::*;
use super::tree::*;
use super::{FORMAT, MAX_DEPTH, VERSION};
use crate::{Error, Result};

/// Writes the file.
///
/// # Errors
/// Unsupported, with the reason, if the format cannot hold the tree: more than 255 items with a one-byte count, strings
/// over 255 bytes or 65,535 in all, more than 65,534 symbols, a symbol used before it is written, nesting over
/// [`MAX_DEPTH`].
pub fn write(tree: &Tree) -> Result<Vec<u8>> {
    let mut writer = Writer {
        tree,
        out: Vec::with_capacity(tree.expressions.len() * 12 + tree.symbols.len() * 24 + 64),
        strings: Vec::with_capacity(tree.strings.text.len() + tree.strings.len()),
        offsets: vec![0; tree.strings.len()],
        ids: vec![0; tree.symbols.len()],
        next: 1,
        depth: 0,
    };
    writer.file()?;
    let length = u16::try_from(writer.strings.len())
        .map_err(|_| cannot(format!("{} bytes of strings (at most 65535)", writer.strings.len())))?;
    let mut bytes = Vec::with_capacity(4 + writer.strings.len() + writer.out.len());
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(length.to_le_bytes());
    bytes.extend(&writer.strings);
    bytes.extend(&writer.out);
    Ok(bytes)
}

fn cannot(what: impl Into<String>) -> Error {
    Error::unsupported(FORMAT, what)
}

struct Writer<'a> {
    tree: &'a Tree,
    out: Vec<u8>,
    strings: Vec<u8>,
    /// For each string, its offset as references count it; 0 = not written yet.
    offsets: Vec<u16>,
    /// For each symbol, its id; 0 = not written yet.
    ids: Vec<u16>,
    next: u32,
    depth: u32,
}

impl Writer<'_> {
    fn file(&mut self) -> Result<()> {
        if let Header::Program { kind, version, .. } = self.tree.header {
            self.out.extend([Command::PROGRAM.0, kind.0, version.0]);
        }
        self.table(Some(self.tree.table))?;
        self.command(Command::ELEMENTS);
        for element in self.tree.list(self.tree.top) {
            self.element(element)?;
        }
        self.command(Command::ELEMENTS_COMPLETE);
        if let Header::Program {
            use_flip_rt_uniform, ..
        } = self.tree.header
        {
            self.out.push(use_flip_rt_uniform.into());
        }
        Ok(())
    }

    fn command(&mut self, command: Command) {
        self.out.push(command.0);
    }

    fn u16(&mut self, value: u16) {
        self.out.extend(value.to_le_bytes());
    }

    fn count(&mut self, n: usize, what: &str) -> Result<()> {
        let n8 = u8::try_from(n).map_err(|_| cannot(format!("{n} {what} (a count is one byte, at most 255)")))?;
        self.out.push(n8);
        Ok(())
    }

    fn deeper(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(cannot(format!("nodes nested deeper than {MAX_DEPTH}")));
        }
        Ok(())
    }

    fn str(&mut self, string: Str) -> Result<()> {
        let slot = string.0 as usize;
        if self.offsets[slot] == 0 {
            let text = &self.tree.strings[string];
            let length = u8::try_from(text.len())
                .map_err(|_| cannot(format!("a string of {} bytes (at most 255)", text.len())))?;
            let offset = u16::try_from(self.strings.len() + 2).map_err(|_| cannot("over 65535 bytes of strings"))?;
            self.offsets[slot] = offset;
            self.strings.push(length);
            self.strings.extend(text.as_bytes());
        }
        self.u16(self.offsets[slot]);
        Ok(())
    }

    /// An id; a built-in uses the escape if `escape` allows it.
    fn id(&mut self, reference: Ref, escape: bool) -> Result<()> {
        match reference.target() {
            Target::Symbol(handle) if self.ids[handle.index()] != 0 => self.u16(self.ids[handle.index()]),
            Target::Symbol(handle) => {
                return Err(cannot(format!("{} is named before it is written", self.name(handle))));
            }
            Target::Builtin(name) if escape => {
                self.u16(u16::MAX);
                self.str(name)?;
            }
            Target::Builtin(name) => {
                return Err(cannot(format!(
                    "the builtin {} where only an id can be",
                    &self.tree.strings[name]
                )));
            }
            Target::None => return Err(cannot("a reference to nothing")),
        }
        Ok(())
    }

    fn name(&self, handle: Handle<Symbol>) -> String {
        match &self.tree.symbols[handle] {
            Symbol::Struct { name, .. } | Symbol::Function { name, .. } | Symbol::Variable { name, .. } => {
                format!("the symbol {}", &self.tree.strings[*name])
            }
            _ => "a symbol without a name".to_owned(),
        }
    }

    fn layout(&mut self, layout: &Layout) {
        let builtin_only = Layout {
            builtin: layout.builtin,
            ..Layout::DEFAULT
        };
        if *layout == Layout::DEFAULT {
            self.command(Command::DEFAULT_LAYOUT);
        } else if *layout == builtin_only {
            self.command(Command::BUILTIN_LAYOUT);
            self.u16(layout.builtin as u16);
        } else {
            self.command(Command::LAYOUT);
            self.out.extend(layout.flags.to_le_bytes());
            self.out.push(layout.location as u8);
            self.u16(layout.offset as u16);
            self.u16(layout.binding as u16);
            self.out.extend([layout.index as u8, layout.set as u8]);
            self.u16(layout.builtin as u16);
            self.out.push(layout.input_attachment_index as u8);
        }
    }

    fn modifiers(&mut self, modifiers: &Modifiers) {
        if *modifiers == Modifiers::default() {
            self.command(Command::DEFAULT_MODIFIERS);
        } else if let Ok(flags) = u8::try_from(modifiers.flags) {
            self.command(Command::MODIFIERS_8BIT);
            self.layout(&modifiers.layout);
            self.out.push(flags);
        } else {
            self.command(Command::MODIFIERS);
            self.layout(&modifiers.layout);
            self.out.extend(modifiers.flags.to_le_bytes());
        }
    }

    fn symbol(&mut self, reference: Ref) -> Result<()> {
        let handle = match reference.target() {
            Target::Symbol(handle) => handle,
            _ => {
                self.command(Command::SYMBOL_REF);
                return self.id(reference, true);
            }
        };
        if self.ids[handle.index()] != 0 {
            self.command(Command::SYMBOL_REF);
            self.u16(self.ids[handle.index()]);
            return Ok(());
        }
        self.deeper()?;
        self.definition(handle)?;
        self.depth -= 1;
        Ok(())
    }

    fn new_id(&mut self, command: Command, handle: Handle<Symbol>) -> Result<()> {
        let id = self.next as u16;
        if self.next >= u32::from(u16::MAX) {
            return Err(cannot("more than 65534 symbols"));
        }
        self.next += 1;
        self.ids[handle.index()] = id;
        self.command(command);
        self.u16(id);
        Ok(())
    }

    fn definition(&mut self, handle: Handle<Symbol>) -> Result<()> {
        let tree = self.tree;
        match &tree.symbols[handle] {
            Symbol::Array { component, count } => {
                self.new_id(Command::ARRAY_TYPE, handle)?;
                self.symbol(*component)?;
                self.out.push(*count as u8);
            }
            Symbol::Struct {
                name,
                fields,
                interface_block,
            } => {
                self.new_id(Command::STRUCT_TYPE, handle)?;
                self.str(*name)?;
                self.count(fields.len(), "fields")?;
                for field in fields {
                    self.modifiers(&field.modifiers);
                    self.str(field.name)?;
                    self.symbol(field.ty)?;
                }
                self.out.push((*interface_block).into());
            }
            Symbol::Function {
                modifiers,
                name,
                parameters,
                returns,
            } => {
                self.new_id(Command::FUNCTION_DECLARATION, handle)?;
                self.modifiers(modifiers);
                self.str(*name)?;
                self.count(parameters.len(), "parameters")?;
                for parameter in tree.list(*parameters) {
                    match parameter.target() {
                        Target::None => self.u16(0),
                        _ => self.id(parameter, false)?,
                    }
                }
                self.symbol(*returns)?;
            }
            Symbol::Overloads { functions } => {
                self.new_id(Command::UNRESOLVED_FUNCTION, handle)?;
                self.count(functions.len(), "overloads")?;
                for function in tree.list(*functions) {
                    self.symbol(function)?;
                }
            }
            Symbol::Variable {
                modifiers,
                name,
                ty,
                storage,
            } => {
                self.new_id(Command::VARIABLE, handle)?;
                self.modifiers(modifiers);
                self.str(*name)?;
                self.symbol(*ty)?;
                self.out.push(storage.0);
            }
            Symbol::Field { owner, index } => {
                self.command(Command::FIELD);
                self.id(*owner, false)?;
                self.out.push(*index);
            }
        }
        Ok(())
    }

    fn table(&mut self, table: Option<Handle<SymbolTable>>) -> Result<()> {
        let Some(handle) = table else {
            self.command(Command::VOID);
            return Ok(());
        };
        let SymbolTable { builtin, owned, names } = self.tree.tables[handle];
        let short =
            |n: usize| u16::try_from(n).map_err(|_| cannot(format!("{n} symbols in one table (at most 65535)")));
        self.out.extend([Command::SYMBOL_TABLE.0, builtin.into()]);
        self.u16(short(owned.len())?);
        for symbol in self.tree.list(owned) {
            self.symbol(symbol)?;
        }
        self.u16(short(names.len())?);
        for entry in self.tree.list(names) {
            match entry {
                Entry::Owned(index) => self.u16(index),
                Entry::Builtin(name) => {
                    self.u16(u16::MAX);
                    self.str(name)?;
                }
            }
        }
        Ok(())
    }

    fn element(&mut self, handle: Handle<Element>) -> Result<()> {
        self.deeper()?;
        match self.tree.elements[handle] {
            Element::Function { declaration, body } => {
                self.command(Command::FUNCTION_DEFINITION);
                self.id(declaration, false)?;
                self.statement(body)?;
            }
            Element::Prototype { declaration } => {
                self.command(Command::FUNCTION_PROTOTYPE);
                self.id(declaration, false)?;
            }
            Element::Global { declaration } => {
                self.command(Command::GLOBAL_VAR);
                self.statement(declaration)?;
            }
            Element::InterfaceBlock {
                variable,
                type_name,
                instance_name,
                array_size,
            } => {
                self.command(Command::INTERFACE_BLOCK);
                self.symbol(variable)?;
                self.str(type_name)?;
                self.str(instance_name)?;
                self.out.push(array_size);
            }
            Element::Struct { ty } => {
                self.command(Command::STRUCT_DEFINITION);
                self.symbol(ty)?;
            }
            Element::Shared {
                parameters,
                declaration,
                definition,
            } => {
                self.command(Command::SHARED_FUNCTION);
                self.count(parameters.len(), "parameters")?;
                for parameter in self.tree.list(parameters) {
                    self.symbol(parameter)?;
                }
                self.symbol(declaration)?;
                self.element(definition)?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn statement_or_void(&mut self, statement: Option<Handle<Statement>>) -> Result<()> {
        match statement {
            Some(statement) => self.statement(statement),
            None => {
                self.command(Command::VOID);
                Ok(())
            }
        }
    }

    fn statement(&mut self, handle: Handle<Statement>) -> Result<()> {
        self.deeper()?;
        let tree = self.tree;
        match tree.statements[handle] {
            Statement::Block {
                table,
                statements,
                kind,
            } => {
                self.command(Command::BLOCK);
                self.table(table)?;
                self.count(statements.len(), "statements in a block")?;
                for statement in tree.list(statements) {
                    self.statement(statement)?;
                }
                self.out.push(kind.0);
            }
            Statement::Break => self.command(Command::BREAK),
            Statement::Continue => self.command(Command::CONTINUE),
            Statement::Discard => self.command(Command::DISCARD),
            Statement::Nop => self.command(Command::NOP),
            Statement::Do { body, test } => {
                self.command(Command::DO);
                self.statement(body)?;
                self.expression(test)?;
            }
            Statement::Expression(expression) => {
                self.command(Command::EXPRESSION_STATEMENT);
                self.expression(expression)?;
            }
            Statement::For {
                table,
                initializer,
                test,
                next,
                body,
            } => {
                self.command(Command::FOR);
                self.table(table)?;
                self.statement_or_void(initializer)?;
                self.expression_or_void(test)?;
                self.expression_or_void(next)?;
                self.statement(body)?;
            }
            Statement::If {
                is_static,
                test,
                then,
                otherwise,
            } => {
                self.out.extend([Command::IF.0, is_static.into()]);
                self.expression(test)?;
                self.statement(then)?;
                self.statement_or_void(otherwise)?;
            }
            Statement::Return(value) => {
                self.command(Command::RETURN);
                self.expression_or_void(value)?;
            }
            Statement::Switch {
                is_static,
                table,
                value,
                cases,
            } => {
                self.out.extend([Command::SWITCH.0, is_static.into()]);
                self.table(table)?;
                self.expression(value)?;
                self.count(cases.len(), "cases")?;
                for case in tree.list(cases) {
                    let Case { value, body } = tree.cases[case];
                    self.out.push(value.is_none().into());
                    if let Some(value) = value {
                        self.out.extend(value.to_le_bytes());
                    }
                    self.statement(body)?;
                }
            }
            Statement::Variable {
                variable,
                base_type,
                array_size,
                value,
            } => {
                self.command(Command::VAR_DECLARATION);
                self.id(variable, false)?;
                self.symbol(base_type)?;
                self.out.push(array_size);
                self.expression_or_void(value)?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn expression_or_void(&mut self, expression: Option<Handle<Expression>>) -> Result<()> {
        match expression {
            Some(expression) => self.expression(expression),
            None => {
                self.command(Command::VOID);
                Ok(())
            }
        }
    }

    fn arguments(&mut self, arguments: List<Handle<Expression>>) -> Result<()> {
        self.count(arguments.len(), "arguments")?;
        for argument in self.tree.list(arguments) {
            self.expression(argument)?;
        }
        Ok(())
    }

    fn expression(&mut self, handle: Handle<Expression>) -> Result<()> {
        self.deeper()?;
        match self.tree.expressions[handle] {
            Expression::Binary { left, op, right } => {
                self.command(Command::BINARY);
                self.expression(left)?;
                self.out.push(op.0);
                self.expression(right)?;
            }
            Expression::Bool(value) => self.out.extend([Command::BOOL_LITERAL.0, value.into()]),
            Expression::Float { ty, bits } => {
                self.command(Command::FLOAT_LITERAL);
                self.symbol(ty)?;
                self.out.extend(bits.to_le_bytes());
            }
            Expression::Int { ty, bits } => {
                self.command(Command::INT_LITERAL);
                self.symbol(ty)?;
                self.out.extend(bits.to_le_bytes());
            }
            Expression::Constructor { command, ty, arguments } => {
                self.command(command);
                self.symbol(ty)?;
                self.arguments(arguments)?;
            }
            Expression::FieldAccess { base, index, owner } => {
                self.command(Command::FIELD_ACCESS);
                self.expression(base)?;
                self.out.extend([index, owner.0]);
            }
            Expression::Call {
                ty,
                function,
                arguments,
            } => {
                self.command(Command::FUNCTION_CALL);
                self.symbol(ty)?;
                self.id(function, true)?;
                self.arguments(arguments)?;
            }
            Expression::Index { base, index } => {
                self.command(Command::INDEX);
                self.expression(base)?;
                self.expression(index)?;
            }
            Expression::Prefix { op, operand } => {
                self.out.extend([Command::PREFIX.0, op.0]);
                self.expression(operand)?;
            }
            Expression::Postfix { op, operand } => {
                self.out.extend([Command::POSTFIX.0, op.0]);
                self.expression(operand)?;
            }
            Expression::Setting(name) => {
                self.command(Command::SETTING);
                self.str(name)?;
            }
            Expression::Swizzle {
                base,
                components,
                count,
            } => {
                self.command(Command::SWIZZLE);
                self.expression(base)?;
                self.out.push(count);
                self.out.extend(&components[..usize::from(count.min(4))]);
            }
            Expression::Ternary { test, then, otherwise } => {
                self.command(Command::TERNARY);
                self.expression(test)?;
                self.expression(then)?;
                self.expression(otherwise)?;
            }
            Expression::Variable { variable, kind } => {
                self.command(Command::VARIABLE_REFERENCE);
                self.id(variable, true)?;
                self.out.push(kind.0);
            }
        }
        self.depth -= 1;
        Ok(())
    }
}
