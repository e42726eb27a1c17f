//! Scene files.

use skrymir::scene::Scene;
use std::path::Path;

/// Any text is a scene or an error with a message.
pub fn parse(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Scene::parse(text, Path::new("")) {
        Ok(scene) => scene.inputs.values().for_each(|numbers| drop(numbers.flat())),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Initial scenes.
pub fn seeds() -> Vec<Vec<u8>> {
    let toml = "size = [64, 48]\nvertices = 6\ntopology = \"line-strip\"\nclear = [0, 0, 0, 1]\nblend = \"alpha\"\ncull = \"back\"\n\
        depth = { compare = \"less\", write = true, clear = 1.0 }\nsamples = 4\n\
        stencil = { front = { compare = \"equal\", pass = \"invert\" }, clear = 1 }\n[targets.0]\nwrite-mask = \"rgb\"\n[inputs]\n0 = [[0, -0.8], [0.8, 0.8]]\n[uniform]\ntint = [1, 0.5]\n\
        [slots.0]\nimage = \"a.png\"\nfilter = \"linear\"\n[slots.1]\ntexels = [0, 1]\nsize = [2, 1]\n[slots.3]\nfloats = [1]\n[[subpass]]\nfill = [1, 0, 0, 1]\n";
    let json = r#"{"vertices": 6, "inputs": {"0": [1, 2.5, [3, 4]]}, "slots": {"3": {"floats": [1]}}}"#;
    vec![toml.into(), json.into()]
}
