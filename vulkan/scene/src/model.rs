//! The keys of a scene file.

use crate::error::{Error, Result};
use crate::picture::Picture;
use crate::state::{Border, DepthBias, Filter, FrontFace, LogicOp, PolygonMode, Stencil, Target, Wrap};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vulkan::{Blend, Compare, Cull, Depth};

/// Numbers in lists of any nesting; the nesting has no meaning.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged, expecting = "expected a number or a list of numbers")]
pub enum Numbers {
    /// One number.
    One(f64),
    /// Several.
    Many(Vec<Numbers>),
}

impl Numbers {
    /// All numbers in order.
    pub fn flat(&self) -> Vec<f64> {
        match self {
            Self::One(number) => vec![*number],
            Self::Many(list) => list.iter().flat_map(Self::flat).collect(),
        }
    }
}

/// A scene file; see the [crate](crate) for the keys.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[allow(missing_docs)] // the crate's doc is the reference
pub struct Scene {
    pub size: Option<[u32; 2]>,
    pub vertices: Option<u32>,
    pub instances: Option<u32>,
    pub draws: Option<u32>,
    pub topology: Option<Topology>,
    pub patch_points: Option<u32>,
    pub cull: Option<Cull>,
    pub blend: Option<Blend>,
    pub clear: Option<[f32; 4]>,
    pub target: Option<Format>,
    pub depth: Option<Depth>,
    pub stencil: Option<Stencil>,
    pub polygon_mode: Option<PolygonMode>,
    pub front_face: Option<FrontFace>,
    pub line_width: Option<f32>,
    pub depth_clamp: Option<bool>,
    pub depth_bias: Option<DepthBias>,
    pub samples: Option<u32>,
    pub sample_shading: Option<f32>,
    pub sample_mask: Option<u64>,
    pub alpha_to_coverage: Option<bool>,
    pub alpha_to_one: Option<bool>,
    pub blend_constants: Option<[f32; 4]>,
    pub logic_op: Option<LogicOp>,
    pub targets: BTreeMap<String, Target>,
    pub inputs: BTreeMap<String, Numbers>,
    pub uniform: BTreeMap<String, Numbers>,
    pub slots: BTreeMap<String, Slot>,
    pub subpass: Vec<Slot>,
    /// Folder that image paths are relative to: the scene file's folder.
    #[serde(skip)]
    pub folder: PathBuf,
    /// Pictures that need no file, by what `image` calls them.
    #[serde(skip)]
    pub pictures: BTreeMap<PathBuf, Arc<Picture>>,
}

/// Primitive topology.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Topology {
    Points,
    Lines,
    LineStrip,
    Triangles,
    TriangleStrip,
    TriangleFan,
    LinesAdjacency,
    TrianglesAdjacency,
    Patches,
}

/// Format of float targets and float images.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Format {
    Rgba8,
    Rgba32f,
}

/// Contents of a slot or subpass input.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[allow(missing_docs)]
pub struct Slot {
    pub image: Option<PathBuf>,
    pub fill: Option<Numbers>,
    pub texels: Option<Numbers>,
    pub size: Option<Vec<u32>>,
    pub layers: Option<u32>,
    pub levels: Option<u32>,
    pub format: Option<Format>,
    pub filter: Option<Filter>,
    pub mag_filter: Option<Filter>,
    pub min_filter: Option<Filter>,
    pub mipmap_filter: Option<Filter>,
    pub wrap: Option<Wrap>,
    pub wrap_x: Option<Wrap>,
    pub wrap_y: Option<Wrap>,
    pub wrap_z: Option<Wrap>,
    pub border: Option<Border>,
    pub lod_bias: Option<f32>,
    pub min_lod: Option<f32>,
    pub max_lod: Option<f32>,
    pub anisotropy: Option<f32>,
    pub compare: Option<Compare>,
    pub floats: Option<Numbers>,
    pub ints: Option<Numbers>,
    pub uints: Option<Numbers>,
    pub at: usize,
}

impl Scene {
    /// Parses TOML, or JSON if the first character is `{`.
    ///
    /// # Errors
    /// Syntax errors, unknown keys and wrong types, with line and column.
    pub fn parse(text: &str, folder: &Path) -> Result<Self> {
        let parsed = match text.trim_start().starts_with('{') {
            true => serde_json::from_str(text).map_err(Error::scene),
            false => toml::from_str(text).map_err(Error::scene),
        };
        parsed.map(|scene| Self {
            folder: folder.to_owned(),
            ..scene
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_and_json_are_the_same() {
        let toml = "vertices = 6\ntopology = \"line-strip\"\n[inputs]\n0 = [[1, 2.5], [3, 4]]\n[slots.3]\nfloats = [1]";
        let json = r#"{"vertices": 6, "topology": "line-strip", "inputs": {"0": [1, 2.5, [3, 4]]},
                       "slots": {"3": {"floats": [1]}}}"#;
        let (toml, json) = (
            Scene::parse(toml, Path::new("")).unwrap(),
            Scene::parse(json, Path::new("")).unwrap(),
        );
        assert_eq!(toml.inputs["0"].flat(), [1.0, 2.5, 3.0, 4.0]);
        assert_eq!(toml.inputs["0"].flat(), json.inputs["0"].flat());
        assert_eq!(
            (toml.vertices, toml.topology, &toml.slots),
            (json.vertices, json.topology, &json.slots)
        );
    }

    #[test]
    fn unknown_keys_are_errors() {
        let error = Scene::parse("vertexes = 3", Path::new("")).unwrap_err();
        assert!(error.to_string().contains("vertexes"), "{error}");
    }
}
