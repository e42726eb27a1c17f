//! The page in a real browser, opened from disk: every feature by clicks and keys.
//!
//! `bash docs/page/build.sh` makes it. Where it is not made the tests say so, and fail with `SKRYMIR_NEED_PAGE=1`.

use super::broken;
use super::door::{drawn, examples, said, skrymir, written};
use crate::common;
use crate::mali::devtools::Browser;
use serde_json::{Value, json};
use skrymir::picture::Picture;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Without the page the tests fail when this is set.
const NEED: &str = "SKRYMIR_NEED_PAGE";

/// Where screenshots are left, to be looked at.
const SCREENSHOTS: &str = "target/page/screenshots";

/// The page, where it has been built.
fn page() -> Option<PathBuf> {
    let path = common::root().join("target/page/index.html");
    if path.is_file() {
        return Some(path);
    }
    assert!(
        std::env::var_os(NEED).is_none(),
        "{} is not there, and {NEED} is set",
        path.display()
    );
    println!("skipped: the page is not built (bash docs/page/build.sh)");
    None
}

/// A recording of our own.
pub(super) fn recording() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let (_, texts, scene) = examples().swap_remove(1);
    let mut arguments = written(folder.path(), &texts, &scene);
    arguments.extend(["--size", "64x64", "--record", "job.trace"]);
    let output = skrymir(folder.path(), &arguments);
    assert!(output.status.success(), "{}", said(&output));
    std::fs::read(folder.path().join("job.trace")).unwrap()
}

/// A visitor of the page.
struct Visit {
    browser: Browser,
    url: String,
}

impl Visit {
    fn start() -> Option<Self> {
        let page = page()?;
        let mut visit = Self {
            browser: Browser::start()?,
            url: format!("file://{}", page.display()),
        };
        visit.browser.resize(1400, 1000);
        visit.go("");
        Some(visit)
    }

    /// Opens the page with a hash, and waits for its first picture.
    fn go(&mut self, hash: &str) {
        self.browser.go(&format!("{}{hash}", self.url));
        self.rest();
    }

    /// Waits until everything that was written is drawn, or refused.
    fn rest(&mut self) {
        self.browser.wait(
            "document.documentElement.dataset.edit !== undefined && document.documentElement.dataset.asked === document.documentElement.dataset.edit",
        );
    }

    fn ask(&mut self, expression: &str) -> Value {
        self.browser.ask(expression)
    }

    fn text(&mut self, expression: &str) -> String {
        self.ask(expression).as_str().unwrap_or_default().to_owned()
    }

    /// Clicks in the middle of an element.
    fn click(&mut self, selector: &str) {
        let [x, y] = self.middle(selector);
        self.browser.click(x, y);
    }

    fn middle(&mut self, selector: &str) -> [f64; 2] {
        let at = self.ask(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView({{ block: 'center' }}); \
             const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; }})()"
        ));
        [0, 1].map(|axis| at[axis].as_f64().expect("an element"))
    }

    /// Chooses an option of a list by its words.
    fn choose(&mut self, selector: &str, option: &str) {
        let found = self.ask(&format!(
            "(() => {{ const s = document.querySelector({selector:?}); const at = [...s.options].findIndex((o) => o.text === {option:?}); \
             s.selectedIndex = at; s.dispatchEvent(new Event('change')); return at; }})()"
        ));
        assert!(found.as_i64() >= Some(0), "{selector} has no {option}");
    }

    /// Clicks, and returns the bytes of the file that this saves.
    fn saved(&mut self, selector: &str, name: &str) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        self.browser.download_to(folder.path());
        self.click(selector);
        let path = folder.path().join(name);
        let start = Instant::now();
        while !path.is_file() {
            let problem =
                self.text("[...document.querySelectorAll('[role=alert]')].map((e) => e.textContent).join('')");
            let have: Vec<_> = common::files(folder.path(), "");
            assert!(
                start.elapsed() < Duration::from_secs(20),
                "{name} is not saved: {have:?} {problem}"
            );
            std::thread::sleep(Duration::from_millis(20));
            self.ask("0");
        }
        std::fs::read(path).unwrap()
    }

    /// Drops a file in the middle of the window, and waits until it is open.
    fn drop(&mut self, path: &std::path::Path) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let at = self.ask("document.getElementById('opened').replaceChildren() ?? [innerWidth / 2, innerHeight / 2]");
        self.browser
            .drop_file(at[0].as_f64().unwrap(), at[1].as_f64().unwrap(), path);
        self.browser.wait(&format!(
            "document.querySelector('#opened h2')?.textContent.startsWith({name:?})"
        ));
    }

    /// Puts the caret at the end of the editor's text, by a click and a key.
    fn end_of_text(&mut self) {
        // The text itself may be longer than the window.
        self.click("#editor .cm-scroller");
        assert_eq!(self.ask("document.activeElement.matches('#editor .cm-content')"), true);
        let params = |kind: &str| json!({ "type": kind, "key": "End", "code": "End", "windowsVirtualKeyCode": 35, "modifiers": 2 });
        for kind in ["rawKeyDown", "keyUp"] {
            self.browser.call("Input.dispatchKeyEvent", params(kind));
        }
    }

    /// Presses a key with Ctrl.
    fn press_with_ctrl(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let params = json!({ "type": kind, "key": key, "code": format!("Key{}", key.to_uppercase()), "windowsVirtualKeyCode": code, "modifiers": 2 });
            self.browser.call("Input.dispatchKeyEvent", params);
        }
    }

    /// The picture on the page.
    fn picture(&mut self) -> Picture {
        self.rest();
        let answer = self.ask(
            "(() => { const c = document.getElementById('canvas'); \
             const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let t = ''; \
             for (let at = 0; at < d.length; at += 8192) t += String.fromCharCode(...d.subarray(at, at + 8192)); \
             return [c.width, c.height, btoa(t)]; })()",
        );
        use base64::Engine;
        let rgba = base64::prelude::BASE64_STANDARD
            .decode(answer[2].as_str().unwrap())
            .unwrap();
        Picture {
            width: answer[0].as_u64().unwrap() as u32,
            height: answer[1].as_u64().unwrap() as u32,
            rgba,
        }
    }

    /// Waits until an expression is true in the inspector's frame.
    fn wait_frame(&mut self, expression: &str) {
        let start = Instant::now();
        while self.browser.ask_frame(expression) != true {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "never true in the frame: {expression}"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Leaves a screenshot of the whole page.
    fn screenshot(&mut self, name: &str) {
        self.ask("scrollTo(0, 0)");
        std::thread::sleep(Duration::from_millis(150));
        let size = self.ask("[innerWidth, Math.min(4000, document.documentElement.scrollHeight)]");
        let area = [0.0, 0.0, size[0].as_f64().unwrap(), size[1].as_f64().unwrap()];
        let bytes = self.browser.screenshot(area);
        let folder = common::root().join(SCREENSHOTS);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{name}.png")), bytes).unwrap();
    }

    /// The console has no error, and no request was made.
    fn end(self) {
        assert_eq!(self.browser.complaints, Vec::<String>::new(), "the browser's console");
        let local = |url: &&String| {
            !["file:", "blob:", "data:", "about:"]
                .iter()
                .any(|scheme| url.starts_with(scheme))
        };
        let asked: Vec<_> = self.browser.requests.iter().filter(local).collect();
        assert_eq!(asked, Vec::<&String>::new(), "addresses that were asked for");
        assert!(
            !self.browser.requests.is_empty(),
            "the control: the page itself is a request"
        );
    }
}

/// The picture that the command draws with more said in the scene.
fn wanted(texts: &[(&'static str, String)], scene: &str, more: &str) -> Picture {
    let folder = tempfile::tempdir().unwrap();
    drawn(folder.path(), texts, &format!("{scene}\n{more}"))
}

#[test]
fn examples_are_drawn_as_the_command_draws_them() {
    let Some(mut visit) = Visit::start() else { return };
    for (title, texts, scene) in examples() {
        visit.choose("#example", title);
        let have = visit.picture();
        let want = wanted(&texts, &scene, "");
        assert_eq!(
            visit.text("document.getElementById('refusal').textContent"),
            "",
            "{title}"
        );
        assert!(have == want, "{title}: another picture");
        // The listing has a row for each instruction, and costs stand beside the source.
        let rows = visit
            .ask("document.querySelectorAll('#listing tbody tr').length")
            .as_u64()
            .unwrap();
        let figures = visit.text("document.getElementById('figures').textContent");
        assert!(
            rows > 0 && figures.starts_with(&format!("{rows} instructions")),
            "{title}: {rows}: {figures}"
        );
        assert!(
            visit
                .ask("document.querySelectorAll('.cm-costs .cost').length")
                .as_u64()
                > Some(0),
            "{title}"
        );
        assert!(
            visit
                .ask("document.querySelectorAll('#listing thead th').length")
                .as_u64()
                > Some(3),
            "{title}"
        );
    }
    // The control: two examples are not the same picture.
    let have = visit.picture();
    visit.choose("#example", "Triangle (Mali assembly)");
    assert!(visit.picture() != have);
    visit.end();
}

#[test]
fn keys_change_the_picture_and_errors_stand_at_their_line() {
    let Some(mut visit) = Visit::start() else { return };
    let (_, texts, scene) = examples().swap_remove(0);
    let before = visit.picture();
    visit.end_of_text();
    visit.browser.type_text("\nvec3 unused() { return vec3(1.0) }");
    visit.rest();
    let refusal = visit.text("document.getElementById('refusal').textContent");
    let line = visit.ask(
        "[...document.querySelectorAll('#editor .cm-line')].findIndex((line) => line.textContent.includes('unused'))",
    );
    let line = line.as_i64().unwrap() + 1;
    assert!(
        line > 5 && refusal.contains(&format!("shader.frag:{line}:")),
        "{line}: {refusal}"
    );
    visit
        .browser
        .wait("document.querySelectorAll('.cm-lint-marker-error').length === 1");
    assert!(visit.picture() == before, "what was drawn stays");
    // Undone by keys, it is drawn again.
    while !visit.text("document.getElementById('refusal').textContent").is_empty() {
        visit.press_with_ctrl("z", 90);
        visit.rest();
    }
    visit
        .browser
        .wait("document.querySelectorAll('.cm-lint-marker-error').length === 0");
    // The scene is a text too.
    visit.click("#text-2");
    visit.end_of_text();
    visit.browser.type_text("\n[uniform]\nscale = 0.5\n");
    assert!(visit.picture() == wanted(&texts, &scene, "[uniform]\nscale = 0.5\n"));
    visit.browser.type_text("nothing = 3\n");
    visit.rest();
    let refusal = visit.text("document.getElementById('refusal').textContent");
    assert!(refusal.contains("no uniform member \"nothing\""), "{refusal}");
    // Tab leaves the editor.
    visit.browser.press("Tab", 9);
    assert_eq!(visit.ask("!!document.activeElement.closest('.cm-editor')"), false);
    visit.end();
}

#[test]
fn sliders_time_and_textures_reach_the_shader() {
    let Some(mut visit) = Visit::start() else { return };
    let (title, texts, scene) = examples().swap_remove(1);
    visit.choose("#example", title);
    visit.rest();
    // A slider by keys.
    visit.ask("document.querySelector('[data-name=shine] input[type=range]').focus()");
    for _ in 0..40 {
        visit.browser.press("ArrowLeft", 37);
    }
    let shine = visit.ask("document.querySelector('[data-name=shine] input[type=range]').valueAsNumber");
    let shine = shine.as_f64().unwrap();
    assert!(shine < 0.95, "{shine}");
    visit.browser.wait("document.documentElement.dataset.pictures > 1");
    std::thread::sleep(Duration::from_millis(300));
    assert!(visit.picture() == wanted(&texts, &scene, &format!("[uniform]\nshine = {shine:?}\n")));
    // A texture by dropping an image.
    let (title, texts, scene) = examples().swap_remove(2);
    visit.choose("#example", title);
    let plain = visit.picture();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stone.png");
    let stone = Picture {
        width: 16,
        height: 16,
        rgba: (0..16u32 * 16)
            .flat_map(|at| [(at * 7) as u8, (at * 3) as u8, at as u8, 255])
            .collect(),
    };
    std::fs::write(&path, stone.to_png().unwrap()).unwrap();
    let [x, y] = visit.middle(".texture");
    visit.browser.drop_file(x, y, &path);
    visit
        .browser
        .wait("document.querySelector('.texture .quiet').textContent === 'stone.png'");
    std::thread::sleep(Duration::from_millis(300));
    let textured = visit.picture();
    assert!(textured != plain);
    let more = format!("[slots.stone]\nimage = {:?}\n", path.to_str().unwrap());
    assert!(textured == wanted(&texts, &scene, &more));
    // Time runs, and stands where it is set.
    visit.click("#run");
    visit
        .browser
        .wait("Number(document.getElementById('time').value) > 0.3");
    visit.click("#run");
    visit.ask(
        "(() => { const t = document.getElementById('time'); t.value = 2.5; t.dispatchEvent(new Event('input')); })()",
    );
    std::thread::sleep(Duration::from_millis(300));
    assert!(visit.picture() == wanted(&texts, &scene, &format!("{more}[uniform]\ntime = 2.5\n")));
    visit.end();
}

#[test]
fn a_pixel_is_stepped_through_forward_and_back() {
    let Some(mut visit) = Visit::start() else { return };
    let (title, texts, scene) = examples().swap_remove(1);
    visit.choose("#example", title);
    visit.rest();
    let at = visit.ask(
        "(() => { const c = document.getElementById('canvas'); c.scrollIntoView({ block: 'center' }); \
         const b = c.getBoundingClientRect(); return [b.left + 100.5 * b.width / c.width, b.top + 80.5 * b.height / c.height]; })()",
    );
    visit.browser.click(at[0].as_f64().unwrap(), at[1].as_f64().unwrap());
    visit
        .browser
        .wait("document.querySelector('#stepper h2')?.textContent === 'Pixel 100, 80'");
    // What the command tells of that pixel.
    let folder = tempfile::tempdir().unwrap();
    let mut arguments = written(folder.path(), &texts, &scene);
    arguments.extend(["--watch-pixel", "100,80", "--json"]);
    let answer: Value = serde_json::from_slice(&skrymir(folder.path(), &arguments).stdout).unwrap();
    let steps = answer["pixel"]["fragments"][0]["steps"].as_array().unwrap().clone();
    assert!(steps.len() > 3);
    let shown = "document.querySelector('#stepper pre').textContent";
    for (number, step) in steps.iter().enumerate() {
        assert_eq!(visit.ask(shown), step["text"], "step {number}");
        let here = visit.ask("document.querySelector('#listing tr.here')?.dataset.address");
        assert_eq!(
            here.as_str().unwrap().parse::<u64>().ok(),
            step["address"].as_u64(),
            "step {number}"
        );
        visit.click("#stepper button[aria-label='Next instruction']");
    }
    visit.screenshot("stepper-1400");
    assert!(
        visit
            .text("document.getElementById('stepper').textContent")
            .contains("The program ends.")
    );
    assert!(
        visit
            .ask("document.querySelectorAll('#stepper .registers tbody tr').length")
            .as_u64()
            > Some(0)
    );
    // Back, by keys on the slider.
    visit.ask("document.querySelector('#stepper input[type=range]').focus()");
    visit.browser.press("ArrowLeft", 37);
    assert_eq!(visit.ask(shown), steps[steps.len() - 2]["text"]);
    visit.browser.press("Home", 36);
    assert_eq!(visit.ask(shown), steps[0]["text"]);
    // The colour beside the picture is the pixel's, and keys go to the next.
    let picture = visit.picture();
    let color = |x, y| picture.at(x, y).map(|byte: u8| byte.to_string()).join(" ");
    assert_eq!(visit.text("document.getElementById('color').value"), color(100, 80));
    visit.ask("document.getElementById('canvas').focus()");
    visit.browser.press("ArrowDown", 40);
    assert_eq!(visit.text("document.getElementById('color').value"), color(100, 81));
    visit.browser.press("Enter", 13);
    visit
        .browser
        .wait("document.querySelector('#stepper h2').textContent === 'Pixel 100, 81'");
    visit.click("#stepper .close");
    assert_eq!(visit.ask("document.getElementById('stepper').hidden"), true);
    visit.end();
}

#[test]
fn a_link_holds_the_texts() {
    let Some(mut visit) = Visit::start() else { return };
    visit.end_of_text();
    visit.browser.type_text("\n// ünï\n");
    visit.ask("(() => { const s = document.querySelector('[data-name=scale] input[type=number]'); s.value = 0.25; s.dispatchEvent(new Event('input')); })()");
    std::thread::sleep(Duration::from_millis(300));
    let before = visit.picture();
    visit.click("#share");
    visit.browser.wait("location.hash.startsWith('#s=')");
    let hash = visit.text("location.hash");
    visit.go("");
    assert!(visit.picture() != before, "the control");
    visit.go(&hash);
    assert!(visit.picture() == before);
    assert!(
        visit
            .text("document.querySelector('#editor .cm-content').textContent")
            .contains("// ünï")
    );
    // Links that are none are said to be so, and the page is there.
    for wrong in ["#s=AAAA", "#s=_", "#s=q1YqSy1SslJKyy_KTFWqBQA"] {
        visit.go(wrong);
        assert!(
            visit
                .text("document.getElementById('status').textContent")
                .contains("cannot be read"),
            "{wrong}"
        );
    }
    visit.end();
}

#[test]
fn a_source_goes_to_the_editor() {
    let Some(mut visit) = Visit::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    visit.drop(&common::data("vbc/textured.vbc"));
    let names = names(&mut visit, "files");
    println!("files: {names} named elements");
    let path = folder.path().join("red.frag");
    std::fs::write(&path, "void main() { gl_FragColor = vec4(1.0, 0.0, 0.0, 1.0); }").unwrap();
    visit.browser.drop_file(700.0, 500.0, &path);
    visit.browser.wait("!document.getElementById('shaders').hidden");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(visit.picture().at(128, 128), [255, 0, 0, 255]);
    visit.end();
}

/// A file to drop, and what its text is edited to.
struct Dropped {
    name: &'static str,
    bytes: Vec<u8>,
    /// A stage of a VBC.
    stage: Option<&'static str>,
    /// Whether it can be converted to WGSL.
    wgsl: bool,
    /// The extension of its text, and a part of the text with what replaces it, if it can be assembled.
    edit: Option<(&'static str, &'static str, &'static str)>,
}

/// A file of each format.
fn all_formats(folder: &std::path::Path) -> Vec<Dropped> {
    let made = |arguments: &[&str], name: &str| {
        let output = skrymir(folder, arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        std::fs::read(folder.join(name)).unwrap()
    };
    let (_, texts, scene) = examples().swap_remove(1);
    written(folder, &texts, &scene);
    let hello = common::data("sl/hello.s0");
    vec![
        Dropped {
            name: "textured.vbc",
            bytes: std::fs::read(common::data("vbc/textured.vbc")).unwrap(),
            stage: Some("frag"),
            wgsl: true,
            edit: Some(("spvasm", "OpReturn", "OpNop\nOpReturn")),
        },
        Dropped {
            name: "tint.spv",
            bytes: std::fs::read(common::data("vbc/stages/tint.frag.spv")).unwrap(),
            stage: None,
            wgsl: true,
            edit: Some(("spvasm", "OpReturn", "OpNop\nOpReturn")),
        },
        Dropped {
            name: "lamp.mbs",
            bytes: made(&["compile", "shader.frag", "-o", "lamp.mbs"], "lamp.mbs"),
            stage: None,
            wgsl: true,
            edit: Some(("s", "stop", "sync, stop")),
        },
        Dropped {
            name: "effect.sksl",
            bytes: loader::sksl::write(&crate::sksl::samples::effect()).unwrap(),
            stage: None,
            wgsl: true,
            edit: None,
        },
        Dropped {
            name: "hello.sl",
            bytes: made(&["as", hello.to_str().unwrap(), "-o", "hello.sl"], "hello.sl"),
            stage: None,
            wgsl: false,
            edit: Some(("s0", "hello, world", "hello, page")),
        },
        Dropped {
            name: "job.trace",
            bytes: recording(),
            stage: None,
            wgsl: false,
            edit: None,
        },
    ]
}

/// A file of each format is dropped: what each verb says is the command's, and its text comes back, changed or not.
#[test]
fn every_format_is_dropped_edited_and_saved() {
    let Some(mut visit) = Visit::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for Dropped {
        name,
        bytes,
        stage,
        wgsl,
        edit,
    } in all_formats(folder)
    {
        let command = |arguments: &[&str]| {
            let stage = stage.iter().flat_map(|stage| ["--stage", stage]);
            let arguments: Vec<&str> = arguments.iter().copied().chain(stage).collect();
            let output = skrymir(folder, &arguments);
            assert!(output.status.success(), "{arguments:?}: {}", said(&output));
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let [info, check] = broken::answer(folder, name, &bytes);
        visit.drop(&folder.join(name));
        let verb = |verb: &str| format!("document.querySelector('#opened [data-verb={verb}] pre').textContent");
        assert_eq!(visit.text(&verb("info")), info, "{name}");
        assert_eq!(of_page(&visit.text(&verb("check"))), of_page(&check), "{name}");
        assert!(info.len() > 50 && check.len() > 10, "{name}: {info} {check}");
        visit.screenshot(&format!("file-{}-1400", name.split('.').next_back().unwrap()));

        // Into another language.
        assert_eq!(
            visit.ask("!!document.querySelector('[data-verb=convert]')"),
            wgsl,
            "{name}"
        );
        if wgsl {
            visit.choose("#opened [aria-label='Language to write']", "WGSL");
            if let Some(stage) = stage {
                visit.choose("#opened [aria-label='Stage to convert']", stage);
            }
            visit.click("[data-do=convert]");
            let done = "document.querySelector('[data-verb=convert] pre').textContent.includes('fn main')";
            visit.browser.wait(done);
            let wanted = command(&["convert", name, "--to", "wgsl"]);
            assert_eq!(visit.text(&verb("convert")), wanted, "{name}");
            let saved = visit.saved("[data-do=save]", &format!("{name}.wgsl"));
            assert_eq!(String::from_utf8_lossy(&saved), wanted, "{name}");
        }

        // To text.
        let has_text = name != "job.trace";
        assert_eq!(
            visit.ask("!!document.querySelector('[data-verb=dis]')"),
            has_text,
            "{name}"
        );
        if !has_text {
            visit.wait_frame("!!document.querySelector('.job.shown')");
            continue;
        }
        if let Some(stage) = stage {
            visit.choose("#opened [aria-label='Stage']", stage);
        }
        visit
            .browser
            .wait("!!document.querySelector('#opened .editor .cm-content')");
        // The text of another stage may still be shown.
        std::thread::sleep(Duration::from_millis(200));
        let text = command(&["dis", name]);
        let stem = name.split('.').next().unwrap();
        let extension = edit.map_or("txt", |edit| edit.0);
        let kept = visit.saved("[data-do=save-text]", &format!("{stem}.{extension}"));
        assert_eq!(String::from_utf8_lossy(&kept), text, "{name}");
        assert_eq!(
            visit.ask("!!document.querySelector('[data-do=assemble]')"),
            edit.is_some(),
            "{name}"
        );
        let Some((_, from, to)) = edit else { continue };

        // And back, first as it is, then changed.
        let suffix = name.split('.').next_back().unwrap();
        let saved = visit.saved("[data-do=assemble]", name);
        let status = visit.text("document.getElementById('status').textContent");
        assert_eq!(
            status == "Assembled: the same bytes as the file",
            saved == bytes,
            "{name}: {status}"
        );
        let edited = text.replacen(from, to, 1);
        assert_ne!(edited, text, "{name} has no {from}");
        visit.click("#opened .cm-content");
        visit.press_with_ctrl("a", 65);
        visit.browser.type_text(&edited);
        let saved = visit.saved("[data-do=assemble]", name);
        assert_ne!(saved, bytes, "{name}");
        // The command, in the same steps.
        let again = format!("{stem}.{extension}");
        std::fs::write(folder.join(&again), &edited).unwrap();
        let out = format!("again.{suffix}");
        let output = skrymir(folder, &["as", &again, "-o", &out]);
        assert!(output.status.success(), "{name}: {}", said(&output));
        let wanted = std::fs::read(folder.join(&out)).unwrap();
        match stage {
            None => assert!(saved == wanted, "{name}: other bytes than `as` writes"),
            Some(stage) => {
                let changed = loader::vbc::read(&saved).unwrap();
                let stage = loader::vbc::Stage::ALL
                    .into_iter()
                    .find(|known| known.to_string() == stage);
                let words = changed.code(stage.unwrap()).unwrap().words();
                assert!(
                    loader::spirv::write(&words).unwrap() == wanted,
                    "{name}: other code than `as` writes"
                );
            }
        }
        // What does not assemble is refused in the command's words, at its line.
        visit.click("#opened .cm-content");
        visit.press_with_ctrl("a", 65);
        visit.browser.type_text("no such statement\n");
        visit.click("[data-do=assemble]");
        visit
            .browser
            .wait("!document.querySelector('#opened [data-verb=dis] .refusal').hidden");
        std::fs::write(folder.join(&again), "no such statement\n").unwrap();
        let output = skrymir(folder, &["as", &again, "-o", &out]);
        let refusal = visit.text("document.querySelector('#opened [data-verb=dis] .refusal').textContent");
        assert_eq!(refusal.trim_end(), said(&output), "{name}");
    }
    visit.end();
}

/// The lines but for those of a validator that is a program, which a page cannot start.
fn of_page(text: &str) -> Vec<String> {
    let own = text.lines().filter(|line| !line.contains("spirv-val"));
    own.map(str::to_owned).collect()
}

#[test]
fn a_recording_opens_the_inspector_which_asks_for_histories() {
    let Some(mut visit) = Visit::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("job.trace");
    std::fs::write(&path, recording()).unwrap();
    visit.click("#to-files");
    visit.browser.drop_file(700.0, 500.0, &path);
    visit.wait_frame("!!document.querySelector('.job.shown')");
    // A pixel by its numbers, which the prepared page has no history of.
    visit.browser.ask_frame("location.replace('#job=1&draw=0')");
    visit.wait_frame("!!document.querySelector('.job.shown .viewer')");
    visit.browser.ask_frame(
        "(() => { const [x, y] = document.querySelectorAll('.job.shown .viewer input[type=number]'); x.value = 20; y.value = 30; \
         [...document.querySelectorAll('.job.shown .viewer button')].find((b) => b.textContent === 'history').click(); })()",
    );
    visit.wait_frame("!!document.querySelector('.job.shown .history.asked .reason')");
    let answer = visit.browser.ask_frame(
        "['h3', '.reason'].map((part) => document.querySelector(`.job.shown .history.asked ${part}`).textContent)",
    );
    assert_eq!(answer, json!(["Pixel 20, 30", "written"]));
    visit.screenshot("recording-1400");
    // The draw of the shaders is one too.
    visit.click("#to-shaders");
    visit.click("#inspect");
    visit
        .browser
        .wait("document.querySelector('#opened h2')?.textContent.startsWith('draw.trace')");
    visit.wait_frame("document.querySelector('h1')?.textContent === 'draw.trace'");
    visit.end();
}

#[test]
fn broken_files_are_dropped_and_reported() {
    let Some(mut visit) = Visit::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut counted = 0;
    for (name, bytes) in broken::all() {
        let [info, check] = broken::answer(folder.path(), &name, &bytes);
        visit.ask("document.getElementById('opened').replaceChildren()");
        visit.browser.drop_file(700.0, 500.0, &folder.path().join(&name));
        if name.ends_with(".s") || name.ends_with(".wgsl") {
            continue;
        }
        visit
            .browser
            .wait("document.querySelectorAll('#opened section').length > 1");
        let verb =
            |verb: &str| format!("document.querySelector('#opened [data-verb={verb}] pre').textContent.trimEnd()");
        assert_eq!(visit.text(&verb("info")), info.trim_end(), "{name}");
        assert_eq!(
            of_page(&visit.text(&verb("check"))),
            of_page(check.trim_end()),
            "{name}"
        );
        counted += 1;
    }
    println!("{counted} files dropped");
    assert!(counted > 40);
    // The page still works.
    visit.click("#to-shaders");
    visit.choose("#example", "Rings (WGSL)");
    let (_, texts, scene) = examples().swap_remove(4);
    assert!(visit.picture() == wanted(&texts, &scene, ""));
    visit.end();
}

/// Roles of what people do something with.
const INTERACTIVE: [&str; 9] = [
    "link",
    "button",
    "slider",
    "checkbox",
    "spinbutton",
    "combobox",
    "ComboBoxMenuButton",
    "textbox",
    "tab",
];

/// Everything that can be done something with, and every picture, has a name.
fn names(visit: &mut Visit, place: &str) -> usize {
    let mut counted = 0;
    for (role, said, focusable) in visit.browser.accessible() {
        if INTERACTIVE.contains(&role.as_str())
            || ["image", "meter"].contains(&role.as_str())
            || (focusable && role != "RootWebArea")
        {
            counted += 1;
            assert!(
                !role.is_empty() && role != "generic",
                "{place}: something without a role named {said:?}"
            );
            assert!(!said.trim().is_empty(), "{place}: a {role} without a name");
        }
    }
    assert!(counted > 5, "{place}: {counted}");
    counted
}

/// Tab goes to everything that can be done something with.
fn tab_through(visit: &mut Visit, place: &str) -> usize {
    visit.ask(
        "(() => { const seen = (e) => e.checkVisibility() && e.tabIndex >= 0; \
         window.stops = [...document.querySelectorAll('a[href], button, input, select, [tabindex=\"0\"], .cm-content')].filter(seen); \
         window.reached = new Set(); document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex'); })()",
    );
    let stops = visit.ask("stops.length").as_u64().unwrap() as usize;
    for _ in 0..2 * stops + 5 {
        visit.browser.press("Tab", 9);
        visit.ask("reached.add(document.activeElement) && 0");
    }
    let missed = visit.ask("stops.filter((e) => !reached.has(e)).map((e) => e.outerHTML.slice(0, 90))");
    assert_eq!(missed, json!([]), "{place}: not reached by Tab");
    stops
}

#[test]
fn everything_has_a_name_and_fits_every_width() {
    let Some(mut visit) = Visit::start() else { return };
    let scheme = |visit: &mut Visit, value: &str| {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] });
        visit.browser.call("Emulation.setEmulatedMedia", features);
    };
    for (width, height) in [(1400, 1000), (400, 800)] {
        visit.browser.resize(width, height);
        visit.click("#to-shaders");
        let at = visit.middle("#canvas");
        visit.browser.click(at[0], at[1]);
        visit.browser.wait("!document.getElementById('stepper').hidden");
        for room in ["shaders", "files"] {
            if room == "files" {
                visit.drop(&common::data("vbc/textured.vbc"));
                visit.browser.wait("!!document.querySelector('#opened .cm-content')");
                visit.click("[data-do=convert]");
                visit
                    .browser
                    .wait("document.querySelector('[data-verb=convert] pre').textContent !== ''");
            }
            for color in ["light", "dark"] {
                scheme(&mut visit, color);
                visit.rest();
                visit.screenshot(&format!("{room}-{color}-{width}"));
            }
            // Nothing sticks out at the side.
            let wide = visit.ask("[document.documentElement.scrollWidth, innerWidth]");
            assert!(wide[0].as_u64() <= wide[1].as_u64(), "{room} at {width}: {wide}");
            let named = names(&mut visit, &format!("{room} at {width}"));
            let stops = tab_through(&mut visit, &format!("{room} at {width}"));
            println!("{room} at {width}: {named} named elements, {stops} stops of the Tab key");
        }
    }
    let dark = visit.text("getComputedStyle(document.body).backgroundColor");
    scheme(&mut visit, "light");
    assert_ne!(visit.text("getComputedStyle(document.body).backgroundColor"), dark);
    // The button overrules the system.
    visit.click("#theme");
    visit.click("#theme");
    assert_eq!(visit.text("getComputedStyle(document.body).backgroundColor"), dark);
    visit.end();
}

/// Goes to an element by the Tab key.
fn tab_to(visit: &mut Visit, selector: &str) {
    for _ in 0..120 {
        if visit.ask(&format!("document.activeElement.matches({selector:?})")) == true {
            return;
        }
        visit.browser.press("Tab", 9);
    }
    panic!("Tab does not come to {selector}");
}

#[test]
fn keys_alone_reach_everything() {
    let Some(mut visit) = Visit::start() else { return };
    let drawn_examples = examples();
    // Another example, another text, a change.
    tab_to(&mut visit, "#example");
    visit.browser.press("ArrowDown", 40);
    let (_, texts, scene) = &drawn_examples[1];
    assert!(visit.picture() == wanted(texts, scene, ""));
    tab_to(&mut visit, "#texts [aria-selected=true]");
    visit.browser.press("ArrowRight", 39);
    assert_eq!(visit.text("document.activeElement.textContent"), "Scene");
    tab_to(&mut visit, "#editor .cm-content");
    for kind in ["rawKeyDown", "keyUp"] {
        let end = json!({ "type": kind, "key": "End", "code": "End", "windowsVirtualKeyCode": 35, "modifiers": 2 });
        visit.browser.call("Input.dispatchKeyEvent", end);
    }
    visit.browser.type_text("\n[uniform]\nshine = 0.5\n");
    assert!(visit.picture() == wanted(texts, scene, "[uniform]\nshine = 0.5\n"));
    // A pixel, its instructions, and back to the picture.
    tab_to(&mut visit, "#canvas");
    visit.browser.press("ArrowRight", 39);
    visit.browser.press("Enter", 13);
    visit
        .browser
        .wait("document.querySelector('#stepper h2')?.textContent === 'Pixel 1, 0'");
    tab_to(&mut visit, "#stepper input[type=range]");
    visit.browser.press("End", 35);
    assert!(
        visit
            .text("document.getElementById('stepper').textContent")
            .contains("The program ends.")
    );
    visit.browser.press("Escape", 27);
    assert_eq!(visit.ask("document.getElementById('stepper').hidden"), true);
    assert_eq!(visit.text("document.activeElement.id"), "canvas");
    // The programs, the colours, the other room.
    tab_to(&mut visit, "#to-fragment");
    visit.browser.press("ArrowRight", 39);
    assert!(
        visit
            .text("document.querySelector('#listing caption').textContent")
            .contains("vertex")
    );
    tab_to(&mut visit, "#theme");
    visit.browser.press(" ", 32);
    assert_eq!(visit.text("document.documentElement.dataset.theme"), "light");
    tab_to(&mut visit, "#to-shaders");
    visit.browser.press("ArrowRight", 39);
    assert_eq!(visit.ask("document.getElementById('files').hidden"), false);
    tab_to(&mut visit, "#open");
    visit.end();
}

/// Figures (`tests/page.sh --figures`): a thousand edits take minutes.
#[test]
#[ignore = "minutes: tests/page.sh --figures"]
fn figures() {
    let Some(mut visit) = Visit::start() else { return };
    let sizes = std::fs::read_to_string(common::root().join("target/page/sizes.json")).unwrap();
    let sizes: Value = serde_json::from_str(&sizes).unwrap();
    for size in sizes.as_array().unwrap() {
        println!(
            "size: {}: {} bytes, {} compressed",
            size["part"], size["bytes"], size["gzip"]
        );
    }
    let whole = sizes.as_array().unwrap().last().unwrap();
    assert!(whole["gzip"].as_u64().unwrap() < 4_000_000);
    let firsts: Vec<u64> = (0..5)
        .map(|_| {
            visit.go("");
            visit
                .text("document.documentElement.dataset.firstPicture")
                .parse()
                .unwrap()
        })
        .collect();
    println!("first picture behind {firsts:?} ms");
    // From a key to the new picture.
    for (title, vertex, fragment, scene) in timed() {
        let hash = share(&mut visit, &vertex, &fragment, &scene);
        visit.go(&hash);
        let refusal = visit.text("document.getElementById('refusal').textContent");
        assert_eq!(refusal, "", "{title}");
        let instructions = visit.text("document.getElementById('figures').textContent");
        visit.end_of_text();
        let mut times: Vec<f64> = (0..9)
            .map(|_| {
                let before = visit.text("document.documentElement.dataset.asked");
                let start = Instant::now();
                visit.browser.type_text(" ");
                visit.rest();
                let time = start.elapsed().as_secs_f64() * 1e3;
                assert_ne!(visit.text("document.documentElement.dataset.asked"), before, "an edit");
                time
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!(
            "from a key to the picture, {title} ({instructions}): {:.0} ms (least {:.0}, most {:.0})",
            times[4], times[0], times[8]
        );
    }
    // Memory behind a thousand edits.
    visit.go("");
    visit.end_of_text();
    let mut memory = Vec::new();
    for edit in 0..=1000 {
        if [0, 10, 100, 500, 1000].contains(&edit) {
            let bytes = visit.ask("skrymirMemory()").as_f64().unwrap();
            memory.push((edit, bytes));
        }
        visit.browser.type_text(if edit % 2 == 0 { "\n" } else { "/" });
        if edit % 2 == 1 {
            visit.browser.press("Backspace", 8);
        }
        visit.rest();
    }
    println!("memory of the libraries behind edits: {memory:?}");
    assert!(memory[4].1 < 2.0 * memory[1].1, "{memory:?}");
    visit.end();
}

/// A link of texts, made by the page itself.
fn share(visit: &mut Visit, vertex: &str, fragment: &str, scene: &str) -> String {
    let state = json!({ "language": "glsl", "texts": [vertex, fragment], "scene": scene, "uniforms": {} });
    visit.text(&format!(
        "(async () => {{ const b = new TextEncoder().encode(JSON.stringify({state})); \
         const p = new Uint8Array(await new Response(new Blob([b]).stream().pipeThrough(new CompressionStream('deflate-raw'))).arrayBuffer()); \
         let t = ''; for (const x of p) t += String.fromCharCode(x); \
         return '#s=' + btoa(t).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''); }})()"
    ))
}

/// Shaders that edits are timed with: an example, and the median and the longest fragment shader of the corpus.
fn timed() -> Vec<(String, String, String, String)> {
    let (title, texts, scene) = examples().swap_remove(0);
    let mut all = vec![(title.to_owned(), texts[0].1.clone(), texts[1].1.clone(), scene)];
    let corpus = ["glsl-es", "mali"].into_iter().filter_map(common::corpus);
    let mut pairs = Vec::new();
    for path in corpus.flat_map(|corpus| common::files(&corpus, "frag")) {
        let vertex = path.with_extension("vert");
        let (Ok(fragment), Ok(vertex)) = (std::fs::read_to_string(&path), std::fs::read_to_string(vertex)) else {
            continue;
        };
        let made = wasm_door::Shaders::new(("a.vert", &vertex), Some(("a.frag", &fragment)));
        if let (Ok(program), Ok(_)) = (&made.fragment, made.draw(&wasm_door::Scene::new("").unwrap())) {
            pairs.push((program.instructions, path, vertex, fragment));
        }
    }
    if pairs.is_empty() {
        return all;
    }
    pairs.sort();
    println!("{} pairs of the corpus draw", pairs.len());
    for (what, at) in [("median", pairs.len() / 2), ("longest", pairs.len() - 1)] {
        let (instructions, path, vertex, fragment) = pairs.swap_remove(at.min(pairs.len() - 1));
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        all.push((
            format!("the {what} of the corpus, {name}, {instructions} instructions"),
            vertex,
            fragment,
            "size = [256, 256]".to_owned(),
        ));
    }
    all
}
