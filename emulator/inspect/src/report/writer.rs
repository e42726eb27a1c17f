//! Shared by the parts of a page: anchors, titles, pictures.

use super::html::Html;
use super::model::{Job, Program, Shown};
use super::pictures::{PictureId, Pictures};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::collections::BTreeSet;

/// Minimum side to which small pictures are enlarged.
const SMALL: u32 = 96;

/// State shared by the parts of a page.
pub(super) struct Writer<'a> {
    /// The page.
    pub html: Html,
    pictures: &'a Pictures,
    /// Before the numbers of pictures, where parts of a page have their own.
    prefix: String,
    /// Pictures already on the page.
    there: Vec<bool>,
}

/// Anchor of a job.
pub(super) fn job_name(job: usize) -> String {
    format!("job={job}")
}

/// Anchor of a draw.
pub(super) fn draw_name(job: usize, draw: impl std::fmt::Display) -> String {
    format!("job={job}&draw={draw}")
}

/// Anchor of a program.
pub(super) fn program_name(job: usize, program: usize) -> String {
    format!("job={job}&program={program}")
}

/// Anchor of an instruction, by its address in its program.
pub(super) fn line_name(job: usize, program: usize, address: u32) -> String {
    format!("job={job}&program={program}&line={address}")
}

/// Anchor of a resource.
pub(super) fn resource_name(resource: usize) -> String {
    format!("resource={resource}")
}

/// A program's title.
pub(super) fn program_title(program: &Program) -> String {
    let mut stage = program.stage.name().to_owned();
    stage[..1].make_ascii_uppercase();
    format!("{stage} program, {} instructions", program.lines.len())
}

/// Thumbnails of a page; the data of each is embedded at its first use.
pub(super) struct Thumbnails<'a> {
    pictures: &'a Pictures,
    there: BTreeSet<PictureId>,
}

impl<'a> Thumbnails<'a> {
    /// None of these is on the page yet.
    pub(super) fn new(pictures: &'a Pictures) -> Self {
        Self {
            pictures,
            there: BTreeSet::new(),
        }
    }

    /// A thumbnail, which is decoration: the text beside it says what it shows.
    pub(super) fn put(&mut self, html: &mut Html, id: PictureId) {
        let png = self.pictures.get(id);
        let [width, height] = png.size;
        html.raw("<img class=\"thumb\" alt=\"\" width=\"")
            .text(width)
            .raw("\" height=\"")
            .text(height);
        match self.there.insert(id) {
            true => html
                .raw("\" id=\"thumb-")
                .text(id.0)
                .raw("\" src=\"data:image/png;base64,")
                .text(BASE64_STANDARD.encode(&png.bytes)),
            // The script copies the data.
            false => html.raw("\" data-thumb=\"").text(id.0),
        };
        html.raw("\">");
    }
}

impl<'a> Writer<'a> {
    /// An empty page.
    pub(super) fn new(pictures: &'a Pictures, prefix: String) -> Self {
        Self {
            html: Html::default(),
            pictures,
            prefix,
            there: Vec::new(),
        }
    }

    /// A picture with its title.
    pub(super) fn figure(&mut self, shown: &Shown, job: &Job) {
        self.html.raw("<figure>");
        match shown.picture {
            Some(picture) => self.picture(picture, &shown.title),
            None => drop(self.html.raw("<p class=\"none\">no picture</p>")),
        }
        self.html.raw("<figcaption>");
        self.html
            .linked(&shown.title, job.number, |address| job.places.has(address));
        self.html.raw("</figcaption></figure>\n");
    }

    /// A picture; its data is embedded at its first use.
    pub(super) fn picture(&mut self, id: PictureId, alt: &str) {
        let png = self.pictures.get(id);
        let [width, height] = png.size;
        let large = (SMALL / width.max(height).max(1)).max(1);
        self.there.resize(self.there.len().max(id.0 + 1), false);
        let first = !std::mem::replace(&mut self.there[id.0], true);
        let html = &mut self.html;
        match first {
            true => html
                .raw("<img id=\"picture-")
                .text(&self.prefix)
                .text(id.0)
                .raw("\" decoding=\"async\" loading=\"lazy\""),
            false => html
                .raw("<a class=\"same\" href=\"#picture-")
                .text(&self.prefix)
                .text(id.0)
                .raw("\" data-picture=\"")
                .text(&self.prefix)
                .text(id.0)
                .raw("\""),
        };
        html.raw(" data-width=\"")
            .text(width)
            .raw("\" data-height=\"")
            .text(height);
        if !first {
            html.raw("\" data-scale=\"")
                .text(large)
                .raw("\" data-alt=\"")
                .text(alt)
                .raw("\">the same picture as above</a>");
            return;
        }
        html.raw("\" width=\"")
            .text(width * large)
            .raw("\" height=\"")
            .text(height * large)
            .raw("\" alt=\"")
            .text(alt);
        html.raw("\" src=\"data:image/png;base64,")
            .text(BASE64_STANDARD.encode(&png.bytes))
            .raw("\">");
        if png.step > 1 {
            html.raw("<small>every ")
                .text(png.step)
                .raw("th row and column</small>");
        }
    }
}
