//! Built-in functions of SkSL in GLSL: shared ones, and helpers for the others.

/// Functions with the same name and meaning in both languages.
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

/// Fraction and exponent of a number, from its bits; zero, infinities and NaN keep their value and get exponent 0.
const FREXP: &str = "float NAME(float x, out int e) {\n\
    e = 0;\n\
    float m = abs(x);\n\
    if (m == 0.0 || isnan(x) || isinf(x)) { return x; }\n\
    int up = 0;\n\
    if (m < 1.1754943508222875e-38) { m *= 16777216.0; up = -24; }\n\
    uint bits = floatBitsToUint(m);\n\
    e = int(bits >> 23) - 126 + up;\n\
    return sign(x) * uintBitsToFloat((bits & 0x7fffffu) | 0x3f000000u);\n}";

/// A function that GLSL (or naga's GLSL) lacks for its first argument's type `t`: its name and text.
///
/// `scalar` means that `t` is a scalar.
pub(super) fn spelled(name: &str, t: &str, scalar: bool) -> Option<(String, String)> {
    let body = match (name, scalar) {
        ("saturate", _) => format!("{t} NAME({t} x) {{ return clamp(x, {t}(0.0), {t}(1.0)); }}"),
        ("unpremul", false) => format!("{t} NAME({t} c) {{ return vec4(c.rgb / max(c.a, 0.0001), c.a); }}"),
        ("modf", _) => format!("{t} NAME({t} x, out {t} i) {{ i = trunc(x); return x - i; }}"),
        // The sRGB curve and its inverse; a runtime effect's colours are sRGB unless the host has another space.
        ("toLinearSrgb", false) => format!(
            "{t} NAME({t} c) {{\n\
             {t} a = abs(c);\n\
             {t} low = a / 12.92;\n\
             {t} high = pow((a + 0.055) / 1.055, {t}(2.4));\n\
             return sign(c) * mix(high, low, lessThanEqual(a, {t}(0.04045)));\n}}"
        ),
        ("fromLinearSrgb", false) => format!(
            "{t} NAME({t} c) {{\n\
             {t} a = abs(c);\n\
             {t} low = a * 12.92;\n\
             {t} high = 1.055 * pow(a, {t}(1.0 / 2.4)) - 0.055;\n\
             return sign(c) * mix(high, low, lessThanEqual(a, {t}(0.0031308)));\n}}"
        ),
        ("frexp", true) => FREXP.into(),
        ("frexp", false) => {
            let n = t.as_bytes().get(3).map_or(2, |digit| digit - b'0');
            let one = FREXP.replace("NAME", "NAME_one");
            let outs: Vec<String> = (0..n).map(|i| format!("int e{i};")).collect();
            let parts: Vec<String> = (0..n).map(|i| format!("NAME_one(x[{i}], e{i})")).collect();
            let names: Vec<String> = (0..n).map(|i| format!("e{i}")).collect();
            let (outs, parts, names) = (outs.join(" "), parts.join(", "), names.join(", "));
            format!(
                "{one}\n{t} NAME({t} x, out ivec{n} e) {{\n\
                 {outs}\n{t} m = {t}({parts});\ne = ivec{n}({names});\nreturn m;\n}}"
            )
        }
        ("proj", false) => format!("vec2 NAME({t} p) {{ return p.xy / p.z; }}"),
        ("cross_length_2d", false) => format!("float NAME({t} a, {t} b) {{ return a.x * b.y - a.y * b.x; }}"),
        // The geometric functions of scalars, which naga has for vectors only.
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
