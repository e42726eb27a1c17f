//! What a GPU keeps from job to job: nothing that jobs could see, only what would have to be made again.

use crate::exec::{FragmentProgram, VertexProgram};
use crate::fault::{Fault, Result};
use crate::gpu::binning::tile_list::TileListCache;
use crate::memory::Memory;
use crate::texture;
use crate::thread_pool::lock;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};
use utgard::gp::{self, Instruction};

/// Programs of each kind at most.
const MOST: usize = 512;

/// Bytes of a fragment program at most.
const MAX_PROGRAM: u32 = 1 << 16;

/// What is kept.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    /// Decoded levels of textures.
    pub textures: texture::TextureCache,
    /// Lists of tiles.
    pub tiles: TileListCache,
    /// By their words.
    vertex: Mutex<HashMap<Vec<u32>, Arc<VertexProgram>>>,
    /// By their addresses; what is there may be another by now.
    fragment: Mutex<HashMap<u32, Arc<FragmentProgram>>>,
}

/// Adds a program; with too many of them all others go.
fn add<K: Eq + Hash, T>(programs: &Mutex<HashMap<K, Arc<T>>>, key: K, program: T) -> Arc<T> {
    let (mut programs, program) = (lock(programs), Arc::new(program));
    if programs.len() >= MOST {
        programs.clear();
    }
    programs.insert(key, program.clone());
    program
}

impl Cache {
    /// The vertex program of some words.
    pub(crate) fn vertex_program(&self, words: &[u32]) -> Arc<VertexProgram> {
        if let Some(program) = lock(&self.vertex).get(words) {
            return program.clone();
        }
        let (instructions, _) = words.as_chunks::<{ gp::WORDS }>();
        let instructions = instructions.iter().map(|words| Instruction::decode(*words));
        add(&self.vertex, words.to_vec(), VertexProgram::new(instructions.collect()))
    }

    /// The fragment program at an address.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn fragment_program(&self, memory: &Memory, address: u32) -> Result<Arc<FragmentProgram>> {
        let kept = lock(&self.fragment).get(&address).cloned();
        // It goes no further than these words.
        let same = |program: &Arc<FragmentProgram>| {
            let bytes: Vec<u8> = program.words().iter().flat_map(|word| word.to_le_bytes()).collect();
            memory.equals(address, &bytes)
        };
        if let Some(program) = kept.filter(same) {
            return Ok(program);
        }
        let code = memory.bytes_up_to(address, MAX_PROGRAM);
        let (words, _) = code.as_chunks::<4>();
        let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        if words.is_empty() {
            return Err(Fault::unmapped(address, 4).within("the fragment program"));
        }
        let program = FragmentProgram::read(&words).map_err(|fault| fault.at(address))?;
        Ok(add(&self.fragment, address, program))
    }
}
