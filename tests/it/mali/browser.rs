//! Reports in a real browser: they open, work by mouse and keyboard, and show the replay's pictures.

use super::animation;
use super::devtools::Browser;
use super::inspect::own;
use crate::common;
use emulator::exec::wide::Wide;
use inspect::report::{Options, collect, page};
use loader::trace::{Record, Trace};
use skrymir::picture::Picture;
use skrymir::runner::replay::replay;
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

/// A server of a recording, and its address.
fn server(folder: &Path, name: &str, bytes: &[u8]) -> (Server, String) {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(["inspect", path.to_str().unwrap(), "--serve"])
        .stdout(Stdio::piped())
        .spawn();
    let mut server = Server(child.unwrap());
    let mut url = String::new();
    BufReader::new(server.0.stdout.take().unwrap())
        .read_line(&mut url)
        .unwrap();
    (server, url.trim().to_owned())
}

/// The served page shows the history of any pixel.
fn serves(browser: &mut Browser, folder: &Path) {
    let (_server, url) = server(folder, "own.trace", &own());
    browser.go(&format!("{url}#job=1&draw=0&px=32,24"));
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

/// A picture of the window, for people to look at.
fn look(browser: &mut Browser, name: &str, [width, height]: [u32; 2]) {
    let scrolled = browser.ask("[scrollX, scrollY]");
    let at = |axis: usize| scrolled[axis].as_f64().expect("a number");
    let picture = browser.screenshot([at(0), at(1), width.into(), height.into()]);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("inspect");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{name}-{width}.png")), picture).unwrap();
}

/// From the frame to the instruction that wrote a pixel, by keys alone.
fn walk(browser: &mut Browser, frames: u32, draws: u32) {
    // It opens on the last frame's picture, which is fetched.
    let last = 2 * frames - 1;
    browser.wait("!!document.querySelector('.job.shown .draw.shown .stage img')");
    let opened =
        browser.ask("[document.querySelector('.job.shown').id, document.querySelector('.draw.shown h3').textContent]");
    assert_eq!(
        opened,
        serde_json::json!([format!("job={last}"), format!("Draw {}", draws - 1)])
    );
    // Two frames back, two draws back.
    for back in 1..=2 {
        browser.press("[", 219);
        let job = last - 2 * back;
        browser.wait(&format!(
            "document.querySelector('.job.shown:not(.wanted) .draw.shown')?.id === 'job={job}&draw={}'",
            draws - 1
        ));
    }
    for back in 2..=3 {
        browser.press("ArrowLeft", 37);
        browser.wait(&format!(
            "document.querySelector('.draw.shown h3').textContent === 'Draw {}'",
            draws - back
        ));
    }
    // A pixel of the first cube, and what drew it.
    browser.press("p", 80);
    browser.type_text("16");
    browser.press("Tab", 9);
    browser.type_text("105");
    browser.enter();
    browser.wait("document.activeElement.matches('.history')");
    for _ in 0..12 {
        if browser.ask("document.activeElement.matches('a.instruction')") == true {
            break;
        }
        browser.press("Tab", 9);
    }
    assert_eq!(
        browser.ask("document.activeElement.textContent.startsWith('by instruction ')"),
        true
    );
    let wanted = browser.ask("decodeURIComponent(document.activeElement.hash.slice(1))");
    browser.enter();
    browser.wait("document.activeElement.matches('.program tr')");
    assert_eq!(browser.ask("document.activeElement.id"), wanted);
    let instruction = browser.ask("document.activeElement.querySelector('code').textContent");
    // It writes the colour's register.
    assert!(instruction.as_str().unwrap().contains("$0"), "{instruction}");
}

/// Searches find frames, resources by name, and memory by address.
fn searches(browser: &mut Browser) {
    for (text, wanted) in [
        ("frame 3", "frame 3"),
        ("job 4", "job 4: geometry"),
        ("rgba8888", "texture 16 x 16 RGBA8888"),
        ("0x20000010", "buffer "),
        ("nothing of this name", "nothing is found"),
    ] {
        browser.ask("document.activeElement.blur()");
        browser.press("/", 191);
        browser.ask("document.activeElement.value = ''");
        browser.type_text(text);
        let found = browser.ask("document.querySelector('.search ol').textContent");
        assert!(found.as_str().unwrap().contains(wanted), "{text}: {found}");
    }
    browser.ask("document.querySelector('.search input').value = ''");
    browser.type_text("texture");
    browser.enter();
    browser.wait("document.activeElement.matches('.resources.shown tr')");
    assert_eq!(browser.ask("document.querySelectorAll('.job.shown').length"), 0);
    assert_eq!(
        browser.ask("document.querySelectorAll('.resources tbody tr').length > 8"),
        true
    );
}

/// A click on any picture of a pixel job asks for the pixel, one on a texture tells the texel.
fn clicks(browser: &mut Browser) {
    let scroll = |browser: &mut Browser, selector: &str| {
        browser.ask(&format!(
            "document.querySelector({selector:?}).scrollIntoView({{ block: 'center' }})"
        ));
        let scrolled = browser.ask("[scrollX, scrollY]");
        let [left, top, ..] = place(browser, selector);
        let at = |axis: usize| scrolled[axis].as_f64().expect("a number");
        [left - at(0), top - at(1)]
    };
    for (number, selector) in [
        ".job.shown .targets img",
        ".job.shown .maps img",
        ".job.shown .draw.shown .mesh svg",
    ]
    .into_iter()
    .enumerate()
    {
        let x = 10 + number as u32;
        let [left, top] = scroll(browser, selector);
        browser.click(left + f64::from(x) + 0.5, top + 20.5);
        browser.wait(&format!("location.hash.endsWith('px={x},20')"));
    }
    let [left, top] = scroll(browser, ".job.shown .draw.shown .textures img");
    browser.click(left + 2.0, top + 2.0);
    browser.wait("document.querySelector('.draw.shown .textures output')?.value === 'texel 0, 0: 255 255 255 255'");
}

/// A long recording is served frame by frame.
#[test]
fn long_recordings_are_walked_by_keys() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (frames, draws) = (40, 20);
    let bytes = animation::recording(frames, draws);
    let start = Instant::now();
    let (_server, url) = server(folder.path(), "animation.trace", &bytes);
    let served = start.elapsed();
    let opened = browser.go(&url);
    browser.wait("!!document.querySelector('.job.shown .draw.shown .stage img')");
    let size = browser.ask("document.documentElement.outerHTML.length");
    println!(
        "{frames} frames of {draws} draws, {} bytes: served after {served:?}, opened in {opened:?}, with a picture after {:?}; \
         {size} characters",
        bytes.len(),
        start.elapsed()
    );
    look(&mut browser, "opened", [1400, 1000]);
    walk(&mut browser, frames, draws);
    look(&mut browser, "instruction", [1400, 1000]);
    browser.ask("location.hash = '#job=75&draw=10&px=16,105'");
    browser.wait("!!document.querySelector('.job.shown .draw.shown .stage img') && !!document.querySelector('.job.shown .history')");
    look(&mut browser, "pixel", [1400, 1000]);
    clicks(&mut browser);
    searches(&mut browser);
    look(&mut browser, "resources", [1400, 1000]);
    browser.ask("location.hash = '#job=74&draw=3'");
    browser.wait("!!document.getElementById('job=74&draw=3')?.checkVisibility()");
    browser.ask("document.getElementById('job=74&draw=3').scrollIntoView()");
    look(&mut browser, "vertices", [1400, 1000]);
    // Nothing is wider than a telephone, whatever is shown.
    browser.resize(400, 800);
    for (name, hash) in [
        ("opened", "#job=79&draw=19"),
        ("pixel", "#job=75&draw=10&px=16,105"),
        ("vertices", "#job=74&draw=3"),
        ("resources", "#resources"),
    ] {
        browser.ask(&format!("location.hash = {hash:?}"));
        browser.wait(&format!(
            "!!document.getElementById({:?})?.checkVisibility()",
            hash[1..].split("&px").next().unwrap()
        ));
        browser.ask("new Promise((done) => setTimeout(done, 300))");
        assert_eq!(
            browser.ask("document.documentElement.scrollWidth <= 400"),
            true,
            "{name}"
        );
        browser.ask("scrollTo(0, 0)");
        look(&mut browser, name, [400, 800]);
        let below = browser.ask(&format!(
            "(() => {{ document.getElementById({:?}).scrollIntoView(); return scrollY; }})()",
            hash[1..].split("&px").next().unwrap()
        ));
        if below.as_f64().unwrap() > 0.0 {
            look(&mut browser, &format!("{name}-below"), [400, 800]);
        }
    }
    assert_eq!(browser.complaints, Vec::<String>::new(), "the browser's console");
}

/// Times and sizes of 300 frames of 20 draws; the recording stays beside the pictures of the window.
#[test]
#[ignore = "prints figures"]
fn figures() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("inspect");
    std::fs::create_dir_all(&folder).unwrap();
    let (path, out) = (folder.join("animation.trace"), folder.join("animation.html"));
    let bytes = animation::recording(300, 20);
    std::fs::write(&path, &bytes).unwrap();
    let start = Instant::now();
    let done = Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args([Path::new("inspect"), &path, Path::new("-o"), &out])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    println!(
        "300 frames of 20 draws, {} bytes: a page of {} bytes after {:?}",
        bytes.len(),
        std::fs::metadata(&out).unwrap().len(),
        start.elapsed()
    );
    let Some(mut browser) = Browser::start() else { return };
    let start = Instant::now();
    let (_server, url) = server(&folder, "animation.trace", &bytes);
    println!("served after {:?}", start.elapsed());
    browser.go(&url);
    browser.wait("!!document.querySelector('.job.shown .draw.shown .stage img')");
    println!("with the last frame's picture after {:?}", start.elapsed());
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
