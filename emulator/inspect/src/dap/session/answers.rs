//! Queries about the stopped state, and breakpoints.

use super::{Answer, Run, Session, condition, keep, thread};
use crate::dap::breakpoints::{Breakpoint, Where, named};
use crate::dap::evaluate::{Expression, Names};
use crate::dap::invocation::Invocation;
use crate::dap::programs::{Program, Programs};
use crate::dap::stepper::Stop;
use crate::dap::views;
use emulator::fault::FaultKind;
use serde_json::{Value, json};
use std::io::Write;

/// Limit on instructions per request.
const MAX_INSTRUCTIONS: u64 = 1 << 16;

/// Limit on breakpoints per request.
const MAX_BREAKPOINTS: usize = 1 << 12;

/// Source references of listings: the program's number plus this.
const LISTINGS: u64 = 1000;

/// The adapter's capabilities.
pub(super) fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsEvaluateForHovers": true,
        "supportsStepBack": true,
        "supportsRestartRequest": true,
        "supportsExceptionInfoRequest": true,
        "supportsValueFormattingOptions": true,
        "supportsLoadedSourcesRequest": true,
        "supportsTerminateRequest": true,
        "supportsDisassembleRequest": true,
        "supportsCancelRequest": true,
        "supportsSteppingGranularity": true,
        "supportsInstructionBreakpoints": true,
        "exceptionBreakpointFilters": [],
    })
}

/// The source of a listing.
fn listing(number: usize, program: &Program) -> Value {
    json!({ "name": format!("{}.s", program.name), "sourceReference": LISTINGS + number as u64, "origin": "disassembly" })
}

/// The place that displays an instruction, with the line from 1.
fn shown(number: usize, program: &Program, at: u32) -> (Value, u64) {
    if let (Some(source), Some(line)) = (&program.source, program.source_line(at)) {
        let name = source.path.rsplit(['/', '\\']).next().unwrap_or(&source.path);
        return (json!({ "name": name, "path": source.path }), line.into());
    }
    let row = program.index(at).map_or(1, |index| program.row(index));
    (listing(number, program), row as u64)
}

impl<W: Write> Session<'_, W> {
    /// A query, or a request that sets breakpoints.
    pub(super) fn ask(&mut self, command: &str, arguments: &Value) -> Answer {
        match command {
            "setBreakpoints" => return self.set_breakpoints(arguments),
            "setFunctionBreakpoints" => return self.set_function_breakpoints(arguments),
            "setInstructionBreakpoints" => return self.set_instruction_breakpoints(arguments),
            _ => {}
        }
        let run = self.run.as_ref().ok_or("nothing is launched")?;
        match command {
            "setExceptionBreakpoints" => Ok(json!({ "breakpoints": [] })),
            "threads" => Ok(json!({ "threads": threads(run) })),
            "loadedSources" => {
                let programs = run.programs();
                let all: Vec<Value> = programs
                    .iter()
                    .map(|(number, program)| listing(number, program))
                    .collect();
                Ok(json!({ "sources": all }))
            }
            "source" => source(run, arguments),
            "disassemble" => self.disassemble(run, arguments),
            "stackTrace" | "scopes" | "variables" | "evaluate" | "exceptionInfo" => {
                let stop = run.stop.as_ref().ok_or("that needs a stop, and the program runs")?;
                self.ask_stop(run, stop, command, arguments)
            }
            _ => Err(format!("{command} is not supported")),
        }
    }

    /// A query about a stop.
    fn ask_stop(&self, run: &Run, stop: &Stop, command: &str, arguments: &Value) -> Answer {
        let hex = arguments["format"]["hex"].as_bool().unwrap_or(false);
        match (command, &stop.now) {
            ("exceptionInfo", _) => exception(stop),
            ("stackTrace", None) => Ok(json!({ "stackFrames": [], "totalFrames": 0 })),
            ("stackTrace", Some(now)) => self.stack(run, now, thread(arguments, stop)?, arguments),
            (_, None) => Err("no invocation has run yet".into()),
            ("scopes", Some(now)) => {
                let (thread, depth) = frame(&arguments["frameId"], now)?;
                Ok(json!({ "scopes": views::scopes(now, thread, depth) }))
            }
            ("variables", Some(now)) => {
                let reference = arguments["variablesReference"]
                    .as_u64()
                    .ok_or("variablesReference is missing")?;
                let found = views::variables(now, reference, hex);
                let all = found.ok_or_else(|| format!("no variables with reference {reference}"))?;
                Ok(json!({ "variables": page(all, arguments) }))
            }
            (_, Some(now)) => {
                let (thread, depth) = match &arguments["frameId"] {
                    Value::Null => (stop.thread, 0),
                    value => frame(value, now)?,
                };
                let text = arguments["expression"].as_str().ok_or("expression is missing")?;
                let names = Names { now, thread, depth };
                let expression = Expression::parse(text).map_err(|error| error.to_string())?;
                let values = expression.evaluate(&names).map_err(|error| error.to_string())?;
                let half = expression.is_half(&names);
                let texts: Vec<String> = values.iter().map(|value| views::number(*value, half, hex)).collect();
                Ok(json!({
                    "result": texts.join(", "), "type": views::kind(&values, half), "variablesReference": 0,
                }))
            }
        }
    }

    /// The frames of a thread: the functions of the source, or the program.
    fn stack(&self, run: &Run, now: &Invocation, thread: usize, arguments: &Value) -> Answer {
        let programs = run.programs();
        let program = programs.get(now.program).ok_or("the program is not known")?;
        let of = format!("{}, job {}", now.name(thread), now.job);
        let at = now.pc(thread);
        let stack = at.map(|at| program.names.stack(at)).unwrap_or_default();
        let function = |call: u32| {
            program
                .names
                .debug
                .calls
                .get(call as usize)
                .map_or("", |call| &call.name)
        };
        let name = match (stack.first(), program.names.debug.calls.is_empty()) {
            (Some((call, _)), _) => function(*call),
            (None, false) => function(0),
            (None, true) => &program.name,
        };
        let mut frame = json!({ "id": thread + 1, "name": format!("{name}, {of}"), "line": 0, "column": 0 });
        if let Some(at) = at {
            let (source, line) = shown(now.program, program, at);
            frame["source"] = source;
            frame["line"] = self.line_out(line);
            frame["column"] = self.first_column.into();
            frame["instructionPointerReference"] = Programs::address(now.program, at).into();
        } else {
            frame["name"] = format!("{}, ended", frame["name"].as_str().unwrap_or_default()).into();
            frame["presentationHint"] = "subtle".into();
        }
        let callers = stack.iter().enumerate().skip(1).map(|(depth, (call, line))| {
            json!({
                "id": thread + 1 + THREADS * depth, "name": format!("{}, {of}", function(*call)), "source": frame["source"],
                "line": self.line_out((*line).into()), "column": self.first_column,
            })
        });
        let callers: Vec<Value> = callers.collect();
        let number = |name: &str| arguments[name].as_u64().and_then(|number| usize::try_from(number).ok());
        let levels = number("levels").filter(|levels| *levels > 0).unwrap_or(usize::MAX);
        let total = 1 + callers.len();
        let frames = [frame].into_iter().chain(callers);
        let frames: Vec<Value> = frames.skip(number("startFrame").unwrap_or(0)).take(levels).collect();
        Ok(json!({ "stackFrames": frames, "totalFrames": total }))
    }

    /// Converts a line from 1 to the client's numbering.
    fn line_out(&self, line: u64) -> Value {
        (line + self.first_line).saturating_sub(1).into()
    }

    /// Converts the client's line to one from 1.
    fn line_in(&self, line: &Value) -> Option<u64> {
        (line.as_u64()? + 1)
            .checked_sub(self.first_line)
            .filter(|line| *line > 0)
    }

    fn disassemble(&self, run: &Run, arguments: &Value) -> Answer {
        let reference = arguments["memoryReference"]
            .as_str()
            .ok_or("memoryReference is missing")?;
        let programs = run.programs();
        let (number, at) = programs
            .place(reference)
            .ok_or_else(|| format!("no program is at {reference}"))?;
        let program = programs.get(number).ok_or("the program is not known")?;
        let count = arguments["instructionCount"]
            .as_u64()
            .ok_or("instructionCount is missing")?;
        if count > MAX_INSTRUCTIONS {
            return Err(format!("{count} instructions; {MAX_INSTRUCTIONS} are the most"));
        }
        let at = i64::from(at).saturating_add(arguments["offset"].as_i64().unwrap_or(0));
        let first = program.lines.iter().position(|line| i64::from(line.address) >= at);
        let first = first.unwrap_or(program.lines.len()) as i64;
        let first = first.saturating_add(arguments["instructionOffset"].as_i64().unwrap_or(0));
        let one = |step: u64| {
            let index = first.saturating_add_unsigned(step);
            let line = usize::try_from(index).ok().and_then(|index| program.lines.get(index));
            let Some(line) = line else {
                return json!({ "address": "0x0", "instruction": "", "presentationHint": "invalid" });
            };
            let mut one = json!({
                "address": Programs::address(number, line.address), "instruction": line.text.trim(),
                "symbol": program.name,
            });
            let (source, row) = shown(number, program, line.address);
            (one["location"], one["line"]) = (source, self.line_out(row));
            one
        };
        Ok(json!({ "instructions": (0..count).map(one).collect::<Vec<_>>() }))
    }

    fn set_breakpoints(&mut self, arguments: &Value) -> Answer {
        let wanted = list(arguments, "breakpoints")?;
        let source = &arguments["source"];
        let path = source["path"].as_str().filter(|path| !path.is_empty());
        let reference = source["sourceReference"].as_u64().filter(|reference| *reference > 0);
        let group = match (reference, path, source["name"].as_str()) {
            (Some(reference), ..) => format!("listing {reference}"),
            (_, Some(path), _) => format!("file {path}"),
            (_, _, Some(name)) => format!("name {name}"),
            _ => return Err("source has no path and no reference".into()),
        };
        let (mut kept, mut answers) = (Vec::new(), Vec::new());
        for one in wanted {
            let line = self.line_in(&one["line"]).ok_or("a breakpoint without a line")?;
            let id = self.next_id();
            let run = self.run.as_ref().ok_or("nothing is launched")?;
            let places = at_line(run, source, line);
            let condition = condition(one);
            answers.push(match (&places, &condition) {
                (_, Err(why)) => unverified(id, why),
                (None, _) => unverified(id, "no code at or after this line"),
                (Some((_, at)), _) => {
                    json!({ "id": id, "verified": true, "source": source, "line": self.line_out(*at) })
                }
            });
            if let (Some((places, _)), Ok(condition)) = (places, condition) {
                kept.extend(places.into_iter().map(|at| Breakpoint {
                    id,
                    at,
                    condition: condition.clone(),
                }));
            }
        }
        self.keep(&group, kept);
        Ok(json!({ "breakpoints": answers }))
    }

    fn set_function_breakpoints(&mut self, arguments: &Value) -> Answer {
        let (mut kept, mut answers) = (Vec::new(), Vec::new());
        for one in list(arguments, "breakpoints")? {
            let id = self.next_id();
            let name = one["name"].as_str().unwrap_or_default();
            match (named(name), condition(one)) {
                (Some(at), Ok(condition)) => {
                    answers.push(json!({ "id": id, "verified": true }));
                    kept.push(Breakpoint { id, at, condition });
                }
                (_, Err(why)) => answers.push(unverified(id, &why)),
                (None, _) => answers.push(unverified(id, "names are `pixel X,Y`, `vertex N` and `job N`")),
            }
        }
        self.keep("functions", kept);
        Ok(json!({ "breakpoints": answers }))
    }

    fn set_instruction_breakpoints(&mut self, arguments: &Value) -> Answer {
        let (mut kept, mut answers) = (Vec::new(), Vec::new());
        for one in list(arguments, "breakpoints")? {
            let id = self.next_id();
            let reference = one["instructionReference"].as_str().unwrap_or_default();
            let offset = one["offset"].as_i64().unwrap_or(0);
            let run = self.run.as_ref().ok_or("nothing is launched")?;
            let programs = run.programs();
            let place = programs.place(reference).and_then(|(number, at)| {
                let at = u32::try_from(i64::from(at).saturating_add(offset)).ok()?;
                programs.get(number)?.index(at)?;
                Some((number, at))
            });
            match (place, condition(one)) {
                (Some((number, at)), Ok(condition)) => {
                    let reference = Programs::address(number, at);
                    answers.push(json!({ "id": id, "verified": true, "instructionReference": reference }));
                    kept.push(Breakpoint {
                        id,
                        at: Where::Instruction(number, at),
                        condition,
                    });
                }
                (_, Err(why)) => answers.push(unverified(id, &why)),
                (None, _) => answers.push(unverified(id, "no instruction begins here")),
            }
        }
        self.keep("instructions", kept);
        Ok(json!({ "breakpoints": answers }))
    }

    fn keep(&self, group: &str, kept: Vec<Breakpoint>) {
        if let Some(run) = &self.run {
            keep(run, group, kept);
        }
    }
}

fn unverified(id: u64, why: &str) -> Value {
    json!({ "id": id, "verified": false, "message": why })
}

/// A list in a request's arguments; empty if absent.
fn list<'a>(arguments: &'a Value, name: &str) -> Result<&'a [Value], String> {
    match &arguments[name] {
        Value::Null => Ok(&[]),
        Value::Array(all) if all.len() <= MAX_BREAKPOINTS => Ok(all),
        Value::Array(all) => Err(format!("{} breakpoints; {MAX_BREAKPOINTS} are the most", all.len())),
        _ => Err(format!("{name} is not a list")),
    }
}

/// The instructions at or after a line of a source or a listing, and their line.
fn at_line(run: &Run, source: &Value, line: u64) -> Option<(Vec<Where>, u64)> {
    let programs = run.programs();
    let reference = source["sourceReference"]
        .as_u64()
        .and_then(|number| number.checked_sub(LISTINGS));
    let name = source["name"].as_str().unwrap_or_default();
    let path = source["path"].as_str().unwrap_or_default();
    let of_file =
        |program: &Program| !path.is_empty() && program.source.as_ref().is_some_and(|at| is_same(&at.path, path));
    let mut all = Vec::new();
    let mut at = None;
    for (number, program) in programs.iter() {
        if of_file(program) {
            let line = u32::try_from(line).ok()?;
            // A line may have code in one program and not in another.
            let Some((places, found)) = program.at_source_line(line) else {
                continue;
            };
            if at.is_none_or(|at| u64::from(found) < at) {
                all.clear();
                at = Some(u64::from(found));
            }
            if at == Some(u64::from(found)) {
                all.extend(places.into_iter().map(|place| Where::Instruction(number, place)));
            }
        } else if reference == Some(number as u64) || reference.is_none() && name == format!("{}.s", program.name) {
            let (place, row) = program.at_row(usize::try_from(line).ok()?)?;
            return Some((vec![Where::Instruction(number, place)], row as u64));
        }
    }
    at.map(|at| (all, at))
}

/// Whether two paths name the same file: editors send absolute ones.
fn is_same(ours: &str, theirs: &str) -> bool {
    ours == theirs
        || match (std::fs::canonicalize(ours), std::fs::canonicalize(theirs)) {
            (Ok(ours), Ok(theirs)) => ours == theirs,
            _ => false,
        }
}

fn threads(run: &Run) -> Vec<Value> {
    match run.stop.as_ref().and_then(|stop| stop.now.as_ref()) {
        Some(now) => (0..now.threads())
            .map(|thread| json!({ "id": thread + 1, "name": now.name(thread) }))
            .collect(),
        None => vec![json!({ "id": 1, "name": "jobs" })],
    }
}

/// Threads of a quad: the numbers of frames count them first.
const THREADS: usize = 4;

/// The thread of a frame, and its place in the stack.
fn frame(value: &Value, now: &Invocation) -> Result<(usize, usize), String> {
    let number = value.as_u64().ok_or("frameId is missing")?;
    let frame = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let frame = frame.map(|frame| (frame % THREADS, frame / THREADS));
    frame
        .filter(|(thread, depth)| *thread < now.threads() && *depth < now.stack(*thread).len().max(1))
        .ok_or_else(|| format!("no frame {number}"))
}

/// The requested range of variables.
fn page(all: Value, arguments: &Value) -> Value {
    let number = |name: &str| arguments[name].as_u64().and_then(|number| usize::try_from(number).ok());
    let Value::Array(all) = all else { return all };
    let count = number("count").filter(|count| *count > 0).unwrap_or(usize::MAX);
    all.into_iter().skip(number("start").unwrap_or(0)).take(count).collect()
}

fn source(run: &Run, arguments: &Value) -> Answer {
    let of = [&arguments["source"]["sourceReference"], &arguments["sourceReference"]];
    let reference = of
        .into_iter()
        .find_map(|value| value.as_u64().filter(|number| *number > 0));
    let number = reference
        .and_then(|number| number.checked_sub(LISTINGS))
        .and_then(|number| usize::try_from(number).ok());
    let programs = run.programs();
    let program = number.and_then(|number| programs.get(number)).ok_or("unknown source")?;
    Ok(json!({ "content": program.listing(), "mimeType": "text/x-asm" }))
}

fn exception(stop: &Stop) -> Answer {
    let fault = stop.fault.as_ref().ok_or("the stop is not an exception")?;
    let kind = match fault.kind {
        FaultKind::Unmapped => "unmapped",
        FaultKind::Command => "command",
        FaultKind::State => "state",
        FaultKind::Program => "program",
        FaultKind::Budget => "budget",
        FaultKind::Limit => "limit",
        FaultKind::Cancelled => "cancelled",
    };
    Ok(json!({
        "exceptionId": kind, "description": fault.to_string(), "breakMode": "always",
        "details": { "message": fault.message, "typeName": format!("{:?}", fault.kind) },
    }))
}
