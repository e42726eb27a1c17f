//! Register traces in text form: the accesses of a driver to a GPU, and the memory that its jobs read.
//!
//! The first line is `skrymir registers`, the product, its pixel processors, and the address and size of memory. Each
//! further line is an event; all numbers except the first two are hexadecimal, and `#` begins a comment:
//!
//! | line | meaning |
//! |---|---|
//! | `R OFFSET = VALUE` | the driver read a register |
//! | `W OFFSET = VALUE` | it wrote one |
//! | `L NUMBER = LEVEL` | an interrupt line has a new level |
//! | `M ADDRESS = BYTES` | memory before a job, if it differs from the trace so far; memory is initially zero |
//! | `J ADDRESS = BYTES` | memory that the job wrote |
//!
//! A device that is recorded or replayed runs every job within the write that starts it (`Options::at_once`), so that
//! the events are ordered.

use crate::bus::Bus;
use crate::layout::{Line, Model, Product};
use crate::mmu::Tables;
use emulator::memory::PAGE;
use loader::{Error, Result};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::ops::Range;

/// First words of a trace.
pub const MAGIC: &str = "skrymir registers";

/// Name of the format in errors.
pub const FORMAT: &str = "register trace";

/// Bytes of memory per line.
const ROW: usize = 32;

/// Limit on a trace's memory: the GPU's address space.
const MAX_MEMORY: u64 = 1 << 32;

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The driver read a register: its byte offset and its value.
    Read(u32, u32),
    /// The driver wrote a register: its byte offset and the value.
    Write(u32, u32),
    /// The new level of an interrupt line, by [`Line::number`].
    Line(u32, bool),
    /// Memory before a job: physical address and bytes.
    Memory(u64, Vec<u8>),
    /// Memory written by a job: physical address and bytes.
    Job(u64, Vec<u8>),
}

/// A register trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The GPU.
    pub model: Model,
    /// The range of memory.
    pub memory: Range<u64>,
    /// The events with their line numbers, from 1.
    pub events: Vec<(usize, Event)>,
}

/// Whether bytes begin like a register trace.
pub fn is_trace(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC.as_bytes())
}

impl Trace {
    /// Reads a trace.
    ///
    /// # Errors
    /// The first invalid line.
    pub fn read(text: &str) -> Result<Self> {
        let mut lines = (1..).zip(text.lines());
        let head = lines.next().map_or("", |(_, line)| line);
        let (model, memory) = read_head(head).ok_or_else(|| {
            let rule =
                format!("does not begin with `{MAGIC} PRODUCT PROCESSORS ADDRESS SIZE` of a GPU and memory there are");
            Error::invalid(FORMAT, rule, 0).within("line 1")
        })?;
        let mut events = Vec::new();
        let mut offset = head.len() as u64 + 1;
        for (number, line) in lines {
            let text = line.split('#').next().unwrap_or_default().trim();
            if !text.is_empty() {
                let event = event(text).filter(|event| event.is_in(model, &memory)).ok_or_else(|| {
                    Error::invalid(FORMAT, format!("no event: {text:.60}"), offset).within(format!("line {number}"))
                })?;
                events.push((number, event));
            }
            offset += line.len() as u64 + 1;
        }
        Ok(Self { model, memory, events })
    }

    /// Describes an event, with register names.
    pub fn describe(&self, event: &Event) -> String {
        match event {
            Event::Read(offset, value) => format!("read  {}", self.model.describe(*offset, *value)),
            Event::Write(offset, value) => format!("write {}", self.model.describe(*offset, *value)),
            Event::Line(number, level) => {
                let name = Line::from_number(*number).map_or_else(|| number.to_string(), |line| line.to_string());
                format!("line  {name} {}", if *level { "high" } else { "low" })
            }
            Event::Memory(address, bytes) => format!("memory at {address:#010x}: {} bytes for a job", bytes.len()),
            Event::Job(address, bytes) => format!("memory at {address:#010x}: {} bytes of a job", bytes.len()),
        }
    }
}

fn read_head(line: &str) -> Option<(Model, Range<u64>)> {
    let mut words = line.strip_prefix(MAGIC)?.split_whitespace();
    let product = match words.next()? {
        "400" => Product::Mali400,
        "450" => Product::Mali450,
        _ => return None,
    };
    let model = Model::new(product, words.next()?.parse().ok()?)?;
    let (start, size) = (hex(words.next()?)?, hex(words.next()?)?);
    let end = start.checked_add(size).filter(|_| size <= MAX_MEMORY)?;
    words.next().is_none().then_some((model, start..end))
}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

fn event(text: &str) -> Option<Event> {
    let (kind, rest) = text.split_at_checked(1)?;
    let (place, value) = rest.split_once('=')?;
    let (place, value) = (hex(place.trim())?, value.trim());
    let number = || u32::try_from(place).ok();
    let word = || u32::try_from(hex(value)?).ok();
    Some(match kind {
        "R" => Event::Read(number()?, word()?),
        "W" => Event::Write(number()?, word()?),
        "L" if word()? < 2 => Event::Line(number()?, word()? == 1),
        "M" => Event::Memory(place, bytes(value)?),
        "J" => Event::Job(place, bytes(value)?),
        _ => return None,
    })
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
        return None;
    };
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs.iter().map(byte).collect()
}

impl Event {
    /// Whether the event is possible on the GPU.
    fn is_in(&self, model: Model, memory: &Range<u64>) -> bool {
        match self {
            Self::Read(offset, _) | Self::Write(offset, _) => *offset < model.size(),
            Self::Line(number, _) => Line::from_number(*number).is_some(),
            Self::Memory(address, bytes) | Self::Job(address, bytes) => {
                let end = address.checked_add(bytes.len() as u64);
                *address >= memory.start && end.is_some_and(|end| end <= memory.end)
            }
        }
    }
}

/// Pages of an address range: page number, range in the page, range in the input.
pub(crate) fn pages(address: u64, length: usize) -> impl Iterator<Item = (u64, Range<usize>, Range<usize>)> {
    let (mut at, page) = (0, u64::from(PAGE));
    std::iter::from_fn(move || {
        let start = ((address + at as u64) % page) as usize;
        let part = (length - at).min(PAGE as usize - start);
        let number = (address + at as u64) / page;
        at += part;
        (part > 0).then_some((number, start..start + part, at - part..at))
    })
}

/// Writes a register trace; it stops at the first write error.
pub struct Log {
    out: Option<Box<dyn Write + Send>>,
    /// Pages as recorded in the trace.
    known: BTreeMap<u64, Box<[u8; PAGE as usize]>>,
}

impl Log {
    /// A trace of a GPU with this memory.
    ///
    /// # Errors
    /// If its header cannot be written.
    pub fn new(mut out: Box<dyn Write + Send>, model: Model, memory: Range<u64>) -> std::io::Result<Self> {
        let product = match model.product() {
            Product::Mali400 => 400,
            Product::Mali450 => 450,
        };
        let size = memory.end.saturating_sub(memory.start);
        writeln!(
            out,
            "{MAGIC} {product} {} {:x} {size:x}",
            model.pixel_processors(),
            memory.start
        )?;
        Ok(Self {
            out: Some(out),
            known: BTreeMap::new(),
        })
    }

    /// One write per event, so that the trace is complete whenever the process ends.
    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        if let Some(out) = &mut self.out
            && let Err(error) = out.write_all(text.to_string().as_bytes())
        {
            eprintln!("skrymir: the register trace ends: {error}");
            self.out = None;
        }
    }

    pub(crate) fn read(&mut self, offset: u32, value: u32) {
        self.put(format_args!("R {offset:04x} = {value:08x}\n"));
    }

    pub(crate) fn write(&mut self, offset: u32, value: u32) {
        self.put(format_args!("W {offset:04x} = {value:08x}\n"));
    }

    pub(crate) fn line(&mut self, line: Line, level: bool) {
        self.put(format_args!("L {:x} = {}\n", line.number(), u32::from(level)));
    }

    /// Records memory that a job can read and that differs from the trace.
    pub(crate) fn before(&mut self, bus: &dyn Bus, tables: &Tables) {
        for &page in &tables.own {
            self.page('M', bus, page);
        }
        for mapped in &tables.mapped {
            for (physical, length) in mapped.pieces(0, mapped.size as usize) {
                for page in (physical..physical + length as u64).step_by(PAGE as usize) {
                    self.page('M', bus, page);
                }
            }
        }
    }

    /// Records a job's writes: address and length in its address space.
    pub(crate) fn after(&mut self, bus: &dyn Bus, tables: &Tables, writes: &[(u32, u32)]) {
        let mut written = std::collections::BTreeSet::new();
        for &(address, length) in writes {
            let after = tables.mapped.partition_point(|mapped| mapped.address <= address);
            let Some(mapped) = after.checked_sub(1).map(|at| &tables.mapped[at]) else {
                continue;
            };
            let (at, rest) = (
                address - mapped.address,
                mapped.size.saturating_sub(address - mapped.address),
            );
            for (physical, length) in mapped.pieces(at as usize, length.min(rest) as usize) {
                written.extend(pages(physical, length).map(|(number, ..)| number * u64::from(PAGE)));
            }
        }
        for page in written {
            self.page('J', bus, page);
        }
    }

    /// Records the rows of a page that differ from the trace.
    fn page(&mut self, kind: char, bus: &dyn Bus, page: u64) {
        let mut bytes = [0; PAGE as usize];
        if self.out.is_none() || !bus.read(page, &mut bytes) {
            return;
        }
        let known = self.known.get(&page).map_or(&[0; PAGE as usize], |known| &**known);
        let mut text = String::new();
        let rows = bytes.chunks_exact(ROW).zip(known.chunks_exact(ROW));
        for (at, (row, _)) in (page..).step_by(ROW).zip(rows).filter(|(_, (row, known))| row != known) {
            let _ = write!(text, "{kind} {at:08x} = ");
            for byte in row {
                let _ = write!(text, "{byte:02x}");
            }
            text.push('\n');
        }
        if !text.is_empty() {
            self.known.insert(page, Box::new(bytes));
            self.put(format_args!("{text}"));
        }
    }
}
