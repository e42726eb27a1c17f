//! The loop that runs invocations.

use super::code::{BranchCode, Code, Fast, Shape, Step, Symbol};
use super::error::{Error, ErrorKind};
use super::{Call, Closure, Next, Primitive, Value, primitives};
use loader::sl::{Library, Name, Names, Statement, free_names, quote};
use std::collections::HashMap;
use std::rc::Rc;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// `$finish succeed`.
    Succeeded,
    /// `$finish fail`.
    Failed,
}

/// Called with every invocation; an error stops the program.
pub type Trace<'t> = dyn FnMut(&str) -> std::io::Result<()> + 't;

/// Makes a primitive unit's value.
type Make = fn() -> Box<dyn Primitive>;

/// Maximum depth of dependencies between units.
const MAX_DEPTH: usize = 256;

/// Runs units of a library.
pub struct Host<'l, 't> {
    code: Code<'l>,
    primitives: HashMap<Vec<u8>, Make>,
    fuel: u64,
    invocations: u64,
    trace: Option<&'t mut Trace<'t>>,
}

/// The current position: a closure's branch with its environment, or a primitive.
enum State {
    Fast {
        block: u32,
        branch: usize,
        values: Vec<Value>,
    },
    Slow {
        block: u32,
        branch: usize,
        environment: Vec<(Symbol, Value)>,
    },
}

/// The end of a run.
enum End {
    Loaded(Value),
    Finished(bool),
}

impl<'l, 't> Host<'l, 't> {
    /// A host for a library, with the primitives of [`primitives`].
    pub fn new(library: &'l Library<'l>) -> Self {
        let primitives = primitives::UNITS
            .iter()
            .map(|(name, make)| (name.as_bytes().to_vec(), *make))
            .collect();
        Self {
            code: Code::new(library),
            primitives,
            fuel: u64::MAX,
            invocations: 0,
            trace: None,
        }
    }

    /// Limits the number of invocations.
    #[must_use]
    pub fn with_fuel(mut self, fuel: u64) -> Self {
        self.fuel = fuel;
        self
    }

    /// Calls `trace` with every invocation.
    #[must_use]
    pub fn with_trace(mut self, trace: &'t mut Trace<'t>) -> Self {
        self.trace = Some(trace);
        self
    }

    /// Adds or replaces a unit of the host.
    pub fn add(&mut self, unit: &[u8], make: fn() -> Box<dyn Primitive>) {
        self.primitives.insert(unit.to_vec(), make);
    }

    /// The number of invocations so far.
    pub fn invocations(&self) -> u64 {
        self.invocations
    }

    /// Loads a unit and runs its value with `$finish`.
    ///
    /// # Errors
    /// A hard error, with the places it went through.
    pub fn run(&mut self, unit: &[u8]) -> Result<Outcome, Error> {
        let value = self.load(unit, &mut Vec::new())?;
        let finish = Value::Primitive(Box::new(primitives::Finish));
        match self.execute(value, b"", vec![(b"$finish".as_slice().into(), finish)])? {
            End::Finished(true) => Ok(Outcome::Succeeded),
            End::Finished(false) => Ok(Outcome::Failed),
            End::Loaded(_) => Err(Error::new(
                ErrorKind::WrongKind,
                "the program ends as a unit that is being loaded",
            )),
        }
    }

    /// A unit's value; each use loads the unit again.
    fn load(&mut self, unit: &[u8], loading: &mut Vec<Vec<u8>>) -> Result<Value, Error> {
        let library = self.code.library;
        let Some(number) = library.module(unit) else {
            let make = self.primitives.get(unit);
            let unknown = || Error::new(ErrorKind::UnknownUnit, format!("there is no unit {}", quote(unit)));
            return make.map(|make| Value::Primitive(make())).ok_or_else(unknown);
        };
        if loading.iter().any(|have| have == unit) || loading.len() >= MAX_DEPTH {
            let path: Vec<String> = loading.iter().map(|name| quote(name)).chain([quote(unit)]).collect();
            return Err(Error::new(ErrorKind::DependencyCycle, path.join(" needs ")));
        }
        loading.push(unit.to_vec());
        let module = &library.modules[number];
        let loader = module.blocks.first().filter(|block| block.containing.names.is_empty());
        let branch = loader
            .map(|block| &block.branches[..])
            .and_then(|branches| match branches {
                [branch] if library.bytes(branch.name.content).is_empty() => Some(branch),
                _ => None,
            });
        let Some(branch) = branch else {
            let text = format!(
                "the first block of {} does not contain nothing and offer one branch without a name",
                quote(unit)
            );
            return Err(Error::new(ErrorKind::NoLoader, text));
        };
        let mut inputs: Vec<(Rc<[u8]>, Value)> = Vec::new();
        for name in &branch.receiving.names {
            let bytes = library.bytes(name.content);
            let value = match bytes {
                b"$loaded" => Value::Primitive(Box::new(primitives::Loaded)),
                unit => self
                    .load(unit, loading)
                    .map_err(|error| error.at(format!("needed at {}", self.code.location(&name.location))))?,
            };
            inputs.push((bytes.into(), value));
        }
        loading.pop();
        let names = self.code.shape(Vec::new());
        let closure = Value::Closure(Closure {
            block: self.code.first[number],
            names,
            values: Box::default(),
        });
        match self.execute(closure, b"", inputs)? {
            End::Loaded(value) => Ok(value),
            End::Finished(_) => Err(Error::new(
                ErrorKind::WrongKind,
                "a program finishes before it is loaded",
            )),
        }
    }

    /// Runs invocations until the program ends.
    fn execute(&mut self, target: Value, branch: &[u8], inputs: Vec<(Rc<[u8]>, Value)>) -> Result<End, Error> {
        let mut next = Next::Invoke {
            target,
            branch: branch.into(),
            outputs: inputs,
        };
        let mut spare = Vec::new();
        loop {
            let mut state = match next {
                Next::Loaded(value) => return Ok(End::Loaded(value)),
                Next::Finished(succeeded) => return Ok(End::Finished(succeeded)),
                Next::Invoke {
                    target,
                    branch,
                    outputs,
                } => {
                    let symbol = self.code.symbol(&branch);
                    let mut named: Vec<(Symbol, Value)> = Vec::with_capacity(outputs.len());
                    for (name, value) in outputs {
                        named.push((self.code.symbol(&name), value));
                    }
                    self.invoke(target, symbol, named)?
                }
            };
            // Invocations of closures by closures stay in this loop.
            next = loop {
                state = match state {
                    Ok(State::Fast { block, branch, values }) => self.fast(block, branch, values, &mut spare)?,
                    Ok(State::Slow {
                        block,
                        branch,
                        environment,
                    }) => self.slow(block, branch, environment)?,
                    Err(next) => break next,
                };
            };
        }
    }

    #[inline]
    fn count(&mut self) -> Result<(), Error> {
        if self.invocations == self.fuel {
            return Err(Error::new(
                ErrorKind::Fuel,
                format!("{} invocations and no end", self.fuel),
            ));
        }
        self.invocations += 1;
        Ok(())
    }

    /// Runs a branch by slots.
    fn fast(
        &mut self,
        block: u32,
        branch: usize,
        mut values: Vec<Value>,
        spare: &mut Vec<Value>,
    ) -> Result<Result<State, Next>, Error> {
        let Some(Fast {
            slots,
            steps,
            target,
            inputs,
            names,
        }) = &self.code.blocks[block as usize].branches[branch].fast
        else {
            return Err(Error::new(ErrorKind::MissingValue, "a branch without slots"));
        };
        values.resize_with(*slots, || Value::Used);
        for step in steps {
            match step {
                Step::Literal { to, bytes } => values[usize::from(*to)] = Value::Literal(bytes.clone()),
                Step::Closure {
                    to,
                    block,
                    names,
                    slots,
                } => {
                    let take = |slot: &u16| std::mem::replace(&mut values[usize::from(*slot)], Value::Used);
                    let held = slots.iter().map(take).collect();
                    values[usize::from(*to)] = Value::Closure(Closure {
                        block: *block,
                        names: names.clone(),
                        values: held,
                    });
                }
            }
        }
        let invoked = std::mem::replace(&mut values[usize::from(*target)], Value::Used);
        let name = self.code.blocks[block as usize].branches[branch].invokes;
        // Fast path: a closure whose branch runs by slots and receives exactly these names.
        if let Value::Closure(closure) = &invoked
            && self.trace.is_none()
        {
            let to = &self.code.blocks[closure.block as usize];
            let found = to.branches.iter().position(|branch| branch.name == name);
            if let Some(found) = found
                && to.branches[found].fast.is_some()
                && to.branches[found].receiving.same(names)
            {
                spare.clear();
                spare.extend(
                    inputs
                        .iter()
                        .map(|slot| std::mem::replace(&mut values[usize::from(*slot)], Value::Used)),
                );
                let Value::Closure(mut closure) = invoked else {
                    return Err(Error::new(ErrorKind::NotInvokable, "nothing"));
                };
                spare.extend(std::mem::take(&mut closure.values));
                self.count()?;
                std::mem::swap(&mut values, spare);
                spare.clear();
                return Ok(Ok(State::Fast {
                    block: closure.block,
                    branch: found,
                    values,
                }));
            }
        }
        let passed: Vec<(Symbol, Value)> = names
            .0
            .iter()
            .zip(inputs.iter())
            .map(|(name, slot)| (*name, std::mem::replace(&mut values[usize::from(*slot)], Value::Used)))
            .collect();
        self.invoke(invoked, name, passed)
            .map_err(|error| self.invoked_at(error, block, branch))
    }

    fn invoked_at(&self, error: Error, block: u32, branch: usize) -> Error {
        let source = self.code.source(block, branch);
        let place = self.code.location(&source.invocation.target.location);
        error.at(format!(
            "invoked in {} at {place}",
            self.code.place(block, Some(branch))
        ))
    }

    /// Passes named values to a branch of a closure, or to a primitive.
    fn invoke(
        &mut self,
        target: Value,
        name: Symbol,
        mut passed: Vec<(Symbol, Value)>,
    ) -> Result<Result<State, Next>, Error> {
        self.count()?;
        self.tell(&target, name, &passed)?;
        match target {
            Value::Closure(closure) => {
                passed.sort_unstable_by_key(|(name, _)| *name);
                self.enter(closure, name, passed).map(Ok)
            }
            Value::Primitive(primitive) => {
                let inputs = passed
                    .into_iter()
                    .map(|(name, value)| (self.code.text(name).clone(), value))
                    .collect();
                let call = Call {
                    branch: self.code.text(name).clone(),
                    inputs,
                    kind: primitive.kind(),
                };
                primitive.invoke(call).map(Err)
            }
            other => Err(Error::new(
                ErrorKind::NotInvokable,
                format!("{} is invoked", other.kind()),
            )),
        }
    }

    fn tell(&mut self, target: &Value, name: Symbol, passed: &[(Symbol, Value)]) -> Result<(), Error> {
        let Some(trace) = &mut self.trace else { return Ok(()) };
        let what = match target {
            Value::Closure(closure) => self.code.place(closure.block, None),
            other => other.kind().to_owned(),
        };
        let names: Vec<String> = passed.iter().map(|(name, _)| quote(self.code.text(*name))).collect();
        trace(&format!(
            "{}: -> {what} {} ({})",
            self.invocations,
            quote(self.code.text(name)),
            names.join(", ")
        ))
        .map_err(|error| Error::new(ErrorKind::Output, format!("the trace cannot be written: {error}")))
    }

    fn listed(&self, names: &[Symbol]) -> String {
        let names: Vec<String> = names.iter().map(|name| quote(self.code.text(*name))).collect();
        format!("({})", names.join(", "))
    }

    /// Begins a branch of a closure; `passed` is in order.
    fn enter(&self, mut closure: Closure, name: Symbol, passed: Vec<(Symbol, Value)>) -> Result<State, Error> {
        let block = &self.code.blocks[closure.block as usize];
        let at = |error: Error, branch| error.at(self.code.place(closure.block, branch));
        let Some(branch) = block.branches.iter().find(|branch| branch.name == name) else {
            let text = format!("there is no branch {}", quote(self.code.text(name)));
            return Err(at(Error::new(ErrorKind::UnknownBranch, text), None));
        };
        self.receives(branch, &passed).map_err(|error| {
            let source = self.code.source(closure.block, branch.number);
            let place = self.code.location(&source.name.location);
            at(error, Some(branch.number)).at(format!("at {place}"))
        })?;
        let (block, number) = (closure.block, branch.number);
        if branch.fast.is_some() {
            let values = passed
                .into_iter()
                .map(|(_, value)| value)
                .chain(std::mem::take(&mut closure.values))
                .collect();
            return Ok(State::Fast {
                block,
                branch: number,
                values,
            });
        }
        let mut environment = passed;
        let held = std::mem::take(&mut closure.values);
        for (name, value) in closure.names.0.iter().zip(held) {
            if environment.iter().any(|(have, _)| have == name) {
                let text = format!("{} is received and contained", quote(self.code.text(*name)));
                return Err(at(Error::new(ErrorKind::DuplicateName, text), Some(number)));
            }
            environment.push((*name, value));
        }
        Ok(State::Slow {
            block,
            branch: number,
            environment,
        })
    }

    fn receives(&self, branch: &BranchCode, passed: &[(Symbol, Value)]) -> Result<(), Error> {
        let wanted = &branch.receiving.0;
        let fits = if branch.receives_rest {
            wanted.iter().all(|name| passed.iter().any(|(have, _)| have == name))
        } else {
            wanted.len() == passed.len() && wanted.iter().zip(passed).all(|(name, (have, _))| name == have)
        };
        if fits {
            return Ok(());
        }
        let passed: Vec<Symbol> = passed.iter().map(|(name, _)| *name).collect();
        let text = format!("receives {}, not {}", self.listed(wanted), self.listed(&passed));
        Err(Error::new(ErrorKind::ReceivingMismatch, text))
    }

    /// Runs a branch by names, for globs and for errors.
    fn slow(
        &mut self,
        block: u32,
        branch: usize,
        environment: Vec<(Symbol, Value)>,
    ) -> Result<Result<State, Next>, Error> {
        let place = self.code.place(block, Some(branch));
        let mut scope = Scope { environment, place };
        let source = self.code.source(block, branch);
        for (at, statement) in source.statements.iter().enumerate() {
            match statement {
                Statement::Literal { dest, content, .. } => {
                    let value = Value::literal(self.code.library.bytes(*content));
                    scope.define(&mut self.code, dest, value)?;
                }
                Statement::Rename { dest, source } => {
                    let value = scope.take(&mut self.code, source)?;
                    scope.define(&mut self.code, dest, value)?;
                }
                Statement::Closure {
                    dest,
                    block: number,
                    close_over,
                } => {
                    let mut held = Vec::new();
                    for name in &close_over.names {
                        held.push((
                            self.code.symbol(self.code.library.bytes(name.content)),
                            scope.take(&mut self.code, name)?,
                        ));
                    }
                    if close_over.glob.is_some() {
                        let mut kept: Vec<Symbol> = Vec::new();
                        for name in free_names(self.code.library, source, at + 1) {
                            kept.push(self.code.symbol(name));
                        }
                        let dest = self.code.symbol(self.code.library.bytes(dest.content));
                        kept.retain(|name| *name != dest);
                        let (stay, go) = scope.environment.drain(..).partition(|(name, _)| kept.contains(name));
                        scope.environment = stay;
                        held.extend::<Vec<(Symbol, Value)>>(go);
                    }
                    held.sort_by_key(|(name, _)| *name);
                    let number = self.code.first[self.code.blocks[block as usize].place.0] + number;
                    let names = self.code.shape(held.iter().map(|(name, _)| *name).collect());
                    self.contains(number, &names)
                        .map_err(|error| scope.at(&self.code, error, dest))?;
                    let values = held.into_iter().map(|(_, value)| value).collect();
                    scope.define(
                        &mut self.code,
                        dest,
                        Value::Closure(Closure {
                            block: number,
                            names,
                            values,
                        }),
                    )?;
                }
            }
        }
        let target = scope.take(&mut self.code, &source.invocation.target)?;
        scope.passes(&mut self.code, &source.invocation.target, &source.invocation.inputs)?;
        let name = self.code.blocks[block as usize].branches[branch].invokes;
        self.invoke(target, name, scope.environment)
            .map_err(|error| self.invoked_at(error, block, branch))
    }

    fn contains(&self, block: u32, names: &Shape) -> Result<(), Error> {
        let code = &self.code.blocks[block as usize];
        let fits = if code.contains_rest {
            code.containing.is_part_of(names)
        } else {
            code.containing.same(names)
        };
        if fits {
            return Ok(());
        }
        let text = format!(
            "contains {}, not {}",
            self.listed(&code.containing.0),
            self.listed(&names.0)
        );
        Err(Error::new(ErrorKind::ContainingMismatch, text).at(self.code.place(block, None)))
    }
}

/// A branch's environment by name.
struct Scope {
    environment: Vec<(Symbol, Value)>,
    place: String,
}

impl Scope {
    fn at(&self, code: &Code<'_>, error: Error, name: &Name) -> Error {
        error.at(format!("{} at {}", self.place, code.location(&name.location)))
    }

    fn take(&mut self, code: &mut Code<'_>, name: &Name) -> Result<Value, Error> {
        let library = code.library;
        let bytes = library.bytes(name.content);
        let symbol = code.symbol(bytes);
        match self.environment.iter().position(|(have, _)| *have == symbol) {
            Some(at) => Ok(self.environment.swap_remove(at).1),
            None => {
                let error = Error::new(ErrorKind::MissingValue, format!("there is no {}", quote(bytes)));
                Err(self.at(code, error, name))
            }
        }
    }

    fn define(&mut self, code: &mut Code<'_>, name: &Name, value: Value) -> Result<(), Error> {
        let library = code.library;
        let bytes = library.bytes(name.content);
        let symbol = code.symbol(bytes);
        if self.environment.iter().any(|(have, _)| *have == symbol) {
            let error = Error::new(ErrorKind::DuplicateName, format!("there is {} already", quote(bytes)));
            return Err(self.at(code, error, name));
        }
        self.environment.push((symbol, value));
        Ok(())
    }

    /// Checks what is left against the inputs of an invocation.
    fn passes(&self, code: &mut Code<'_>, target: &Name, inputs: &Names) -> Result<(), Error> {
        let library = code.library;
        let mut listed = Vec::new();
        for name in &inputs.names {
            let bytes = library.bytes(name.content);
            let symbol = code.symbol(bytes);
            if !self.environment.iter().any(|(have, _)| *have == symbol) {
                let error = Error::new(ErrorKind::MissingValue, format!("there is no {}", quote(bytes)));
                return Err(self.at(code, error, name));
            }
            listed.push(symbol);
        }
        let lost = self
            .environment
            .iter()
            .find(|(name, _)| inputs.glob.is_none() && !listed.contains(name));
        match lost {
            None => Ok(()),
            Some((name, _)) => {
                let text = format!("{} would be lost", quote(code.text(*name)));
                Err(self.at(code, Error::new(ErrorKind::LeftOver, text), target))
            }
        }
    }
}
