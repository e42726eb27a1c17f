//! The engine of machine code: what the wide engine does operation by operation, stretches of a program do here in code
//! made for this processor. Control flow, and what is left to the wide engine, is the wide engine's; formulas are
//! everybody's, so the bits are the same.
//!
//! Code works on the wide engine's rows and is made of its operations; its batches run the code as
//! [stretches](super::wide::stretch::Stretch). What it computes, in which order and in which registers is every machine's
//! in common; the instructions are `x86`'s or `arm`'s.

mod arm;
mod branching;
mod call;
#[cfg(any(all(target_arch = "x86_64", unix), all(target_arch = "aarch64", target_os = "linux")))]
mod code;
#[cfg(not(any(all(target_arch = "x86_64", unix), all(target_arch = "aarch64", target_os = "linux"))))]
#[path = "native/no_code.rs"]
mod code;
mod emit;
mod emitter;
mod forms;
mod gather;
mod graph;
mod isa;
mod key;
#[cfg(test)]
mod lockstep;
mod notes;
#[cfg(all(
    test,
    any(all(target_arch = "x86_64", unix), all(target_arch = "aarch64", target_os = "linux"))
))]
mod operations;
mod order;
mod paint;
mod paths;
pub(super) mod plan;
mod ranges;
#[cfg(test)]
mod sampled;
mod shares;
mod tally;
mod vertex;
mod x86;

pub use isa::Isa;
pub use key::Key;
pub use plan::Program;
pub use vertex::VertexForms;

use self::branching::Branching;
use self::tally::Tally;
use super::gathered::Gatherer;
use super::inputs::Inputs;
use super::lanes::LANES;
use super::wide::{self, Wide};
use super::{Engine, FragmentContext, Fragments, MAX_QUADS, Painter, Quad, VertexBatch};
use crate::crew::lock;
use crate::fault::Result;
use crate::simd::{Found, Level};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Programs that are kept from job to job at most, and states of one.
const MOST: usize = 512;
const MOST_STATES: usize = 16;

/// What is kept: code by the program's words.
type Kept = HashMap<Vec<u32>, Vec<(Key, Option<Arc<Program>>)>>;

/// The engine of machine code.
#[derive(Debug)]
pub struct Native {
    wide: Wide,
    isa: Option<Isa>,
    kept: Mutex<Kept>,
    tally: Tally,
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
            kept: Mutex::default(),
            tally: Tally::default(),
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
        let mut kept = lock(&self.kept);
        if let Some(forms) = kept.get(&context.program.words)
            && let Some((_, program)) = forms.iter().find(|(have, _)| have == key)
        {
            return program.clone();
        }
        let start = Instant::now();
        let program = context.with_code(|code| Program::new(code, context, key, isa).map(Arc::new));
        let made = program.as_deref().map(|program| (program.size, &program.left[..]));
        self.tally.add(made, start.elapsed());
        if kept.len() == MOST {
            kept.clear();
        }
        let forms = kept.entry(context.program.words.clone()).or_default();
        if forms.len() == MOST_STATES {
            forms.clear();
        }
        forms.push((key.clone(), program.clone()));
        program
    }

    /// A program that is all one piece of code.
    fn straight(&self, program: Arc<Program>) -> Option<paint::Straight> {
        paint::Straight::new(program, self.wide.found())
    }
}

/// The instructions that code may be made of.
fn isa(found: Found) -> Option<Isa> {
    if !code::IS_THERE {
        return None;
    }
    match found.level() {
        Level::Portable => None,
        Level::Neon => Some(Isa::Neon),
        Level::Avx2 => Some(Isa::Avx2 {
            fma: crate::simd::has_fma(),
        }),
        Level::Avx512 => Some(Isa::Avx512),
    }
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
            let forms = program.wide().and_then(|code| VertexForms::new(code, isa));
            self.tally
                .add(forms.as_ref().map(|forms| (forms.size, &[][..])), start.elapsed());
            forms
        };
        program.native.with(&isa, make, |forms| {
            let plans = forms.as_ref().map(|forms| &forms.plans);
            wide::vertex::run(self.wide.found(), batch, plans)
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
            let stretches = program.as_ref().map(|program| &program.stretches);
            out.has_words = stretches.is_some_and(|stretches| stretches.words);
            let batches = quads.chunks(LANES / 4).take(MAX_QUADS / (LANES / 4));
            for (number, quads) in batches.enumerate() {
                let batch = (quads, number * LANES / 4);
                wide::fragment::run(self.wide.found(), context, inputs, batch, stretches, out)?;
            }
            Ok(())
        })
    }

    fn painter(&self, context: &FragmentContext<'_>, flat: bool) -> Option<Arc<dyn Painter>> {
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
        let branching = Branching::new(program, self.isa?, self.wide.found(), self.tally.clone())?;
        Some(Arc::new(branching))
    }

    fn gatherer(&self, context: &FragmentContext<'_>, flat: bool) -> Option<Arc<dyn Gatherer>> {
        if self.waits(context) {
            return None;
        }
        let key = Key::new(context, flat).gathered();
        let program = self.program(context, &key)?;
        let straight = self.straight(program)?;
        Some(Arc::new(gather::Gathering(straight)))
    }

    fn report(&self) -> Option<String> {
        Some(self.tally.report())
    }
}
