//! How operands come to the instruction that wants them: straight from a unit, along moves, through registers.

use super::{COMPONENTS, LATENCY, Loc, Scheduler, lane};
use crate::gp::node::{Arg, Kind};
use utgard::gp::Unit::{Acc0, Acc1, Complex, Mul0, Mul1, Pass};
use utgard::gp::{Age, Source, Target, Unit};

impl Scheduler<'_> {
    pub(super) fn found(&mut self, arg: Arg, loc: Loc) {
        self.locs.entry(arg).or_default().push(loc);
        self.undo.locs.push(arg);
    }

    /// A source number for something at a time, from where it is.
    pub(super) fn direct(&mut self, arg: Arg, time: usize, neutral: bool) -> Option<Source> {
        for loc in self.locs.get(&arg).into_iter().flatten().rev() {
            match time.checked_sub(loc.time) {
                Some(1) if !loc.delayed && (neutral || loc.unit != Complex) => {
                    return Source::result(loc.unit, Age::One);
                }
                Some(2) => {
                    if let Some(source) = Source::result(loc.unit, Age::Two) {
                        return Some(source);
                    }
                }
                _ => {}
            }
        }
        match arg {
            Arg::Memory(float) => {
                if !self.change(time, |word| word.memory(float / 4)) {
                    return None;
                }
                self.noted(arg, time);
                return Some(Source::Memory(lane(float)));
            }
            Arg::Attribute(float) => {
                let (vector, lane) = (float / 4, lane(float));
                if time > 0 && self.words[time - 1].loaded() == Some((true, vector)) {
                    return Some(Source::Port0Before(lane));
                }
                let taken = self.change(time, |word| word.port0(true, vector));
                return taken.then_some(Source::Port0(lane));
            }
            Arg::Register(component) => return self.register(component as usize, time, true),
            Arg::Node(_) => {}
        }
        let (component, since) = *self.stored.get(&arg)?;
        if time < since + LATENCY {
            return None;
        }
        let before = time > since + LATENCY;
        self.register(component, time, before)
    }

    pub(super) fn register(&mut self, component: usize, time: usize, before: bool) -> Option<Source> {
        let (vector, lane) = ((component / 4) as u32, lane(component as u32));
        let loaded = Some((false, vector));
        let source = if self.change(time, |word| word.loaded() == loaded) {
            Source::Port0(lane)
        } else if time > 0 && before && self.words[time - 1].loaded() == loaded {
            Source::Port0Before(lane)
        } else if self.change(time, |word| word.port1(vector)) {
            Source::Port1(lane)
        } else if self.change(time, |word| word.port0(false, vector)) {
            Source::Port0(lane)
        } else {
            return None;
        };
        self.noted(Arg::Register(component as u32), time);
        Some(source)
    }

    /// Notes that a place is read at a time: what is stored over it later must not come before.
    pub(super) fn noted(&mut self, place: Arg, time: usize) {
        let last = self.read.entry(place).or_default();
        *last = (*last).max(time);
    }

    /// A move in a free unit of an instruction.
    pub(super) fn moved(&mut self, arg: Arg, time: usize, units: &[Unit]) -> bool {
        for unit in units {
            if !self.words[time].may(&Kind::Move, *unit) {
                continue;
            }
            let mark = self.mark();
            if let Some(source) = self.direct(arg, time, true)
                && self.change(time, |word| word.set(&Kind::Move, *unit, &[source]))
            {
                self.found(
                    arg,
                    Loc {
                        time,
                        unit: *unit,
                        delayed: false,
                    },
                );
                return true;
            }
            self.back(mark);
        }
        false
    }

    /// A source number for something at a time, with moves and stores where they are needed.
    pub(super) fn source(&mut self, arg: Arg, time: usize, neutral: bool) -> Option<Source> {
        let mark = self.mark();
        if let Some(source) = self.direct(arg, time, neutral) {
            return Some(source);
        }
        self.back(mark);
        if let Some(source) = self.chained(arg, time, neutral, 1) {
            return Some(source);
        }
        if let Some(source) = self.through_register(arg, time, neutral) {
            return Some(source);
        }
        self.chained(arg, time, neutral, 6)
    }

    /// Along moves, `most` at most.
    pub(super) fn chained(&mut self, arg: Arg, time: usize, neutral: bool, most: usize) -> Option<Source> {
        const LASTING: [Unit; 5] = [Pass, Acc1, Acc0, Mul1, Mul0];
        const ANY: [Unit; 6] = [Pass, Complex, Acc1, Acc0, Mul1, Mul0];
        let mark = self.mark();
        for _ in 0..most {
            let latest = self.locs.get(&arg).and_then(|locs| locs.last()).map(|loc| loc.time);
            let last = time.checked_sub(1)?;
            let onwards = |from: usize| (from + 1..=(from + 2).min(last)).rev();
            let stops: Vec<usize> = match (arg, latest) {
                (Arg::Node(_), None) => return None,
                (Arg::Node(_), Some(from)) => onwards(from).collect(),
                // From a port or the uniform memory: near enough, or on from where it was moved before.
                (_, from) => {
                    let near = (last.saturating_sub(1)..=last).rev();
                    near.chain(from.into_iter().flat_map(onwards)).collect()
                }
            };
            let moved = stops.into_iter().any(|stop| {
                let units: &[Unit] = if stop == last && neutral { &ANY } else { &LASTING };
                self.moved(arg, stop, units)
            });
            if !moved {
                break;
            }
            let inner = self.mark();
            if let Some(source) = self.direct(arg, time, neutral) {
                return Some(source);
            }
            self.back(inner);
        }
        self.back(mark);
        None
    }

    /// Stored when it was made, and loaded now.
    pub(super) fn through_register(&mut self, arg: Arg, time: usize, neutral: bool) -> Option<Source> {
        if self.stored.contains_key(&arg) || !matches!(arg, Arg::Node(_)) {
            return None;
        }
        let locs = self.locs.get(&arg)?.clone();
        for loc in locs {
            if loc.delayed || time < loc.time + LATENCY {
                continue;
            }
            for component in 0..COMPONENTS {
                let mark = self.mark();
                if self.keep(arg, loc, component) {
                    if let Some(source) = self.direct(arg, time, neutral) {
                        return Some(source);
                    }
                    self.back(mark);
                }
            }
        }
        None
    }

    /// Stores what a unit makes in a free register component.
    pub(super) fn keep(&mut self, arg: Arg, loc: Loc, component: usize) -> bool {
        if self.free_from[component] > loc.time {
            return false;
        }
        let target = Target::Register((component / 4) as u16);
        if !self.change(loc.time, |word| word.store(loc.unit, target, lane(component as u32))) {
            return false;
        }
        self.undo.stored.push((arg, self.free_from[component]));
        self.free_from[component] = usize::MAX;
        self.stored.insert(arg, (component, loc.time));
        true
    }

    /// Stores a result as soon as it is there, when it must be.
    pub(super) fn secured(&mut self, arg: Arg, loc: Loc) -> bool {
        if !self.must.contains(&arg) {
            return true;
        }
        let mut loc = loc;
        if loc.delayed {
            let time = loc.time + 2;
            self.ensure(time);
            if !self.moved(arg, time, &[Pass, Acc1, Acc0]) {
                return false;
            }
            let Some(last) = self.locs.get(&arg).and_then(|locs| locs.last()) else {
                return false;
            };
            loc = *last;
        }
        // Components next to each other, so that one load brings several.
        (0..COMPONENTS).any(|component| {
            let mark = self.mark();
            let kept = self.keep(arg, loc, component);
            if !kept {
                self.back(mark);
            }
            kept
        })
    }
}
