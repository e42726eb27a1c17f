//! Debug information of programs that a compiler made: the functions that instructions come from, and where values of local
//! variables are.

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

/// A local variable, or a column, element or member of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Its name; empty for what the source does not name.
    pub name: String,
    /// Number of components.
    pub components: u32,
    /// Index of the call that it belongs to.
    pub call: u32,
}

/// A call of a function, which is part of the program; the first is the entry point's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The function's name.
    pub name: String,
    /// Index of the call that it is in, and the line; `None` of the entry point.
    pub caller: Option<(u32, u32)>,
}

/// What is known of a program's source; empty without a compiler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Debug {
    /// The calls.
    pub calls: Vec<Call>,
    /// The lines of each instruction with the calls that they are of.
    pub places: Vec<Vec<(u32, u32)>>,
    /// The local variables.
    pub locals: Vec<Local>,
    /// The numbers that each instruction makes for local variables.
    pub assigned: Vec<Vec<Assigned>>,
}

/// The values that local variables have got so far, by component.
pub type Values = Vec<[Option<f32>; 4]>;

/// Limit on the calls that enclose each other.
const MAX_DEPTH: usize = 64;

impl Debug {
    /// The calls that an instruction is in at a line, the innermost first, each with its line.
    pub fn stack(&self, instruction: usize, line: u32) -> Vec<(u32, u32)> {
        let places = self.places.get(instruction).into_iter().flatten();
        let Some((_, mut call)) = places.copied().find(|(at, _)| *at == line) else {
            return Vec::new();
        };
        let mut stack = vec![(call, line)];
        while let Some((caller, line)) = self.calls.get(call as usize).and_then(|call| call.caller) {
            if stack.len() == MAX_DEPTH {
                break;
            }
            stack.push((caller, line));
            call = caller;
        }
        stack
    }

    /// Values of local variables before the first instruction.
    pub fn values(&self) -> Values {
        vec![[None; 4]; self.locals.len()]
    }

    /// Sets the values that an instruction has made; `read` gives what is at a location.
    pub fn assign(&self, instruction: usize, values: &mut Values, read: impl Fn(Location) -> Option<f32>) {
        for one in self.assigned.get(instruction).into_iter().flatten() {
            let value = values.get_mut(one.local as usize);
            if let Some(value) = value.and_then(|value| value.get_mut(one.component as usize)) {
                *value = read(one.location);
            }
        }
    }

    /// The local variables of a call that have values, with the components that are known.
    pub fn locals(&self, call: u32, values: &Values) -> Vec<(String, Vec<f32>)> {
        let own = self.locals.iter().zip(values);
        let own = own.filter(|(local, _)| local.call == call && !local.name.is_empty());
        own.filter_map(|(local, value)| {
            let known: Vec<(char, f32)> = "xyzw"
                .chars()
                .zip(value.iter().take(local.components as usize))
                .filter_map(|(letter, value)| Some((letter, (*value)?)))
                .collect();
            let name = match known.len() as u32 == local.components {
                true => local.name.clone(),
                false => format!(
                    "{}.{}",
                    local.name,
                    known.iter().map(|(letter, _)| letter).collect::<String>()
                ),
            };
            (!known.is_empty()).then(|| (name, known.into_iter().map(|(_, value)| value).collect()))
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn debug() -> Debug {
        let call = |name: &str, caller| Call {
            name: name.to_owned(),
            caller,
        };
        let local = |name: &str, components, call| Local {
            name: name.to_owned(),
            components,
            call,
        };
        let assigned = |local, component, register| Assigned {
            local,
            component,
            location: Location::Register(register, component as u8),
        };
        Debug {
            calls: vec![
                call("main", None),
                call("lit", Some((0, 12))),
                call("power", Some((1, 4))),
            ],
            places: vec![vec![(3, 2), (9, 0)], vec![(4, 1)]],
            locals: vec![local("color", 3, 0), local("sum", 1, 1)],
            assigned: vec![
                vec![assigned(0, 0, 2), assigned(0, 2, 2)],
                vec![assigned(1, 0, 3), assigned(0, 1, 4)],
            ],
        }
    }

    #[test]
    fn functions_are_in_a_stack() {
        let debug = debug();
        assert_eq!(debug.stack(0, 3), [(2, 3), (1, 4), (0, 12)]);
        assert_eq!(debug.stack(0, 9), [(0, 9)]);
        assert_eq!(debug.stack(1, 4), [(1, 4), (0, 12)]);
        assert_eq!(debug.stack(1, 5), []);
    }

    #[test]
    fn locals_are_as_last_assigned() {
        let debug = debug();
        let mut values = debug.values();
        assert!(debug.locals(0, &values).is_empty());
        let read = |location| match location {
            Location::Register(register, component) => Some(f32::from(10 * register + component)),
            Location::Unit(_) => None,
        };
        debug.assign(0, &mut values, read);
        assert_eq!(debug.locals(0, &values), [("color.xz".to_owned(), vec![20.0, 22.0])]);
        debug.assign(1, &mut values, read);
        assert_eq!(debug.locals(0, &values), [("color".to_owned(), vec![20.0, 41.0, 22.0])]);
        assert_eq!(debug.locals(1, &values), [("sum".to_owned(), vec![30.0])]);
        debug.assign(2, &mut values, read);
    }
}
