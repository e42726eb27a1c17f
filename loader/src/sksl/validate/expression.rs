//! Expressions.

use super::*;

impl Checker<'_> {
    pub(super) fn expression(&mut self, handle: Handle<Expression>, used: Use) {
        let tree = self.tree;
        let offset = tree.expressions.offset(handle);
        if used != Use::Read {
            let fits = matches!(
                tree.expressions[handle],
                Expression::Variable { .. }
                    | Expression::Swizzle { .. }
                    | Expression::Index { .. }
                    | Expression::FieldAccess { .. }
            );
            self.require(
                fits,
                "not-assignable",
                "written, but no variable or part of one",
                offset,
            );
        }
        match tree.expressions[handle] {
            Expression::Binary { left, op, right } => self.binary(left, op, right, offset),
            Expression::Bool(_) => {}
            Expression::Float { ty, .. } => {
                let fits = matches!(self.typer.resolve(ty), Ty::Scalar(s) if s.class() == 0);
                self.require(fits, "literal-type", "float literal of another type", offset);
            }
            Expression::Int { ty, .. } => {
                let fits = matches!(self.typer.resolve(ty), Ty::Scalar(s) if matches!(s.class(), 1 | 2));
                self.require(fits, "literal-type", "int literal of another type", offset);
            }
            Expression::Constructor { command, ty, arguments } => {
                self.ty(ty, offset);
                self.constructor(command, self.typer.resolve(ty), arguments, offset);
            }
            Expression::FieldAccess { base, index, owner } => self.field_access(base, index, owner, used, offset),
            Expression::Call {
                ty,
                function,
                arguments,
            } => self.call(ty, function, arguments, offset),
            Expression::Index { base, index } => {
                self.expression(base, used);
                self.expression(index, Use::Read);
                let fits = matches!(
                    self.typer.of(base),
                    Ty::Array(_) | Ty::Vector(..) | Ty::Matrix(..) | Ty::Unknown
                );
                self.require(fits, "index-base", "index into something that has no parts", offset);
                let fits = matches!(self.typer.of(index), Ty::Scalar(s) if matches!(s.class(), 1 | 2));
                self.require(fits, "index-type", "index that is not an integer", offset);
                if let Expression::Int { bits, .. } = tree.expressions[index] {
                    let size = match self.typer.of(base) {
                        Ty::Array(array) => self.array_count(array).and_then(|n| u32::try_from(n).ok()),
                        Ty::Vector(_, n) | Ty::Matrix(_, n, _) => Some(n.into()),
                        _ => None,
                    };
                    let fits = size.is_none_or(|size| bits < size);
                    self.require(fits, "index-range", "a constant index beyond the end", offset);
                }
            }
            Expression::Prefix { op, operand } => self.unary(op, operand, true, offset),
            Expression::Postfix { op, operand } => self.unary(op, operand, false, offset),
            Expression::Setting(_) => {}
            Expression::Swizzle {
                base,
                components,
                count,
            } => {
                self.expression(base, used);
                let size = match self.typer.of(base) {
                    Ty::Scalar(_) => 1,
                    Ty::Vector(_, n) => n,
                    Ty::Unknown => 4,
                    _ => 0,
                };
                let used_components = &components[..usize::from(count.min(4))];
                self.require(
                    used_components.iter().all(|c| *c < size),
                    "swizzle-range",
                    "component beyond the vector",
                    offset,
                );
                let distinct: HashSet<_> = used_components.iter().collect();
                let fits = used == Use::Read || distinct.len() == used_components.len();
                self.require(fits, "swizzle-write", "a component written twice", offset);
            }
            Expression::Ternary { test, then, otherwise } => {
                self.value(test, Ty::Scalar(Scalar::Bool), "condition");
                self.expression(then, Use::Read);
                self.expression(otherwise, Use::Read);
                let (a, b) = (self.typer.of(then), self.typer.of(otherwise));
                self.require(
                    self.coerces(a, b) || self.coerces(b, a),
                    "ternary",
                    "branches of different types",
                    offset,
                );
            }
            Expression::Variable { variable, kind } => self.variable(variable, kind, used, offset),
        }
    }

    fn variable(&mut self, variable: Ref, kind: RefKind, used: Use, offset: u64) {
        let tree = self.tree;
        let fits = match used {
            Use::Read => kind == RefKind::READ,
            Use::Write => kind == RefKind::WRITE,
            Use::ReadWrite => kind == RefKind::READ_WRITE,
            Use::Argument => matches!(kind, RefKind::POINTER | RefKind::READ_WRITE | RefKind::WRITE),
        };
        self.require(
            fits,
            "ref-kind",
            "the reference's kind is not how the variable is used",
            offset,
        );
        match variable.target() {
            Target::Builtin(name) => {
                let row = builtins::variable(&tree.strings[name]);
                let seen = builtins::sees_variable(self.kind, &tree.strings[name]);
                self.require(
                    seen,
                    "unknown-builtin",
                    "no such builtin variable in this program kind",
                    offset,
                );
                let fits = used == Use::Read || row.is_none_or(|row| row.writable);
                self.require(fits, "not-assignable", "a builtin that is only read", offset);
            }
            Target::Symbol(handle) => {
                let Symbol::Variable { modifiers, .. } = &tree.symbols[handle] else {
                    return self.fail("variable", "reference to something that is not a variable", offset);
                };
                let fits = used == Use::Read || modifiers.flags & (modifier::CONST | modifier::UNIFORM) == 0;
                self.require(fits, "not-assignable", "a constant or uniform written", offset);
                let seen = self.visible.contains(&variable) || (self.has_shared && !self.declared.contains(&variable));
                self.require(
                    seen,
                    "not-visible",
                    "a variable before its declaration or outside its scope",
                    offset,
                );
            }
            Target::None => {}
        }
    }

    fn field_access(&mut self, base: Handle<Expression>, index: u8, owner: FieldOwner, used: Use, offset: u64) {
        self.expression(base, used);
        let known = match self.tree.expressions[base] {
            Expression::Variable { variable, .. } => match variable.target() {
                Target::Builtin(name) => builtins::block_field(&self.tree.strings[name], index).is_some(),
                _ => false,
            },
            _ => false,
        };
        let ty = self.typer.of(base);
        let fits = known || self.typer.field(ty, index).is_some();
        self.require(fits, "field", "no field of this index", offset);
        let block =
            matches!(ty, Ty::Struct(s) if matches!(self.tree.symbols[s], Symbol::Struct { interface_block: true, .. }));
        let fits = owner == FieldOwner::DEFAULT || known || block;
        self.require(
            fits,
            "field-owner",
            "a field of no interface block reached by its bare name",
            offset,
        );
    }

    fn unary(&mut self, op: Operator, operand: Handle<Expression>, prefix: bool, offset: u64) {
        let step = matches!(op, Operator::INCREMENT | Operator::DECREMENT);
        self.expression(operand, if step { Use::ReadWrite } else { Use::Read });
        let ty = self.typer.of(operand);
        let class = ty.scalar().map(Scalar::class);
        let fits = match op {
            Operator::INCREMENT | Operator::DECREMENT => class.is_none_or(|c| c < 3),
            Operator::NOT if prefix => ty == Ty::Scalar(Scalar::Bool),
            Operator::BIT_NOT if prefix => matches!(class, Some(1 | 2)),
            Operator::PLUS | Operator::MINUS if prefix => matches!(class, Some(0..=2)),
            _ => false,
        };
        let known = fits || matches!(ty, Ty::Unknown) && prefix;
        self.require(known, "operator", "an operator its operand does not have", offset);
    }

    fn binary(&mut self, left: Handle<Expression>, op: Operator, right: Handle<Expression>, offset: u64) {
        let used = match op {
            Operator::ASSIGN => Use::Write,
            op if op.is_assignment() => Use::ReadWrite,
            _ => Use::Read,
        };
        self.expression(left, used);
        self.expression(right, Use::Read);
        let (l, r) = (self.typer.of(left), self.typer.of(right));
        if matches!(l, Ty::Unknown | Ty::Generic(_)) || matches!(r, Ty::Unknown | Ty::Generic(_)) {
            return;
        }
        let bool = Ty::Scalar(Scalar::Bool);
        let either = self.coerces(l, r) || self.coerces(r, l);
        let fits = match op {
            Operator::COMMA => true,
            Operator::ASSIGN => self.coerces(r, l),
            Operator::AND | Operator::OR | Operator::XOR => l == bool && r == bool,
            Operator::EQ | Operator::NE => either,
            Operator::LT | Operator::GT | Operator::LE | Operator::GE => {
                either && matches!(l, Ty::Scalar(s) if s != Scalar::Bool)
            }
            op => arithmetic(l, op.without_assignment().unwrap_or(op), r),
        };
        self.require(fits, "operator", "an operator its operands do not have", offset);
    }

    fn constructor(&mut self, command: Command, ty: Ty, arguments: List<Handle<Expression>>, offset: u64) {
        let tree = self.tree;
        tree.list(arguments)
            .for_each(|argument| self.expression(argument, Use::Read));
        let types: Vec<Ty> = tree.list(arguments).map(|argument| self.typer.of(argument)).collect();
        if types.contains(&Ty::Unknown)
            || types.iter().any(|t| matches!(t, Ty::Generic(_)))
            || matches!(ty, Ty::Generic(_))
        {
            return;
        }
        let first = types.first().copied().unwrap_or(Ty::Void);
        let fits = match (command, ty) {
            (Command::CONSTRUCTOR_ARRAY, Ty::Array(array)) => {
                self.array_count(array) == i8::try_from(types.len()).ok()
                    && types.iter().all(|t| self.coerces(*t, self.typer.element(array)))
            }
            (Command::CONSTRUCTOR_ARRAY_CAST, Ty::Array(to)) => match first {
                Ty::Array(from) => {
                    let (a, b) = (self.typer.element(from), self.typer.element(to));
                    let class = |ty: Ty| ty.scalar().map(Scalar::class);
                    self.array_count(from) == self.array_count(to)
                        && class(a) == class(b)
                        && b.scalar().is_some_and(|s| a.with_scalar(s) == b)
                }
                _ => false,
            },
            (Command::CONSTRUCTOR_COMPOUND, Ty::Vector(s, _) | Ty::Matrix(s, _, _)) => {
                types.iter().all(|t| t.scalar().is_some_and(|from| from.coerces_to(s)))
                    && types.iter().map(|t| t.slots()).sum::<u32>() == ty.slots()
            }
            (Command::CONSTRUCTOR_COMPOUND_CAST, Ty::Vector(..) | Ty::Matrix(..)) => {
                ty.scalar().is_some_and(|s| first.with_scalar(s) == ty)
            }
            (Command::CONSTRUCTOR_DIAGONAL_MATRIX, Ty::Matrix(s, ..)) => self.coerces(first, Ty::Scalar(s)),
            (Command::CONSTRUCTOR_MATRIX_RESIZE, Ty::Matrix(..)) => matches!(first, Ty::Matrix(..)),
            (Command::CONSTRUCTOR_SCALAR_CAST, Ty::Scalar(_)) => matches!(first, Ty::Scalar(_)),
            (Command::CONSTRUCTOR_SPLAT, Ty::Vector(s, _)) => self.coerces(first, Ty::Scalar(s)),
            (Command::CONSTRUCTOR_STRUCT, Ty::Struct(handle)) => match &tree.symbols[handle] {
                Symbol::Struct { fields, .. } => {
                    fields.len() == types.len()
                        && fields
                            .iter()
                            .zip(&types)
                            .all(|(f, t)| self.coerces(*t, self.typer.resolve(f.ty)))
                }
                _ => false,
            },
            _ => false,
        };
        self.require(
            fits,
            "constructor",
            "a constructor whose arguments do not match its type",
            offset,
        );
    }

    fn call(&mut self, ty: Ref, function: Ref, arguments: List<Handle<Expression>>, offset: u64) {
        let tree = self.tree;
        self.ty(ty, offset);
        match function.target() {
            Target::Builtin(name) => {
                let name = &tree.strings[name];
                if !builtins::is_function(self.kind, name, arguments.len()) {
                    let message = format!("no builtin function {name} with {} parameters here", arguments.len());
                    self.fail("unknown-builtin", message, offset);
                }
                for argument in tree.list(arguments) {
                    let used = if builtins::writes_argument(name) {
                        None
                    } else {
                        Some(Use::Read)
                    };
                    self.argument(argument, used);
                }
                let types: Vec<Ty> = tree.list(arguments).map(|argument| self.typer.of(argument)).collect();
                let result = self.typer.resolve(ty);
                let open = |ty: &Ty| matches!(ty, Ty::Unknown | Ty::Generic(_));
                let fits =
                    types.iter().chain([&result]).any(open) || signatures::fits(name, &types, result).unwrap_or(true);
                let message = "no overload of this built-in function has these argument and result types";
                self.require(fits, "overload", message, offset);
            }
            Target::Symbol(handle) => {
                let Symbol::Function {
                    parameters, returns, ..
                } = &tree.symbols[handle]
                else {
                    return self.fail("call", "call of something that is not a function", offset);
                };
                self.require(
                    parameters.len() == arguments.len(),
                    "argument-count",
                    "the number of arguments differs from that of parameters",
                    offset,
                );
                for (argument, parameter) in tree.list(arguments).zip(tree.list(*parameters)) {
                    self.parameter(argument, parameter, offset);
                }
                let (result, wanted) = (self.typer.resolve(ty), self.typer.resolve(*returns));
                let open = matches!(wanted, Ty::Generic(_)) || matches!(result, Ty::Generic(_));
                let fits = open || result.scalar() == wanted.scalar() && self.coerces(result, wanted);
                self.require(fits, "call-type", "a result the function does not give", offset);
            }
            Target::None => {}
        }
    }

    fn parameter(&mut self, argument: Handle<Expression>, parameter: Ref, offset: u64) {
        let out = match self.tree.symbol(parameter) {
            Some(Symbol::Variable { modifiers, .. }) => modifiers.flags & modifier::OUT != 0,
            _ => false,
        };
        self.expression(argument, if out { Use::Argument } else { Use::Read });
        let (found, wanted) = (self.typer.of(argument), self.typer.variable(parameter));
        self.require(
            self.coerces(found, wanted),
            "argument-type",
            "an argument whose type differs from the parameter's",
            offset,
        );
    }

    /// An argument of a built-in function; `None` if it may be written.
    fn argument(&mut self, argument: Handle<Expression>, used: Option<Use>) {
        let mut root = argument;
        while let Expression::Swizzle { base, .. }
        | Expression::Index { base, .. }
        | Expression::FieldAccess { base, .. } = self.tree.expressions[root]
        {
            root = base;
        }
        let written = matches!(self.tree.expressions[root], Expression::Variable { kind, .. } if kind != RefKind::READ);
        self.expression(
            argument,
            used.unwrap_or(if written { Use::Argument } else { Use::Read }),
        );
    }
}

/// Whether `+ - * / % << >> & | ^` accepts these operands.
fn arithmetic(l: Ty, op: Operator, r: Ty) -> bool {
    let (Some(a), Some(b)) = (l.scalar(), r.scalar()) else {
        return false;
    };
    if a == Scalar::Bool || b == Scalar::Bool {
        return false;
    }
    let shift = matches!(op, Operator::SHL | Operator::SHR);
    let whole = matches!(
        op,
        Operator::PERCENT | Operator::BIT_AND | Operator::BIT_OR | Operator::BIT_XOR
    );
    if (shift || whole) && (a.class() == 0 || b.class() == 0) {
        return false;
    }
    if !(a.coerces_to(b) || b.coerces_to(a) || shift) {
        return false;
    }
    let shapes = match (l, r) {
        (Ty::Scalar(_), _) | (_, Ty::Scalar(_)) => true,
        (Ty::Vector(_, n), Ty::Vector(_, m)) => n == m,
        (Ty::Matrix(_, c, _), Ty::Vector(_, n)) => op == Operator::STAR && c == n,
        (Ty::Vector(_, n), Ty::Matrix(_, _, r)) => op == Operator::STAR && n == r,
        (Ty::Matrix(_, c, r), Ty::Matrix(_, d, s)) => (op == Operator::STAR && c == s) || (c, r) == (d, s),
        _ => false,
    };
    shapes && !((shift || whole) && matches!(l, Ty::Matrix(..)))
}
