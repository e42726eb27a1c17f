//! Open devices and their activity.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Activity of one open device.
#[derive(Debug, Default)]
pub struct Counters {
    /// Geometry jobs.
    pub gp: AtomicU64,
    /// Pixel jobs.
    pub pp: AtomicU64,
    /// Nanoseconds spent in jobs.
    pub busy: AtomicU64,
    /// Queued jobs.
    pub waiting: AtomicU64,
    /// Bytes of buffer objects.
    pub memory: AtomicU64,
    /// Number of answered requests.
    pub questions: AtomicU64,
    /// Nanoseconds spent answering them.
    pub answering: AtomicU64,
    /// Nanoseconds of the program's CPU time: user, and system.
    pub processor: [AtomicU64; 2],
}

/// How the time of an open device's program was spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// From the device's opening to its closing.
    pub open: Duration,
    /// CPU time of the program with its driver, and of qemu if it runs in it.
    pub program: Duration,
    /// System time of the program, including sending requests.
    pub system: Duration,
    /// Number of requests.
    pub questions: u64,
    /// The time spent answering them.
    pub answering: Duration,
    /// The time in which the program did not run: waiting for jobs, answers or refreshes, or sleeping.
    pub waiting: Duration,
}

/// Measures the time of an open device's program.
#[derive(Debug)]
pub(crate) struct Clock {
    counters: Arc<Counters>,
    process: u32,
    /// The program's CPU time when the device was opened.
    before: Option<[Duration; 2]>,
    /// Time of the last sample.
    looked: Instant,
}

/// Interval for sampling a program's CPU time, which is gone once the program ends.
const LOOKS: Duration = Duration::from_millis(100);

impl Counters {
    /// How the time was spent, for a device open for this long.
    pub fn times(&self, open: Duration) -> Times {
        let time = |counter: &AtomicU64| Duration::from_nanos(counter.load(Ordering::Relaxed));
        let [program, system] = [&self.processor[0], &self.processor[1]].map(time);
        Times {
            open,
            program,
            system,
            questions: self.questions.load(Ordering::Relaxed),
            answering: time(&self.answering),
            waiting: open.saturating_sub(program + system),
        }
    }
}

impl Clock {
    /// For a device that a process has just opened.
    pub(crate) fn new(counters: Arc<Counters>, process: u32) -> Self {
        Self {
            counters,
            process,
            before: processor(process),
            looked: Instant::now(),
        }
    }

    /// Records that a request received at this time was answered.
    pub(crate) fn answered(&mut self, since: Instant) {
        self.counters.questions.fetch_add(1, Ordering::Relaxed);
        let nanos = since.elapsed().as_nanos() as u64;
        self.counters.answering.fetch_add(nanos, Ordering::Relaxed);
        if self.looked.elapsed() >= LOOKS {
            self.look();
        }
    }

    /// Samples the program's CPU time.
    pub(crate) fn look(&mut self) {
        self.looked = Instant::now();
        if let (Some(before), Some(now)) = (self.before, processor(self.process)) {
            for ((counter, before), now) in self.counters.processor.iter().zip(before).zip(now) {
                let nanos = now.saturating_sub(before).as_nanos() as u64;
                counter.store(nanos, Ordering::Relaxed);
            }
        }
    }
}

/// A process's CPU time: user, and system.
fn processor(process: u32) -> Option<[Duration; 2]> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // After the name, which may contain any characters, the state is the third field.
    let fields: Vec<&str> = text.rsplit_once(") ")?.1.split(' ').collect();
    let hertz = rustix::param::clock_ticks_per_second().max(1);
    let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let time = |ticks: u64| Duration::from_nanos((u128::from(ticks) * 1_000_000_000 / u128::from(hertz)) as u64);
    Some([time(ticks(11)?), time(ticks(12)?)])
}

/// An open device in the list.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Client {
    /// The device's number.
    pub device: u64,
    /// The process that opened it.
    pub process: u32,
    /// The program's name.
    pub name: String,
    /// Geometry jobs so far.
    pub gp_jobs: u64,
    /// Pixel jobs so far.
    pub pp_jobs: u64,
    /// Jobs per second of both kinds since the last listing, or since the device was opened.
    pub jobs_per_second: f64,
    /// The fraction of that time in which it had a job.
    pub busy: f64,
    /// Queued jobs.
    pub waiting: u64,
    /// Bytes of buffer objects.
    pub memory: u64,
}

#[derive(Debug)]
struct Entry {
    process: u32,
    counters: Arc<Counters>,
    /// Time of the last listing, with jobs and nanoseconds at that time.
    last: (Instant, u64, u64),
}

/// All open devices.
#[derive(Debug, Default)]
pub struct Clients {
    open: Mutex<BTreeMap<u64, Entry>>,
}

impl Clients {
    fn open(&self) -> MutexGuard<'_, BTreeMap<u64, Entry>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a device opened by a process.
    pub fn add(&self, device: u64, process: u32) -> Arc<Counters> {
        let counters = Arc::new(Counters::default());
        let entry = Entry {
            process,
            counters: counters.clone(),
            last: (Instant::now(), 0, 0),
        };
        self.open().insert(device, entry);
        counters
    }

    /// Removes a closed device.
    pub fn remove(&self, device: u64) {
        self.open().remove(&device);
    }

    /// Number of open devices.
    pub fn len(&self) -> u64 {
        self.open().len() as u64
    }

    /// Whether no device is open.
    pub fn is_empty(&self) -> bool {
        self.open().is_empty()
    }

    /// The list, by number. Rates refer to the time since the last listing.
    pub fn list(&self) -> Vec<Client> {
        let now = Instant::now();
        let mut open = self.open();
        let client = |(device, entry): (&u64, &mut Entry)| {
            let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
            let counters = &entry.counters;
            let (gp_jobs, pp_jobs, busy) = (read(&counters.gp), read(&counters.pp), read(&counters.busy));
            let jobs = gp_jobs + pp_jobs;
            let (before, jobs_before, busy_before) = std::mem::replace(&mut entry.last, (now, jobs, busy));
            let seconds = now.duration_since(before).as_secs_f64().max(1e-3);
            Client {
                device: *device,
                process: entry.process,
                name: name(entry.process),
                gp_jobs,
                pp_jobs,
                jobs_per_second: (jobs - jobs_before) as f64 / seconds,
                busy: Duration::from_nanos(busy - busy_before).as_secs_f64() / seconds,
                waiting: read(&counters.waiting),
                memory: read(&counters.memory),
            }
        };
        open.iter_mut().map(client).collect()
    }
}

/// The name of a process's program; for qemu, of the emulated program.
fn name(process: u32) -> String {
    let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words: Vec<String> = line
        .split(|byte| *byte == 0)
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    let is_qemu = words.first().is_some_and(|word| base(word).starts_with("qemu-"));
    let mut words = words.iter().map(String::as_str);
    let program = if is_qemu {
        words.next();
        loop {
            match words.next() {
                Some("-L" | "-E" | "-0" | "-U") => _ = words.next(),
                word => break word,
            }
        }
    } else {
        words.next()
    };
    base(program.unwrap_or("?")).to_owned()
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_separated() {
        let counters = Arc::new(Counters::default());
        let mut clock = Clock::new(counters.clone(), std::process::id());
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(150) {
            std::hint::spin_loop();
        }
        clock.answered(start);
        std::thread::sleep(Duration::from_millis(50));
        clock.answered(Instant::now());
        let times = counters.times(Duration::from_secs(60));
        assert_eq!(times.questions, 2);
        assert!(times.answering >= Duration::from_millis(150), "{times:?}");
        assert!(times.program + times.system >= Duration::from_millis(10), "{times:?}");
        assert_eq!(times.waiting, times.open - times.program - times.system);
    }

    #[test]
    fn rates_refer_to_the_last_listing() {
        let clients = Clients::default();
        let counters = clients.add(3, std::process::id());
        counters.gp.store(10, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(20));
        let first = clients.list();
        assert_eq!((first[0].device, first[0].gp_jobs), (3, 10));
        assert!(first[0].jobs_per_second > 0.0 && first[0].jobs_per_second < 501.0);
        assert!(first[0].name.contains("skrymir"), "{}", first[0].name);
        assert_eq!(clients.list()[0].jobs_per_second, 0.0);
        clients.remove(3);
        assert!(clients.is_empty());
    }
}
