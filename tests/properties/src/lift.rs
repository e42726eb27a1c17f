//! Any lifted program becomes valid SPIR-V, in exact and in readable form.

use crate::engines::split;
use crate::words_of;
use lift::{Convention, ErrorKind, Options};
use loader::mbs::{Program, Stage};
use utgard::{gp, pp};

/// Maximum number of words of a program.
const MAX_WORDS: usize = 4 * 96;

/// A case is a seed, whose first bit is the stage, and words, which are the program; without words the seed generates
/// one.
pub fn valid(bytes: &[u8]) {
    let (mut random, mut words) = split(bytes);
    let stage = if random.bool() { Stage::Vertex } else { Stage::Fragment };
    let made = words.len() < 4;
    if made {
        let length = 1 + random.usize(..24);
        words = match stage {
            Stage::Vertex => {
                let program = gp::random::program(&mut random, length);
                program.iter().flat_map(gp::Instruction::encode).collect()
            }
            Stage::Fragment => pp::random::program(&mut random, length),
        };
    }
    words.truncate(MAX_WORDS);
    if stage == Stage::Vertex {
        words.truncate(words.len() / 4 * 4);
    }
    let program = Program::new(stage, words);
    let mut interface = lift::interface(&program);
    if stage == Stage::Vertex && random.bool() {
        interface.viewport = Some(4 * random.u32(..4));
    }
    for exact in [true, false] {
        let options = Options {
            exact,
            convention: Convention {
                rows_down: true,
                height: None,
            },
            viewport: None,
        };
        let shader = match lift::lift(stage, &program.code, &interface, &options) {
            Ok(shader) => shader,
            Err(error) => {
                let fits = match error.kind() {
                    // The viewport must be given or detected.
                    ErrorKind::Unsupported { .. } | ErrorKind::Interface(_) => true,
                    // Arbitrary words need not be a program; generated ones are.
                    ErrorKind::Code { .. } => !made,
                    _ => false,
                };
                assert!(fits, "exact {exact}: {error}");
                continue;
            }
        };
        let bytes = translate::write(&shader, translate::Target::Spirv, &Default::default())
            .unwrap_or_else(|error| panic!("exact {exact}: {error}"));
        let words = words_of(&bytes);
        let report = loader::spirv::validate(&words);
        assert!(report.is_valid(), "exact {exact}: {report:?}");
    }
}
