//! The section order of a module, and the structure of its functions.

use super::debug_info::{self, Home};
use super::{Checked, Item};
use crate::spirv::{capability, op};

/// The sections of decorations, and of types, constants and variables.
const ANNOTATIONS: u32 = 10;
const DECLARATIONS: u32 = 11;

/// The section of an instruction; `None` inside functions or if it is allowed anywhere.
fn section(item: &Item<'_>) -> Option<u32> {
    Some(match item.opcode() {
        op::CAPABILITY => 0,
        op::EXTENSION => 1,
        op::EXT_INST_IMPORT => 2,
        op::MEMORY_MODEL => 3,
        op::SAMPLER_IMAGE_ADDRESSING_MODE_NV => 4,
        op::ENTRY_POINT => 5,
        op::EXECUTION_MODE | op::EXECUTION_MODE_ID => 6,
        op::STRING | op::SOURCE_EXTENSION | op::SOURCE | op::SOURCE_CONTINUED => 7,
        op::NAME | op::MEMBER_NAME => 8,
        op::MODULE_PROCESSED => 9,
        op::DECORATION_GROUP | op::GROUP_DECORATE | op::GROUP_MEMBER_DECORATE => ANNOTATIONS,
        _ if ["Decorate", "MemberDecorate"]
            .iter()
            .any(|head| item.name().starts_with(head)) =>
        {
            ANNOTATIONS
        }
        _ if item.row.is_type() => DECLARATIONS,
        _ if item.name().starts_with("Constant") || item.name().starts_with("SpecConstant") => DECLARATIONS,
        _ => return None,
    })
}

pub(super) fn check(module: &mut Checked<'_>) {
    let mut last = 0;
    let mut frame = Frame::default();
    let mut models = 0;
    let mut before = op::NOP;
    for at in 0..module.items.len() {
        let item = module.items[at];
        if item.opcode() == op::SOURCE_CONTINUED && !matches!(before, op::SOURCE_CONTINUED..=op::SOURCE_EXTENSION) {
            module.fail("section-order", &item, "continues no OpSource");
        }
        before = item.opcode();
        models += u32::from(item.opcode() == op::MEMORY_MODEL);
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
            match item.opcode() {
                op::FUNCTION | op::CONDITIONAL_EXTENSION_INTEL | op::LABEL => {}
                op::ASM_TARGET_INTEL
                | op::ASM_INTEL
                | op::ALIAS_DOMAIN_DECL_INTEL
                | op::ALIAS_SCOPE_DECL_INTEL
                | op::ALIAS_SCOPE_LIST_DECL_INTEL => {}
                _ if item.is_extended() => {
                    if !semantic_free(module, &item) {
                        module.fail("block", &item, "is outside a block");
                    } else if last < DECLARATIONS {
                        module.fail("section-order", &item, "precedes the first type");
                    }
                }
                // The declarations may begin with any of these.
                op::VARIABLE | op::UNTYPED_VARIABLE_KHR | op::UNDEF | op::LINE | op::NO_LINE => last = DECLARATIONS,
                _ => module.fail("outside-function", &item, "is outside a function"),
            }
        }
        frame.step(module, &item, at);
    }
    if frame.inside {
        let item = *module.items.last().expect("a frame is inside only after an item");
        module.fail("function-end", &item, "the last function does not end");
    }
    let bindless = |item: &Item<'_>| item.opcode() == op::CAPABILITY && item.word(1) == capability::BINDLESS_TEXTURE_NV;
    let modes = module
        .items
        .iter()
        .filter(|item| item.opcode() == op::SAMPLER_IMAGE_ADDRESSING_MODE_NV);
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
        let of = item.opcode();
        let extended = item.is_extended();
        let home = if extended { debug_info::home(module, item) } else { None };
        if self.merge
            && !matches!(
                of,
                op::BRANCH | op::BRANCH_CONDITIONAL | op::SWITCH | op::LINE | op::NO_LINE
            )
        {
            module.fail(
                "merge-place",
                item,
                "a merge instruction must be followed by its branch",
            );
        }
        match of {
            op::FUNCTION => {
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
            op::FUNCTION_PARAMETER if !self.inside || self.blocks > 0 => {
                module.fail("parameter-place", item, "a parameter must follow OpFunction")
            }
            op::FUNCTION_PARAMETER | op::LINE | op::NO_LINE => {}
            op::FUNCTION_END => {
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
            op::LABEL => {
                if !self.inside || self.block {
                    module.fail("block", item, "a block begins outside a function or inside a block");
                }
                (self.block, self.body, self.merge) = (true, false, false);
                self.blocks += 1;
            }
            _ if home == Some(Home::Declarations) && self.seen => {
                module.fail("section-order", item, "follows the start of the first function");
            }
            _ if home.is_some_and(|home| home != Home::Declarations) && !self.inside => {
                module.fail("block", item, "is outside a function");
            }
            _ if home == Some(Home::FirstBlock) && self.blocks != 1 => {
                module.fail("block", item, "is outside a function's first block");
            }
            _ if home == Some(Home::Function) && !self.block => {}
            _ if !self.inside && !self.seen => {}
            _ if extended && !self.inside && semantic_free(module, item) => {}
            _ if !self.block => module.fail("block", item, "is outside a block"),
            _ => self.body(module, item, at),
        }
        if of != op::LINE && of != op::NO_LINE {
            self.merge = matches!(of, op::SELECTION_MERGE | op::LOOP_MERGE);
        }
    }

    fn body(&mut self, module: &mut Checked<'_>, item: &Item<'_>, _at: usize) {
        match item.opcode() {
            op::VARIABLE => {
                if self.blocks != 1 || self.body {
                    module.fail(
                        "variable-place",
                        item,
                        "variables stand first in a function's first block",
                    );
                }
            }
            op::PHI => {
                if self.body || self.blocks == 1 {
                    module.fail(
                        "phi-place",
                        item,
                        "phis stand first in a block, and not in a function's first",
                    );
                }
            }
            op::EXT_INST | op::EXT_INST_WITH_FORWARD_REFS_KHR => {
                // Debug information sets may occur anywhere, except the newest.
                let set = module.sets.get(&item.word(3)).map_or("", |set| set);
                self.body |= !set.contains("DebugInfo") || set == "NonSemantic.Shader.DebugInfo.100";
            }
            of if is_terminator(of) => self.block = false,
            op::MEMORY_MODEL | op::ENTRY_POINT | op::DECORATION_GROUP => {
                module.fail("section-order", item, "is in a function")
            }
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
pub(super) fn is_terminator(opcode: u16) -> bool {
    matches!(
        opcode,
        op::BRANCH
            | op::BRANCH_CONDITIONAL
            | op::SWITCH
            | op::RETURN
            | op::RETURN_VALUE
            | op::KILL
            | op::UNREACHABLE
            | op::TERMINATE_INVOCATION
            | op::IGNORE_INTERSECTION_KHR
            | op::TERMINATE_RAY_KHR
            | op::EMIT_MESH_TASKS_EXT
    )
}
