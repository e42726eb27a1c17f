//! Invocations per second of the S₀ host: a tight loop of two blocks without globs, on one core.
//!
//! `cargo bench --bench sl`; with `-- --steps N` it runs N steps and prints the resident memory before and after them.
#![allow(missing_docs)]

use skrymir::s0::Host;
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let steps = arguments
        .iter()
        .position(|argument| argument == "--steps")
        .and_then(|at| arguments.get(at + 1)?.parse().ok());
    let steps = steps.unwrap_or(100_000_000u64);
    let text = include_str!("../tests/data/sl/errors/fuel.s0");
    let library = loader::sl::parse_in(text, "fuel.s0").expect("the sample parses");
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
        status
            .split(' ')
            .nth(1)
            .and_then(|pages| pages.parse::<u64>().ok())
            .unwrap_or(0)
            * 4
    };
    let before = resident();
    let mut host = Host::new(&library).with_fuel(steps);
    let start = Instant::now();
    let end = host.run(b"fuel").expect_err("the loop has no end");
    let rate = host.invocations() as f64 / start.elapsed().as_secs_f64() / 1e6;
    println!("{end}");
    println!(
        "two blocks: {rate:.1} million invocations a second; resident {before} KiB before, {} KiB behind",
        resident()
    );
}
