//! Reflection for engines: the JSON matches its schema, and the Rust structs compile with the shader's layout.

use super::structs::{compiles, files, reflected};
use crate::common;

use loader::reflect::{SCHEMA, rust};
use loader::vbc;
use serde_json::{Value, json};
use std::fmt::Write;

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
