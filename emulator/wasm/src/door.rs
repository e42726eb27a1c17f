//! What JavaScript calls. Types are in `types.d.ts`, which becomes a part of the package's own.
#![expect(unreachable_pub, reason = "wasm_bindgen exports public functions alone")]

use crate::refusal::Refusal;
use crate::{Program, files};
use js_sys::{Error, JSON, Object, Reflect, Uint8Array};
use serde::Serialize;
use std::path::Path;
use std::sync::Mutex;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("types.d.ts");

/// Words of the last panic: what comes behind it is a trap without words.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Panics are remembered; they are mistakes of this program, or of naga, and end the instance.
#[wasm_bindgen(start)]
fn start() {
    std::panic::set_hook(Box::new(|info| {
        if let Ok(mut words) = PANIC.lock() {
            *words = info.to_string();
        }
    }));
}

/// What the panic said that ended this instance, or nothing.
#[wasm_bindgen(js_name = lastPanic)]
pub fn last_panic() -> String {
    PANIC.lock().map(|words| words.clone()).unwrap_or_default()
}

/// The version of the package.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// Bytes of this instance's memory, for those who measure.
#[wasm_bindgen(js_name = memoryBytes)]
pub fn memory_bytes() -> f64 {
    let memory: js_sys::WebAssembly::Memory = wasm_bindgen::memory().unchecked_into();
    memory
        .buffer()
        .unchecked_into::<js_sys::ArrayBuffer>()
        .byte_length()
        .into()
}

fn set(object: &Object, key: &str, value: &JsValue) {
    // Fails for frozen objects and proxies, and these are neither.
    let _ = Reflect::set(object, &key.into(), value);
}

/// A plain object of what is serialised.
fn object(value: &impl Serialize) -> JsValue {
    let text = serde_json::to_string(value).unwrap_or_default();
    JSON::parse(&text).unwrap_or(JsValue::NULL)
}

/// An error with the place it is about.
fn thrown(refusal: Refusal) -> JsValue {
    let error = Error::new(&refusal.message);
    let place = [("line", refusal.line), ("column", refusal.column)];
    for (key, number) in place {
        set(&error, key, &number.map_or(JsValue::UNDEFINED, JsValue::from));
    }
    set(&error, "file", &refusal.file.map_or(JsValue::UNDEFINED, JsValue::from));
    error.into()
}

/// A program, or why there is none.
fn outcome(found: &Result<Program, Refusal>) -> JsValue {
    let outcome = Object::new();
    match found {
        Ok(program) => set(&outcome, "program", &object(program)),
        Err(refusal) => set(&outcome, "refusal", &object(refusal)),
    }
    outcome.into()
}

/// A vertex and a fragment shader.
#[wasm_bindgen]
pub struct Shaders(crate::Shaders);

#[wasm_bindgen]
impl Shaders {
    /// Compiles two texts, or one that has both stages.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str, text: &str, fragment_name: Option<String>, fragment_text: Option<String>) -> Self {
        let second = fragment_name.as_deref().zip(fragment_text.as_deref());
        Self(crate::Shaders::new((name, text), second))
    }

    /// The vertex program, or why there is none.
    #[wasm_bindgen(getter, unchecked_return_type = "Outcome")]
    pub fn vertex(&self) -> JsValue {
        outcome(&self.0.vertex)
    }

    /// The fragment program, or why there is none.
    #[wasm_bindgen(getter, unchecked_return_type = "Outcome")]
    pub fn fragment(&self) -> JsValue {
        outcome(&self.0.fragment)
    }

    /// A program as a file (MBS), where it was compiled.
    pub fn mbs(&self, #[wasm_bindgen(unchecked_param_type = "Stage")] stage: &str) -> Option<Vec<u8>> {
        let found = if stage == "vertex" {
            &self.0.vertex
        } else {
            &self.0.fragment
        };
        found.as_ref().ok().map(|program| program.mbs.clone())
    }

    /// What the shaders take.
    #[wasm_bindgen(unchecked_return_type = "Inputs")]
    pub fn inputs(&self) -> Result<JsValue, JsValue> {
        self.0.inputs().map(|inputs| object(&inputs)).map_err(thrown)
    }

    /// The picture, as `skrymir draw` makes it.
    #[wasm_bindgen(unchecked_return_type = "Picture")]
    pub fn draw(&self, scene: &Scene) -> Result<JsValue, JsValue> {
        let picture = self.0.draw(&scene.0).map_err(thrown)?;
        let drawn = Object::new();
        set(&drawn, "width", &picture.width.into());
        set(&drawn, "height", &picture.height.into());
        set(&drawn, "rgba", &Uint8Array::from(picture.rgba.as_slice()));
        Ok(drawn.into())
    }

    /// What of the scene is declared and not used, in words.
    pub fn notes(&self, scene: &Scene) -> Result<Vec<String>, JsValue> {
        self.0.notes(&scene.0).map_err(thrown)
    }

    /// Everything the fragments at a pixel did.
    #[wasm_bindgen(unchecked_return_type = "Trace")]
    pub fn trace(&self, scene: &Scene, x: u32, y: u32) -> Result<JsValue, JsValue> {
        let trace = self.0.trace(&scene.0, (x, y));
        trace.map(|trace| object(&trace)).map_err(thrown)
    }

    /// The draw as a recording.
    pub fn record(&self, scene: &Scene) -> Result<Vec<u8>, JsValue> {
        self.0.record(&scene.0).map_err(thrown)
    }
}

/// What is drawn beside the shaders: a scene file, with uniforms and textures that are set.
#[wasm_bindgen]
pub struct Scene(crate::Scene);

#[wasm_bindgen]
impl Scene {
    /// Reads TOML or JSON, as `--scene` takes it.
    #[wasm_bindgen(constructor)]
    pub fn new(text: &str) -> Result<Self, JsValue> {
        crate::Scene::new(text).map(Self).map_err(thrown)
    }

    /// The picture's size in pixels.
    #[wasm_bindgen(js_name = setSize)]
    pub fn set_size(&mut self, width: u32, height: u32) {
        self.0.set_size([width, height]);
    }

    /// The numbers that a uniform has here, if any.
    pub fn uniform(&self, name: &str) -> Option<Vec<f64>> {
        self.0.uniform(name)
    }

    /// The numbers of a uniform.
    #[wasm_bindgen(js_name = setUniform)]
    pub fn set_uniform(&mut self, name: &str, values: &[f64]) {
        self.0.set_uniform(name, values);
    }

    /// A picture (PNG) for a texture.
    #[wasm_bindgen(js_name = setTexture)]
    pub fn set_texture(&mut self, sampler: &str, png: &[u8]) -> Result<(), JsValue> {
        self.0.set_texture(sampler, png).map_err(thrown)
    }

    /// A picture (PNG) that the scene's `image` keys can name.
    #[wasm_bindgen(js_name = addPicture)]
    pub fn add_picture(&mut self, name: &str, png: &[u8]) -> Result<(), JsValue> {
        self.0.add_picture(Path::new(name), png).map_err(thrown)
    }
}

/// A recording that has run.
#[wasm_bindgen]
pub struct Recording(crate::Recording);

#[wasm_bindgen]
impl Recording {
    /// Runs a recording.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str, bytes: Vec<u8>) -> Result<Self, JsValue> {
        crate::Recording::new(name, bytes).map(Self).map_err(thrown)
    }

    /// The inspector's page, for a frame that answers its questions.
    pub fn page(&self) -> String {
        self.0.page()
    }

    /// The history of a pixel, as a part of that page.
    pub fn history(&self, job: usize, x: u32, y: u32) -> Result<Option<String>, JsValue> {
        self.0.history(job, [x, y]).map_err(thrown)
    }
}

/// The format of a file by its first bytes.
#[wasm_bindgen(unchecked_return_type = "Format | undefined")]
pub fn format(bytes: &[u8]) -> Option<String> {
    files::format(bytes).map(str::to_owned)
}

/// As `skrymir info`.
#[wasm_bindgen(unchecked_return_type = "Answer")]
pub fn info(name: &str, bytes: &[u8], format: Option<String>) -> Result<JsValue, JsValue> {
    let answer = files::info(name, bytes, format.as_deref());
    answer.map(|answer| object(&answer)).map_err(thrown)
}

/// As `skrymir check`.
#[wasm_bindgen(unchecked_return_type = "Answer")]
pub fn check(name: &str, bytes: &[u8], format: Option<String>) -> Result<JsValue, JsValue> {
    let answer = files::check(name, bytes, format.as_deref());
    answer.map(|answer| object(&answer)).map_err(thrown)
}

/// As `skrymir dis`.
#[wasm_bindgen]
pub fn dis(name: &str, bytes: &[u8], format: Option<String>, stage: Option<String>) -> Result<String, JsValue> {
    files::dis(name, bytes, format.as_deref(), stage.as_deref()).map_err(thrown)
}

/// As `skrymir as`.
#[wasm_bindgen]
pub fn assemble(name: &str, text: &str) -> Result<Vec<u8>, JsValue> {
    files::assemble(name, text).map_err(thrown)
}

/// The stages that a VBC has code for.
#[wasm_bindgen]
pub fn stages(name: &str, bytes: &[u8]) -> Result<Vec<String>, JsValue> {
    files::stages(name, bytes).map_err(thrown)
}

/// A VBC with the code of one stage replaced by a SPIR-V module.
#[wasm_bindgen(js_name = withStage)]
pub fn with_stage(name: &str, bytes: &[u8], stage: &str, module: &[u8]) -> Result<Vec<u8>, JsValue> {
    files::with_stage(name, bytes, stage, module).map_err(thrown)
}

/// As `skrymir convert`.
#[wasm_bindgen]
pub fn convert(
    name: &str,
    bytes: &[u8],
    format: Option<String>,
    #[wasm_bindgen(unchecked_param_type = "Language")] to: &str,
    stage: Option<String>,
) -> Result<Vec<u8>, JsValue> {
    files::convert(name, bytes, format.as_deref(), to, stage.as_deref()).map_err(thrown)
}
