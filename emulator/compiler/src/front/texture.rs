//! Texture look-ups and derivatives.

use super::{Coordinates, Ev, Frame, Front, Walk};
use crate::error::Error;
use crate::interface::Stage;
use crate::ir::{Lod, Op, Value};
use naga::{DerivativeAxis, Expression, Handle, SampleLevel};

impl<'a> Front<'a> {
    pub(super) fn sample(&mut self, frame: &mut Frame<'a>, expression: &'a Expression) -> Walk<Vec<Value>> {
        let Expression::ImageSample {
            image,
            gather,
            coordinate,
            array_index,
            offset,
            level,
            depth_ref,
            ..
        } = expression
        else {
            return Err(Error::invalid("no look-up").into());
        };
        if self.stage == Stage::Vertex {
            return Err(Error::unsupported("textures in a vertex program").into());
        }
        let missing = [
            (gather.is_some(), "gathering texels"),
            (array_index.is_some(), "arrays of textures"),
            (offset.is_some(), "offsets in texels"),
            (depth_ref.is_some(), "comparisons with a shadow map"),
        ];
        if let Some((_, name)) = missing.into_iter().find(|(there, _)| *there) {
            return Err(Error::unsupported(name).into());
        }
        let Ev::Handle(global) = self.value(frame, *image)? else {
            return Err(Error::unsupported("a texture that is chosen while running").into());
        };
        let unit = *self
            .units
            .get(&global)
            .ok_or_else(|| Error::unsupported("a texture that is neither two-dimensional nor a cube map"))?;
        let cube = self.interface.samplers[unit as usize].cube;
        let mut args = self.flat(frame, *coordinate)?;
        args.truncate(if cube { 3 } else { 2 });
        let lod = match level {
            SampleLevel::Auto => Lod::Implicit,
            SampleLevel::Zero => {
                args.push(self.b.number(0.0));
                Lod::Explicit
            }
            SampleLevel::Exact(level) => {
                args.push(self.scalar(frame, *level)?);
                Lod::Explicit
            }
            SampleLevel::Bias(bias) => {
                args.push(self.scalar(frame, *bias)?);
                Lod::Bias
            }
            SampleLevel::Gradient { .. } => {
                return Err(Error::unsupported("look-ups with given gradients").into());
            }
        };
        let texture = self.b.op(Op::Texture { unit, cube, lod }, &args);
        Ok((0..4).map(|lane| self.b.op(Op::Lane(lane), &[texture])).collect())
    }

    pub(super) fn derivative(
        &mut self,
        frame: &mut Frame<'a>,
        axis: DerivativeAxis,
        expr: Handle<Expression>,
    ) -> Walk<Vec<Value>> {
        if self.stage == Stage::Vertex {
            return Err(Error::unsupported("derivatives in a vertex program").into());
        }
        let values = self.flat(frame, expr)?;
        // Rows count upwards in OpenGL, downwards elsewhere.
        let down = self.coordinates != Coordinates::OpenGl;
        let along = |front: &mut Self, op: Op, value: Value| {
            let value = front.b.op(op, &[value]);
            if op == Op::Ddy && down {
                front.b.op(Op::Neg, &[value])
            } else {
                value
            }
        };
        Ok(values
            .into_iter()
            .map(|value| match axis {
                DerivativeAxis::X => along(self, Op::Ddx, value),
                DerivativeAxis::Y => along(self, Op::Ddy, value),
                DerivativeAxis::Width => {
                    let (x, y) = (self.b.op(Op::Ddx, &[value]), self.b.op(Op::Ddy, &[value]));
                    let (x, y) = (self.b.op(Op::Abs, &[x]), self.b.op(Op::Abs, &[y]));
                    self.b.op(Op::Add, &[x, y])
                }
            })
            .collect())
    }
}
