//! A library's contents as a structure and as short text.

use super::{Library, Module, Name, Names, quote};
use serde::Serialize;
use std::fmt;

/// A library's modules with their blocks and branches.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Always `sl`.
    pub format: &'static str,
    /// The format's version.
    pub version: u32,
    /// Number of binary constants.
    pub binaries: usize,
    /// The modules.
    pub modules: Vec<UnitSummary>,
}

/// A module.
#[derive(Clone, Debug, Serialize)]
pub struct UnitSummary {
    /// Its name.
    pub name: String,
    /// Modules it is loaded with.
    pub loads: Vec<String>,
    /// Its blocks.
    pub blocks: Vec<BlockSummary>,
    #[serde(skip)]
    quoted: String,
}

/// A block.
#[derive(Clone, Debug, Serialize)]
pub struct BlockSummary {
    /// Its name.
    pub name: String,
    /// What it contains.
    pub containing: NameList,
    /// Its branches.
    pub branches: Vec<BranchSummary>,
}

/// A branch.
#[derive(Clone, Debug, Serialize)]
pub struct BranchSummary {
    /// Its name.
    pub name: String,
    /// Number of statements.
    pub receiving: NameList,
    /// Number of statements.
    pub statements: usize,
    /// The closure it invokes at its end.
    pub invokes: String,
    /// The invoked branch.
    pub branch: String,
    /// The names it passes.
    pub inputs: NameList,
}

/// A list of names, and whether a glob follows it.
#[derive(Clone, Debug, Serialize)]
pub struct NameList {
    /// The names.
    pub names: Vec<String>,
    /// Whether a glob follows them.
    pub glob: bool,
}

/// Summarises a library.
///
/// # Errors
/// None: the result is that of every format's summary.
pub fn summary(library: &Library<'_>) -> crate::Result<Summary> {
    let text = |name: &Name| library.text(name.content).into_owned();
    let list = |names: &Names| NameList {
        names: names.names.iter().map(text).collect(),
        glob: names.glob.is_some(),
    };
    let branch = |branch: &super::Branch| BranchSummary {
        name: text(&branch.name),
        receiving: list(&branch.receiving),
        statements: branch.statements.len(),
        invokes: text(&branch.invocation.target),
        branch: text(&branch.invocation.branch),
        inputs: list(&branch.invocation.inputs),
    };
    let block = |block: &super::Block| BlockSummary {
        name: text(&block.name),
        containing: list(&block.containing),
        branches: block.branches.iter().map(branch).collect(),
    };
    let module = |module: &Module| UnitSummary {
        name: text(&module.name),
        loads: loads(library, module),
        blocks: module.blocks.iter().map(block).collect(),
        quoted: quote(library.bytes(module.name.content)),
    };
    Ok(Summary {
        format: super::FORMAT,
        version: library.version,
        binaries: library.constants.len(),
        modules: library.modules.iter().map(module).collect(),
    })
}

/// What a module's loader receives besides `$loaded`.
fn loads(library: &Library<'_>, module: &Module) -> Vec<String> {
    let branch = module.blocks.first().and_then(|block| block.branches.first());
    let names = branch.map(|branch| &branch.receiving.names[..]).unwrap_or_default();
    let bytes = names.iter().map(|name| library.bytes(name.content));
    bytes.filter(|bytes| bytes != b"$loaded").map(quote).collect()
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "SL library, version {}, {} binaries", self.version, self.binaries)?;
        for unit in &self.modules {
            let branches: usize = unit.blocks.iter().map(|block| block.branches.len()).sum();
            write!(
                f,
                "unit {}: {} blocks, {branches} branches",
                unit.quoted,
                unit.blocks.len()
            )?;
            if !unit.loads.is_empty() {
                write!(f, "; loads {}", unit.loads.join(", "))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
