//! The engine of machine code: what the wide engine does operation by operation, regions of a program do here in code made for
//! this processor. Control flow, and operations without code, are left to the wide engine; all engines share the formulas, so
//! the bits are the same.
//!
//! `formulas` records what the hardware computes into graphs, `lower` cuts programs into
//! regions that work on the wide engine's rows, and `kernels` shade whole tiles and batches
//! with them. The crate [`jit`] compiles the graphs.

mod compile_stats;
mod formulas;
mod kernels;
mod key;
pub(super) mod lower;
mod region;
#[cfg(test)]
mod tests;

pub use jit::Isa;
pub use key::Key;
pub use lower::fragment::{Program, ProgramState};
pub use lower::vertex::VertexVariants;

use self::compile_stats::CompileStats;
use self::kernels::branching::Branching;
use self::kernels::{batched, straight};
use super::batched::QuadBatcher;
use super::inputs::Inputs;
use super::lanes::LANES;
use super::wide::{self, Wide};
use super::{Engine, FragmentContext, FragmentKernel, Fragments, MAX_QUADS, Quad, VertexBatch};
use crate::fault::Result;
use crate::simd::{Found, Level};
use crate::thread_pool::lock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Programs that are kept from job to job at most, and states of one.
const MOST: usize = 512;
const MOST_STATES: usize = 16;

/// What is cached: code by the program's words.
type CodeCache = HashMap<Vec<u32>, Vec<(Key, Option<Arc<Program>>)>>;

/// The engine of machine code.
#[derive(Debug)]
pub struct Native {
    wide: Wide,
    isa: Option<Isa>,
    cache: Mutex<CodeCache>,
    stats: CompileStats,
    /// Programs have to be worth it.
    patient: bool,
}

impl Default for Native {
    /// With the best vector units of this processor.
    fn default() -> Self {
        Self::at_most(Level::Avx512)
    }
}

impl Native {
    /// With vector units that are not better than `limit`.
    pub fn at_most(limit: Level) -> Self {
        let wide = Wide::at_most(limit);
        Self {
            isa: isa(wide.found()),
            wide,
            cache: Mutex::default(),
            stats: CompileStats::default(),
            patient: false,
        }
    }

    /// Makes code of a program only when it was used for longer than that takes, where a frame or a draw is small: the first
    /// one is not slower for it.
    #[must_use]
    pub fn patient(self) -> Self {
        Self { patient: true, ..self }
    }

    /// Whether there is no code yet for a program because it is not worth it.
    fn waits(&self, context: &FragmentContext<'_>) -> bool {
        self.patient && context.few && context.program.uses.are_few()
    }

    /// Whether there is machine code for this processor.
    pub fn is_there(&self) -> bool {
        self.isa.is_some()
    }

    /// The program for a key, made or kept from before.
    fn program(&self, context: &FragmentContext<'_>, key: &Key) -> Option<Arc<Program>> {
        let isa = self.isa.filter(|_| !context.program.has_many_temporaries())?;
        let mut cache = lock(&self.cache);
        if let Some(variants) = cache.get(&context.program.words)
            && let Some((_, program)) = variants.iter().find(|(have, _)| have == key)
        {
            return program.clone();
        }
        let start = Instant::now();
        let program = context.with_code(|code| {
            let state = ProgramState {
                code,
                context,
                key,
                isa,
            };
            Program::new(state).map(Arc::new)
        });
        let made = program.as_deref().map(|program| (program.size, &program.left[..]));
        self.stats.add(made, start.elapsed());
        if cache.len() == MOST {
            cache.clear();
        }
        let variants = cache.entry(context.program.words.clone()).or_default();
        if variants.len() == MOST_STATES {
            variants.clear();
        }
        variants.push((key.clone(), program.clone()));
        program
    }

    /// A program that is all one piece of code.
    fn straight(&self, program: Arc<Program>) -> Option<straight::Straight> {
        straight::Straight::new(program, self.wide.found())
    }
}

/// The instruction set that code is compiled for.
fn isa(found: Found) -> Option<Isa> {
    let usable = |isa: &Isa| match isa {
        Isa::Neon => found.level() == Level::Neon,
        Isa::Avx2 { .. } => found.level() >= Level::Avx2,
        Isa::Avx512 => found.level() == Level::Avx512,
    };
    Isa::ALL.into_iter().filter(usable).find(|isa| isa.is_supported())
}

impl Engine for Native {
    fn name(&self) -> &'static str {
        match self.isa {
            None => "native (none here: wide)",
            Some(Isa::Neon) => "native (128 bits)",
            Some(Isa::Avx2 { .. }) => "native (256 bits)",
            Some(Isa::Avx512) => "native (512 bits)",
        }
    }

    fn vertices(&self, batch: &mut VertexBatch<'_>) -> Result<()> {
        let Some(isa) = self.isa else {
            return self.wide.vertices(batch);
        };
        let program = batch.program;
        if self.patient && program.uses.are_few() {
            program.uses.add(batch.vertices);
            return self.wide.vertices(batch);
        }
        let make = || {
            let start = Instant::now();
            let variants = program.wide().and_then(|code| VertexVariants::new(code, isa));
            self.stats.add(
                variants.as_ref().map(|variants| (variants.size, &[][..])),
                start.elapsed(),
            );
            variants
        };
        program.native.with(&isa, make, |variants| {
            let regions = variants.as_ref().map(|variants| &variants.regions);
            wide::vertex::run(self.wide.found(), batch, regions)
        })
    }

    fn fragments(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        quads: &[Quad],
        out: &mut Fragments,
    ) -> Result<()> {
        if context.program.has_many_temporaries() {
            return self.wide.fragments(context, inputs, quads, out);
        }
        if self.waits(context) {
            context.program.uses.add(quads.len());
            return self.wide.fragments(context, inputs, quads, out);
        }
        let key = Key::new(context, inputs.flat);
        let make = || self.program(context, &key);
        context.program.native.with(&key, make, |program| {
            let regions = program.as_ref().map(|program| &program.regions);
            out.has_words = regions.is_some_and(|regions| regions.words);
            let batches = quads.chunks(LANES / 4).take(MAX_QUADS / (LANES / 4));
            for (number, quads) in batches.enumerate() {
                let batch = (quads, number * LANES / 4);
                wide::fragment::run(self.wide.found(), context, inputs, batch, regions, out)?;
            }
            Ok(())
        })
    }

    fn kernel(&self, context: &FragmentContext<'_>, flat: bool) -> Option<Arc<dyn FragmentKernel>> {
        if self.waits(context) {
            return None;
        }
        let key = Key::new(context, flat);
        let program = context
            .program
            .native
            .with(&key, || self.program(context, &key), Clone::clone)?;
        if let Some(straight) = self.straight(program.clone()) {
            return Some(Arc::new(straight));
        }
        let branching = Branching::new(program, self.isa?, self.wide.found(), self.stats.clone())?;
        Some(Arc::new(branching))
    }

    fn batcher(&self, context: &FragmentContext<'_>, flat: bool) -> Option<Arc<dyn QuadBatcher>> {
        if self.waits(context) {
            return None;
        }
        let key = Key::new(context, flat).batched();
        let program = self.program(context, &key)?;
        let straight = self.straight(program)?;
        Some(Arc::new(batched::BatchKernel(straight)))
    }

    fn report(&self) -> Option<String> {
        Some(self.stats.report())
    }
}
