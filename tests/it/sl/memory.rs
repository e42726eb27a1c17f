//! An S₀ program runs any number of steps in constant memory. It has a process of its own, to measure the process'
//! memory.

use loader::sl;
use skrymir::s0::{ErrorKind, Host};

#[test]
fn memory_is_flat_over_many_steps() {
    let alone = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "sl::memory::alone_in_its_process",
            "--ignored",
            "--nocapture",
        ])
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&alone.stdout);
    assert!(alone.status.success() && output.contains("more resident"), "{output}");
}

#[test]
#[ignore = "started by the test above: memory is the process's"]
fn alone_in_its_process() {
    let library = sl::parse_in(include_str!("../../data/sl/errors/fuel.s0"), "fuel.s0").unwrap();
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/statm").unwrap();
        status.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
    };
    let mut host = Host::new(&library).with_fuel(1_000);
    host.run(b"fuel").unwrap_err();
    let before = resident();
    let steps = 20_000_000;
    let mut host = Host::new(&library).with_fuel(steps);
    assert_eq!(host.run(b"fuel").unwrap_err().kind(), ErrorKind::Fuel);
    let grown = resident().saturating_sub(before);
    println!("{steps} invocations: {grown} bytes more resident");
    assert!(grown < 4 << 20, "{grown} bytes more");
}
