//! Programs that branch, for fragments that all go the same way: each way through a program is one piece of machine code,
//! which leaves fragments that go another way to others. Conditions hold for whole tiles more often than not.

use crate::exec::inputs::Inputs;
use crate::exec::native::compile_stats::CompileStats;
use crate::exec::native::kernels::straight::Straight;
use crate::exec::native::key::Key;
use crate::exec::native::lower::fragment::{Program, ProgramState};
use crate::exec::native::lower::paths::Paths;
use crate::exec::{FragmentContext, FragmentKernel, Fragments, MAX_FRAGMENTS, Quads};
use crate::simd::Found;
use jit::Isa;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Quads that are worth a try: with fewer, a path that does not fit costs more than one that does may save.
const FEW_QUADS: usize = 16;

/// A program that branches.
pub(crate) struct Branching {
    program: Arc<Program>,
    isa: Isa,
    found: Found,
    stats: CompileStats,
    /// Each path's kernel. Threads do not clone it from the program at every call, which would contend for its reference
    /// count.
    ready: Box<[OnceLock<Option<Straight>>]>,
}

impl Branching {
    /// A program, if there are [`Paths`] through it.
    pub(crate) fn new(program: Arc<Program>, isa: Isa, found: Found, stats: CompileStats) -> Option<Self> {
        let paths = program.paths.as_ref()?.count();
        Some(Self {
            ready: (0..paths).map(|_| OnceLock::new()).collect(),
            program,
            isa,
            found,
            stats,
        })
    }

    /// Draws along the paths, until all fragments went along one.
    fn each(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        mut paint: impl FnMut(&Straight) -> Option<u32>,
    ) -> Option<u32> {
        self.program.paths.as_ref()?.find(|number, path| {
            let make = || self.make(&path.turns, context, inputs);
            let ready = || Straight::new(path.made.get_or_init(make).clone()?, self.found);
            paint(self.ready.get(number)?.get_or_init(ready).as_ref()?)
        })
    }

    /// Makes the code of a path.
    fn make(&self, turns: &[bool], context: &FragmentContext<'_>, inputs: &Inputs) -> Option<Arc<Program>> {
        let (start, key) = (Instant::now(), Key::new(context, inputs.flat));
        let program = context.with_code(|code| {
            let (key, isa) = (&key, self.isa);
            let state = ProgramState {
                code,
                context,
                key,
                isa,
            };
            Program::along(state, turns)
        })?;
        self.stats.add(Some((program.size, &[])), start.elapsed());
        Some(Arc::new(program))
    }
}

impl FragmentKernel for Branching {
    fn instruction_count(&self) -> u32 {
        self.program.paths.as_ref().map_or(0, |paths| paths.instruction_count())
    }

    fn has_turns(&self) -> bool {
        true
    }

    fn may_discard(&self) -> bool {
        self.program.paths.as_ref().is_some_and(Paths::may_discard)
    }

    fn is_infallible(&self) -> bool {
        false
    }

    fn paint(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        quads: Quads<'_>,
        out: &mut Fragments,
    ) -> Option<u32> {
        if quads.count() < FEW_QUADS {
            return None;
        }
        // A path that bails out leaves words of no use.
        let keeps_some = context.blending.is_some() || context.tests.is_some();
        let blended_with = keeps_some.then_some(out.words);
        self.each(context, inputs, |path| {
            if let Some(words) = blended_with {
                out.words = words;
            }
            path.paint(context, inputs, quads, out)
        })
    }

    fn shade_in_place(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        first: [u32; 2],
        tiles: &mut [[u32; MAX_FRAGMENTS]],
    ) -> Option<u32> {
        let blended_with = context.blending.map(|_| tiles.to_vec());
        self.each(context, inputs, |path| {
            if let Some(words) = &blended_with {
                tiles.copy_from_slice(words);
            }
            path.shade_in_place(context, inputs, first, tiles)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::exec::native::lower::paths::Paths;
    use crate::exec::wide::fragment_code::FragmentCode;
    use crate::exec::{FragmentProgram, Orientation};
    use utgard::pp;

    const UPRIGHT: Orientation = Orientation {
        x: 0.0,
        y: 0.0,
        flip: false,
        flip_derivative: false,
    };

    /// Turns of the ways through a program that leave their fragments, and instructions of the longest of all, if all are
    /// known.
    fn paths(text: &str) -> Option<(Vec<Vec<bool>>, u32)> {
        let program = FragmentProgram::read(&pp::assemble(text).unwrap()).unwrap();
        let paths = Paths::<()>::of(&FragmentCode::new(&program, UPRIGHT))?;
        let mut turns = Vec::new();
        let _: Option<()> = paths.find(|_, path| {
            turns.push(path.turns.clone());
            None
        });
        Some((turns, paths.instruction_count()))
    }

    #[test]
    fn ways_through_a_program_are_few_and_end() {
        const END: &str = "mov.v1 $0 $1, stop\n";
        let skip = "mov.v1 $1 $0, branch.gt $0.x $0.y on\nadd.v1 $1 $1 $0\non:\n";
        let with = |head: &str| paths(&format!("load.v $0 0\n{head}{END}"));
        assert_eq!(with(""), Some((vec![vec![]], 2)));
        assert_eq!(with(skip), Some((vec![vec![true], vec![false]], 4)));
        let times = |count: usize| {
            (0..count)
                .map(|at| skip.replace("on", &format!("on{at}")))
                .collect::<String>()
        };
        let (turns, steps) = with(&times(3)).unwrap();
        assert_eq!((turns.len(), steps), (8, 8));
        assert!(turns.iter().all(|turns| turns.len() == 3) && !turns[1..].contains(&turns[0]));
        // Too many, and one without an end.
        assert_eq!(with(&times(4)), None);
        assert_eq!(with("again:\nadd.v1 $1 $1 $0, branch.gt $1.x $0.y again\n"), None);
        // Ways that leave no fragment are counted.
        let discard = "branch.gt $0.x $0.y keep\ndiscard\nkeep:\n";
        assert_eq!(with(discard), Some((vec![vec![true]], 3)));
        let (turns, steps) = with(&format!("{discard}{}", times(2))).unwrap();
        assert_eq!((turns.len(), steps), (4, 7));
        assert!(turns.iter().all(|turns| turns.len() == 3 && turns[0]));
        assert_eq!(with(&format!("{discard}{}", times(3))), None);
        assert_eq!(paths("discard\n"), None);
        // What is always so is no choice.
        let always = skip.replace("branch.gt $0.x $0.y", "branch");
        assert_eq!(with(&always), Some((vec![vec![true]], 3)));
    }

    /// The way that fragments went last is tried first.
    #[test]
    fn the_last_way_comes_first() {
        let text = "load.v $0 0, branch.gt $0.x $0.y on\nadd.v1 $0 $0 $0\non:\nmov.v1 $0 $0, stop\n";
        let program = FragmentProgram::read(&pp::assemble(text).unwrap()).unwrap();
        let paths = Paths::<()>::of(&FragmentCode::new(&program, UPRIGHT)).unwrap();
        let mut tried = Vec::new();
        for wanted in [false, false, true] {
            paths.find(|_, path| {
                tried.push(path.turns[0]);
                (path.turns[0] == wanted).then_some(())
            });
        }
        assert_eq!(tried, [true, false, false, false, true]);
    }
}
