//! Calls and side effects in expressions and statements.

use super::glsl::Glsl;
use loader::sksl::*;

/// Visits an expression and all its parts.
fn parts(tree: &Tree, expression: Handle<Expression>, visit: &mut impl FnMut(Handle<Expression>)) {
    visit(expression);
    let mut inner = Vec::new();
    match tree.expressions[expression] {
        Expression::Binary { left, right, .. } => inner.extend([left, right]),
        Expression::Constructor { arguments, .. } | Expression::Call { arguments, .. } => {
            inner.extend(tree.list(arguments));
        }
        Expression::FieldAccess { base, .. } | Expression::Swizzle { base, .. } => inner.push(base),
        Expression::Index { base, index } => inner.extend([base, index]),
        Expression::Prefix { operand, .. } | Expression::Postfix { operand, .. } => inner.push(operand),
        Expression::Ternary { test, then, otherwise } => inner.extend([test, then, otherwise]),
        Expression::Bool(_)
        | Expression::Float { .. }
        | Expression::Int { .. }
        | Expression::Setting(_)
        | Expression::Variable { .. } => {}
    }
    inner.into_iter().for_each(|part| parts(tree, part, visit));
}

/// Visits every expression in a statement, with all its parts.
fn expressions(tree: &Tree, statement: Handle<Statement>, visit: &mut impl FnMut(Handle<Expression>)) {
    let (mut statements, mut found) = (Vec::new(), Vec::new());
    match tree.statements[statement] {
        Statement::Block { statements: all, .. } => statements.extend(tree.list(all)),
        Statement::Break | Statement::Continue | Statement::Discard | Statement::Nop => {}
        Statement::Do { body, test } => {
            statements.push(body);
            found.push(test);
        }
        Statement::Expression(expression) => found.push(expression),
        Statement::For {
            initializer,
            test,
            next,
            body,
            ..
        } => {
            statements.extend(initializer);
            statements.push(body);
            found.extend(test.into_iter().chain(next));
        }
        Statement::If {
            test, then, otherwise, ..
        } => {
            found.push(test);
            statements.push(then);
            statements.extend(otherwise);
        }
        Statement::Return(value) => found.extend(value),
        Statement::Switch { value, cases, .. } => {
            found.push(value);
            statements.extend(tree.list(cases).map(|case| tree.cases[case].body));
        }
        Statement::Variable { value, .. } => found.extend(value),
    }
    found.into_iter().for_each(|expression| parts(tree, expression, visit));
    statements
        .into_iter()
        .for_each(|statement| expressions(tree, statement, visit));
}

/// The variable that an l-value is part of.
pub(super) fn root(tree: &Tree, mut expression: Handle<Expression>) -> Option<Ref> {
    loop {
        match tree.expressions[expression] {
            Expression::Swizzle { base, .. }
            | Expression::Index { base, .. }
            | Expression::FieldAccess { base, .. } => expression = base,
            Expression::Variable { variable, .. } => return Some(variable),
            _ => return None,
        }
    }
}

impl Glsl<'_> {
    /// Every function in the file that a statement calls, in order.
    pub(super) fn calls_of_statement(&mut self, statement: Handle<Statement>, found: &mut Vec<Ref>) {
        let tree = self.tree;
        let mut calls = Vec::new();
        expressions(tree, statement, &mut |part| {
            if let Expression::Call {
                function, arguments, ..
            } = tree.expressions[part]
            {
                calls.push((function, arguments));
            }
        });
        for (function, arguments) in calls {
            found.extend(match function.target() {
                Target::Builtin(name) => self.shared(&tree.strings[name], arguments),
                _ => Some(function),
            });
        }
    }

    /// Whether evaluating an expression has side effects.
    pub(super) fn has_effects(&mut self, expression: Handle<Expression>) -> bool {
        let tree = self.tree;
        let (mut writes, mut called) = (false, Vec::new());
        parts(tree, expression, &mut |part| match tree.expressions[part] {
            Expression::Binary { op, .. } | Expression::Prefix { op, .. } | Expression::Postfix { op, .. } => {
                writes |= op.is_assignment();
            }
            Expression::Call { function, .. } => called.extend(function.as_symbol().is_some().then_some(function)),
            _ => {}
        });
        writes || called.into_iter().any(|function| self.function_has_effects(function))
    }

    /// Whether a call of a function writes an argument or a global, directly or through its callees.
    fn function_has_effects(&mut self, function: Ref) -> bool {
        if let Some(known) = self.effects.get(&function) {
            return *known;
        }
        let tree = self.tree;
        // A function under examination is assumed to have side effects, so that recursion ends.
        self.effects.insert(function, true);
        let out = match tree.symbol(function) {
            Some(Symbol::Function { parameters, .. }) => tree.list(*parameters).any(|parameter| {
                matches!(tree.symbol(parameter), Some(Symbol::Variable { modifiers, .. })
                    if modifiers.flags & modifier::OUT != 0)
            }),
            _ => true,
        };
        let body = tree.elements.iter().find_map(|(_, element)| match element {
            Element::Function { declaration, body } if *declaration == function => Some(*body),
            _ => None,
        });
        let Some(body) = body.filter(|_| !out) else {
            return true;
        };
        let mut written = Vec::new();
        expressions(tree, body, &mut |part| match tree.expressions[part] {
            Expression::Binary { left, op, .. } if op.is_assignment() => written.push(left),
            Expression::Prefix { op, operand } | Expression::Postfix { op, operand } if op.is_assignment() => {
                written.push(operand);
            }
            // A call may write any of its arguments.
            Expression::Variable { kind, .. } if kind != RefKind::READ => written.push(part),
            _ => {}
        });
        let writes = written.into_iter().any(|target| {
            let variable = root(tree, target).and_then(|variable| tree.symbol(variable));
            !matches!(variable, Some(Symbol::Variable { storage, .. }) if *storage != Storage::GLOBAL)
        });
        let mut called = Vec::new();
        self.calls_of_statement(body, &mut called);
        let effects = writes || called.into_iter().any(|callee| self.function_has_effects(callee));
        self.effects.insert(function, effects);
        effects
    }
}
