//! Shaders of scripts as SPIR-V.

use super::Stop;
use crate::error::Place;
use crate::types::Stage;
use std::collections::BTreeMap;
use std::path::Path;

/// A shader's text, as input of [`Compile`].
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// The text; bytes of SPIR-V where that is the language.
    pub bytes: &'a [u8],
    /// Its language.
    pub language: crate::amber::Language,
    /// Its stage; `multi` for a module of several.
    pub stage: Stage,
    /// The environment that the script names.
    pub target_env: Option<&'a str>,
    /// The entry point that the script names.
    pub entry: &'a str,
    /// The file that contains it; includes are resolved from its folder.
    pub path: &'a Path,
    /// The script's virtual files.
    pub files: &'a BTreeMap<String, String>,
    /// The position of the text in the script, if it is part of it.
    pub place: Option<Place>,
}

/// A module and its entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// SPIR-V.
    pub words: Vec<u32>,
    /// The entry point's name in it.
    pub entry: String,
}

/// Why a text was not compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// The text is invalid.
    Invalid(String),
    /// The text uses something that is not supported.
    Unsupported(String),
}

/// A compiler from shader texts to SPIR-V.
pub trait Compile: Sync {
    /// Compiles a text to a module.
    ///
    /// # Errors
    /// If the text is invalid or not supported.
    fn compile(&self, text: &Text<'_>) -> Result<Code, CompileError>;
}

/// A vertex shader that writes input 0 to the position. Its block has the members of GLSL 4.30's `gl_PerVertex`, so that
/// the interfaces of later stages match.
pub(crate) const PASSTHROUGH: &str = "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main \"main\" %in %out
OpDecorate %in Location 0
OpDecorate %block Block
OpMemberDecorate %block 0 BuiltIn Position
OpMemberDecorate %block 1 BuiltIn PointSize
OpMemberDecorate %block 2 BuiltIn ClipDistance
%void = OpTypeVoid
%function = OpTypeFunction %void
%float = OpTypeFloat 32
%vec4 = OpTypeVector %float 4
%int = OpTypeInt 32 1
%zero = OpConstant %int 0
%one = OpConstant %int 1
%distances = OpTypeArray %float %one
%block = OpTypeStruct %vec4 %float %distances
%to_block = OpTypePointer Output %block
%to_out = OpTypePointer Output %vec4
%to_in = OpTypePointer Input %vec4
%in = OpVariable %to_in Input
%out = OpVariable %to_block Output
%main = OpFunction %void None %function
%start = OpLabel
%position = OpLoad %vec4 %in
%place = OpAccessChain %to_out %out %zero
OpStore %place %position
OpReturn
OpFunctionEnd
";

/// Compiles a text; errors name the shader.
pub(crate) fn compile(compile: &dyn Compile, name: &str, text: &Text<'_>) -> Result<Code, Stop> {
    compile.compile(text).map_err(|error| match (error, text.place) {
        (CompileError::Invalid(why), Some(place)) => Stop::invalid(place, format!("shader {name}: {why}")),
        (CompileError::Invalid(why), None) => Stop(super::Verdict::Invalid(format!("shader {name}: {why}"))),
        (CompileError::Unsupported(why), _) => Stop::unsupported(why),
    })
}
