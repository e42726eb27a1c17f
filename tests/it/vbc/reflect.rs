//! The vertices of reflected files, beside those of pipelines.

#[path = "../../../loader/tests/it/vbc/structs.rs"]
mod structs;

use crate::common;

use loader::reflect::rust;
use loader::vbc;
use std::fmt::Write;
use structs::{compiles, files, reflected};
use vulkan::{BindMode, Program, VertexBuffers};

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
