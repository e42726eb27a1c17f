//! Random SkSL programs over the coordinates and two uniforms, smooth enough for two machines to agree.

use loader::sksl::*;

struct Maker {
    b: Builder,
    random: fastrand::Rng,
    /// Readable variables: components and reference.
    known: Vec<(u8, Ref)>,
    /// Locals, which are also writable.
    locals: Vec<(u8, Ref)>,
    helper: Option<Ref>,
    next: u32,
}

const TYPES: [&str; 4] = ["float", "float2", "float3", "float4"];

fn name(size: u8) -> &'static str {
    TYPES[usize::from(size) - 1]
}

impl Maker {
    fn size(&mut self) -> u8 {
        1 + self.random.usize(..4) as u8
    }

    /// A value between about -4 and 4 with a number of components.
    fn value(&mut self, size: u8, depth: u32) -> Handle<Expression> {
        if depth == 0 {
            return self.leaf(size);
        }
        match self.random.usize(..9) {
            0 | 1 => {
                let op = [Operator::PLUS, Operator::MINUS, Operator::STAR][self.random.usize(..3)];
                let (l, r) = (self.value(size, depth - 1), self.value(size, depth - 1));
                let combined = self.b.binary(l, op, r);
                self.bounded(size, combined)
            }
            2 => {
                let f = ["sin", "cos", "abs", "saturate"][self.random.usize(..4)];
                let inner = self.value(size, depth - 1);
                self.b.call(name(size), f, &[inner])
            }
            3 => {
                let f = ["min", "max"][self.random.usize(..2)];
                let (l, r) = (self.value(size, depth - 1), self.value(size, depth - 1));
                self.b.call(name(size), f, &[l, r])
            }
            4 => {
                let (l, r) = (self.value(size, depth - 1), self.value(size, depth - 1));
                let t = self.unit();
                self.b.call(name(size), "mix", &[l, r, t])
            }
            5 => {
                let from = 2 + self.random.usize(..3) as u8;
                let base = self.value(from, depth - 1);
                let mut components = [0; 4];
                for component in &mut components[..usize::from(size)] {
                    *component = self.random.usize(..usize::from(from)) as u8;
                }
                self.b.expression(Expression::Swizzle {
                    base,
                    components,
                    count: size,
                })
            }
            6 if size > 1 => {
                let first = 1 + self.random.usize(..usize::from(size) - 1) as u8;
                let parts = [self.value(first, depth - 1), self.value(size - first, depth - 1)];
                self.b.construct(Command::CONSTRUCTOR_COMPOUND, name(size), &parts)
            }
            7 => {
                let (test, then, otherwise) = (
                    self.test(depth - 1),
                    self.value(size, depth - 1),
                    self.value(size, depth - 1),
                );
                self.b.expression(Expression::Ternary { test, then, otherwise })
            }
            8 if self.helper.is_some() && size == 2 => {
                let (function, argument) = (self.helper.unwrap(), self.value(2, depth - 1));
                self.b.call_own("float2", function, &[argument])
            }
            _ => {
                let inner = self.value(1, depth - 1);
                match size {
                    1 => inner,
                    _ => self.b.construct(Command::CONSTRUCTOR_SPLAT, name(size), &[inner]),
                }
            }
        }
    }

    fn bounded(&mut self, size: u8, value: Handle<Expression>) -> Handle<Expression> {
        let (low, high) = (self.b.float("float", -4.0), self.b.float("float", 4.0));
        self.b.call(name(size), "clamp", &[value, low, high])
    }

    fn unit(&mut self) -> Handle<Expression> {
        let inner = self.leaf(1);
        self.b.call("float", "saturate", &[inner])
    }

    fn test(&mut self, depth: u32) -> Handle<Expression> {
        let op = [Operator::LT, Operator::GT, Operator::LE, Operator::GE][self.random.usize(..4)];
        let (l, r) = (self.value(1, depth.min(1)), self.value(1, depth.min(1)));
        self.b.binary(l, op, r)
    }

    fn leaf(&mut self, size: u8) -> Handle<Expression> {
        let fitting: Vec<Ref> = self
            .known
            .iter()
            .filter(|(n, _)| *n == size)
            .map(|(_, variable)| *variable)
            .collect();
        if !fitting.is_empty() && self.random.usize(..4) > 0 {
            let chosen = fitting[self.random.usize(..fitting.len())];
            return self.b.read(chosen);
        }
        let number = self.random.usize(..33) as f32 / 8.0 - 2.0;
        let number = self.b.float("float", number);
        match size {
            1 => number,
            _ => self.b.construct(Command::CONSTRUCTOR_SPLAT, name(size), &[number]),
        }
    }

    fn declare(&mut self) -> Handle<Statement> {
        let size = self.size();
        let value = self.value(size, 2);
        self.next += 1;
        let text = format!("v{}", self.next);
        let (variable, statement) = self.b.local(name(size), &text, Some(value));
        self.known.push((size, variable));
        self.locals.push((size, variable));
        statement
    }

    /// `v = ...`, `v += ...` or one component of it.
    fn assign(&mut self) -> Handle<Statement> {
        let (size, variable) = self.locals[self.random.usize(..self.locals.len())];
        let op = [Operator::ASSIGN, Operator::ADD_ASSIGN, Operator::SUB_ASSIGN][self.random.usize(..3)];
        let kind = match op {
            Operator::ASSIGN => RefKind::WRITE,
            _ => RefKind::READ_WRITE,
        };
        let target = self.b.expression(Expression::Variable { variable, kind });
        let (target, size) = match size > 1 && self.random.bool() {
            true => {
                let components = [self.random.usize(..usize::from(size)) as u8, 0, 0, 0];
                let swizzle = Expression::Swizzle {
                    base: target,
                    components,
                    count: 1,
                };
                (self.b.expression(swizzle), 1)
            }
            false => (target, size),
        };
        let value = self.value(size, 2);
        let assignment = self.b.binary(target, op, value);
        self.b.statement(Statement::Expression(assignment))
    }

    fn block(&mut self, count: usize) -> Handle<Statement> {
        let all: Vec<_> = (0..count).map(|_| self.assign()).collect();
        self.b.block(&all)
    }

    fn statement(&mut self) -> Handle<Statement> {
        match self.random.usize(..5) {
            0 | 1 => self.declare(),
            2 => self.assign(),
            3 => {
                let (test, then) = (self.test(1), self.block(2));
                let otherwise = self.random.bool().then(|| self.block(1));
                self.b.statement(Statement::If {
                    is_static: false,
                    test,
                    then,
                    otherwise,
                })
            }
            _ => self.count_loop(),
        }
    }

    /// `for (int i = 0; i < n; i++) { ... if (i == m) break; }`.
    fn count_loop(&mut self) -> Handle<Statement> {
        self.next += 1;
        let text = format!("i{}", self.next);
        let zero = self.b.int("int", 0);
        let (i, initializer) = self.b.local("int", &text, Some(zero));
        let (count, last) = (1 + self.random.usize(..4) as i32, self.random.usize(..4) as i32);
        let (a, b) = (self.b.read(i), self.b.int("int", count));
        let test = self.b.binary(a, Operator::LT, b);
        let operand = self.b.expression(Expression::Variable {
            variable: i,
            kind: RefKind::READ_WRITE,
        });
        let next = self.b.expression(Expression::Postfix {
            op: Operator::INCREMENT,
            operand,
        });
        let (a, b) = (self.b.read(i), self.b.int("int", last));
        let stop = self.b.binary(a, Operator::EQ, b);
        let then = self.b.statement(Statement::Break);
        let leave = self.b.statement(Statement::If {
            is_static: false,
            test: stop,
            then,
            otherwise: None,
        });
        let work = self.assign();
        let body = self.b.block(&[work, leave]);
        let table = self.b.scope(&[i]);
        self.b.statement(Statement::For {
            table: Some(table),
            initializer: Some(initializer),
            test: Some(test),
            next: Some(next),
            body,
        })
    }
}

/// A runtime shader whose colour differs in every pixel.
pub(super) fn program(seed: u64) -> Tree {
    let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
    let (tint, shift) = (b.uniform("float4", "tint"), b.uniform("float2", "shift"));
    let mut made = Maker {
        b,
        random: fastrand::Rng::with_seed(seed),
        known: vec![(4, tint), (2, shift)],
        locals: Vec::new(),
        helper: None,
        next: 0,
    };
    // A function of the program's own.
    let argument = made.b.parameter("float2", "a", -1);
    made.known.push((2, argument));
    let body = made.value(2, 3);
    made.known.pop();
    let helper = made.b.function("float2", "helper", &[argument]);
    let give = made.b.statement(Statement::Return(Some(body)));
    made.b.define(helper, &[give]);
    made.helper = Some(helper);

    let at = made.b.parameter("float2", "p", 10009);
    let main = made.b.function("half4", "main", &[at]);
    // The coordinates scaled to about one.
    let (p, eighth) = (made.b.read(at), made.b.float("float", 0.25));
    let scaled = made.b.binary(p, Operator::STAR, eighth);
    let (q, first) = made.b.local("float2", "q", Some(scaled));
    made.known.push((2, q));
    made.locals.push((2, q));
    let mut statements = vec![first];
    for _ in 0..5 {
        let statement = made.statement();
        statements.push(statement);
    }
    // Adds the coordinates, which nothing before need depend on.
    let (color, p, tenth) = (made.value(4, 3), made.b.read(at), made.b.float("float", 0.1));
    let p = made.b.binary(p, Operator::STAR, tenth);
    let p2 = made.b.read(at);
    let more = made.b.construct(Command::CONSTRUCTOR_COMPOUND, "float4", &[p, p2]);
    let sum = made.b.binary(color, Operator::PLUS, more);
    let wave = made.b.call("float4", "sin", &[sum]);
    let half = made.b.float("float", 0.5);
    let scaled = made.b.binary(wave, Operator::STAR, half);
    let half = made.b.float("float", 0.5);
    let lifted = made.b.binary(scaled, Operator::PLUS, half);
    let result = made.b.construct(Command::CONSTRUCTOR_COMPOUND_CAST, "half4", &[lifted]);
    let give = made.b.statement(Statement::Return(Some(result)));
    statements.push(give);
    made.b.define(main, &statements).finish()
}
