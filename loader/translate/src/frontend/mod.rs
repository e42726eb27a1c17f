//! The front end for GLSL and HLSL: Khronos' glslang, linked in.
//!
//! A [`Text`] is a source with its stage and [`Settings`] (definitions as by `-D`, include folders as by `-I`). There
//! are three operations:
//!
//! * [`spirv`]: the SPIR-V of GLSL 1.40 to 4.60, GLSL ES 3.00 to 3.20 and HLSL. Missing locations and bindings are
//!   assigned in declaration order; uniforms outside a block become members of one block. HLSL registers that would
//!   share a binding (`t1` and `s1`) get separate ones. The words contain the source's lines (`OpLine`).
//! * [`judge`]: whether texts of any version of GLSL, in particular GLSL ES 1.00, are valid, each by itself and linked
//!   as stages of one program. There is no SPIR-V of GLSL ES 1.00.
//! * [`preprocess`]: the text without directives, with positions in the source.
//!
//! Errors are this crate's: [`Error::line_column`](crate::Error::line_column) and
//! [`Error::render`](crate::Error::render) give the place, in the text or in the file that it includes.
//!
//! glslang is C++. In builds without the feature `glslang`, and always for WebAssembly, [`is_available`] is false and
//! all operations return an error.
//!
//! ```
//! use skrymir_translate::frontend::{self, Dialect, Settings, Stage, Text};
//! use std::path::Path;
//!
//! let settings = Settings { defines: vec![("TINT".into(), "vec4(1.0)".into())], ..Settings::default() };
//! let source = "#version 330\nuniform float scale;\nout vec4 color;\nvoid main() { color = scale * TINT; }\n";
//! let text = Text::new(source, Path::new("a.frag"), Dialect::Glsl, Stage::Fragment, &settings);
//! if frontend::is_available() {
//!     let module = frontend::spirv(&text).unwrap();
//!     assert_eq!(module.words[0], 0x0723_0203);
//!     let wrong = Text { text: "void main() { gl_FragColor = 1; }", ..text };
//!     assert_eq!(frontend::judge(&[wrong]).unwrap_err().line_column(), Some((1, 28)));
//! }
//! ```

#[cfg(all(feature = "glslang", not(target_family = "wasm")))]
mod glslang;
#[cfg(not(all(feature = "glslang", not(target_family = "wasm"))))]
#[path = "absent.rs"]
mod glslang;
mod modules;

pub use modules::registers_apart;
pub(crate) use modules::{hands_over_textures, lines, without_lines};

use crate::front::error_at;
use crate::{Language, Result, structs};
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The language of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// OpenGL's, of any version.
    Glsl,
    /// Direct3D's.
    Hlsl,
}

/// Shader stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// `.vert`
    Vertex,
    /// `.tesc`
    TessellationControl,
    /// `.tese`
    TessellationEvaluation,
    /// `.geom`
    Geometry,
    /// `.frag`
    Fragment,
    /// `.comp`
    Compute,
    /// `.rgen`
    RayGeneration,
    /// `.rint`
    Intersection,
    /// `.rahit`
    AnyHit,
    /// `.rchit`
    ClosestHit,
    /// `.rmiss`
    Miss,
    /// `.rcall`
    Callable,
    /// `.task`
    Task,
    /// `.mesh`
    Mesh,
}

impl Stage {
    /// Every stage, with its file extensions.
    pub const ALL: [(Self, &'static [&'static str]); 14] = [
        (Self::Vertex, &["vert", "vs"]),
        (Self::TessellationControl, &["tesc", "hs"]),
        (Self::TessellationEvaluation, &["tese", "ds"]),
        (Self::Geometry, &["geom", "gs"]),
        (Self::Fragment, &["frag", "fs", "ps"]),
        (Self::Compute, &["comp", "cs"]),
        (Self::RayGeneration, &["rgen"]),
        (Self::Intersection, &["rint"]),
        (Self::AnyHit, &["rahit"]),
        (Self::ClosestHit, &["rchit"]),
        (Self::Miss, &["rmiss"]),
        (Self::Callable, &["rcall"]),
        (Self::Task, &["task"]),
        (Self::Mesh, &["mesh"]),
    ];

    /// The stage of a file extension: `frag`.
    pub fn of_ending(ending: &str) -> Option<Self> {
        let mut all = Self::ALL.iter();
        Some(all.find(|(_, endings)| endings.contains(&ending))?.0)
    }

    /// Its main file extension.
    pub fn ending(self) -> &'static str {
        let mut all = Self::ALL.iter();
        all.find(|(stage, _)| *stage == self)
            .map_or("", |(_, endings)| endings[0])
    }

    /// The stage that corresponds to naga's, which has only some.
    pub fn of_naga(stage: naga::ShaderStage) -> Option<Self> {
        match stage {
            naga::ShaderStage::Vertex => Some(Self::Vertex),
            naga::ShaderStage::Fragment => Some(Self::Fragment),
            naga::ShaderStage::Compute => Some(Self::Compute),
            naga::ShaderStage::Task => Some(Self::Task),
            naga::ShaderStage::Mesh => Some(Self::Mesh),
            _ => None,
        }
    }
}

impl From<loader::vbc::Stage> for Stage {
    fn from(stage: loader::vbc::Stage) -> Self {
        use loader::vbc::Stage as Its;
        match stage {
            Its::Vert => Self::Vertex,
            Its::Tesc => Self::TessellationControl,
            Its::Tese => Self::TessellationEvaluation,
            Its::Geom => Self::Geometry,
            Its::Frag => Self::Fragment,
        }
    }
}

/// Settings from the command line that apply to every text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Macros defined before the first line, with their values.
    pub defines: Vec<(String, String)>,
    /// Include folders, searched after the text's own folder.
    pub folders: Vec<PathBuf>,
    /// Values of WGSL's `override`s by name or `@id`: numbers, `true`, `false`.
    pub constants: Vec<(String, String)>,
    /// Read GLSL with naga's front end, for comparison with glslang. It has no includes and definitions.
    pub by_naga: bool,
}

impl Settings {
    /// No definitions, no folders.
    pub const NONE: &'static Self = &Self {
        defines: Vec::new(),
        folders: Vec::new(),
        constants: Vec::new(),
        by_naga: false,
    };
}

/// A source and how to compile it.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// The source.
    pub text: &'a str,
    /// Its path: files are included relative to it.
    pub path: &'a Path,
    /// Its language.
    pub dialect: Dialect,
    /// Its stage.
    pub stage: Stage,
    /// The HLSL entry point [default: main]; renamed to `main` in the SPIR-V.
    pub entry: Option<&'a str>,
    /// Definitions and folders.
    pub settings: &'a Settings,
}

impl<'a> Text<'a> {
    /// A text whose entry point is `main`.
    pub fn new(text: &'a str, path: &'a Path, dialect: Dialect, stage: Stage, settings: &'a Settings) -> Self {
        Self {
            text,
            path,
            dialect,
            stage,
            entry: None,
            settings,
        }
    }

    fn language(&self) -> Language {
        match self.dialect {
            Dialect::Glsl => Language::Glsl,
            Dialect::Hlsl => Language::Hlsl,
        }
    }
}

/// A message about a place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether it is an error; otherwise it is a warning.
    pub is_error: bool,
    /// The included file, or the name in a `#line`; `None` for the text itself.
    pub file: Option<String>,
    /// Line from 1; 0 if there is no place.
    pub line: usize,
    /// Column from 1; 0 if only the line is known.
    pub column: usize,
    /// The message.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
        }
        match (self.line, self.column) {
            (0, _) => {}
            (line, 0) => write!(f, "{line}: ")?,
            (line, column) => write!(f, "{line}:{column}: ")?,
        }
        f.write_str(&self.message)
    }
}

/// The SPIR-V of a text.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its words; the entry point is named `main`.
    pub words: Vec<u32>,
    /// Warnings.
    pub notes: Vec<Diagnostic>,
}

/// Whether this program was built with glslang.
pub fn is_available() -> bool {
    glslang::AVAILABLE
}

/// Rejects texts that would take glslang too long or too deep: exponentially nested structs, nesting.
fn bounded(text: &Text<'_>) -> Result<()> {
    crate::nesting::check(text.language(), text.text)?;
    let Some((place, members)) = structs::too_many_members(text.text) else {
        return Ok(());
    };
    let message = format!("a struct of {members} members, those of its members counted: too many");
    Err(error_at(text.language(), text.text, place, &message))
}

/// The SPIR-V of a text: 1.3 for Vulkan 1.1, or 1.6 for Vulkan 1.4 if the text needs more.
///
/// # Errors
/// The text's error with its place; or this program was built without glslang.
pub fn spirv(text: &Text<'_>) -> Result<Module> {
    bounded(text)?;
    let mut module = crate::guard::deep("glslang", || glslang::spirv(text))?;
    module.words = modules::without_outer_lines(&module.words);
    if text.dialect == Dialect::Hlsl {
        registers_apart(&mut module.words);
    }
    Ok(module)
}

/// Checks texts, each by itself and linked as one program; returns the warnings.
///
/// # Errors
/// The error of the first invalid text, or of their interface; or this program was built without glslang.
pub fn judge(texts: &[Text<'_>]) -> Result<Vec<Diagnostic>> {
    texts.iter().try_for_each(bounded)?;
    crate::guard::deep("glslang", || glslang::judge(texts))
}

/// A preprocessed text, with positions in the source.
#[derive(Clone, Debug)]
pub struct Preprocessed {
    /// The text; the only directives left are `#version`, `#extension` and `#pragma`.
    pub text: String,
    /// For parts of the text in order: where each begins, and its range in the source.
    places: Vec<(usize, Range<usize>)>,
}

impl Preprocessed {
    /// The source range of a range in the text: a macro's expansion maps to the macro, an included file to the line of
    /// the directive.
    pub fn place(&self, span: Range<usize>) -> Range<usize> {
        let at = |offset: usize| {
            let next = self.places.partition_point(|(start, _)| *start <= offset);
            self.places.get(next.saturating_sub(1)).map(|(_, place)| place.clone())
        };
        match (at(span.start), at(span.end.saturating_sub(1).max(span.start))) {
            (Some(first), Some(last)) => first.start.min(last.start)..last.end.max(first.end),
            _ => 0..0,
        }
    }
}

/// Runs only the preprocessor.
///
/// # Errors
/// See [`judge`], for directives.
pub fn preprocess(text: &Text<'_>) -> Result<Preprocessed> {
    bounded(text)?;
    crate::guard::deep("glslang", || glslang::preprocess(text))
}

#[cfg(all(test, feature = "glslang", not(target_family = "wasm")))]
mod tests {
    use super::*;

    fn glsl<'a>(text: &'a str, stage: Stage) -> Text<'a> {
        Text::new(text, Path::new("a.glsl"), Dialect::Glsl, stage, Settings::NONE)
    }

    /// The place of a text's error.
    fn place(text: &str, stage: Stage) -> Option<(usize, usize)> {
        judge(&[glsl(text, stage)]).unwrap_err().line_column()
    }

    #[test]
    fn errors_have_correct_places() {
        let head = "precision mediump float;\nvoid main() {\n";
        let wrong = |line: &str| place(&format!("{head}{line}\n}}\n"), Stage::Fragment);
        assert_eq!(wrong("  int   b = 1.0;"), Some((3, 11)));
        assert_eq!(wrong("  gl_FragColor = vec4(none);"), Some((3, 23)));
        assert_eq!(wrong("/* é */ x;"), Some((3, 9)));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn texts_at_which_glslang_crashes_are_errors() {
        let case = "float4 main() : SV_Target { for (int i = 0; i < 3; ++i) { case 0: i++; } return 1.0; }";
        let sum = "float4 main() : SV_Target { for (int i = 0; i < 4++i) { } return 1.0; }";
        let valid = "float4 main() : SV_Target { return 1.0; }";
        for text in [case, sum] {
            let text = Text::new(
                text,
                Path::new("a.hlsl"),
                Dialect::Hlsl,
                Stage::Fragment,
                Settings::NONE,
            );
            assert!(!spirv(&text).unwrap_err().to_string().is_empty());
            assert!(spirv(&Text { text: valid, ..text }).is_ok());
        }
    }

    #[test]
    fn pragmas_and_inactive_text_are_accepted() {
        let text = "#pragma parameter a \"it's\" 1.0 0.0 {[\n#if 0\n it's \" @ ` # $\n#endif\n\
                    void main() { gl_FragColor = vec4(0.0); }\n";
        assert!(judge(&[glsl(text, Stage::Fragment)]).is_ok());
        let text = preprocess(&glsl(text, Stage::Fragment)).unwrap().text;
        assert!(text.contains("\nvoid main()"), "{text}");
    }

    #[test]
    fn a_pair_is_linked() {
        let vertex = "uniform vec2 size;\nvoid main() { gl_Position = size.xyxy; }\n";
        let pair = |uniform: &str| {
            let fragment = format!(
                "precision mediump float;\nuniform {uniform} size;\nvoid main() {{ gl_FragColor = vec4(size.x); }}\n"
            );
            judge(&[glsl(vertex, Stage::Vertex), glsl(&fragment, Stage::Fragment)]).map(drop)
        };
        assert!(pair("highp vec2").is_ok());
        for wrong in ["highp vec3", "vec2"] {
            let error = pair(wrong).unwrap_err().to_string();
            assert!(error.contains("size"), "{wrong}: {error}");
        }
    }

    #[test]
    fn versions_of_opengl_become_spirv() {
        for (version, stage) in [
            ("140", Stage::Fragment),
            ("330 core", Stage::Fragment),
            ("300 es", Stage::Fragment),
            ("310 es", Stage::Fragment),
            ("460", Stage::Fragment),
        ] {
            let text = format!(
                "#version {version}\nprecision highp float;\nuniform float scale;\nuniform sampler2D image;\nin vec2 at;\nout vec4 tint;\nvoid main() {{ tint = scale * texture(image, at); }}\n"
            );
            let module = spirv(&glsl(&text, stage)).unwrap();
            let index = loader::spirv::ModuleIndex::new(&module.words[..]).unwrap();
            let block = index
                .globals()
                .find(|variable| variable.class == loader::spirv::class::UNIFORM)
                .unwrap();
            let block = index.unwrapped(block.pointee);
            assert_eq!(index.member_name(block, 0).as_deref(), Some("scale"), "{version}");
        }
    }

    #[test]
    fn included_files_are_named() {
        let folder = std::env::temp_dir().join(format!("skrymir-include-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("lib")).unwrap();
        std::fs::write(
            folder.join("near.glsl"),
            "#include <far.glsl>\nfloat near() { return far(); }\n",
        )
        .unwrap();
        std::fs::write(folder.join("lib/far.glsl"), "float far() {\n  return WRONG;\n}\n").unwrap();
        let path = folder.join("a.frag");
        let text = "#version 450\n\n#include \"near.glsl\"\nlayout(location = 0) out vec4 tint;\nvoid main() {\n  tint = vec4(near());\n}\n";
        let mut settings = Settings {
            folders: vec![folder.join("lib")],
            ..Settings::default()
        };
        let module_of = |text: &str, settings: &Settings| {
            let text = Text::new(text, &path, Dialect::Glsl, Stage::Fragment, settings);
            spirv(&text).map(drop)
        };
        let error = module_of(text, &settings).unwrap_err();
        assert_eq!(
            error.included().map(|file| file.name.clone()),
            Some(folder.join("lib/far.glsl").display().to_string())
        );
        assert_eq!(error.line_column(), Some((2, 10)));
        settings.defines.push(("WRONG".to_owned(), "1.0".to_owned()));
        module_of(text, &settings).unwrap();
        let error = module_of(&text.replace("near());", "near(), x);"), &settings).unwrap_err();
        assert_eq!((error.included(), error.line_column()), (None, Some((6, 23))));
        let deep = "(".repeat(600);
        std::fs::write(folder.join("deep.glsl"), format!("float deep() {{ return {deep}")).unwrap();
        let error = module_of("#version 450\n#include \"deep.glsl\"\n", &settings).unwrap_err();
        assert!(error.to_string().contains("more than 512"), "{error}");
        let error = module_of("#version 450\n#include \"none\"\n", &settings).unwrap_err();
        assert_eq!(error.line_column(), Some((2, 1)), "{error}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_preprocessed_text_has_places() {
        let source = "#define TWICE(x) (x + x)\n\n#ifdef NONE\nnone\n#endif\nfloat a = 1.0 * TWICE(b) - last;\n";
        let found = preprocess(&glsl(source, Stage::Vertex)).unwrap();
        let place = |word: &str| {
            let at = found.text.find(word).unwrap();
            &source[found.place(at..at + word.len())]
        };
        assert_eq!(place("1.0"), "1.0");
        assert_eq!(place("+"), "TWICE");
        assert_eq!(place("last"), "last");
    }
}
