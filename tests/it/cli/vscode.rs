//! The VS Code extension (emulator/inspect/vscode): it packs into a file that editors install, and launches what it says.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("emulator/inspect/vscode")
}

/// The extension's description of itself.
fn about() -> Value {
    serde_json::from_slice(&std::fs::read(folder().join("package.json")).unwrap()).unwrap()
}

fn names(of: &Value, key: &str) -> BTreeSet<String> {
    let all = of.as_array().unwrap().iter();
    all.map(|one| one[key].as_str().unwrap().to_owned()).collect()
}

#[test]
fn breakpoints_and_debuggers_are_for_declared_languages() {
    let about = about();
    assert_eq!(about["version"], env!("CARGO_PKG_VERSION"));
    let contributed = &about["contributes"];
    let languages = names(&contributed["languages"], "id");
    assert_eq!(names(&contributed["breakpoints"], "language"), languages);
    let debugger = &contributed["debuggers"][0];
    let debugged: BTreeSet<String> = debugger["languages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_str().unwrap().to_owned())
        .collect();
    assert_eq!(debugged, languages);
    // The help of the command names every attribute of a launch, except the editor's own.
    let help = Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(["dap", "--help"])
        .output()
        .unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let attributes = debugger["configurationAttributes"]["launch"]["properties"]
        .as_object()
        .unwrap();
    assert!(attributes.len() > 8);
    for attribute in attributes.keys() {
        assert!(help.contains(attribute.as_str()), "{attribute}: {help}");
    }
}

/// The file has what editors look for, and the same bytes every time.
#[test]
fn it_packs_into_a_file() {
    if which::which("python3").is_err() || which::which("bash").is_err() {
        println!("skipped: no Python or no bash here");
        return;
    }
    let work = tempfile::tempdir().unwrap();
    let packed = |name: &str| {
        let into = work.path().join(name);
        std::fs::create_dir(&into).unwrap();
        let done = Command::new("bash")
            .arg(folder().join("pack.sh"))
            .arg(&into)
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let path = PathBuf::from(String::from_utf8(done.stdout).unwrap().trim());
        assert_eq!(
            path.file_name().unwrap(),
            format!("skrymir-{}.vsix", about()["version"].as_str().unwrap()).as_str()
        );
        path
    };
    let (first, second) = (packed("a"), packed("b"));
    assert_eq!(std::fs::read(&first).unwrap(), std::fs::read(&second).unwrap());
    let listed = Command::new("python3")
        .args(["-m", "zipfile", "-l"])
        .arg(&first)
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    for name in [
        "[Content_Types].xml",
        "extension.vsixmanifest",
        "extension/package.json",
        "extension/extension.js",
    ] {
        assert!(listed.contains(name), "{name}: {listed}");
    }
}

/// The script starts the command, and pairs a shader with its neighbour.
#[test]
fn it_launches_the_current_file() {
    if which::which("node").is_err() {
        println!("skipped: no Node here");
        return;
    }
    let script = "
const module_ = require('module'), load = module_._load;
const registered = {};
let path = process.execPath;
const vscode = {
  window: { activeTextEditor: { document: { uri: { scheme: 'file', fsPath: '/a/x.frag' } } } },
  workspace: { getConfiguration: () => ({ get: () => path }) },
  debug: {
    registerDebugConfigurationProvider: (type, provider) => { registered.provider = provider; },
    registerDebugAdapterDescriptorFactory: (type, factory) => { registered.factory = factory; },
  },
  DebugAdapterExecutable: class { constructor(command, args) { Object.assign(this, { command, args }); } },
};
module_._load = (name, ...more) => name === 'vscode' ? vscode : load(name, ...more);
const { activate, launchOf } = require(process.argv[1]);
activate({ subscriptions: [] });
const there = (file) => file === '/a/x.vert';
registered.provider.resolveDebugConfiguration(undefined, { program: 'job.trace' }).then((kept) => console.log(JSON.stringify([
  launchOf('/a/x.frag', there), launchOf('/a/x.frag', () => false) ?? null, launchOf('/a/both.wgsl', there), kept,
  registered.factory.createDebugAdapterDescriptor({}), refused(),
])));
function refused() {
  path = '/no/such/skrymir';
  try { return registered.factory.createDebugAdapterDescriptor({}); } catch (error) { return error.message; }
}
";
    let done = Command::new("node")
        .args(["-e", script])
        .arg(folder().join("extension.js"))
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let answers: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(answers[0]["fragment"], "/a/x.frag");
    assert_eq!(answers[0]["vertex"], "/a/x.vert");
    assert!(answers[1].is_null(), "a shader without a neighbour");
    assert_eq!(answers[2]["program"], "/a/both.wgsl");
    assert_eq!(answers[3], serde_json::json!({ "program": "job.trace" }));
    assert_eq!(answers[4]["args"], serde_json::json!(["dap"]));
    let refused = answers[5].as_str().expect("a command that does not start is an error");
    let named = ["/no/such/skrymir", "ENOENT", "skrymir.path"];
    assert!(named.iter().all(|name| refused.contains(name)), "{refused}");
}
