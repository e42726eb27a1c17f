//! Replays register traces: the driver's accesses come from the trace, the GPU's side from a device.

use crate::bus::Bus;
use crate::device::{Device, Options};
use crate::trace::{Event, Trace, pages};
use emulator::memory::PAGE;
use emulator::thread_pool::lock;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex};

impl Trace {
    /// Replays the driver's accesses on a device with these options, except model, lines and job order; returns the
    /// first difference.
    ///
    /// # Errors
    /// If the threads cannot be created.
    /// When there can be no more threads.
    pub fn play(&self, mut options: Options) -> std::io::Result<std::result::Result<Played, Difference>> {
        let memory = Arc::new(Sparse::new(self.memory.clone()));
        let changes = Arc::new(Mutex::new(Vec::new()));
        let reported = changes.clone();
        options.model = self.model;
        options.at_once = true;
        options.line = Box::new(move |line, level| lock(&reported).push((line.number(), level)));
        let device = Device::new(memory.clone(), options)?;
        let mut played = Played::default();
        // Line changes that the trace has not confirmed yet.
        let mut open = VecDeque::new();
        for (line, event) in &self.events {
            let differs = |found: String| {
                Ok(Err(Difference {
                    line: *line,
                    expected: self.describe(event),
                    found,
                }))
            };
            // Memory after a job follows the line changes that the job caused.
            if let (Some(&(number, level)), Event::Read(..) | Event::Write(..)) = (open.front(), event) {
                return differs(self.describe(&Event::Line(number, level)));
            }
            match event {
                Event::Read(offset, value) => {
                    let found = device.read32(*offset);
                    if found != *value {
                        return differs(self.describe(&Event::Read(*offset, found)));
                    }
                    played.accesses += 1;
                }
                Event::Write(offset, value) => {
                    device.write32(*offset, *value);
                    played.accesses += 1;
                }
                Event::Line(number, level) => match open.pop_front() {
                    Some(change) if change == (*number, *level) => played.changes += 1,
                    Some((number, level)) => return differs(self.describe(&Event::Line(number, level))),
                    None => return differs("the line does not change".to_owned()),
                },
                Event::Memory(address, bytes) => {
                    memory.write(*address, bytes);
                }
                Event::Job(address, bytes) => {
                    let mut found = vec![0; bytes.len()];
                    memory.read(*address, &mut found);
                    if found != *bytes {
                        let first = found
                            .iter()
                            .zip(bytes)
                            .position(|(have, want)| have != want)
                            .unwrap_or(0);
                        return differs(format!(
                            "{:#04x} instead of {:#04x} at {:#010x}",
                            found[first],
                            bytes[first],
                            address + first as u64
                        ));
                    }
                    played.bytes += bytes.len();
                }
            }
            open.extend(lock(&changes).drain(..));
        }
        Ok(Ok(played))
    }
}

/// A trace that was replayed without differences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// Reads and writes of registers.
    pub accesses: usize,
    /// Interrupt line changes.
    pub changes: usize,
    /// Bytes of memory written by jobs.
    pub bytes: usize,
}

/// The first difference between a device and the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The trace's line, from 1 on.
    pub line: usize,
    /// The event in the trace.
    pub expected: String,
    /// The device's behaviour.
    pub found: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "line {}: {}; the device: {}", self.line, self.expected, self.found)
    }
}

/// Sparse memory: only written pages exist.
struct Sparse {
    range: Range<u64>,
    pages: Mutex<HashMap<u64, Box<[u8; PAGE as usize]>>>,
}

impl Sparse {
    fn new(range: Range<u64>) -> Self {
        Self {
            range,
            pages: Mutex::default(),
        }
    }

    fn has(&self, address: u64, length: usize) -> bool {
        let end = address.checked_add(length as u64);
        self.range.start <= address && end.is_some_and(|end| end <= self.range.end)
    }
}

impl Bus for Sparse {
    fn ram(&self) -> Vec<Range<u64>> {
        vec![self.range.clone()]
    }

    fn read(&self, address: u64, to: &mut [u8]) -> bool {
        if !self.has(address, to.len()) {
            return false;
        }
        let have = lock(&self.pages);
        for (number, place, part) in pages(address, to.len()) {
            match have.get(&number) {
                Some(page) => to[part].copy_from_slice(&page[place]),
                None => to[part].fill(0),
            }
        }
        true
    }

    fn write(&self, address: u64, from: &[u8]) -> bool {
        if !self.has(address, from.len()) {
            return false;
        }
        let mut have = lock(&self.pages);
        for (number, place, part) in pages(address, from.len()) {
            let page = have.entry(number).or_insert_with(|| Box::new([0; PAGE as usize]));
            page[place].copy_from_slice(&from[part]);
        }
        true
    }
}
