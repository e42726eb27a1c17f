//! The rules a library must obey to be runnable, checked by a dataflow over each branch.

use super::{Block, Branch, Library, Module, Name, Names, Options, Statement, read_with};
use crate::{Report, Severity};
use std::collections::{BTreeSet, HashSet};

/// Every rule of [`check`] beyond those of reading, with its meaning.
pub const RULES: &[(&str, &str)] = &[
    ("long-varint", "varints are as short as they can be (warning)"),
    ("located-literals", "literals of version 3 have no location (warning)"),
    ("no-modules", "a library holds a unit (warning)"),
    ("unused-binary", "something refers to each binary (warning)"),
    ("duplicate-module", "modules of a library have different names"),
    ("no-blocks", "a module has a block to load it"),
    ("loader-containing", "a module's first block contains nothing"),
    (
        "loader-branch",
        "a module's first block has one branch, of the empty name",
    ),
    ("duplicate-block", "blocks of a module have different names (warning)"),
    ("duplicate-branch", "branches of a block have different names"),
    ("duplicate-in-list", "no name is twice in one list"),
    ("containing-receiving", "a branch receives nothing its block contains"),
    (
        "missing-name",
        "every name that is used is defined and not yet consumed",
    ),
    ("name-defined-twice", "a name is not defined twice"),
    ("left-over", "everything is used, or passed on"),
    (
        "closure-contains",
        "a closure holds exactly the names that its block contains",
    ),
];

/// Names that the statements from `from` on and the invocation use before defining them.
///
/// This is the whole rule for a glob in a close-over list: it moves every value whose name is not in this set (our
/// decision; no real file with a glob is known). A glob itself is not a use.
pub fn free_names<'l>(library: &'l Library<'_>, branch: &Branch, from: usize) -> HashSet<&'l [u8]> {
    let bytes = |name: &Name| library.bytes(name.content);
    let mut free: HashSet<&[u8]> = branch.invocation.inputs.names.iter().map(bytes).collect();
    free.insert(bytes(&branch.invocation.target));
    for statement in branch.statements.get(from..).unwrap_or_default().iter().rev() {
        match statement {
            Statement::Closure { dest, close_over, .. } => {
                free.remove(bytes(dest));
                free.extend(close_over.names.iter().map(bytes));
            }
            Statement::Literal { dest, .. } => {
                free.remove(bytes(dest));
            }
            Statement::Rename { dest, source } => {
                free.remove(bytes(dest));
                free.insert(bytes(source));
            }
        }
    }
    free
}

/// Checks a file against every rule: those of [`validate`], and that every number has its shortest encoding.
pub fn check(bytes: &[u8]) -> Report {
    let (library, notes) = match read_with(bytes, &Options::default()) {
        Ok(read) => read,
        Err(error) => return (&error).into(),
    };
    let mut report = Report::default();
    let mut warn = |rule, message: String, offset| report.push(Severity::Warning, rule, "", message, offset);
    if notes.long_varints > 0 {
        let message = format!("{} varints are longer than needed", notes.long_varints);
        warn("long-varint", message, notes.first_long);
    }
    if notes.located_literals {
        warn(
            "located-literals",
            "a version 3 file with version 4's literals".into(),
            None,
        );
    }
    report.diagnostics.extend(validate(&library).diagnostics);
    report
}

/// Checks a library.
pub fn validate(library: &Library<'_>) -> Report {
    let mut report = Report::default();
    let mut warn = |rule, message: String| report.push(Severity::Warning, rule, "", message, None);
    if library.modules.is_empty() {
        warn("no-modules", "a library should hold a unit".into());
    }
    let used = used(library);
    for index in 0..library.constants.len() as u32 {
        if !used.contains(&index) {
            warn("unused-binary", format!("nothing refers to binary {index}"));
        }
    }
    let mut checker = Checker { library, report };
    checker.library();
    checker.report
}

/// The constants that are referenced.
fn used(library: &Library<'_>) -> BTreeSet<u32> {
    let mut all = BTreeSet::new();
    let mut name = |name: &Name| all.extend([name.content, name.location.file]);
    let mut globs = Vec::new();
    let mut list = |names: &Names, name: &mut dyn FnMut(&Name)| {
        names.names.iter().for_each(name);
        globs.extend(names.glob.map(|glob| glob.file));
    };
    let mut literals = Vec::new();
    for module in &library.modules {
        name(&module.name);
        for block in &module.blocks {
            name(&block.name);
            list(&block.containing, &mut name);
            for branch in &block.branches {
                name(&branch.name);
                list(&branch.receiving, &mut name);
                for statement in &branch.statements {
                    match statement {
                        Statement::Closure { dest, close_over, .. } => {
                            name(dest);
                            list(close_over, &mut name);
                        }
                        Statement::Literal {
                            dest,
                            content,
                            location,
                        } => {
                            name(dest);
                            literals.push(*content);
                            literals.extend(location.map(|l| l.file));
                        }
                        Statement::Rename { dest, source } => {
                            name(dest);
                            name(source);
                        }
                    }
                }
                name(&branch.invocation.target);
                name(&branch.invocation.branch);
                list(&branch.invocation.inputs, &mut name);
            }
        }
    }
    all.extend(globs);
    all.extend(literals);
    all
}

struct Checker<'l> {
    library: &'l Library<'l>,
    report: Report,
}

type Set<'l> = BTreeSet<&'l [u8]>;

impl<'l> Checker<'l> {
    fn error(&mut self, rule: &'static str, place: &str, name: &Name, message: &str) {
        let text = format!(
            "{} {message} ({})",
            super::quote(self.library.bytes(name.content)),
            self.library.place(&name.location)
        );
        self.report.push(Severity::Error, rule, place, text, None);
    }

    fn bytes(&self, name: &Name) -> &'l [u8] {
        self.library.bytes(name.content)
    }

    fn library(&mut self) {
        let library = self.library;
        let mut seen = Set::new();
        for module in &library.modules {
            let place = format!("module {}", library.text(module.name.content));
            if !seen.insert(self.bytes(&module.name)) {
                self.error("duplicate-module", &place, &module.name, "names two modules");
            }
            self.module(module, &place);
        }
    }

    fn module(&mut self, module: &'l Module, place: &str) {
        let Some(loader) = module.blocks.first() else {
            self.error(
                "no-blocks",
                place,
                &module.name,
                "has no blocks, so it cannot be loaded",
            );
            return;
        };
        if !loader.containing.names.is_empty() {
            self.error(
                "loader-containing",
                place,
                &loader.name,
                "is the loader and cannot contain anything",
            );
        }
        if loader.branches.len() != 1 || !self.bytes(&loader.branches[0].name).is_empty() {
            self.error(
                "loader-branch",
                place,
                &loader.name,
                "is the loader and needs one branch with the empty name",
            );
        }
        let mut seen = Set::new();
        for block in &module.blocks {
            let place = format!("{place}: block {}", self.library.text(block.name.content));
            if !seen.insert(self.bytes(&block.name)) {
                let message = "names two blocks; closures go by number".to_owned();
                self.report
                    .push(Severity::Warning, "duplicate-block", &place, message, None);
            }
            self.block(module, block, &place);
        }
    }

    fn distinct(&mut self, names: &'l Names, place: &str) -> Set<'l> {
        let mut seen = Set::new();
        for name in &names.names {
            if !seen.insert(self.bytes(name)) {
                self.error("duplicate-in-list", place, name, "is twice in one list");
            }
        }
        seen
    }

    fn block(&mut self, module: &'l Module, block: &'l Block, place: &str) {
        let containing = self.distinct(&block.containing, place);
        let mut seen = Set::new();
        for branch in &block.branches {
            let place = format!("{place}: branch {}", super::quote(self.bytes(&branch.name)));
            if !seen.insert(self.bytes(&branch.name)) {
                self.error("duplicate-branch", &place, &branch.name, "names two branches");
            }
            let mut present = self.distinct(&branch.receiving, &place);
            for name in &branch.receiving.names {
                if containing.contains(self.bytes(name)) {
                    self.error("containing-receiving", &place, name, "is both contained and received");
                }
            }
            present.extend(&containing);
            let open = block.containing.glob.is_some() || branch.receiving.glob.is_some();
            self.branch(module, branch, present, open, &place);
        }
    }

    /// Consumes and defines names; `open` means that a glob brought in unknown names.
    fn branch(&mut self, module: &'l Module, branch: &'l Branch, mut present: Set<'l>, open: bool, place: &str) {
        for (index, statement) in branch.statements.iter().enumerate() {
            let dest = match statement {
                Statement::Literal { dest, .. } => dest,
                Statement::Rename { dest, source } => {
                    self.take(&mut present, source, open, place);
                    dest
                }
                Statement::Closure {
                    dest,
                    block,
                    close_over,
                } => {
                    let mut moved = self.distinct(close_over, place);
                    for name in &close_over.names {
                        self.take(&mut present, name, open, place);
                    }
                    if close_over.glob.is_some() {
                        let mut later = free_names(self.library, branch, index + 1);
                        later.remove(self.bytes(dest));
                        let (stay, go): (Set<'_>, Set<'_>) = present.iter().partition(|name| later.contains(*name));
                        present = stay;
                        moved.extend(go);
                    }
                    let loose = open && close_over.glob.is_some();
                    self.contained(&module.blocks[*block as usize], &moved, loose, dest, place);
                    dest
                }
            };
            if !present.insert(self.bytes(dest)) {
                self.error("name-defined-twice", place, dest, "is there already");
            }
        }
        let call = &branch.invocation;
        self.take(&mut present, &call.target, open, place);
        self.distinct(&call.inputs, place);
        for name in &call.inputs.names {
            self.take(&mut present, name, open, place);
        }
        if call.inputs.glob.is_none() {
            for left in present {
                let message = format!("{} is never used", super::quote(left));
                self.report.push(Severity::Error, "left-over", place, message, None);
            }
        }
    }

    fn take(&mut self, present: &mut Set<'l>, name: &'l Name, open: bool, place: &str) {
        if !present.remove(self.bytes(name)) && !open {
            self.error("missing-name", place, name, "is not there (never defined, or used up)");
        }
    }

    /// Whether a block's `containing` clause matches what a closure of it holds.
    fn contained(&mut self, block: &Block, moved: &Set<'l>, loose: bool, dest: &Name, place: &str) {
        let wanted: Set<'_> = block.containing.names.iter().map(|name| self.bytes(name)).collect();
        let lacks = wanted.difference(moved).next().filter(|_| !loose);
        let extra = moved
            .difference(&wanted)
            .next()
            .filter(|_| block.containing.glob.is_none());
        let message = match (lacks, extra) {
            (Some(name), _) => format!("closes over a block that contains {}, without it", super::quote(name)),
            (None, Some(name)) => format!("closes over {}, which its block does not contain", super::quote(name)),
            (None, None) => return,
        };
        self.error("closure-contains", place, dest, &message);
    }
}
