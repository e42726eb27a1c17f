//! Builtin functions of SkSL in GLSL: those it has too, and those spelled out here.

/// Functions that are called in GLSL as in SkSL.
const SHARED: &str = " abs acos acosh all any asin asinh atan atanh bitCount ceil clamp cos cosh cross dFdx dFdy degrees \
    determinant distance dot equal exp exp2 faceforward findLSB findMSB floatBitsToInt floatBitsToUint floor fma fract \
    fwidth greaterThan greaterThanEqual intBitsToFloat inverse inversesqrt isinf isnan ldexp length lessThan lessThanEqual log \
    log2 max min mix mod normalize not notEqual packHalf2x16 packSnorm2x16 packSnorm4x8 packUnorm2x16 \
    packUnorm4x8 pow radians reflect refract round roundEven sign sin sinh smoothstep sqrt step tan tanh transpose trunc \
    uintBitsToFloat unpackHalf2x16 unpackSnorm2x16 unpackSnorm4x8 unpackUnorm2x16 unpackUnorm4x8 ";

/// Whether GLSL has the function under this name with the same meaning.
pub(super) fn is_shared(name: &str) -> bool {
    SHARED.contains(&format!(" {name} "))
}

/// A function GLSL (or naga's GLSL) lacks for its first argument's type `t`: the name it is called by and its text.
///
/// `scalar` says that `t` is a number.
pub(super) fn spelled(name: &str, t: &str, scalar: bool) -> Option<(String, String)> {
    let body = match (name, scalar) {
        ("saturate", _) => format!("{t} NAME({t} x) {{ return clamp(x, {t}(0.0), {t}(1.0)); }}"),
        ("unpremul", false) => format!("{t} NAME({t} c) {{ return vec4(c.rgb / max(c.a, 0.0001), c.a); }}"),
        ("modf", _) => format!("{t} NAME({t} x, out {t} i) {{ i = trunc(x); return x - i; }}"),
        ("proj", false) => format!("vec2 NAME({t} p) {{ return p.xy / p.z; }}"),
        ("cross_length_2d", false) => format!("float NAME({t} a, {t} b) {{ return a.x * b.y - a.y * b.x; }}"),
        // The geometric functions of one number, which naga has for vectors only.
        ("dot", true) => "float NAME(float a, float b) { return a * b; }".into(),
        ("length", true) => "float NAME(float a) { return abs(a); }".into(),
        ("distance", true) => "float NAME(float a, float b) { return abs(a - b); }".into(),
        ("normalize", true) => "float NAME(float a) { return a / abs(a); }".into(),
        ("faceforward", true) => {
            "float NAME(float n, float i, float r) { if (r * i < 0.0) { return n; } return -n; }".into()
        }
        ("reflect", true) => "float NAME(float i, float n) { return i - 2.0 * n * i * n; }".into(),
        ("refract", true) => "float NAME(float i, float n, float eta) {\n\
             float k = 1.0 - eta * eta * (1.0 - n * i * n * i);\n\
             if (k < 0.0) { return 0.0; }\n\
             return eta * i - (eta * n * i + sqrt(k)) * n; }"
            .into(),
        ("matrixCompMult", false) => {
            let columns = t.as_bytes().get(3).map_or(0, |digit| digit - b'0');
            let all: Vec<String> = (0..columns).map(|c| format!("a[{c}] * b[{c}]")).collect();
            format!("{t} NAME({t} a, {t} b) {{ return {t}({}); }}", all.join(", "))
        }
        _ => return None,
    };
    let called = format!("sk_{name}_{t}");
    let text = body.replace("NAME", &called) + "\n";
    Some((called, text))
}
