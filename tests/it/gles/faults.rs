//! Killed servers and programs, many clients at once; nothing is left behind.

use super::support::{gles, native, server, text};
use skrymir::shim::Server;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn storm() -> PathBuf {
    native("storm")
}

/// A storm under a server's environment.
fn start(exports: &str, program: &Path, arguments: &str) -> Child {
    Command::new("sh")
        .args(["-c", &format!("{exports} exec {} {arguments}", program.display())])
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell")
}

/// Waits for a program with a timeout; returns its exit code and output.
fn ended(mut child: Child, limit: Duration) -> (Option<i32>, String) {
    let end = Instant::now() + limit;
    while child.try_wait().expect("a child").is_none() {
        if Instant::now() > end {
            let _ = child.kill();
            panic!("a program hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut said = String::new();
    child
        .stdout
        .take()
        .expect("its output")
        .read_to_string(&mut said)
        .expect("text");
    (child.wait().expect("a child").code(), said)
}

fn descriptors(process: u32) -> usize {
    std::fs::read_dir(format!("/proc/{process}/fd"))
        .expect("its descriptors")
        .count()
}

#[test]
fn sixty_four_clients_at_once() {
    let output = gles(&[], &storm(), &["64", "20"]);
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("64 right, 0 wrong"), "{}", text(&output));
}

#[test]
fn killed_clients_leave_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("server");
    let (mut server, exports) = server(&place);
    let program = storm();
    let before = descriptors(server.id());
    for _ in 0..10 {
        let (code, said) = ended(start(&exports, &program, "32 10 kill"), Duration::from_secs(120));
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("16 right, 0 wrong, 16 killed"), "{said}");
    }
    let end = Instant::now() + Duration::from_secs(20);
    while !Server::list(&place).expect("a list").is_empty() || descriptors(server.id()) > before {
        assert!(Instant::now() < end, "devices or descriptors are left");
        std::thread::sleep(Duration::from_millis(10));
    }
    server.kill().expect("it is killed");
    server.wait().expect("it ends");
}

/// Kilobytes that a process has in memory.
fn resident(process: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("its status");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("VmRSS");
    line.split_whitespace()
        .nth(1)
        .expect("a number")
        .parse()
        .expect("a number")
}

fn threads(process: u32) -> usize {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task"));
    tasks.expect("its threads").count()
}

#[test]
fn a_thousand_greedy_clients_leave_nothing_and_disturb_no_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("server");
    let (mut server, exports) = server(&place);
    let (greedy, storm) = (native("greedy"), storm());
    let process = server.id();
    let before = [descriptors(process), threads(process)];
    let is_idle = || Server::list(&place).expect("a list").is_empty();
    let settle = || {
        let end = Instant::now() + Duration::from_secs(20);
        let is_as_before = || descriptors(process) <= before[0] && threads(process) <= before[1];
        while !(is_idle() && is_as_before()) {
            let now = [descriptors(process), threads(process)];
            assert!(
                Instant::now() < end,
                "descriptors and threads: {before:?} before, {now:?} now"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    // The first clients warm the server's allocator up.
    let mut kilobytes = 0;
    for clients in [200, 800] {
        let others = start(&exports, &storm, "4 100");
        let (code, said) = ended(start(&exports, &greedy, &clients.to_string()), Duration::from_secs(300));
        assert_eq!(code, Some(0), "{said}");
        let (code, said) = ended(others, Duration::from_secs(300));
        assert_eq!(code, Some(0), "the other clients: {said}");
        settle();
        let now = resident(process);
        println!("{clients} clients: {now} KiB");
        assert!(
            kilobytes == 0 || now < kilobytes + kilobytes / 4 + 8192,
            "{kilobytes} KiB, then {now} KiB"
        );
        kilobytes = now;
    }
    server.kill().expect("it is killed");
    server.wait().expect("it ends");
}

#[test]
fn no_client_hangs_on_a_killed_server() {
    let program = storm();
    let mut gone = 0;
    for step in 0..25u64 {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("server");
        let (mut server, exports) = server(&place);
        let clients = start(&exports, &program, "8 1000000");
        // At any moment of any request: a round takes less than a millisecond.
        std::thread::sleep(Duration::from_micros(20_000 + step * 777));
        server.kill().expect("it is killed");
        server.wait().expect("it ends");
        let (code, said) = ended(clients, Duration::from_secs(60));
        assert_eq!(code, Some(3), "{said}");
        assert!(
            said.contains("0 right, 0 wrong, 0 killed, 8 without a server"),
            "{said}"
        );
        gone += 1;
        // Its remains do not prevent a new server in the folder.
        if step == 0 {
            let (mut next, _) = super::support::server(&place);
            next.kill().expect("it is killed");
            next.wait().expect("it ends");
        }
    }
    assert_eq!(gone, 25);
}

/// Sends a process a signal by its name.
fn signal(process: u32, name: &str) {
    let sent = Command::new("kill").args([name, &process.to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

#[test]
fn full_sockets_lose_no_message() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server, exports) = server(&folder.path().join("server"));
    let program = storm();
    let mut crowd = Command::new("sh")
        .args(["-c", &format!("{exports} exec {} 600 3 crowd", program.display())])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut said = BufReader::new(crowd.stdout.take().expect("its output"));
    let mut line = String::new();
    said.read_line(&mut line).expect("text");
    assert_eq!(line, "open\n");
    // A stopped server reads nothing: one device's requests fill its socket, and more connections arrive than its
    // backlog holds.
    signal(server.id(), "-STOP");
    crowd
        .stdin
        .take()
        .expect("its input")
        .write_all(b"\n")
        .expect("it reads");
    let many = start(&exports, &program, "100 2");
    line.clear();
    said.read_line(&mut line).expect("text");
    assert_eq!(line, "full\n");
    signal(server.id(), "-CONT");
    let (code, many) = ended(many, Duration::from_secs(120));
    assert_eq!(code, Some(0), "{many}");
    assert!(many.contains("100 right, 0 wrong"), "{many}");
    crowd.stdout = Some(said.into_inner());
    let (code, crowd) = ended(crowd, Duration::from_secs(120));
    assert_eq!(code, Some(0), "{crowd}");
    assert_eq!(crowd, "600 threads right\n");
}
