//! An interpreter of SkSL trees: evaluates a program node by node in 32-bit floats.
//!
//! It verifies the translation and shares no code with it: values carry their types, there is no type analysis, and
//! functions follow their mathematical definitions. Unsupported nodes are errors.

use super::math;
use super::value::*;
use loader::sksl::*;
use std::collections::HashMap;

/// A variable and the path to a part of it.
struct Place(Ref, Vec<Step>);

enum Flow {
    On,
    Break,
    Continue,
    Return(Value),
}

/// The interpreter of one program.
pub(super) struct Eval<'a> {
    tree: &'a Tree,
    variables: HashMap<Ref, Value>,
    bodies: HashMap<Ref, Handle<Statement>>,
    /// Values of the uniforms by name.
    uniforms: &'a HashMap<String, Value>,
    /// The value written to `sk_FragColor`.
    color: Option<Value>,
    at: [f32; 2],
    fuel: u32,
    depth: u32,
    /// Negative control: this operator is evaluated as another.
    pub wrong: Option<(Operator, Operator)>,
}

impl<'a> Eval<'a> {
    pub(super) fn new(tree: &'a Tree, uniforms: &'a HashMap<String, Value>) -> Self {
        let mut bodies = HashMap::new();
        for (_, element) in tree.elements.iter() {
            if let Element::Function { declaration, body } = element {
                bodies.insert(*declaration, *body);
            }
        }
        Self {
            tree,
            variables: HashMap::new(),
            bodies,
            uniforms,
            color: None,
            at: [0.0; 2],
            fuel: 0,
            depth: 0,
            wrong: None,
        }
    }

    /// The colour of the pixel with this centre; `input` and `dest` are the arguments of filters and blenders.
    pub(super) fn color(&mut self, at: [f32; 2], input: &Value, dest: &Value) -> Outcome<[f32; 4]> {
        self.at = at;
        self.fuel = 2_000_000;
        self.variables.clear();
        self.color = None;
        self.globals()?;
        let (main, parameters) = self.main()?;
        let mut arguments = Vec::new();
        for parameter in &parameters {
            let Some(Symbol::Variable { modifiers, name, .. }) = self.tree.symbol(*parameter) else {
                return unknown("a parameter");
            };
            // Globals without a layout are set by the host, by name.
            let host = self.uniforms.get(&self.tree.strings[*name]);
            arguments.push(match modifiers.layout.builtin {
                -1 if host.is_some() => host.cloned().unwrap_or(Value::Void),
                10009 => Value::floats(&at),
                10010 => input.clone(),
                10011 => dest.clone(),
                n => return unknown(format!("builtin {n}")),
            });
        }
        for (parameter, argument) in parameters.into_iter().zip(arguments) {
            self.variables.insert(parameter, argument);
        }
        let color = match self.statement(self.bodies[&main])? {
            Flow::Return(Value::Void) | Flow::On => match self.color.take() {
                Some(color) => color,
                None => return unknown("no colour is written"),
            },
            Flow::Return(value) => value,
            _ => return unknown("a loop's end outside a loop"),
        };
        match color.nums()? {
            [r, g, b, a] => Ok([r.float(), g.float(), b.float(), a.float()]),
            _ => unknown("a main that gives no colour"),
        }
    }

    fn main(&self) -> Outcome<(Ref, Vec<Ref>)> {
        for function in self.bodies.keys() {
            if let Some(Symbol::Function { name, parameters, .. }) = self.tree.symbol(*function)
                && &self.tree.strings[*name] == "main"
            {
                return Ok((*function, self.tree.list(*parameters).collect()));
            }
        }
        unknown("no main")
    }

    fn globals(&mut self) -> Outcome<()> {
        let tree = self.tree;
        for element in tree.list(tree.top) {
            match tree.elements[element] {
                Element::Global { declaration } => {
                    let Statement::Variable { variable, .. } = tree.statements[declaration] else {
                        return unknown("a global that is not a variable");
                    };
                    let Some(Symbol::Variable { name, modifiers, .. }) = tree.symbol(variable) else {
                        return unknown("a global that is not a variable");
                    };
                    let name = &tree.strings[*name];
                    if modifiers.flags & modifier::UNIFORM != 0 {
                        let Some(value) = self.uniforms.get(name) else {
                            return unknown(format!("the uniform {name}"));
                        };
                        self.variables.insert(variable, value.clone());
                    } else if modifiers.flags & (modifier::IN | modifier::OUT) != 0 {
                        return unknown(format!("the stage variable {name}"));
                    } else {
                        self.statement(declaration)?;
                    }
                }
                Element::InterfaceBlock { .. } => return unknown("an interface block"),
                _ => {}
            }
        }
        Ok(())
    }

    fn type_of(&self, ty: Ref) -> Outcome<Type> {
        match ty.target() {
            Target::Builtin(name) => named(&self.tree.strings[name]),
            Target::Symbol(handle) => match &self.tree.symbols[handle] {
                Symbol::Array { component, count } => Ok(Type::Array(*component, usize::try_from(*count).unwrap_or(0))),
                Symbol::Struct { fields, .. } => Ok(Type::Struct(fields.iter().map(|field| field.ty).collect())),
                _ => unknown("a type"),
            },
            Target::None => unknown("no type"),
        }
    }

    /// The initial value of a variable.
    pub(super) fn zero(&self, ty: Ref) -> Outcome<Value> {
        Ok(match self.type_of(ty)? {
            Type::Nums(class, columns, rows) => Value::Nums {
                columns,
                rows,
                all: vec![Num::I(0).to(class); columns * rows],
            },
            Type::Array(element, count) => Value::Parts(vec![self.zero(element)?; count]),
            Type::Struct(fields) => {
                let all: Outcome<Vec<Value>> = fields.into_iter().map(|field| self.zero(field)).collect();
                Value::Parts(all?)
            }
            Type::Void => Value::Void,
        })
    }

    // Statements.

    fn statement(&mut self, handle: Handle<Statement>) -> Outcome<Flow> {
        self.burn()?;
        let tree = self.tree;
        match tree.statements[handle] {
            Statement::Block { statements, .. } => {
                for statement in tree.list(statements) {
                    match self.statement(statement)? {
                        Flow::On => {}
                        other => return Ok(other),
                    }
                }
            }
            Statement::Break => return Ok(Flow::Break),
            Statement::Continue => return Ok(Flow::Continue),
            Statement::Discard => return Err(Stop::Discarded),
            Statement::Nop => {}
            Statement::Do { body, test } => loop {
                match self.statement(body)? {
                    Flow::Break => break,
                    Flow::Return(value) => return Ok(Flow::Return(value)),
                    _ => {}
                }
                if !self.truth(test)? {
                    break;
                }
            },
            Statement::Expression(expression) => drop(self.expression(expression)?),
            Statement::For {
                initializer,
                test,
                next,
                body,
                ..
            } => {
                if let Some(initializer) = initializer {
                    self.statement(initializer)?;
                }
                while test.map_or(Ok(true), |test| self.truth(test))? {
                    match self.statement(body)? {
                        Flow::Break => break,
                        Flow::Return(value) => return Ok(Flow::Return(value)),
                        _ => {}
                    }
                    if let Some(next) = next {
                        self.expression(next)?;
                    }
                }
            }
            Statement::If {
                test, then, otherwise, ..
            } => {
                if self.truth(test)? {
                    return self.statement(then);
                }
                if let Some(otherwise) = otherwise {
                    return self.statement(otherwise);
                }
            }
            Statement::Return(None) => return Ok(Flow::Return(Value::Void)),
            Statement::Return(Some(value)) => return Ok(Flow::Return(self.expression(value)?)),
            Statement::Switch { value, cases, .. } => return self.switch(value, cases),
            Statement::Variable { variable, value, .. } => {
                let value = match value {
                    Some(value) => self.expression(value)?,
                    None => match tree.symbol(variable) {
                        Some(Symbol::Variable { ty, .. }) => self.zero(*ty)?,
                        _ => return unknown("a declaration"),
                    },
                };
                self.variables.insert(variable, value);
            }
        }
        Ok(Flow::On)
    }

    /// From the matching case, or else the default, through the following ones until a break.
    fn switch(&mut self, value: Handle<Expression>, cases: List<Handle<Case>>) -> Outcome<Flow> {
        let tree = self.tree;
        let wanted = self.expression(value)?.num()?.int();
        let all: Vec<Case> = tree.list(cases).map(|case| tree.cases[case]).collect();
        let start = all.iter().position(|case| case.value == Some(wanted));
        let Some(start) = start.or_else(|| all.iter().position(|case| case.value.is_none())) else {
            return Ok(Flow::On);
        };
        for case in &all[start..] {
            match self.statement(case.body)? {
                Flow::On => {}
                Flow::Break => return Ok(Flow::On),
                other => return Ok(other),
            }
        }
        Ok(Flow::On)
    }

    fn burn(&mut self) -> Outcome<()> {
        match self.fuel.checked_sub(1) {
            Some(left) => self.fuel = left,
            None => return unknown("no end in sight"),
        }
        Ok(())
    }

    fn truth(&mut self, expression: Handle<Expression>) -> Outcome<bool> {
        Ok(self.expression(expression)?.num()?.truth())
    }

    // Expressions.

    fn expression(&mut self, handle: Handle<Expression>) -> Outcome<Value> {
        self.burn()?;
        let tree = self.tree;
        Ok(match tree.expressions[handle] {
            Expression::Binary { left, op, right } => self.binary(left, op, right)?,
            Expression::Bool(value) => Value::vector(vec![Num::B(value)]),
            Expression::Float { bits, .. } => Value::floats(&[f32::from_bits(bits)]),
            Expression::Int { ty, bits } => match self.type_of(ty)? {
                Type::Nums(Class::Uint, ..) => Value::vector(vec![Num::U(bits)]),
                Type::Nums(Class::Float, ..) => Value::floats(&[bits as i32 as f32]),
                _ => Value::vector(vec![Num::I(bits as i32)]),
            },
            Expression::Constructor { command, ty, arguments } => self.constructor(command, ty, arguments)?,
            Expression::Call {
                function, arguments, ..
            } => self.call(function, arguments)?,
            Expression::Prefix { op, operand } => self.prefix(op, operand)?,
            Expression::Postfix { op, operand } => {
                let place = self.place(operand)?;
                let old = self.load(&place)?;
                let new = step(&old, op)?;
                self.store(&place, new)?;
                old
            }
            Expression::Setting(_) => return unknown("a setting"),
            Expression::Ternary { test, then, otherwise } => {
                let chosen = if self.truth(test)? { then } else { otherwise };
                self.expression(chosen)?
            }
            Expression::Variable { variable, .. } => self.variable(variable)?,
            Expression::FieldAccess { base, index, .. } => {
                let base = self.expression(base)?;
                part(&base, &Step::Part(index.into()))?
            }
            Expression::Index { base, index } => {
                let base = self.expression(base)?;
                let index = self.expression(index)?.num()?.int();
                part(&base, &Step::Part(usize::try_from(index).unwrap_or(usize::MAX)))?
            }
            Expression::Swizzle {
                base,
                components,
                count,
            } => {
                let base = self.expression(base)?;
                part(
                    &base,
                    &Step::Components(components[..usize::from(count.min(4))].to_vec()),
                )?
            }
        })
    }

    fn variable(&self, variable: Ref) -> Outcome<Value> {
        if let Target::Builtin(name) = variable.target() {
            return match &self.tree.strings[name] {
                "sk_FragCoord" => Ok(Value::floats(&[self.at[0], self.at[1], 0.0, 1.0])),
                "sk_FragColor" => Ok(self.color.clone().unwrap_or(Value::floats(&[0.0; 4]))),
                name => unknown(format!("the builtin {name}")),
            };
        }
        match self.variables.get(&variable) {
            Some(value) => Ok(value.clone()),
            None => unknown("a variable without a value"),
        }
    }

    fn prefix(&mut self, op: Operator, operand: Handle<Expression>) -> Outcome<Value> {
        if matches!(op, Operator::INCREMENT | Operator::DECREMENT) {
            let place = self.place(operand)?;
            let new = step(&self.load(&place)?, op)?;
            self.store(&place, new.clone())?;
            return Ok(new);
        }
        let value = self.expression(operand)?;
        math::map(&value, |n| match (op, n) {
            (Operator::PLUS, n) => n,
            (Operator::MINUS, Num::F(x)) => Num::F(-x),
            (Operator::MINUS, Num::I(x)) => Num::I(x.wrapping_neg()),
            (Operator::MINUS, Num::U(x)) => Num::U(x.wrapping_neg()),
            (Operator::NOT, n) => Num::B(!n.truth()),
            (Operator::BIT_NOT, Num::U(x)) => Num::U(!x),
            (_, n) => Num::I(!n.int()),
        })
    }

    fn binary(&mut self, left: Handle<Expression>, op: Operator, right: Handle<Expression>) -> Outcome<Value> {
        let op = match self.wrong {
            Some((taken, for_that)) if op == taken => for_that,
            _ => op,
        };
        let bool = |b: bool| Ok(Value::vector(vec![Num::B(b)]));
        match op {
            Operator::COMMA => {
                self.expression(left)?;
                self.expression(right)
            }
            Operator::AND => {
                let both = self.truth(left)? && self.truth(right)?;
                bool(both)
            }
            Operator::OR => {
                let either = self.truth(left)? || self.truth(right)?;
                bool(either)
            }
            Operator::XOR => {
                let (a, b) = (self.truth(left)?, self.truth(right)?);
                bool(a != b)
            }
            Operator::ASSIGN => {
                let place = self.place(left)?;
                let value = self.expression(right)?;
                self.store(&place, value.clone())?;
                Ok(value)
            }
            Operator::EQ | Operator::NE => {
                let (a, b) = (self.expression(left)?, self.expression(right)?);
                bool(a.equals(&b) == (op == Operator::EQ))
            }
            op => match op.without_assignment() {
                Some(op) => {
                    let place = self.place(left)?;
                    let b = self.expression(right)?;
                    let value = math::arithmetic(&self.load(&place)?, op, &b)?;
                    self.store(&place, value.clone())?;
                    Ok(value)
                }
                None => {
                    let (a, b) = (self.expression(left)?, self.expression(right)?);
                    math::arithmetic(&a, op, &b)
                }
            },
        }
    }

    fn constructor(&mut self, command: Command, ty: Ref, arguments: List<Handle<Expression>>) -> Outcome<Value> {
        let tree = self.tree;
        let all: Outcome<Vec<Value>> = tree.list(arguments).map(|a| self.expression(a)).collect();
        let all = all?;
        let (class, columns, rows) = match self.type_of(ty)? {
            Type::Nums(class, columns, rows) => (class, columns, rows),
            Type::Array(element, _) => {
                let class = match self.type_of(element)? {
                    Type::Nums(class, ..) => Some(class),
                    _ => None,
                };
                let parts = match (command, &all[..]) {
                    (Command::CONSTRUCTOR_ARRAY_CAST, [Value::Parts(parts)]) => parts.clone(),
                    _ => all,
                };
                let value = Value::Parts(parts);
                return Ok(class.map_or(value.clone(), |class| value.to(class)));
            }
            Type::Struct(_) => return Ok(Value::Parts(all)),
            Type::Void => return unknown("a constructor of void"),
        };
        let mut flat = Vec::new();
        for value in &all {
            flat.extend(value.nums()?.iter().map(|n| n.to(class)));
        }
        let one = flat.first().copied();
        let nums = match (command, one, &all[..]) {
            (Command::CONSTRUCTOR_SPLAT, Some(one), _) => vec![one; columns * rows],
            (Command::CONSTRUCTOR_DIAGONAL_MATRIX, Some(one), _) => (0..columns * rows)
                .map(|i| if i / rows == i % rows { one } else { Num::F(0.0) })
                .collect(),
            (
                Command::CONSTRUCTOR_MATRIX_RESIZE,
                _,
                [
                    Value::Nums {
                        columns: from,
                        rows: height,
                        ..
                    },
                ],
            ) => (0..columns * rows)
                .map(|i| {
                    let (c, r) = (i / rows, i % rows);
                    match c < *from && r < *height {
                        true => flat[c * height + r],
                        false => Num::F(if c == r { 1.0 } else { 0.0 }),
                    }
                })
                .collect(),
            _ => flat,
        };
        if nums.len() != columns * rows {
            return unknown("a constructor with too few or too many components");
        }
        Ok(Value::Nums {
            columns,
            rows,
            all: nums,
        })
    }

    // Calls.

    fn call(&mut self, function: Ref, arguments: List<Handle<Expression>>) -> Outcome<Value> {
        let tree = self.tree;
        if let Target::Builtin(name) = function.target() {
            let name = &tree.strings[name];
            if name == "modf" {
                let all: Vec<_> = tree.list(arguments).collect();
                let (value, place) = (self.expression(all[0])?, self.place(all[1])?);
                let whole = math::map(&value, |n| Num::F(n.float().trunc()))?;
                let rest = math::arithmetic(&value, Operator::MINUS, &whole)?;
                self.store(&place, whole)?;
                return Ok(rest);
            }
            if let Some(own) = self.carried(name, arguments.len()) {
                return self.call(own, arguments);
            }
            let all: Outcome<Vec<Value>> = tree.list(arguments).map(|a| self.expression(a)).collect();
            return math::function(name, &all?);
        }
        let Some(Symbol::Function { parameters, .. }) = tree.symbol(function) else {
            return unknown("a call of no function");
        };
        let Some(&body) = self.bodies.get(&function) else {
            return unknown("a function without a body");
        };
        let (mut values, mut outs) = (Vec::new(), Vec::new());
        for (parameter, argument) in tree.list(*parameters).zip(tree.list(arguments)) {
            let Some(Symbol::Variable { modifiers, ty, .. }) = tree.symbol(parameter) else {
                return unknown("a parameter");
            };
            let out = modifiers.flags & modifier::OUT != 0;
            let reads = !out || modifiers.flags & modifier::IN != 0;
            if out {
                let place = self.place(argument)?;
                values.push(if reads { self.load(&place)? } else { self.zero(*ty)? });
                outs.push((parameter, place));
            } else {
                values.push(self.expression(argument)?);
            }
        }
        self.depth += 1;
        if self.depth > 100 {
            return unknown("calls nested over 100 deep");
        }
        for (parameter, value) in tree.list(*parameters).zip(values) {
            self.variables.insert(parameter, value);
        }
        let flow = self.statement(body)?;
        self.depth -= 1;
        for (parameter, place) in outs {
            let value = self.variable(parameter)?;
            self.store(&place, value)?;
        }
        Ok(match flow {
            Flow::Return(value) => value,
            _ => Value::Void,
        })
    }

    /// A module's function that the file has a copy of.
    fn carried(&self, wanted: &str, count: usize) -> Option<Ref> {
        let fits = |function: &&Ref| match self.tree.symbol(**function) {
            Some(Symbol::Function { name, parameters, .. }) => {
                &self.tree.strings[*name] == wanted && parameters.len() == count
            }
            _ => false,
        };
        self.bodies.keys().find(fits).copied()
    }

    // Assignable places.

    fn place(&mut self, handle: Handle<Expression>) -> Outcome<Place> {
        let (base, last) = match self.tree.expressions[handle] {
            Expression::Variable { variable, .. } => return Ok(Place(variable, Vec::new())),
            Expression::FieldAccess { base, index, .. } => (base, Step::Part(index.into())),
            Expression::Swizzle {
                base,
                components,
                count,
            } => (base, Step::Components(components[..usize::from(count.min(4))].to_vec())),
            Expression::Index { base, index } => {
                let mut place = self.place(base)?;
                let index = self.expression(index)?.num()?.int();
                place.1.push(Step::Part(usize::try_from(index).unwrap_or(usize::MAX)));
                return Ok(place);
            }
            // A parenthesised expression, or a choice with a constant condition.
            _ => return unknown("a place of another kind"),
        };
        let mut place = self.place(base)?;
        place.1.push(last);
        Ok(place)
    }

    fn load(&self, place: &Place) -> Outcome<Value> {
        let mut value = self.variable(place.0)?;
        for step in &place.1 {
            value = part(&value, step)?;
        }
        Ok(value)
    }

    fn store(&mut self, place: &Place, value: Value) -> Outcome<()> {
        let mut whole = self.variable(place.0)?;
        put(&mut whole, &place.1, value)?;
        if let Target::Builtin(name) = place.0.target() {
            match &self.tree.strings[name] {
                "sk_FragColor" => self.color = Some(whole),
                name => return unknown(format!("writing {name}")),
            }
        } else {
            self.variables.insert(place.0, whole);
        }
        Ok(())
    }
}

fn step(value: &Value, op: Operator) -> Outcome<Value> {
    let by = if op == Operator::INCREMENT {
        Operator::PLUS
    } else {
        Operator::MINUS
    };
    math::arithmetic(value, by, &Value::vector(vec![Num::I(1)]))
}
