//! Vertex and uniform as Rust structs in scalar layout.

use super::{Reflection, UniformMember};
use std::fmt::Write;

/// Reserved words of Rust.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Reserved words that cannot be raw identifiers.
const PATH_WORDS: &[&str] = &["self", "Self", "super", "crate", "_"];

/// Prints `#[repr(C)]` structs `Vertex` and `Uniform` that match the shader's layout.
///
/// All components are 32 bits wide, so `repr(C)` is scalar layout; gaps become padding fields. Booleans are `u32`.
/// Vertex fields are named by location, `input_3`, because a file does not contain their names.
pub fn structs(reflection: &Reflection) -> String {
    let mut text = String::new();
    if reflection.vertex.stride != 0 {
        vertex(&mut text, reflection);
    }
    if let Some(uniform) = &reflection.uniform {
        let doc = format!("The uniform block: {} bytes, set 1, binding 0.", uniform.size);
        let fields: Vec<_> = uniform
            .members
            .iter()
            .map(|m| (field_name(&m.name), m.offset, m.size, ty(m)))
            .collect();
        print(&mut text, "Uniform", &doc, uniform.size, &fields);
    }
    text
}

fn vertex(text: &mut String, reflection: &Reflection) {
    let layout = &reflection.vertex;
    let doc = format!("One vertex: {} bytes, interleaved.", layout.stride);
    let mut fields: Vec<(String, u32, u32, String)> = Vec::new();
    let ends = layout
        .attributes
        .iter()
        .skip(1)
        .map(|a| a.offset)
        .chain([layout.stride]);
    let mut inputs: Vec<(u32, u32, u32, u32, &str)> = Vec::new();
    for (attribute, end) in layout.attributes.iter().zip(ends) {
        match inputs.last_mut() {
            Some(last) if last.0 == attribute.input => {
                last.2 = end;
                last.3 += 1;
            }
            _ => inputs.push((attribute.input, attribute.offset, end, 1, attribute.format)),
        }
    }
    for (input, offset, end, count, format) in inputs {
        let component = match format.rsplit('_').next() {
            Some("SINT") => "i32",
            Some("UINT") => "u32",
            _ => "f32",
        };
        let rows = (end - offset) / 4 / count;
        fields.push((
            format!("input_{input}"),
            offset,
            end - offset,
            array(&array(component, rows), count),
        ));
    }
    print(text, "Vertex", &doc, layout.stride, &fields);
}

/// A member's type; a bool takes 32 bits in memory.
fn ty(member: &UniformMember) -> String {
    let component = match member.ty.as_str() {
        "float" => "f32",
        "int" => "i32",
        _ => "u32",
    };
    array(&array(&array(component, member.rows), member.columns), member.array)
}

/// `[ty; count]`, or `ty` alone for one.
fn array(ty: &str, count: u32) -> String {
    if count == 1 {
        ty.to_owned()
    } else {
        format!("[{ty}; {count}]")
    }
}

/// A valid Rust identifier: other bytes become underscores.
fn field_name(name: &str) -> String {
    let clean: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if PATH_WORDS.contains(&clean.as_str()) || clean.is_empty() || clean.starts_with(|c: char| c.is_ascii_digit()) {
        return format!("{clean}_");
    }
    if KEYWORDS.contains(&clean.as_str()) {
        format!("r#{clean}")
    } else {
        clean
    }
}

fn print(text: &mut String, name: &str, doc: &str, size: u32, fields: &[(String, u32, u32, String)]) {
    if !text.is_empty() {
        text.push('\n');
    }
    let derives = "#[repr(C)]\n#[derive(Clone, Copy, Debug, PartialEq)]\n#[allow(non_snake_case)]";
    let _ = writeln!(text, "/// {doc}\n{derives}\npub struct {name} {{");
    let mut at = 0;
    for (field, offset, bytes, ty) in fields {
        pad(text, &mut at, *offset);
        let _ = writeln!(text, "    /// At byte {offset}.\n    pub {field}: {ty},");
        at = offset.saturating_add(*bytes);
    }
    pad(text, &mut at, size);
    text.push_str("}\n");
}

fn pad(text: &mut String, at: &mut u32, to: u32) {
    if to > *at {
        let _ = writeln!(text, "    /// Not used.\n    pub _pad_{at}: [u8; {}],", to - *at);
        *at = to;
    }
}
