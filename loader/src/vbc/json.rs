//! A file as JSON.
//!
//! `format`, `version`, `shader_type`, `bytecode_words` and `tables` by name, then `inputs`, `outputs`, `bindings`,
//! `uniform` (null if absent), `subpass_inputs` and `subpass_record_bytes`; `trailing_bytes`, `dialect`, `requirements`
//! and `diagnostics` come last. Enumerants are printed by name, unknown ones by number; stages are lists of names,
//! unknown bits a number. Binding sizes are those stored in the file, also in the legacy dialect.

use super::requirements::{DescriptorNeed, FeatureNeed, Requirements, requirements};
use super::types::{Binding, Shape, Stage, Stages, Tables, Variable};
use super::view::{Uniform, Vbc};
use super::{SHADER_TYPE_GRAPHICS, VERSION};
use crate::Diagnostic;
use serde_json::{Map, Value, json};

/// The file's header and reflection, without its code.
pub(super) fn to_json(file: &Vbc) -> Value {
    let words = |stage| file.code(stage).map_or(0, |code| code.word_count());
    let by_stage: Map<_, _> = Stage::ALL
        .map(|s| (s.name().to_owned(), words(s).into()))
        .into_iter()
        .collect();
    let tables = std::iter::zip(Tables::NAMES, file.tables().sizes());
    let tables: Map<_, _> = tables.map(|(name, size)| (name.to_owned(), size.into())).collect();
    json!({
        "format": "vbc",
        "version": VERSION,
        "shader_type": SHADER_TYPE_GRAPHICS,
        "bytecode_words": by_stage,
        "tables": tables,
        "inputs": list(file.inputs(), variable),
        "outputs": list(file.outputs(), variable),
        "bindings": list(file.bindings_as_stored(), binding),
        "uniform": file.uniform().map(uniform),
        "subpass_inputs": list(0..file.subpass_inputs().len(), |i| subpass_input(file, i)),
        "subpass_record_bytes": file.subpass_record_bytes(),
        "trailing_bytes": file.trailing().len(),
        "dialect": file.dialect().name(),
        "requirements": needs(&requirements(file)),
        "diagnostics": list(file.diagnostics().iter(), diagnostic),
    })
}

fn list<T>(items: impl Iterator<Item = T>, to_json: impl FnMut(T) -> Value) -> Value {
    items.map(to_json).collect()
}

/// The name of an enumerant, or its number.
fn name_or(name: Option<&str>, number: u8) -> Value {
    name.map_or(number.into(), Into::into)
}

fn stages(stages: Stages) -> Value {
    let mut list: Vec<Value> = stages.iter().map(|stage| stage.name().into()).collect();
    if stages.unknown() != 0 {
        list.push(stages.unknown().into());
    }
    list.into()
}

fn variable(variable: Variable) -> Value {
    let base = variable.base;
    json!({
        "location": variable.location, "base": name_or(base.name(), base.0),
        "dims": variable.dims, "array": variable.array,
    })
}

fn binding(binding: Binding) -> Value {
    let (base, stages) = (name_or(binding.base.name(), binding.base.0), stages(binding.stages));
    match binding.shape {
        Shape::Buffer { size } => json!({ "slot": binding.slot, "base": base, "stages": stages, "size": size }),
        Shape::Texel {
            rank,
            texel,
            size,
            components,
        } => json!({
            "slot": binding.slot, "base": base, "stages": stages,
            "rank": name_or(rank.name(), rank.0), "texel": name_or(texel.name(), texel.0),
            "texel_size": size, "components": components,
        }),
    }
}

fn uniform(uniform: Uniform) -> Value {
    let members = list(uniform.members(), |member| {
        json!({
            "name": String::from_utf8_lossy(member.name), "offset": member.offset,
            "base": name_or(member.base.name(), member.base.0), "dims": member.dims, "array": member.array,
        })
    });
    json!({ "size": uniform.size, "stages": stages(uniform.stages), "members": members })
}

fn subpass_input(file: &Vbc, index: usize) -> Value {
    let Some(input) = file.subpass_inputs().nth(index) else {
        return Value::Null;
    };
    let mut value = json!({ "texel": name_or(input.texel.name(), input.texel.0), "components": input.components });
    if let Some(name) = file.subpass_name(index) {
        value["name"] = String::from_utf8_lossy(name).into();
    }
    value
}

fn needs(needs: &Requirements) -> Value {
    let feature = |need: &FeatureNeed| json!({ "feature": need.feature.name(), "why": need.why.to_string() });
    let descriptor = |need: &DescriptorNeed| {
        json!({
            "set": need.set, "binding": need.binding, "kind": need.kind.name(),
            "count": need.count, "used": need.used, "stages": stages(need.stages),
        })
    };
    json!({
        "features": list(needs.features.iter(), feature),
        "descriptors": list(needs.descriptors.iter(), descriptor),
        "push_constant_bytes": needs.push_constant_bytes,
        "uniform_bytes": needs.uniform_bytes,
        "vertex_locations": needs.vertex_locations,
        "color_attachments": needs.color_attachments,
        "unknown_capabilities": list(needs.unknown_capabilities.iter(), |c| json!([c.0.name(), c.1])),
    })
}

fn diagnostic(diagnostic: &Diagnostic) -> Value {
    json!({
        "severity": diagnostic.severity.name(), "rule": diagnostic.rule, "place": diagnostic.place,
        "message": diagnostic.message, "offset": diagnostic.offset,
    })
}
