//! Reports of recordings: their contents equal a replay's, and markup in them does not run.

use crate::common;

use super::animation;
use emulator::exec::wide::Wide;
use inspect::history::End;
use inspect::report::{Kind, Options, Pp, Report, ResourceKind, Session, collect, collect_frames, outline, page};
use loader::trace::{Record, Trace};
use skrymir::picture::Picture;
use skrymir::runner::mali::{self, Pair};
use skrymir::runner::replay::replay;
use skrymir::scene::Scene;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::path::Path;
use std::process::{Command, Output};

/// The triangle of the examples as a recording.
pub(super) fn own() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/mali");
    let pair = Pair::load(&folder.join("triangle.vert.s"), &folder.join("triangle.frag.s")).unwrap();
    let scene = Scene {
        size: Some([64, 48]),
        ..Scene::default()
    };
    mali::record(&pair, &scene).unwrap()
}

/// The repository's own recording and those of the corpus, with their names.
fn recordings() -> Vec<(String, Vec<u8>)> {
    let mut all = vec![("own.trace".to_owned(), own())];
    if let Some(folder) = common::corpus("mali") {
        for path in common::recordings(&folder) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            all.push((name, std::fs::read(&path).unwrap()));
        }
    }
    all
}

fn report(bytes: &[u8], name: &str, pixels: &[[u32; 2]]) -> Report {
    collect(&Trace::read(bytes).unwrap(), &Options { name, pixels }).unwrap()
}

/// The last pixel job.
fn last(report: &Report) -> Option<&Pp> {
    report.jobs.iter().rev().find_map(|job| match &job.kind {
        Kind::Pp(pp) => Some(&**pp),
        Kind::Gp(_) => None,
    })
}

/// A picture of a report, without alpha.
fn rgb(report: &Report, id: inspect::report::PictureId) -> Vec<u8> {
    without_alpha(&Picture::from_png(Cursor::new(&report.pictures.get(id).bytes)).unwrap())
}

fn without_alpha(picture: &Picture) -> Vec<u8> {
    picture.rgba.chunks(4).flat_map(|pixel| pixel[..3].to_vec()).collect()
}

/// All texts between two marks.
fn between<'a>(text: &'a str, before: &str, after: char) -> Vec<&'a str> {
    let parts = text.split(before).skip(1);
    parts.filter_map(|part| part.split(after).next()).collect()
}

/// Broken links of a page.
fn broken(page: &str) -> Vec<String> {
    let names: BTreeSet<&str> = between(page, " id=\"", '"').into_iter().collect();
    let links = between(page, "href=\"#", '"');
    assert!(links.len() > 3, "{} links", links.len());
    links
        .into_iter()
        .filter(|link| !names.contains(link))
        .map(str::to_owned)
        .collect()
}

#[test]
fn pictures_of_reports_are_those_of_the_replay() {
    let (mut reports, mut draws, mut same, mut largest, mut controls) = (0, 0, 0, 0, 0);
    let mut before: Option<Vec<u8>> = None;
    for (name, bytes) in recordings() {
        let report = report(&bytes, &name, &[]);
        let trace = Trace::read(&bytes).unwrap();
        let picture = replay(&trace, Box::new(Wide::default()), 1).unwrap().picture().unwrap();
        let want = without_alpha(&picture);
        let pp = last(&report).unwrap();
        let target = pp.targets.first().and_then(|target| target.picture).unwrap();
        assert!(rgb(&report, target) == want, "{name}: the target");
        // The tile buffer equals memory if the target has eight bits per channel.
        if pp.targets[0].title.starts_with("B8G8R8A8") {
            let shown = pp.draws.last().map_or(pp.before, |draw| draw.picture).unwrap();
            assert!(rgb(&report, shown) == want, "{name}: the picture after the last draw");
            same += 1;
        }
        controls += usize::from(before.replace(want.clone()).is_some_and(|before| before != want));
        draws += pp.draws.len();
        assert!(
            pp.draws
                .iter()
                .all(|draw| draw.from.is_some() && !draw.state.is_empty() && draw.program.is_some())
        );
        let page = page(&report, false);
        assert_eq!(broken(&page), Vec::<String>::new(), "{name}");
        // The only URL is an XML namespace, which is not fetched.
        let rest = page.replace("http://www.w3.org/2000/svg", "");
        let remote = rest.contains("http://") || rest.contains("https://");
        assert!(!remote, "{name}: a page that needs a network");
        largest = largest.max(page.len());
        reports += 1;
    }
    println!("{reports} reports, {draws} draws, {same} last draws as the target; the largest page has {largest} bytes");
    assert!(
        draws >= reports && (reports == 1 || controls > 40),
        "{draws} {controls}"
    );
    // Negative control: broken links are found.
    assert_eq!(
        broken("<a href=\"#a\"><a href=\"#b\"><a href=\"#b\"><a href=\"#b\"><p id=\"b\">"),
        ["a"]
    );
}

#[test]
fn histories_end_with_the_pixel_of_the_replay() {
    let (mut pixels, mut untouched) = (0, 0);
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, bytes) in recordings() {
        let chosen = [[0, 0], [20, 17], [32, 24], [33, 47], [63, 30], [5, 40]];
        let report = report(&bytes, &name, &chosen);
        let trace = Trace::read(&bytes).unwrap();
        let done = replay(&trace, Box::new(Wide::default()), 1).unwrap();
        let picture = done.picture().unwrap();
        let pp = last(&report).unwrap();
        let samples_and_bits = pp.targets[0].title.starts_with("B8G8R8A8") && !name.contains("msaa");
        for ([x, y], entries) in &pp.histories {
            for entry in entries {
                *reasons.entry(entry.reason).or_default() += 1;
                assert!(!entry.words.is_empty());
            }
            let ended = entries.iter().rev().find_map(|entry| entry.after);
            if !samples_and_bits {
                continue;
            }
            let have = picture.at(*x, *y);
            match ended {
                Some(ended) => assert_eq!(ended, have, "{name} at {x},{y}: {entries:?}"),
                None => {
                    assert!(entries.iter().all(|entry| entry.end == End::Lost));
                    let before = Cursor::new(&report.pictures.get(pp.before.unwrap()).bytes);
                    let before = Picture::from_png(before).unwrap();
                    assert_eq!(before.at(*x, *y)[..3], have[..3], "{name} at {x},{y}");
                    untouched += 1;
                }
            }
            pixels += 1;
        }
    }
    println!("{pixels} pixels, {untouched} of them untouched; fragments by reason: {reasons:?}");
    assert!(pixels >= 6 && reasons.contains_key("written"));
    if pixels > 100 {
        for reason in ["scissor", "discard", "stencil", "depth", "mask"] {
            assert!(reasons.contains_key(reason), "no fragment ended by {reason}");
        }
    }
}

#[test]
fn markup_in_names_is_shown_and_does_not_run() {
    let name = "<img src=x onerror=alert(1)>\"'&</script><script>alert(2)</script>";
    let page = page(&report(&own(), name, &[]), false);
    assert!(
        !page.contains("<img src=x") && !page.contains("<script>alert"),
        "markup of a name"
    );
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;&lt;/script&gt;"));
    // One JSON element, the early script and the page's own modules, each allowed by its hash.
    let scripts = page.matches("<script").count();
    assert_eq!((scripts, page.matches("</script>").count()), (7, 7));
    assert_eq!(page.matches("script-src &#39;sha256-").count(), 1);
    // Negative control: the name is in the page.
    assert!(page.contains("onerror=alert(1)"));
}

/// Frames of a long recording: the outline has all of them, and those that are asked for are as in the whole report.
#[test]
fn frames_are_collected_on_demand() {
    let (frames, draws) = (6, 5);
    let bytes = animation::recording(frames, draws);
    let trace = Trace::read(&bytes).unwrap();
    let options = Options {
        name: "animation.trace",
        pixels: &[],
    };
    let whole = collect(&trace, &options).unwrap();
    assert_eq!((whole.jobs.len(), whole.outline.frames.len()), (12, 6));
    assert!(
        whole
            .outline
            .frames
            .iter()
            .all(|frame| frame.draws == 5 && frame.jobs.len() == 2)
    );
    let painted = |report: &Report, job: usize| match &report.jobs.iter().find(|of| of.number == job).unwrap().kind {
        Kind::Pp(pp) => pp
            .draws
            .iter()
            .map(|draw| rgb(report, draw.picture.unwrap()))
            .collect::<Vec<_>>(),
        Kind::Gp(_) => Vec::new(),
    };
    assert_eq!(painted(&whole, 11).len(), 5);
    assert_ne!(painted(&whole, 11), painted(&whole, 9), "the animation does not move");
    // Some frames in full.
    let mut done = 0;
    let some = collect_frames(&trace, &options, outline(&trace, &options).unwrap(), 3..5, &mut || {
        done += 1
    })
    .unwrap();
    assert_eq!((some.jobs.len(), done, some.outline.jobs.len()), (4, 4, 12));
    assert_eq!(painted(&some, 9), painted(&whole, 9));
    let text = page(&some, false);
    assert_eq!(text.matches("class=\"job wanted\"").count(), 8);
    assert!(text.contains("data-open=\"job=9\""));
    // Frames forwards, backwards, and with a pixel's history.
    let session = Session::new(&trace, options.clone()).unwrap();
    for frame in [5, 2, 3] {
        let sections = session.frame(frame).unwrap().unwrap();
        let last = format!("id=\"job={}&amp;draw=4\"", 2 * frame + 1);
        assert!(
            sections.contains(&last) && sections.matches("class=\"job\"").count() == 2,
            "{frame}"
        );
        // The same numbers as in the whole report.
        let summary = &whole.jobs[2 * frame + 1].summary;
        assert!(sections.contains(summary.as_str()), "{frame}: {summary}");
    }
    assert!(session.frame(6).unwrap().is_none());
    let history = session.history(7, [16, 100]).unwrap().unwrap();
    assert!(history.contains("by instruction "), "{history}");
    assert!(session.history(6, [16, 100]).unwrap().is_none(), "a geometry job");
    // Resources with their users.
    let count = |kind| whole.outline.resources.iter().filter(|one| one.kind == kind).count();
    assert_eq!(
        [
            count(ResourceKind::Program),
            count(ResourceKind::Texture),
            count(ResourceKind::Target)
        ],
        [2, 1, 2]
    );
    let texture = whole
        .outline
        .resources
        .iter()
        .find(|one| one.kind == ResourceKind::Texture)
        .unwrap();
    assert_eq!((texture.name.as_str(), texture.users.len()), ("16 x 16 RGBA8888", 30));
    // The mesh before and after the program.
    let Kind::Gp(gp) = &whole.jobs[0].kind else {
        panic!("a geometry job")
    };
    let titles: Vec<&str> = gp.draws[0].meshes.iter().map(|mesh| mesh.title.as_str()).collect();
    assert_eq!(titles.len(), 3, "{titles:?}");
    assert!(
        gp.draws
            .iter()
            .flat_map(|draw| &draw.meshes)
            .all(|mesh| mesh.outlines.len() == 12 && mesh.more == 0)
    );
}

fn skrymir(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(arguments)
        .output()
        .expect("the binary runs")
}

#[test]
fn the_command_writes_a_page_or_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (trace, html) = (at("a.trace"), at("a.html"));
    std::fs::write(&trace, own()).unwrap();
    let expect = |code: i32, arguments: &[&str], words: &str| {
        let output = skrymir(arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        assert!(text.contains(words), "{arguments:?}: {text}");
    };
    expect(0, &["inspect", &trace, "-o", &html, "--pixel", "32,24"], "");
    let page = std::fs::read_to_string(&html).unwrap();
    assert!(page.contains("id=\"job=1&amp;px=32,24\"") && page.contains("<b class=\"reason\">written</b>"));
    expect(2, &["inspect", &trace], "--output");
    expect(
        2,
        &["inspect", &trace, "-o", &html, "--pixel", "64,0"],
        "--pixel 64,0: no job has such a pixel",
    );
    expect(2, &["inspect", &trace, "-o", &html, "--pixel", "64"], "a pixel is X,Y");
    expect(2, &["inspect", &at("none"), "-o", &html], "none");
    expect(2, &["inspect", &trace, "-o", &html, "--serve"], "--serve");
    std::fs::write(at("bad"), &own()[..100]).unwrap();
    expect(1, &["inspect", &at("bad"), "-o", &html], "trace: ");
    // A faulting job is on the page, and the command reports it too.
    let bytes = own();
    let mut faulty = Trace::read(&bytes).unwrap();
    faulty.records.iter_mut().for_each(|(_, record)| {
        if let Record::Submit { frame, .. } = record
            && frame.len() > 20
        {
            frame[utgard::frame::LISTS] = 0x10;
        }
    });
    std::fs::write(at("faulty.trace"), faulty.write()).unwrap();
    expect(1, &["inspect", &at("faulty.trace"), "-o", &html], "job 1 (at offset");
    let page = std::fs::read_to_string(&html).unwrap();
    assert!(
        page.contains("Fault: PP job: unmapped address"),
        "the fault is not on the page"
    );
}

/// Unchecked counts make neither the page nor the memory use large.
#[test]
fn what_is_too_much_is_left_out_and_said() {
    let bytes = own();
    let mut trace = Trace::read(&bytes).unwrap();
    for (_, record) in &mut trace.records {
        if let Record::Submit { frame, .. } = record
            && frame.len() > 20
        {
            // The last column and row that a frame can have.
            (frame[10], frame[11]) = (0x3fff, 0x3fff);
        }
    }
    let huge = collect(&trace, &Options::default()).unwrap();
    let fault = huge.jobs[1].fault.clone().unwrap_or_default();
    assert!(fault.contains("4096"), "{fault}");
    assert!(page(&huge, false).len() < 1 << 20);
    // As many jobs as a page shows, and one more.
    let trace = Trace::read(&bytes).unwrap();
    let submits = trace
        .records
        .iter()
        .filter(|(_, record)| matches!(record, Record::Submit { .. }));
    let gp = submits.clone().take(1).cloned().collect::<Vec<_>>();
    let mut many = trace.clone();
    many.records.extend(std::iter::repeat_n(gp, 1000).flatten());
    let report = collect(&many, &Options::default()).unwrap();
    assert_eq!((report.jobs.len(), report.left_out.len()), (1000, 1));
    assert!(page(&report, false).contains("Not shown for lack of room: 2 jobs"));
}
