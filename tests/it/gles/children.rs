//! Programs that start programs, and servers shared by several programs.

use super::support::{driver, gles, program, server, text};
use skrymir::shim::Server;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// `tests/gles/child.c` for this machine.
fn native() -> PathBuf {
    super::support::native("child")
}

#[test]
fn every_way_to_start_a_program() {
    let arm = driver().map(|driver| program(driver, "child"));
    for program in [Some(native()), arm].into_iter().flatten() {
        let output = gles(&[], &program, &[]);
        let text = text(&output);
        assert!(
            output.status.success() && text.contains("47 checks, 0 failed"),
            "{program:?}: {text}"
        );
    }
}

#[test]
fn a_shell_starts_programs_of_both_machines() {
    let Some(driver) = driver() else { return };
    let (arm, native) = (program(driver, "child"), native());
    let script = format!(
        "{} probe 'two words' ''; echo $?; env -i {} probe 'two words' ''; echo $?; exit 9",
        arm.display(),
        native.display()
    );
    let output = gles(&[], Path::new("sh"), &["-c", &script]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "41\n41\n");
    assert_eq!(output.status.code(), Some(9), "{}", text(&output));
}

#[test]
fn a_program_for_another_machine_is_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("program");
    let mut head = b"\x7fELF\x01\x01\x01".to_vec();
    head.resize(16, 0);
    head.extend([2, 0, 40, 0]);
    std::fs::write(&path, &head).expect("a file");
    let output = gles(&[], &path, &[]);
    let text = text(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("is a program for 32-bit ARM"), "{text}");
}

#[test]
fn missing_files_are_reported() {
    // A program that fails, and whose file has an X11 string that looks like an import.
    let folder = tempfile::tempdir().expect("a folder");
    for (library, words) in [
        ("libX11.so.6", "linked with X11"),
        ("libvulkan.so.1", "linked with Vulkan"),
    ] {
        let program = folder.path().join(library);
        let mut bytes = std::fs::read("/bin/false").expect("a program that fails");
        bytes.extend(format!("\0{library}\0").bytes());
        std::fs::write(&program, bytes).expect("a file");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&program, mode).expect("it may run");
        let output = gles(&[], &program, &[]);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output).contains(words), "{}", text(&output));
    }
    let output = gles(&[], Path::new("false"), &[]);
    assert!(!text(&output).contains("linked with"), "{}", text(&output));
    let Some(driver) = driver() else { return };
    let output = gles(&[], &program(driver, "version"), &[]);
    assert_eq!(output.status.code(), Some(5), "{}", text(&output));
    assert!(
        text(&output).contains("wants OpenGL or OpenGL ES 3.0"),
        "{}",
        text(&output)
    );
}

#[test]
fn a_timeout_ends_a_program() {
    let output = gles(&["--timeout", "0.2"], Path::new("sleep"), &["60"]);
    assert_eq!(output.status.code(), Some(124), "{}", text(&output));
}

/// Whether the process whose number is in a file still runs.
fn runs(file: &Path) -> bool {
    let number = std::fs::read_to_string(file).expect("the number of a process");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", number.trim())).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

#[test]
fn a_timeout_ends_all_descendants() {
    let folder = tempfile::tempdir().expect("a folder");
    let names = ["child", "deaf", "orphan", "away"];
    // A child; one that ignores signals; an orphan; an orphan in its own session.
    let script = "cd \"$1\" && exec >/dev/null 2>&1 && rm -f child deaf orphan away
        sh -c 'echo $$ >child; exec sleep 77' &
        sh -c 'trap : TERM; echo $$ >deaf; while :; do sleep 0.1; done' &
        (sh -c 'echo $$ >orphan; exec sleep 77' &)
        (setsid sh -c 'echo $$ >away; exec sleep 77' &)
        while [ ! -s child ] || [ ! -s deaf ] || [ ! -s orphan ] || [ ! -s away ]; do sleep 0.01; done
        [ \"$2\" = wait ] || exit 5
        exec sleep 77";
    let place = folder.path().to_str().expect("a plain name");
    let run = |options: &[&str], wait: &str| gles(options, Path::new("sh"), &["-c", script, "sh", place, wait]);
    let output = run(&["--timeout", "3"], "wait");
    assert_eq!(output.status.code(), Some(124), "{}", text(&output));
    for name in names {
        assert!(!runs(&folder.path().join(name)), "{name} still runs");
    }
    // A program that ends by itself may leave others running, as in a shell.
    let output = run(&[], "");
    assert_eq!(output.status.code(), Some(5), "{}", text(&output));
    for name in names {
        let file = folder.path().join(name);
        assert!(runs(&file), "{name} was ended");
        let number = std::fs::read_to_string(&file).expect("its number");
        let killed = Command::new("kill").args(["-9", number.trim()]).status();
        assert!(killed.expect("kill runs").success());
    }
}

#[test]
fn a_failed_allocation_is_reported() {
    let native = super::support::native("device");
    let output = gles(&["--memory", "1"], &native, &[]);
    let text = text(&output);
    // The program asks for a heap of 16 MiB.
    assert!(text.contains("errno 12"), "{text}");
}

#[test]
fn programs_share_a_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("server");
    let (mut server, exports) = server(&place);
    // By the printed environment, and by name.
    let child = native();
    let probe = format!("{exports} exec {} probe 'two words' ''", child.display());
    let joined = Command::new("sh").args(["-c", &probe]).status().expect("a shell");
    assert_eq!(joined.code(), Some(41));
    let name = place.to_str().expect("a plain name");
    let output = gles(&["--join", name], &child, &["probe", "two words", ""]);
    assert_eq!(output.status.code(), Some(41), "{}", text(&output));
    // The list has the processes that have a device open.
    let hold = format!("{exports} exec bash -c 'exec 7<>/dev/dri/renderD128; read wait'");
    let mut holder = Command::new("bash")
        .args(["-c", &hold])
        .stdin(Stdio::piped())
        .spawn()
        .expect("a shell");
    let end = Instant::now() + Duration::from_secs(20);
    let listed = loop {
        let list = Server::list(&place).expect("a list");
        if !list.is_empty() || Instant::now() > end {
            break list;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(listed.len(), 1);
    let list = crate::cli::json::kept(
        "gles-list",
        &["gles", "--list", place.to_str().expect("a plain name"), "--json"],
    );
    assert_eq!(
        (list.as_array().map(Vec::len), &list[0]["name"]),
        (Some(1), &"bash".into())
    );
    assert_eq!((listed[0].process, listed[0].name.as_str()), (holder.id(), "bash"));
    drop(holder.stdin.take());
    holder.wait().expect("it ends");
    let status = Command::new("kill").arg(server.id().to_string()).status();
    assert!(status.expect("kill runs").success());
    assert!(server.wait().expect("it ends").success());
    assert!(!place.join("list").exists(), "its files are gone");
    let output = gles(&["--join", name], &child, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("no server runs in"), "{}", text(&output));
}
