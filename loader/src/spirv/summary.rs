//! What a module is, in a few words.

use super::{FORMAT, Grammar, ModuleIndex, class, operand};
use crate::Result;
use serde::Serialize;
use std::fmt;

/// Version, entry points, capabilities and sizes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Always `spirv`.
    pub format: &'static str,
    /// Version, such as `1.5`.
    pub version: String,
    /// Number of the tool that wrote it, and its own version.
    pub generator: [u32; 2],
    /// Ids are below this.
    pub bound: u32,
    /// Length in words.
    pub words: usize,
    /// Capabilities declared, in the module's order; unknown ones are numbers.
    pub capabilities: Vec<String>,
    /// Entry points, in the module's order.
    pub entry_points: Vec<EntryPoint>,
    /// Locations that inputs are read from.
    pub inputs: Vec<u32>,
    /// Locations that outputs are written to.
    pub outputs: Vec<u32>,
    /// Descriptor set and binding of each resource, rising.
    pub bindings: Vec<(u32, u32)>,
}

/// An entry point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EntryPoint {
    /// Execution model.
    pub model: String,
    /// Name.
    pub name: String,
}

/// Sums up a module.
///
/// # Errors
/// Invalid where an instruction's length is wrong or a declaration lacks its result.
pub fn summary(words: &[u32]) -> Result<Summary> {
    let index = ModuleIndex::new(words)?;
    let [_, version, generator, bound, _] = index.header();
    let capabilities = index.capabilities().iter();
    let entry_point = |node: super::Node| EntryPoint {
        model: enumerant("ExecutionModel", node.operand(0).unwrap_or(0)),
        name: words
            .get(node.position + 3..node.position + 1 + node.operand_count())
            .and_then(operand::string)
            .map(|(name, _)| name)
            .unwrap_or_default(),
    };
    let mut bindings: Vec<(u32, u32)> = index.globals().filter_map(|v| index.place(v.id)).collect();
    bindings.sort_unstable();
    bindings.dedup();
    Ok(Summary {
        format: FORMAT,
        version: format!("{}.{}", version >> 16 & 0xff, version >> 8 & 0xff),
        generator: [generator >> 16, generator & 0xffff],
        bound,
        words: words.len(),
        capabilities: capabilities.map(|number| enumerant("Capability", *number)).collect(),
        entry_points: index.entry_points().map(entry_point).collect(),
        inputs: index.locations(class::INPUT).into_iter().collect(),
        outputs: index.locations(class::OUTPUT).into_iter().collect(),
        bindings,
    })
}

/// An enumerant by name; an unknown one as its number.
fn enumerant(kind: &str, number: u32) -> String {
    let kind = Grammar::builtin().kind_of(kind);
    let row = kind.and_then(|kind| kind.value(number));
    row.map_or_else(|| number.to_string(), |row| row.name.clone())
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [tool, revision] = self.generator;
        writeln!(
            f,
            "SPIR-V {}, {} words, ids below {}",
            self.version, self.words, self.bound
        )?;
        writeln!(f, "generator: {tool}, version {revision}")?;
        writeln!(f, "capabilities: {}", self.capabilities.join(" "))?;
        for EntryPoint { model, name } in &self.entry_points {
            writeln!(f, "entry point: {model} {}", name.escape_debug())?;
        }
        let list = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        writeln!(f, "inputs at locations: {}", list(&self.inputs))?;
        writeln!(f, "outputs at locations: {}", list(&self.outputs))?;
        for (set, binding) in &self.bindings {
            writeln!(f, "resource: set {set}, binding {binding}")?;
        }
        Ok(())
    }
}
