//! What a debugger shows of the source: the functions that instructions come of, and where values of local variables are made.

use crate::ir::{Function, Local, Span};
use std::collections::BTreeSet;

/// Where an instruction leaves a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// A register's component, after the instruction: of fragment programs.
    Register(u8, u8),
    /// The result of a unit, by its number: of vertex programs.
    Unit(u8),
}

/// A number that an instruction makes for a local variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assigned {
    /// Index of the local variable.
    pub local: u32,
    /// Its component.
    pub component: u32,
    /// Where the number is.
    pub location: Location,
}

/// A call of a function, which is part of the program; the first is the entry point's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The function's name.
    pub name: String,
    /// Index of the call that it is in, and the line; `None` of the entry point.
    pub caller: Option<(u32, u32)>,
}

/// What is known of a program's source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Debug {
    /// The calls.
    pub calls: Vec<Call>,
    /// The lines of each instruction with the calls that they are of, each once.
    pub places: Vec<Vec<(u32, u32)>>,
    /// The local variables.
    pub locals: Vec<Local>,
    /// The numbers that each instruction makes for local variables.
    pub assigned: Vec<Vec<Assigned>>,
}

impl Debug {
    /// What is known of a program with instructions of these places; `line` is the line of a byte of the source.
    pub(crate) fn new(
        function: &Function,
        spans: &[Vec<Span>],
        assigned: &[Vec<Assigned>],
        line: impl Fn(u32) -> u32,
    ) -> Self {
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
        Self {
            calls: calls.collect(),
            places: spans.iter().map(place).collect(),
            locals: function.locals.clone(),
            assigned: assigned.to_vec(),
        }
    }
}
