//! Names that a program may use without defining them: types, variables and functions of Skia's modules.
//!
//! Source: docs/spec/sksl.md, section 6, and the names that the modules of version 11 define.

use super::enums::ProgramKind;

/// A built-in variable.
#[derive(Clone, Copy, Debug)]
pub struct BuiltinVariable {
    /// Its name.
    pub name: &'static str,
    /// Name of its type; empty for an interface block.
    pub ty: &'static str,
    /// Whether a program may write it.
    pub writable: bool,
    /// Program kinds that can use it, one bit each.
    kinds: u16,
}

const fn row(name: &'static str, ty: &'static str, writable: bool, kinds: u16) -> BuiltinVariable {
    BuiltinVariable {
        name,
        ty,
        writable,
        kinds,
    }
}

/// Fragment and graphite fragment programs.
const FRAGMENT: u16 = 1 << 0 | 1 << 2;
/// Vertex and graphite vertex programs.
const VERTEX: u16 = 1 << 1 | 1 << 3;
/// Shaders with access to the module of private runtime shaders.
const PRIVATE: u16 = 1 << 7;

const VARIABLES: [BuiltinVariable; 9] = [
    row("sk_FragColor", "half4", true, FRAGMENT),
    row("sk_FragCoord", "float4", false, FRAGMENT | PRIVATE),
    row("sk_Clockwise", "bool", false, FRAGMENT),
    row("sk_LastFragColor", "half4", false, FRAGMENT),
    row("sk_SecondaryFragColor", "half4", true, FRAGMENT),
    row("sk_VertexID", "int", false, VERTEX),
    row("sk_InstanceID", "int", false, VERTEX),
    row("sk_PerVertex", "", true, VERTEX),
    row("$LengthTerm", "", false, 0),
];

/// Whether a program of this kind can use a built-in variable; module code (no kind) can use all.
pub fn sees_variable(kind: Option<ProgramKind>, name: &str) -> bool {
    let Some(row) = variable(name) else { return false };
    kind.is_none_or(|kind| u32::from(row.kinds) & 1u32.checked_shl(kind.0.into()).unwrap_or(0) != 0)
}

/// A built-in variable by name.
pub fn variable(name: &str) -> Option<&'static BuiltinVariable> {
    VARIABLES.iter().find(|row| row.name == name)
}

/// Name and type of a field of a built-in block.
pub(super) fn block_field(block: &str, index: u8) -> Option<(&'static str, &'static str)> {
    const PER_VERTEX: [(&str, &str); 2] = [("sk_Position", "float4"), ("sk_PointSize", "float")];
    if block != "sk_PerVertex" {
        return None;
    }
    PER_VERTEX.get(usize::from(index)).copied()
}

/// Functions of the public module; the digits after the slash are the parameter counts of the overloads.
const PUBLIC_ONLY: &str = "$eval/23 fromLinearSrgb/1 toLinearSrgb/1";

/// Functions of the gpu module; the digits after the slash are the parameter counts of the overloads.
const GPU_ONLY: &str = "$blend_color_luminance/1 $blend_color_saturation/1 $blend_overlay_component/2 $blend_set_color_luminance/3 \
    $blend_set_color_saturation/2 $color_burn_component/2 $color_dodge_component/2 $guarded_divide/2 \
    $soft_light_component/2 bitCount/1 blend_clear/2 blend_color/2 blend_color_burn/2 blend_color_dodge/2 \
    blend_darken/23 blend_difference/2 blend_dst/2 blend_dst_atop/2 blend_dst_in/2 blend_dst_out/2 \
    blend_dst_over/2 blend_exclusion/2 blend_hard_light/2 blend_hslc/3 blend_hue/2 blend_lighten/2 \
    blend_luminosity/2 blend_modulate/2 blend_multiply/2 blend_overlay/23 blend_plus/2 blend_porter_duff/3 \
    blend_saturation/2 blend_screen/2 blend_soft_light/2 blend_src/2 blend_src_atop/2 blend_src_in/2 \
    blend_src_out/2 blend_src_over/2 blend_xor/2 cross_length_2d/2 findLSB/1 findMSB/1 fma/3 frexp/2 \
    interpolateAtOffset/2 interpolateAtSample/2 ldexp/2 makeSampler2D/2 packHalf2x16/1 packSnorm2x16/1 \
    packSnorm4x8/1 packUnorm4x8/1 proj/1 sample/23 subpassLoad/12 textureSize/1 unpackHalf2x16/1 unpackSnorm2x16/1 \
    unpackSnorm4x8/1 unpackUnorm4x8/1";

/// Functions of the public and gpu modules; the digits after the slash are the parameter counts of the overloads.
const PUBLIC_AND_GPU: &str = "abs/1 acos/1 acosh/1 all/1 any/1 asin/1 asinh/1 atan/12 atanh/1 ceil/1 clamp/3 cos/1 cosh/1 cross/2 dFdx/1 \
    dFdy/1 degrees/1 determinant/1 distance/2 dot/2 equal/2 exp/1 exp2/1 faceforward/3 floatBitsToInt/1 \
    floatBitsToUint/1 floor/1 fract/1 fwidth/1 greaterThan/2 greaterThanEqual/2 intBitsToFloat/1 inverse/1 \
    inversesqrt/1 isinf/1 isnan/1 length/1 lessThan/2 lessThanEqual/2 log/1 log2/1 matrixCompMult/2 max/2 min/2 \
    mix/3 mod/2 modf/2 normalize/1 not/1 notEqual/2 outerProduct/2 packUnorm2x16/1 pow/2 radians/1 reflect/2 \
    refract/3 round/1 roundEven/1 saturate/1 sign/1 sin/1 sinh/1 smoothstep/3 sqrt/1 step/2 tan/1 tanh/1 \
    transpose/1 trunc/1 uintBitsToFloat/1 unpackUnorm2x16/1 unpremul/1";

/// Functions of the graphite module; the digits after the slash are the parameter counts of the overloads.
const GRAPHITE_ONLY: &str = "$colorize_grad_4/3 $colorize_grad_8/3 $map_to_unit_x/2 $tile/5 $tile_grad/2 cosine_between_unit_vectors/2 \
    miter_extent/2 num_radial_segments_per_radian/1 robust_normalize_diff/2 sk_blend/3 sk_blend_shader/6 \
    sk_compute_coords/6 sk_conical_grad_4_shader/9 sk_conical_grad_8_shader/9 sk_error/0 sk_linear_grad_4_shader/9 \
    sk_linear_grad_8_shader/9 sk_local_matrix_shader/2 sk_radial_grad_4_shader/6 sk_radial_grad_8_shader/6 \
    sk_solid_shader/1 sk_sweep_grad_4_shader/ sk_sweep_grad_8_shader/ tessellate_filled_curve/4 \
    tessellate_filled_wedge/5 tessellate_stroked_curve/9 unchecked_mix/3 wangs_formula_conic/4 \
    wangs_formula_conic_log2/4 wangs_formula_conic_p2/4 wangs_formula_cubic/5 wangs_formula_cubic_log2/5 \
    wangs_formula_max_fdiff_p2/5";

/// Lists with the modules they are in: 1 public, 2 gpu, 4 graphite.
const FUNCTIONS: [(&str, u8); 4] = [(PUBLIC_ONLY, 1), (GPU_ONLY, 2), (PUBLIC_AND_GPU, 3), (GRAPHITE_ONLY, 4)];

/// Modules of a program kind: graphite programs have the gpu module below theirs, runtime effects and meshes the public
/// one.
fn modules(kind: Option<ProgramKind>) -> u8 {
    match kind {
        None => 7,
        Some(ProgramKind::FRAGMENT | ProgramKind::VERTEX) => 2,
        Some(ProgramKind::GRAPHITE_FRAGMENT | ProgramKind::GRAPHITE_VERTEX) => 6,
        Some(_) => 1,
    }
}

/// The built-in functions of a program kind (of all modules if there is no kind), each with the parameter counts of its
/// overloads, as digits.
pub fn function_names(kind: Option<ProgramKind>) -> impl Iterator<Item = (&'static str, &'static str)> {
    let seen = modules(kind);
    let lists = FUNCTIONS.iter().filter(move |(_, module)| module & seen != 0);
    lists
        .flat_map(|(list, _)| list.split_whitespace())
        .filter_map(|row| row.split_once('/'))
}

/// Whether a program of this kind has a function of this name with that many parameters.
pub fn is_function(kind: Option<ProgramKind>, name: &str, parameters: usize) -> bool {
    function_names(kind)
        .any(|(n, counts)| n == name && counts.bytes().any(|digit| usize::from(digit - b'0') == parameters))
}

/// Whether the built-in function has an `out` parameter.
pub(super) fn writes_argument(name: &str) -> bool {
    matches!(name, "modf" | "frexp")
}
