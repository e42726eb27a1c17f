//! The display's pictures as a video stream.

use shim::{Shown, Sink};
use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Writes the pictures as a stream of video (YUV4MPEG2) for `ffmpeg` and players.
pub fn video<W: Write + Send + 'static>(to: W, rate: u32) -> Box<Sink> {
    let (to, failed) = (Mutex::new((to, false)), AtomicBool::new(false));
    Box::new(move |shown: &Shown| {
        let Ok(mut to) = to.lock() else { return };
        let (to, begun) = &mut *to;
        let write = if failed.load(Ordering::Relaxed) {
            Ok(())
        } else {
            frame(to, begun, shown, rate)
        };
        if let Err(error) = write {
            failed.store(true, Ordering::Relaxed);
            // A player that was closed is no error.
            if error.kind() != io::ErrorKind::BrokenPipe {
                log::error!("cannot write the video: {error}");
            }
        }
    })
}

fn frame(to: &mut impl Write, begun: &mut bool, shown: &Shown, rate: u32) -> io::Result<()> {
    if !std::mem::replace(begun, true) {
        let (width, height, rate) = (shown.width, shown.height, rate.max(1));
        writeln!(to, "YUV4MPEG2 W{width} H{height} F{rate}:1 Ip A1:1 C444")?;
    }
    let mut planes = [const { Vec::new() }; 3];
    for pixel in shown.rgba.chunks_exact(4) {
        for (plane, value) in planes.iter_mut().zip(yuv([pixel[0], pixel[1], pixel[2]])) {
            plane.push(value);
        }
    }
    to.write_all(b"FRAME\n")?;
    planes.iter().try_for_each(|plane| to.write_all(plane))?;
    to.flush()
}

/// A colour as BT.601 has it, in the narrow range.
fn yuv(color: [u8; 3]) -> [u8; 3] {
    let [red, green, blue] = color.map(i32::from);
    let sum = |a: i32, b: i32, c: i32, base: i32| ((a * red + b * green + c * blue + 128) >> 8) + base;
    [sum(66, 129, 25, 16), sum(-38, -74, 112, 128), sum(112, -94, -18, 128)].map(|value| value as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no panic").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_stream_has_a_head_and_frames() {
        let out = Shared::default();
        let sink = video(out.clone(), 30);
        for number in 0..2 {
            let rgba = [[255, 255, 255, 255], [0, 0, 0, 255]].concat();
            sink(&Shown {
                number,
                width: 2,
                height: 1,
                rgba,
            });
        }
        let bytes = out.0.lock().expect("no panic").clone();
        let frame = b"FRAME\n\xeb\x10\x80\x80\x80\x80";
        assert_eq!(
            bytes,
            [&b"YUV4MPEG2 W2 H1 F30:1 Ip A1:1 C444\n"[..], frame, frame].concat()
        );
    }
}
