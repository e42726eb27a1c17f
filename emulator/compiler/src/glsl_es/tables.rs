//! Words of the old languages and what they are called in the modern one.

use super::uplifted::Role;
use crate::interface::Stage;
use pp_rs::token::Punct;

/// Built-in variables: name, new name, type, role.
pub(super) fn variables(stage: Stage) -> Vec<(&'static str, &'static str, &'static str, Role)> {
    match stage {
        Stage::Vertex => vec![
            ("gl_Position", "es_Position", "vec4", Role::Position),
            ("gl_PointSize", "es_PointSize", "float", Role::PointSize),
        ],
        Stage::Fragment => vec![
            ("gl_FragColor", "es_FragColor", "vec4", Role::Color),
            ("gl_FragData", "es_FragColor", "vec4", Role::Color),
            ("gl_FragCoord", "es_FragCoord", "vec4", Role::FragCoord),
            ("gl_PointCoord", "es_PointCoord", "vec2", Role::PointCoord),
            ("gl_FrontFacing", "es_FrontFacing", "bool", Role::FrontFacing),
        ],
    }
}

/// Built-in constants, as on this hardware.
pub(super) const CONSTANTS: [(&str, &str); 8] = [
    ("gl_MaxVertexAttribs", "16"),
    ("gl_MaxVertexUniformVectors", "256"),
    ("gl_MaxVaryingVectors", "12"),
    ("gl_MaxVertexTextureImageUnits", "0"),
    ("gl_MaxCombinedTextureImageUnits", "8"),
    ("gl_MaxTextureImageUnits", "8"),
    ("gl_MaxFragmentUniformVectors", "256"),
    ("gl_MaxDrawBuffers", "1"),
];

/// Look-ups: old name, new name.
pub(super) const LOOKUPS: [(&str, &str); 14] = [
    ("texture2D", "texture"),
    ("texture2DProj", "textureProj"),
    ("texture2DLod", "textureLod"),
    ("texture2DProjLod", "textureProjLod"),
    ("texture2DLodEXT", "textureLod"),
    ("texture2DProjLodEXT", "textureProjLod"),
    ("texture2DGradEXT", "textureGrad"),
    ("textureCube", "texture"),
    ("textureCubeLod", "textureLod"),
    ("textureCubeLodEXT", "textureLod"),
    ("textureCubeGradEXT", "textureGrad"),
    ("texture", "texture"),
    ("textureProj", "textureProj"),
    ("textureLod", "textureLod"),
];

/// Words that mean something to the modern front end and nothing to the old language.
pub(super) const RESERVED: &[&str] = &[
    "sample",
    "texture",
    "textureProj",
    "textureLod",
    "buffer",
    "shared",
    "patch",
    "smooth",
    "flat",
    "noperspective",
    "centroid",
    "uint",
    "double",
    "layout",
    "restrict",
    "readonly",
    "writeonly",
    "coherent",
    "volatile",
    "subroutine",
    "precise",
    "sampler",
    "samplerShadow",
    "round",
    "roundEven",
    "trunc",
    "inverse",
    "transpose",
    "determinant",
    "outerProduct",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "modf",
    "frexp",
    "ldexp",
    "isnan",
    "isinf",
    "fma",
    "switch",
    "case",
    "default",
    "in",
    "out",
    "inout",
    "image2D",
    "texture2D",
    "textureCube",
    "texture1D",
    "texture3D",
    "uvec2",
    "uvec3",
    "uvec4",
    "dvec2",
    "dvec3",
    "dvec4",
    "textureSize",
    "texelFetch",
    "bitCount",
    "findLSB",
    "findMSB",
    "bitfieldExtract",
    "bitfieldInsert",
    "floatBitsToInt",
    "intBitsToFloat",
    "f16vec2",
    "f16vec3",
    "f16vec4",
    "float16_t",
    "texture2DArray",
    "texture2DMS",
    "textureCubeArray",
    "image1D",
    "image3D",
    "textureGather",
    "textureGrad",
    "textureOffset",
    "packHalf2x16",
    "packSnorm4x8",
    "packUnorm4x8",
    "unpackHalf2x16",
    "unpackSnorm4x8",
    "unpackUnorm4x8",
    "filter",
    "active",
    "atomic_uint",
    "common",
    "partition",
    "resource",
    "row_major",
    "isampler2D",
    "usampler2D",
    "sampler2DArray",
    "samplerBuffer",
    "subpassInput",
    "mat2x2",
    "mat2x3",
    "mat2x4",
    "mat3x2",
    "mat3x3",
    "mat3x4",
    "mat4x2",
    "mat4x3",
    "mat4x4",
];

pub(super) fn is_precision(name: &str) -> bool {
    matches!(name, "lowp" | "mediump" | "highp")
}

/// The texture type of a sampler type, and whether it is a cube.
pub(super) fn sampler_type(name: &str) -> Option<bool> {
    match name {
        "sampler2D" | "samplerExternalOES" | "sampler2DRect" => Some(false),
        "samplerCube" => Some(true),
        _ => None,
    }
}

/// The sampler type of the modern language.
pub(super) fn sampler_spelled(cube: bool) -> &'static str {
    match cube {
        true => "samplerCube",
        false => "sampler2D",
    }
}

pub(super) fn spelled(punct: Punct) -> &'static str {
    use Punct as P;
    match punct {
        P::AddAssign => "+=",
        P::SubAssign => "-=",
        P::MulAssign => "*=",
        P::DivAssign => "/=",
        P::ModAssign => "%=",
        P::LeftShiftAssign => "<<=",
        P::RightShiftAssign => ">>=",
        P::AndAssign => "&=",
        P::XorAssign => "^=",
        P::OrAssign => "|=",
        P::Increment => "++",
        P::Decrement => "--",
        P::LogicalAnd => "&&",
        P::LogicalOr => "||",
        P::LogicalXor => "^^",
        P::LessEqual => "<=",
        P::GreaterEqual => ">=",
        P::EqualEqual => "==",
        P::NotEqual => "!=",
        P::LeftShift => "<<",
        P::RightShift => ">>",
        P::LeftBrace => "{",
        P::RightBrace => "}",
        P::LeftParen => "(",
        P::RightParen => ")",
        P::LeftBracket => "[",
        P::RightBracket => "]",
        P::LeftAngle => "<",
        P::RightAngle => ">",
        P::Semicolon => ";",
        P::Comma => ",",
        P::Colon => ":",
        P::Dot => ".",
        P::Equal => "=",
        P::Bang => "!",
        P::Minus => "-",
        P::Tilde => "~",
        P::Plus => "+",
        P::Star => "*",
        P::Slash => "/",
        P::Percent => "%",
        P::Pipe => "|",
        P::Caret => "^",
        P::Ampersand => "&",
        P::Question => "?",
    }
}

/// Words of both that stay as they are.
pub(super) fn is_kept(name: &str) -> bool {
    matches!(
        name,
        "in" | "out" | "inout" | "centroid" | "switch" | "case" | "default"
    )
}

/// Built-in functions that the modern front end lacks, or has of vectors only: old name, new name, what they are.
pub(super) const FUNCTIONS: [(&str, &str, &str); 5] = [
    (
        "matrixCompMult",
        "es_matrixCompMult",
        "mat2 es_matrixCompMult(mat2 a, mat2 b) { return mat2(a[0] * b[0], a[1] * b[1]); }
mat3 es_matrixCompMult(mat3 a, mat3 b) { return mat3(a[0] * b[0], a[1] * b[1], a[2] * b[2]); }
mat4 es_matrixCompMult(mat4 a, mat4 b) { return mat4(a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3]); }",
    ),
    (
        "normalize",
        "es_normalize",
        "float es_normalize(float x) { return sign(x); }
vec2 es_normalize(vec2 x) { return normalize(x); }
vec3 es_normalize(vec3 x) { return normalize(x); }
vec4 es_normalize(vec4 x) { return normalize(x); }",
    ),
    (
        "faceforward",
        "es_faceforward",
        "float es_faceforward(float n, float i, float r) { return r * i < 0.0 ? n : -n; }
vec2 es_faceforward(vec2 n, vec2 i, vec2 r) { return faceforward(n, i, r); }
vec3 es_faceforward(vec3 n, vec3 i, vec3 r) { return faceforward(n, i, r); }
vec4 es_faceforward(vec4 n, vec4 i, vec4 r) { return faceforward(n, i, r); }",
    ),
    (
        "reflect",
        "es_reflect",
        "float es_reflect(float i, float n) { return i - 2.0 * n * i * n; }
vec2 es_reflect(vec2 i, vec2 n) { return reflect(i, n); }
vec3 es_reflect(vec3 i, vec3 n) { return reflect(i, n); }
vec4 es_reflect(vec4 i, vec4 n) { return reflect(i, n); }",
    ),
    (
        "refract",
        "es_refract",
        "float es_refract(float i, float n, float eta) {
    float k = 1.0 - eta * eta * (1.0 - n * i * n * i);
    return k < 0.0 ? 0.0 : eta * i - (eta * n * i + sqrt(k)) * n;
}
vec2 es_refract(vec2 i, vec2 n, float eta) { return refract(i, n, eta); }
vec3 es_refract(vec3 i, vec3 n, float eta) { return refract(i, n, eta); }
vec4 es_refract(vec4 i, vec4 n, float eta) { return refract(i, n, eta); }",
    ),
];

/// Look-ups that an array of samplers may be asked for, whether it is of cubes: function, parameters, arguments.
pub(super) const ARRAY_LOOKUPS: [(bool, &str, &str, &str); 10] = [
    (false, "texture", "vec2 at", "at"),
    (false, "texture", "vec2 at, float bias", "at, bias"),
    (false, "textureProj", "vec3 at", "at"),
    (false, "textureProj", "vec3 at, float bias", "at, bias"),
    (false, "textureProj", "vec4 at", "at"),
    (false, "textureProj", "vec4 at, float bias", "at, bias"),
    (false, "textureLod", "vec2 at, float level", "at, level"),
    (true, "texture", "vec3 at", "at"),
    (true, "texture", "vec3 at, float bias", "at, bias"),
    (true, "textureLod", "vec3 at, float level", "at, level"),
];
