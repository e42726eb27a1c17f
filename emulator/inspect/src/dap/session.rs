//! A client session: requests in, responses and events out.

mod answers;

use super::breakpoints::{Breakpoint, Breakpoints};
use super::debuggee::Debuggee;
use super::evaluate::Expression;
use super::programs::Programs;
use super::stepper::{Focus, Go, Hold, RunEvent, Stop};
use super::wire::{self, Read1};
use super::{Launch, Launched};
use crate::error::{Error, Result};
use loader::trace::Trace;
use serde_json::{Value, json};
use std::io::{BufReader, Read, Write};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Default instruction budget of a job.
const BUDGET: u64 = 1 << 30;

/// Limit on messages read ahead.
const AHEAD: usize = 64;

/// The protocol id of our errors.
const ERROR_ID: u64 = 1;

/// An event in the session.
pub(super) enum Happens {
    Read(Read1),
    /// A report of the run with this number.
    Run(u64, RunEvent),
}

/// The result of a request.
pub(super) type Answer = std::result::Result<Value, String>;

/// The launched recording.
struct Run {
    debuggee: Debuggee,
    /// Arguments of the launch, for a restart.
    arguments: Value,
    stop_on_entry: bool,
    /// Number of the run; reports of older runs are ignored.
    number: u64,
    hold: Option<Hold>,
    stop: Option<Box<Stop>>,
}

/// A session.
pub(super) struct Session<'a, W> {
    output: W,
    launch: &'a mut dyn Launch,
    happens: SyncSender<Happens>,
    sequence: u64,
    /// Number of received messages, used as the sequence number of one that has none.
    heard: u64,
    initialised: bool,
    /// First line and column numbers of the client.
    first_line: u64,
    first_column: u64,
    run: Option<Run>,
    runs: u64,
    ids: u64,
    over: bool,
    disconnected: bool,
}

/// Runs the session until the client disconnects.
pub(super) fn serve(input: impl Read + Send + 'static, output: impl Write, launch: &mut dyn Launch) -> Result<()> {
    // Bounded, so that a client that sends without waiting does not fill memory; runs report little.
    let (happens, happening) = sync_channel(AHEAD);
    let reader = happens.clone();
    let read = move || {
        let mut input = BufReader::new(input);
        loop {
            let one = wire::read(&mut input);
            let last = matches!(one, Read1::End | Read1::Broken(_));
            if reader.send(Happens::Read(one)).is_err() || last {
                return;
            }
        }
    };
    let spawned = std::thread::Builder::new().name("requests".into()).spawn(read);
    spawned.map_err(|error| Error::request(format_args!("no thread can be started: {error}")))?;
    let mut session = Session {
        output,
        launch,
        happens,
        sequence: 0,
        heard: 0,
        initialised: false,
        first_line: 1,
        first_column: 1,
        run: None,
        runs: 0,
        ids: 0,
        over: false,
        disconnected: false,
    };
    session.speak(&happening)
}

impl<W: Write> Session<'_, W> {
    fn speak(&mut self, happening: &Receiver<Happens>) -> Result<()> {
        while !self.disconnected {
            match happening.recv() {
                Ok(Happens::Read(Read1::Message(message))) => self.message(&message)?,
                Ok(Happens::Read(Read1::NoJson(why))) => {
                    self.heard += 1;
                    self.respond(self.heard, "unknown", Err(format!("a message that is not JSON: {why}")))?;
                }
                Ok(Happens::Read(Read1::Broken(why))) => {
                    self.event(
                        "output",
                        json!({ "category": "important", "output": format!("skrymir: {why}\n") }),
                    )?;
                    self.terminated(2)?;
                    return Err(Error::request(format_args!(
                        "the client's messages cannot be read: {why}"
                    )));
                }
                Ok(Happens::Run(run, event)) => {
                    if self.run.as_ref().is_some_and(|now| now.number == run) {
                        self.run_event(event)?;
                    }
                }
                Ok(Happens::Read(Read1::End)) | Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    fn send(&mut self, mut message: Value) -> Result<()> {
        self.sequence += 1;
        message["seq"] = self.sequence.into();
        wire::write(&mut self.output, &message)
            .map_err(|error| Error::request(format_args!("the client cannot be written to: {error}")))
    }

    fn event(&mut self, name: &str, body: Value) -> Result<()> {
        self.send(json!({ "seq": 0, "type": "event", "event": name, "body": body }))
    }

    fn respond(&mut self, to: u64, command: &str, answer: Answer) -> Result<()> {
        let mut response = json!({
            "seq": 0, "type": "response", "request_seq": to, "success": answer.is_ok(), "command": command,
        });
        match answer {
            Ok(Value::Null) => {}
            Ok(body) => response["body"] = body,
            Err(message) => {
                response["message"] = message.as_str().into();
                // Braces would be parsed as placeholders.
                let format = message.replace(['{', '}'], "'");
                response["body"] = json!({ "error": { "id": ERROR_ID, "format": format, "showUser": true } });
            }
        }
        self.send(response)
    }

    /// Handles a message of the client.
    fn message(&mut self, message: &Value) -> Result<()> {
        self.heard += 1;
        let sequence = message["seq"]
            .as_u64()
            .filter(|number| *number > 0)
            .unwrap_or(self.heard);
        let command = message["command"].as_str().unwrap_or("unknown").to_owned();
        if message["type"] != "request" || !message["command"].is_string() || !message["seq"].is_u64() {
            return self.respond(sequence, &command, Err("that is not a request".into()));
        }
        let answer = self.request(&command, &message["arguments"]);
        let done = answer.is_ok();
        self.respond(sequence, &command, answer)?;
        if done { self.after(&command) } else { Ok(()) }
    }

    /// Actions after a response.
    fn after(&mut self, command: &str) -> Result<()> {
        match command {
            "launch" => self.event("initialized", json!({})),
            "configurationDone" | "restart" => self.begin(),
            "terminate" => self.terminated(0),
            "disconnect" => {
                self.disconnected = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Ends the run and reports it.
    fn terminated(&mut self, code: u64) -> Result<()> {
        self.run = None;
        if std::mem::replace(&mut self.over, true) {
            return Ok(());
        }
        self.event("exited", json!({ "exitCode": code }))?;
        self.event("terminated", json!({}))
    }

    fn begin(&mut self) -> Result<()> {
        let entry = self.run.as_ref().is_some_and(|run| run.stop_on_entry);
        match self.start(if entry { Go::Entry } else { Go::Continue }) {
            Ok(()) => Ok(()),
            Err(why) => {
                self.event(
                    "output",
                    json!({ "category": "important", "output": format!("skrymir: {why}\n") }),
                )?;
                self.terminated(1)
            }
        }
    }

    /// Starts a run, abandoning the current one.
    fn start(&mut self, go: Go) -> std::result::Result<(), String> {
        self.runs += 1;
        let (number, happens) = (self.runs, self.happens.clone());
        let run = self.run.as_mut().ok_or("nothing is launched")?;
        run.stop = None;
        run.number = number;
        let say = Box::new(move |event| drop(happens.send(Happens::Run(number, event))));
        let hold = run.debuggee.start(go, say);
        run.hold = Some(hold.map_err(|error| format!("no thread can be started: {error}"))?);
        Ok(())
    }

    /// Handles a report of the run.
    fn run_event(&mut self, event: RunEvent) -> Result<()> {
        match event {
            RunEvent::Stopped(stop) => {
                let mut body = json!({ "reason": stop.reason, "threadId": stop.thread + 1, "allThreadsStopped": true });
                if !stop.ids.is_empty() {
                    body["hitBreakpointIds"] = json!(stop.ids);
                }
                if let Some(fault) = &stop.fault {
                    body["text"] = fault.to_string().into();
                    body["description"] = "the job faults".into();
                }
                if let Some(run) = &mut self.run {
                    run.stop = Some(stop);
                }
                self.event("stopped", body)
            }
            RunEvent::Scanned(Some(moment)) => self.again(moment),
            // No earlier breakpoint: stop at the beginning.
            RunEvent::Scanned(None) => self.again(1),
            RunEvent::Ended(well) => self.terminated(u64::from(!well)),
        }
    }

    /// Re-runs up to a moment.
    fn again(&mut self, moment: u64) -> Result<()> {
        match self.start(Go::To(moment)) {
            Ok(()) => Ok(()),
            Err(_) => self.terminated(1),
        }
    }

    fn request(&mut self, command: &str, arguments: &Value) -> Answer {
        if command == "initialize" {
            return self.initialize(arguments);
        }
        if !self.initialised {
            return Err(format!("{command} before initialize"));
        }
        match command {
            "launch" => self.launched(arguments),
            "attach" => Err("attach is not supported: launch a recording or a pair".into()),
            "disconnect" | "terminate" | "cancel" => {
                if command != "cancel" {
                    self.run = None;
                }
                Ok(Value::Null)
            }
            _ if self.run.is_none() => Err(format!("{command} before launch, or after the end")),
            "configurationDone" => match self.run.as_ref().is_some_and(|run| run.hold.is_some()) {
                true => Err("configurationDone for the second time".into()),
                false => Ok(Value::Null),
            },
            "restart" => self.restart(),
            "pause" => {
                if let Some(run) = &self.run {
                    run.debuggee.breakpoints.pause.store(true, Ordering::Relaxed);
                }
                Ok(Value::Null)
            }
            "continue" | "next" | "stepIn" | "stepOut" | "stepBack" | "reverseContinue" => self.go(command, arguments),
            _ => self.ask(command, arguments),
        }
    }

    fn initialize(&mut self, arguments: &Value) -> Answer {
        if std::mem::replace(&mut self.initialised, true) {
            return Err("initialize for the second time".into());
        }
        let first = |name: &str| u64::from(arguments[name].as_bool().unwrap_or(true));
        (self.first_line, self.first_column) = (first("linesStartAt1"), first("columnsStartAt1"));
        Ok(answers::capabilities())
    }

    fn launched(&mut self, arguments: &Value) -> Answer {
        if self.run.is_some() {
            return Err("launch for the second time".into());
        }
        self.run = Some(self.load(arguments)?);
        self.over = false;
        Ok(Value::Null)
    }

    fn restart(&mut self) -> Answer {
        let before = self.run.take().ok_or("nothing is launched")?;
        let arguments = before.arguments.clone();
        // If the new launch fails, the old one is kept.
        match self.load(&arguments) {
            Ok(mut run) => {
                run.debuggee.breakpoints = before.debuggee.breakpoints;
                self.run = Some(run);
                Ok(Value::Null)
            }
            Err(why) => {
                self.run = Some(before);
                Err(why)
            }
        }
    }

    fn load(&mut self, arguments: &Value) -> std::result::Result<Run, String> {
        if !arguments.is_object() {
            return Err("launch has no arguments".into());
        }
        let focus = focus(arguments)?;
        let budget = match &arguments["budget"] {
            Value::Null => BUDGET,
            value => value
                .as_u64()
                .filter(|budget| *budget > 0)
                .ok_or("budget is a number of instructions")?,
        };
        let Launched { recording, sources } = self.launch.launch(arguments).map_err(|error| error.to_string())?;
        let programs = {
            let trace = Trace::read(&recording).map_err(|error| error.to_string())?;
            Programs::of(&trace, sources)
        };
        Ok(Run {
            debuggee: Debuggee {
                recording: Arc::new(recording),
                programs: Arc::new(Mutex::new(programs)),
                breakpoints: Arc::new(Breakpoints::default()),
                focus,
                budget,
            },
            arguments: arguments.clone(),
            stop_on_entry: arguments["stopOnEntry"].as_bool().unwrap_or(false),
            number: 0,
            hold: None,
            stop: None,
        })
    }

    /// Continues from a stop, forwards or backwards.
    fn go(&mut self, command: &str, arguments: &Value) -> Answer {
        let run = self.run.as_mut().ok_or("nothing is launched")?;
        let stop = run.stop.as_ref().ok_or("that needs a stop, and the program runs")?;
        let thread = thread(arguments, stop)?;
        let by_line = arguments["granularity"] != "instruction";
        let moment = stop.moment;
        let go = match command {
            "continue" => Go::Continue,
            "stepOut" => Go::Out,
            "stepBack" | "reverseContinue" if moment <= 1 => return Err("this is the beginning".into()),
            "stepBack" => {
                let back = u64::from(stop.fault.is_none());
                return self.start(Go::To(moment - back)).map(|()| Value::Null);
            }
            "reverseContinue" => return self.start(Go::Scan(moment)).map(|()| Value::Null),
            _ if by_line => Go::Line(thread),
            _ => Go::Instruction(thread),
        };
        run.stop = None;
        let sent = run.hold.as_ref().map(|hold| hold.orders.send(go));
        match sent {
            Some(Ok(())) if command == "continue" => Ok(json!({ "allThreadsContinued": true })),
            Some(Ok(())) => Ok(Value::Null),
            _ => Err("the program has ended".into()),
        }
    }

    fn next_id(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }
}

impl Run {
    fn programs(&self) -> MutexGuard<'_, Programs> {
        // The list is consistent at every step, so a poisoned lock is usable.
        self.debuggee.programs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread of a request.
fn thread(arguments: &Value, stop: &Stop) -> std::result::Result<usize, String> {
    let threads = stop.now.as_ref().map_or(1, super::invocation::Invocation::threads);
    let number = arguments["threadId"].as_u64().ok_or("threadId is missing")?;
    let thread = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    thread
        .filter(|thread| *thread < threads)
        .ok_or_else(|| format!("no thread {number}"))
}

/// The focus in the launch's arguments.
fn focus(arguments: &Value) -> std::result::Result<Focus, String> {
    let pixel = match &arguments["pixel"] {
        Value::Null => None,
        value => {
            let number = |at: usize| value[at].as_u64().and_then(|number| u32::try_from(number).ok());
            let pixel = number(0)
                .zip(number(1))
                .filter(|_| value.as_array().is_some_and(|all| all.len() == 2));
            Some(pixel.ok_or("pixel is [x, y]")?)
        }
    };
    let number = |name: &str| match &arguments[name] {
        Value::Null => Ok(None),
        value => value.as_u64().map(Some).ok_or_else(|| format!("{name} is a number")),
    };
    let vertex = number("vertex_number")?;
    if pixel.is_some() && vertex.is_some() {
        return Err("a pixel or a vertex_number, not both".into());
    }
    Ok(Focus {
        pixel,
        vertex,
        job: usize::try_from(number("job")?.unwrap_or(0)).unwrap_or(usize::MAX),
    })
}

/// A breakpoint's condition.
fn condition(one: &Value) -> std::result::Result<Option<Expression>, String> {
    match one["condition"].as_str().map(str::trim) {
        None | Some("") => Ok(None),
        Some(text) => Expression::parse(text).map(Some).map_err(|error| error.to_string()),
    }
}

/// Stores the breakpoints of a request.
fn keep(run: &Run, group: &str, all: Vec<Breakpoint>) {
    run.debuggee.breakpoints.set(group, all);
}
