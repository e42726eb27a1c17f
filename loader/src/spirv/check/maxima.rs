//! The universal limits: how much a module may have of what it has.

use super::Checked;
use crate::spirv::ids::Ids;
use crate::spirv::{class, op};

/// Members of a struct.
pub(super) const MEMBERS: usize = 16383;
/// Cases of a switch.
pub(super) const CASES: usize = 16383;
/// Constructs around a block.
pub(super) const CONSTRUCTS: u32 = 1023;
/// Parameters of a function.
const PARAMETERS: usize = 255;
/// Structs within each other.
const STRUCTS: u16 = 255;
/// Variables outside of functions.
const GLOBALS: usize = 65535;
/// Variables of a function.
const LOCALS: usize = 524_287;

/// Checks what is counted over several instructions, and the parameters of functions.
pub(super) fn check(module: &mut Checked<'_>) {
    let mut depths: Ids<u16> = Ids::new(module.words.len(), module.words[3], 0);
    let (mut globals, mut locals) = (0, 0);
    for at in 0..module.items.len() {
        let item = module.items[at];
        let within = |ids: &[u32]| ids.iter().map(|id| depths.get(*id)).max().unwrap_or(0);
        let why = match item.opcode() {
            op::FUNCTION => {
                locals = 0;
                None
            }
            op::VARIABLE if item.word(3) == class::FUNCTION => {
                locals += 1;
                (locals == LOCALS + 1).then(|| format!("a function has {LOCALS} variables at most"))
            }
            op::VARIABLE => {
                globals += 1;
                (globals == GLOBALS + 1)
                    .then(|| format!("a module has {GLOBALS} variables outside of functions at most"))
            }
            op::TYPE_FUNCTION => {
                let many = item.args().len() > PARAMETERS + 1;
                many.then(|| format!("a function has {PARAMETERS} parameters at most"))
            }
            op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY => {
                let depth = within(&[item.word(2)]);
                depths.set(item.result, depth);
                None
            }
            op::TYPE_STRUCT => {
                let depth = within(item.args()).saturating_add(1);
                depths.set(item.result, depth);
                (depth > STRUCTS).then(|| format!("structs are nested {STRUCTS} deep at most"))
            }
            _ => None,
        };
        if let Some(why) = why {
            module.fail("limit", &item, why);
        }
    }
}
