//! Lifted pairs draw on a Vulkan device what they draw on the emulator.

use super::pairs;
use crate::common;
use emulator::driver::{self, Draw};
use emulator::exec::scalar::Scalar;
use emulator::gpu::Gpu;
use skrymir::lifted;
use skrymir::picture::Picture;

/// Share of pixels of which a channel is more than two off.
fn off(a: &Picture, b: &Picture) -> f64 {
    assert_eq!((a.width, a.height), (b.width, b.height));
    let differs = |(a, b): (&[u8], &[u8])| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > 2);
    let count = a
        .rgba
        .chunks(4)
        .zip(b.rgba.chunks(4))
        .filter(|pair| differs(*pair))
        .count();
    count as f64 / f64::from(a.width * a.height)
}

fn emulated(draw: &Draw<'_>) -> Picture {
    let picture = driver::draw(&mut Gpu::new(Box::new(Scalar)), draw).unwrap();
    Picture {
        width: picture.width,
        height: picture.height,
        rgba: picture.rgba,
    }
}

#[test]
fn pairs_of_our_own_look_the_same_on_vulkan() {
    let context = common::context();
    let mut before: Option<Picture> = None;
    let mut count = 0;
    pairs::all(|name, draw| {
        let want = emulated(draw);
        for exact in [true, false] {
            let have = lifted::run(context, draw, exact).unwrap_or_else(|error| panic!("{name}: {error:#}"));
            let off = off(&have, &want);
            println!(
                "{name}, {}: {:.2} % of pixels off",
                if exact { "exact" } else { "plain" },
                off * 100.0
            );
            assert!(off <= 0.005, "{name}");
        }
        // Negative control: another pair's picture is not within tolerance.
        if let Some(before) = before.replace(want.clone()) {
            assert!(off(&before, &want) > 0.05, "{name} is like the pair before");
        }
        count += 1;
    });
    println!("{count} pairs, exact and plain");
}
