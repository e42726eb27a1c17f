//! Converts blocks and jumps to nested statements.
//!
//! Reducible flow follows Ramsey, "Beyond Relooper" (2022): the dominator tree gives the nesting, merge blocks follow a
//! construct that can be left by a break, loop headers become loops. A jump that leaves several constructs sets a
//! variable and breaks out of each in turn. Irreducible flow becomes a loop over a switch.

use crate::ssa::{BlockId, End, Function, Lane};

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Statement {
    /// The values of a block.
    Values(BlockId),
    /// The assignments to the second block's phis on the edge from the first.
    Copies(BlockId, BlockId),
    /// A branch with two alternatives.
    If(Lane, Vec<Statement>, Vec<Statement>),
    /// Repeats until it is left.
    Loop(Vec<Statement>),
    /// Runs once, and can be left early.
    Once(Vec<Statement>),
    /// Leaves the innermost `Loop` or `Once`.
    Break,
    /// Continues the innermost loop.
    Continue,
    /// The program's end.
    Return,
    /// The fragment is discarded.
    Discard,
    /// Records the target of a jump; 0 for none.
    SetTarget(u32),
    /// Runs if a jump to this target is in progress.
    IfTarget(u32, Vec<Statement>),
    /// Repeatedly runs the case of the current target.
    Dispatch(Vec<(u32, Vec<Statement>)>),
}

/// Dominators and order of the reachable blocks.
struct Flow {
    /// Index in reverse postorder; `usize::MAX` for unreachable blocks.
    order: Vec<usize>,
    /// Immediate dominator.
    dominator: Vec<BlockId>,
    /// Blocks in reverse postorder.
    blocks: Vec<BlockId>,
}

fn next(function: &Function, block: BlockId) -> Vec<BlockId> {
    let mut next = function.blocks[block].end.next();
    next.dedup();
    next
}

impl Flow {
    fn new(function: &Function) -> Self {
        let count = function.blocks.len();
        let (mut blocks, mut seen) = (Vec::new(), vec![false; count]);
        let mut stack = vec![(0, next(function, 0))];
        seen[0] = true;
        while let Some((block, left)) = stack.last_mut() {
            match left.pop() {
                Some(to) if !seen[to] => {
                    seen[to] = true;
                    stack.push((to, next(function, to)));
                }
                Some(_) => {}
                None => {
                    blocks.push(*block);
                    stack.pop();
                }
            }
        }
        blocks.reverse();
        let mut order = vec![usize::MAX; count];
        blocks.iter().enumerate().for_each(|(at, block)| order[*block] = at);
        let mut flow = Self {
            order,
            dominator: vec![usize::MAX; count],
            blocks,
        };
        flow.dominators(function);
        flow
    }

    /// Cooper, Harvey and Kennedy's iteration.
    fn dominators(&mut self, function: &Function) {
        self.dominator[0] = 0;
        loop {
            let mut changed = false;
            for &block in self.blocks.iter().skip(1) {
                let known = function.blocks[block].before.iter().copied();
                let new = known
                    .filter(|from| self.dominator[*from] != usize::MAX)
                    .reduce(|a, b| self.meet(a, b));
                if let Some(new) = new
                    && self.dominator[block] != new
                {
                    self.dominator[block] = new;
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn meet(&self, mut a: BlockId, mut b: BlockId) -> BlockId {
        while a != b {
            while self.order[a] > self.order[b] {
                a = self.dominator[a];
            }
            while self.order[b] > self.order[a] {
                b = self.dominator[b];
            }
        }
        a
    }

    fn dominates(&self, above: BlockId, mut below: BlockId) -> bool {
        while self.order[below] > self.order[above] {
            below = self.dominator[below];
        }
        below == above
    }

    fn back(&self, from: BlockId, to: BlockId) -> bool {
        self.order[to] <= self.order[from]
    }
}

/// The jump targets at a place in the nesting.
#[derive(Clone, Copy)]
struct Place {
    /// The block that follows the list's end; `None` if the list must not fall through.
    falls: Option<BlockId>,
    /// The target of a break.
    breaks: Option<BlockId>,
    /// The target of a continue.
    continues: Option<BlockId>,
}

struct Structurer<'a> {
    function: &'a Function,
    flow: Flow,
    heads: Vec<bool>,
    merges: Vec<bool>,
    children: Vec<Vec<BlockId>>,
}

/// The number of a block in the jump variable.
fn number(block: BlockId) -> u32 {
    block as u32 + 1
}

/// Deeper nesting uses the dispatcher, because compilers that read the result recurse on nesting.
const MAX_DEPTH: usize = 64;

/// A function's statements.
pub(crate) fn structure(function: &Function) -> Vec<Statement> {
    let flow = Flow::new(function);
    let count = function.blocks.len();
    let (mut heads, mut merges, mut reducible) = (vec![false; count], vec![false; count], true);
    let mut children = vec![Vec::new(); count];
    for &block in &flow.blocks {
        let reached = function.blocks[block].before.iter().copied();
        let reached: Vec<BlockId> = reached.filter(|from| flow.order[*from] != usize::MAX).collect();
        let forward = reached.iter().filter(|from| !flow.back(**from, block)).count();
        for from in reached.into_iter().filter(|from| flow.back(*from, block)) {
            heads[block] = true;
            reducible &= flow.dominates(block, from);
        }
        merges[block] = forward > 1;
        if block != 0 {
            children[flow.dominator[block]].push(block);
        }
    }
    let mut structurer = Structurer {
        function,
        flow,
        heads,
        merges,
        children,
    };
    if reducible {
        let place = Place {
            falls: None,
            breaks: None,
            continues: None,
        };
        if let Some((list, _)) = structurer.tree(0, place, 0) {
            return list;
        }
    }
    structurer.dispatch()
}

/// Statements, and the blocks that jumps out of them still have to reach.
type List = (Vec<Statement>, Vec<BlockId>);

impl Structurer<'_> {
    /// A block with all blocks it dominates; `None` if it nests too deep.
    fn tree(&mut self, block: BlockId, place: Place, depth: usize) -> Option<List> {
        if depth > MAX_DEPTH {
            return None;
        }
        let children = &self.children[block];
        let mut merges: Vec<BlockId> = children.iter().copied().filter(|child| self.merges[*child]).collect();
        merges.sort_by_key(|block| self.flow.order[*block]);
        if !self.heads[block] {
            return self.within(block, &merges, place, depth);
        }
        let inside = Place {
            falls: Some(block),
            breaks: place.falls,
            continues: Some(block),
        };
        let (body, pending) = self.within(block, &merges, inside, depth + 1)?;
        Some(self.leave(Statement::Loop(body), pending, place))
    }

    /// A block and its branches, followed by the merge blocks that it dominates, the last one outermost.
    fn within(&mut self, block: BlockId, merges: &[BlockId], place: Place, depth: usize) -> Option<List> {
        let Some((&last, rest)) = merges.split_last() else {
            return self.alone(block, place, depth);
        };
        let inside = Place {
            falls: Some(last),
            breaks: Some(last),
            continues: place.continues,
        };
        let (body, pending) = self.within(block, rest, inside, depth + 1)?;
        // A body that is never left early needs no construct, unless it contains a break.
        let (mut list, mut left) = if breaks(&body) || pending.iter().any(|to| *to != last) {
            self.leave(
                Statement::Once(body),
                pending,
                Place {
                    falls: Some(last),
                    ..place
                },
            )
        } else {
            (body, Vec::new())
        };
        let (behind, more) = self.tree(last, place, depth)?;
        list.extend(behind);
        left.extend(more);
        Some((list, left))
    }

    fn alone(&mut self, block: BlockId, place: Place, depth: usize) -> Option<List> {
        let mut list = vec![Statement::Values(block)];
        let mut pending = Vec::new();
        match self.function.blocks[block].end {
            End::Jump(to) => {
                let (more, left) = self.way(block, to, place, depth)?;
                list.extend(more);
                pending = left;
            }
            End::Branch(_, yes, no) if yes == no => {
                let (more, left) = self.way(block, yes, place, depth)?;
                list.extend(more);
                pending = left;
            }
            End::Branch(truth, yes, no) => {
                let (accept, left) = self.way(block, yes, place, depth + 1)?;
                let (reject, more) = self.way(block, no, place, depth + 1)?;
                list.push(Statement::If(truth, accept, reject));
                pending = left;
                pending.extend(more);
            }
            End::Exit => list.push(Statement::Return),
            End::Open | End::Discard => list.push(Statement::Discard),
        }
        Some((list, pending))
    }

    /// The statements for an edge between two blocks.
    fn way(&mut self, from: BlockId, to: BlockId, place: Place, depth: usize) -> Option<List> {
        let mut list = vec![Statement::Copies(from, to)];
        if !self.merges[to] && !self.flow.back(from, to) {
            let (more, pending) = self.tree(to, place, depth)?;
            list.extend(more);
            return Some((list, pending));
        }
        let (more, pending) = jump(to, place);
        list.extend(more);
        Some((list, pending))
    }

    /// A construct, followed by the next step of jumps out of it.
    fn leave(&self, construct: Statement, mut pending: Vec<BlockId>, place: Place) -> List {
        pending.sort_unstable();
        pending.dedup();
        let mut list = Vec::new();
        if !pending.is_empty() {
            list.push(Statement::SetTarget(0));
        }
        list.push(construct);
        let mut left = Vec::new();
        for to in pending {
            let (steps, more) = jump(to, place);
            if !steps.is_empty() {
                // The variable keeps its value until the last construct is left.
                let steps = steps
                    .into_iter()
                    .filter(|step| !matches!(step, Statement::SetTarget(_)));
                list.push(Statement::IfTarget(number(to), steps.collect()));
            }
            left.extend(more);
        }
        (list, left)
    }

    /// Every block as a case of a switch in a loop.
    fn dispatch(&self) -> Vec<Statement> {
        let go = |from, to| vec![Statement::Copies(from, to), Statement::SetTarget(number(to))];
        let case = |&block: &BlockId| {
            let mut list = vec![Statement::Values(block)];
            match self.function.blocks[block].end {
                End::Jump(to) => list.extend(go(block, to)),
                End::Branch(_, yes, no) if yes == no => list.extend(go(block, yes)),
                End::Branch(truth, yes, no) => list.push(Statement::If(truth, go(block, yes), go(block, no))),
                End::Exit => list.push(Statement::Return),
                End::Open | End::Discard => list.push(Statement::Discard),
            }
            (number(block), list)
        };
        let cases = self.flow.blocks.iter().map(case).collect();
        vec![Statement::SetTarget(number(0)), Statement::Dispatch(cases)]
    }
}

/// The jump statement from a place; empty if the target follows anyway.
fn jump(to: BlockId, place: Place) -> List {
    if place.falls == Some(to) {
        (Vec::new(), Vec::new())
    } else if place.breaks == Some(to) {
        (vec![Statement::Break], Vec::new())
    } else if place.continues == Some(to) {
        (vec![Statement::Continue], Vec::new())
    } else {
        (vec![Statement::SetTarget(number(to)), Statement::Break], vec![to])
    }
}

/// Whether the list contains a break of the construct whose body it is.
fn breaks(list: &[Statement]) -> bool {
    list.iter().any(|statement| match statement {
        Statement::Break => true,
        Statement::If(_, yes, no) => breaks(yes) || breaks(no),
        Statement::IfTarget(_, steps) => breaks(steps),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ssa::{Builder, Op, Relation};

    /// A function with these edges: a branch for two successors, the end for none.
    fn function(edges: &[Vec<BlockId>]) -> Function {
        let mut builder = Builder::new(edges);
        let zero = builder.number(0.0);
        for (block, next) in edges.iter().enumerate() {
            let end = match *next.as_slice() {
                [] => End::Exit,
                [to] => End::Jump(to),
                _ => {
                    let value = builder.push(block, Op::Compare(Relation::Less), vec![vec![zero], vec![zero]], 1);
                    End::Branch(Lane { value, lane: 0 }, next[0], next[1])
                }
            };
            builder.end(block, end);
        }
        builder.finish(Vec::new())
    }

    struct Walk<'a> {
        function: &'a Function,
        /// The decisions of the branches, in order.
        choices: Vec<bool>,
        target: u32,
        path: Vec<BlockId>,
    }

    #[derive(PartialEq, Debug)]
    enum Ends {
        Falls,
        Breaks,
        Continues,
        Stops,
    }

    impl Walk<'_> {
        fn list(&mut self, list: &[Statement]) -> Ends {
            for statement in list {
                if self.path.len() > 60 {
                    return Ends::Stops;
                }
                let ends = match statement {
                    Statement::Values(block) => {
                        self.path.push(*block);
                        Ends::Falls
                    }
                    Statement::Copies(..) => Ends::Falls,
                    Statement::If(_, yes, no) => {
                        let way = self.choices.pop();
                        match way {
                            Some(true) => self.list(yes),
                            Some(false) => self.list(no),
                            None => Ends::Stops,
                        }
                    }
                    Statement::Loop(body) => loop {
                        match self.list(body) {
                            Ends::Breaks => break Ends::Falls,
                            Ends::Stops => break Ends::Stops,
                            _ => {}
                        }
                    },
                    Statement::Once(body) => match self.list(body) {
                        Ends::Breaks => Ends::Falls,
                        other => other,
                    },
                    Statement::Break => Ends::Breaks,
                    Statement::Continue => Ends::Continues,
                    Statement::Return | Statement::Discard => Ends::Stops,
                    Statement::SetTarget(to) => {
                        self.target = *to;
                        Ends::Falls
                    }
                    Statement::IfTarget(to, steps) if self.target == *to => self.list(steps),
                    Statement::IfTarget(..) => Ends::Falls,
                    Statement::Dispatch(cases) => loop {
                        let case = cases.iter().find(|case| case.0 == self.target);
                        if self.list(&case.unwrap().1) == Ends::Stops {
                            break Ends::Stops;
                        }
                    },
                };
                if ends != Ends::Falls {
                    return ends;
                }
            }
            Ends::Falls
        }
    }

    /// The blocks that the function itself executes.
    fn path(function: &Function, mut choices: Vec<bool>) -> Vec<BlockId> {
        let (mut at, mut path) = (0, vec![0]);
        while path.len() <= 60 {
            at = match function.blocks[at].end {
                End::Jump(to) => to,
                End::Branch(_, yes, no) if yes == no => yes,
                End::Branch(_, yes, no) => match choices.pop() {
                    Some(true) => yes,
                    Some(false) => no,
                    None => break,
                },
                _ => break,
            };
            path.push(at);
        }
        path
    }

    fn same_paths(edges: &[Vec<BlockId>], random: &mut fastrand::Rng) -> bool {
        let function = function(edges);
        let list = structure(&function);
        for _ in 0..20 {
            let choices: Vec<bool> = (0..80).map(|_| random.bool()).collect();
            let mut walk = Walk {
                function: &function,
                choices: choices.clone(),
                target: 99,
                path: Vec::new(),
            };
            walk.list(&list);
            let want = path(walk.function, choices);
            let length = want.len().min(walk.path.len());
            assert!(
                length >= want.len().min(60),
                "{edges:?}\n{list:#?}\n{want:?}\n{:?}",
                walk.path
            );
            assert_eq!(walk.path[..length], want[..length], "{edges:?}\n{list:#?}");
        }
        !matches!(list.last(), Some(Statement::Dispatch(_)))
    }

    #[test]
    fn a_branch_becomes_an_if() {
        let list = structure(&function(&[vec![1, 2], vec![3], vec![3], vec![]]));
        assert!(
            matches!(
                list.as_slice(),
                [
                    Statement::Values(0),
                    Statement::If(..),
                    Statement::Values(3),
                    Statement::Return
                ]
            ),
            "{list:?}"
        );
    }

    /// A list as text: a block's number for its values, nothing for copies.
    fn shape(list: &[Statement]) -> String {
        let one = |statement: &Statement| match statement {
            Statement::Values(block) => block.to_string(),
            Statement::Copies(..) => String::new(),
            Statement::If(_, yes, no) => format!("if {{{}}} {{{}}}", shape(yes), shape(no)),
            Statement::Loop(body) => format!("loop {{{}}}", shape(body)),
            Statement::Once(body) => format!("once {{{}}}", shape(body)),
            Statement::Break => "break".to_owned(),
            Statement::Continue => "continue".to_owned(),
            Statement::Return => "return".to_owned(),
            Statement::Discard => "discard".to_owned(),
            Statement::SetTarget(to) => format!("to {to}"),
            Statement::IfTarget(to, steps) => format!("at {to} {{{}}}", shape(steps)),
            Statement::Dispatch(cases) => {
                let cases = cases
                    .iter()
                    .map(|(number, steps)| format!("{number}: {}", shape(steps)));
                format!("switch {{{}}}", cases.collect::<Vec<_>>().join(", "))
            }
        };
        let parts: Vec<String> = list.iter().map(one).filter(|text| !text.is_empty()).collect();
        parts.join(" ")
    }

    #[test]
    fn flow_is_nested_as_a_person_would_write_it() {
        let rows: &[(&[&[BlockId]], &str)] = &[
            (&[&[1], &[]], "0 1 return"),
            (&[&[1, 1], &[]], "0 1 return"),
            (&[&[1, 2], &[2], &[]], "0 if {1} {} 2 return"),
            (&[&[2, 1], &[2], &[]], "0 if {} {1} 2 return"),
            (&[&[1, 2], &[], &[]], "0 if {1 return} {2 return}"),
            (&[&[1, 3], &[2, 3], &[3], &[]], "0 if {1 if {2} {}} {} 3 return"),
            // Loops: left at their start, at their end, from their middle.
            (&[&[1], &[2, 3], &[1], &[]], "0 loop {1 if {2} {3 return}}"),
            (&[&[1], &[1, 2], &[]], "0 loop {1 if {} {2 return}}"),
            (
                &[&[1], &[2, 4], &[3, 4], &[1], &[]],
                "0 loop {1 if {2 if {3 continue} {}} {} 4 return}",
            ),
            // A merge block that one way skips.
            (
                &[&[1, 2], &[3, 4], &[3], &[4], &[]],
                "once {to 0 once {0 if {1 if {} {to 5 break}} {2}} at 5 {break} 3} 4 return",
            ),
            // A way out of two loops, and one from the inner to the head of the outer.
            (
                &[&[1], &[2], &[3, 4], &[2, 5], &[], &[1, 4]],
                "0 loop {1 loop {to 0 once {2 if {3 if {continue} {5 if {to 2 break} {}}} {}} at 2 {break} 4 return}}",
            ),
            // Two heads of one loop.
            (
                &[&[1, 2], &[2, 3], &[1], &[]],
                "to 1 switch {1: 0 if {to 2} {to 3}, 3: 2 to 2, 2: 1 if {to 3} {to 4}, 4: 3 return}",
            ),
        ];
        let mut wrong = Vec::new();
        for (edges, want) in rows {
            let edges: Vec<Vec<BlockId>> = edges.iter().map(|next| next.to_vec()).collect();
            let have = shape(&structure(&function(&edges)));
            if have != *want {
                wrong.push(format!("{edges:?}\n  has  {have}\n  want {want}"));
            }
        }
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }

    #[test]
    fn deep_nesting_becomes_a_switch() {
        // Leaves behind every block of a chain, on either side; loops in loops; a chain with a merge block for each.
        let chain = |count: usize, first: bool| {
            let of = |at| match first {
                true => vec![at + 1, count + 1 + at],
                false => vec![count + 1 + at, at + 1],
            };
            let mut edges: Vec<Vec<BlockId>> = (0..count).map(of).collect();
            edges.resize(2 * count + 1, Vec::new());
            edges
        };
        let loops = |count: usize| {
            let mut edges: Vec<Vec<BlockId>> = (0..count).map(|at| vec![at + 1]).collect();
            edges.extend((0..count).map(|at| vec![count - 1 - at, count + at + 1]));
            edges.push(Vec::new());
            edges
        };
        let merges = |count: usize| {
            let mut edges: Vec<Vec<BlockId>> = (0..count).map(|at| vec![at + 1, count + 1 + at]).collect();
            edges.push(vec![count + 1]);
            edges.extend((1..count).map(|at| vec![count + 1 + at]));
            edges.push(Vec::new());
            edges
        };
        let nested = |edges: Vec<Vec<BlockId>>| {
            same_paths(&edges, &mut fastrand::Rng::with_seed(9));
            !matches!(structure(&function(&edges)).last(), Some(Statement::Dispatch(_)))
        };
        type Edges<'a> = &'a dyn Fn(usize) -> Vec<Vec<BlockId>>;
        let rows: [(&str, Edges<'_>, usize, usize); 4] = [
            ("yes", &|count| chain(count, true), 60, 70),
            ("no", &|count| chain(count, false), 60, 70),
            ("loops", &loops, 30, 70),
            ("merges", &merges, 30, 40),
        ];
        for (name, edges, nests, too_deep) in rows {
            assert!(nested(edges(nests)), "{name} {nests}");
            assert!(!nested(edges(too_deep)), "{name} {too_deep}");
        }
    }

    #[test]
    fn random_flow_keeps_its_paths() {
        let mut random = fastrand::Rng::with_seed(7);
        let (mut nested, count) = (0, 3000);
        for _ in 0..count {
            let blocks = 2 + random.usize(..9);
            let edges: Vec<Vec<BlockId>> = (0..blocks)
                .map(|at| {
                    // Mostly forward edges, so that much of the flow is reducible.
                    let to = |random: &mut fastrand::Rng| match random.u32(..4) {
                        0 => random.usize(..blocks),
                        _ => (at + 1 + random.usize(..3)).min(blocks - 1),
                    };
                    let ways = if at + 1 == blocks { 0 } else { 1 + random.u32(..2) };
                    (0..ways).map(|_| to(&mut random)).collect()
                })
                .collect();
            nested += usize::from(same_paths(&edges, &mut random));
        }
        assert!(
            nested > count / 2 && nested < count,
            "{nested} of {count} without a dispatcher"
        );
    }
}
