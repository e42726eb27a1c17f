//! Finds values that need variables, because they are used outside the list that defines them.

use super::is_indexed;
use crate::ssa::{Function, Id, Op};
use crate::structure::Statement;
use std::collections::HashMap;

/// A statement list and its place in the nesting.
struct Scope {
    /// The enclosing list.
    outer: Option<usize>,
}

/// Finds the values that are used outside the list that defines them.
struct Scopes<'a> {
    source: &'a Function,
    scopes: Vec<Scope>,
    made: HashMap<Id, usize>,
    used: Vec<(Id, usize)>,
}

/// The values that need variables, in order.
pub(super) fn spilled(source: &Function, statements: &[Statement]) -> Vec<Id> {
    let mut scopes = Scopes {
        source,
        scopes: vec![Scope { outer: None }],
        made: HashMap::new(),
        used: Vec::new(),
    };
    scopes.list(statements, 0);
    scopes.spilled()
}

impl Scopes<'_> {
    fn list(&mut self, statements: &[Statement], scope: usize) {
        for statement in statements {
            match statement {
                Statement::Values(block) => {
                    for id in &self.source.blocks[*block].nodes {
                        let node = self.source.node(*id);
                        if node.op != Op::Phi {
                            self.used
                                .extend(node.args.iter().flatten().map(|lane| (lane.value, scope)));
                        }
                        self.made.insert(*id, scope);
                    }
                }
                Statement::Copies(from, to) => {
                    let block = &self.source.blocks[*to];
                    let way = block.before.iter().position(|before| before == from);
                    let phis = block
                        .nodes
                        .iter()
                        .map(|id| self.source.node(*id))
                        .filter(|node| node.op == Op::Phi);
                    let lanes = phis.filter_map(|node| node.args.get(way?)).flatten();
                    self.used.extend(lanes.map(|lane| (lane.value, scope)));
                }
                Statement::If(truth, yes, no) => {
                    self.used.push((truth.value, scope));
                    self.inner(yes, scope);
                    self.inner(no, scope);
                }
                Statement::Loop(body) | Statement::Once(body) | Statement::IfTarget(_, body) => self.inner(body, scope),
                Statement::Dispatch(cases) => cases.iter().for_each(|(_, steps)| self.inner(steps, scope)),
                Statement::Return => {
                    let lanes = self.source.results.iter().flatten();
                    self.used.extend(lanes.map(|lane| (lane.value, scope)));
                }
                Statement::Break | Statement::Continue | Statement::Discard | Statement::SetTarget(_) => {}
            }
        }
    }

    fn inner(&mut self, statements: &[Statement], outer: usize) {
        self.scopes.push(Scope { outer: Some(outer) });
        self.list(statements, self.scopes.len() - 1);
    }

    /// The values that need variables, in order.
    fn spilled(&self) -> Vec<Id> {
        let leaves = |(id, scope): &(Id, usize)| {
            let node = self.source.node(*id);
            let fixed = matches!(node.op, Op::Constant(_)) || matches!(node.op, Op::Input(input) if !is_indexed(input));
            let made = self.made.get(id)?;
            let mut at = Some(*scope);
            while let Some(scope) = at {
                if scope == *made {
                    return None;
                }
                at = self.scopes[scope].outer;
            }
            (!fixed).then_some(*id)
        };
        let mut ids: Vec<Id> = self.used.iter().filter_map(leaves).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}
