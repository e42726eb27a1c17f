//! Parts of composites, loads and stores.

use super::place::{self, Dynamic, Place, Root};
use super::{Coordinates, Ev, Frame, Front, Stop, Var, Walk};
use crate::error::Error;
use crate::interface::Stage;
use crate::ir::{Op, Value};
use naga::{Expression, Handle, ScalarKind};

/// Elements of an array that a ladder of selects goes through at most, by stage; longer ones go to memory.
const LADDER_VERTEX: u32 = 64;
const LADDER_FRAGMENT: u32 = 4;

impl<'a> Front<'a> {
    pub(super) fn access_index(&mut self, frame: &mut Frame<'a>, base: Handle<Expression>, index: u32) -> Walk<Ev> {
        let (offset, count, parts) = place::part(self.module, self.inner(frame, base), index)?;
        if index >= parts {
            return Err(Error::invalid(format!("index {index} into something of {parts} parts")).into());
        }
        Ok(match self.value(frame, base)? {
            Ev::Flat(values) => {
                let part = values.get(offset as usize..(offset + count) as usize);
                Ev::Flat(part.ok_or_else(|| Error::invalid("an index past the end"))?.to_vec())
            }
            Ev::Place(mut place) => {
                place.offset += offset;
                Ev::Place(place)
            }
            Ev::Handle(_) => return Err(Error::unsupported("arrays of textures").into()),
        })
    }

    pub(super) fn access(
        &mut self,
        frame: &mut Frame<'a>,
        base: Handle<Expression>,
        index: Handle<Expression>,
    ) -> Walk<Ev> {
        let (_, stride, count) = place::part(self.module, self.inner(frame, base), 0)?;
        let signed = self.kind(frame, index) != ScalarKind::Uint;
        let index = self.scalar(frame, index)?;
        if let Some(known) = self.b.known(index) {
            // Outside of the array anything may come: the nearest element does.
            let at = known.clamp(0.0, count.saturating_sub(1) as f32) as u32;
            return self.access_index(frame, base, at);
        }
        match self.value(frame, base)? {
            Ev::Flat(values) => {
                let values = (0..stride).map(|component| {
                    let elements: Vec<Value> = (0..count)
                        .map(|at| values[(at * stride + component) as usize])
                        .collect();
                    self.ladder(index, &elements)
                });
                Ok(Ev::Flat(values.collect()))
            }
            Ev::Place(mut place) => {
                let index = self.within(&place, index, count, signed);
                place.dynamic.push(Dynamic { index, stride, count });
                Ok(Ev::Place(place))
            }
            Ev::Handle(_) => Err(Error::unsupported("arrays of textures").into()),
        }
    }

    /// The index as memory is given it. WGSL promises that one outside of an array reads nothing else: the nearest
    /// element comes, as ladders of selects give it anyway.
    fn within(&mut self, place: &Place, index: Value, count: u32, signed: bool) -> Value {
        let in_memory = match place.root {
            Root::Vars(_) => false,
            Root::Uniforms(_) => self.stage == Stage::Fragment,
            Root::Memory(_) => true,
        };
        if self.coordinates != Coordinates::WebGpu || !in_memory {
            return index;
        }
        let (first, last) = (self.b.number(0.0), self.b.number(count.saturating_sub(1) as f32));
        let index = match signed {
            true => self.b.op(Op::Max, &[index, first]),
            false => index,
        };
        self.b.op(Op::Min, &[index, last])
    }

    /// One of several values by an index that is not known.
    fn ladder(&mut self, index: Value, elements: &[Value]) -> Value {
        let Some((last, rest)) = elements.split_last() else {
            return self.b.number(0.0);
        };
        let mut value = *last;
        for (at, element) in rest.iter().enumerate().rev() {
            let number = self.b.number(at as f32 + 0.5);
            let below = self.b.op(Op::Lt, &[index, number]);
            value = self.b.op(Op::Select, &[below, *element, value]);
        }
        value
    }

    /// Whether an index that is not known may be resolved by selects.
    fn by_ladder(&self, dynamic: &[Dynamic]) -> bool {
        let elements = dynamic
            .iter()
            .fold(1u32, |product, index| product.saturating_mul(index.count));
        elements
            <= match self.stage {
                Stage::Vertex => LADDER_VERTEX,
                Stage::Fragment => LADDER_FRAGMENT,
            }
    }

    /// Index times stride, summed up; nothing when there is no index.
    fn address(&mut self, dynamic: &[Dynamic]) -> Value {
        let mut sum = self.b.number(0.0);
        for index in dynamic {
            let stride = self.b.number(index.stride as f32);
            let product = self.b.op(Op::Mul, &[index.index, stride]);
            sum = self.b.op(Op::Add, &[sum, product]);
        }
        sum
    }

    /// Scalars from a place on.
    pub(super) fn load(&mut self, place: &Place, count: u32) -> Walk<Vec<Value>> {
        let mut values = Vec::new();
        let address = match place.root {
            Root::Memory(_) => self.address(&place.dynamic),
            _ => self.b.number(0.0),
        };
        for at in 0..count {
            let offset = place.offset + at;
            let value = match (place.root, place.dynamic.as_slice()) {
                (Root::Vars(first), []) => self.b.read(Var(first.0 + offset)),
                (Root::Uniforms(first), []) => self.b.op(Op::Uniform(first + offset), &[]),
                (Root::Memory(first), _) => self.b.op(Op::Load(first + offset), &[address]),
                (Root::Vars(first), dynamic) => {
                    if !self.by_ladder(dynamic) {
                        return Err(Stop::Demote(place.owner));
                    }
                    self.nested(dynamic, offset, &mut |front, offset| {
                        front.b.read(Var(first.0 + offset))
                    })
                }
                (Root::Uniforms(first), [only]) => {
                    let op = Op::UniformAt {
                        base: first + offset,
                        stride: only.stride,
                        count: only.count,
                    };
                    self.b.op(op, &[only.index])
                }
                (Root::Uniforms(first), [rest @ .., last]) => {
                    let (stride, count, index) = (last.stride, last.count, last.index);
                    self.nested(rest, offset, &mut |front, offset| {
                        let base = first + offset;
                        front.b.op(Op::UniformAt { base, stride, count }, &[index])
                    })
                }
            };
            values.push(value);
        }
        Ok(values)
    }

    /// A ladder for each index.
    fn nested(&mut self, dynamic: &[Dynamic], offset: u32, read: &mut dyn FnMut(&mut Self, u32) -> Value) -> Value {
        let Some((index, rest)) = dynamic.split_first() else {
            return read(self, offset);
        };
        let elements: Vec<Value> = (0..index.count)
            .map(|at| self.nested(rest, offset + at * index.stride, read))
            .collect();
        self.ladder(index.index, &elements)
    }

    /// Sets scalars from a place on.
    pub(super) fn store(&mut self, place: &Place, values: &[Value]) -> Walk {
        match (place.root, place.dynamic.as_slice()) {
            (Root::Vars(first), []) => {
                for (at, value) in values.iter().enumerate() {
                    self.b.assign(Var(first.0 + place.offset + at as u32), *value);
                }
            }
            (Root::Memory(first), dynamic) => {
                let address = self.address(dynamic);
                for (at, value) in values.iter().enumerate() {
                    self.b
                        .op(Op::Store(first + place.offset + at as u32), &[address, *value]);
                }
            }
            (Root::Vars(first), dynamic) => {
                if !self.by_ladder(dynamic) {
                    return Err(Stop::Demote(place.owner));
                }
                let address = self.address(dynamic);
                self.store_everywhere(dynamic, first.0 + place.offset, 0, address, values);
            }
            (Root::Uniforms(_), _) => return Err(Error::unsupported("a store to a uniform").into()),
        }
        Ok(())
    }

    /// Writes each element that an index may name, with what it has where it is another one.
    fn store_everywhere(&mut self, dynamic: &[Dynamic], first: u32, offset: u32, address: Value, values: &[Value]) {
        if let Some((index, rest)) = dynamic.split_first() {
            for at in 0..index.count {
                self.store_everywhere(rest, first, offset + at * index.stride, address, values);
            }
            return;
        }
        let number = self.b.number(offset as f32);
        let equal = self.b.op(Op::Eq, &[address, number]);
        for (at, value) in values.iter().enumerate() {
            let var = Var(first + offset + at as u32);
            let old = self.b.read(var);
            let new = self.b.op(Op::Select, &[equal, *value, old]);
            self.b.assign(var, new);
        }
    }
}
