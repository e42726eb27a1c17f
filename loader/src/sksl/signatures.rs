//! Parameters and results of the built-in functions.
//!
//! Each row is a pattern and the functions with such an overload: parameters, `>`, result. Letters:
//!
//! | letter | stands for |
//! |---|---|
//! | `g` | a float or half scalar or vector; all in one call have one precision and size |
//! | `f` | a scalar of that precision |
//! | `v` | like `g`, but a vector |
//! | `r` | a vector of that precision and a different size |
//! | `d` `c` `k` | a vector of that precision with 2, 3, 4 components |
//! | `i` `u` `b` | int, uint, bool of that size |
//! | `w` `x` `s` `t` `y` | vectors of int, uint, short, ushort, bool of that size |
//! | `m` `q` | a matrix, a square matrix, of that precision; all in one call have one shape |
//! | `T` `O` | the transposed matrix type; the outer product type of `v` and `r` |
//! | `F` `H` `I` `U` `B` | float, half, int, uint, bool |
//! | `G` | float of that size |
//! | `2` `4` `h` | float2, float4, half4 |
//!
//! Coercions are explicit in a file, so arguments have exactly the parameters' types; only literals may be untyped.
//! Source: the declarations of the public and gpu modules of version 11, in the corpus.

use super::types::{Scalar, Ty};

const ROWS: &[(&str, &str)] = &[
    (
        "g>g",
        "radians degrees sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log exp2 log2 sqrt inversesqrt abs \
         sign floor ceil fract saturate trunc round roundEven normalize dFdx dFdy fwidth",
    ),
    ("gg>g", "atan pow mod min max step reflect modf"),
    ("gf>g", "mod min max"),
    ("fg>g", "step"),
    ("ggg>g", "clamp mix smoothstep faceforward fma"),
    ("gff>g", "clamp"),
    ("ggf>g", "mix refract"),
    ("ffg>g", "smoothstep"),
    ("ggb>g", "mix"),
    ("iib>i", "mix"),
    ("bbb>b", "mix"),
    ("i>i", "abs sign bitCount findLSB findMSB"),
    ("u>i", "bitCount findLSB findMSB"),
    ("ii>i", "min max"),
    ("iI>i", "min max"),
    ("iii>i", "clamp"),
    ("iII>i", "clamp"),
    ("uuu>u", "clamp"),
    ("uUU>u", "clamp"),
    ("g>b", "isnan isinf"),
    ("g>i", "floatBitsToInt"),
    ("g>u", "floatBitsToUint"),
    ("i>G", "intBitsToFloat"),
    ("u>G", "uintBitsToFloat"),
    ("gi>g", "frexp ldexp"),
    ("2>U", "packUnorm2x16 packSnorm2x16 packHalf2x16"),
    ("4>U", "packUnorm4x8 packSnorm4x8"),
    ("U>2", "unpackUnorm2x16 unpackSnorm2x16 unpackHalf2x16"),
    ("U>4", "unpackUnorm4x8 unpackSnorm4x8"),
    ("g>f", "length"),
    ("gg>f", "distance dot"),
    ("cc>c", "cross"),
    ("c>c", "toLinearSrgb fromLinearSrgb"),
    ("c>d", "proj"),
    ("dd>f", "cross_length_2d"),
    ("k>k", "unpremul"),
    ("mm>m", "matrixCompMult"),
    ("q>q", "inverse"),
    ("q>f", "determinant"),
    ("m>T", "transpose"),
    ("vr>O", "outerProduct"),
    (
        "vv>y",
        "lessThan lessThanEqual greaterThan greaterThanEqual equal notEqual",
    ),
    (
        "ww>y",
        "lessThan lessThanEqual greaterThan greaterThanEqual equal notEqual",
    ),
    (
        "xx>y",
        "lessThan lessThanEqual greaterThan greaterThanEqual equal notEqual",
    ),
    (
        "ss>y",
        "lessThan lessThanEqual greaterThan greaterThanEqual equal notEqual",
    ),
    (
        "tt>y",
        "lessThan lessThanEqual greaterThan greaterThanEqual equal notEqual",
    ),
    ("yy>y", "equal notEqual"),
    ("y>B", "any all"),
    ("y>y", "not"),
    ("hhH>h", "blend_darken blend_overlay"),
    (
        "hh>h",
        "blend_clear blend_src blend_dst blend_src_over blend_dst_over blend_src_in blend_dst_in blend_src_out blend_dst_out \
         blend_src_atop blend_dst_atop blend_xor blend_plus blend_modulate blend_screen blend_overlay blend_darken \
         blend_lighten blend_color_dodge blend_color_burn blend_hard_light blend_soft_light blend_difference blend_exclusion \
         blend_multiply blend_hue blend_saturation blend_color blend_luminosity",
    ),
];

/// The types bound to letters by a call's arguments so far.
#[derive(Default)]
struct Bound {
    precision: Option<Scalar>,
    size: Option<u8>,
    other: Option<u8>,
    shape: Option<(u8, u8)>,
}

impl Bound {
    /// Matches a type against a letter, and binds the letter if it is free.
    fn fits(&mut self, letter: u8, ty: Ty) -> bool {
        let exact = |s: Scalar| matches!(ty, Ty::Scalar(own) if own == s || literal(own, s));
        match (letter, ty) {
            (b'F', _) => exact(Scalar::Float),
            (b'I', _) => exact(Scalar::Int),
            (b'U', _) => exact(Scalar::Uint),
            (b'B', _) => exact(Scalar::Bool),
            (b'H', _) => exact(Scalar::Half),
            (b'2', _) => ty == Ty::Vector(Scalar::Float, 2),
            (b'4', _) => ty == Ty::Vector(Scalar::Float, 4),
            (b'h', _) => ty == Ty::Vector(Scalar::Half, 4),
            (b'f', Ty::Scalar(s)) => self.precision(s),
            (b'g', Ty::Scalar(s)) => self.precision(s) && self.size(1),
            (b'g' | b'v', Ty::Vector(s, n)) => self.precision(s) && self.size(n),
            (b'r', Ty::Vector(s, n)) => self.precision(s) && *self.other.get_or_insert(n) == n,
            (b'd' | b'c' | b'k', Ty::Vector(s, n)) => {
                let wanted = match letter {
                    b'd' => 2,
                    b'c' => 3,
                    _ => 4,
                };
                n == wanted && self.precision(s)
            }
            (b'm', Ty::Matrix(s, c, r)) => self.precision(s) && *self.shape.get_or_insert((c, r)) == (c, r),
            (b'q', Ty::Matrix(s, c, r)) => c == r && self.precision(s) && *self.shape.get_or_insert((c, r)) == (c, r),
            (b'T', Ty::Matrix(s, c, r)) => self.precision(s) && self.shape == Some((r, c)),
            (b'O', Ty::Matrix(s, c, r)) => self.precision(s) && (self.other, self.size) == (Some(c), Some(r)),
            (b'i' | b'u' | b'b' | b'G', Ty::Scalar(s)) => (s == of(letter) || literal(s, of(letter))) && self.size(1),
            (b'i' | b'u' | b'b' | b'G' | b'w' | b'x' | b's' | b't' | b'y', Ty::Vector(s, n)) => {
                s == of(letter) && self.size(n)
            }
            _ => false,
        }
    }

    fn size(&mut self, n: u8) -> bool {
        *self.size.get_or_insert(n) == n
    }

    fn precision(&mut self, s: Scalar) -> bool {
        match s {
            Scalar::Float | Scalar::Half => *self.precision.get_or_insert(s) == s,
            // An untyped literal matches any.
            Scalar::FloatLiteral | Scalar::IntLiteral => true,
            _ => false,
        }
    }
}

/// Component type of a letter that does not depend on the precision.
fn of(letter: u8) -> Scalar {
    match letter {
        b'i' | b'w' => Scalar::Int,
        b'u' | b'x' => Scalar::Uint,
        b's' => Scalar::Short,
        b't' => Scalar::Ushort,
        b'G' => Scalar::Float,
        _ => Scalar::Bool,
    }
}

/// Whether an untyped literal may be used as a scalar of this type.
fn literal(own: Scalar, wanted: Scalar) -> bool {
    match own {
        Scalar::FloatLiteral => wanted.class() == 0,
        Scalar::IntLiteral => wanted != Scalar::Bool,
        _ => false,
    }
}

/// Whether some overload of a built-in function takes these arguments and returns this result; `None` for functions
/// without a row.
pub(super) fn fits(name: &str, arguments: &[Ty], result: Ty) -> Option<bool> {
    let mut known = false;
    for (pattern, names) in ROWS {
        if !names.split_ascii_whitespace().any(|n| n == name) {
            continue;
        }
        known = true;
        let (parameters, gives) = pattern.split_once('>').unwrap_or((pattern, ""));
        let mut bound = Bound::default();
        let all = parameters.len() == arguments.len()
            && parameters
                .bytes()
                .zip(arguments)
                .all(|(letter, ty)| bound.fits(letter, *ty));
        if all && gives.bytes().all(|letter| bound.fits(letter, result)) {
            return Some(true);
        }
    }
    known.then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overloads_are_distinguished() {
        let ty = |name| Ty::from_name(name).unwrap();
        let good = [
            ("sin", &["half3"][..], "half3"),
            ("min", &["float4", "float"], "float4"),
            ("clamp", &["int3", "int", "int"], "int3"),
            ("mix", &["half2", "half2", "bool2"], "half2"),
            ("dot", &["float", "float"], "float"),
            ("outerProduct", &["half3", "half2"], "half2x3"),
            ("transpose", &["float4x2"], "float2x4"),
            ("lessThan", &["uint3", "uint3"], "bool3"),
            ("pow", &["half4", "half4"], "half4"),
        ];
        for (name, arguments, result) in good {
            let types: Vec<Ty> = arguments.iter().map(|name| ty(name)).collect();
            assert_eq!(fits(name, &types, ty(result)), Some(true), "{name}");
        }
        let bad = [
            ("sin", &["half3"][..], "float3"),
            ("sin", &["int"], "int"),
            ("min", &["float", "float4"], "float4"),
            ("mix", &["half2", "half2", "bool3"], "half2"),
            ("dot", &["float2", "float3"], "float"),
            ("outerProduct", &["half3", "half2"], "half3x2"),
            ("inverse", &["float4x2"], "float4x2"),
            ("lessThan", &["uint3", "int3"], "bool3"),
            ("pow", &["half4", "half"], "half4"),
        ];
        for (name, arguments, result) in bad {
            let types: Vec<Ty> = arguments.iter().map(|name| ty(name)).collect();
            assert_eq!(fits(name, &types, ty(result)), Some(false), "{name}");
        }
        assert_eq!(fits("nothing", &[], Ty::Void), None);
    }
}
