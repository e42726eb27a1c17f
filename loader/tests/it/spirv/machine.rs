//! Runs compute, vertex and fragment modules: what the operations mean by the SPIR-V specification, so that a pass can be
//! shown to keep the results.
//!
//! Invocations run one after another. A subgroup operation needs what all lanes give it: a lane stops there, and runs
//! again from its start when the others have come as far, with the results of the operations that are known by then.

use super::group;
use loader::spirv::{Grammar, instructions};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A value. Truth values are 0 and 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Word(u32),
    Long(u64),
    Parts(Vec<Value>),
    /// A cell of memory, and the indices into it.
    Pointer(usize, Vec<u32>),
}

impl Value {
    pub(super) fn word(&self) -> u32 {
        match self {
            Self::Word(word) => *word,
            Self::Long(long) => *long as u32,
            other => panic!("{other:?} is no number"),
        }
    }

    fn parts(&self) -> &[Value] {
        match self {
            Self::Parts(parts) => parts,
            other => panic!("{other:?} has no parts"),
        }
    }

    /// The scalars in order.
    pub(super) fn words(&self, out: &mut Vec<u32>) {
        match self {
            Self::Word(word) => out.push(*word),
            Self::Long(long) => out.extend([*long as u32, (long >> 32) as u32]),
            Self::Parts(parts) => parts.iter().for_each(|part| part.words(out)),
            Self::Pointer(..) => panic!("a pointer is no result"),
        }
    }
}

#[derive(Clone, Debug)]
enum Type {
    Void,
    Bool,
    Int { bits: u32 },
    Float,
    Vector(u32, u32),
    Matrix(u32, u32),
    Array(u32, u32),
    RuntimeArray(u32),
    Struct(Vec<u32>),
    Pointer(u32),
}

/// An id, or a member of a struct.
type Decorated = (u32, Option<u32>);

/// An instruction: its name without `Op`, its result's type and id, and its operands.
#[derive(Clone, Debug)]
struct Step {
    name: &'static str,
    ty: u32,
    id: u32,
    rest: Vec<u32>,
}

/// What a module's invocations leave: outputs by location and component, or built-in; buffers by set and binding.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Results {
    pub(super) outputs: Vec<BTreeMap<(String, u32), u32>>,
    pub(super) buffers: BTreeMap<(u32, u32), Vec<u32>>,
    pub(super) killed: Vec<bool>,
}

/// Words of a buffer.
const BUFFER: usize = 96;
/// Elements of a runtime array at most.
const ELEMENTS: u32 = 8;
/// Steps of an invocation.
const BUDGET: u32 = 100_000;

const BUILT_IN: u32 = 11;
const NO_PERSPECTIVE: u32 = 13;
const INVARIANT: u32 = 18;
const ARRAY_STRIDE: u32 = 6;
const MATRIX_STRIDE: u32 = 7;
const ROW_MAJOR: u32 = 4;
const LOCATION: u32 = 30;
const COMPONENT: u32 = 31;
const BINDING: u32 = 33;
const SET: u32 = 34;
const OFFSET: u32 = 35;

/// Storage classes.
const INPUT: u32 = 1;
const UNIFORM: u32 = 2;
const OUTPUT: u32 = 3;
const PUSH_CONSTANT: u32 = 9;
const STORAGE_BUFFER: u32 = 12;

pub(super) struct Machine {
    types: HashMap<u32, Type>,
    /// Declarations of constants and variables, in order.
    declared: Vec<Step>,
    /// The code of each function: all its steps.
    functions: HashMap<u32, Vec<Step>>,
    decorations: HashMap<Decorated, Vec<(u32, u32)>>,
    entry: u32,
    size: [u32; 3],
    glsl: u32,
}

/// A cell of memory.
#[derive(Clone)]
enum Cell {
    Tree(Value),
    /// A buffer: where it is among the buffers, and its type.
    Buffer((u32, u32), u32),
}

enum Stop {
    Killed,
    /// A lane waits at a subgroup operation.
    Waits(group::Operation),
}

struct Run<'a> {
    machine: &'a Machine,
    lane: u32,
    /// The built-in inputs of this lane.
    inputs: &'a dyn Fn(u32) -> Value,
    values: HashMap<u32, Value>,
    cells: Vec<Cell>,
    buffers: &'a mut BTreeMap<(u32, u32), Vec<u32>>,
    /// Results of this lane's subgroup operations, and how many are used.
    known: &'a [Value],
    used: usize,
    left: u32,
}

impl Machine {
    pub(super) fn new(words: &[u32]) -> Self {
        let grammar = Grammar::builtin();
        let mut machine = Self {
            types: HashMap::new(),
            declared: Vec::new(),
            functions: HashMap::new(),
            decorations: HashMap::new(),
            entry: 0,
            size: [1; 3],
            glsl: 0,
        };
        let mut function = None;
        for one in instructions(words) {
            let one = one.expect("an instruction");
            let row = grammar.row(one.opcode).expect("a known instruction");
            let name: &'static str = row.name.as_ref().strip_prefix("Op").expect("a name");
            let mut rest = one.words[1..].to_vec();
            let ty = if row.has_type { rest.remove(0) } else { 0 };
            let id = if row.has_result { rest.remove(0) } else { 0 };
            let first = rest.first().copied().unwrap_or(0);
            match name {
                "TypeVoid" | "TypeFunction" => drop(machine.types.insert(id, Type::Void)),
                "TypeBool" => drop(machine.types.insert(id, Type::Bool)),
                "TypeInt" => drop(machine.types.insert(id, Type::Int { bits: first })),
                "TypeFloat" => drop(machine.types.insert(id, Type::Float)),
                "TypeVector" => drop(machine.types.insert(id, Type::Vector(first, rest[1]))),
                "TypeMatrix" => drop(machine.types.insert(id, Type::Matrix(first, rest[1]))),
                "TypeArray" => drop(machine.types.insert(id, Type::Array(first, rest[1]))),
                "TypeRuntimeArray" => drop(machine.types.insert(id, Type::RuntimeArray(first))),
                "TypeStruct" => drop(machine.types.insert(id, Type::Struct(rest))),
                "TypePointer" => drop(machine.types.insert(id, Type::Pointer(rest[1]))),
                "ExtInstImport" => machine.glsl = id,
                "EntryPoint" => machine.entry = rest[1],
                // LocalSize
                "ExecutionMode" if rest[1] == 17 => machine.size = [rest[2], rest[3], rest[4]],
                "Decorate" => {
                    let value = rest.get(2).copied().unwrap_or(1);
                    machine
                        .decorations
                        .entry((first, None))
                        .or_default()
                        .push((rest[1], value));
                }
                "MemberDecorate" => {
                    let value = rest.get(3).copied().unwrap_or(1);
                    let key = (first, Some(rest[1]));
                    machine.decorations.entry(key).or_default().push((rest[2], value));
                }
                "Function" => function = Some(id),
                "FunctionEnd" => function = None,
                _ => {
                    let step = Step { name, ty, id, rest };
                    match function {
                        Some(function) => machine.functions.entry(function).or_default().push(step),
                        None if id != 0 => machine.declared.push(step),
                        None => {}
                    }
                }
            }
        }
        machine
    }

    fn decoration(&self, id: u32, member: Option<u32>, wanted: u32) -> Option<u32> {
        let all = self.decorations.get(&(id, member))?;
        all.iter().find(|(kind, _)| *kind == wanted).map(|(_, value)| *value)
    }

    /// How each location of the inputs and outputs is interpolated: storage class, location, and the decorations.
    pub(super) fn interpolation(&self) -> BTreeMap<(u32, u32), BTreeSet<u32>> {
        let mut all = BTreeMap::new();
        for step in self.declared.iter().filter(|step| step.name == "Variable") {
            if let (INPUT | OUTPUT, Type::Pointer(ty)) = (step.rest[0], &self.types[&step.ty]) {
                let location = self.decoration(step.id, None, LOCATION);
                let own = self.interpolations(step.id, None);
                self.locations(step.rest[0], *ty, own, location, &mut all);
            }
        }
        all
    }

    fn interpolations(&self, id: u32, member: Option<u32>) -> BTreeSet<u32> {
        let all = self.decorations.get(&(id, member)).into_iter().flatten();
        all.map(|(kind, _)| *kind)
            .filter(|kind| (NO_PERSPECTIVE..=INVARIANT).contains(kind))
            .collect()
    }

    /// Adds the locations of a type; returns the one behind them.
    fn locations(
        &self,
        class: u32,
        ty: u32,
        own: BTreeSet<u32>,
        location: Option<u32>,
        all: &mut BTreeMap<(u32, u32), BTreeSet<u32>>,
    ) -> Option<u32> {
        match &self.types[&ty] {
            Type::Struct(members) => {
                let mut next = location;
                for (at, member) in (0..).zip(members) {
                    next = self.decoration(ty, Some(at), LOCATION).or(next);
                    let more = &own | &self.interpolations(ty, Some(at));
                    next = self.locations(class, *member, more, next, all);
                }
                next
            }
            Type::Array(part, _) | Type::Matrix(part, _) => {
                let count = match self.types[&ty] {
                    Type::Matrix(_, count) => count,
                    Type::Array(_, length) => {
                        self.declared
                            .iter()
                            .find(|step| step.id == length)
                            .expect("a length")
                            .rest[0]
                    }
                    _ => 0,
                };
                (0..count).fold(location, |next, _| self.locations(class, *part, own.clone(), next, all))
            }
            _ => {
                let first = location?;
                all.insert((class, first), own);
                Some(first + 1)
            }
        }
    }

    /// Runs all invocations of a workgroup, or one of another stage.
    pub(super) fn run(&self) -> Results {
        let lanes = self.size.iter().product::<u32>() as usize;
        let mut known: Vec<Vec<Value>> = vec![Vec::new(); lanes];
        // Buffers are as they were until all lanes are done, because lanes run again from their start.
        loop {
            let mut results = Results::default();
            let mut waiting: Vec<Option<group::Operation>> = vec![None; lanes];
            for lane in 0..lanes {
                let inputs = |built_in: u32| self.built_in(built_in, lane as u32);
                let mut run = Run {
                    machine: self,
                    lane: lane as u32,
                    inputs: &inputs,
                    values: HashMap::new(),
                    cells: Vec::new(),
                    buffers: &mut results.buffers,
                    known: &known[lane],
                    used: 0,
                    left: BUDGET,
                };
                let (outputs, stop) = run.all();
                results.outputs.push(outputs);
                results.killed.push(matches!(stop, Some(Stop::Killed)));
                if let Some(Stop::Waits(operation)) = stop {
                    waiting[lane] = Some(operation);
                }
            }
            let Some(first) = waiting.iter().flatten().next() else {
                return results;
            };
            // Lanes that wait elsewhere wait on.
            let (place, count) = (first.place, known[first.lane as usize].len());
            let here: Vec<Option<group::Operation>> = waiting
                .iter()
                .enumerate()
                .map(|(lane, one)| {
                    one.clone()
                        .filter(|one| one.place == place && known[lane].len() == count)
                })
                .collect();
            for (lane, result) in group::results(&here).into_iter().enumerate() {
                known[lane].extend(result);
            }
        }
    }

    /// The value of a built-in input: those of compute shaders by the lane, a number of its own for others.
    fn built_in(&self, number: u32, lane: u32) -> Value {
        let [x, y, _] = self.size;
        let local = [lane % x, lane / x % y, lane / (x * y)];
        let group = [5, 3, 2];
        let vector = |parts: [u32; 3]| Value::Parts(parts.map(Value::Word).to_vec());
        match number {
            // WorkgroupId, LocalInvocationId, GlobalInvocationId, LocalInvocationIndex
            26 => vector(group),
            27 => vector(local),
            28 => vector(std::array::from_fn(|at| group[at] * self.size[at] + local[at])),
            29 | 41 => Value::Word(lane),
            // SubgroupSize; the masks of lanes that are equal, greater or equal, greater, less or equal, less
            36 => Value::Word(self.size.iter().product()),
            4416..=4420 => {
                let bit = 1u32 << lane;
                let below = bit - 1;
                let all = u32::MAX >> (32 - self.size.iter().product::<u32>());
                let mask = [bit, all & !below, all & !(below | bit), below | bit, below][number as usize - 4416];
                Value::Parts([mask, 0, 0, 0].map(Value::Word).to_vec())
            }
            other => Value::Word(1000 + other),
        }
    }
}

impl Run<'_> {
    /// The outputs, and why the invocation ended early.
    fn all(&mut self) -> (BTreeMap<(String, u32), u32>, Option<Stop>) {
        let machine = self.machine;
        for step in &machine.declared {
            let value = match step.name {
                "Variable" => self.variable(step),
                _ => self.evaluate(step, 0),
            };
            self.values.insert(step.id, value);
        }
        let stop = self.call(machine.entry, Vec::new()).err();
        let mut outputs = BTreeMap::new();
        for step in machine
            .declared
            .iter()
            .filter(|step| step.name == "Variable" && step.rest[0] == OUTPUT)
        {
            let value = self.load(&self.values[&step.id].clone());
            let ty = self.pointee(step.ty);
            self.output(&mut outputs, step.id, None, ty, &value, None);
        }
        (outputs, stop)
    }

    /// Adds an output's words by location and component.
    fn output(
        &self,
        to: &mut BTreeMap<(String, u32), u32>,
        id: u32,
        member: Option<u32>,
        ty: u32,
        value: &Value,
        location: Option<u32>,
    ) -> u32 {
        let machine = self.machine;
        if let Some(number) = machine.decoration(id, member, BUILT_IN) {
            let mut words = Vec::new();
            value.words(&mut words);
            for (at, word) in (0..).zip(words) {
                to.insert((format!("built-in {number}"), at), word);
            }
            return 0;
        }
        let location = machine.decoration(id, member, LOCATION).or(location);
        if let Type::Struct(members) = &machine.types[&ty] {
            let mut next = location;
            for ((at, member), part) in (0..).zip(members).zip(value.parts()) {
                let first = machine.decoration(ty, Some(at), LOCATION).or(next);
                let count = self.output(to, ty, Some(at), *member, part, first);
                next = first.map(|first| first + count);
            }
            return 0;
        }
        let first = location.unwrap_or(99);
        if let Type::Array(element, _) | Type::Matrix(element, _) = machine.types[&ty] {
            let mut next = first;
            for part in value.parts() {
                next += self.output(to, u32::MAX, None, element, part, Some(next));
            }
            return next - first;
        }
        let component = machine.decoration(id, member, COMPONENT).unwrap_or(0);
        let mut words = Vec::new();
        value.words(&mut words);
        for (at, word) in (0..).zip(words) {
            to.insert((format!("location {first}"), component + at), word);
        }
        1
    }

    /// The value of an input: by location and component, or built-in.
    fn input(&self, id: u32, member: Option<u32>, ty: u32, location: &mut Option<u32>) -> Value {
        let machine = self.machine;
        if let Some(number) = machine.decoration(id, member, BUILT_IN) {
            return (self.inputs)(number);
        }
        if let Some(own) = machine.decoration(id, member, LOCATION) {
            *location = Some(own);
        }
        match &machine.types[&ty] {
            Type::Struct(members) => {
                let parts = (0..)
                    .zip(members)
                    .map(|(at, member)| self.input(ty, Some(at), *member, location));
                Value::Parts(parts.collect())
            }
            Type::Array(element, length) => {
                let length = self.values[length].word();
                Value::Parts(
                    (0..length)
                        .map(|_| self.input(u32::MAX, None, *element, location))
                        .collect(),
                )
            }
            Type::Matrix(column, count) => Value::Parts(
                (0..*count)
                    .map(|_| self.input(u32::MAX, None, *column, location))
                    .collect(),
            ),
            Type::Vector(_, count) => {
                let first = location.expect("a location");
                *location = Some(first + 1);
                Value::Parts((0..*count).map(|at| Value::Word(100 * (first + 1) + at)).collect())
            }
            _ => {
                let first = location.expect("a location");
                *location = Some(first + 1);
                let component = machine.decoration(id, member, COMPONENT).unwrap_or(0);
                Value::Word(100 * (first + 1) + component)
            }
        }
    }

    fn pointee(&self, ty: u32) -> u32 {
        match self.machine.types[&ty] {
            Type::Pointer(pointee) => pointee,
            ref other => panic!("{other:?} is no pointer"),
        }
    }

    fn variable(&mut self, step: &Step) -> Value {
        let ty = self.pointee(step.ty);
        let cell = match step.rest[0] {
            UNIFORM | STORAGE_BUFFER | PUSH_CONSTANT => {
                let of = |wanted| self.machine.decoration(step.id, None, wanted).unwrap_or(0);
                let place = (of(SET), of(BINDING));
                let words = (0..BUFFER as u32).map(|at| at % 64 + 1 + 64 * place.1).collect();
                self.buffers.entry(place).or_insert(words);
                Cell::Buffer(place, ty)
            }
            INPUT => Cell::Tree(self.input(step.id, None, ty, &mut None)),
            _ => Cell::Tree(match step.rest.get(1) {
                Some(first) => self.values[first].clone(),
                None => self.zero(ty),
            }),
        };
        self.cells.push(cell);
        Value::Pointer(self.cells.len() - 1, Vec::new())
    }

    fn zero(&self, ty: u32) -> Value {
        match &self.machine.types[&ty] {
            Type::Int { bits: 64 } => Value::Long(0),
            Type::Vector(element, count) | Type::Matrix(element, count) => {
                Value::Parts(vec![self.zero(*element); *count as usize])
            }
            Type::Array(element, length) => {
                Value::Parts(vec![self.zero(*element); self.values[length].word() as usize])
            }
            Type::Struct(members) => Value::Parts(members.iter().map(|member| self.zero(*member)).collect()),
            _ => Value::Word(0),
        }
    }

    // Memory.

    fn load(&self, pointer: &Value) -> Value {
        let Value::Pointer(cell, path) = pointer else {
            panic!("{pointer:?} is loaded");
        };
        match &self.cells[*cell] {
            Cell::Tree(value) => path
                .iter()
                .fold(value, |value, at| &value.parts()[*at as usize])
                .clone(),
            Cell::Buffer(place, ty) => {
                let (mut words, mut out) = (Vec::new(), self.zero_at(*ty, path));
                self.layout(*ty, path, &mut words);
                let buffer = &self.buffers[place];
                fill(&mut out, &mut words.iter().map(|at| buffer[*at as usize]));
                out
            }
        }
    }

    fn store(&mut self, pointer: &Value, value: Value) {
        let Value::Pointer(cell, path) = pointer else {
            panic!("{pointer:?} is stored to");
        };
        match &mut self.cells[*cell] {
            Cell::Tree(tree) => {
                let mut at = tree;
                for step in path {
                    let Value::Parts(parts) = at else { panic!("no parts") };
                    at = &mut parts[*step as usize];
                }
                *at = value;
            }
            Cell::Buffer(place, ty) => {
                let (place, ty, mut at, mut words) = (*place, *ty, Vec::new(), Vec::new());
                self.layout(ty, path, &mut at);
                value.words(&mut words);
                let buffer = self.buffers.get_mut(&place).expect("a buffer");
                at.into_iter()
                    .zip(words)
                    .for_each(|(at, word)| buffer[at as usize] = word);
            }
        }
    }

    fn zero_at(&self, ty: u32, path: &[u32]) -> Value {
        let ty = path.iter().fold(ty, |ty, at| self.part(ty, *at));
        self.zero(ty)
    }

    fn part(&self, ty: u32, at: u32) -> u32 {
        match &self.machine.types[&ty] {
            Type::Vector(part, _) | Type::Matrix(part, _) | Type::Array(part, _) | Type::RuntimeArray(part) => *part,
            Type::Struct(members) => members[at as usize],
            other => panic!("{other:?} has no parts"),
        }
    }

    /// The words of a buffer that a part of a type takes.
    fn layout(&self, ty: u32, path: &[u32], out: &mut Vec<u32>) {
        self.words_of(ty, path, 0, (16, false), out);
    }

    fn words_of(&self, ty: u32, path: &[u32], at: u32, (stride, by_rows): (u32, bool), out: &mut Vec<u32>) {
        let machine = self.machine;
        let each = |count: u32| match path.split_first() {
            Some((first, rest)) => vec![(*first, rest)],
            None => (0..count).map(|at| (at, path)).collect(),
        };
        match &machine.types[&ty] {
            Type::Struct(members) => {
                for (number, rest) in each(members.len() as u32) {
                    let of = |wanted| machine.decoration(ty, Some(number), wanted);
                    let inner = (of(MATRIX_STRIDE).unwrap_or(16), of(ROW_MAJOR).is_some());
                    let offset = of(OFFSET).expect("an offset");
                    self.words_of(members[number as usize], rest, at + offset, inner, out);
                }
            }
            Type::Array(element, length) => {
                let step = machine.decoration(ty, None, ARRAY_STRIDE).expect("a stride");
                for (number, rest) in each(self.values[length].word()) {
                    self.words_of(*element, rest, at + number * step, (stride, by_rows), out);
                }
            }
            Type::RuntimeArray(element) => {
                let step = machine.decoration(ty, None, ARRAY_STRIDE).expect("a stride");
                for (number, rest) in each(ELEMENTS) {
                    self.words_of(*element, rest, at + number * step, (stride, by_rows), out);
                }
            }
            Type::Matrix(column, count) => {
                for (number, rest) in each(*count) {
                    let step = if by_rows { 4 } else { stride };
                    self.words_of(
                        *column,
                        rest,
                        at + number * step,
                        (if by_rows { stride } else { 4 }, false),
                        out,
                    );
                }
            }
            Type::Vector(_, count) => {
                // Components are next to each other, but for columns of matrices that are stored by rows.
                let step = if stride == 16 { 4 } else { stride };
                for (number, _) in each(*count) {
                    out.push((at + number * step) / 4);
                }
            }
            Type::Int { bits: 64 } => out.extend([at / 4, at / 4 + 1]),
            _ => out.push(at / 4),
        }
    }

    // Functions.

    fn call(&mut self, function: u32, arguments: Vec<Value>) -> Result<Option<Value>, Stop> {
        let machine = self.machine;
        let code = &machine.functions[&function];
        let parameters = code.iter().take_while(|step| step.name == "FunctionParameter");
        for (parameter, argument) in parameters.zip(arguments) {
            self.values.insert(parameter.id, argument);
        }
        let (mut at, mut before) = (0, 0);
        let mut block = 0;
        loop {
            self.left = self.left.checked_sub(1).expect("an end");
            let step = &code[at];
            at += 1;
            let mut next = |to: u32| {
                before = block;
                code.iter()
                    .position(|step| step.name == "Label" && step.id == to)
                    .expect("a block")
            };
            match step.name {
                "FunctionParameter" | "SelectionMerge" | "LoopMerge" | "Line" | "NoLine" | "Nop" => {}
                "Label" => {
                    block = step.id;
                    // Phis take their values at once.
                    let phis = code[at..].iter().take_while(|step| step.name == "Phi");
                    let values: Vec<(u32, Value)> = phis
                        .map(|phi| {
                            let pair = phi.rest.chunks(2).find(|pair| pair[1] == before).expect("a parent");
                            (phi.id, self.values[&pair[0]].clone())
                        })
                        .collect();
                    at += values.len();
                    self.values.extend(values);
                }
                "Branch" => at = next(step.rest[0]),
                "BranchConditional" => {
                    let yes = self.values[&step.rest[0]].word() != 0;
                    at = next(step.rest[if yes { 1 } else { 2 }]);
                }
                "Switch" => {
                    let value = self.values[&step.rest[0]].word();
                    let case = step.rest[2..].chunks(2).find(|pair| pair[0] == value);
                    at = next(case.map_or(step.rest[1], |pair| pair[1]));
                }
                "Return" => return Ok(None),
                "ReturnValue" => return Ok(Some(self.values[&step.rest[0]].clone())),
                "Kill" | "TerminateInvocation" => return Err(Stop::Killed),
                "Unreachable" => panic!("unreachable"),
                "Store" => {
                    let value = self.values[&step.rest[1]].clone();
                    self.store(&self.values[&step.rest[0]].clone(), value);
                }
                "CopyMemory" => {
                    let value = self.load(&self.values[&step.rest[1]].clone());
                    self.store(&self.values[&step.rest[0]].clone(), value);
                }
                "FunctionCall" => {
                    let arguments = step.rest[1..].iter().map(|id| self.values[id].clone()).collect();
                    if let Some(value) = self.call(step.rest[0], arguments)? {
                        self.values.insert(step.id, value);
                    }
                }
                "Variable" => {
                    let pointer = self.variable(step);
                    self.values.insert(step.id, pointer);
                }
                name if group::is_operation(name) => {
                    let value = match self.known.get(self.used) {
                        Some(value) => value.clone(),
                        None => {
                            let operands = step.rest.iter().map(|id| match self.values.get(id) {
                                Some(value) => value.clone(),
                                // A group operation is a number of the instruction itself.
                                None => Value::Word(*id),
                            });
                            return Err(Stop::Waits(group::Operation {
                                name,
                                place: step.id,
                                lane: self.lane,
                                operands: operands.collect(),
                                literals: step.rest.clone(),
                            }));
                        }
                    };
                    self.used += 1;
                    self.values.insert(step.id, value);
                }
                _ => {
                    let value = self.evaluate(step, 0);
                    self.values.insert(step.id, value);
                }
            }
        }
    }

    /// The type of a vector's components.
    fn scalar(&self, ty: u32) -> &Type {
        match &self.machine.types[&ty] {
            Type::Vector(of, _) => &self.machine.types[of],
            other => other,
        }
    }

    /// A value that depends on other values and memory only; `skip` operands precede them.
    fn evaluate(&self, step: &Step, skip: usize) -> Value {
        let value = |at: usize| {
            self.values
                .get(&step.rest[skip + at])
                .unwrap_or_else(|| panic!("{step:?}"))
                .clone()
        };
        let literals = |from: usize| &step.rest[skip + from..];
        match step.name {
            "ConstantTrue" | "SpecConstantTrue" => Value::Word(1),
            "ConstantFalse" | "SpecConstantFalse" => Value::Word(0),
            "Constant" | "SpecConstant" => match step.rest.as_slice() {
                [low, high] => Value::Long(u64::from(*high) << 32 | u64::from(*low)),
                [word, ..] => Value::Word(*word),
                [] => panic!("{step:?}"),
            },
            "ConstantNull" | "Undef" => self.zero(step.ty),
            "SpecConstantOp" => {
                let name = &Grammar::builtin().row(step.rest[0] as u16).expect("an operation").name;
                let inner = Step {
                    name: name.as_ref().strip_prefix("Op").expect("a name"),
                    ty: step.ty,
                    id: step.id,
                    rest: step.rest[1..].to_vec(),
                };
                self.evaluate(&inner, 0)
            }
            "ConstantComposite" | "SpecConstantComposite" => Value::Parts((0..step.rest.len()).map(value).collect()),
            "CompositeConstruct" => {
                let mut parts = Vec::new();
                for at in 0..step.rest.len() {
                    match (value(at), &self.machine.types[&step.ty]) {
                        // Vectors are made of scalars and vectors.
                        (Value::Parts(more), Type::Vector(..)) => parts.extend(more),
                        (one, _) => parts.push(one),
                    }
                }
                Value::Parts(parts)
            }
            "CompositeExtract" => {
                let whole = value(0);
                literals(1)
                    .iter()
                    .fold(&whole, |part, at| &part.parts()[*at as usize])
                    .clone()
            }
            "CompositeInsert" => {
                let (part, mut whole) = (value(0), value(1));
                let mut at = &mut whole;
                for step in literals(2) {
                    let Value::Parts(parts) = at else { panic!("no parts") };
                    at = &mut parts[*step as usize];
                }
                *at = part;
                whole
            }
            "VectorShuffle" => {
                let parts = [value(0).parts(), value(1).parts()].concat();
                Value::Parts(literals(2).iter().map(|at| parts[*at as usize].clone()).collect())
            }
            "VectorExtractDynamic" => value(0).parts()[value(1).word() as usize].clone(),
            "CopyObject" => value(0),
            "Load" => self.load(&value(0)),
            "AccessChain" | "InBoundsAccessChain" => {
                let Value::Pointer(cell, mut path) = value(0) else {
                    panic!("{step:?}")
                };
                path.extend((1..step.rest.len()).map(|at| value(at).word()));
                Value::Pointer(cell, path)
            }
            "ArrayLength" => Value::Word(ELEMENTS),
            "Select" => match value(0) {
                Value::Parts(all) => {
                    let (yes, no) = (value(1), value(2));
                    let one = |at: usize| if all[at].word() != 0 { yes.parts() } else { no.parts() }[at].clone();
                    Value::Parts((0..all.len()).map(one).collect())
                }
                one => value(if one.word() != 0 { 1 } else { 2 }),
            },
            "Any" | "All" => {
                let mut truths = value(0).parts().to_vec().into_iter().map(|one| one.word() != 0);
                let (any, all) = (step.name == "Any", step.name == "All");
                Value::Word(u32::from(
                    any && truths.clone().any(|one| one) || all && truths.all(|one| one),
                ))
            }
            "UMulExtended" | "SMulExtended" | "IAddCarry" | "ISubBorrow" => {
                let product = |a: &Value, b: &Value| {
                    let (a, b) = (a.word(), b.word());
                    let all = match step.name {
                        "SMulExtended" => (i64::from(a as i32) * i64::from(b as i32)) as u64,
                        "UMulExtended" => u64::from(a) * u64::from(b),
                        "IAddCarry" => u64::from(a) + u64::from(b),
                        _ => u64::from(a < b) << 32 | u64::from(a.wrapping_sub(b)),
                    };
                    [all as u32, (all >> 32) as u32].map(Value::Word)
                };
                let (a, b) = (value(0), value(1));
                match (&a, &b) {
                    (Value::Parts(a), Value::Parts(b)) => {
                        let both: Vec<[Value; 2]> = a.iter().zip(b).map(|(a, b)| product(a, b)).collect();
                        let half = |at: usize| Value::Parts(both.iter().map(|one| one[at].clone()).collect());
                        Value::Parts(vec![half(0), half(1)])
                    }
                    _ => Value::Parts(product(&a, &b).to_vec()),
                }
            }
            "VectorTimesScalar" => {
                let by = value(1);
                Value::Parts(
                    value(0)
                        .parts()
                        .iter()
                        .map(|one| arithmetic("FMul", &[one.clone(), by.clone()], 32))
                        .collect(),
                )
            }
            "OuterProduct" => {
                let (a, b) = (value(0), value(1));
                let column = |by: &Value| {
                    let parts = a.parts().iter();
                    Value::Parts(
                        parts
                            .map(|one| arithmetic("FMul", &[one.clone(), by.clone()], 32))
                            .collect(),
                    )
                };
                Value::Parts(b.parts().iter().map(column).collect())
            }
            "Dot" => {
                let (a, b) = (value(0), value(1));
                let products = a
                    .parts()
                    .iter()
                    .zip(b.parts())
                    .map(|(a, b)| arithmetic("FMul", &[a.clone(), b.clone()], 32));
                let sum = products.reduce(|a, b| arithmetic("FAdd", &[a, b], 32));
                sum.expect("components")
            }
            "ExtInst" => {
                assert_eq!(step.rest[0], self.machine.glsl);
                self.extended(step)
            }
            name => {
                let operands: Vec<Value> = (0..step.rest.len()).map(value).collect();
                let bits = match self.scalar(step.ty) {
                    Type::Int { bits } => *bits,
                    _ => 32,
                };
                each(&operands, &|parts| arithmetic(name, parts, bits))
            }
        }
    }

    /// Instructions of GLSL.std.450.
    fn extended(&self, step: &Step) -> Value {
        let value = |at: usize| self.values[&step.rest[2 + at]].clone();
        let name = match step.rest[1] {
            3 => "Trunc",
            5 => "SAbs",
            6 => "FSign",
            8 => "Floor",
            31 => "Sqrt",
            35 | 36 => {
                let whole = each(&[value(0)], &|parts| arithmetic("Trunc", parts, 32));
                let rest = each(&[value(0), whole.clone()], &|parts| arithmetic("FSub", parts, 32));
                if step.rest[1] == 36 {
                    return Value::Parts(vec![rest, whole]);
                }
                panic!("Modf stores");
            }
            38 => "UMin",
            39 => "SMin",
            41 => "UMax",
            42 => "SMax",
            44 => "UClamp",
            45 => "SClamp",
            53 => "Ldexp",
            69 => match value(0) {
                Value::Word(_) => "FSign",
                other => panic!("{other:?}"),
            },
            70 => "FaceForward",
            71 => "Reflect",
            72 => "Refract",
            73 => "FindILsb",
            74 => "FindSMsb",
            75 => "FindUMsb",
            other => panic!("GLSL.std.450 {other}"),
        };
        let operands: Vec<Value> = (0..step.rest.len() - 2).map(value).collect();
        let wide = matches!(self.scalar(step.ty), Type::Int { bits: 64 });
        each(&operands, &|parts| arithmetic(name, parts, if wide { 64 } else { 32 }))
    }
}

/// Puts words in place of a value's scalars.
fn fill(value: &mut Value, words: &mut dyn Iterator<Item = u32>) {
    let mut next = || words.next().expect("a word");
    match value {
        Value::Word(word) => *word = next(),
        Value::Long(long) => *long = u64::from(next()) | u64::from(next()) << 32,
        Value::Parts(parts) => parts.iter_mut().for_each(|part| fill(part, words)),
        Value::Pointer(..) => panic!("a pointer in a buffer"),
    }
}

/// An operation of scalars, by component.
fn each(operands: &[Value], operation: &dyn Fn(&[Value]) -> Value) -> Value {
    let count = operands.iter().find_map(|one| match one {
        Value::Parts(parts) => Some(parts.len()),
        _ => None,
    });
    match count {
        None => operation(operands),
        Some(count) => {
            let at = |at: usize| operands.iter().map(|one| one.parts()[at].clone()).collect::<Vec<_>>();
            Value::Parts((0..count).map(|one| operation(&at(one))).collect())
        }
    }
}

/// An operation of scalars with a result of some bits.
pub(super) fn arithmetic(name: &str, operands: &[Value], bits: u32) -> Value {
    // 64-bit numbers are compared and converted only.
    if operands.iter().any(|one| matches!(one, Value::Long(_))) || bits == 64 {
        let long = |at: usize| match &operands[at] {
            Value::Long(long) => *long as i64,
            one => i64::from(one.word() as i32),
        };
        return match name {
            "SClamp" => Value::Long(long(0).clamp(long(1), long(2)) as u64),
            "SMin" => Value::Long(long(0).min(long(1)) as u64),
            "SMax" => Value::Long(long(0).max(long(1)) as u64),
            "Bitcast" => operands[0].clone(),
            "SConvert" if bits == 32 => Value::Word(long(0) as u32),
            "SConvert" => Value::Long(long(0) as u64),
            "Ldexp" => {
                let exponent = long(1).clamp(-100_000, 100_000) as i32;
                Value::Word(ldexp(f32::from_bits(operands[0].word()), exponent).to_bits())
            }
            _ => panic!("{name} of 64 bits"),
        };
    }
    let u = |at: usize| operands[at].word();
    let s = |at: usize| u(at) as i32;
    let f = |at: usize| f32::from_bits(u(at));
    let signed = |value: i32| value as u32;
    let truth = u32::from;
    Value::Word(match name {
        "IAdd" => u(0).wrapping_add(u(1)),
        "ISub" => u(0).wrapping_sub(u(1)),
        "IMul" => u(0).wrapping_mul(u(1)),
        "UDiv" => u(0).checked_div(u(1)).unwrap_or(0),
        "SDiv" => signed(s(0).checked_div(s(1)).unwrap_or(0)),
        "UMod" => u(0).checked_rem(u(1)).unwrap_or(0),
        "SRem" => signed(s(0).checked_rem(s(1)).unwrap_or(0)),
        "SMod" => signed(s(0).checked_rem_euclid(s(1)).unwrap_or(0)),
        "SNegate" => signed(s(0).wrapping_neg()),
        "Not" => !u(0),
        "BitwiseAnd" => u(0) & u(1),
        "BitwiseOr" => u(0) | u(1),
        "BitwiseXor" => u(0) ^ u(1),
        "ShiftLeftLogical" => u(0).checked_shl(u(1)).unwrap_or(0),
        "ShiftRightLogical" => u(0).checked_shr(u(1)).unwrap_or(0),
        "ShiftRightArithmetic" => signed(s(0) >> u(1).min(31)),
        "BitFieldUExtract" => {
            let mask = 1u32.checked_shl(u(2)).unwrap_or(0).wrapping_sub(1);
            u(0).checked_shr(u(1)).unwrap_or(0) & mask
        }
        "BitFieldSExtract" => match u(2) {
            0 => 0,
            count => signed((u(0) << (32 - u(1) - count)) as i32 >> (32 - count)),
        },
        "BitCount" => u(0).count_ones(),
        "FindILsb" => 31u32.wrapping_sub((u(0) & u(0).wrapping_neg()).leading_zeros()),
        "IEqual" | "LogicalEqual" => truth(u(0) == u(1)),
        "INotEqual" | "LogicalNotEqual" => truth(u(0) != u(1)),
        "ULessThan" => truth(u(0) < u(1)),
        "SLessThan" => truth(s(0) < s(1)),
        "UGreaterThan" => truth(u(0) > u(1)),
        "SGreaterThan" => truth(s(0) > s(1)),
        "ULessThanEqual" => truth(u(0) <= u(1)),
        "SLessThanEqual" => truth(s(0) <= s(1)),
        "UGreaterThanEqual" => truth(u(0) >= u(1)),
        "SGreaterThanEqual" => truth(s(0) >= s(1)),
        "LogicalNot" => u(0) ^ 1,
        "LogicalAnd" => u(0) & u(1),
        "LogicalOr" => u(0) | u(1),
        "FAdd" => (f(0) + f(1)).to_bits(),
        "FSub" => (f(0) - f(1)).to_bits(),
        "FMul" => (f(0) * f(1)).to_bits(),
        "FDiv" => (f(0) / f(1)).to_bits(),
        "FNegate" => (-f(0)).to_bits(),
        "IsNan" => truth(f(0).is_nan()),
        "FOrdEqual" => truth(f(0) == f(1)),
        "FOrdLessThan" => truth(f(0) < f(1)),
        "FOrdGreaterThan" => truth(f(0) > f(1)),
        "Trunc" => f(0).trunc().to_bits(),
        "Floor" => f(0).floor().to_bits(),
        "Sqrt" => f(0).sqrt().to_bits(),
        // Of scalars.
        "FaceForward" => (if f(2) * f(1) < 0.0 { f(0) } else { -f(0) }).to_bits(),
        "Reflect" => (f(0) - 2.0 * (f(1) * f(0)) * f(1)).to_bits(),
        "Refract" => {
            let (ray, normal, eta) = (f(0), f(1), f(2));
            let cosine = normal * ray;
            let left = 1.0 - eta * eta * (1.0 - cosine * cosine);
            let bent = || eta * ray - (eta * cosine + left.sqrt()) * normal;
            (if left < 0.0 { 0.0 } else { bent() }).to_bits()
        }
        "FSign" => match f(0) {
            zero if zero == 0.0 => zero.to_bits(),
            other => other.signum().to_bits(),
        },
        "FMin" => f(0).min(f(1)).to_bits(),
        "FMax" => f(0).max(f(1)).to_bits(),
        "SAbs" => s(0).unsigned_abs(),
        "UMin" => u(0).min(u(1)),
        "SMin" => signed(s(0).min(s(1))),
        "UMax" => u(0).max(u(1)),
        "SMax" => signed(s(0).max(s(1))),
        "UClamp" => u(0).clamp(u(1), u(2)),
        "SClamp" => signed(s(0).clamp(s(1), s(2))),
        "FindUMsb" => 31u32.wrapping_sub(u(0).leading_zeros()),
        "FindSMsb" => 31u32.wrapping_sub((if s(0) < 0 { !u(0) } else { u(0) }).leading_zeros()),
        "Ldexp" => ldexp(f(0), s(1)).to_bits(),
        "Bitcast" => u(0),
        "ConvertUToF" => (u(0) as f32).to_bits(),
        "ConvertSToF" => (s(0) as f32).to_bits(),
        "ConvertFToU" => f(0) as u32,
        "ConvertFToS" => signed(f(0) as i32),
        _ => panic!("{name} has no meaning here"),
    })
}

fn ldexp(value: f32, exponent: i32) -> f32 {
    (f64::from(value) * 2f64.powi(exponent.clamp(-1000, 1000))) as f32
}
