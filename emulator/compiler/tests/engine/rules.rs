//! What the emitted programs owe the hardware, read from their words alone: distances of results, latencies of stores,
//! units that feed each other, nothing read that was not written on every way there. Nothing here is the schedulers'.

use loader::mbs::{Program, Stage, SymbolType};
use std::collections::{BTreeSet, HashMap};
use utgard::gp::{self, Age, ComplexOp, MulOp, PassOp, Source, Stored, Target, Unit};
use utgard::pp::access::{Access, accesses};
use utgard::pp::{self, LoadSource, Register};
use utgard::shader;

/// Somewhere a number lives: space and number.
type Place = (&'static str, i64);

/// Instructions in front of each.
fn before(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut before = vec![Vec::new(); next.len()];
    for (from, next) in next.iter().enumerate() {
        next.iter().for_each(|to| before[*to].push(from));
    }
    before
}

/// Instructions that may have run `steps` steps ago, and whether the program may have begun since.
fn ago(before: &[Vec<usize>], at: usize, steps: usize) -> (BTreeSet<usize>, bool) {
    let (mut here, mut begins) = (BTreeSet::from([at]), false);
    for _ in 0..steps {
        begins |= here.contains(&0);
        here = here.iter().flat_map(|at| before[*at].iter().copied()).collect();
    }
    (here, begins)
}

/// Places that are written on every way to each instruction; nothing where no way goes.
fn written(next: &[Vec<usize>], writes: &[BTreeSet<Place>]) -> Vec<Option<BTreeSet<Place>>> {
    let mut known: Vec<Option<BTreeSet<Place>>> = vec![None; next.len()];
    let mut pending = vec![(0, BTreeSet::new())];
    while let Some((at, incoming)) = pending.pop() {
        let merged = match &known[at] {
            Some(have) if have.is_subset(&incoming) => continue,
            Some(have) => have.intersection(&incoming).copied().collect(),
            None => incoming,
        };
        let out: BTreeSet<Place> = merged.union(&writes[at]).copied().collect();
        known[at] = Some(merged);
        pending.extend(next[at].iter().map(|to| (*to, out.clone())));
    }
    known
}

/// What a program breaks, with the place; nothing where all rules hold.
pub(crate) fn broken(program: &Program) -> Option<String> {
    match program.stage {
        Stage::Vertex => vertex(program),
        _ => fragment(program),
    }
    .err()
}

/// The number that a component of the memory's load is, where the program brings it along.
fn constant(program: &Program, i: &gp::Instruction, source: Source) -> Option<f32> {
    let Source::Memory(component) = source else { return None };
    let float = usize::from(i.load_address) * 4 + component.index();
    let symbols = program.uniforms.iter().flatten();
    symbols.filter(|symbol| symbol.is_used()).find_map(|symbol| {
        let at = float.checked_sub(usize::from(symbol.offset))?;
        symbol.initial.as_ref()?.get(at).map(|bits| f32::from_bits(*bits))
    })
}

/// Vec4s of the memory whose number an instruction's complex unit makes the address of its temporary stores.
fn address(program: &Program, i: &gp::Instruction) -> i64 {
    assert_eq!(
        i.complex_op,
        ComplexOp::TempStoreAddress,
        "a temporary without its address"
    );
    constant(program, i, i.complex_source).expect("an address that is a constant") as i64
}

/// The branch goes on every way: its condition is a number that is not zero.
fn always(program: &Program, i: &gp::Instruction) -> bool {
    i.branch && i.pass_op == PassOp::Mov && constant(program, i, i.pass_source).is_some_and(|number| number != 0.0)
}

/// What a vertex program's symbols say that it leaves behind.
fn outputs(program: &Program) -> Vec<Place> {
    let symbols = program.varyings.iter().flatten().filter(|symbol| symbol.is_used());
    let places = symbols.flat_map(|symbol| {
        let rows = i64::from(symbol.components);
        let columns = if symbol.kind == SymbolType::MATRIX { rows } else { 1 };
        let vectors = 0..columns * i64::from(symbol.entries.max(1));
        let first = i64::from(symbol.offset);
        vectors.flat_map(move |vector| (0..rows).map(move |row| ("output", first + 4 * vector + row)))
    });
    places.collect()
}

fn vertex(program: &Program) -> Result<(), String> {
    let words = shader::instructions(&program.code);
    let code: Vec<gp::Instruction> = words.into_iter().map(gp::Instruction::decode).collect();
    let next: Vec<Vec<usize>> = (0..code.len())
        .map(|at| {
            let mut next = Vec::from_iter((at + 1 < code.len() && !always(program, &code[at])).then_some(at + 1));
            next.extend(code[at].branch.then_some(usize::from(code[at].target())));
            next
        })
        .collect();
    let before = before(&next);
    let mut writes = vec![BTreeSet::new(); code.len()];
    for (at, i) in code.iter().enumerate() {
        for (component, (stored, target)) in i.stores().into_iter().enumerate() {
            if stored == Stored::Nothing {
                continue;
            }
            match target {
                Target::Register(register) => {
                    writes[at].insert(("register", i64::from(register) * 4 + component as i64))
                }
                Target::Temporary => writes[at].insert(("memory", address(program, i) * 4 + component as i64)),
                Target::Varying(output) => writes[at].insert(("output", i64::from(output) * 4 + component as i64)),
            };
        }
    }
    let temporaries: BTreeSet<Place> = writes
        .iter()
        .flatten()
        .filter(|place| place.0 == "memory")
        .copied()
        .collect();
    let outputs = outputs(program);
    let known = written(&next, &writes);
    for (at, i) in code.iter().enumerate() {
        let Some(known) = &known[at] else { continue };
        let say = |what: &str| Err(format!("instruction {at}: {what}"));
        let missing = |place: &&Place| !known.contains(place) && !writes[at].contains(place);
        if next[at].is_empty()
            && let Some(place) = outputs.iter().find(missing)
        {
            return say(&format!("ends without {place:?} on some way"));
        }
        for source in i.sources() {
            let place = match source {
                Source::Result(unit, age) => {
                    let (from, begins) = ago(&before, at, age.instructions());
                    if begins || !from.iter().all(|from| code[*from].is_busy(unit)) {
                        return say(&format!("reads a result of {unit:?} that is not there on every way"));
                    }
                    let last = |from: &usize| code[*from].mul_op == MulOp::Complex1;
                    if unit == Unit::Mul0 && age == Age::One && from.iter().any(last) {
                        return say("reads a function's last step one instruction on");
                    }
                    continue;
                }
                Source::Port0Before(component) => {
                    let (from, begins) = ago(&before, at, 1);
                    let loads = |from: &usize| (code[*from].register0_is_attribute, code[*from].register0_address);
                    let all: BTreeSet<_> = from.iter().map(loads).collect();
                    if begins || all.len() != 1 {
                        return say("reads the first port's last load, which depends on the way");
                    }
                    let (attribute, register) = all.into_iter().next().expect("one");
                    if attribute {
                        continue;
                    }
                    ("register", i64::from(register) * 4 + component.index() as i64)
                }
                Source::Port0(_) if i.register0_is_attribute => continue,
                Source::Port0(component) => (
                    "register",
                    i64::from(i.register0_address) * 4 + component.index() as i64,
                ),
                Source::Port1(component) => (
                    "register",
                    i64::from(i.register1_address) * 4 + component.index() as i64,
                ),
                Source::Memory(component) => ("memory", i64::from(i.load_address) * 4 + component.index() as i64),
                Source::Idle | Source::Undocumented(_) => continue,
            };
            if place.0 == "memory" && place.1 >= i64::from(program.uniform_space) {
                return say(&format!("reads {place:?} of {} floats", program.uniform_space));
            }
            let latency = match (place.0, source) {
                ("memory", _) if !temporaries.contains(&place) => continue,
                ("memory", _) => 4,
                // What the instruction in front loaded was loaded one earlier.
                (_, Source::Port0Before(_)) => 4,
                _ => 3,
            };
            if !known.contains(&place) {
                return say(&format!("reads {place:?}, which is not written on every way"));
            }
            for steps in 1..latency {
                if ago(&before, at, steps)
                    .0
                    .iter()
                    .any(|from| writes[*from].contains(&place))
                {
                    return say(&format!("reads {place:?} {steps} instructions behind its store"));
                }
            }
        }
        if i.mul_op == MulOp::Complex1 {
            let (from, begins) = ago(&before, at, 1);
            if begins
                || !from
                    .iter()
                    .all(|from| code[*from].mul_op == MulOp::Complex2 && code[*from].is_busy(Unit::Complex))
            {
                return say("a function's last step without its first");
            }
            if i.stores().iter().any(|(stored, _)| *stored == Stored::Unit(Unit::Mul0)) {
                return say("stores a function's last step as it is made");
            }
        }
    }
    Ok(())
}

/// The instructions of a fragment program with their addresses.
fn fragment_code(words: &[u32]) -> Result<Vec<(usize, pp::Instruction)>, String> {
    let mut code = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let instruction = pp::Instruction::decode(&words[at..]).map_err(|error| error.to_string())?;
        let length = instruction.words() as usize;
        code.push((at, instruction));
        at += length;
    }
    Ok(code)
}

/// Where each instruction goes on.
fn fragment_ways(code: &[(usize, pp::Instruction)]) -> Result<Vec<Vec<usize>>, String> {
    let number: HashMap<i64, usize> = code
        .iter()
        .enumerate()
        .map(|(at, (address, _))| (*address as i64, at))
        .collect();
    let ways = code.iter().enumerate().map(|(at, (address, i))| {
        let mut next = Vec::new();
        if !i.control.stop && !i.branch.is_some_and(|branch| branch.always()) {
            if at + 1 == code.len() {
                return Err("runs on behind its end".to_owned());
            }
            next.push(at + 1);
        }
        if let Some(branch) = i.branch.filter(|branch| branch.may_go() && !branch.is_discard()) {
            let to = number.get(&(*address as i64 + i64::from(branch.signed_target())));
            let to = *to.ok_or_else(|| format!("the instruction at {address}: a branch into an instruction"))?;
            // The length that the hardware fetches at the target.
            if branch.target_length != code[to].1.words() {
                return Err(format!(
                    "the instruction at {address}: the length of its branch's target is wrong"
                ));
            }
            next.push(to);
        }
        Ok(next)
    });
    ways.collect()
}

fn fragment(program: &Program) -> Result<(), String> {
    let code = fragment_code(&program.code)?;
    let next = fragment_ways(&code)?;
    let mut writes = vec![BTreeSet::new(); code.len()];
    for (at, (_, i)) in code.iter().enumerate() {
        for access in accesses(i) {
            if let Some((register, mask)) = access.writes.filter(|(register, _)| !register.is_pipeline()) {
                writes[at].extend(scalars(register, mask));
            }
        }
        if let Some(store) = i.store.filter(|store| !store.reads_tile() && !store.offset_enable) {
            writes[at].insert(("temporary", i64::from(store.signed_index())));
        }
    }
    let known = written(&next, &writes);
    for (at, (address, i)) in code.iter().enumerate() {
        let Some(known) = &known[at] else { continue };
        let say = |what: &str| Err(format!("the instruction at {address}: {what}"));
        // Units of a stage read before any of them writes; later stages read what earlier ones wrote.
        let mut have = known.clone();
        let mut all = accesses(i);
        all.sort_by_key(|access| access.stage);
        for stage in 0..=8 {
            for access in all.iter().filter(|access| access.stage == stage) {
                for (register, mask) in &access.reads {
                    let there = |place| have.contains(&place);
                    if !filled(i, *register) {
                        return say(&format!("stage {stage} reads {register}, which nothing fills"));
                    }
                    if !register.is_pipeline() && !scalars(*register, *mask).into_iter().all(there) {
                        return say(&format!(
                            "stage {stage} reads {register}, which is not written on every way"
                        ));
                    }
                }
            }
            for access in all.iter().filter(|access| access.stage == stage) {
                if let Some((register, mask)) = access.writes {
                    have.extend(scalars(register, mask));
                }
            }
        }
        let spilled = i
            .load
            .filter(|load| load.source == LoadSource::Temporary && !load.offset_enable);
        if let Some(load) = spilled
            && program.stack.is_some()
            && writes
                .iter()
                .flatten()
                .any(|place| *place == ("temporary", i64::from(load.signed_index())))
            && !known.contains(&("temporary", i64::from(load.signed_index())))
        {
            return say("loads a temporary that is not stored on every way");
        }
        if i.combine.is_some() && i.store.is_some() {
            return say("a store beside a combine");
        }
        let product = (
            i.vec_acc.is_some_and(|acc| acc.a_is_mul),
            i.float_acc.is_some_and(|acc| acc.a_is_mul),
        );
        if product.0 && i.vec_mul.is_none() || product.1 && i.float_mul.is_none() {
            return say("adds a product that no multiplier computes");
        }
        if i.sampler.is_some() && !i.control.sync {
            return say("a look-up that does not wait for its neighbours");
        }
        if let Some(bias) = i
            .sampler
            .filter(|unit| unit.lod_enable && !unit.explicit_lod && !unit.is_cube())
        {
            let late = |(_, front): &(usize, pp::Instruction)| {
                let lod = (bias.lod.register(), 1 << bias.lod.component());
                let writes = |access: &Access| access.writes.is_some_and(|(to, mask)| to == lod.0 && mask & lod.1 != 0);
                let writers = accesses(front).into_iter().filter(writes);
                // A multiplier or an adder may move it in the same instruction.
                writers.map(|access| access.stage).max() == Some(1)
            };
            let mut fronts = code.iter().zip(&next).filter(|(_, next)| next.contains(&at));
            if fronts.any(|(front, _)| late(front)) {
                return say("a bias from the varying unit of the instruction in front");
            }
        }
        let following = code.get(at + 1).map_or(0, |(_, next)| next.words());
        if !i.control.stop && i.control.next_length != following {
            return say("the next instruction's length is wrong");
        }
        let color = scalars(Register(0), 15);
        if i.control.stop
            && !i.branch.is_some_and(|branch| branch.always())
            && !color.iter().all(|place| have.contains(place))
        {
            return say("ends without a colour on some way");
        }
    }
    Ok(())
}

/// Whether a register between the stages has something in it.
fn filled(i: &pp::Instruction, register: Register) -> bool {
    match register {
        Register::CONST0 => i.const0.is_some(),
        Register::CONST1 => i.const1.is_some(),
        Register::TEXTURE => i.sampler.is_some(),
        Register::UNIFORM => i.load.is_some(),
        _ => true,
    }
}

fn scalars(register: Register, mask: u32) -> Vec<Place> {
    let lanes = (0..4).filter(|lane| mask >> lane & 1 == 1);
    lanes
        .map(|lane| ("register", i64::from(register.0) * 4 + lane))
        .collect()
}
