//! JSON of jobs, streams, profiles and a pixel's fragments. Each verb's document has a schema in
//! [`schema`](super::schema).

use crate::cli::error::Result;
use board::play::{Difference, Played};
use board::trace::Event;
use emulator::dump::{self, Command};
use emulator::exec::observed::{Operand, Painted, PixelFragment, Report, Step, Watched};
use emulator::memory::Memory;
use loader::trace::Pipe;
use runner::replay::{JobStats, Replay};
use serde_json::{Map, Value, json};
use utgard::frame::{PpFrame, PpRegisters, WRITE_BACKS, WriteBackSource, WriteBackUnit};
use utgard::stream::{ListCommand, VertexCommand};
use utgard::words::Place;

/// A time in milliseconds.
pub(crate) fn milliseconds(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A float; infinities and NaN become strings.
fn float(value: f32) -> Value {
    match value.is_finite() {
        true => json!(value),
        false => json!(value.to_string()),
    }
}

fn floats(values: &[f32]) -> Value {
    values.iter().copied().map(float).collect()
}

/// The statistics of every job.
pub(crate) fn stats(done: &Replay) -> Value {
    let job = |(number, job): (usize, &JobStats)| match job {
        JobStats::Gp(stats, time) => json!({
            "job": number, "queue": "gp", "vertices": stats.vertices, "triangles": stats.primitives,
            "instructions": stats.instructions, "milliseconds": milliseconds(*time),
        }),
        JobStats::Pp(stats, time) => json!({
            "job": number, "queue": "pp", "tiles": stats.tiles, "quads": stats.quads, "fragments": stats.fragments,
            "instructions": stats.instructions, "milliseconds": milliseconds(*time),
        }),
    };
    done.jobs.iter().enumerate().map(job).collect()
}

/// Fields by their names in the hardware's tables.
fn fields(places: &[Place], words: &[u32]) -> Value {
    let field = |place: &Place| (place.name.to_owned(), json!(place.of(words)));
    Value::Object(places.iter().map(field).collect())
}

fn command(command: &Command, (name, places): (&str, &[Place])) -> Value {
    let [value, operation] = command.words;
    json!({
        "address": command.address, "value": value, "operation": operation, "command": name,
        "fields": fields(places, &command.words), "text": command.text, "details": command.details,
    })
}

/// A job's streams or registers before it runs.
///
/// # Errors
/// When a stream or state is in no buffer object.
pub(crate) fn job(memory: &Memory, number: usize, pipe: Pipe, frame: &[u32]) -> Result<Value> {
    let mut job = json!({ "job": number });
    match pipe {
        Pipe::Gp => {
            job["queue"] = "gp".into();
            let [vertices, lists] = dump::streams(memory, frame)?;
            let vertices = vertices.commands.iter();
            job["vertex_stream"] = vertices
                .map(|one| command(one, VertexCommand::row(one.words)))
                .collect();
            let lists = lists.commands.iter();
            job["list_stream"] = lists.map(|one| command(one, ListCommand::row(one.words))).collect();
        }
        Pipe::Pp => {
            job["queue"] = "pp".into();
            job["registers"] = fields(PpRegisters::PLACES, frame);
            let units = (0..WRITE_BACKS).map(|unit| PpRegisters::WORDS + unit * WriteBackUnit::WORDS);
            let units = units.filter_map(|first| frame.get(first..first + WriteBackUnit::WORDS));
            let units = units.filter(|words| WriteBackUnit::from_words(words).source != WriteBackSource::Off);
            job["write_backs"] = units.map(|words| fields(WriteBackUnit::PLACES, words)).collect();
            job["tile_lists"] = json!(PpFrame::from_words(frame).lists);
            let text = dump::job(memory, pipe, frame)?;
            job["text"] = text.lines().collect();
        }
    }
    Ok(job)
}

/// The events of a register trace.
pub(crate) fn events(trace: &board::trace::Trace) -> Value {
    let one = |(line, event): &(usize, Event)| {
        let kind = match event {
            Event::Read(..) => "read",
            Event::Write(..) => "write",
            Event::Line(..) => "line",
            Event::Memory(..) => "memory",
            Event::Job(..) => "job",
        };
        json!({ "line": line, "event": kind, "text": trace.describe(event) })
    };
    trace.events.iter().map(one).collect()
}

/// What a register trace came to when it was replayed, and its events if they are asked for.
pub(crate) fn played(played: &std::result::Result<Played, Difference>, events: Option<Value>) -> Value {
    let counts = played.as_ref().ok().map(
        |played| json!({ "accesses": played.accesses, "line_changes": played.changes, "job_bytes": played.bytes }),
    );
    let difference = played
        .as_ref()
        .err()
        .map(|one| json!({ "line": one.line, "expected": one.expected, "found": one.found }));
    let mut all = json!({ "as_recorded": played.is_ok(), "counts": counts, "difference": difference });
    if let Some(events) = events {
        all["events"] = events;
    }
    all
}

/// How often each instruction ran.
pub(crate) fn profile(report: &Report) -> Value {
    let program = |(number, watched): (usize, &Watched)| {
        let lines = watched.lines.iter().map(|line| {
            let mut one = json!({ "address": line.address, "text": line.text, "hits": line.hits });
            if let Some([on, taken]) = line.ways {
                (one["taken"], one["not_taken"]) = (taken.into(), on.into());
            }
            one
        });
        json!({
            "name": report.name(number), "stage": watched.stage.name(), "cycles": watched.cycles(),
            "instructions": lines.collect::<Vec<_>>(),
        })
    };
    report.programs.iter().enumerate().map(program).collect()
}

fn operands(operands: &[Operand]) -> Value {
    let one = |operand: &Operand| {
        let bits = operand.values.iter().map(|value| value.to_bits());
        json!({ "name": operand.name, "values": floats(&operand.values), "bits": bits.collect::<Vec<_>>() })
    };
    operands.iter().map(one).collect()
}

fn step(step: &Step) -> Value {
    json!({
        "address": step.address, "text": step.text, "reads": operands(&step.reads), "gives": operands(&step.gives),
        "next": step.next, "discarded": step.discarded,
    })
}

fn painted(painted: &Painted) -> Value {
    json!({
        "before": floats(&painted.before), "color": painted.color.map(|color| floats(&color)),
        "after": floats(&painted.after),
    })
}

/// The fragments at a pixel.
pub(crate) fn pixel(report: &Report, (x, y): (u32, u32)) -> Value {
    let fragment = |fragment: &PixelFragment| {
        json!({
            "program": report.name(fragment.program), "helps": fragment.helps,
            "steps": fragment.steps.iter().map(step).collect::<Vec<_>>(),
            "painted": fragment.painted.as_ref().map(painted),
        })
    };
    json!({ "x": x, "y": y, "fragments": report.pixel.iter().map(fragment).collect::<Vec<_>>() })
}

/// The requested parts of an observation.
pub fn observed(report: &Report, with_profile: bool, at: Option<(u32, u32)>) -> Map<String, Value> {
    let mut all = Map::new();
    if with_profile {
        all.insert("profile".into(), profile(report));
    }
    if let Some(at) = at {
        all.insert("pixel".into(), pixel(report, at));
    }
    all.insert("findings".into(), json!(report.findings()));
    all
}
