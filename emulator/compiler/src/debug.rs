//! Debug information of what was compiled.

use crate::ir::{Function, Span};
use std::collections::BTreeSet;
use utgard::debug::{Assigned, Call, Debug};

/// The debug information of a program whose instructions have these places; `line` is the line of a byte of the source.
pub(crate) fn debug(
    function: &Function,
    spans: &[Vec<Span>],
    assigned: &[Vec<Assigned>],
    line: impl Fn(u32) -> u32,
) -> Debug {
    let calls = function.calls.iter().map(|call| Call {
        name: call.name.clone(),
        caller: call
            .caller
            .map(|(caller, span)| (caller, span.map_or(0, |place| line(place.start)))),
    });
    let place = |instruction: &Vec<Span>| {
        let places = instruction.iter().flatten();
        let all: BTreeSet<(u32, u32)> = places.map(|place| (line(place.start), place.call)).collect();
        all.into_iter().collect()
    };
    Debug {
        calls: calls.collect(),
        places: spans.iter().map(place).collect(),
        locals: function.locals.clone(),
        assigned: assigned.to_vec(),
    }
}
