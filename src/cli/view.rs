//! `--view`: the picture on a local page, drawn again while its time runs and when a file that it is made of changes.

#[cfg_attr(target_family = "wasm", path = "view/no_sockets.rs")]
mod page;

use crate::cli::outcome::Outcome;
use scene::picture::Picture;

pub(crate) use page::show;

/// What is shown, as loaded from the files.
#[cfg_attr(target_family = "wasm", expect(dead_code, reason = "no page reads them"))]
pub(crate) struct Shown<'a> {
    /// Whether it has a uniform for the time.
    pub is_animated: bool,
    /// Draws it at a time.
    pub draw: Box<dyn FnMut(Option<f64>) -> Outcome<Picture> + 'a>,
}
