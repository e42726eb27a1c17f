//! Simplifies a function: removes unused values and identities.

use crate::interface::Interface;
use crate::ssa::{End, Function, Gather, Id, Input, Lane, Node, Op};
use std::collections::HashMap;

/// Simplifies a function. With `exact` the results keep every bit.
pub(crate) fn tidy(function: &mut Function, interface: &Interface, exact: bool) {
    for id in 0..function.nodes.len() as Id {
        replace(function, id, exact);
    }
    forward(function);
    if !exact {
        remove(function);
        transforms(function, interface);
        dots(function);
        normals(function);
    }
    differences(function, exact);
    forward(function);
    remove(function);
}

/// The constant of an operand whose components are all the same.
fn number(function: &Function, lanes: &Gather) -> Option<f32> {
    let first = function.constant(*lanes.first()?)?;
    let same = lanes.iter().all(|lane| {
        function
            .constant(*lane)
            .is_some_and(|value| value.to_bits() == first.to_bits())
    });
    same.then_some(first)
}

/// Whether adding it is an identity: -0.0, or 0.0 except for the sign of zeros.
fn is_nothing(function: &Function, lanes: &Gather, exact: bool) -> bool {
    number(function, lanes).is_some_and(|value| value == 0.0 && (!exact || value.is_sign_negative()))
}

/// The lanes that a node copies, if it is a copy.
fn copy(function: &Function, id: Id, exact: bool) -> Option<Gather> {
    let node = function.node(id);
    let inner = |lanes: &Gather, op: Op| -> Option<Gather> {
        let of = |lane: &Lane| {
            let node = function.node(lane.value);
            (node.op == op).then(|| node.args[0][usize::from(lane.lane)])
        };
        lanes.iter().map(of).collect()
    };
    let args = node.args.as_slice();
    match (node.op, args) {
        (Op::Mul, [a, b]) if number(function, b) == Some(1.0) => Some(a.clone()),
        (Op::Mul, [a, b]) if number(function, a) == Some(1.0) => Some(b.clone()),
        (Op::Add, [a, b]) if is_nothing(function, b, exact) => Some(a.clone()),
        (Op::Add, [a, b]) if is_nothing(function, a, exact) => Some(b.clone()),
        (Op::Neg, [a]) => inner(a, Op::Neg),
        // A register already stores a half.
        (Op::Half, [a]) => {
            let is_half = |lane: &Lane| match function.node(lane.value).op {
                Op::Half => true,
                Op::Constant(_) => function
                    .constant(*lane)
                    .is_some_and(|value| num::half::round(value).to_bits() == value.to_bits()),
                _ => false,
            };
            a.iter().all(is_half).then(|| a.clone())
        }
        _ => None,
    }
}

/// Marks a node as a copy: it remains as a gather of its operand until its uses are redirected.
fn replace(function: &mut Function, id: Id, exact: bool) {
    lead(function, id);
    let node = function.node(id);
    if node.op == Op::Neg
        && let Some(value) = number(function, &node.args[0])
    {
        // Constants are at the program's start, but this node may not be.
        let node = &mut function.nodes[id as usize];
        (node.op, node.args) = (Op::Constant([(-value).to_bits(); 4]), Vec::new());
        return;
    }
    if let Some(lanes) = copy(function, id, exact) {
        let node = &mut function.nodes[id as usize];
        node.args = vec![lanes];
        node.op = Op::Copy;
    }
}

/// Redirects the operands of a node past copies.
fn lead(function: &mut Function, id: Id) {
    let mut args = std::mem::take(&mut function.nodes[id as usize].args);
    args.iter_mut()
        .flatten()
        .for_each(|lane| *lane = behind(function, *lane));
    function.nodes[id as usize].args = args;
}

fn behind(function: &Function, mut lane: Lane) -> Lane {
    while function.node(lane.value).op == Op::Copy {
        lane = function.node(lane.value).args[0][usize::from(lane.lane)];
    }
    lane
}

/// Redirects all operands past copies: phis may refer to later nodes.
fn forward(function: &mut Function) {
    for id in 0..function.nodes.len() as Id {
        lead(function, id);
    }
    let mut results = std::mem::take(&mut function.results);
    results
        .iter_mut()
        .flatten()
        .for_each(|lane| *lane = behind(function, *lane));
    function.results = results;
    for block in 0..function.blocks.len() {
        if let End::Branch(truth, yes, no) = function.blocks[block].end {
            function.blocks[block].end = End::Branch(behind(function, truth), yes, no);
        }
    }
}

/// Removes unused nodes.
fn remove(function: &mut Function) {
    let mut used = vec![false; function.nodes.len()];
    let mut open: Vec<Id> = function.results.iter().flatten().map(|lane| lane.value).collect();
    for block in &function.blocks {
        if let End::Branch(truth, ..) = block.end {
            open.push(truth.value);
        }
        open.extend(block.nodes.iter().filter(|id| function.node(**id).op.has_effect()));
    }
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut used[id as usize], true) {
            open.extend(function.node(id).args.iter().flatten().map(|lane| lane.value));
        }
    }
    for block in &mut function.blocks {
        block.nodes.retain(|id| used[*id as usize]);
    }
    // Removed nodes keep their index but lose their operands.
    for (node, used) in function.nodes.iter_mut().zip(used) {
        if !used {
            (node.op, node.args) = (Op::Copy, Vec::new());
        }
    }
}

/// Turns sums of products of two vectors' components into dot products.
fn dots(function: &mut Function) {
    // From the last one, because a sum's own sums are parts of it.
    for id in (0..function.nodes.len() as Id).rev() {
        let node = function.node(id);
        if node.op != Op::Add || node.width != 1 {
            continue;
        }
        let mut terms = Vec::new();
        if !collect(function, Lane { value: id, lane: 0 }, &mut terms) {
            continue;
        }
        if let Some((a, b)) = vectors(&terms) {
            let node = &mut function.nodes[id as usize];
            (node.op, node.args) = (Op::Dot, vec![a, b]);
        }
    }
}

/// Collects the products of a sum; false if it contains anything else.
fn collect(function: &Function, lane: Lane, terms: &mut Vec<[Lane; 2]>) -> bool {
    let node = function.node(lane.value);
    let at = usize::from(lane.lane);
    match node.op {
        Op::Add => terms.len() <= 4 && node.args.iter().all(|operand| collect(function, operand[at], terms)),
        Op::Mul => {
            terms.push([node.args[0][at], node.args[1][at]]);
            true
        }
        _ => false,
    }
}

/// Two vectors whose components are the factors of each product.
fn vectors(terms: &[[Lane; 2]]) -> Option<(Gather, Gather)> {
    if !(2..=4).contains(&terms.len()) {
        return None;
    }
    let first = terms[0];
    for [left, right] in [[0, 1], [1, 0]] {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for term in terms {
            let way = if term[left].value == first[left].value {
                [left, right]
            } else {
                [right, left]
            };
            a.push(term[way[0]]);
            b.push(term[way[1]]);
        }
        let one = |lanes: &Gather| lanes.iter().all(|lane| lane.value == lanes[0].value);
        if one(&a) && one(&b) || a == b || terms.len() > 2 && (one(&a) || one(&b)) {
            return Some((a, b));
        }
    }
    None
}

/// Turns sums with a negated operand into differences, and products with a reciprocal into quotients.
fn differences(function: &mut Function, exact: bool) {
    for id in 0..function.nodes.len() as Id {
        let node = function.node(id);
        let (becomes, inner) = match node.op {
            Op::Add => (Op::Sub, Op::Neg),
            // A reciprocal is rounded, so a quotient differs slightly.
            Op::Mul if !exact => (Op::Div, Op::Rcp),
            _ => continue,
        };
        let of = |lanes: &Gather| -> Option<Gather> {
            let of = |lane: &Lane| {
                let node = function.node(lane.value);
                (node.op == inner).then(|| node.args[0][usize::from(lane.lane)])
            };
            lanes.iter().map(of).collect()
        };
        let swapped = [node.args[1].clone(), node.args[0].clone()];
        let found = [[node.args[0].clone(), node.args[1].clone()], swapped].into_iter();
        let found = found.filter_map(|[a, b]| Some((a, of(&b)?))).next();
        if let Some((a, b)) = found {
            let node = &mut function.nodes[id as usize];
            (node.op, node.args) = (becomes, vec![a, b]);
        }
    }
}

/// A matrix column's component times a component of a vector, or by itself if that is 1.0.
struct Term {
    member: usize,
    element: u32,
    column: u32,
    row: u32,
    /// First float of the matrix.
    float: u32,
    factor: Option<Lane>,
}

/// Turns sums over the columns of a uniform matrix into matrix-vector products.
fn transforms(function: &mut Function, interface: &Interface) {
    let mut made: HashMap<(u32, Gather, usize), Id> = HashMap::new();
    for block in 0..function.blocks.len() {
        let mut at = 0;
        while at < function.blocks[block].nodes.len() {
            let id = function.blocks[block].nodes[at];
            at += 1;
            let Some((first, vector)) = product(function, interface, id) else {
                continue;
            };
            let shape = interface.uniforms[first.member].shape;
            let key = (first.float, vector.clone(), block);
            let value = *made.entry(key).or_insert_with(|| {
                let value = function.nodes.len() as Id;
                function.nodes.push(Node {
                    op: Op::Transform {
                        float: first.float,
                        stride: shape.stride as u8,
                        columns: shape.columns,
                    },
                    args: vec![vector],
                    width: shape.rows,
                    block,
                });
                function.blocks[block].nodes.insert(at - 1, value);
                at += 1;
                value
            });
            let lane = Lane {
                value,
                lane: first.row as u8,
            };
            let node = &mut function.nodes[id as usize];
            (node.op, node.args) = (Op::Copy, vec![vec![lane]]);
        }
    }
    forward(function);
}

/// The matrix and row of a sum, and the vector.
fn product(function: &Function, interface: &Interface, id: Id) -> Option<(Term, Gather)> {
    let node = function.node(id);
    if node.op != Op::Add || node.width != 1 {
        return None;
    }
    let mut terms = Vec::new();
    columns(function, interface, Lane { value: id, lane: 0 }, &mut terms)?;
    terms.sort_by_key(|term| term.column);
    let first = terms.first()?;
    let shape = interface.uniforms[first.member].shape;
    let whole = terms.len() == usize::from(shape.columns) && shape.columns > 1;
    let same = |(column, term): (usize, &Term)| {
        (term.member, term.element, term.row) == (first.member, first.element, first.row)
            && term.column == column as u32
    };
    if !whole || !terms.iter().enumerate().all(same) {
        return None;
    }
    let mut vector = Gather::new();
    for term in &terms {
        vector.push(match term.factor {
            Some(lane) => lane,
            None => one(function)?,
        });
    }
    Some((terms.into_iter().next()?, vector))
}

/// The constant 1.0, if the program has it.
fn one(function: &Function) -> Option<Lane> {
    let nodes = function.blocks[0].nodes.iter();
    let one = nodes
        .into_iter()
        .find(|id| function.constant(Lane { value: **id, lane: 0 }) == Some(1.0))?;
    Some(Lane { value: *one, lane: 0 })
}

fn columns(function: &Function, interface: &Interface, lane: Lane, terms: &mut Vec<Term>) -> Option<()> {
    let (node, at) = (function.node(lane.value), usize::from(lane.lane));
    if terms.len() > 4 {
        return None;
    }
    let uniform = |lane: Lane| match function.node(lane.value).op {
        Op::Input(Input::Uniform(float)) => {
            let float = float + u32::from(lane.lane);
            let place = interface.place(float)?;
            let shape = interface.uniforms[place.member].shape;
            Some(Term {
                member: place.member,
                element: place.element,
                column: place.column,
                row: place.row,
                float: float - place.column * shape.stride - place.row,
                factor: None,
            })
        }
        _ => None,
    };
    match node.op {
        Op::Add => node
            .args
            .iter()
            .try_for_each(|operand| columns(function, interface, operand[at], terms)),
        Op::Mul => {
            let (a, b) = (node.args[0][at], node.args[1][at]);
            let (term, factor) = match (uniform(a), uniform(b)) {
                (Some(term), None) => (term, b),
                (None, Some(term)) => (term, a),
                _ => return None,
            };
            terms.push(Term {
                factor: Some(factor),
                ..term
            });
            Some(())
        }
        _ => {
            terms.push(uniform(lane)?);
            Some(())
        }
    }
}

/// Turns components of a vector times the reciprocal of its length into components of the normalised vector.
fn normals(function: &mut Function) {
    let mut made: HashMap<(Gather, usize), Id> = HashMap::new();
    for block in 0..function.blocks.len() {
        let mut at = 0;
        while at < function.blocks[block].nodes.len() {
            let id = function.blocks[block].nodes[at];
            at += 1;
            let Some((vector, component)) = normal(function, id) else {
                continue;
            };
            let value = *made.entry((vector.clone(), block)).or_insert_with(|| {
                let value = function.nodes.len() as Id;
                let width = vector.len() as u8;
                function.nodes.push(Node {
                    op: Op::Normalize,
                    args: vec![vector],
                    width,
                    block,
                });
                function.blocks[block].nodes.insert(at - 1, value);
                at += 1;
                value
            });
            let node = &mut function.nodes[id as usize];
            (node.op, node.args) = (
                Op::Copy,
                vec![vec![Lane {
                    value,
                    lane: component as u8,
                }]],
            );
        }
    }
    forward(function);
}

/// The vector and component if the reciprocal square root is of that vector's squared length.
fn normal(function: &Function, id: Id) -> Option<(Gather, usize)> {
    let node = function.node(id);
    if node.op != Op::Mul || node.width != 1 {
        return None;
    }
    let (a, b) = (node.args[0][0], node.args[1][0]);
    [(a, b), (b, a)].into_iter().find_map(|(value, scale)| {
        let scale = function.node(scale.value);
        let square = (scale.op == Op::Rsqrt).then(|| function.node(scale.args[0][0].value))?;
        let vector = (square.op == Op::Dot && square.args[0] == square.args[1]).then(|| square.args[0].clone())?;
        let component = vector.iter().position(|lane| *lane == value)?;
        Some((vector, component))
    })
}
