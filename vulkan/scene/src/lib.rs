//! Draws a VBC shader with a scene; shared by the `run` command, the examples and the tests.
//!
//! [`harness::draw`] loads a file on a device and draws it; [`picture::Picture`] is the result. Data that the file does
//! not contain (vertex data, uniforms, images, topology, blend, depth) comes from a [`Scene`], and from [`defaults`]
//! for keys that the scene omits.
//!
//! ```
//! # use vulkan as skrymir_vulkan;
//! use skrymir_scene::{Scene, harness, picture::Picture, sample};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let context = skrymir_vulkan::Context::new(&skrymir_vulkan::Options::default())?;
//! let scene = Scene::parse("size = [64, 64]\nclear = [0, 0, 1, 1]", "".as_ref())?;
//! let drawn = harness::draw(&context, &sample::triangle()?, &scene)?;
//! let picture = Picture::of(&drawn.frame.targets[0]);
//! assert_eq!(picture.at(0, 0), [0, 0, 255, 255]);
//! assert_ne!(picture.at(32, 32), [0, 0, 255, 255]);
//! # let folder = std::env::temp_dir().join(format!("skrymir-scene-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let file = |name: &str| folder.join(name);
//! std::fs::write(file("triangle.png"), picture.to_png()?)?;
//! # std::fs::remove_dir_all(folder)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Scenes
//!
//! A scene is TOML or JSON (detected by the first character) with these keys, all optional:
//!
//! ```toml
//! size = [256, 256]            # picture, in pixels
//! vertices = 3                 # per draw
//! instances = 1
//! draws = 1                    # the same draw again
//! topology = "triangles"       # points lines line-strip triangle-strip triangle-fan lines-adjacency
//! #                            triangles-adjacency patches; default: what the shader requires
//! patch-points = 3             # control points of a patch
//! cull = "none"                # front back
//! blend = "none"               # alpha premultiplied additive multiply
//! clear = [0, 0, 0, 1]
//! target = "rgba8"             # rgba32f: float targets unrounded
//! depth = { compare = "less", write = true, clear = 1.0 }
//! stencil = { front = { compare = "equal", pass = "increment-and-clamp" }, clear = 0 }
//! samples = 4                  # also sample-shading sample-mask alpha-to-coverage alpha-to-one
//! polygon-mode = "fill"        # line point; also front-face line-width depth-clamp depth-bias
//! logic-op = "xor"             # also blend-constants
//!
//! [targets.0]                  # by location: clear colour, blending by factors and operations, write mask
//! dst-color-factor = "one-minus-src-alpha"
//! write-mask = "rgb"
//!
//! [inputs]                     # by location or by name; one number list per vertex, nested in any way
//! 0 = [[0, -0.8], [0.8, 0.8], [-0.8, 0.8]]
//!
//! [uniform]                    # members by name; matrices column by column
//! tint = [1, 0.5, 0, 1]
//!
//! [slots.0]                    # by number or by name; an image: a file, one texel everywhere, or all texels
//! image = "stone.png"
//! filter = "linear"            # nearest
//! wrap = "clamp"               # repeat mirror border mirror-clamp; also mag-filter min-filter mipmap-filter wrap-x
//! #                            wrap-y wrap-z border lod-bias min-lod max-lod anisotropy compare
//!
//! [slots.1]
//! texels = [0, 0, 0, 1, 1, 1, 1, 1]
//! size = [2, 1]                # width, height, depth
//! layers = 1
//! levels = 1                   # mip levels, consecutive in texels
//! format = "rgba32f"           # of sampled float images; default rgba8
//!
//! [slots.3]                    # a buffer: consecutive words; the first `at` bytes keep their default data
//! floats = [0, 0, 1, 0.5]      # or ints, uints
//!
//! [[subpass]]                  # in order
//! fill = [1, 0, 0, 1]
//! ```
//!
//! Omitted keys have the values that [`defaults`] documents.
#![forbid(unsafe_code)]

pub mod apply;
pub mod defaults;
mod error;
pub mod harness;
pub mod interface;
mod model;
pub mod nearest;
pub mod picture;
mod pipeline;
pub mod sample;
mod state;
pub mod watch;

pub use error::{Error, ErrorKind, Result};
pub use model::{Format, Numbers, Scene, Slot, Topology};
pub use state::{
    BlendFactor, BlendOp, Border, DepthBias, Filter, FrontFace, LogicOp, PolygonMode, Stencil, StencilFace, StencilOp,
    Target, Wrap,
};
pub use vulkan::{Blend, Compare, Cull, Depth};
