//! Reports of recordings: every job, draw, texture and program, as data and as an HTML page.

mod ask;
mod collect;
mod geometry;
mod html;
mod mesh;
mod model;
mod outline;
mod page;
mod page_geometry;
mod page_history;
mod page_pixels;
mod page_resources;
pub(crate) mod paint;
mod pictures;
mod pixels;
mod places;
mod programs;
mod session;
mod texts;
mod writer;

pub use ask::history;
pub use collect::{Options, collect, collect_frames, outline};
pub use model::{Column, Geometry, Gp, Job, Kind, Mesh, Painted, Pp, Program, ProgramLine, Report, Shown, Texture};
pub use outline::{Brief, Frame, Outline, Resource, ResourceKind, User};
pub use page::{framed, page};
pub use pictures::{PictureId, Pictures, Png};
pub use places::{Place, Places};
pub use session::Session;
