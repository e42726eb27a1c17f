//! Reports of recordings: every job, draw, texture and program, as data and as an HTML page.

mod ask;
mod collect;
mod geometry;
mod html;
mod model;
mod page;
mod page_geometry;
mod page_history;
mod page_pixels;
pub(crate) mod paint;
mod pictures;
mod pixels;
mod places;
mod programs;
mod texts;
mod writer;

pub use ask::history;
pub use collect::{Options, collect};
pub use model::{Column, Geometry, Gp, Job, Kind, Painted, Pp, Program, ProgramLine, Report, Shown, Texture};
pub use page::{framed, page};
pub use pictures::{PictureId, Pictures, Png};
pub use places::{Place, Places};
