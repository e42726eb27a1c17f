//! Rules of the JSON schema; findings have a JSON path.

use super::model::{Enumerant, Model, Needs, Operand, OperandKind};
use crate::{Error, Report, Result, Severity};
use serde_json::Value;
use std::collections::HashMap;

/// Reads a grammar file and checks it against every rule of the schema.
///
/// `core` provides the kinds and capabilities that an extended instruction set may use without defining them.
///
/// # Errors
/// Invalid if the text is not JSON, or too far from the schema to build a model.
pub fn read(text: &str, core: Option<&Model>) -> Result<(Model, Report)> {
    let bad = |e: serde_json::Error| {
        let message = format!("grammar: line {}, column {}: {e}", e.line(), e.column());
        Error::new(crate::ErrorKind::Invalid, "spirv", message).caused_by(e)
    };
    let value: Value = serde_json::from_str(text).map_err(bad)?;
    let mut report = Report::default();
    shape(&value, &mut report);
    let model: Model = serde_json::from_value(value).map_err(|e| {
        let first = report
            .diagnostics
            .first()
            .map(|d| format!(": {}: {}", d.place, d.message));
        let message = format!("grammar: {e}{}", first.unwrap_or_default());
        Error::new(crate::ErrorKind::Invalid, "spirv", message).caused_by(e)
    })?;
    Checker::new(&model, core, &mut report).run();
    Ok((model, report))
}

fn fault(report: &mut Report, rule: &'static str, path: &str, message: impl Into<String>) {
    report.push(Severity::Error, rule, path, message, None);
}

/// Checks member types before serde does, because serde's errors lack the path.
fn shape(value: &Value, report: &mut Report) {
    let Some(root) = value.as_object() else {
        return fault(report, "json-type", "$", "a grammar is one object");
    };
    for (key, must) in [("instructions", true), ("operand_kinds", false)] {
        match root.get(key) {
            None if must => fault(report, "missing-member", "$", format!("no {key}")),
            None => {}
            Some(Value::Array(rows)) => {
                for (i, row) in rows.iter().enumerate() {
                    row_shape(row, &format!("$.{key}[{i}]"), key == "instructions", report);
                }
            }
            Some(_) => fault(report, "json-type", &format!("$.{key}"), "not a list"),
        }
    }
    for key in ["major_version", "minor_version", "revision"] {
        if root
            .get(key)
            .is_some_and(|v| v.as_u64().is_none_or(|n| n > u64::from(u32::MAX)))
        {
            fault(report, "json-type", &format!("$.{key}"), "not an integer");
        }
    }
}

fn row_shape(row: &Value, path: &str, instruction: bool, report: &mut Report) {
    let Some(row) = row.as_object() else {
        return fault(report, "json-type", path, "not an object");
    };
    let strings: &[&str] = if instruction {
        &["opname"]
    } else {
        &["category", "kind"]
    };
    for key in strings {
        match row.get(*key) {
            None => fault(report, "missing-member", path, format!("no {key}")),
            Some(Value::String(_)) => {}
            Some(_) => fault(report, "json-type", &format!("{path}.{key}"), "not a string"),
        }
    }
    if instruction
        && row
            .get("opcode")
            .and_then(Value::as_u64)
            .is_none_or(|n| n > u64::from(u32::MAX))
    {
        fault(
            report,
            "json-type",
            &format!("{path}.opcode"),
            "not an integer of 32 bits",
        );
    }
    for key in ["operands", "enumerants", "bases", "capabilities", "extensions"] {
        if row.get(key).is_some_and(|v| !v.is_array()) {
            fault(report, "json-type", &format!("{path}.{key}"), "not a list");
        }
    }
}

struct Checker<'a> {
    model: &'a Model,
    core: Option<&'a Model>,
    kinds: HashMap<&'a str, &'a OperandKind>,
    capabilities: Vec<&'a str>,
    report: &'a mut Report,
}

impl<'a> Checker<'a> {
    fn new(model: &'a Model, core: Option<&'a Model>, report: &'a mut Report) -> Self {
        let all = || core.into_iter().chain([model]).flat_map(|m| &m.operand_kinds);
        let kinds = all().map(|k| (k.kind.as_ref(), k)).collect();
        let capabilities = all()
            .filter(|k| k.kind == "Capability")
            .flat_map(|k| &k.enumerants)
            .map(|e| e.enumerant.as_ref())
            .collect();
        Self {
            model,
            core,
            kinds,
            capabilities,
            report,
        }
    }

    fn fault(&mut self, rule: &'static str, path: &str, message: impl Into<String>) {
        fault(self.report, rule, path, message);
    }

    fn run(mut self) {
        let model = self.model;
        if let Some(magic) = &model.magic_number
            && u32::from_str_radix(magic.trim_start_matches("0x"), 16) != Ok(crate::spirv::MAGIC)
        {
            self.fault("magic-number", "$.magic_number", format!("{magic} is not 0x07230203"));
        }
        let is_core = model.magic_number.is_some();
        let mut names = HashMap::new();
        for (i, row) in model.instructions.iter().enumerate() {
            let path = format!("$.instructions[{i}]");
            if let Some(first) = names.insert(&row.opname, i) {
                self.fault(
                    "name-twice",
                    &path,
                    format!("{} is also instruction {first}", row.opname),
                );
            }
            if is_core && !row.opname.starts_with("Op") {
                self.fault("op-prefix", &path, format!("{} does not begin with Op", row.opname));
            }
            if is_core && row.opcode > 0xffff {
                self.fault(
                    "opcode-range",
                    &path,
                    format!("opcode {} has more than 16 bits", row.opcode),
                );
            }
            self.operands(&row.operands, &format!("{path}.operands"));
            self.needs(&row.needs, &path);
        }
        let mut kinds = HashMap::new();
        for (i, kind) in model.operand_kinds.iter().enumerate() {
            let path = format!("$.operand_kinds[{i}]");
            if let Some(first) = kinds.insert(&kind.kind, i) {
                self.fault("kind-twice", &path, format!("{} is also kind {first}", kind.kind));
            }
            self.kind(kind, &path);
        }
    }

    fn operands(&mut self, operands: &[Operand], path: &str) {
        let mut optional = false;
        for (i, operand) in operands.iter().enumerate() {
            let path = format!("{path}[{i}]");
            if !self.kinds.contains_key(operand.kind.as_ref()) {
                self.fault(
                    "unknown-kind",
                    &format!("{path}.kind"),
                    format!("{} is not defined", operand.kind),
                );
            }
            match operand.quantifier.as_deref() {
                None if optional => {
                    self.fault("quantifier-order", &path, "a required operand follows an optional one");
                }
                None => {}
                Some("?" | "*") => optional = true,
                Some(other) => self.fault(
                    "quantifier",
                    &format!("{path}.quantifier"),
                    format!("\"{other}\" is neither ? nor *"),
                ),
            }
        }
    }

    fn needs(&mut self, needs: &Needs, path: &str) {
        for (i, name) in needs.capabilities.iter().enumerate() {
            if !self.capabilities.contains(&name.as_ref()) && (self.core.is_some() || !self.capabilities.is_empty()) {
                self.fault(
                    "unknown-capability",
                    &format!("{path}.capabilities[{i}]"),
                    format!("{name} is not a Capability"),
                );
            }
        }
        for (i, name) in needs.extensions.iter().enumerate() {
            if name.is_empty() || name.contains(char::is_whitespace) {
                self.fault(
                    "extension-name",
                    &format!("{path}.extensions[{i}]"),
                    format!("\"{name}\" is not a name"),
                );
            }
        }
        for (key, version) in [("version", &needs.version), ("lastVersion", &needs.last_version)] {
            if let Some(text) = version
                && text != "None"
                && super::version(text).is_none()
            {
                self.fault(
                    "version",
                    &format!("{path}.{key}"),
                    format!("\"{text}\" is not a version"),
                );
            }
        }
    }

    fn kind(&mut self, kind: &OperandKind, path: &str) {
        let prefix = match kind.category.as_ref() {
            "BitEnum" | "ValueEnum" => {
                if kind.enumerants.is_empty() {
                    self.fault("no-enumerants", path, format!("{} has no enumerants", kind.kind));
                }
                ""
            }
            "Id" => "Id",
            "Literal" => "Literal",
            "Composite" => {
                if kind.bases.is_empty() {
                    self.fault("no-bases", path, format!("{} has no bases", kind.kind));
                }
                ""
            }
            other => {
                self.fault(
                    "category",
                    &format!("{path}.category"),
                    format!("\"{other}\" is none of the five categories"),
                );
                ""
            }
        };
        if !kind.kind.starts_with(prefix) {
            self.fault(
                "kind-prefix",
                path,
                format!("{} does not begin with {prefix}", kind.kind),
            );
        }
        let is_enum = matches!(kind.category.as_ref(), "BitEnum" | "ValueEnum");
        if !is_enum && !kind.enumerants.is_empty() {
            self.fault(
                "stray-enumerants",
                path,
                format!("category {} has no enumerants", kind.category),
            );
        }
        if kind.category != "Composite" && !kind.bases.is_empty() {
            self.fault("stray-bases", path, format!("category {} has no bases", kind.category));
        }
        for (i, base) in kind.bases.iter().enumerate() {
            let at = format!("{path}.bases[{i}]");
            match self.kinds.get(base.as_ref()).map(|k| k.category.as_ref()) {
                None => self.fault("unknown-kind", &at, format!("{base} is not defined")),
                Some("Composite") => self.fault("nested-composite", &at, format!("{base} is itself composite")),
                Some(_) => {}
            }
        }
        let mut names = HashMap::new();
        for (i, row) in kind.enumerants.iter().enumerate() {
            let path = format!("{path}.enumerants[{i}]");
            if let Some(first) = names.insert(&row.enumerant, i) {
                self.fault(
                    "name-twice",
                    &path,
                    format!("{} is also enumerant {first}", row.enumerant),
                );
            }
            self.enumerant(row, kind.category == "BitEnum", &path);
        }
    }

    fn enumerant(&mut self, row: &Enumerant, mask: bool, path: &str) {
        match row.value.value() {
            None => self.fault("value", &format!("{path}.value"), "not a number of 32 bits"),
            Some(value) if mask && value.count_ones() > 1 => {
                // Khronos' own DebugInfoFlags has one (FlagIsPublic).
                let message = format!("{value:#x} is more than one bit");
                self.report
                    .push(Severity::Warning, "mask-bits", format!("{path}.value"), message, None);
            }
            Some(_) => {}
        }
        self.operands(&row.parameters, &format!("{path}.parameters"));
        self.needs(&row.needs, path);
    }
}
