//! Reports in a real browser: they open, work by mouse and keyboard, and show the replay's pictures.

use super::devtools::Browser;
use super::inspect::own;
use crate::common;
use emulator::exec::wide::Wide;
use inspect::report::{Options, collect, page};
use loader::trace::{Record, Trace};
use skrymir::picture::Picture;
use skrymir::replay::replay;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Cursor};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The corpus' recordings to test: plain, with textures and levels, with depth, stencil, several draws.
const LOOKED_AT: [&str; 5] = [
    "ff_triangle",
    "ff_depth_less",
    "ff_stencil_mask",
    "tex_mip_nearest",
    "ff_two_frames",
];

/// Roles of interactive elements.
const INTERACTIVE: [&str; 8] = [
    "link",
    "button",
    "slider",
    "checkbox",
    "spinbutton",
    "combobox",
    "ComboBoxMenuButton",
    "DisclosureTriangle",
];

fn write_page(folder: &Path, bytes: &[u8], name: &str) -> PathBuf {
    let pixels = [[20, 17]];
    let report = collect(&Trace::read(bytes).unwrap(), &Options { name, pixels: &pixels }).unwrap();
    let path = folder.join("page.html");
    std::fs::write(&path, page(&report, false)).unwrap();
    path
}

fn url(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// Rectangle of an element on the page, without its border: left, top, width, height.
fn place(browser: &mut Browser, selector: &str) -> [f64; 4] {
    let found = browser.ask(&format!(
        "(() => {{ const e = document.querySelector({selector:?}), b = e.getBoundingClientRect(); \
         return [Math.round(b.left + scrollX) + e.clientLeft, Math.round(b.top + scrollY) + e.clientTop, e.clientWidth, e.clientHeight]; }})()"
    ));
    std::array::from_fn(|at| found[at].as_f64().expect("a number"))
}

/// Clicks on the picture after the current draw.
fn click_pixel(browser: &mut Browser, x: f64, y: f64) {
    browser.ask("document.querySelector('.job.shown .draw.shown .stage img').scrollIntoView({ block: 'center' })");
    let scrolled = browser.ask("[scrollX, scrollY]");
    let [left, top, ..] = place(browser, ".job.shown .draw.shown .stage img");
    let at = |axis: usize| scrolled[axis].as_f64().expect("a number");
    browser.click(left - at(0) + x, top - at(1) + y);
}

/// The page's picture after the current draw, pixel by pixel.
fn shown(browser: &mut Browser) -> Vec<u8> {
    browser.ask(
        "(() => { const z = document.querySelector('.job.shown .viewer select'); z.value = 1; \
                 z.dispatchEvent(new Event('change')); })()",
    );
    browser.wait("document.querySelector('.job.shown .draw.shown .stage img').complete");
    browser.ask("document.querySelector('.job.shown .draw.shown .stage img').decode()");
    browser.ask("scrollTo(0, 0)");
    let at = place(browser, ".job.shown .draw.shown .stage img");
    rgb(&Picture::from_png(Cursor::new(browser.screenshot(at))).unwrap())
}

fn rgb(picture: &Picture) -> Vec<u8> {
    picture.rgba.chunks(4).flat_map(|pixel| pixel[..3].to_vec()).collect()
}

/// A description of the difference of two pictures.
fn apart(a: &[u8], b: &[u8]) -> String {
    let first = a.iter().zip(b).position(|(a, b)| a != b);
    format!("{} and {} bytes, the first difference at {first:?}", a.len(), b.len())
}

/// Every link of the navigation leads to a visible target.
fn click_through(browser: &mut Browser, name: &str) -> usize {
    let count = browser
        .ask("document.querySelectorAll('nav a').length")
        .as_u64()
        .unwrap() as usize;
    for at in 0..count {
        let ended = browser.ask(&format!(
            "(async () => {{ const a = document.querySelectorAll('nav a')[{at}]; a.focus(); a.click(); \
             await new Promise((done) => setTimeout(done, 30)); \
             const to = document.getElementById(decodeURIComponent(a.hash.slice(1))); \
             return [!!to && to.classList.contains('shown'), to === document.activeElement, \
             document.querySelectorAll('.job.shown').length]; }})()"
        ));
        assert_eq!(
            ended,
            serde_json::json!([true, true, 1]),
            "{name}: link {at} of {count}"
        );
    }
    count
}

/// Tab reaches every interactive element.
fn tab_through(browser: &mut Browser, name: &str) -> usize {
    browser.ask(
        "(() => { const seen = (e) => e.checkVisibility() && !e.closest('details:not([open]) > :not(summary)'); \
         window.stops = [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex=\"0\"]')] \
         .filter(seen); window.reached = new Set(); document.body.tabIndex = -1; document.body.focus(); \
         document.body.removeAttribute('tabindex'); })()",
    );
    let stops = browser.ask("stops.length").as_u64().unwrap() as usize;
    for _ in 0..2 * stops + 5 {
        browser.press("Tab", 9);
        browser.ask("reached.add(document.activeElement) && 0");
    }
    let missed = browser.ask("stops.filter((e) => !reached.has(e)).map((e) => e.outerHTML.slice(0, 80))");
    assert_eq!(missed, serde_json::json!([]), "{name}: not reached by Tab");
    stops
}

/// Every interactive element and every picture has a name.
fn names(browser: &mut Browser, name: &str) -> usize {
    let mut counted = 0;
    for (role, said, focusable) in browser.accessible() {
        let announced = INTERACTIVE.contains(&role.as_str()) || role == "image" || (focusable && role != "RootWebArea");
        if announced {
            counted += 1;
            assert!(
                !role.is_empty() && role != "generic",
                "{name}: something without a role named {said:?}"
            );
            // An element that only scripts focus is text, which is its own name.
            let is_text = ["article", "row", "region", "table"].contains(&role.as_str());
            assert!(!said.trim().is_empty() || is_text, "{name}: a {role} without a name");
        }
    }
    assert!(counted > 10, "{name}: {counted}");
    counted
}

fn look_at(browser: &mut Browser, folder: &Path, name: &str, bytes: &[u8]) {
    let path = write_page(folder, bytes, name);
    browser.go(&url(&path));
    let links = click_through(browser, name);
    // The last link is the last draw of the last job.
    let done = replay(&Trace::read(bytes).unwrap(), Box::new(Wide::default()), 1).unwrap();
    let picture = done.picture().unwrap();
    let have = shown(browser);
    assert!(
        have == rgb(&picture),
        "{name}: the picture after the last draw: {}",
        apart(&have, &rgb(&picture))
    );
    // Negative control: the key for the previous state shows another picture.
    browser.ask("document.activeElement.blur()");
    while browser.ask("!!document.querySelector('.job.shown .draw.shown.before')") != true {
        browser.press("ArrowLeft", 37);
    }
    let before = shown(browser);
    assert!(
        before != rgb(&picture),
        "{name}: the picture before the first draw is the last"
    );
    browser.press("ArrowRight", 39);
    browser.wait("document.querySelector('.job.shown .draw.shown h3').textContent === 'Draw 0'");
    // A click on a pixel with a recorded history, and on one without.
    click_pixel(browser, 20.5, 17.5);
    browser.wait("location.hash.endsWith('px=20,17')");
    assert_eq!(
        browser.ask("document.querySelectorAll('.job.shown .history').length"),
        1,
        "{name}"
    );
    click_pixel(browser, 21.5, 17.5);
    browser.wait("document.querySelector('.job.shown .history.asked h3')?.textContent === 'Pixel 21, 17'");
    // Textures are shown as pictures with their sizes.
    let textures = browser.ask(
        "(async () => { const all = [...document.querySelectorAll('.job.shown .draw.shown .textures img')]; \
         for (const one of all) { one.scrollIntoView(); await one.decode(); } \
         return all.filter((one) => one.naturalWidth == one.dataset.width && one.checkVisibility()).length; })()",
    );
    assert!(
        textures.as_u64().unwrap() >= u64::from(name.starts_with("tex_")),
        "{name}: no texture is shown"
    );
    let (stops, named) = (tab_through(browser, name), names(browser, name));
    println!("{name}: {links} links, {stops} stops of the Tab key, {named} named elements, {textures} textures");
}

/// A page works without scripts.
fn without_scripts(browser: &mut Browser, folder: &Path) {
    let path = write_page(folder, &own(), "own");
    browser.call(
        "Emulation.setScriptExecutionDisabled",
        serde_json::json!({ "value": true }),
    );
    browser.go(&url(&path));
    let wanted = [
        "job 0: gp, geometry",
        "draw 0",
        "state",
        "pixel 20, 17",
        "the picture after this draw",
    ];
    // A browser on a busy machine computes the names of a long page late.
    let end = Instant::now() + Duration::from_secs(20);
    let missing = loop {
        let names: BTreeSet<String> = browser
            .accessible()
            .into_iter()
            .map(|(_, name, _)| name.to_lowercase())
            .collect();
        let missing = wanted.into_iter().find(|wanted| !names.contains(*wanted));
        if missing.is_none() || Instant::now() > end {
            break missing;
        }
        std::thread::sleep(Duration::from_millis(200));
    };
    assert_eq!(missing, None, "without scripts it is not there");
    browser.call(
        "Emulation.setScriptExecutionDisabled",
        serde_json::json!({ "value": false }),
    );
}

/// Markup in a name is shown as text.
fn with_markup(browser: &mut Browser, folder: &Path) {
    let name = "<img src=x onerror='window.ran=1'><script>window.ran=1</script>&amp;";
    browser.go(&url(&write_page(folder, &own(), name)));
    assert_eq!(browser.ask("document.querySelector('h1').textContent"), name);
    assert_eq!(
        browser.ask("window.ran === undefined && !document.querySelector('img[src=x]')"),
        true
    );
    // Content that must not run.
    browser.ask("document.body.insertAdjacentHTML('beforeend', '<img src=\"data:,\" onerror=\"window.ran=2\">')");
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(browser.ask("window.ran === undefined"), true);
    let refused = std::mem::take(&mut browser.complaints);
    assert!(
        refused.iter().any(|one| one.contains("Content Security Policy")),
        "{refused:?}"
    );
}

/// A page of a hundred jobs opens quickly.
fn opens_soon(browser: &mut Browser, folder: &Path, name: &str, bytes: &[u8]) {
    let mut trace = Trace::read(bytes).unwrap();
    let submits = trace
        .records
        .iter()
        .filter(|(_, record)| matches!(record, Record::Submit { .. }));
    let submits: Vec<_> = submits.cloned().collect();
    let more = submits
        .iter()
        .cycle()
        .take(100 - submits.len())
        .cloned()
        .collect::<Vec<_>>();
    trace.records.extend(more);
    let path = write_page(folder, &trace.write(), name);
    let size = std::fs::metadata(&path).unwrap().len();
    let times: Vec<Duration> = (0..3)
        .map(|_| {
            let time = browser.go(&url(&path));
            assert_eq!(browser.ask("document.querySelectorAll('.job').length"), 100);
            time
        })
        .collect();
    println!("{name} with 100 jobs: {size} bytes, opened in {times:?}");
    assert!(times.iter().min() < Some(&Duration::from_secs(2)), "{times:?}");
}

/// A server that ends with its test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The served page shows the history of any pixel.
fn serves(browser: &mut Browser, folder: &Path) {
    let path = folder.join("own.trace");
    std::fs::write(&path, own()).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(["inspect", path.to_str().unwrap(), "--serve"])
        .stdout(Stdio::piped())
        .spawn();
    let mut server = Server(child.unwrap());
    let mut url = String::new();
    BufReader::new(server.0.stdout.take().unwrap())
        .read_line(&mut url)
        .unwrap();
    browser.go(&format!("{}#job=1&draw=0&px=32,24", url.trim()));
    browser.wait("!!document.querySelector('.job.shown .history.asked .reason')");
    let reason = browser.ask("document.querySelector('.job.shown .history.asked .reason').textContent");
    browser.ask("location.hash = '#job=1&draw=0&px=0,0'");
    browser.wait("document.querySelector('.job.shown .history.asked h3')?.textContent === 'Pixel 0, 0'");
    let nothing = browser.ask("document.querySelector('.job.shown .history.asked p').textContent");
    assert_eq!(reason, "written");
    assert!(
        nothing.as_str().unwrap().starts_with("No fragment came here"),
        "{nothing}"
    );
}

#[test]
fn reports_open_in_a_browser() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut all = vec![("own".to_owned(), own())];
    if let Some(corpus) = common::corpus("mali") {
        let read = |name: &&str| {
            (
                (*name).to_owned(),
                std::fs::read(corpus.join(format!("{name}.trace"))).unwrap(),
            )
        };
        all.extend(LOOKED_AT.iter().map(read));
    }
    for (name, bytes) in &all {
        look_at(&mut browser, folder.path(), name, bytes);
    }
    without_scripts(&mut browser, folder.path());
    serves(&mut browser, folder.path());
    let (name, bytes) = all.last().unwrap();
    opens_soon(&mut browser, folder.path(), name, bytes);
    assert_eq!(browser.complaints, Vec::<String>::new(), "the browser's console");
    with_markup(&mut browser, folder.path());
}
