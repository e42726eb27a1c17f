//! The device from the driver's side: register traces of Linux's driver, and jobs started by registers alone.
#![allow(missing_docs)]

use emulator::driver::{self, Draw};
use emulator::exec::wide::Wide;
use emulator::gpu::Gpu;
use loader::mbs::Stage;
use skrymir_board::play::{Difference, Played};
use skrymir_board::trace::Trace;
use skrymir_board::{Bus, Device, Line, Model, Options, Product, Ram, SIZE_450};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use utgard::stream::TileCommand;

const BASE: u64 = 0x4000_0000;
const SIZE: usize = 16 << 20;
const PAGE: u32 = 4096;
/// Longer than any job here takes, also on a loaded machine.
const LONG: Duration = Duration::from_secs(120);

struct Machine {
    ram: Arc<Ram<Vec<AtomicU64>>>,
    device: Device,
    lines: Arc<AtomicU32>,
    /// The next free page.
    free: u32,
}

impl Machine {
    fn new(model: Model, base: u64, size: usize, budget: u64) -> Self {
        let ram = Arc::new(Ram::zeroed(base, size));
        let lines = Arc::new(AtomicU32::new(0));
        let mut options = Options::new(|| Box::<Wide>::default());
        (options.model, options.budget) = (model, budget);
        let levels = lines.clone();
        options.line = Box::new(move |line, level| {
            let bit = 1 << line.number();
            if level {
                levels.fetch_or(bit, Ordering::SeqCst);
            } else {
                levels.fetch_and(!bit, Ordering::SeqCst);
            }
        });
        let device = Device::new(ram.clone(), options).unwrap();
        let free = base as u32 + PAGE;
        Self {
            ram,
            device,
            lines,
            free,
        }
    }

    fn mali_400() -> Self {
        Self::new(Model::new(Product::Mali400, 2).unwrap(), BASE, SIZE, 1 << 24)
    }

    fn word(&self, physical: u32) -> u32 {
        let mut bytes = [0; 4];
        assert!(self.ram.read(u64::from(physical), &mut bytes));
        u32::from_le_bytes(bytes)
    }

    fn put(&self, physical: u32, word: u32) {
        assert!(self.ram.write(u64::from(physical), &word.to_le_bytes()));
    }

    fn page(&mut self) -> u32 {
        self.free += PAGE;
        self.free - PAGE
    }

    /// Address of the page table entry of an address.
    fn entry(&mut self, address: u32) -> u32 {
        let directory = BASE as u32 + (address >> 22) * 4;
        if self.word(directory) == 0 {
            let table = self.page();
            self.put(directory, table | 1);
        }
        (self.word(directory) & !0xfff) + (address >> 12 & 0x3ff) * 4
    }

    /// Maps bytes, leaving every other physical page free.
    fn map(&mut self, address: u32, bytes: &[u8]) {
        for (number, bytes) in bytes.chunks(PAGE as usize).enumerate() {
            let entry = self.entry(address + number as u32 * PAGE);
            let page = self.page();
            self.free += PAGE;
            self.put(entry, page | 7);
            assert!(self.ram.write(u64::from(page), bytes));
        }
    }

    fn read(&mut self, address: u32, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        for (number, bytes) in bytes.chunks_mut(PAGE as usize).enumerate() {
            let entry = self.entry(address + number as u32 * PAGE);
            let page = self.word(entry) & !0xfff;
            assert!(self.ram.read(u64::from(page), bytes));
        }
        bytes
    }

    /// Unmasks all interrupts, and enables translation.
    fn start(&self) {
        for mmu in [0x3000, 0x4000, 0x5000] {
            self.device.write32(mmu, BASE as u32);
            self.device.write32(mmu + 0x1c, 3);
            self.device.write32(mmu + 8, 0);
        }
        self.device.write32(0x2c, 0x0078_7fff);
        self.device.write32(0x9028, 0x1fff);
        self.device.write32(0xb028, 0x1fff);
    }

    fn wait(&self, line: Line) {
        let end = Instant::now() + LONG;
        while self.lines.load(Ordering::SeqCst) >> line.number() & 1 == 0 {
            assert!(Instant::now() < end, "no interrupt on {line:?}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn submit_gp(&self, frame: &[u32]) {
        for (word, value) in (0..).zip(frame) {
            self.device.write32(4 * word, *value);
        }
        self.device.write32(0x20, 3);
    }

    fn submit_pp(&self, pp: u32, frame: &[u32]) {
        let base = 0x8000 + 0x2000 * pp;
        for (word, value) in (0..).zip(&frame[..23]) {
            self.device.write32(base + 4 * word, *value);
        }
        self.device.write32(base, frame[60]);
        for (unit, words) in (1..).zip(frame[24..60].chunks(12)) {
            for (word, value) in (0..).zip(words) {
                self.device.write32(base + 0x100 * unit + 4 * word, *value);
            }
        }
        self.device.write32(base + 0x100c, 1 << 6);
    }
}

/// A triangle drawn by the emulator's own driver: its jobs, and the address and bytes of its picture.
struct Triangle {
    objects: Vec<(u32, Vec<u8>)>,
    gp: Vec<u32>,
    pp: Vec<u32>,
    target: u32,
    picture: Vec<u8>,
}

fn triangle(fragment: &str) -> Triangle {
    let program = |text: &str, stage| utgard::shader::assemble(text).unwrap().program(stage).unwrap().unwrap();
    let vertex = program(include_str!("../../../examples/mali/triangle.vert.s"), Stage::Vertex);
    let fragment = program(fragment, Stage::Fragment);
    let mut draw = Draw::new(&vertex, &fragment, [48, 32]);
    let corners = [[0.0, 0.8, 0.0, 1.0], [-0.8, -0.8, 0.0, 1.0], [0.8, -0.8, 0.0, 1.0]];
    let colors = [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]];
    draw.attributes = vec![
        ("position".to_owned(), corners.to_vec()),
        ("color".to_owned(), colors.to_vec()),
    ];
    let identity = (0..16).map(|at| if at % 5 == 0 { 1.0 } else { 0.0 }).collect();
    draw.uniforms = vec![("transform".to_owned(), identity)];
    let mut gpu = Gpu::new(Box::new(Wide::default()));
    let prepared = driver::prepare(&mut gpu, &draw).unwrap();
    let objects = gpu
        .memory
        .objects()
        .map(|(address, bytes)| (address, bytes.into_owned()));
    let objects: Vec<(u32, Vec<u8>)> = objects.collect();
    let (gp, pp) = prepared.frames();
    let (gp, pp) = (gp.to_vec(), pp.to_vec());
    let target = pp[25];
    prepared.submit(&mut gpu).unwrap();
    let picture = gpu.memory.bytes(target, 48 * 32 * 4).unwrap().into_owned();
    assert!(
        picture.iter().any(|byte| *byte != picture[0]),
        "a picture of one colour"
    );
    Triangle {
        objects,
        gp,
        pp,
        target,
        picture,
    }
}

const PLAIN: &str = include_str!("../../../examples/mali/triangle.frag.s");

fn ready(triangle: &Triangle) -> Machine {
    let mut machine = Machine::mali_400();
    for (address, bytes) in &triangle.objects {
        machine.map(*address, bytes);
    }
    machine.start();
    machine
}

#[test]
fn a_triangle_by_registers_equals_the_emulators() {
    let triangle = triangle(PLAIN);
    let mut machine = ready(&triangle);
    // Twice, because the caches of the first run are stale after the guest's writes.
    for _ in 0..2 {
        machine.submit_gp(&triangle.gp);
        machine.wait(Line::Gp);
        assert_eq!((machine.device.read32(0x30), machine.device.read32(0x68)), (3, 0));
        machine.device.write32(0x28, 3);
        assert_eq!(machine.lines.load(Ordering::SeqCst), 0);
        machine.submit_pp(0, &triangle.pp);
        machine.wait(Line::Pp(0));
        assert_eq!((machine.device.read32(0x902c), machine.device.read32(0x9008)), (1, 0));
        machine.device.write32(0x9024, 1);
        assert!(
            machine.read(triangle.target, triangle.picture.len()) == triangle.picture,
            "the picture"
        );
        let blank = vec![0x55; triangle.picture.len()];
        for (number, bytes) in blank.chunks(PAGE as usize).enumerate() {
            let entry = machine.entry(triangle.target + number as u32 * PAGE);
            let page = machine.word(entry) & !0xfff;
            assert!(machine.ram.write(u64::from(page), bytes));
        }
        assert_ne!(
            machine.read(triangle.target, blank.len()),
            triangle.picture,
            "the control"
        );
    }
}

#[test]
fn a_page_fault_waits_for_the_driver() {
    let triangle = triangle(PLAIN);
    let mut machine = ready(&triangle);
    machine.submit_gp(&triangle.gp);
    machine.wait(Line::Gp);
    machine.device.write32(0x28, 3);
    // The target's page is unmapped, and mapped again on the page fault.
    let entry = machine.entry(triangle.target);
    let translation = machine.word(entry);
    machine.put(entry, 0);
    machine.submit_pp(0, &triangle.pp);
    machine.wait(Line::PpMmu(0));
    let status = machine.device.read32(0x4004);
    assert_eq!(status & 0x22, 0x22, "a page fault of a write: {status:#x}");
    assert_eq!(machine.device.read32(0x400c) / PAGE, triangle.target / PAGE);
    assert_eq!(machine.device.read32(0x9008), 1, "the processor waits");
    machine.put(entry, translation);
    machine.device.write32(0x4018, 1);
    machine.device.write32(0x4008, 5);
    machine.wait(Line::Pp(0));
    assert!(
        machine.read(triangle.target, triangle.picture.len()) == triangle.picture,
        "the picture"
    );
    // A read-only page.
    machine.device.write32(0x9024, 1);
    machine.put(entry, translation & !4);
    machine.submit_pp(0, &triangle.pp);
    machine.wait(Line::PpMmu(0));
    assert_eq!(machine.device.read32(0x4004) & 0x22, 0x22);
}

#[test]
fn a_job_that_does_not_end_hangs_until_it_is_reset() {
    let plain = triangle(PLAIN);
    let mut machine = ready(&plain);
    machine.submit_gp(&plain.gp);
    machine.wait(Line::Gp);
    machine.device.write32(0x28, 3);
    // A tile list that loops: its end is a jump to its start.
    let list = plain.pp[60];
    let words = machine.read(list, 64);
    let begin: Vec<u32> = words
        .as_chunks::<4>()
        .0
        .iter()
        .map(|word| u32::from_le_bytes(*word))
        .collect();
    assert!(begin.iter().any(|word| *word != 0), "a list");
    let broken = [0xffff_ffff_u32, 0x7fff_ffff];
    let entry = machine.entry(list);
    let page = (machine.word(entry) & !0xfff) + list % PAGE;
    for (word, value) in (0..).zip(broken) {
        machine.put(page + 4 * word, value);
    }
    machine.submit_pp(0, &plain.pp);
    machine.wait(Line::Pp(0));
    assert_eq!(machine.device.read32(0x902c), 1 << 9, "an invalid command of the list");
    assert_eq!(machine.device.read32(0x9008), 1);
    // The driver's hard reset.
    machine.device.write32(0x9028, 0);
    machine.device.write32(0x900c, 1);
    assert_eq!(machine.device.read32(0x9008) & 0x10, 0x10);
    machine.device.write32(0x900c, 1 << 5);
    assert_eq!(machine.device.read32(0x9008), 0);
    for (word, value) in (0..).zip(&begin) {
        machine.put(page + 4 * word, *value);
    }
    machine.device.write32(0x9028, 0x1fff);
    machine.submit_pp(0, &plain.pp);
    machine.wait(Line::Pp(0));
    assert_eq!(machine.device.read32(0x902c), 1);
    assert_eq!(machine.read(plain.target, plain.picture.len()), plain.picture);
}

/// A Mali-450 with four pixel processors shares a triangle's tiles: broadcast registers, and lists from the
/// load-balancing unit; `enabled` is the mask of processors that it serves.
fn shared(triangle: &Triangle, enabled: u32) -> (Machine, u32) {
    const LIST: u32 = 0xfff0_0000;
    let mut machine = Machine::new(Model::new(Product::Mali450, 4).unwrap(), BASE, SIZE, 1 << 24);
    for (address, bytes) in &triangle.objects {
        machine.map(*address, bytes);
    }
    // The first command of the list after the tile's place is the address of its block.
    let words = machine.read(triangle.pp[60], 32);
    let words: Vec<u32> = words
        .as_chunks::<4>()
        .0
        .iter()
        .map(|word| u32::from_le_bytes(*word))
        .collect();
    let mut commands = words.as_chunks::<2>().0.iter().map(|words| TileCommand::decode(*words));
    let first = commands.find_map(|command| match command {
        TileCommand::RunBlock(run) => Some(run.block.0),
        _ => None,
    });
    let device = &machine.device;
    device.write32(0x3000, BASE as u32);
    device.write32(0x3008, 0);
    device.write32(0x2c, 0x0078_7fff);
    device.write32(0x1_3000, 0x000f_000f);
    device.write32(0x1_3004, 0xf);
    device.write32(0x1_5000, BASE as u32);
    device.write32(0x1_501c, 3);
    device.write32(0x1_5008, 0);
    device.write32(0x1_7028, 0x1fff);
    for (offset, value) in [
        (0x00, (BASE as u32 + 0x2000) | 1),
        (0x04, LIST),
        (0x08, first.expect("a block")),
        // 48x32 pixels are 3x2 tiles.
        (0x0c, 2 | 1 << 16),
        // The block layout, as in the pixel processors, and a block size of 512 bytes.
        (0x10, triangle.pp[20] | 2 << 28),
        (0x14, 0),
        (0x18, enabled),
    ] {
        device.write32(0x1_4000 + offset, value);
    }
    machine.submit_gp(&triangle.gp);
    machine.wait(Line::Gp);
    let device = &machine.device;
    for (word, value) in (0..).zip(&triangle.pp[..23]) {
        device.write32(0x1_6000 + 4 * word, *value);
    }
    device.write32(0x1_6000, LIST);
    for (unit, words) in (1..).zip(triangle.pp[24..60].chunks(12)) {
        for (word, value) in (0..).zip(words) {
            device.write32(0x1_6000 + 0x100 * unit + 4 * word, *value);
        }
    }
    device.write32(0x1_700c, 1 << 6);
    (machine, LIST)
}

#[test]
fn a_mali_450_shares_a_picture() {
    let triangle = triangle(PLAIN);
    let (mut machine, _) = shared(&triangle, 0xf);
    machine.wait(Line::AllPps);
    assert!(machine.device.wait_idle(LONG));
    for number in 0..4 {
        let base = 0x8000 + 0x2000 * number;
        let state = [0x1020, 0x1008].map(|offset| machine.device.read32(base + offset));
        assert_eq!(state, [1, 0], "pp{number}: the end of the frame, and no longer active");
        let line = Line::Pp(number).number();
        assert_eq!(
            machine.lines.load(Ordering::SeqCst) >> line & 1,
            0,
            "its own line is quiet"
        );
    }
    assert!(
        machine.read(triangle.target, triangle.picture.len()) == triangle.picture,
        "the picture"
    );
    // The common line stays high until the last interrupt is acknowledged.
    for number in 0..4 {
        assert_ne!(machine.lines.load(Ordering::SeqCst) >> Line::AllPps.number() & 1, 0);
        machine.device.write32(0x9024 + 0x2000 * number, 1);
    }
    assert_eq!(machine.lines.load(Ordering::SeqCst) & !1, 0);
    // Three caches: one for the geometry processor, and one for each half of eight pixel processors.
    let caches = |pps| {
        let machine = Machine::new(Model::new(Product::Mali450, pps).unwrap(), BASE, 1 << 20, 1);
        [0x1_0004, 0x1004, 0x1_1004].map(|offset| machine.device.read32(offset))
    };
    assert_eq!(caches(8), [0x0710_0206; 3]);
    assert_eq!(caches(4), [0x0710_0206, 0x0710_0206, 0]);
}

#[test]
fn a_processor_without_a_share_finds_no_list() {
    let triangle = triangle(PLAIN);
    let (mut machine, list) = shared(&triangle, 0x7);
    machine.wait(Line::PpMmu(3));
    assert_eq!(machine.device.read32(0x700c), list);
    machine.wait(Line::AllPps);
    while machine.device.read32(0xd008) != 0 || machine.device.read32(0x9008) != 0 || machine.device.read32(0xb008) != 0
    {
        std::thread::sleep(Duration::from_millis(1));
    }
    // The three others share all tiles.
    assert!(
        machine.read(triangle.target, triangle.picture.len()) == triangle.picture,
        "the picture"
    );
}

/// Debian's driver on QEMU, as `examples/board.sh --trace` records it; each part has a comment.
const LIMA: &str = include_str!("lima.trace");

fn play(text: &str) -> Result<Played, Difference> {
    let mut options = Options::new(|| Box::<Wide>::default());
    // Enough for the jobs that finish.
    options.budget = 1 << 16;
    Trace::read(text).unwrap().play(options).unwrap()
}

#[test]
fn the_kernel_drivers_trace_replays() {
    let played = play(LIMA).unwrap();
    assert!(
        played.accesses > 500 && played.changes > 20 && played.bytes > 2000,
        "{played:?}"
    );
    // A register with a wrong value, a missing write, unexpected or missing interrupts, changed memory: one per part.
    let damages = [
        ("probe", "R 006c = 0b070101", "R 006c = 0b070100"),
        ("job", "M ", "# "),
        ("job", "L 4 = 1\n", ""),
        ("power off", "R 2008 = 00000000\n", "R 2008 = 00000001\n"),
        ("power on", "W 2000 = 0000000f\n", ""),
        ("fault", "R 300c = 0bad0000", "R 300c = 0bad1000"),
        ("fault", "L 1 = 1\n", ""),
        ("time-out", "R 9008 = 00000001", "R 9008 = 00000000"),
        ("time-out", "W 900c = 00000040\n", ""),
    ];
    for (part, from, to) in damages {
        let start = LIMA.find(&format!("\n# {part}:")).expect(part);
        let (before, behind) = LIMA.split_at(start);
        let damaged = before.to_owned() + &behind.replacen(from, to, 1);
        assert_ne!(damaged, LIMA, "{part} has no {from}");
        let found = play(&damaged).expect_err(part);
        assert!(found.line > before.lines().count(), "{part}, {from}: {found}");
    }
}

#[test]
fn random_accesses_are_survived() {
    let mut random = fastrand::Rng::with_seed(0x0b07);
    let (mut jobs, mut interrupts) = (0, 0);
    for round in 0..40 {
        let product = if round % 2 == 0 {
            Product::Mali400
        } else {
            Product::Mali450
        };
        let model = Model::new(product, random.u32(1..5)).unwrap();
        let machine = Machine::new(model, BASE, 1 << 20, 1 << 12);
        let offsets: Vec<u32> = model
            .units()
            .flat_map(|placed| {
                let own = placed
                    .unit
                    .registers()
                    .iter()
                    .map(|register| placed.offset + register.offset);
                own.chain((0..64).map(|word| placed.offset + 4 * word))
            })
            .collect();
        for word in 0..256 {
            machine.put(BASE as u32 + 4 * random.u32(..1 << 18), (BASE as u32 + 4 * word) | 7);
        }
        for _ in 0..600 {
            let offset = if random.u32(..20) == 0 {
                random.u32(..SIZE_450 + 64)
            } else {
                offsets[random.usize(..offsets.len())]
            };
            if random.bool() {
                machine.device.read32(offset);
            } else {
                let value = match random.u32(..4) {
                    0 => random.u32(..),
                    1 => BASE as u32 + random.u32(..1 << 20),
                    _ => 1 << random.u32(..12),
                };
                machine.device.write32(offset, value);
            }
            interrupts += u32::from(machine.lines.load(Ordering::SeqCst) != 0);
            jobs += u32::from(machine.device.read32(0x68) & 10 != 0);
        }
        if round % 8 == 0 {
            machine.device.reset();
            assert!(machine.device.wait_idle(Duration::ZERO));
            assert_eq!(machine.lines.load(Ordering::SeqCst), 0, "a reset chip raises nothing");
        }
    }
    assert!(
        jobs > 0 && interrupts > 0,
        "{jobs} {interrupts}: the random accesses start no jobs or raise no interrupts"
    );
}
