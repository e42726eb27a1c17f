//! Geometry jobs on the page.

use super::html::Html;
use super::mesh::SIDE;
use super::model::{Geometry, Gp, Job, Kind, Report};
use super::writer::{Writer, draw_name, program_name, program_title};

/// A geometry job: draws with their vertices, then the streams.
pub(super) fn gp(writer: &mut Writer<'_>, report: &Report, job: &Job, gp: &Gp) {
    for draw in &gp.draws {
        self::draw(writer, report, job, draw);
    }
    for (title, commands) in &gp.streams {
        let html = &mut writer.html;
        let known = |address| job.places.has(address);
        html.raw("<details><summary>")
            .text(title)
            .raw(": ")
            .text(commands.len())
            .raw(" commands</summary>\n");
        html.raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Commands\"><table class=\"code\">");
        html.raw("<thead><tr><th>address</th><th>words</th><th>command</th></tr></thead><tbody>\n");
        for command in commands {
            let [value, operation] = command.words;
            html.raw("<tr><td><code>");
            html.linked(
                &format!("at {:#010x}", command.address)["at ".len()..],
                job.number,
                known,
            );
            html.raw("</code></td><td><code>")
                .text(format_args!("{operation:08x} {value:08x}"))
                .raw("</code></td><td>");
            html.linked(&command.text, job.number, known);
            if !command.details.is_empty() {
                html.raw("<pre>")
                    .linked(&command.details.join("\n"), job.number, known)
                    .raw("</pre>");
            }
            html.raw("</td></tr>\n");
        }
        html.raw("</tbody></table></div></details>\n");
    }
}

fn draw(writer: &mut Writer<'_>, report: &Report, job: &Job, draw: &Geometry) {
    let html = &mut writer.html;
    let known = |address| job.places.has(address);
    html.raw("<article class=\"vertices\" id=\"")
        .text(draw_name(job.number, draw.number))
        .raw("\" tabindex=\"-1\">\n<h3>Draw ");
    html.text(draw.number)
        .raw("</h3>\n<p>")
        .linked(&draw.words, job.number, known)
        .raw("</p>\n<p>");
    let painted = painted(report, job.number, draw.number);
    if painted.is_empty() {
        html.raw("Nothing of it was painted by a pixel job here.");
    }
    for (at, (of, number)) in painted.into_iter().enumerate() {
        html.raw(if at > 0 { " · " } else { "" });
        html.raw("<a class=\"painted\" href=\"#")
            .text(draw_name(of, number))
            .raw("\">Painted by job ")
            .text(of);
        html.raw(" as draw ").text(number).raw("</a>");
    }
    if let Some((number, program)) = draw
        .program
        .and_then(|number| Some((number, job.programs.get(number)?)))
    {
        html.raw(" · <a href=\"#")
            .text(program_name(job.number, number))
            .raw("\">")
            .text(program_title(program))
            .raw("</a>");
    }
    html.raw("</p>\n");
    meshes(html, draw);
    if !draw.columns.is_empty() {
        table(writer, job, draw);
    }
    writer.html.raw("</article>\n");
}

/// The pixel jobs that drew a draw, and its index in each.
fn painted(report: &Report, job: usize, draw: u32) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for of in report.jobs.iter().filter(|of| of.number >= job) {
        if let Kind::Pp(pp) = &of.kind {
            let own = pp
                .draws
                .iter()
                .enumerate()
                .filter(|(_, painted)| painted.from == Some((job, draw)));
            found.extend(own.map(|(number, _)| (of.number, number)));
        }
    }
    found
}

/// The triangles before and after the program.
fn meshes(html: &mut Html, draw: &Geometry) {
    if draw.meshes.is_empty() {
        return;
    }
    html.raw("<div class=\"row\">\n");
    for mesh in &draw.meshes {
        html.raw("<figure class=\"mesh\"><svg role=\"img\" width=\"240\" height=\"240\" viewBox=\"0 0 ")
            .text(format_args!("{SIDE} {SIDE}"))
            .raw("\" aria-label=\"")
            .text(&mesh.title)
            .raw("\"><path d=\"");
        for outline in &mesh.outlines {
            for (at, [x, y]) in outline.iter().enumerate() {
                html.raw(if at == 0 { "M" } else { "L" });
                html.text(format_args!("{x:.0} {y:.0}"));
            }
            // A point is a line to itself.
            html.raw("Z");
        }
        html.raw("\"/></svg><figcaption>").text(&mesh.title);
        if mesh.more > 0 {
            html.raw("; ").text(mesh.more).raw(" more are not shown");
        }
        html.raw("</figcaption></figure>\n");
    }
    html.raw("</div>\n");
}

fn table(writer: &mut Writer<'_>, job: &Job, draw: &Geometry) {
    let html = &mut writer.html;
    html.raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Vertices\"><table class=\"numbers\"><thead><tr><th>vertex</th>");
    for column in &draw.columns {
        html.raw("<th>").text(&column.name).raw("<br><small>");
        html.linked(&column.place, job.number, |address| job.places.has(address))
            .raw("</small></th>");
    }
    html.raw("</tr></thead><tbody>\n");
    for (vertex, values) in &draw.rows {
        html.raw("<tr><th>").text(vertex).raw("</th>");
        for (column, value) in draw.columns.iter().zip(values) {
            html.raw("<td>");
            match value {
                Some(value) => {
                    let texts: Vec<String> = value
                        .iter()
                        .take(column.components)
                        .map(|value| short(*value))
                        .collect();
                    html.text(texts.join("  "))
                }
                None => html.raw("–"),
            };
            html.raw("</td>");
        }
        html.raw("</tr>\n");
    }
    html.raw("</tbody></table></div>\n");
    let shown = draw.rows.len() as u32;
    if shown < draw.vertices {
        html.raw("<p class=\"left-out\">")
            .text(draw.vertices - shown)
            .raw(" more vertices are not shown.</p>\n");
    }
}

/// A number with few digits.
fn short(value: f32) -> String {
    let size = value.abs();
    match size == 0.0 || (1e-3..1e6).contains(&size) {
        true => format!("{value:.4}"),
        false => format!("{value:.3e}"),
    }
}
