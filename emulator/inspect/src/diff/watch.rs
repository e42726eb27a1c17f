//! Compares the fragments at a pixel of both recordings, instruction by instruction.

use super::StepParting;
use crate::error::{Error, Result};
use crate::recorded;
use crate::watched::Switch;
use emulator::exec::Engine;
use emulator::exec::observed::{Operand, PixelFragment, Step};
use emulator::gpu::Gpu;
use loader::trace::{Record, Trace};

/// The fragments at a pixel of a pixel job.
fn fragments(trace: &Trace<'_>, job: usize, pixel: (u32, u32), engine: Box<dyn Engine>) -> Result<Vec<PixelFragment>> {
    let switch = Switch::new(engine, pixel);
    let mut gpu = Gpu::new(Box::new(switch.clone()));
    let mut number = 0;
    for (offset, record) in &trace.records {
        let is_job = matches!(record, Record::Submit { .. });
        if is_job && number == job {
            switch.turn_on();
        }
        recorded::step(&mut gpu, record).map_err(|fault| Error::fault(number, *offset, fault))?;
        number += usize::from(is_job);
        if number > job {
            break;
        }
    }
    Ok(switch.fragments())
}

/// Where the fragments at a pixel diverge; `None` if they are identical.
pub(super) fn parting(
    traces: [&Trace<'_>; 2],
    job: usize,
    pixel: (u32, u32),
    engine: &impl Fn() -> Box<dyn Engine>,
) -> Result<Option<StepParting>> {
    let [a, b] = traces;
    let a = fragments(a, job, pixel, engine())?;
    let b = fragments(b, job, pixel, engine())?;
    Ok((0..a.len().max(b.len())).find_map(|number| fragment(number, [a.get(number), b.get(number)])))
}

fn fragment(number: usize, both: [Option<&PixelFragment>; 2]) -> Option<StepParting> {
    let [Some(a), Some(b)] = both else {
        let there = both.map(|one| if one.is_some() { "is there" } else { "is not there" }.to_owned());
        return Some(step(number, [None, None], "the fragment".to_owned(), there));
    };
    for at in 0..a.steps.len().max(b.steps.len()) {
        let steps = [a.steps.get(at), b.steps.get(at)];
        let [Some(one), Some(other)] = steps else {
            let values = steps.map(|one| if one.is_some() { "continues" } else { "has ended" }.to_owned());
            return Some(step(number, steps, "the program".to_owned(), values));
        };
        if let Some((name, values)) = parts(one, other) {
            return Some(step(number, steps, name, values));
        }
    }
    let [one, other] = [a, b].map(|fragment| fragment.painted.as_ref());
    let (one, other) = (one?, other?);
    let parts = [
        ("the tile's colour before", Some(one.before), Some(other.before)),
        ("the colour", one.color, other.color),
        ("the tile's colour behind", Some(one.after), Some(other.after)),
    ];
    let same = |a: Option<[f32; 4]>, b: Option<[f32; 4]>| a.map(bits) == b.map(bits);
    let (name, one, other) = parts.into_iter().find(|(_, a, b)| !same(*a, *b))?;
    let last = [a, b].map(|fragment| fragment.steps.last());
    Some(step(
        number,
        last,
        name.to_owned(),
        [one, other].map(|value| format!("{value:?}")),
    ))
}

fn bits(values: [f32; 4]) -> [u32; 4] {
    values.map(f32::to_bits)
}

fn step(fragment: usize, steps: [Option<&Step>; 2], name: String, values: [String; 2]) -> StepParting {
    StepParting {
        fragment,
        addresses: steps.map(|step| step.map(|step| step.address)),
        texts: steps.map(|step| step.map_or(String::new(), |step| step.text.clone())),
        name,
        values,
    }
}

/// The first difference of a step: its text, an operand or result, or its successor.
fn parts(a: &Step, b: &Step) -> Option<(String, [String; 2])> {
    let text = |step: &Step| step.text.trim().to_owned();
    if text(a) != text(b) {
        return Some(("the instruction".to_owned(), [text(a), text(b)]));
    }
    let lists = [("reads", &a.reads, &b.reads), ("yields", &a.gives, &b.gives)];
    let operands = lists.into_iter().find_map(|(what, a, b)| {
        let same = |(a, b): (&Operand, &Operand)| {
            a.values
                .iter()
                .map(|value| value.to_bits())
                .eq(b.values.iter().map(|value| value.to_bits()))
        };
        let at = a.iter().zip(b).position(|pair| !same(pair))?;
        Some((
            format!("{what} {}", a[at].name),
            [&a[at], &b[at]].map(|one| format!("{:?}", one.values)),
        ))
    });
    operands.or_else(|| {
        let goes = |step: &Step| {
            step.next
                .map_or("ends".to_owned(), |next| format!("continues at {next}"))
        };
        ((a.next, a.discarded) != (b.next, b.discarded)).then(|| ("the branch".to_owned(), [goes(a), goes(b)]))
    })
}
