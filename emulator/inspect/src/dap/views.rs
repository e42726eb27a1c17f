//! Registers and memory for display: names, values and bits.

use super::invocation::{Invocation, Lane, Quad, Vertex, What};
use super::names::Kind;
use num::half;
use serde_json::{Value, json};
use utgard::gp::UNITS;
use utgard::pp::Register;

/// A named row of numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// The name, which is valid in expressions.
    pub name: String,
    /// The numbers.
    pub values: Vec<f32>,
}

/// A group of rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    /// Its title.
    pub name: &'static str,
    /// The protocol's presentation hint, if any.
    pub hint: Option<&'static str>,
    /// Whether the values are fp16.
    pub half: bool,
    /// The rows.
    pub rows: Vec<Row>,
}

fn group(name: &'static str, hint: Option<&'static str>, half: bool, rows: Vec<Row>) -> Group {
    Group { name, hint, half, rows }
}

fn row(name: impl Into<String>, values: &[f32]) -> Row {
    Row {
        name: name.into(),
        values: values.to_vec(),
    }
}

fn vectors(letter: &str, all: &[[f32; 4]]) -> Vec<Row> {
    let one = |(number, values): (usize, &[f32; 4])| row(format!("{letter}[{number}]"), values);
    all.iter().enumerate().map(one).collect()
}

/// The groups of names of the source: title, kind, the protocol's presentation hint.
const NAMED: [(&str, Kind, Option<&str>); 4] = [
    ("Varyings of the source", Kind::Varying, Some("arguments")),
    ("Attributes of the source", Kind::Attribute, Some("arguments")),
    ("Varyings of the source", Kind::Output, Some("returnValue")),
    ("Uniforms of the source", Kind::Uniform, None),
];

/// The values of a name, and whether they are fp16: local variables hide other names of the source, and these hide what the
/// hardware has.
pub(super) fn named(now: &Invocation, thread: usize, stack: &[u32], name: &str) -> Option<(Vec<f32>, bool)> {
    let groups = groups(now, thread, stack);
    let (hardware, source) = groups.split_at(HARDWARE.min(groups.len()));
    let (symbols, locals) = source.split_at(NAMED.len().min(source.len()));
    let order = locals.iter().chain(symbols).chain(hardware);
    order
        .flat_map(|group| group.rows.iter().map(|row| (row, group.half)))
        .find(|(row, _)| row.name == name)
        .map(|(row, half)| (row.values.clone(), half))
}

/// The floats that the names of a kind are among.
fn floats(now: &Invocation, thread: usize, kind: Kind) -> Option<&[f32]> {
    Some(match (&now.what, kind) {
        (What::Quad(quad), Kind::Uniform) => &quad.uniforms,
        (What::Quad(quad), Kind::Varying) => quad.varyings.get(thread)?,
        (What::Vertex(vertex), Kind::Uniform) => vertex.memory.as_flattened(),
        (What::Vertex(vertex), Kind::Attribute) => vertex.attributes.as_flattened(),
        (What::Vertex(vertex), Kind::Output) => vertex.outputs.as_flattened(),
        _ => return None,
    })
}

/// Groups of the hardware, of a fragment or a vertex.
const HARDWARE: usize = 6;

/// Number of the first group of local variables: there is one for each function of the stack.
const LOCALS: usize = HARDWARE + NAMED.len();

/// Functions of a stack that show local variables: the limit of groups in a reference.
const MAX_LOCALS: usize = 6;

/// All groups of a thread, with the names of the source behind the hardware's; `stack` are the calls that it is in, the
/// innermost first.
pub(super) fn groups(now: &Invocation, thread: usize, stack: &[u32]) -> Vec<Group> {
    let mut groups = match &now.what {
        What::Quad(quad) => match quad.lanes.get(thread) {
            Some(lane) => fragment(now, quad, lane, thread),
            None => return Vec::new(),
        },
        What::Vertex(vertex) => of_vertex(now, vertex),
    };
    let is_quad = matches!(now.what, What::Quad(_));
    // The others have the same numbers for fragments and for vertices.
    groups.resize_with(HARDWARE, || group("", None, false, Vec::new()));
    groups.extend(NAMED.into_iter().map(|(title, kind, hint)| {
        let floats = floats(now, thread, kind).unwrap_or_default();
        let rows = now.names.values(kind, floats).into_iter();
        let rows = rows.map(|(name, values)| row(name, &values)).collect();
        // The uniforms of fragments are fp16.
        group(title, hint, is_quad && kind == Kind::Uniform, rows)
    }));
    groups.extend(stack.iter().take(MAX_LOCALS).map(|call| {
        let values = now.locals(thread);
        let locals = values.map(|values| now.names.debug.locals(*call, values));
        let rows = locals.into_iter().flatten();
        let rows = rows.map(|(name, values)| row(name, &values)).collect();
        group("Locals of the source", Some("locals"), is_quad, rows)
    }));
    groups
}

fn fragment(now: &Invocation, quad: &Quad, lane: &Lane, thread: usize) -> Vec<Group> {
    let (pipeline, plain): (Vec<_>, Vec<_>) = (0..16u8).map(Register).partition(|register| register.is_pipeline());
    let register = |register: &Register| row(register.to_string(), &lane.registers[register.index()]);
    let mut last: Vec<Row> = pipeline.iter().map(register).collect();
    last.push(row("^v0", &lane.products.0));
    last.push(row("^s0", &[lane.products.1]));
    let temporary = |(number, value): (usize, &f32)| {
        let number = i64::from(quad.first_temporary) + number as i64;
        row(format!("t[{number}]"), &[*value])
    };
    let uniform = |(number, values): (usize, &[f32])| row(format!("u[{number}]"), values);
    let (x, y) = quad.place(thread);
    let flag = |flag: bool| [if flag { 1.0 } else { 0.0 }];
    vec![
        group(
            "Registers",
            Some("registers"),
            true,
            plain.iter().map(register).collect(),
        ),
        group("Last instruction", None, false, last),
        group(
            "Temporaries",
            None,
            false,
            lane.temporaries.iter().enumerate().map(temporary).collect(),
        ),
        group(
            "Uniforms",
            None,
            true,
            quad.uniforms.chunks(4).enumerate().map(uniform).collect(),
        ),
        group(
            "Fragment",
            Some("locals"),
            false,
            vec![
                row("x", &[x as f32]),
                row("y", &[y as f32]),
                row("job", &[now.job as f32]),
                row("lane", &[thread as f32]),
                row("wanted", &flag(quad.is_live(thread))),
                row("discarded", &flag(lane.discarded)),
            ],
        ),
    ]
}

fn of_vertex(now: &Invocation, vertex: &Vertex) -> Vec<Group> {
    let registers = vertex.registers.iter().enumerate();
    let addresses = vertex.addresses.iter().enumerate();
    let mut last: Vec<Row> = UNITS
        .iter()
        .zip(vertex.results)
        .map(|(unit, value)| row(unit.name, &[value]))
        .collect();
    last.extend(addresses.map(|(number, value)| row(format!("address{number}"), &[*value as f32])));
    vec![
        group(
            "Registers",
            Some("registers"),
            false,
            registers.map(|(at, values)| row(format!("${at}"), values)).collect(),
        ),
        group("Last instruction", None, false, last),
        group("Attributes", Some("arguments"), false, vectors("a", &vertex.attributes)),
        group("Uniforms and temporaries", None, false, vectors("t", &vertex.memory)),
        group("Outputs", Some("returnValue"), false, vectors("o", &vertex.outputs)),
        group(
            "Vertex",
            Some("locals"),
            false,
            vec![row("vertex", &[vertex.number as f32]), row("job", &[now.job as f32])],
        ),
    ]
}

/// The bits of a number.
fn bits(value: f32, is_half: bool) -> String {
    match is_half {
        true => format!("{:#06x}", half::from_f32(value)),
        false => format!("{:#010x}", value.to_bits()),
    }
}

/// A number and its bits, or only its bits.
pub(super) fn number(value: f32, is_half: bool, hex: bool) -> String {
    let bits = bits(value, is_half);
    if hex { bits } else { format!("{value} ({bits})") }
}

/// Numbers as one text.
pub(super) fn text(values: &[f32], is_half: bool, hex: bool) -> String {
    match values {
        [value] => number(*value, is_half, hex),
        values => {
            let one = |value: &f32| if hex { bits(*value, is_half) } else { value.to_string() };
            format!("({})", values.iter().map(one).collect::<Vec<_>>().join(", "))
        }
    }
}

/// The type of numbers, as text.
pub(super) fn kind(values: &[f32], is_half: bool) -> String {
    let float = if is_half { "fp16" } else { "fp32" };
    match values.len() {
        1 => float.to_owned(),
        length => format!("{float} vec{length}"),
    }
}

/// The protocol's reference to a thread's group, or to a row of it.
pub(super) fn reference(thread: usize, group: usize, row: Option<usize>) -> u64 {
    1 + thread as u64 + 4 * (group as u64 + 16 * row.map_or(0, |row| row as u64 + 1))
}

/// Decodes a reference.
pub(super) fn referred(reference: u64) -> Option<(usize, usize, Option<usize>)> {
    let number = reference.checked_sub(1)?;
    let (thread, rest) = (number % 4, number / 4);
    let (group, row) = (rest % 16, usize::try_from(rest / 16).ok()?);
    Some((thread as usize, group as usize, row.checked_sub(1)))
}

/// The scopes of a thread in one of the functions of its stack, 0 for the innermost.
pub(super) fn scopes(now: &Invocation, thread: usize, depth: usize) -> Value {
    let scope = |(number, group): (usize, &Group)| {
        let mut scope = json!({
            "name": group.name, "variablesReference": reference(thread, number, None),
            "namedVariables": group.rows.len(), "expensive": false,
        });
        if let Some(hint) = group.hint {
            scope["presentationHint"] = hint.into();
        }
        scope
    };
    let all = groups(now, thread, &now.stack(thread));
    // Names of the source come first, with the local variables of one function.
    let order = [LOCALS + depth].into_iter().chain(HARDWARE..LOCALS).chain(0..HARDWARE);
    order
        .filter_map(|number| Some((number, all.get(number)?)))
        .filter(|(_, group)| !group.rows.is_empty())
        .map(scope)
        .collect()
}

/// The variables of a reference.
pub(super) fn variables(now: &Invocation, of: u64, hex: bool) -> Option<Value> {
    let (thread, number, row) = referred(of)?;
    let group = groups(now, thread, &now.stack(thread)).into_iter().nth(number)?;
    let half = group.half;
    match row {
        None => {
            let one = |(at, row): (usize, &Row)| {
                let children = if row.values.len() > 1 {
                    reference(thread, number, Some(at))
                } else {
                    0
                };
                json!({
                    "name": row.name, "value": text(&row.values, half, hex), "type": kind(&row.values, half),
                    "evaluateName": row.name, "variablesReference": children,
                })
            };
            Some(group.rows.iter().enumerate().map(one).collect())
        }
        Some(at) => {
            let row = group.rows.get(at)?;
            let one = |(value, letter): (&f32, char)| {
                json!({
                    "name": letter.to_string(), "value": self::number(*value, half, hex), "type": kind(&[*value], half),
                    "evaluateName": format!("{}.{letter}", row.name), "variablesReference": 0,
                })
            };
            Some(row.values.iter().zip("xyzw".chars()).map(one).collect())
        }
    }
}
