//! Shaders of scripts as SPIR-V.

use super::Stop;
use crate::error::Place;
use crate::types::Stage;
use std::collections::BTreeMap;
use std::path::Path;

/// A shader's text, for whoever compiles it.
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
    /// The file that it stands in, beside which it finds others.
    pub path: &'a Path,
    /// Files that the script has in itself.
    pub files: &'a BTreeMap<String, String>,
    /// Where the text begins in the script, where it stands in that.
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

/// Why a text has no code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// It is wrong.
    Invalid(String),
    /// It is not supported.
    Unsupported(String),
}

/// Whoever makes SPIR-V of a shader's text.
pub trait Compile: Sync {
    /// The module of a text.
    ///
    /// # Errors
    /// Where it has none, in words.
    fn compile(&self, text: &Text<'_>) -> Result<Code, CompileError>;
}

/// A vertex shader that hands input 0 on as the position. Its block has the members that those of GLSL 4.30 have, which
/// the stages behind it are matched with.
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

/// Compiles a text, and says what it was where that fails.
pub(crate) fn compile(compile: &dyn Compile, name: &str, text: &Text<'_>) -> Result<Code, Stop> {
    compile.compile(text).map_err(|error| match (error, text.place) {
        (CompileError::Invalid(why), Some(place)) => Stop::invalid(place, format!("shader {name}: {why}")),
        (CompileError::Invalid(why), None) => Stop(super::Verdict::Invalid(format!("shader {name}: {why}"))),
        (CompileError::Unsupported(why), _) => Stop::unsupported(why),
    })
}
