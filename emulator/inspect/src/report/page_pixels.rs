//! Pixel jobs on the page.

use super::html::Html;
use super::model::{Job, Painted, Pp, Shown, Texture};
use super::page_history;
use super::writer::{Writer, draw_name, program_name, program_title};

/// A pixel job: targets, draws, maps, pixels.
pub(super) fn pp(writer: &mut Writer<'_>, job: &Job, pp: &Pp) {
    let known = |address| job.places.has(address);
    writer.html.raw("<div class=\"row targets\">\n");
    for target in &pp.targets {
        writer.figure(target, job);
    }
    writer.html.raw("<pre class=\"words\">");
    writer.html.linked(&pp.frame, job.number, known).raw("</pre>\n</div>\n");
    for (pixel, entries) in &pp.histories {
        page_history::section(&mut writer.html, job.number, pp, *pixel, entries);
    }
    if let Some(before) = pp.before {
        writer
            .html
            .raw("<article class=\"draw before\" id=\"")
            .text(draw_name(job.number, "before"));
        writer
            .html
            .raw("\" tabindex=\"-1\">\n<h3>Before the first draw</h3>\n<figure class=\"after\">");
        writer.picture(before, "the picture before the first draw");
        writer.html.raw("</figure>\n</article>\n");
    }
    for (number, draw) in pp.draws.iter().enumerate() {
        self::draw(writer, job, pp, number, draw);
    }
    writer
        .html
        .raw("<section class=\"maps\">\n<h3>The whole job</h3>\n<div class=\"row\">\n");
    for map in &pp.maps {
        writer.figure(map, job);
    }
    writer.html.raw("</div>\n");
    costliest(&mut writer.html, pp);
    writer.html.raw("</section>\n");
}

fn costliest(html: &mut Html, pp: &Pp) {
    if pp.costly.is_empty() {
        return;
    }
    html.raw("<p>The costliest tiles: ");
    let tile = |(column, row, cost): &(u32, u32, u64)| format!("({column}, {row}) {cost} instructions");
    html.text(pp.costly.iter().map(tile).collect::<Vec<_>>().join(", "))
        .raw(".</p>\n");
}

fn draw(writer: &mut Writer<'_>, job: &Job, pp: &Pp, number: usize, draw: &Painted) {
    let html = &mut writer.html;
    html.raw("<article class=\"draw\" id=\"")
        .text(draw_name(job.number, number))
        .raw("\" tabindex=\"-1\">\n<h3>Draw ");
    html.text(number)
        .raw("</h3>\n<p class=\"summary\">")
        .text(&draw.summary);
    if let Some((of, from)) = draw.from {
        html.raw("; <a class=\"its-vertices\" href=\"#")
            .text(draw_name(of, from))
            .raw("\">its vertices: job ")
            .text(of);
        html.raw(", draw ").text(from).raw("</a>");
    }
    html.raw("</p>\n");
    for trouble in &draw.trouble {
        html.raw("<p class=\"fault\">")
            .linked(trouble, job.number, |address| job.places.has(address))
            .raw("</p>\n");
    }
    html.raw("<div class=\"row\">\n");
    writer.html.raw("<figure class=\"after\">");
    match draw.picture {
        Some(picture) => writer.picture(picture, "the picture after this draw"),
        None => drop(writer.html.raw("<p class=\"none\">no picture</p>")),
    }
    writer
        .html
        .raw("<figcaption>the picture after this draw</figcaption></figure>\n");
    mesh(&mut writer.html, pp.size, draw);
    for buffer in &draw.buffers {
        writer.figure(buffer, job);
    }
    writer.html.raw("</div>\n");
    state(&mut writer.html, job, draw);
    for texture in &draw.textures {
        self::texture(writer, job, texture);
    }
    writer.html.raw("</article>\n");
}

/// The triangles as outlines.
fn mesh(html: &mut Html, [width, height]: [u32; 2], draw: &Painted) {
    if draw.mesh.is_empty() {
        return;
    }
    html.raw("<figure class=\"mesh\"><svg role=\"img\" aria-label=\"the triangles of this draw\" viewBox=\"0 0 ");
    html.text(width)
        .raw(" ")
        .text(height)
        .raw("\" width=\"")
        .text(width)
        .raw("\" height=\"")
        .text(height)
        .raw("\"><path d=\"");
    for corners in &draw.mesh {
        for (at, corner) in corners.iter().enumerate() {
            // Far coordinates are clamped: lines keep their direction within the picture, as far as visible.
            let [x, y] = corner.map(|value| value.clamp(-16384.0, 16384.0));
            html.raw(if at == 0 { "M" } else { "L" });
            html.text(format_args!("{x:.1} {y:.1}"));
        }
        html.raw("Z");
    }
    let triangles = if draw.mesh.len() == 1 {
        " triangle"
    } else {
        " triangles"
    };
    html.raw("\"/></svg><figcaption>").text(draw.mesh.len()).raw(triangles);
    if draw.more_triangles > 0 {
        html.raw("; ").text(draw.more_triangles).raw(" more are not shown");
    }
    html.raw("</figcaption></figure>\n");
}

/// The render state, non-default values first.
fn state(html: &mut Html, job: &Job, draw: &Painted) {
    let known = |address| job.places.has(address);
    html.raw("<h4>State</h4>\n<ul class=\"state\">\n");
    let unusual = draw.state.iter().filter(|said| said.unusual);
    let usual = draw.state.iter().filter(|said| !said.unusual);
    for said in unusual.chain(usual) {
        html.raw(if said.unusual { "<li class=\"unusual\">" } else { "<li>" });
        html.linked(&said.text, job.number, known).raw("</li>\n");
    }
    html.raw("<li>")
        .linked(&format!("render state at {:#x}", draw.state_address), job.number, known);
    if let Some((number, program)) = draw
        .program
        .and_then(|number| Some((number, job.programs.get(number)?)))
    {
        html.raw("; <a class=\"program-link\" href=\"#")
            .text(program_name(job.number, number))
            .raw("\">");
        html.text(program_title(program)).raw("</a>");
    }
    html.raw("</li>\n</ul>\n");
    if !draw.uniforms.is_empty() {
        html.raw("<details><summary>Uniforms</summary><pre class=\"words\">");
        html.linked(&draw.uniforms, job.number, known).raw("</pre></details>\n");
    }
}

fn texture(writer: &mut Writer<'_>, job: &Job, texture: &Texture) {
    writer
        .html
        .raw("<h4>Texture ")
        .text(texture.number)
        .raw("</h4>\n<pre class=\"words\">");
    writer
        .html
        .linked(&texture.words, job.number, |address| job.places.has(address));
    writer.html.raw("</pre>\n<div class=\"row textures\">\n");
    let shown: &[Shown] = &texture.levels;
    for level in shown {
        writer.figure(level, job);
    }
    writer.html.raw("</div>\n");
}
