//! Makes single static assignment while the source is walked (Braun, Buchwald, Hack, Leißa, Mallon, Zwinkau 2013), and
//! folds what is known on the way: loops are unrolled by walking them while their ends are known.

use crate::ir::{Block, BlockData, Function, Inst, Op, Span, Term, Value};
use crate::opt::fold;
use std::collections::HashMap;
use utgard::debug::Local;

/// A scalar variable of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

/// A program in the making.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    /// What is made.
    pub function: Function,
    current: Option<Block>,
    definitions: HashMap<(Var, Block), Value>,
    sealed: Vec<bool>,
    incomplete: HashMap<Block, Vec<(Var, Value)>>,
    constants: HashMap<u32, Value>,
    /// Phis that turned out to be another value.
    replaced: HashMap<Value, Value>,
    /// Local variables of the source, by the variables of their components.
    named: HashMap<Var, (u32, u32)>,
    vars: u32,
    tags: u32,
    /// Place in the source of what is added next.
    pub span: Span,
    /// Index of the call that is walked.
    pub call: u32,
    /// Tag of what is added next.
    pub tag: u32,
}

impl Builder {
    /// A program with one block, which it begins in.
    pub fn new() -> Self {
        let mut builder = Self::default();
        let entry = builder.block();
        builder.start(entry);
        builder.seal(entry);
        builder
    }

    /// Variables in a row.
    pub fn vars(&mut self, count: u32) -> Var {
        let first = Var(self.vars);
        self.vars += count;
        first
    }

    /// An unused tag.
    pub fn fresh_tag(&mut self) -> u32 {
        self.tags += 1;
        self.tags
    }

    /// A block that nothing goes to yet.
    pub fn block(&mut self) -> Block {
        self.function.blocks.push(BlockData {
            insts: Vec::new(),
            term: Term::Open,
            preds: Vec::new(),
        });
        self.sealed.push(false);
        Block(self.function.blocks.len() as u32 - 1)
    }

    /// What follows goes into this block.
    pub fn start(&mut self, block: Block) {
        self.function.layout.push(block);
        self.current = Some(block);
    }

    /// Whether what follows can be reached.
    pub fn reachable(&self) -> bool {
        self.current.is_some()
    }

    /// Whether anything goes to a block.
    pub fn has_preds(&self, block: Block) -> bool {
        !self.function.block(block).preds.is_empty()
    }

    fn edge(&mut self, from: Block, to: Block) {
        self.function.blocks[to.0 as usize].preds.push(from);
    }

    /// Ends the block with a jump.
    pub fn jump(&mut self, to: Block) {
        if let Some(from) = self.current.take() {
            self.function.blocks[from.0 as usize].term = Term::Jump(to);
            self.edge(from, to);
        }
    }

    /// Ends the block with a branch.
    pub fn branch(&mut self, condition: Value, then: Block, other: Block) {
        if let Some(from) = self.current.take() {
            self.function.blocks[from.0 as usize].term = Term::Branch(condition, then, other);
            self.edge(from, then);
            self.edge(from, other);
        }
    }

    /// Ends the block for good.
    pub fn end(&mut self, term: Term) {
        if let Some(from) = self.current.take() {
            self.function.blocks[from.0 as usize].term = term;
        }
    }

    /// Nothing more goes to this block.
    pub fn seal(&mut self, block: Block) {
        if std::mem::replace(&mut self.sealed[block.0 as usize], true) {
            return;
        }
        for (var, phi) in self.incomplete.remove(&block).unwrap_or_default() {
            self.fill_phi(var, phi, block);
        }
    }

    /// A number.
    pub fn number(&mut self, value: f32) -> Value {
        let bits = value.to_bits();
        if let Some(have) = self.constants.get(&bits) {
            return *have;
        }
        let value = self.function.add(Inst {
            op: Op::Const(bits),
            args: Vec::new(),
            span: None,
            tag: 0,
        });
        self.constants.insert(bits, value);
        value
    }

    /// The number of a value, if it is one.
    pub fn known(&self, value: Value) -> Option<f32> {
        self.function.constant(self.resolve(value))
    }

    /// What a value is after phis fell away.
    pub fn resolve(&self, mut value: Value) -> Value {
        while let Some(other) = self.replaced.get(&value) {
            value = *other;
        }
        value
    }

    /// An operation, or what it folds to.
    pub fn op(&mut self, op: Op, args: &[Value]) -> Value {
        let args: Vec<Value> = args.iter().map(|arg| self.resolve(*arg)).collect();
        match fold::simplify(&self.function, op, &args) {
            Some(fold::To::Number(number)) => self.number(number),
            Some(fold::To::Value(value)) => value,
            Some(fold::To::Inst(op, args)) => self.op(op, &args),
            None => self.raw(op, args),
        }
    }

    /// An operation as it is.
    pub fn raw(&mut self, op: Op, args: Vec<Value>) -> Value {
        let value = self.function.add(Inst {
            op,
            args,
            span: self.span,
            tag: self.tag,
        });
        if let Some(block) = self.current {
            self.function.blocks[block.0 as usize].insts.push(value);
        }
        value
    }

    /// Says that variables from one on are the components of a local variable.
    pub fn name(&mut self, first: Var, name: String, components: u32) {
        let local = self.local(name, components);
        self.named
            .extend((0..components).map(|component| (Var(first.0 + component), (local, component))));
    }

    /// Names of the call that stand for values: rows of components, in order.
    pub fn bind(&mut self, rows: Vec<(String, u32)>, values: &[Value]) {
        let mut values = values.iter();
        for (name, components) in rows {
            let local = self.local(name, components);
            let own = values.by_ref().take(components as usize).zip(0..);
            self.function
                .assigned
                .extend(own.map(|(value, component)| (*value, local, component)));
        }
    }

    /// Names of the call that stand for variables of its caller. Front ends put a variable in front of a call for each
    /// argument, which has no name of the source.
    pub fn lend(&mut self, first: Var, count: u32, rows: Vec<(String, u32)>) {
        let mut vars = (first.0..first.0 + count).map(Var);
        for (name, components) in rows {
            let local = self.local(name, components);
            for (var, component) in vars.by_ref().take(components as usize).zip(0..) {
                let value = self.current.and_then(|block| self.definitions.get(&(var, block)));
                self.function
                    .assigned
                    .extend(value.map(|value| (*value, local, component)));
                let before = self
                    .named
                    .get(&var)
                    .map(|(local, _)| &mut self.function.locals[*local as usize].name);
                if let Some(before) = before.filter(|name| name.is_empty() || name.starts_with("param")) {
                    before.clear();
                    self.named.insert(var, (local, component));
                }
            }
        }
    }

    fn local(&mut self, name: String, components: u32) -> u32 {
        self.function.locals.push(Local {
            name,
            components,
            call: self.call,
        });
        self.function.locals.len() as u32 - 1
    }

    /// Sets a variable, as a statement of the source does.
    pub fn assign(&mut self, var: Var, value: Value) {
        if let Some((local, component)) = self.named.get(&var).filter(|_| self.current.is_some()) {
            self.function.assigned.push((value, *local, *component));
        }
        self.write(var, value);
    }

    /// Sets a variable.
    pub fn write(&mut self, var: Var, value: Value) {
        if let Some(block) = self.current {
            self.definitions.insert((var, block), value);
        }
    }

    /// A variable's value; zero where none was set.
    pub fn read(&mut self, var: Var) -> Value {
        match self.current {
            Some(block) => self.read_in(var, block),
            None => self.number(0.0),
        }
    }

    fn read_in(&mut self, var: Var, block: Block) -> Value {
        if let Some(value) = self.definitions.get(&(var, block)) {
            return self.resolve(*value);
        }
        // A chain of blocks with one predecessor each is walked without recursion.
        let (mut at, mut chain) = (block, vec![block]);
        while self.sealed[at.0 as usize] && self.function.block(at).preds.len() == 1 {
            at = self.function.block(at).preds[0];
            if let Some(value) = self.definitions.get(&(var, at)) {
                let value = self.resolve(*value);
                for block in chain {
                    self.definitions.insert((var, block), value);
                }
                return value;
            }
            chain.push(at);
        }
        let value = if !self.sealed[at.0 as usize] {
            let phi = self.phi(at);
            self.incomplete.entry(at).or_default().push((var, phi));
            phi
        } else if self.function.block(at).preds.is_empty() {
            self.number(0.0)
        } else {
            let phi = self.phi(at);
            self.definitions.insert((var, at), phi);
            self.fill_phi(var, phi, at)
        };
        for block in chain {
            self.definitions.insert((var, block), value);
        }
        value
    }

    fn phi(&mut self, block: Block) -> Value {
        let phi = self.function.add(Inst {
            op: Op::Phi,
            args: Vec::new(),
            span: self.span,
            tag: self.tag,
        });
        self.function.blocks[block.0 as usize].insts.insert(0, phi);
        phi
    }

    fn fill_phi(&mut self, var: Var, phi: Value, block: Block) -> Value {
        let preds = self.function.block(block).preds.clone();
        let args: Vec<Value> = preds.into_iter().map(|pred| self.read_in(var, pred)).collect();
        self.function.values[phi.0 as usize].args = args;
        self.trivial(phi, block)
    }

    /// A phi of one value is that value.
    fn trivial(&mut self, phi: Value, block: Block) -> Value {
        let mut same = None;
        let args = self.function.inst(phi).args.clone();
        for arg in args {
            let arg = self.resolve(arg);
            if arg == phi || Some(arg) == same {
                continue;
            }
            if same.is_some() {
                return phi;
            }
            same = Some(arg);
        }
        let same = match same {
            Some(same) => same,
            None => self.number(0.0),
        };
        self.replaced.insert(phi, same);
        self.function.blocks[block.0 as usize]
            .insts
            .retain(|value| *value != phi);
        same
    }

    /// The program, with all values what they turned out to be.
    pub fn finish(mut self) -> Function {
        // Phis of phis that fell away may be of one value now.
        loop {
            let mut changed = false;
            for block in self.function.block_ids() {
                for value in self.function.block(block).insts.clone() {
                    if self.function.inst(value).op == Op::Phi && self.trivial(value, block) != value {
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        let mut function = std::mem::take(&mut self.function);
        for inst in &mut function.values {
            for arg in &mut inst.args {
                *arg = self.resolve(*arg);
            }
        }
        for block in &mut function.blocks {
            if let Term::Branch(value, ..) = &mut block.term {
                *value = self.resolve(*value);
            }
        }
        for (_, value) in &mut function.outputs {
            *value = self.resolve(*value);
        }
        for (value, ..) in &mut function.assigned {
            *value = self.resolve(*value);
        }
        function
    }
}
