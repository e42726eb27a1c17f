//! The section order of a module, and the structure of its functions.

use super::{Checked, Item};
use crate::spirv::capability;

/// The sections of decorations, and of types, constants and variables.
const ANNOTATIONS: u32 = 10;
const DECLARATIONS: u32 = 11;

/// The section of an instruction; `None` inside functions or if it is allowed anywhere.
fn section(item: &Item<'_>) -> Option<u32> {
    Some(match item.name() {
        "Capability" => 0,
        "Extension" => 1,
        "ExtInstImport" => 2,
        "MemoryModel" => 3,
        "SamplerImageAddressingModeNV" => 4,
        "EntryPoint" => 5,
        "ExecutionMode" | "ExecutionModeId" => 6,
        "String" | "SourceExtension" | "Source" | "SourceContinued" => 7,
        "Name" | "MemberName" => 8,
        "ModuleProcessed" => 9,
        "DecorationGroup" => ANNOTATIONS,
        name if name.starts_with("Decorate") || name.contains("MemberDecorate") || name == "GroupDecorate" => {
            ANNOTATIONS
        }
        name if name.starts_with("Type") || name.starts_with("Constant") || name.starts_with("SpecConstant") => {
            DECLARATIONS
        }
        _ => return None,
    })
}

pub(super) fn check(module: &mut Checked<'_>) {
    let mut last = 0;
    let mut frame = Frame::default();
    let mut models = 0;
    let mut before = "";
    for at in 0..module.items.len() {
        let item = module.items[at];
        if item.name() == "SourceContinued" && !before.starts_with("Source") {
            module.fail("section-order", &item, "continues no OpSource");
        }
        before = item.name();
        models += u32::from(item.name() == "MemoryModel");
        if let Some(section) = section(&item) {
            if frame.seen {
                module.fail("section-order", &item, "follows the first function");
            } else if section < last {
                module.fail("section-order", &item, "follows a later section");
            }
            last = last.max(section);
            continue;
        }
        if !frame.inside && !frame.seen {
            match item.name() {
                "Function" | "ConditionalExtensionINTEL" | "Label" => {}
                "AsmTargetINTEL"
                | "AsmINTEL"
                | "AliasDomainDeclINTEL"
                | "AliasScopeDeclINTEL"
                | "AliasScopeListDeclINTEL" => {}
                "ExtInst" if !semantic_free(module, &item) => {
                    module.fail("block", &item, "is outside a block");
                }
                "ExtInst" if last < DECLARATIONS => {
                    module.fail("section-order", &item, "precedes the first type");
                }
                // The declarations may begin with any of these.
                "Variable" | "UntypedVariableKHR" | "Undef" | "Line" | "NoLine" | "ExtInst" => last = DECLARATIONS,
                _ => module.fail("outside-function", &item, "is outside a function"),
            }
        }
        frame.step(module, &item, at);
    }
    if frame.inside {
        let item = *module.items.last().expect("a frame is inside only after an item");
        module.fail("function-end", &item, "the last function does not end");
    }
    let bindless = |item: &Item<'_>| item.name() == "Capability" && item.word(1) == capability::BINDLESS_TEXTURE_NV;
    let modes = module
        .items
        .iter()
        .filter(|item| item.name() == "SamplerImageAddressingModeNV");
    if modes.count() == 0 && module.items.iter().any(bindless) {
        module.header(
            "section-order",
            "the capability BindlessTextureNV needs OpSamplerImageAddressingModeNV".to_owned(),
            5,
        );
    }
    if models != 1 {
        module.header("memory-model", format!("{models} OpMemoryModel, one is needed"), 5);
    }
}

/// The state within a function.
#[derive(Default)]
struct Frame {
    seen: bool,
    inside: bool,
    block: bool,
    blocks: u32,
    body: bool,
    merge: bool,
    defined: bool,
    late: bool,
}

impl Frame {
    fn step(&mut self, module: &mut Checked<'_>, item: &Item<'_>, at: usize) {
        let name = item.name();
        if self.merge && !matches!(name, "Branch" | "BranchConditional" | "Switch" | "Line" | "NoLine") {
            module.fail(
                "merge-place",
                item,
                "a merge instruction must be followed by its branch",
            );
        }
        match name {
            "Function" => {
                if self.inside {
                    module.fail("function-end", item, "the function before does not end");
                }
                self.late |= self.defined;
                *self = Self {
                    seen: true,
                    inside: true,
                    defined: self.defined,
                    late: self.late,
                    ..Self::default()
                };
            }
            "FunctionParameter" if !self.inside || self.blocks > 0 => {
                module.fail("parameter-place", item, "a parameter must follow OpFunction")
            }
            "FunctionParameter" | "Line" | "NoLine" | "Nop" => {}
            "FunctionEnd" => {
                if !self.inside || self.block {
                    module.fail(
                        "function-end",
                        item,
                        "ends no function, or a block that has no terminator",
                    );
                }
                if self.inside && self.blocks == 0 && self.defined {
                    module.fail("declaration-order", item, "a declaration follows a definition");
                }
                self.defined |= self.blocks > 0;
                self.inside = false;
            }
            "Label" => {
                if !self.inside || self.block {
                    module.fail("block", item, "a block begins outside a function or inside a block");
                }
                (self.block, self.body, self.merge) = (true, false, false);
                self.blocks += 1;
            }
            _ if !self.inside && !self.seen => {}
            "ExtInst" if !self.block && !self.inside && semantic_free(module, item) => {}
            _ if !self.block => module.fail("block", item, "is outside a block"),
            _ => self.body(module, item, at),
        }
        if name != "Line" && name != "NoLine" {
            self.merge = matches!(name, "SelectionMerge" | "LoopMerge");
        }
    }

    fn body(&mut self, module: &mut Checked<'_>, item: &Item<'_>, _at: usize) {
        match item.name() {
            "Variable" => {
                if self.blocks != 1 || self.body {
                    module.fail(
                        "variable-place",
                        item,
                        "variables stand first in a function's first block",
                    );
                }
            }
            "Phi" => {
                if self.body || self.blocks == 1 {
                    module.fail(
                        "phi-place",
                        item,
                        "phis stand first in a block, and not in a function's first",
                    );
                }
            }
            "ExtInst" => {
                // Debug information sets may occur anywhere, except the newest.
                let set = module.sets.get(&item.word(3)).map_or("", |set| set);
                self.body |= !set.contains("DebugInfo") || set == "NonSemantic.Shader.DebugInfo.100";
            }
            name if is_terminator(name) => self.block = false,
            "MemoryModel" | "EntryPoint" | "DecorationGroup" => module.fail("section-order", item, "is in a function"),
            _ => self.body = true,
        }
    }
}

/// Whether an extended instruction is non-semantic and may occur anywhere.
fn semantic_free(module: &Checked<'_>, item: &Item<'_>) -> bool {
    module.sets.get(&item.word(3)).is_some_and(|set| means_nothing(set))
}

/// Whether an instruction set is non-semantic, by its name.
pub(super) fn means_nothing(set: &str) -> bool {
    set.starts_with("NonSemantic.") || set.contains("DebugInfo")
}

/// Whether this opcode terminates a block.
pub(super) fn is_terminator(name: &str) -> bool {
    matches!(
        name,
        "Branch"
            | "BranchConditional"
            | "Switch"
            | "Return"
            | "ReturnValue"
            | "Kill"
            | "Unreachable"
            | "TerminateInvocation"
            | "IgnoreIntersectionKHR"
            | "TerminateRayKHR"
            | "EmitMeshTasksEXT"
    )
}
