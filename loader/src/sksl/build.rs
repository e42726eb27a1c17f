//! Builds a tree in code, for samples and tools: there is no text front end.

use super::enums::*;
use super::tree::*;
use std::collections::HashMap;

/// Adds nodes to a program's tree bottom-up; [`Builder::finish`] returns the tree.
///
/// ```
/// use skrymir_loader::sksl::*;
/// let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
/// let at = b.parameter("float2", "p", 10009);
/// let main = b.function("half4", "main", &[at]);
/// let red = b.float("half", 1.0);
/// let value = b.construct(Command::CONSTRUCTOR_SPLAT, "half4", &[red]);
/// let value = b.statement(Statement::Return(Some(value)));
/// let tree = b.define(main, &[value]).finish();
/// assert_eq!(print(&tree)?, "#version 100\nhalf4 main(float2 p) {\nreturn half4(1.0);\n}\n");
/// assert_eq!(write(&read(&write(&tree)?)?)?, write(&tree)?);
/// # Ok::<(), skrymir_loader::Error>(())
/// ```
pub struct Builder {
    tree: Tree,
    owned: Vec<Ref>,
    top: Vec<Handle<Element>>,
    /// Structs and arrays by name.
    types: HashMap<String, Ref>,
}

impl Builder {
    /// An empty program of language version 100.
    pub fn new(kind: ProgramKind) -> Self {
        let mut tables = Arena::default();
        let table = tables.add(
            SymbolTable {
                builtin: false,
                owned: List::new(0, 0),
                names: List::new(0, 0),
            },
            0,
        );
        let header = Header::Program {
            kind,
            version: LanguageVersion::V100,
            use_flip_rt_uniform: false,
        };
        let tree = Tree {
            header,
            strings: Strings::default(),
            symbols: Arena::default(),
            tables,
            cases: Arena::default(),
            elements: Arena::default(),
            statements: Arena::default(),
            expressions: Arena::default(),
            pool: Vec::new(),
            table,
            top: List::new(0, 0),
        };
        Self {
            tree,
            owned: Vec::new(),
            top: Vec::new(),
            types: HashMap::new(),
        }
    }

    /// A type by name: a built-in one, a declared struct, or either with an array length, as in `float[3]`.
    fn ty(&mut self, name: &str) -> Ref {
        if let Some(known) = self.types.get(name) {
            return *known;
        }
        let array = name.strip_suffix(']').and_then(|name| name.rsplit_once('['));
        let Some((component, Ok(count))) = array.map(|(of, count)| (of, count.parse())) else {
            return self.builtin(name);
        };
        let component = self.ty(component);
        let symbol = Symbol::Array { component, count };
        self.keep(name, symbol)
    }

    fn keep(&mut self, name: &str, symbol: Symbol) -> Ref {
        let ty = Ref::symbol(self.tree.symbols.add(symbol, 0));
        self.owned.push(ty);
        self.types.insert(name.to_owned(), ty);
        ty
    }

    fn fields(&mut self, fields: &[(&str, &str)]) -> Vec<StructField> {
        let all = fields.iter().map(|(ty, name)| StructField {
            modifiers: Modifiers::default(),
            name: self.tree.strings.intern(name),
            ty: self.ty(ty),
        });
        all.collect()
    }

    /// Declares a struct with (type, name) pairs as fields; types refer to it by name from then on.
    pub fn structure(&mut self, name: &str, fields: &[(&str, &str)]) -> Ref {
        let (fields, text) = (self.fields(fields), self.tree.strings.intern(name));
        let symbol = Symbol::Struct {
            name: text,
            fields,
            interface_block: false,
        };
        let ty = self.keep(name, symbol);
        self.top.push(self.tree.elements.add(Element::Struct { ty }, 0));
        ty
    }

    /// An interface block, or an array of `array` blocks if that is not 0.
    pub fn interface_block(&mut self, name: &str, fields: &[StructField], modifiers: Modifiers, array: u8) -> Ref {
        let type_name = self.tree.strings.intern(name);
        let symbol = Symbol::Struct {
            name: type_name,
            fields: fields.to_vec(),
            interface_block: true,
        };
        self.keep(name, symbol);
        let instance = format!("{}_instance", name.to_lowercase());
        let ty = match array {
            0 => name.to_owned(),
            count => format!("{name}[{count}]"),
        };
        let variable = self.variable(&ty, &instance, modifiers, Storage::GLOBAL);
        self.owned.push(variable);
        let block = Element::InterfaceBlock {
            variable,
            type_name,
            instance_name: self.tree.strings.intern(&instance),
            array_size: array,
        };
        self.top.push(self.tree.elements.add(block, 0));
        variable
    }

    /// A field of a struct or block; `offset` is its byte offset, -1 for none.
    pub fn struct_field(&mut self, ty: &str, name: &str, offset: i16) -> StructField {
        let mut field = self.fields(&[(ty, name)])[0];
        field.modifiers.layout.offset = offset;
        field
    }

    /// A built-in type, variable or function by name.
    pub fn builtin(&mut self, name: &str) -> Ref {
        Ref::builtin(self.tree.strings.intern(name))
    }

    /// A variable; [`Builder::local`] and [`Builder::global`] also declare it.
    pub fn variable(&mut self, ty: &str, name: &str, modifiers: Modifiers, storage: Storage) -> Ref {
        let (ty, name) = (self.ty(ty), self.tree.strings.intern(name));
        Ref::symbol(self.tree.symbols.add(
            Symbol::Variable {
                modifiers,
                name,
                ty,
                storage,
            },
            0,
        ))
    }

    /// A parameter; `builtin` is the number in its layout (10009 for main's coordinates), -1 for none.
    pub fn parameter(&mut self, ty: &str, name: &str, builtin: i16) -> Ref {
        let modifiers = Modifiers {
            layout: Layout {
                builtin,
                ..Layout::DEFAULT
            },
            flags: 0,
        };
        let parameter = self.variable(ty, name, modifiers, Storage::PARAMETER);
        self.owned.push(parameter);
        parameter
    }

    /// Replaces a variable's modifier flags.
    pub fn change(&mut self, variable: Ref, flags: u32) {
        if let Target::Symbol(handle) = variable.target()
            && let Symbol::Variable { modifiers, .. } = &mut self.tree.symbols[handle]
        {
            modifiers.flags = flags;
        }
    }

    /// A uniform and its declaration.
    pub fn uniform(&mut self, ty: &str, name: &str) -> Ref {
        let modifiers = Modifiers {
            flags: modifier::UNIFORM,
            ..Modifiers::default()
        };
        self.global(ty, name, modifiers, None)
    }

    /// A function's declaration; its parameters come from [`Builder::parameter`].
    pub fn function(&mut self, returns: &str, name: &str, parameters: &[Ref]) -> Ref {
        let (returns, name) = (self.ty(returns), self.tree.strings.intern(name));
        let parameters = self.tree.make_list(parameters);
        let symbol = Symbol::Function {
            modifiers: Modifiers::default(),
            name,
            parameters,
            returns,
        };
        let function = Ref::symbol(self.tree.symbols.add(symbol, 0));
        self.owned.push(function);
        function
    }

    /// Defines a function; its scope owns the variables that its statements declare.
    pub fn define(&mut self, declaration: Ref, body: &[Handle<Statement>]) -> &mut Self {
        let body = self.block(body);
        self.top
            .push(self.tree.elements.add(Element::Function { declaration, body }, 0));
        self
    }

    /// A block in braces, with a scope for the variables that its statements declare.
    pub fn block(&mut self, body: &[Handle<Statement>]) -> Handle<Statement> {
        let declared = body
            .iter()
            .filter_map(|statement| match self.tree.statements[*statement] {
                Statement::Variable { variable, .. } => Some(variable),
                _ => None,
            });
        let declared: Vec<Ref> = declared.collect();
        let table = (!declared.is_empty()).then(|| self.scope(&declared));
        let statements = self.tree.make_list(body);
        self.statement(Statement::Block {
            table,
            statements,
            kind: BlockKind::BRACED,
        })
    }

    /// The symbol table of a block or loop with these variables.
    pub fn scope(&mut self, variables: &[Ref]) -> Handle<SymbolTable> {
        let table = self.table(variables);
        self.tree.tables.add(table, 0)
    }

    /// A local variable and the statement that declares it; the enclosing block's scope owns it.
    pub fn local(&mut self, ty: &str, name: &str, value: Option<Handle<Expression>>) -> (Ref, Handle<Statement>) {
        let variable = self.variable(ty, name, Modifiers::default(), Storage::LOCAL);
        let base_type = self.ty(ty);
        let declaration = self.statement(Statement::Variable {
            variable,
            base_type,
            array_size: 0,
            value,
        });
        (variable, declaration)
    }

    /// A global variable with these modifiers, and its declaration.
    pub fn global(&mut self, ty: &str, name: &str, modifiers: Modifiers, value: Option<Handle<Expression>>) -> Ref {
        let variable = self.variable(ty, name, modifiers, Storage::GLOBAL);
        self.owned.push(variable);
        let base_type = self.ty(ty);
        let declaration = self.statement(Statement::Variable {
            variable,
            base_type,
            array_size: 0,
            value,
        });
        self.top
            .push(self.tree.elements.add(Element::Global { declaration }, 0));
        variable
    }

    /// Any statement.
    pub fn statement(&mut self, statement: Statement) -> Handle<Statement> {
        self.tree.statements.add(statement, 0)
    }

    /// Any expression.
    pub fn expression(&mut self, expression: Expression) -> Handle<Expression> {
        self.tree.expressions.add(expression, 0)
    }

    /// A float literal of a built-in type.
    pub fn float(&mut self, ty: &str, value: f32) -> Handle<Expression> {
        let ty = self.builtin(ty);
        self.expression(Expression::Float {
            ty,
            bits: value.to_bits(),
        })
    }

    /// An int literal of a built-in type.
    pub fn int(&mut self, ty: &str, value: i32) -> Handle<Expression> {
        let ty = self.builtin(ty);
        self.expression(Expression::Int { ty, bits: value as u32 })
    }

    /// A variable read.
    pub fn read(&mut self, variable: Ref) -> Handle<Expression> {
        self.expression(Expression::Variable {
            variable,
            kind: RefKind::READ,
        })
    }

    /// A field of a struct's or block's value.
    pub fn field(&mut self, base: Handle<Expression>, index: u8) -> Handle<Expression> {
        self.expression(Expression::FieldAccess {
            base,
            index,
            owner: FieldOwner::DEFAULT,
        })
    }

    /// An element of an array, a column of a matrix or a component of a vector.
    pub fn element(&mut self, base: Handle<Expression>, index: i32) -> Handle<Expression> {
        let index = self.int("int", index);
        self.expression(Expression::Index { base, index })
    }

    /// A constructor of a type.
    pub fn construct(&mut self, command: Command, ty: &str, arguments: &[Handle<Expression>]) -> Handle<Expression> {
        let (ty, arguments) = (self.ty(ty), self.tree.make_list(arguments));
        self.expression(Expression::Constructor { command, ty, arguments })
    }

    /// A binary expression.
    pub fn binary(&mut self, left: Handle<Expression>, op: Operator, right: Handle<Expression>) -> Handle<Expression> {
        self.expression(Expression::Binary { left, op, right })
    }

    /// A call of a built-in function.
    pub fn call(&mut self, ty: &str, function: &str, arguments: &[Handle<Expression>]) -> Handle<Expression> {
        let (ty, function) = (self.ty(ty), self.builtin(function));
        let arguments = self.tree.make_list(arguments);
        self.expression(Expression::Call {
            ty,
            function,
            arguments,
        })
    }

    /// A call of a function in this program.
    pub fn call_own(&mut self, ty: &str, function: Ref, arguments: &[Handle<Expression>]) -> Handle<Expression> {
        let (ty, arguments) = (self.ty(ty), self.tree.make_list(arguments));
        self.expression(Expression::Call {
            ty,
            function,
            arguments,
        })
    }

    /// `target = value;` for a variable.
    pub fn assign(&mut self, target: Ref, value: Handle<Expression>) -> Handle<Statement> {
        let target = self.expression(Expression::Variable {
            variable: target,
            kind: RefKind::WRITE,
        });
        let assignment = self.binary(target, Operator::ASSIGN, value);
        self.statement(Statement::Expression(assignment))
    }

    /// Returns the program with its symbol table sorted by name; parameters are owned but have no entry.
    pub fn finish(&mut self) -> Tree {
        let owned = std::mem::take(&mut self.owned);
        self.tree.tables[self.tree.table] = self.table(&owned);
        self.tree.top = self.tree.make_list(&self.top);
        self.tree.clone()
    }

    fn table(&mut self, owned: &[Ref]) -> SymbolTable {
        let mut named: Vec<(String, Entry)> = Vec::new();
        for (index, symbol) in owned.iter().enumerate() {
            match self.tree.symbol(*symbol) {
                Some(Symbol::Variable {
                    storage: Storage::PARAMETER,
                    ..
                }) => {}
                Some(Symbol::Variable { name, .. } | Symbol::Function { name, .. }) => {
                    named.push((self.tree.strings[*name].to_owned(), Entry::Owned(index as u16)));
                }
                _ => {}
            }
        }
        named.sort_by(|a, b| a.0.cmp(&b.0));
        let entries: Vec<Entry> = named.into_iter().map(|(_, entry)| entry).collect();
        let (owned, names) = (self.tree.make_list(owned), self.tree.make_list(&entries));
        SymbolTable {
            builtin: false,
            owned,
            names,
        }
    }
}
