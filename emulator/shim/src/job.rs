//! A job from the driver's frame to its end.

use crate::abi::errno;
use crate::device::Device;
use crate::server::Hardware;
use crate::{Event, Job, Pipe, Work};
use emulator::gpu::fault::{Fault, FaultKind};
use std::panic::AssertUnwindSafe;
use std::time::Instant;

/// A job that may run.
pub struct Request {
    /// Which queue.
    pub pipe: Pipe,
    /// The frame.
    pub frame: Vec<u32>,
    /// Addresses of the objects it names, and 1 reads, 2 writes.
    pub objects: Vec<(u32, u32)>,
}

/// What the kernel looks at before it takes a job.
///
/// # Errors
/// An `errno`.
pub fn check(pipe: Pipe, frame: &[u32], hardware: Hardware, pps: u32) -> Result<(), i32> {
    let good = match pipe {
        Pipe::Gp => {
            let ordered = frame.chunks_exact(2).all(|pair| pair[0] <= pair[1]);
            ordered && (frame[0] != frame[1] || frame[2] != frame[3])
        }
        Pipe::Pp => {
            let pad = hardware == Hardware::Mali450 && frame[61] != 0;
            (1..=pps).contains(&frame[23]) && !pad
        }
    };
    if good { Ok(()) } else { Err(errno::EINVAL) }
}

/// Runs a job. A fault ends it and is told; the driver sees no difference, as with hardware that was reset.
pub fn run(device: &mut Device, request: &Request) {
    let plain = plain(&request.frame, request.pipe, device.hardware());
    let job = Job {
        number: device.jobs,
        pipe: request.pipe,
        frame: &request.frame,
        plain: &plain,
        objects: &request.objects,
    };
    device.jobs += 1;
    device.tell(&Event::Submitted(job));
    let start = Instant::now();
    let gpu = &mut device.gpu;
    // A panic would be an error of ours; it ends the job, not everybody's device.
    let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| match request.pipe {
        Pipe::Gp => gpu.run_gp(&plain).map(Work::Gp),
        Pipe::Pp => gpu.run_pp(&plain).map(Work::Pp),
    }));
    let outcome = outcome.unwrap_or_else(|_| Err(Fault::new(FaultKind::Limit, "the emulator failed")));
    let time = start.elapsed();
    let outcome = outcome.as_ref().map(|work| *work);
    device.tell(&Event::Done { job, outcome, time });
}

/// A frame as the emulator takes it: that of a Mali-400.
fn plain(frame: &[u32], pipe: Pipe, hardware: Hardware) -> Vec<u32> {
    match (pipe, hardware) {
        (Pipe::Gp, _) | (_, Hardware::Mali400) => frame.to_vec(),
        (Pipe::Pp, Hardware::Mali450) => frame.to_vec(),
    }
}
