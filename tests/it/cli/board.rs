//! Recordings of the device on a bus can be read by `replay`, `diff`, `inspect` and `dap`.

use super::recordings::{example, ran, record};
use board::{Bus, Device, Model, Options, Product, Ram, Recording};
use emulator::exec::wide::Wide;
use loader::trace::{Pipe, Record, Trace};
use std::io::Write;
use std::sync::{Arc, Mutex};

const BASE: u64 = 0x4000_0000;
const PAGE: u32 = 4096;

/// A file in memory.
#[derive(Clone, Default)]
struct Bytes(Arc<Mutex<Vec<u8>>>);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A guest's memory: a page directory at its start, then pages in order.
struct Guest {
    ram: Arc<Ram<Vec<std::sync::atomic::AtomicU64>>>,
    free: u32,
}

impl Guest {
    fn word(&self, physical: u32) -> u32 {
        let mut bytes = [0; 4];
        assert!(self.ram.read(physical.into(), &mut bytes));
        u32::from_le_bytes(bytes)
    }

    fn put(&self, physical: u32, word: u32) {
        assert!(self.ram.write(physical.into(), &word.to_le_bytes()));
    }

    fn page(&mut self) -> u32 {
        self.free += PAGE;
        self.free - PAGE
    }

    /// The page of an address, mapped if it is not yet.
    fn mapped(&mut self, address: u32) -> u32 {
        let directory = BASE as u32 + (address >> 22) * 4;
        if self.word(directory) == 0 {
            let table = self.page();
            self.put(directory, table | 1);
        }
        let entry = (self.word(directory) & !0xfff) + (address >> 12 & 0x3ff) * 4;
        if self.word(entry) == 0 {
            let page = self.page();
            self.put(entry, page | 7);
        }
        self.word(entry) & !0xfff
    }

    fn write(&mut self, address: u32, bytes: &[u8]) {
        for (at, byte) in (address..).zip(bytes) {
            let page = self.mapped(at & !0xfff);
            assert!(self.ram.write(u64::from(page + at % PAGE), &[*byte]));
        }
    }
}

/// Runs a recording's jobs through a device's registers; returns the device's own recording and its register trace.
pub(super) fn by_registers(trace: &[u8]) -> (Vec<u8>, String) {
    let trace = Trace::read(trace).unwrap();
    let ram = Arc::new(Ram::zeroed(BASE, 16 << 20));
    let mut guest = Guest {
        ram: ram.clone(),
        free: BASE as u32 + PAGE,
    };
    let (jobs, registers) = (Bytes::default(), Bytes::default());
    let model = Model::new(Product::Mali400, trace.pps).unwrap();
    let mut options = Options::new(|| Box::<Wide>::default());
    options.model = model;
    let out = jobs.clone();
    options.record = Some(Box::new(move |_| {
        Recording::new(Box::new(out.clone()), 1, model.pixel_processors()).ok()
    }));
    let memory = ram.ram()[0].clone();
    options.log = Some(board::trace::Log::new(Box::new(registers.clone()), model, memory).unwrap());
    let device = Device::new(ram, options).unwrap();
    for mmu in [0x3000, 0x4000, 0x5000, 0x6000, 0x7000] {
        device.write32(mmu, BASE as u32);
        device.write32(mmu + 8, 0);
    }
    device.write32(0x2c, 0x0078_7fff);
    for (_, record) in &trace.records {
        match record {
            Record::Buffer { address, size, .. } => {
                for page in (*address..address + size).step_by(PAGE as usize) {
                    guest.mapped(page);
                }
            }
            Record::Page { address, bytes } => guest.write(*address, bytes),
            Record::Free { .. } => {}
            Record::Submit {
                pipe: Pipe::Gp, frame, ..
            } => {
                (0..)
                    .zip(frame)
                    .for_each(|(word, value)| device.write32(4 * word, *value));
                device.write32(0x20, 3);
                assert_eq!(device.read32(0x30), 3, "both streams have ended");
                device.write32(0x28, 3);
            }
            Record::Submit {
                pipe: Pipe::Pp, frame, ..
            } => {
                for number in 0..frame[23] {
                    let base = 0x8000 + 0x2000 * number;
                    (0..)
                        .zip(&frame[..23])
                        .for_each(|(word, value)| device.write32(base + 4 * word, *value));
                    device.write32(base, frame[60 + number as usize]);
                    for (unit, words) in (1..).zip(frame[24..60].chunks(12)) {
                        let place = base + 0x100 * unit;
                        (0..)
                            .zip(words)
                            .for_each(|(word, value)| device.write32(place + 4 * word, *value));
                    }
                    device.write32(base + 0x100c, 1 << 6);
                    assert_eq!(device.read32(base + 0x1020), 1, "the frame has ended");
                    device.write32(base + 0x1024, 1);
                }
            }
        }
    }
    drop(device);
    let registers = registers.0.lock().unwrap().clone();
    let jobs = jobs.0.lock().unwrap().clone();
    (jobs, String::from_utf8(registers).unwrap())
}

#[test]
fn recordings_of_the_device_are_like_others() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let trace = record(folder.path(), "plain", &example("triangle.frag.s"), "");
    let (jobs, _) = by_registers(&std::fs::read(&trace).unwrap());
    let device = at("device.trace");
    std::fs::write(&device, jobs).unwrap();
    let (code, text) = ran(&["diff", &trace, &device]);
    assert_eq!((code, text.starts_with("same: ")), (0, true), "{text}");
    for (trace, picture) in [(&trace, "a.png"), (&device, "b.png")] {
        assert_eq!(ran(&["replay", trace, "-o", &at(picture)]).0, 0);
    }
    assert_eq!(ran(&["compare", &at("a.png"), &at("b.png")]).0, 0);
    let (code, text) = ran(&["inspect", &device, "-o", &at("page.html")]);
    assert_eq!(code, 0, "{text}");
    // Negative control: another job differs.
    let blended = record(
        folder.path(),
        "blended",
        &example("triangle.frag.s"),
        "blend = \"additive\"\n",
    );
    assert_eq!(ran(&["diff", &blended, &device]).0, 1);
}

#[test]
fn register_traces_are_replayed_and_dumped() {
    let folder = tempfile::tempdir().unwrap();
    let trace = record(folder.path(), "plain", &example("triangle.frag.s"), "");
    let (_, text) = by_registers(&std::fs::read(&trace).unwrap());
    let path = folder.path().join("registers.trace").display().to_string();
    std::fs::write(&path, &text).unwrap();
    let (code, output) = ran(&["replay", &path, "--dump"]);
    assert_eq!(code, 0, "{output}");
    for line in [
        "write gp.command = 0x00000003 start_vs start_plbu",
        "line  gp high",
        "write gp.int_clear = 0x00000003 vs_end plbu_end",
        "write pp0.control = 0x00000040 start",
        "of a job",
        "as recorded: ",
    ] {
        assert!(output.contains(line), "{line} is not in\n{output}");
    }
    // Damage is reported with its line: in a register, an interrupt, a byte that a job reads, and one that it wrote.
    let damages: [(&str, &str); 3] = [
        ("R 0030 = 00000003", "R 0030 = 00000001"),
        ("L 0 = 1\n", ""),
        ("W 0028 = 00000003", "W 0028 = 00000001"),
    ];
    let mut damaged: Vec<String> = damages.iter().map(|(from, to)| text.replacen(from, to, 1)).collect();
    let last = text.lines().rfind(|line| line.starts_with('J')).unwrap();
    let other = last.replace(" = ", " = 5").chars().take(last.len()).collect::<String>();
    damaged.push(text.replace(last, &other));
    for damaged in damaged {
        assert_ne!(damaged, text);
        std::fs::write(&path, damaged).unwrap();
        let (code, output) = ran(&["replay", &path]);
        assert!(
            code == 1 && output.contains("registers.trace") && output.contains("line "),
            "{code}: {output}"
        );
    }
    std::fs::write(&path, text.replace("W 0020", "X 0020")).unwrap();
    let (code, output) = ran(&["replay", &path]);
    assert!(code == 1 && output.contains("no event: X 0020"), "{code}: {output}");
    // It has no picture.
    assert_eq!(ran(&["replay", &path, "-o", "picture.png"]).0, 2);
}
