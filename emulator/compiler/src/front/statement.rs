//! Statements: jumps, loops, calls.

use super::{Ev, Frame, Front, LoopTargets, Stop, Walk, place};
use crate::error::Error;
use crate::interface::Stage;
use crate::ir::{Op, Term, Value};
use naga::{Statement, SwitchValue};
use std::collections::HashMap;
use std::ops::Range;

/// Times a loop is unrolled at most.
const MAX_TRIPS: u32 = 256;

/// A loop.
struct Repeated<'a> {
    body: &'a naga::Block,
    /// Statements of the body that a `continue` leaves out; the others run between two rounds.
    split: usize,
    continuing: &'a naga::Block,
    break_if: Option<naga::Handle<naga::Expression>>,
}

impl<'a> Repeated<'a> {
    fn new(
        body: &'a naga::Block,
        continuing: &'a naga::Block,
        break_if: Option<naga::Handle<naga::Expression>>,
    ) -> Self {
        // naga's GLSL reader puts the condition of `do {} while` behind the body, where a `continue` would pass it by;
        // only what that reader made itself has no place.
        let ends = body.span_iter().last().is_some_and(|(last, span)| {
            let leaves = matches!(last, Statement::If { accept, reject, .. }
                if reject.is_empty() && matches!(accept.first(), Some(Statement::Break)));
            leaves && !span.is_defined()
        });
        let whole = matches!(body.first(), Some(Statement::Block(_)));
        let split = match ends && whole && continuing.is_empty() && break_if.is_none() {
            true => 1,
            false => body.len(),
        };
        Self {
            body,
            split,
            continuing,
            break_if,
        }
    }
}

impl<'a> Front<'a> {
    pub(super) fn statements(&mut self, frame: &mut Frame<'a>, block: &'a naga::Block) -> Walk {
        self.some_statements(frame, block, 0..block.len())
    }

    /// Statements of a block by number.
    fn some_statements(&mut self, frame: &mut Frame<'a>, block: &'a naga::Block, part: Range<usize>) -> Walk {
        for (statement, span) in block.span_iter().take(part.end).skip(part.start) {
            if !self.b.reachable() {
                return Ok(());
            }
            self.budget()?;
            let at = span.to_range();
            self.b.span = crate::ir::span(at.clone(), self.b.call);
            self.statement(frame, statement).map_err(|stop| match stop {
                Stop::Error(error) => Stop::Error(error.at(at)),
                other => other,
            })?;
        }
        Ok(())
    }

    fn statement(&mut self, frame: &mut Frame<'a>, statement: &'a Statement) -> Walk {
        match statement {
            Statement::Emit(range) => {
                for expression in range.clone() {
                    let value = self.evaluate(frame, expression)?;
                    // Names that stand for a value, such as WGSL's `let`.
                    if let (Some(name), Ev::Flat(values)) = (frame.function.named_expressions.get(&expression), &value)
                        && (1..=4).contains(&values.len())
                    {
                        self.b.bind(vec![(name.clone(), values.len() as u32)], values);
                    }
                    frame.values.insert(expression, value);
                }
                Ok(())
            }
            Statement::Block(block) => self.statements(frame, block),
            Statement::If {
                condition,
                accept,
                reject,
            } => self.choice(frame, *condition, accept, reject),
            Statement::Switch { selector, cases } => self.switch(frame, *selector, cases),
            Statement::Loop {
                body,
                continuing,
                break_if,
            } => self.repeat(frame, &Repeated::new(body, continuing, *break_if)),
            Statement::Break => {
                let targets = frame
                    .loops
                    .last()
                    .ok_or_else(|| Error::invalid("a break outside of loops"))?;
                self.b.jump(targets.out);
                Ok(())
            }
            Statement::Continue => {
                let targets = frame.loops.iter().rev().find_map(|targets| targets.again);
                self.b
                    .jump(targets.ok_or_else(|| Error::invalid("a continue outside of loops"))?);
                Ok(())
            }
            Statement::Return { value } => {
                if let (Some(value), Some((first, _))) = (value, frame.result) {
                    let values = self.flat(frame, *value)?;
                    for (at, value) in values.into_iter().enumerate() {
                        self.b.write(super::Var(first.0 + at as u32), value);
                    }
                }
                self.b.jump(frame.exit);
                Ok(())
            }
            Statement::Kill => {
                if self.stage == Stage::Vertex {
                    return Err(Error::unsupported("discard in a vertex program").into());
                }
                self.b.end(Term::Discard);
                Ok(())
            }
            Statement::Store { pointer, value } => {
                let place = self.place(frame, *pointer)?;
                let values = self.flat(frame, *value)?;
                self.store(&place, &values)
            }
            Statement::Call {
                function,
                arguments,
                result,
            } => self.call(frame, *function, arguments, *result),
            Statement::ControlBarrier(_) | Statement::MemoryBarrier(_) => Err(Error::unsupported("barriers").into()),
            Statement::ImageStore { .. } => Err(Error::unsupported("stores to images").into()),
            Statement::Atomic { .. } | Statement::ImageAtomic { .. } => {
                Err(Error::unsupported("atomic operations").into())
            }
            _ => Err(Error::unsupported("a statement that this hardware has nothing for").into()),
        }
    }

    fn choice(
        &mut self,
        frame: &mut Frame<'a>,
        condition: naga::Handle<naga::Expression>,
        accept: &'a naga::Block,
        reject: &'a naga::Block,
    ) -> Walk {
        let condition = self.scalar(frame, condition)?;
        if let Some(known) = self.b.known(condition) {
            return self.statements(frame, if known != 0.0 { accept } else { reject });
        }
        let (then, other, join) = (self.b.block(), self.b.block(), self.b.block());
        self.b.branch(condition, then, other);
        for (block, body) in [(then, accept), (other, reject)] {
            self.b.seal(block);
            self.b.start(block);
            self.statements(frame, body)?;
            self.b.jump(join);
        }
        self.join(join);
        Ok(())
    }

    /// Goes on in a block, if anything goes there.
    fn join(&mut self, block: crate::ir::Block) {
        self.b.seal(block);
        if self.b.has_preds(block) {
            self.b.start(block);
        }
    }

    fn switch(
        &mut self,
        frame: &mut Frame<'a>,
        selector: naga::Handle<naga::Expression>,
        cases: &'a [naga::SwitchCase],
    ) -> Walk {
        let selector = self.scalar(frame, selector)?;
        let number = |value: SwitchValue| match value {
            SwitchValue::I32(value) => Some(value as f32),
            SwitchValue::U32(value) => Some(value as f32),
            _ => None,
        };
        let out = self.b.block();
        let blocks: Vec<_> = cases.iter().map(|_| self.b.block()).collect();
        let default = cases.iter().position(|case| number(case.value).is_none());
        let fallback = default.map_or(out, |at| blocks[at]);
        for (case, block) in cases.iter().zip(&blocks) {
            let Some(value) = number(case.value) else { continue };
            let value = self.b.number(value);
            let equal = self.b.op(Op::Eq, &[selector, value]);
            match self.b.known(equal) {
                Some(0.0) => {}
                Some(_) => {
                    self.b.jump(*block);
                    break;
                }
                None => {
                    let next = self.b.block();
                    self.b.branch(equal, *block, next);
                    self.b.seal(next);
                    self.b.start(next);
                }
            }
        }
        self.b.jump(fallback);
        frame.loops.push(LoopTargets { out, again: None });
        for (at, case) in cases.iter().enumerate() {
            self.b.seal(blocks[at]);
            if !self.b.has_preds(blocks[at]) {
                continue;
            }
            self.b.start(blocks[at]);
            self.statements(frame, &case.body)?;
            let next = blocks.get(at + 1).filter(|_| case.fall_through).copied().unwrap_or(out);
            self.b.jump(next);
        }
        frame.loops.pop();
        self.join(out);
        Ok(())
    }

    fn repeat(&mut self, frame: &mut Frame<'a>, parts: &Repeated<'a>) -> Walk {
        let key = std::ptr::from_ref(parts.body) as usize;
        if !self.rolled.contains(&key) {
            let (builder, saved, end) = (self.b.clone(), frame.clone(), self.unroll_end);
            let interface = self.interface.clone();
            let own = self.b.function.values.len() + self.unroll.operations(self.stage);
            self.unroll_end = end.min(own);
            let depth = self.depth;
            let outcome = self.unroll(frame, parts);
            self.unroll_end = end;
            match outcome {
                // It is the loop around that is too long.
                Err(Stop::TooLong) if end < own => return Err(Stop::TooLong),
                Err(Stop::TooLong) => {
                    (self.b, *frame, self.interface, self.depth) = (builder, saved, interface, depth);
                    self.rolled.insert(key);
                    self.budget()?;
                }
                other => return other,
            }
        }
        let (head, again, out) = (self.b.block(), self.b.block(), self.b.block());
        self.b.jump(head);
        self.b.start(head);
        frame.loops.push(LoopTargets {
            out,
            again: Some(again),
        });
        self.some_statements(frame, parts.body, 0..parts.split)?;
        self.b.jump(again);
        frame.loops.pop();
        self.b.seal(again);
        if self.b.has_preds(again) {
            self.b.start(again);
            self.continuing(frame, parts, out)?;
            match parts.break_if {
                Some(condition) if self.b.reachable() => {
                    let condition = self.scalar(frame, condition)?;
                    self.b.branch(condition, out, head);
                }
                _ => self.b.jump(head),
            }
        }
        self.b.seal(head);
        self.join(out);
        Ok(())
    }

    /// Walks a loop once for each time it runs, while its end is known.
    fn unroll(&mut self, frame: &mut Frame<'a>, parts: &Repeated<'a>) -> Walk {
        let out = self.b.block();
        for _ in 0..MAX_TRIPS {
            let again = self.b.block();
            frame.loops.push(LoopTargets {
                out,
                again: Some(again),
            });
            self.some_statements(frame, parts.body, 0..parts.split)?;
            self.b.jump(again);
            frame.loops.pop();
            self.b.seal(again);
            if !self.b.has_preds(again) {
                self.join(out);
                return Ok(());
            }
            self.b.start(again);
            self.continuing(frame, parts, out)?;
            if !self.b.reachable() {
                self.join(out);
                return Ok(());
            }
            if let Some(condition) = parts.break_if {
                let condition = self.scalar(frame, condition)?;
                match self.b.known(condition) {
                    Some(0.0) => {}
                    Some(_) => {
                        self.b.jump(out);
                        self.join(out);
                        return Ok(());
                    }
                    None => return Err(Stop::TooLong),
                }
            }
            self.budget()?;
        }
        Err(Stop::TooLong)
    }

    /// What runs between two rounds, which may be where the loop ends.
    fn continuing(&mut self, frame: &mut Frame<'a>, parts: &Repeated<'a>, out: crate::ir::Block) -> Walk {
        frame.loops.push(LoopTargets { out, again: None });
        self.some_statements(frame, parts.body, parts.split..parts.body.len())?;
        self.statements(frame, parts.continuing)?;
        frame.loops.pop();
        Ok(())
    }

    /// The index of a call. Front ends put an entry point around the source's own, which is no call.
    fn enter(&mut self, function: &naga::Function, caller: u32, span: crate::ir::Span) -> u32 {
        let name = function.name.as_deref().unwrap_or("function");
        // Names from SPIR-V have the types of the arguments behind them.
        let name = name.split('(').next().unwrap_or(name).to_owned();
        if caller == 0 && is_entry(&name) {
            return 0;
        }
        self.b.function.calls.push(crate::ir::Call {
            name,
            caller: Some((caller, span)),
        });
        self.b.function.calls.len() as u32 - 1
    }

    /// Gives the names of arguments the values that they have.
    fn name_arguments(&mut self, function: &naga::Function, values: &[Ev]) {
        for (argument, value) in function.arguments.iter().zip(values) {
            let ty = match self.module.types[argument.ty].inner {
                naga::TypeInner::Pointer { base, .. } => base,
                _ => argument.ty,
            };
            let (Some(name), Ok(count)) = (&argument.name, place::scalars(self.module, ty)) else {
                continue;
            };
            let mut rows = Vec::new();
            place::rows(self.module, ty, name, &mut rows);
            match value {
                Ev::Flat(values) => self.b.bind(rows, values),
                Ev::Place(place::Place {
                    root: place::Root::Vars(first),
                    offset,
                    dynamic,
                    ..
                }) if dynamic.is_empty() => self.b.lend(super::Var(first.0 + offset), count, rows),
                _ => {}
            }
        }
    }

    fn call(
        &mut self,
        frame: &mut Frame<'a>,
        handle: naga::Handle<naga::Function>,
        arguments: &[naga::Handle<naga::Expression>],
        result: Option<naga::Handle<naga::Expression>>,
    ) -> Walk {
        let function = &self.module.functions[handle];
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.value(frame, *argument)?);
        }
        let count = match &function.result {
            Some(result) => place::scalars(self.module, result.ty)?,
            None => 0,
        };
        let vars = self.b.vars(count);
        let exit = self.b.block();
        let (span, caller) = (self.b.span, self.b.call);
        self.b.call = self.enter(function, caller, span);
        self.name_arguments(function, &values);
        self.body(Frame {
            function,
            handle: Some(handle),
            arguments: values,
            locals: HashMap::new(),
            values: HashMap::new(),
            results: HashMap::new(),
            exit,
            result: Some((vars, count)),
            loops: Vec::new(),
        })?;
        (self.b.span, self.b.call) = (span, caller);
        self.join(exit);
        if let Some(result) = result {
            let values: Vec<Value> = (0..count).map(|at| self.b.read(super::Var(vars.0 + at))).collect();
            frame.results.insert(result, Ev::Flat(values));
        }
        Ok(())
    }
}

/// Whether a function is the source's own entry point: front ends call it `main`, or number it.
fn is_entry(name: &str) -> bool {
    let rest = name.strip_prefix("main");
    rest.is_some_and(|rest| rest.chars().all(|c| c == '_' || c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use crate::front::{Coordinates, Source, Unroll, walk};
    use crate::interp::{self, Given, SINGLE};
    use crate::ir::{Input, Output, Term};

    /// A body, and the colour's first component for the numbers of a fragment.
    type Row = (&'static str, fn([f32; 2]) -> f32);

    /// Loops of every kind.
    #[rustfmt::skip]
    const LOOPS: &[Row] = &[
        ("for (int i = 0; i < 4; i++) a += v.x;", |[x, _]| 4.0 * x),
        ("for (int i = 4; i > 0; i -= 2) a += v.x;", |[x, _]| 2.0 * x),
        ("for (int i = 0; i < 0; i++) a += v.x;", |_| 0.0),
        ("for (float t = 0.0; t < v.y; t += 1.0) a += v.x;", |[x, y]| y * x),
        ("for (int i = 0; i < 6; i++) { if (i == 2) continue; a += v.x; }", |[x, _]| 5.0 * x),
        ("for (int i = 0; i < 6; i++) { if (float(i) >= v.y) break; a += v.x; }", |[x, y]| y * x),
        ("for (;;) { a += v.x; if (a > 2.5) break; }", |[x, _]| x * (2.5 / x).floor() + x),
        ("int i = 0; while (i < 3) { i++; a += v.x; }", |[x, _]| 3.0 * x),
        ("float t = 0.0; while (t < v.y) { t += 1.0; if (t == 2.0) continue; a += v.x; }", |[x, y]| (y - f32::from(y >= 2.0)) * x),
        ("int i = 0; do { i++; a += v.x; } while (i < 3);", |[x, _]| 3.0 * x),
        ("int i = 0; do { i++; if (i == 2) continue; a += v.x; } while (i < 4);", |[x, _]| 3.0 * x),
        ("float t = 0.0; do { t += 1.0; if (t == 2.0) continue; a += v.x; } while (t < v.y);", |[x, y]| (y - f32::from(y >= 2.0)) * x),
        ("do { a += v.x; } while (false);", |[x, _]| x),
        ("do { a += v.x; if (v.y > 2.0) break; a += 1.0; } while (false);", |[x, y]| x + f32::from(y <= 2.0)),
        ("float t = 0.0; do { t += 1.0; if (t > 2.5) break; a += v.x; } while (t < v.y);", |[x, y]| y.min(2.0) * x),
        ("for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) { if (j > i) break; a += v.x; }", |[x, _]| 6.0 * x),
        ("for (int i = 0; i < 3; i++) { int j = 0; do { j++; if (j == 1) continue; a += v.x; } while (j < 3); }", |[x, _]| 6.0 * x),
        ("for (int i = 0; i < 3; i++) { for (int j = 0; j < 3; j++) { if (j == 1) continue; a += v.x; } if (i == 1) break; }", |[x, _]| 4.0 * x),
        ("for (int i = 0; i < 4; i++) { switch (i) { case 0: a += 1.0; break; case 2: continue; default: a += v.x; } a += v.y; }", |[x, y]| 1.0 + 2.0 * x + 3.0 * y),
        ("switch (int(v.y)) { case 1: a = 1.0; case 2: a += v.x; break; case 3: a = 7.0; break; default: a = 9.0; }",
         |[x, y]| [9.0, 1.0 + x, x, 7.0, 9.0][y as usize]),
    ];

    const V: [[f32; 2]; 4] = [[0.5, 1.0], [1.0, 2.0], [0.25, 3.0], [2.0, 4.0]];

    /// As naga reads them where there is no other front end, unrolled and as they are.
    #[test]
    fn loops_go_round_as_often_as_they_say() {
        let mut rolled = 0;
        for (body, want) in LOOPS {
            let text = format!(
                "#version 450\nlayout(location = 0) in vec2 v; layout(location = 0) out vec4 c;
                 void main() {{ float a = 0.0; {body} c = vec4(a); }}"
            );
            let options = naga::front::glsl::Options::from(naga::ShaderStage::Fragment);
            let module = naga::front::glsl::Frontend::default()
                .parse(&options, &text)
                .expect(body);
            for unroll in Unroll::ALL {
                let source = Source {
                    coordinates: Coordinates::OpenGl,
                    roles: None,
                    unroll,
                };
                let shader =
                    walk(&module, &module.entry_points[0], &source).unwrap_or_else(|error| panic!("{body}: {error}"));
                let function = shader.function;
                let order = function.order();
                let branches = order
                    .iter()
                    .filter(|block| matches!(function.block(**block).term, Term::Branch(..)));
                rolled += u32::from(unroll == Unroll::Never) * branches.count() as u32;
                let given = Given {
                    uniforms: &[],
                    input: &|lane, input| match input {
                        Input::Varying(slot) => V[lane][slot as usize],
                        _ => 0.0,
                    },
                    sampler: &|_, _, _, _| [[0.0; 4]; 4],
                    rounding: SINGLE,
                    budget: 10_000,
                };
                let outcomes = interp::run(&function, &given).expect("an end");
                for (v, outcome) in V.into_iter().zip(outcomes) {
                    let have = outcome.expect("a colour")[&Output::Color(0)].value;
                    assert!(
                        (have - want(v)).abs() < 1e-5,
                        "{body} {unroll:?}: {have} of {v:?}, {} is wanted",
                        want(v)
                    );
                }
            }
        }
        assert!(rolled > 20, "{rolled}");
    }
}
