//! Instructions as JSON, for `dis --json`.

use crate::cli::outcome::Outcome;
use loader::mbs::{Program, Stage};
use loader::spirv::{Grammar, dis};
use serde_json::{Value, json};
use utgard::text::Row;
use utgard::{gp, pp, shader};

/// The instructions of a module, each with its byte offset.
///
/// # Errors
/// Bad when the module has no header.
pub(super) fn module(words: &[u32], grammar: &Grammar, options: dis::Options) -> Outcome<Value> {
    let lines = dis::lines(grammar, words, options)?;
    let line = |line: &dis::Line| {
        let name = grammar.row(line.opcode).map(|row| &row.name);
        json!({ "offset": 4 * line.position, "opcode": line.opcode, "name": name, "text": line.text })
    };
    Ok(lines.iter().map(line).collect())
}

/// The instructions of a Mali-400 program, each with its address and its units.
pub(super) fn program(program: &Program) -> Value {
    let rows = match program.stage {
        Stage::Vertex => gp::rows(&shader::instructions(&program.code)),
        Stage::Fragment => pp::rows(&program.code),
    };
    let instructions = rows.iter().map(instruction).collect::<Vec<_>>();
    json!({ "stage": program.stage.name(), "instructions": instructions })
}

fn instruction(row: &Row) -> Value {
    let unit = |(unit, text): &(&str, String)| json!({ "unit": unit, "text": text });
    json!({ "address": row.address, "units": row.cells.iter().map(unit).collect::<Vec<_>>() })
}

/// A document as text.
pub(super) fn text(document: &Value) -> String {
    format!("{document:#}\n")
}
