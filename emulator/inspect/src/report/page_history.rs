//! Histories of pixels on the page; the server sends the same fragments on demand.

use super::html::Html;
use super::model::Pp;
use super::writer::{draw_name, line_name};
use crate::history::{End, Entry, numbers};

/// The history of a pixel as an HTML fragment.
pub(super) fn section(html: &mut Html, job: usize, pp: &Pp, [x, y]: [u32; 2], entries: &[Entry]) {
    html.raw("<section class=\"history\" data-pixel=\"")
        .text(format_args!("{x},{y}"))
        .raw("\" id=\"");
    html.text(format_args!("job={job}&px={x},{y}"))
        .raw("\" tabindex=\"-1\" aria-label=\"Pixel ");
    html.text(format_args!("{x}, {y}")).raw("\">\n<h3>Pixel ");
    html.text(format_args!("{x}, {y}")).raw("</h3>\n");
    if entries.is_empty() {
        html.raw("<p>No fragment came here: it keeps what the tile was cleared to.</p>\n</section>\n");
        return;
    }
    html.raw(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Fragments of the pixel\"><table><thead><tr>",
    );
    html.raw("<th>draw</th><th>primitive</th><th>colour</th><th>outcome</th><th>pixel after it</th>");
    html.raw("</tr></thead><tbody>\n");
    for entry in entries {
        self::entry(html, job, pp, entry);
    }
    html.raw("</tbody></table></div>\n</section>\n");
}

fn entry(html: &mut Html, job: usize, pp: &Pp, entry: &Entry) {
    let from = entry.job.map(|job| (job, entry.draw));
    let painted = pp
        .draws
        .iter()
        .position(|draw| draw.from.is_some() && draw.from == from);
    html.raw(match entry.end {
        End::Written => "<tr class=\"written\"><td>",
        End::Lost => "<tr class=\"lost\"><td>",
    });
    match (painted, from) {
        (Some(draw), _) => html
            .raw("<a href=\"#")
            .text(draw_name(job, draw))
            .raw("\">draw ")
            .text(draw)
            .raw("</a>"),
        // A draw without fragments is known only by its vertices.
        (None, Some((of, draw))) => {
            html.raw("<a href=\"#")
                .text(draw_name(of, draw))
                .raw("\">job ")
                .text(of);
            html.raw(", draw ").text(draw).raw("</a>")
        }
        (None, None) => html.raw("draw ").text(entry.draw),
    };
    html.raw("</td><td>").text(entry.primitive).raw("</td><td>");
    if let Some(color) = entry.color {
        swatch(
            html,
            color.map(|channel| (channel.clamp(0.0, 1.0) * 255.0).round() as u8),
        );
        html.raw(" <code>").text(numbers(color)).raw("</code>");
    }
    if let Some(depth) = entry.depth {
        html.raw("<br><small>depth ")
            .text(format_args!("{depth:.6}"))
            .raw("</small>");
    }
    html.raw("</td><td><b class=\"reason\">").raw(entry.reason).raw("</b> ");
    html.text(entry.words.join("\n"));
    let program = painted.and_then(|draw| pp.draws[draw].program);
    if let (Some(program), Some(instruction)) = (program, entry.instruction) {
        html.raw("\n<a class=\"instruction\" href=\"#")
            .text(line_name(job, program, instruction))
            .raw("\">by instruction ")
            .text(instruction)
            .raw("</a>");
    }
    html.raw("</td><td>");
    if let Some(after) = entry.after {
        swatch(html, after);
        html.raw(" <code>")
            .text(format_args!("{} {} {} {}", after[0], after[1], after[2], after[3]))
            .raw("</code>");
    }
    html.raw("</td></tr>\n");
}

/// A small square of a colour, ignoring alpha.
fn swatch(html: &mut Html, [red, green, blue, _]: [u8; 4]) {
    html.raw("<svg class=\"swatch\" width=\"14\" height=\"14\" aria-hidden=\"true\"><rect width=\"14\" height=\"14\" fill=\"#");
    html.text(format_args!("{red:02x}{green:02x}{blue:02x}"))
        .raw("\"/></svg>");
}
