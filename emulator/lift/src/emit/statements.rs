//! Statements: lists, loops, jumps, and copies for phis.

use super::*;

impl Emitter<'_> {
    pub(super) fn list(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.one(statement);
        }
        self.flush();
    }

    pub(super) fn nested(&mut self, statements: &[Statement]) -> naga::Block {
        self.flush();
        let outer = std::mem::take(&mut self.body);
        self.list(statements);
        naga::Block::from_vec(std::mem::replace(&mut self.body, outer))
    }

    pub(super) fn one(&mut self, statement: &Statement) {
        match statement {
            Statement::Values(block) => {
                let nodes = self.source.blocks[*block].nodes.clone();
                nodes.into_iter().for_each(|id| self.node(id));
            }
            Statement::Copies(from, to) => self.copies(*from, *to),
            Statement::If(truth, yes, no) => {
                let condition = self.gather(&[*truth]);
                let (accept, reject) = (self.nested(yes), self.nested(no));
                self.statement(naga::Statement::If {
                    condition,
                    accept,
                    reject,
                });
            }
            Statement::Loop(body) => {
                let body = self.nested(body);
                self.statement(naga::Statement::Loop {
                    body,
                    continuing: naga::Block::new(),
                    break_if: None,
                });
            }
            Statement::Once(body) => {
                let mut body = self.nested(body);
                // A loop that ends by a break, which every writer supports. A continue of an outer loop cannot pass
                // through it, so such lists become switches.
                if continues(&body) {
                    let selector = self.pre(Expression::Literal(Literal::I32(0)));
                    self.statement(naga::Statement::Switch {
                        selector,
                        cases: vec![naga::SwitchCase {
                            value: naga::SwitchValue::Default,
                            body,
                            fall_through: false,
                        }],
                    });
                    return;
                }
                if !ends(&body) {
                    body.push(naga::Statement::Break, Span::UNDEFINED);
                }
                self.statement(naga::Statement::Loop {
                    body,
                    continuing: naga::Block::new(),
                    break_if: None,
                });
            }
            Statement::Break => self.statement(naga::Statement::Break),
            Statement::Continue => self.statement(naga::Statement::Continue),
            Statement::Return => {
                let components = self.results();
                let value = self.result.map(|ty| self.push(Expression::Compose { ty, components }));
                self.statement(naga::Statement::Return { value });
            }
            Statement::Discard => {
                self.statement(naga::Statement::Kill);
                self.nothing();
            }
            Statement::SetTarget(to) => self.set_target(*to),
            Statement::IfTarget(to, steps) => {
                let condition = self.is_target(*to);
                let accept = self.nested(steps);
                self.statement(naga::Statement::If {
                    condition,
                    accept,
                    reject: naga::Block::new(),
                });
            }
            Statement::Dispatch(cases) => self.dispatch(cases),
        }
    }

    /// An unused result, for languages that require one after a discard.
    pub(super) fn nothing(&mut self) {
        let value = self.result.map(|ty| self.pre(Expression::ZeroValue(ty)));
        self.statement(naga::Statement::Return { value });
    }

    pub(super) fn results(&mut self) -> Vec<Value> {
        let results = self.source.results.clone();
        let mut values: Vec<_> = results.iter().map(|lanes| self.gather(lanes)).collect();
        if self.stage == ShaderStage::Vertex && self.convention.rows_down && !self.interface.in_window {
            let [x, y, z, w] = [0, 1, 2, 3].map(|at| self.component(values[0], 4, at));
            let y = self.push(Expression::Unary {
                op: naga::UnaryOperator::Negate,
                expr: y,
            });
            values[0] = self.compose(4, vec![x, y, z, w]);
        }
        values
    }

    /// Phis of one block are assigned simultaneously.
    pub(super) fn copies(&mut self, from: usize, to: usize) {
        let block = &self.source.blocks[to];
        let Some(way) = block.before.iter().position(|before| *before == from) else {
            return;
        };
        let phis: Vec<Id> = block
            .nodes
            .iter()
            .copied()
            .filter(|id| self.phis.contains_key(id))
            .collect();
        let values: Vec<_> = phis
            .iter()
            .map(|id| self.gather(&self.source.node(*id).args[way].clone()))
            .collect();
        for (id, value) in phis.into_iter().zip(values) {
            let pointer = self.pre(Expression::LocalVariable(self.phis[&id]));
            self.statement(naga::Statement::Store { pointer, value });
        }
    }

    pub(super) fn set_target(&mut self, to: u32) {
        let Some(target) = self.target else { return };
        let pointer = self.pre(Expression::LocalVariable(target));
        let value = self.pre(Expression::Literal(Literal::U32(to)));
        self.statement(naga::Statement::Store { pointer, value });
    }

    pub(super) fn is_target(&mut self, to: u32) -> Value {
        let Some(target) = self.target else {
            return self.pre(Expression::Literal(Literal::Bool(false)));
        };
        let pointer = self.pre(Expression::LocalVariable(target));
        let left = self.push(Expression::Load { pointer });
        let right = self.pre(Expression::Literal(Literal::U32(to)));
        self.binary(naga::BinaryOperator::Equal, left, right)
    }

    pub(super) fn dispatch(&mut self, cases: &[(u32, Vec<Statement>)]) {
        let Some(target) = self.target else { return };
        self.flush();
        let outer = std::mem::take(&mut self.body);
        let pointer = self.pre(Expression::LocalVariable(target));
        let selector = self.push(Expression::Load { pointer });
        let mut arms = Vec::new();
        for (number, steps) in cases {
            arms.push(naga::SwitchCase {
                value: naga::SwitchValue::U32(*number),
                body: self.nested(steps),
                fall_through: false,
            });
        }
        arms.push(naga::SwitchCase {
            value: naga::SwitchValue::Default,
            body: naga::Block::new(),
            fall_through: false,
        });
        self.statement(naga::Statement::Switch { selector, cases: arms });
        let body = naga::Block::from_vec(std::mem::replace(&mut self.body, outer));
        self.statement(naga::Statement::Loop {
            body,
            continuing: naga::Block::new(),
            break_if: None,
        });
    }
}

/// Whether the list ends by leaving its construct.
pub(super) fn ends(block: &naga::Block) -> bool {
    use naga::Statement::{Block, Break, Continue, If, Kill, Return};
    match block.last() {
        Some(Break | Continue | Return { .. } | Kill) => true,
        Some(If { accept, reject, .. }) => ends(accept) && ends(reject),
        Some(Block(inner)) => ends(inner),
        _ => false,
    }
}

/// Whether the list contains a continue of an outer loop.
pub(super) fn continues(block: &naga::Block) -> bool {
    block.iter().any(|statement| match statement {
        naga::Statement::Continue => true,
        naga::Statement::If { accept, reject, .. } => continues(accept) || continues(reject),
        naga::Statement::Block(inner) => continues(inner),
        naga::Statement::Switch { cases, .. } => cases.iter().any(|case| continues(&case.body)),
        _ => false,
    })
}
