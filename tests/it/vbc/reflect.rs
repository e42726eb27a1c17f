//! Reflection for engines: the JSON matches its schema, and the Rust structs compile with the shader's layout.

use crate::common;

use loader::reflect::{Reflection, SCHEMA, reflect, rust};
use loader::vbc;
use serde_json::{Value, json};
use std::fmt::Write;
use std::process::Command;
use vulkan::{BindMode, Program, VertexBuffers};

/// Every file with its name.
fn files() -> Vec<(String, Vec<u8>)> {
    let folders = [Some(common::data("")), common::corpus("vbc")];
    let paths = folders.iter().flatten().flat_map(|folder| common::files(folder, "vbc"));
    paths
        .map(|path| {
            (
                path.file_stem().unwrap().to_string_lossy().into_owned(),
                std::fs::read(path).unwrap(),
            )
        })
        .collect()
}

fn reflected(bytes: &[u8]) -> Reflection {
    reflect(&vbc::read(bytes).unwrap())
}

/// Where a value violates a schema; supports the parts of JSON Schema that [`SCHEMA`] uses.
fn faults(value: &Value, schema: &Value, path: &str, found: &mut Vec<String>) {
    for (keyword, rule) in schema.as_object().unwrap() {
        let holds = match keyword.as_str() {
            "$schema" | "title" | "properties" => true,
            "type" => match rule.as_str().unwrap() {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "integer" => value.is_u64() || value.is_i64(),
                "boolean" => value.is_boolean(),
                "null" => value.is_null(),
                other => panic!("type {other}"),
            },
            "enum" => rule.as_array().unwrap().contains(value),
            "minimum" => value.as_i64().is_none_or(|value| value >= rule.as_i64().unwrap()),
            "maximum" => value.as_i64().is_none_or(|value| value <= rule.as_i64().unwrap()),
            "pattern" => {
                let start = rule
                    .as_str()
                    .unwrap()
                    .strip_prefix('^')
                    .expect("patterns here are starts");
                value.as_str().is_none_or(|value| value.starts_with(start))
            }
            "required" => rule
                .as_array()
                .unwrap()
                .iter()
                .all(|key| value.get(key.as_str().unwrap()).is_some()),
            "additionalProperties" => {
                let known = schema["properties"].as_object().unwrap();
                value
                    .as_object()
                    .is_none_or(|value| value.keys().all(|key| known.contains_key(key)))
            }
            "anyOf" => rule.as_array().unwrap().iter().any(|rule| {
                let mut inner = Vec::new();
                faults(value, rule, path, &mut inner);
                inner.is_empty()
            }),
            "items" => {
                let items = value.as_array().into_iter().flatten().enumerate();
                items.for_each(|(i, item)| faults(item, rule, &format!("{path}[{i}]"), found));
                true
            }
            other => panic!("the schema uses {other}, which this test does not support"),
        };
        if !holds {
            found.push(format!("{path} breaks {keyword} {rule}: {value}"));
        }
    }
    for (key, rule) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(key) {
            faults(value, rule, &format!("{path}.{key}"), found);
        }
    }
}

#[test]
fn json_matches_its_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let files = files();
    for (name, bytes) in &files {
        let mut found = Vec::new();
        faults(
            &serde_json::to_value(reflected(bytes)).unwrap(),
            &schema,
            name,
            &mut found,
        );
        assert!(found.is_empty(), "{found:#?}");
    }
    println!("{} files keep to the schema", files.len());
    // Negative control: a renamed key, a wrong type and a foreign format are found.
    let mut value = serde_json::to_value(reflected(&files[0].1)).unwrap();
    value["vertex"] =
        json!({"stride": "four", "attributes": [{"location": 0, "format": "R32", "offset": 0, "input": 0}]});
    value.as_object_mut().unwrap().remove("slots");
    let mut found = Vec::new();
    faults(&value, &schema, "", &mut found);
    assert_eq!(found.len(), 3, "{found:#?}");
}

/// The pipeline's layout of interleaved vertices: the stride, and location, format and offset of each attribute.
fn fetched(bytes: &[u8]) -> Option<(u32, Vec<ash::vk::VertexInputAttributeDescription>)> {
    let vbc = vbc::read(bytes).unwrap();
    let program = match Program::new(common::context(), &vbc, BindMode::Auto) {
        Ok(program) => program,
        // Files beyond every device's limits have no pipeline.
        Err(error) => {
            println!("no pipeline: {error}");
            return None;
        }
    };
    let input = program.vertex_input(VertexBuffers::Interleaved);
    assert!(input.attributes.iter().all(|attribute| attribute.binding == 0));
    Some((input.bindings.first()?.stride, input.attributes))
}

/// The printed struct, the layout in JSON and the vertex bindings of a pipeline agree.
#[test]
fn rust_vertices_are_what_pipelines_fetch() {
    let mut source = String::from("#![allow(dead_code)]\n");
    let (mut files_held, mut attributes_held) = (0, 0);
    let files = files();
    for (i, (name, bytes)) in files.iter().enumerate() {
        let reflection = reflected(bytes);
        let Some((stride, attributes)) = fetched(bytes) else {
            continue;
        };
        files_held += 1;
        let text = rust::structs(&reflection);
        let _ = writeln!(
            source,
            "// {name}\nmod m{i} {{\n{text}\nconst _: () = assert!(size_of::<Vertex>() == {stride});"
        );
        for attribute in attributes {
            attributes_held += 1;
            let all = &reflection.vertex.attributes;
            let reflected = all.iter().find(|a| a.location == attribute.location);
            let reflected = reflected.unwrap_or_else(|| panic!("{name}: location {}", attribute.location));
            assert_eq!(
                reflected.offset, attribute.offset,
                "{name}: location {}",
                attribute.location
            );
            assert_eq!(reflected.format, format!("VK_FORMAT_{:?}", attribute.format), "{name}");
            let input = reflected.input;
            let first = all.iter().find(|a| a.input == input).unwrap().location;
            // All locations of one input are vectors of as many components.
            let _ = writeln!(
                source,
                "const _: () = assert!(std::mem::offset_of!(Vertex, input_{input}) + {} * {} == {});",
                attribute.location - first,
                components(reflected.format) * 4,
                attribute.offset
            );
        }
        source.push_str("}\n");
    }
    let (good, said) = compiles(&source);
    assert!(good, "{said}");
    println!(
        "{files_held} files of {}: {attributes_held} attributes lie in the struct where they are fetched",
        files.len()
    );
    assert!(files_held >= 10 && attributes_held > files_held);
    // Negative control: a struct that is longer than the stride.
    let wrong = source.replacen("size_of::<Vertex>() == ", "size_of::<Vertex>() == 4 + ", 1);
    assert!(!compiles(&wrong).0, "a wrong stride compiles");
}

/// Components of a format of 32-bit numbers, such as `VK_FORMAT_R32G32_SFLOAT`.
fn components(format: &str) -> u32 {
    format.matches("32").count() as u32
}

/// Whether a library of this source compiles, and the compiler's output.
fn compiles(source: &str) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("structs.rs");
    std::fs::write(&path, source).unwrap();
    let output = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
        .args([
            "--edition",
            "2024",
            "--crate-type",
            "lib",
            "--emit",
            "metadata",
            "--out-dir",
        ])
        .args([folder.path(), &path])
        .output()
        .expect("rustc runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.success(), said)
}

/// All structs of all files in one crate, each in a module that asserts its offsets and size.
#[test]
fn rust_structs_compile_and_lie_where_the_shader_has_them() {
    let mut source = String::from("#![allow(dead_code)]\n");
    let (mut structs, mut fields) = (0, 0);
    for (i, (name, bytes)) in files().iter().enumerate() {
        let reflection = reflected(bytes);
        let _ = writeln!(source, "// {name}\nmod m{i} {{\n{}", rust::structs(&reflection));
        let mut assert = |ty: &str, what: String, is: u32| {
            fields += 1;
            let _ = writeln!(source, "const _: () = assert!({} == {is});", what.replace("TYPE", ty));
        };
        if reflection.vertex.stride != 0 {
            structs += 1;
            assert("Vertex", "size_of::<TYPE>()".into(), reflection.vertex.stride);
            let mut last = None;
            for attribute in &reflection.vertex.attributes {
                if last.replace(attribute.input) != Some(attribute.input) {
                    let what = format!("std::mem::offset_of!(TYPE, input_{})", attribute.input);
                    assert("Vertex", what, attribute.offset);
                }
            }
        }
        if let Some(uniform) = &reflection.uniform {
            structs += 1;
            assert("Uniform", "size_of::<TYPE>()".into(), uniform.size);
            for member in &uniform.members {
                assert(
                    "Uniform",
                    format!("std::mem::offset_of!(TYPE, {})", member.name),
                    member.offset,
                );
            }
        }
        source.push_str("}\n");
    }
    let (good, said) = compiles(&source);
    assert!(good, "{said}");
    println!("{structs} structs compile, {fields} sizes and offsets hold");
    assert!(structs > 10);
    // Negative control: an assertion that is off by four does not compile.
    let wrong = source.replacen("size_of::<Vertex>() == ", "size_of::<Vertex>() == 4 + ", 1);
    assert!(!compiles(&wrong).0, "a wrong size compiles");
}

#[test]
fn rust_keywords_are_escaped() {
    let bytes = std::fs::read(common::data("vbc/uniform_members.vbc")).unwrap();
    let mut model = vbc::read(&bytes).unwrap().to_model();
    let members = &mut model.uniform.as_mut().unwrap().members;
    members[0].name = b"type".to_vec();
    members[1].name = b"self".to_vec();
    members.remove(2);
    let bytes = vbc::write(&model).unwrap();
    let text = rust::structs(&reflected(&bytes));
    assert!(
        text.contains("pub r#type: f32") && text.contains("pub self_: [f32; 2]"),
        "{text}"
    );
    assert!(
        text.contains("pub _pad_12: [u8; 12]"),
        "the removed member's place stays: {text}"
    );
}

#[test]
fn disagreements_are_listed() {
    let bytes = std::fs::read(common::data("vbc/triangle.vbc")).unwrap();
    assert!(reflected(&bytes).disagreements.is_empty());
    let mut model = vbc::read(&bytes).unwrap().to_model();
    model.inputs.pop();
    let found = reflected(&vbc::write(&model).unwrap()).disagreements;
    assert!(
        matches!(&found[..], [one] if one.contains("input-unreflected")),
        "{found:?}"
    );
}

#[test]
fn a_known_shader_reflects_its_source() {
    let reflection = reflected(&std::fs::read(common::data("vbc/textured.vbc")).unwrap());
    let json = serde_json::to_value(&reflection).unwrap();
    let fragment = json!(["VK_SHADER_STAGE_FRAGMENT_BIT"]);
    assert_eq!(json["vertex"]["stride"], 20);
    assert_eq!(json["vertex"]["attributes"][1]["format"], "VK_FORMAT_R32G32_SFLOAT");
    assert_eq!(
        json["push_constant_ranges"],
        json!([{"stage_flags": fragment, "offset": 0, "size": 4}])
    );
    assert_eq!(json["set_layouts"][0]["bindings"][0]["descriptor_count"], 8192);
    assert_eq!(
        json["set_layouts"][1]["bindings"][0]["descriptor_type"],
        "VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER"
    );
    assert_eq!(json["slots"][0]["view_type"], "VK_IMAGE_VIEW_TYPE_2D");
    assert_eq!(json["uniform"]["members"][1]["name"], "tint");
}
