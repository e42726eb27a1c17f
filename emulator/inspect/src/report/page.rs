//! The report as a self-contained HTML page that is readable without scripts.

use super::html::{Html, json};
use super::model::{Job, Kind, Program, Report};
use super::outline::{Brief, Frame};
use super::writer::{Thumbnails, Writer, draw_name, job_name, line_name, program_name, program_title};
use super::{page_geometry, page_pixels, page_resources};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("../page/style.css");

/// The script that runs before the page is parsed.
const EARLY: &str = include_str!("../page/early.js");

/// The page's script modules, which are independent.
const SCRIPTS: [&str; 5] = [
    include_str!("../page/pictures.js"),
    include_str!("../page/places.js"),
    include_str!("../page/viewer.js"),
    include_str!("../page/frames.js"),
    include_str!("../page/search.js"),
];

/// Limit on the faults in the header.
const MAX_FAULTS: usize = 16;

/// Where histories of pixels come from that are not on the page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HistorySource {
    /// None is available.
    Absent,
    /// The server of the page.
    Server,
    /// The page around the frame.
    Parent,
}

/// The sections of a frame's jobs, for a page that lacks them.
pub(super) fn sections(report: &Report, frame: usize) -> String {
    let mut writer = Writer::new(&report.pictures, format!("{frame}-"));
    for job in &report.jobs {
        self::job(&mut writer, report, job);
    }
    writer.html.finish()
}

/// The page; `live` if a server provides the history of any pixel, and the jobs that the report has only in outline.
pub fn page(report: &Report, live: bool) -> String {
    written(
        report,
        if live {
            HistorySource::Server
        } else {
            HistorySource::Absent
        },
    )
}

/// The page for a frame of another one, which tells the history of any pixel: it gets a message `{ history: [job, x, y] }`,
/// and answers `{ history: [job, x, y], html }`.
pub fn framed(report: &Report) -> String {
    written(report, HistorySource::Parent)
}

fn written(report: &Report, source: HistorySource) -> String {
    let mut writer = Writer::new(&report.pictures, String::new());
    let mut thumbnails = Thumbnails::new(&report.outline.thumbnails);
    head(&mut writer.html, report, source);
    writer
        .html
        .raw("<body>\n<a class=\"skip\" href=\"#main\">To the jobs</a>\n");
    header(&mut writer.html, report);
    navigation(&mut writer.html, report, &mut thumbnails);
    writer.html.raw("<main id=\"main\"");
    if let Some(job) = opens(report) {
        writer.html.raw(" data-open=\"").text(job_name(job)).raw("\"");
    }
    writer.html.raw(">\n");
    let mut in_full = report.jobs.iter().peekable();
    for brief in &report.outline.jobs {
        match in_full.next_if(|job| job.number == brief.number) {
            Some(job) => self::job(&mut writer, report, job),
            None => placeholder(&mut writer.html, report, brief, source),
        }
    }
    let mut html = writer.html;
    page_resources::section(&mut html, &report.outline, &mut thumbnails);
    html.raw("</main>\n<script type=\"application/json\" id=\"data\">");
    let mut page = html.finish();
    page.push_str(&json(&data(report, source)));
    page.push_str("</script>\n");
    for script in SCRIPTS {
        page.push_str("<script type=\"module\">");
        page.push_str(script);
        page.push_str("</script>\n");
    }
    page.push_str("</body>\n</html>\n");
    page
}

/// The head. Its content security policy allows only the page's own style and scripts, in case data is ever not
/// escaped.
fn head(html: &mut Html, report: &Report, source: HistorySource) {
    let hash = |text: &str| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
    let scripts = [&[EARLY], &SCRIPTS[..]].concat().into_iter().map(hash);
    let scripts = scripts.collect::<Vec<_>>().join(" ");
    let connect = match source {
        HistorySource::Server => "'self'",
        HistorySource::Absent | HistorySource::Parent => "'none'",
    };
    html.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"");
    html.text(format_args!(
        "default-src 'none'; img-src data:; style-src {}; script-src {scripts}; connect-src {connect}; \
         base-uri 'none'; form-action 'none'",
        hash(STYLE)
    ));
    html.raw("\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n<title>");
    html.text(&report.name).raw(" – Skrymir</title>\n<style>");
    html.raw(STYLE)
        .raw("</style>\n<script>")
        .raw(EARLY)
        .raw("</script>\n</head>\n");
}

fn header(html: &mut Html, report: &Report) {
    html.raw("<header>\n<h1>").text(&report.name).raw("</h1>\n<p>");
    let outline = &report.outline;
    html.text(format_args!("{}, {} jobs", report.device, outline.jobs.len()));
    if outline.frames.len() > 1 {
        html.text(format_args!(" in {} frames", outline.frames.len()));
    }
    html.raw(" · <a href=\"#resources\">textures, buffers, programs</a></p>\n");
    let all = outline.jobs.iter();
    let faults: Vec<_> = all.filter_map(|job| Some((job.number, job.fault.as_ref()?))).collect();
    let count = faults.len();
    if count > MAX_FAULTS {
        html.raw("<p class=\"fault\">")
            .text(count)
            .raw(" jobs ended with a fault; the first ones:</p>\n");
    }
    for (number, fault) in faults.into_iter().take(MAX_FAULTS) {
        html.raw("<p class=\"fault\"><a href=\"#")
            .text(job_name(number))
            .raw("\">Job ");
        html.text(number)
            .raw("</a> ended with a fault: ")
            .text(fault)
            .raw("</p>\n");
    }
    if !report.left_out.is_empty() {
        html.raw("<p class=\"left-out\">Not shown for lack of room: ");
        html.text(report.left_out.join(", ")).raw(".</p>\n");
    }
    html.raw("</header>\n");
}

fn navigation(html: &mut Html, report: &Report, thumbnails: &mut Thumbnails<'_>) {
    html.raw("<nav aria-label=\"Frames, jobs and draws\">\n<ol>\n");
    let outline = &report.outline;
    for (number, frame) in outline.frames.iter().enumerate() {
        html.raw("<li class=\"frame\"><a href=\"#")
            .text(job_name(frame.shows))
            .raw("\">");
        if let Some(thumbnail) = outline.jobs.get(frame.shows).and_then(|job| job.thumbnail) {
            thumbnails.put(html, thumbnail);
        }
        html.raw("<span>Frame ").text(number).raw(" <small>");
        let plural = if frame.draws == 1 { "" } else { "s" };
        html.text(format_args!("{} draw{plural}", frame.draws))
            .raw("</small></span></a>\n<ol>\n");
        jobs(html, report, frame);
        html.raw("</ol></li>\n");
    }
    html.raw("</ol>\n</nav>\n");
}

/// A frame's jobs, and the draws of those in full.
fn jobs(html: &mut Html, report: &Report, frame: &Frame) {
    for brief in &report.outline.jobs[frame.jobs.clone()] {
        html.raw("<li class=\"of-frame\"><a href=\"#")
            .text(job_name(brief.number))
            .raw("\">");
        html.raw(if brief.fault.is_some() {
            "<span class=\"bad\">fault</span> "
        } else {
            ""
        });
        html.text(format_args!("{} {}", brief.number, kind(brief))).raw("</a>");
        let in_full = report.jobs.binary_search_by_key(&brief.number, |job| job.number);
        let job = in_full.ok().map(|at| &report.jobs[at]);
        if let Some(Kind::Pp(pp)) = job.map(|job| &job.kind) {
            html.raw("<ol>");
            for (number, draw) in pp.draws.iter().enumerate() {
                html.raw("<li><a href=\"#")
                    .text(draw_name(brief.number, number))
                    .raw("\">draw ")
                    .text(number);
                html.raw(if draw.trouble.is_empty() {
                    ""
                } else {
                    " <span class=\"bad\">!</span>"
                });
                html.raw("</a></li>");
            }
            html.raw("</ol>");
        }
        html.raw("</li>\n");
    }
}

/// The job that the page opens on: the last with a chosen pixel, else the last frame's picture.
fn opens(report: &Report) -> Option<usize> {
    let is_chosen = |job: &&Job| match &job.kind {
        Kind::Pp(pp) => pp.histories.iter().any(|(_, entries)| !entries.is_empty()),
        Kind::Gp(_) => false,
    };
    let chosen = report.jobs.iter().rev().find(is_chosen);
    let shown = report.jobs.iter().rev().find(|job| matches!(job.kind, Kind::Pp(_)));
    let frame = report.outline.frames.last().map(|frame| frame.shows);
    chosen.or(shown).map(|job| job.number).or(frame)
}

/// A job in outline.
fn placeholder(html: &mut Html, report: &Report, brief: &Brief, source: HistorySource) {
    html.raw("<section class=\"job wanted\" id=\"")
        .text(job_name(brief.number))
        .raw("\" tabindex=\"-1\" aria-label=\"Job ")
        .text(brief.number);
    let frame = report.outline.frame_of(brief.number).unwrap_or(0);
    html.raw("\" data-frame=\"")
        .text(frame)
        .raw("\">\n<h2>Job ")
        .text(brief.number)
        .raw(": ");
    html.raw(kind(brief))
        .raw("</h2>\n<p class=\"summary\">")
        .text(&brief.summary)
        .raw("</p>\n");
    if let Some(fault) = &brief.fault {
        html.raw("<p class=\"fault\">Fault: ").text(fault).raw("</p>\n");
    }
    match source {
        HistorySource::Server => html.raw("<p class=\"none\">It is being run …</p>\n"),
        HistorySource::Absent => html
            .raw("<p class=\"none\">This page has it in outline: make it with --frames ")
            .text(format_args!("{frame}..{}", frame + 1))
            .raw(", or look with --serve.</p>\n"),
        HistorySource::Parent => html.raw("<p class=\"none\">This page has it in outline.</p>\n"),
    };
    html.raw("</section>\n");
}

fn kind(brief: &Brief) -> &'static str {
    match brief.size {
        None => "GP, geometry",
        Some(_) => "PP, pixels",
    }
}

fn job(writer: &mut Writer<'_>, report: &Report, job: &Job) {
    let html = &mut writer.html;
    let number = job.number;
    html.raw("<section class=\"job\" id=\"")
        .text(job_name(number))
        .raw("\" tabindex=\"-1\" aria-label=\"Job ");
    html.text(number)
        .raw("\">\n<h2>Job ")
        .text(number)
        .raw(": ")
        .raw(match job.kind {
            Kind::Gp(_) => "GP, geometry",
            Kind::Pp(_) => "PP, pixels",
        })
        .raw("</h2>\n<p class=\"summary\">");
    html.text(&job.summary).raw("</p>\n");
    let known = |address| job.places.has(address);
    if let Some(fault) = &job.fault {
        html.raw("<p class=\"fault\">Fault: ")
            .linked(fault, number, known)
            .raw("</p>\n");
    }
    if !job.notes.is_empty() {
        html.raw("<ul class=\"notes\">");
        for note in &job.notes {
            html.raw("<li>").linked(note, number, known).raw("</li>");
        }
        html.raw("</ul>\n");
    }
    if !job.left_out.is_empty() {
        html.raw("<p class=\"left-out\">Not shown for lack of room: ");
        html.text(job.left_out.join(", ")).raw(".</p>\n");
    }
    match &job.kind {
        Kind::Gp(gp) => page_geometry::gp(writer, report, job, gp),
        Kind::Pp(pp) => page_pixels::pp(writer, job, pp),
    }
    for (at, program) in job.programs.iter().enumerate() {
        self::program(&mut writer.html, job, at, program);
    }
    memory(&mut writer.html, job);
    writer.html.raw("</section>\n");
}

/// A program with execution counts.
fn program(html: &mut Html, job: &Job, at: usize, program: &Program) {
    let cycles: u64 = program.lines.iter().map(|line| line.hits).sum();
    let most = program.lines.iter().map(|line| line.hits).max().unwrap_or(0).max(1);
    html.raw("<section class=\"program\" id=\"")
        .text(program_name(job.number, at))
        .raw("\" tabindex=\"-1\" aria-label=\"")
        .text(program_title(program))
        .raw("\">\n<h3>");
    html.text(program_title(program)).raw("</h3>\n<p>").linked(
        &super::texts::at(program.address),
        job.number,
        |address| job.places.has(address),
    );
    html.text(format_args!(
        "; {cycles} instructions in this job, a cycle each at least"
    ))
    .raw("</p>\n");
    for finding in &program.findings {
        html.raw("<p class=\"warning\">").text(finding).raw("</p>\n");
    }
    html.raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Instructions\">");
    html.raw("<table class=\"code\"><thead><tr><th>runs</th><th>%</th><th>instruction</th></tr></thead><tbody>\n");
    for line in &program.lines {
        let heat = (line.hits * 9).div_ceil(most);
        html.raw("<tr id=\"")
            .text(line_name(job.number, at, line.address))
            .raw("\" tabindex=\"-1\" class=\"heat")
            .text(heat)
            .raw("\"><td>")
            .text(line.hits)
            .raw("</td><td>");
        html.text(format_args!("{:.1}", line.hits as f64 * 100.0 / cycles.max(1) as f64))
            .raw("</td><td><code>");
        html.text(&line.text).raw("</code>");
        if let Some([on, taken]) = line.ways {
            html.raw(" <small>taken ")
                .text(taken)
                .raw(", not taken ")
                .text(on)
                .raw("</small>");
        }
        html.raw("</td></tr>\n");
    }
    html.raw("</tbody></table></div>\n</section>\n");
}

/// Memory at the addresses that the job names.
fn memory(html: &mut Html, job: &Job) {
    if job.places.is_empty() {
        return;
    }
    html.raw("<details class=\"memory\"><summary>Memory: what is at the ")
        .text(job.places.len());
    html.raw(" addresses this job names</summary>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\"");
    html.raw(" aria-label=\"Memory\"><table><thead><tr>");
    html.raw("<th>address</th><th>buffer object</th><th>words</th><th>named in</th></tr></thead><tbody>\n");
    for (address, place) in job.places.iter() {
        html.raw("<tr id=\"")
            .text(super::html::place(job.number, address))
            .raw("\" tabindex=\"-1\"><td><code>");
        html.text(format_args!("{address:#010x}")).raw("</code></td><td><code>");
        html.text(format_args!("{:#010x} + {:#x}", place.object, address - place.object));
        html.raw("</code></td><td><pre>");
        for (row, bytes) in place.bytes.chunks(16).enumerate() {
            html.raw(if row > 0 { "\n" } else { "" });
            for word in bytes.chunks(4) {
                // Words as numbers, most significant digit first.
                for byte in word.iter().rev() {
                    html.text(format_args!("{byte:02x}"));
                }
                html.raw(" ");
            }
        }
        html.raw("</pre></td><td>").text(&place.named).raw("</td></tr>\n");
    }
    html.raw("</tbody></table></div></details>\n");
}

/// The data for scripts and other programs.
fn data(report: &Report, source: HistorySource) -> Value {
    let job = |brief: &Brief| {
        let mut value = json!({ "number": brief.number, "offset": brief.offset, "fault": brief.fault });
        value["kind"] = if brief.size.is_some() { "pp" } else { "gp" }.into();
        if let Some(size) = brief.size {
            value["size"] = json!(size);
        }
        let in_full = report.jobs.binary_search_by_key(&brief.number, |job| job.number);
        let Some(job) = in_full.ok().map(|at| &report.jobs[at]) else {
            return value;
        };
        value["notes"] = json!(job.notes);
        match &job.kind {
            Kind::Gp(gp) => value["draws"] = gp.draws.len().into(),
            Kind::Pp(pp) => {
                value["before"] = json!(pp.before.map(|picture| picture.0));
                value["targets"] = pp
                    .targets
                    .iter()
                    .map(|target| json!(target.picture.map(|picture| picture.0)))
                    .collect();
                let draws = pp.draws.iter().map(|draw| {
                    json!({ "from": draw.from, "picture": draw.picture.map(|picture| picture.0), "summary": draw.summary })
                });
                value["draws"] = draws.collect();
                value["pixels"] = pp.histories.iter().map(|(pixel, _)| json!(pixel)).collect();
            }
        }
        value
    };
    let jobs: Vec<Value> = report.outline.jobs.iter().map(job).collect();
    let frames = report.outline.frames.iter();
    let frames: Vec<Value> = frames
        .map(|frame| json!({ "first": frame.jobs.start, "end": frame.jobs.end, "shows": frame.shows, "draws": frame.draws }))
        .collect();
    let resources = report.outline.resources.iter();
    let resources: Vec<Value> = resources
        .map(|one| json!({ "kind": one.kind.name(), "name": one.name, "address": one.address, "bytes": one.bytes }))
        .collect();
    let live = match source {
        HistorySource::Absent => json!(false),
        HistorySource::Server => json!(true),
        HistorySource::Parent => json!("parent"),
    };
    json!({
        "name": report.name, "device": report.device, "live": live, "jobs": jobs, "frames": frames, "resources": resources,
    })
}
