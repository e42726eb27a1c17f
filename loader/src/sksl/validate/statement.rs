//! Elements and statements.

use super::*;

impl Checker<'_> {
    pub(super) fn program(&mut self) {
        let tree = self.tree;
        let mut defined = HashSet::new();
        for element in tree.list(tree.top) {
            self.element(element, &mut defined);
        }
    }

    fn element(&mut self, handle: Handle<Element>, defined: &mut HashSet<Ref>) {
        let tree = self.tree;
        let offset = tree.elements.offset(handle);
        match tree.elements[handle] {
            Element::Function { declaration, body } => {
                self.require(
                    defined.insert(declaration),
                    "function-twice",
                    "a function defined twice",
                    offset,
                );
                self.function(declaration, body, offset);
            }
            Element::Prototype { declaration } => {
                let fits = matches!(tree.symbol(declaration), Some(Symbol::Function { .. }));
                self.require(
                    fits,
                    "declaration",
                    "prototype of something that is not a function",
                    offset,
                );
            }
            Element::Global { declaration } => self.declaration(declaration, Storage::GLOBAL),
            Element::InterfaceBlock {
                variable, array_size, ..
            } => {
                let mut ty = self.typer.variable(variable);
                if let Ty::Array(array) = ty {
                    let fits = self
                        .array_count(array)
                        .is_some_and(|n| i32::from(n) == i32::from(array_size) || n == -1);
                    self.require(
                        fits,
                        "interface-block",
                        "array size differs from the variable's",
                        offset,
                    );
                    ty = self.typer.element(array);
                } else {
                    self.require(
                        array_size == 0,
                        "interface-block",
                        "array size without an array",
                        offset,
                    );
                }
                let fits = matches!(ty, Ty::Struct(s) if matches!(tree.symbols[s], Symbol::Struct { interface_block: true, .. }));
                self.require(
                    fits,
                    "interface-block",
                    "interface block of something that is none",
                    offset,
                );
                self.declare(variable, offset);
            }
            Element::Struct { ty } => {
                let fits = matches!(
                    tree.symbol(ty),
                    Some(Symbol::Struct {
                        interface_block: false,
                        ..
                    })
                );
                self.require(
                    fits,
                    "struct-definition",
                    "definition of something that is not a struct",
                    offset,
                );
            }
            Element::Shared {
                parameters,
                declaration,
                definition,
            } => {
                let same = match tree.symbol(declaration) {
                    Some(Symbol::Function { parameters: own, .. }) => {
                        own.len() == parameters.len() && tree.list(*own).eq(tree.list(parameters))
                    }
                    _ => false,
                };
                let own =
                    matches!(tree.elements[definition], Element::Function { declaration: d, .. } if d == declaration);
                self.require(same && own, "shared-function", "parts of different functions", offset);
                self.element(definition, defined);
            }
        }
    }

    fn function(&mut self, declaration: Ref, body: Handle<Statement>, offset: u64) {
        let tree = self.tree;
        let Some(Symbol::Function {
            name,
            parameters,
            returns,
            ..
        }) = tree.symbol(declaration)
        else {
            return self.fail("declaration", "definition of something that is not a function", offset);
        };
        self.place = format!("function {}", &tree.strings[*name]);
        self.returns = self.typer.resolve(*returns);
        let builtins = tree
            .list(*parameters)
            .filter_map(|parameter| match tree.symbol(parameter) {
                Some(Symbol::Variable { modifiers, .. }) => Some(modifiers.layout.builtin),
                _ => None,
            });
        let fits = entry_fits(
            self.kind,
            &tree.strings[*name],
            &builtins.collect::<Vec<_>>(),
            self.returns,
        );
        let message =
            "parameters or a result that main does not have in this program kind, or another function has not";
        self.require(fits, "entry", message, offset);
        let outside = self.visible.clone();
        for parameter in tree.list(*parameters) {
            self.require(
                parameter != Ref::NONE,
                "parameter",
                "a defined function with an unknown parameter",
                offset,
            );
            self.declare(parameter, offset);
        }
        let braced = matches!(
            tree.statements[body],
            Statement::Block {
                kind: BlockKind::BRACED,
                ..
            }
        );
        self.require(
            braced,
            "function-body",
            "a body that is not a braced block",
            tree.statements.offset(body),
        );
        self.statement(body);
        if self.returns != Ty::Void {
            let ends = self.ends(body);
            self.require(ends, "no-return", "a path through the function returns nothing", offset);
        }
        self.visible = outside;
        self.place.clear();
    }

    /// Whether control never reaches the end of a statement.
    fn ends(&self, statement: Handle<Statement>) -> bool {
        let tree = self.tree;
        match tree.statements[statement] {
            Statement::Return(_) | Statement::Discard => true,
            Statement::Block { statements, .. } => tree.list(statements).any(|statement| self.ends(statement)),
            Statement::If {
                then,
                otherwise: Some(otherwise),
                ..
            } => self.ends(then) && self.ends(otherwise),
            Statement::Do { body, test } => {
                !self.breaks(body) && (self.ends(body) || matches!(tree.expressions[test], Expression::Bool(true)))
            }
            Statement::For { test, body, .. } => {
                let forever = test.is_none_or(|test| matches!(tree.expressions[test], Expression::Bool(true)));
                // Skia's compiler assumes that every loop runs, so a loop returns if its body does.
                !self.breaks(body) && (forever || self.ends(body))
            }
            Statement::Switch { cases, .. } => {
                let bodies = || tree.list(cases).map(|case| tree.cases[case]);
                bodies().any(|case| case.value.is_none())
                    && !bodies().any(|case| self.breaks(case.body))
                    && bodies().next_back().is_some_and(|case| self.ends(case.body))
            }
            _ => false,
        }
    }

    /// Whether a statement contains a break out of the enclosing loop or switch.
    fn breaks(&self, statement: Handle<Statement>) -> bool {
        let tree = self.tree;
        match tree.statements[statement] {
            Statement::Break => true,
            Statement::Block { statements, .. } => tree.list(statements).any(|statement| self.breaks(statement)),
            Statement::If { then, otherwise, .. } => {
                self.breaks(then) || otherwise.is_some_and(|otherwise| self.breaks(otherwise))
            }
            _ => false,
        }
    }

    fn declare(&mut self, variable: Ref, offset: u64) {
        let fresh = self.declared.insert(variable);
        self.require(fresh, "declared-twice", "a variable declared twice", offset);
        self.visible.insert(variable);
    }

    fn declaration(&mut self, handle: Handle<Statement>, wanted: Storage) {
        let tree = self.tree;
        let offset = tree.statements.offset(handle);
        let Statement::Variable {
            variable,
            base_type,
            array_size,
            value,
        } = tree.statements[handle]
        else {
            return;
        };
        let Some(Symbol::Variable { storage, modifiers, .. }) = tree.symbol(variable) else {
            return self.fail("declaration", "declaration of something that is not a variable", offset);
        };
        let has = |flags: u32| modifiers.flags & flags != 0;
        self.require(
            !has(modifier::CONST) || value.is_some(),
            "const-value",
            "a constant without a value",
            offset,
        );
        let outside = has(modifier::UNIFORM | modifier::IN | modifier::OUT);
        self.require(
            !outside || value.is_none(),
            "outside-value",
            "an initial value for an input or output",
            offset,
        );
        self.require(
            *storage == wanted,
            "storage",
            "storage does not fit where the variable is declared",
            offset,
        );
        self.ty(base_type, offset);
        let (ty, base) = (self.typer.variable(variable), self.typer.resolve(base_type));
        let fits = match ty {
            Ty::Array(array) if array_size > 0 => {
                self.array_count(array)
                    .is_some_and(|n| i32::from(n) == i32::from(array_size))
                    && self.same(self.typer.element(array), base)
            }
            _ => array_size == 0 && self.same(ty, base),
        };
        self.require(
            fits,
            "declared-type",
            "the declaration's type is not the variable's",
            offset,
        );
        if let Some(value) = value {
            self.value(value, ty, "initializer");
        }
        self.declare(variable, offset);
    }

    /// Same type, precision included.
    fn same(&self, a: Ty, b: Ty) -> bool {
        a.scalar() == b.scalar() && self.coerces(a, b)
    }

    /// Checks an expression that is read and must have a given type.
    pub(super) fn value(&mut self, expression: Handle<Expression>, wanted: Ty, what: &str) {
        self.expression(expression, Use::Read);
        let found = self.typer.of(expression);
        if !self.coerces(found, wanted) {
            let message = format!("{what} of an unexpected type");
            self.fail("type-mismatch", message, self.tree.expressions.offset(expression));
        }
    }

    fn condition(&mut self, test: Handle<Expression>) {
        self.value(test, Ty::Scalar(Scalar::Bool), "condition");
    }

    fn scoped(&mut self, inner: impl FnOnce(&mut Self)) {
        let outside = self.visible.clone();
        inner(self);
        self.visible = outside;
    }

    fn looped(&mut self, inner: impl FnOnce(&mut Self)) {
        self.loops += 1;
        self.breakables += 1;
        inner(self);
        self.loops -= 1;
        self.breakables -= 1;
    }

    pub(super) fn statement(&mut self, handle: Handle<Statement>) {
        let tree = self.tree;
        let offset = tree.statements.offset(handle);
        match tree.statements[handle] {
            Statement::Block {
                table,
                statements,
                kind,
            } => {
                let all = |s: &mut Self| tree.list(statements).for_each(|statement| s.statement(statement));
                self.require(
                    kind == BlockKind::BRACED || table.is_none(),
                    "block-table",
                    "a symbol table without a scope",
                    offset,
                );
                if kind == BlockKind::BRACED {
                    self.scoped(all)
                } else {
                    all(self)
                }
            }
            Statement::Break => self.require(self.breakables > 0, "break", "break outside a loop or switch", offset),
            Statement::Continue => self.require(self.loops > 0, "continue", "continue outside a loop", offset),
            Statement::Discard => {
                let fits = !matches!(self.kind, Some(ProgramKind(1 | 3..=8)));
                self.require(fits, "discard", "discard in a program kind that has none", offset);
            }
            Statement::Nop => {}
            Statement::Do { body, test } => {
                self.looped(|s| s.statement(body));
                self.condition(test);
            }
            Statement::Expression(expression) => self.expression(expression, Use::Read),
            Statement::For {
                initializer,
                test,
                next,
                body,
                ..
            } => self.scoped(|s| {
                initializer.into_iter().for_each(|initializer| s.statement(initializer));
                test.into_iter().for_each(|test| s.condition(test));
                next.into_iter().for_each(|next| s.expression(next, Use::Read));
                s.looped(|s| s.statement(body));
            }),
            Statement::If {
                test, then, otherwise, ..
            } => {
                self.condition(test);
                self.scoped(|s| s.statement(then));
                otherwise
                    .into_iter()
                    .for_each(|otherwise| self.scoped(|s| s.statement(otherwise)));
            }
            Statement::Return(None) => {
                self.require(self.returns == Ty::Void, "return", "return without a value", offset)
            }
            Statement::Return(Some(value)) => {
                self.require(
                    self.returns != Ty::Void,
                    "return",
                    "return with a value from a void function",
                    offset,
                );
                self.value(value, self.returns, "returned value");
            }
            Statement::Switch { value, cases, .. } => {
                self.value(value, Ty::Scalar(Scalar::Int), "switch value");
                let mut seen = HashSet::new();
                self.breakables += 1;
                self.scoped(|s| {
                    for case in tree.list(cases) {
                        let Case { value, body } = tree.cases[case];
                        let at = tree.cases.offset(case);
                        s.require(seen.insert(value), "case-twice", "two cases of one value", at);
                        s.statement(body);
                    }
                });
                self.breakables -= 1;
            }
            Statement::Variable { .. } => self.declaration(handle, Storage::LOCAL),
        }
    }
}

/// Whether a function's parameters have the built-in numbers, and its result the type, that its name requires in a
/// program kind: main is called by the host, with coordinates (10009), an input colour (10010) or the destination
/// colour (10011).
fn entry_fits(kind: Option<ProgramKind>, name: &str, builtins: &[i16], returns: Ty) -> bool {
    if name != "main" {
        return builtins.iter().all(|n| *n == -1);
    }
    let color = matches!(returns, Ty::Vector(s, 4) if s.class() == 0);
    match kind {
        Some(ProgramKind::RUNTIME_COLOR_FILTER) => builtins == [10010] && color,
        Some(ProgramKind::RUNTIME_SHADER | ProgramKind::PRIVATE_RUNTIME_SHADER) => builtins == [10009] && color,
        Some(ProgramKind::RUNTIME_BLENDER) => builtins == [10010, 10011] && color,
        Some(ProgramKind::FRAGMENT | ProgramKind::GRAPHITE_FRAGMENT) => matches!(builtins, [] | [10009]),
        Some(ProgramKind::VERTEX | ProgramKind::GRAPHITE_VERTEX) => builtins.is_empty(),
        _ => true,
    }
}
