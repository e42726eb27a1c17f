//! From naga's tree to the compiler's own form: functions are inlined, composites become scalars, loops whose ends are
//! known are unrolled.

mod access;
pub mod builder;
mod expression;
mod global;
mod integer;
mod math;
mod matrix;
pub mod place;
mod statement;
mod texture;

use crate::error::{Error, Result};
use crate::glsl_es::Declared;
use crate::interface::{Interface, Stage};
use crate::ir::{Function, Output, Span, Value};
use builder::{Builder, Var};
use naga::front::Typifier;
use naga::{Handle, Module, TypeInner};
use place::{Owner, Place};
use std::collections::{HashMap, HashSet};

/// A program in the compiler's own form.
#[derive(Clone, Debug, PartialEq)]
pub struct Shader {
    /// Its stage.
    pub stage: Stage,
    /// What it does.
    pub function: Function,
    /// What it takes and gives.
    pub interface: Interface,
    /// Where its entry point begins in the source.
    pub place: Span,
    /// Where the hardware's numbers may not be enough, as far as only the source tells.
    pub notes: Vec<Note>,
}

/// Something to know about a place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What.
    pub message: String,
    /// Where.
    pub span: Span,
}

impl Shader {
    /// Moves all places to another text.
    pub fn map_spans(&mut self, map: impl Fn((u32, u32)) -> (u32, u32)) {
        let values = self.function.values.iter_mut().map(|inst| &mut inst.span);
        let notes = self.notes.iter_mut().map(|note| &mut note.span);
        let interface = &mut self.interface;
        let lists = [
            &mut interface.uniforms,
            &mut interface.attributes,
            &mut interface.varyings,
        ];
        let variables = lists.into_iter().flatten().map(|variable| &mut variable.span);
        let samplers = interface.samplers.iter_mut().map(|sampler| &mut sampler.span);
        let calls = self.function.calls.iter_mut();
        let calls = calls.filter_map(|call| call.caller.as_mut().map(|(_, span)| span));
        let all = values.chain(notes).chain(variables).chain(samplers).chain(calls);
        for place in all.chain([&mut self.place]).flatten() {
            (place.start, place.end) = map((place.start, place.end));
        }
    }
}

/// Which way the coordinates of a language go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coordinates {
    /// Clip space with y upwards and depths from -w to w, rows of the window counted upwards. So has it the hardware, as
    /// its drivers set it up.
    #[default]
    OpenGl,
    /// Clip space with y upwards and depths from 0 to w, rows counted downwards.
    WebGpu,
    /// Clip space with y downwards and depths from 0 to w, rows counted downwards.
    Vulkan,
}

/// What the source is beside naga's tree.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Which way its coordinates go.
    pub coordinates: Coordinates,
    /// GLSL ES: the roles of global variables by name. Nothing for other languages.
    pub roles: Option<HashMap<String, Declared>>,
    /// How much longer loops may make the program.
    pub unroll: Unroll,
}

/// How much longer a program may become by unrolling loops whose ends are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unroll {
    /// What is worth it.
    #[default]
    Usual,
    /// What hardly makes it longer.
    Short,
    /// Nothing.
    Never,
}

impl Unroll {
    /// All, the most first.
    pub const ALL: [Self; 3] = [Self::Usual, Self::Short, Self::Never];

    /// Operations that a loop may add.
    fn operations(self, stage: Stage) -> usize {
        match (self, stage) {
            (Self::Usual, Stage::Vertex) => 1500,
            (Self::Usual, Stage::Fragment) => 420,
            (Self::Short, _) => 160,
            (Self::Never, _) => 0,
        }
    }
}

/// Values of the compiler's own form that a program may have at most.
pub const MAX_VALUES: usize = 60_000;

/// Statements and operations that are walked at most, those that leave nothing behind included.
const MAX_STEPS: u32 = 300_000;

/// Restarts with one more variable in memory.
const MAX_RESTARTS: usize = 64;

/// Why walking the source stopped.
enum Stop {
    /// For good.
    Error(Error),
    /// A variable is indexed by what is not known: it has to be in memory.
    Demote(Owner),
    /// A loop is too long to be unrolled.
    TooLong,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

type Walk<T = ()> = Result<T, Stop>;

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
enum Ev {
    /// Scalars.
    Flat(Vec<Value>),
    /// A pointer.
    Place(Place),
    /// A texture or sampler.
    Handle(Handle<naga::GlobalVariable>),
}

/// A function being inlined.
#[derive(Clone)]
struct Frame<'a> {
    function: &'a naga::Function,
    handle: Option<Handle<naga::Function>>,
    arguments: Vec<Ev>,
    locals: HashMap<Handle<naga::LocalVariable>, Place>,
    values: HashMap<Handle<naga::Expression>, Ev>,
    results: HashMap<Handle<naga::Expression>, Ev>,
    exit: crate::ir::Block,
    result: Option<(Var, u32)>,
    loops: Vec<LoopTargets>,
}

#[derive(Clone, Copy)]
struct LoopTargets {
    out: crate::ir::Block,
    again: Option<crate::ir::Block>,
}

/// Walks a program.
struct Front<'a> {
    module: &'a Module,
    stage: Stage,
    coordinates: Coordinates,
    roles: Option<&'a HashMap<String, Declared>>,
    types: &'a HashMap<Option<Handle<naga::Function>>, Typifier>,
    b: Builder,
    interface: Interface,
    globals: HashMap<Handle<naga::GlobalVariable>, Place>,
    units: HashMap<Handle<naga::GlobalVariable>, u32>,
    demoted: &'a HashSet<Owner>,
    /// Loops that were too long to be unrolled.
    rolled: HashSet<usize>,
    unroll: Unroll,
    unroll_end: usize,
    depth: u32,
    steps: u32,
    notes: Vec<Note>,
}

/// Whether numbers of a kind are whole.
fn is_whole(kind: naga::ScalarKind) -> bool {
    use naga::ScalarKind as Kind;
    matches!(kind, Kind::Sint | Kind::Uint | Kind::AbstractInt)
}

/// Where an entry point's body begins; of one that only calls another function, as front ends make them, that one's.
fn beginning(module: &Module, function: &naga::Function) -> Option<std::ops::Range<usize>> {
    let mut spans = function.body.span_iter().map(|(_, span)| span.to_range());
    let own = spans.find_map(|span| span.filter(|span| !span.is_empty()));
    let mut called = function.body.iter().filter_map(|statement| match statement {
        naga::Statement::Call { function, .. } => Some(&module.functions[*function].body),
        _ => None,
    });
    // naga's reader of SPIR-V names its own so; what that does is nowhere in the source.
    let is_made = function.name.as_deref().is_some_and(|name| name.ends_with("_wrap"));
    own.filter(|_| !is_made).or_else(|| {
        let body = called.next()?;
        body.span_iter().find_map(|(_, span)| span.to_range())
    })
}

fn typify(module: &Module, function: &naga::Function) -> Result<Typifier> {
    let mut types = Typifier::new();
    let context = naga::proc::ResolveContext::with_locals(module, &function.local_variables, &function.arguments);
    for (handle, _) in function.expressions.iter() {
        types
            .grow(handle, &function.expressions, &context)
            .map_err(|error| Error::invalid(error.to_string()).at(function.expressions.get_span(handle).to_range()))?;
    }
    Ok(types)
}

/// Walks an entry point.
///
/// # Errors
/// What the hardware cannot do, with its name and place; budgets that are spent.
pub fn walk(module: &Module, entry: &naga::EntryPoint, source: &Source) -> Result<Shader> {
    walk_any(module, entry, source).map_err(|error| error.at(beginning(module, &entry.function)))
}

fn walk_any(module: &Module, entry: &naga::EntryPoint, source: &Source) -> Result<Shader> {
    let stage = match entry.stage {
        naga::ShaderStage::Vertex => Stage::Vertex,
        naga::ShaderStage::Fragment => Stage::Fragment,
        other => return Err(Error::unsupported(format!("{other:?} shaders"))),
    };
    let mut types = HashMap::new();
    types.insert(None, typify(module, &entry.function)?);
    for (handle, function) in module.functions.iter() {
        types.insert(Some(handle), typify(module, function)?);
    }
    let mut demoted = HashSet::new();
    for _ in 0..MAX_RESTARTS {
        let mut front = Front {
            module,
            stage,
            coordinates: source.coordinates,
            roles: source.roles.as_ref(),
            types: &types,
            b: Builder::new(),
            interface: Interface::default(),
            globals: HashMap::new(),
            units: HashMap::new(),
            demoted: &demoted,
            rolled: HashSet::new(),
            unroll: source.unroll,
            unroll_end: usize::MAX,
            depth: 0,
            steps: 0,
            notes: Vec::new(),
        };
        match front.entry(entry) {
            Ok(()) => {
                let interface = std::mem::take(&mut front.interface);
                let notes = std::mem::take(&mut front.notes);
                let function = front.b.finish();
                return Ok(Shader {
                    stage,
                    function,
                    interface,
                    place: crate::ir::span(beginning(module, &entry.function), 0),
                    notes,
                });
            }
            Err(Stop::Demote(owner)) => {
                demoted.insert(owner);
            }
            Err(Stop::TooLong) => return Err(Error::limit("a loop that is too long")),
            Err(Stop::Error(error)) => return Err(error),
        }
    }
    Err(Error::limit("too many variables with an index that is not known"))
}

impl<'a> Front<'a> {
    fn entry(&mut self, entry: &'a naga::EntryPoint) -> Walk {
        self.b.function.calls.push(crate::ir::Call {
            name: entry.name.clone(),
            caller: None,
        });
        self.globals()?;
        let arguments = self.entry_arguments(&entry.function)?;
        let result = entry.function.result.as_ref();
        let exit = self.b.block();
        let count = result.map_or(Ok(0), |result| place::scalars(self.module, result.ty))?;
        let vars = self.b.vars(count);
        let frame = Frame {
            function: &entry.function,
            handle: None,
            arguments,
            locals: HashMap::new(),
            values: HashMap::new(),
            results: HashMap::new(),
            exit,
            result: Some((vars, count)),
            loops: Vec::new(),
        };
        self.body(frame)?;
        self.b.seal(exit);
        self.b.start(exit);
        if !self.b.has_preds(exit) {
            // Every path discards, or loops for ever.
            self.b.end(crate::ir::Term::Discard);
            return Ok(());
        }
        let mut outputs = self.global_outputs()?;
        if let Some(result) = result {
            self.result_outputs(result, vars, &mut outputs)?;
        }
        self.finish_outputs(&mut outputs);
        self.b.function.outputs = outputs;
        self.b.end(crate::ir::Term::End);
        Ok(())
    }

    /// Clip space as OpenGL has it, outputs in their order.
    fn finish_outputs(&mut self, outputs: &mut [(Output, Value)]) {
        let of = |wanted| {
            outputs
                .iter()
                .position(|(output, _)| *output == Output::Position(wanted))
        };
        let [y, z, w] = [1, 2, 3].map(of);
        if self.coordinates == Coordinates::Vulkan
            && let Some(y) = y
        {
            outputs[y].1 = self.b.op(crate::ir::Op::Neg, &[outputs[y].1]);
        }
        if self.coordinates != Coordinates::OpenGl
            && let (Some(z), Some(w)) = (z, w)
        {
            let (depth, w) = (outputs[z].1, outputs[w].1);
            let double = self.b.op(crate::ir::Op::Add, &[depth, depth]);
            let negative = self.b.op(crate::ir::Op::Neg, &[w]);
            outputs[z].1 = self.b.op(crate::ir::Op::Add, &[double, negative]);
        }
        outputs.sort_by_key(|(output, _)| match output {
            Output::Position(component) => (0, u32::from(*component)),
            Output::PointSize => (1, 0),
            Output::Color(component) => (2, u32::from(*component)),
            Output::Varying(number) => (3, *number),
        });
    }

    /// Walks a function's body; its results are in the frame's variables at its exit.
    fn body(&mut self, mut frame: Frame<'a>) -> Walk {
        self.depth += 1;
        if self.depth > 64 {
            return Err(Error::limit("functions that call each other too deeply").into());
        }
        for (handle, local) in frame.function.local_variables.iter() {
            let count = place::scalars(self.module, local.ty)?;
            let owner = Owner::Local(frame.handle, handle);
            let place = self.storage(owner, count);
            frame.locals.insert(handle, place.clone());
            if let (place::Root::Vars(first), Some(name)) = (place.root, &local.name) {
                self.name(first, name, local.ty);
            }
            if let Some(init) = local.init {
                let value = self.flat(&mut frame, init)?;
                self.store(&place, &value)?;
            } else if let place::Root::Vars(first) = place.root {
                // A variable that lives in a loop begins anew.
                let zero = self.b.number(0.0);
                for at in 0..count {
                    self.b.write(Var(first.0 + at), zero);
                }
            }
        }
        let function = frame.function;
        self.statements(&mut frame, &function.body)
            .map_err(|stop| match (stop, &function.name) {
                (Stop::Error(error), Some(name)) => Stop::Error(error.inside(name)),
                (stop, _) => stop,
            })?;
        self.b.jump(frame.exit);
        self.depth -= 1;
        Ok(())
    }

    /// Says which variables of the builder a local variable of the source is.
    fn name(&mut self, first: Var, name: &str, ty: Handle<naga::Type>) {
        let mut rows = Vec::new();
        place::rows(self.module, ty, name, &mut rows);
        let mut var = first.0;
        for (name, components) in rows {
            self.b.name(Var(var), name, components);
            var += components;
        }
    }

    /// Scalars for a variable: variables of the builder, or memory where it must be.
    fn storage(&mut self, owner: Owner, count: u32) -> Place {
        let root = if self.demoted.contains(&owner) {
            let first = self.b.function.memory;
            self.b.function.memory += count;
            place::Root::Memory(first)
        } else {
            place::Root::Vars(self.b.vars(count))
        };
        Place {
            root,
            offset: 0,
            dynamic: Vec::new(),
            owner,
        }
    }

    fn inner(&self, frame: &Frame<'a>, expression: Handle<naga::Expression>) -> &'a TypeInner {
        self.types[&frame.handle].get(expression, &self.module.types)
    }

    /// Where an expression is in the source; a constant that stands elsewhere is where it is used.
    fn span(&self, frame: &Frame<'a>, expression: Handle<naga::Expression>) -> Option<std::ops::Range<usize>> {
        match frame.function.expressions[expression] {
            naga::Expression::Constant(_) => None,
            _ => frame.function.expressions.get_span(expression).to_range(),
        }
    }

    /// Ends what is too long, or would be if it were unrolled.
    fn budget(&mut self) -> Walk {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return Err(Error::limit(format!("a program that takes more than {MAX_STEPS} steps to read")).into());
        }
        let count = self.b.function.values.len();
        if count > self.unroll_end {
            return Err(Stop::TooLong);
        }
        if count > MAX_VALUES {
            return Err(Error::limit(format!("a program of more than {MAX_VALUES} operations")).into());
        }
        Ok(())
    }
}
