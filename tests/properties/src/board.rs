//! A device on a bus, with a guest that reads and writes arbitrary addresses.

use board::{Bus, Device, Model, Options, Product, Ram};
use emulator::exec::wide::Wide;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

const BASE: u64 = 0x4000_0000;

/// Bytes of memory: page tables, then what jobs read and write.
const SIZE: usize = 1 << 18;

/// Maximum number of instructions of a job.
const BUDGET: u64 = 1 << 12;

/// Maximum number of steps of an input.
const STEPS: usize = 400;

struct Machine {
    ram: Arc<Ram<Vec<AtomicU64>>>,
    lines: Arc<AtomicU32>,
    device: Device,
}

impl Machine {
    /// Memory at its own address, with tables at its start.
    fn new(model: Model, at_once: bool) -> Self {
        let ram = Arc::new(Ram::zeroed(BASE, SIZE));
        let put = |at: u64, word: u32| assert!(ram.write(at, &word.to_le_bytes()));
        put(BASE + 4 * (BASE >> 22), (BASE as u32 + 0x1000) | 1);
        for page in 0..(SIZE >> 12) as u64 {
            put(BASE + 0x1000 + 4 * page, (BASE + 0x1000 * page) as u32 | 7);
        }
        let lines = Arc::new(AtomicU32::new(0));
        let levels = lines.clone();
        let mut options = Options::new(|| Box::<Wide>::default());
        options.model = model;
        options.budget = BUDGET;
        options.at_once = at_once;
        options.line = Box::new(move |line, level| {
            let before = levels.fetch_xor(1 << line.number(), Ordering::SeqCst);
            assert_ne!(
                before >> line.number() & 1 != 0,
                level,
                "{line}: notified of a level that it has already"
            );
        });
        let device = Device::new(ram.clone(), options).unwrap();
        Self { ram, lines, device }
    }

    /// Every register, and the beginning of each unit's block.
    fn registers(&self) -> Vec<u32> {
        let units = self.device.model().units();
        let offsets = units.flat_map(|placed| {
            let named = placed.unit.registers().iter().map(|register| register.offset);
            named.chain((0..0x40).step_by(4)).map(|offset| placed.offset + offset)
        });
        offsets.map(|offset| self.device.read32(offset)).collect()
    }
}

/// No order of reads, writes, interrupts and resets does more than hang the GPU: each repeats with the same results,
/// and a reset restores the initial state. The first byte is the GPU; then seven bytes per step: kind, word offset,
/// value.
pub fn accesses(bytes: &[u8]) {
    let Some((&first, steps)) = bytes.split_first() else {
        return;
    };
    let product = [Product::Mali400, Product::Mali450][usize::from(first & 1)];
    let pps = 1 + u32::from(first >> 1) % product.most_pixel_processors();
    let model = Model::new(product, pps).unwrap();
    // Jobs on the device's threads end at no fixed time: only jobs within the write repeat exactly.
    let at_once = first < 0xc0;
    let machines = [Machine::new(model, at_once), Machine::new(model, at_once)];
    let machines = &machines[..1 + usize::from(at_once)];
    for step in steps.as_chunks::<7>().0.iter().take(STEPS) {
        let place = u32::from(u16::from_le_bytes([step[1], step[2]])) * 4;
        let value = u32::from_le_bytes([step[3], step[4], step[5], step[6]]);
        let seen = machines.iter().map(|machine| {
            let device = &machine.device;
            match step[0] % 8 {
                0 => drop(device.read32(place)),
                1 | 2 => device.write32(place, value),
                3 => device.write32(place, 1 << (value % 32)),
                4 => device.write32(place, BASE as u32 + value % SIZE as u32),
                5 | 6 => drop(machine.ram.write(BASE + u64::from(place), &value.to_le_bytes())),
                _ if value % 16 == 0 => device.reset(),
                _ => drop(device.wait_idle(Duration::from_micros(100))),
            }
            (device.read32(place), machine.lines.load(Ordering::SeqCst))
        });
        let seen: Vec<_> = seen.collect();
        assert!(
            seen.windows(2).all(|two| two[0] == two[1]),
            "{}",
            model.describe(place, value)
        );
    }
    if let [one, other] = machines {
        assert_eq!(one.registers(), other.registers());
    }
    let new = Machine::new(model, true).registers();
    for machine in machines {
        machine.device.reset();
        assert!(machine.device.wait_idle(Duration::ZERO), "a job after a reset");
        assert_eq!(machine.lines.load(Ordering::SeqCst), 0, "an interrupt after a reset");
        assert_eq!(machine.registers(), new, "a register that a reset leaves");
    }
}

fn step(what: u8, offset: u32, value: u32) -> Vec<u8> {
    let mut bytes = vec![what];
    bytes.extend(((offset / 4) as u16).to_le_bytes());
    bytes.extend(value.to_le_bytes());
    bytes
}

/// The kernel driver's sequence from probe to power-off, and jobs of both kinds in mapped memory.
pub fn seeds() -> Vec<Vec<u8>> {
    let text = crate::sample("emulator/board/tests/lima.trace");
    let trace = board::trace::Trace::read(&text).unwrap();
    let accesses = trace.events.iter().filter_map(|(_, event)| match event {
        board::trace::Event::Read(offset, value) => Some(step(0, *offset, *value)),
        board::trace::Event::Write(offset, value) => Some(step(1, *offset, *value)),
        _ => None,
    });
    let driver: Vec<Vec<u8>> = accesses.take(STEPS).collect();
    let mut seeds = vec![[&[2][..], &driver.concat()].concat()];
    for first in [2, 1 | 3 << 1] {
        let mut jobs = vec![first];
        for mmu in [0x3000, 0x4000] {
            jobs.extend(step(4, mmu, 0));
            jobs.extend(step(1, mmu + 0x1c, 3));
            jobs.extend(step(1, mmu + 8, 0));
        }
        jobs.extend(step(1, 0x2c, 0x0078_7fff));
        jobs.extend(step(1, 0x9028, 0x1fff));
        // A stream that ends, lists that do not, an address without a translation.
        jobs.extend((0..4).flat_map(|word| step(4, 4 * word, 0x2000 + 8 * (word & 1))));
        jobs.extend(step(1, 0x20, 3));
        jobs.extend(step(4, 0x8000, 0x3000));
        jobs.extend(step(1, 0x900c, 1 << 6));
        jobs.extend(step(1, 0x8000, 0x0bad_0000));
        jobs.extend(step(1, 0x900c, 1 << 7));
        jobs.extend(step(1, 0x900c, 1 << 6));
        seeds.push(jobs);
    }
    seeds
}

/// A text is a register trace or an error; a valid one can be replayed and printed.
pub fn text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(trace) = board::trace::Trace::read(text) else {
        return;
    };
    for (_, event) in &trace.events {
        assert!(!trace.describe(event).is_empty());
    }
    let mut options = Options::new(|| Box::<Wide>::default());
    options.budget = BUDGET;
    let _ = trace.play(options).unwrap();
}

/// The start of the kernel driver's sequence.
pub fn texts() -> Vec<Vec<u8>> {
    let text = crate::sample("emulator/board/tests/lima.trace");
    let start: Vec<&str> = text.lines().take(60).collect();
    let memory = "skrymir registers 400 1 40000000 10000\nM 40000000 = 01100040\nM 40001000 = 07200040\nW 3000 = 40000000\n\
        W 3008 = 0\nW 0 = 2000\nW 4 = 2008\nW 20 = 1\nJ 40002000 = 00\nL 0 = 1\n";
    vec![start.join("\n").into_bytes(), memory.as_bytes().to_vec()]
}
