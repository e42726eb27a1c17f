//! The textures, targets, buffers and programs of a recording on the page, with their users.

use super::html::Html;
use super::outline::{Outline, Resource, ResourceKind, User};
use super::writer::{Thumbnails, draw_name, job_name, resource_name};
use std::ops::RangeInclusive;

/// Limit on the listed jobs of a resource.
const MAX_JOBS: usize = 64;

/// Jobs of a resource that are visible at once.
const FEW: usize = 4;

/// The lists, and their titles.
const LISTS: [(ResourceKind, &str); 4] = [
    (ResourceKind::Texture, "Textures"),
    (ResourceKind::Target, "Targets"),
    (ResourceKind::Buffer, "Buffers"),
    (ResourceKind::Program, "Programs"),
];

/// The uses of a resource by a job: its draws, and what for.
struct Uses {
    job: usize,
    draws: Vec<RangeInclusive<u32>>,
    roles: Vec<&'static str>,
}

/// The section with all lists.
pub(super) fn section(html: &mut Html, outline: &Outline, thumbnails: &mut Thumbnails<'_>) {
    html.raw("<section class=\"resources\" id=\"resources\" tabindex=\"-1\" aria-label=\"Resources\">\n");
    html.raw("<h2>Textures, buffers and programs</h2>\n");
    for (kind, title) in LISTS {
        let all = outline.resources.iter().enumerate().filter(|(_, one)| one.kind == kind);
        let all: Vec<_> = all.collect();
        if all.is_empty() {
            continue;
        }
        html.raw("<h3>")
            .text(title)
            .raw("</h3>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
        html.text(title).raw("\"><table class=\"resource-list\"><thead><tr><th>what</th><th>address</th><th>used by</th></tr></thead><tbody>\n");
        for (number, resource) in all {
            row(html, number, resource, thumbnails);
        }
        html.raw("</tbody></table></div>\n");
    }
    html.raw("</section>\n");
}

fn row(html: &mut Html, number: usize, resource: &Resource, thumbnails: &mut Thumbnails<'_>) {
    html.raw("<tr id=\"")
        .text(resource_name(number))
        .raw("\" tabindex=\"-1\"><td>");
    if let Some(thumbnail) = resource.thumbnail {
        thumbnails.put(html, thumbnail);
    }
    html.text(&resource.name).raw("</td><td><code>");
    html.text(format_args!("{:#010x}", resource.address))
        .raw("</code></td><td>");
    let all = uses(&resource.users);
    let count = all.len();
    for uses in all.iter().take(FEW) {
        self::uses_of_job(html, uses);
    }
    if count > FEW {
        html.raw("<details><summary>")
            .text(count - FEW)
            .raw(" more jobs</summary>");
        for uses in all.iter().take(MAX_JOBS).skip(FEW) {
            self::uses_of_job(html, uses);
        }
        if count > MAX_JOBS {
            html.raw("<div>and ").text(count - MAX_JOBS).raw(" earlier ones</div>");
        }
        html.raw("</details>");
    }
    html.raw("</td></tr>\n");
}

/// By job, the last first.
fn uses(users: &[User]) -> Vec<Uses> {
    let mut all: Vec<Uses> = Vec::new();
    for user in users {
        if all.last().is_none_or(|last| last.job != user.job) {
            all.push(Uses {
                job: user.job,
                draws: Vec::new(),
                roles: Vec::new(),
            });
        }
        let Some(last) = all.last_mut() else { continue };
        if !last.roles.contains(&user.role) {
            last.roles.push(user.role);
        }
        let Some(draw) = user.draw else { continue };
        match last.draws.last_mut() {
            Some(range) if *range.end() == draw => {}
            Some(range) if range.end() + 1 == draw => *range = *range.start()..=draw,
            _ => last.draws.push(draw..=draw),
        }
    }
    all.reverse();
    all
}

fn uses_of_job(html: &mut Html, uses: &Uses) {
    html.raw("<div><a href=\"#")
        .text(job_name(uses.job))
        .raw("\">job ")
        .text(uses.job)
        .raw("</a>");
    for (at, draws) in uses.draws.iter().enumerate() {
        html.raw(if at > 0 { ", " } else { ": draw " });
        draw(html, uses.job, *draws.start());
        if draws.start() != draws.end() {
            html.raw("–");
            draw(html, uses.job, *draws.end());
        }
    }
    html.raw(" <small>").text(uses.roles.join(", ")).raw("</small></div>");
}

fn draw(html: &mut Html, job: usize, draw: u32) {
    html.raw("<a href=\"#")
        .text(draw_name(job, draw))
        .raw("\">")
        .text(draw)
        .raw("</a>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_ranges_by_job() {
        let user = |job, draw| User {
            job,
            draw: Some(draw),
            role: "texture",
        };
        let all = uses(&[user(0, 0), user(0, 1), user(0, 2), user(0, 5), user(2, 7), user(2, 7)]);
        let shown: Vec<_> = all.iter().map(|uses| (uses.job, uses.draws.clone())).collect();
        assert_eq!(shown, [(2, vec![7..=7]), (0, vec![0..=2, 5..=5])]);
        let mut html = Html::default();
        uses_of_job(&mut html, &all[1]);
        assert_eq!(
            html.finish(),
            "<div><a href=\"#job=0\">job 0</a>: draw <a href=\"#job=0&amp;draw=0\">0</a>–\
             <a href=\"#job=0&amp;draw=2\">2</a>, <a href=\"#job=0&amp;draw=5\">5</a> <small>texture</small></div>"
        );
    }
}
