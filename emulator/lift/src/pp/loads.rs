//! The varying unit, the sampler, loads and stores.

use super::*;

/// A place in memory.
#[derive(Clone, Copy)]
enum Place {
    /// A float by its number.
    Float(i32),
    /// A float at a computed index.
    Computed(Lane),
}

impl Front<'_> {
    pub(super) fn varying(&mut self, unit: &Varying) -> Result<[Lane; 4], Error> {
        let value: [Lane; 4] = match unit.kind.row().origin {
            Origin::Builtin => [self.number(0.0); 4],
            Origin::Memory => self.interpolated(unit),
            Origin::Register => {
                let swizzle = unit.swizzle();
                let lanes = (0..4)
                    .map(|at| self.component(unit.register, swizzle.index(at)))
                    .collect();
                four(&self.modified(lanes, unit.absolute, unit.negate))
            }
        };
        let [x, y, z, w] = value;
        let one = self.number(1.0);
        let value = match unit.kind {
            VaryingKind::Plain | VaryingKind::Register | VaryingKind::Cube | VaryingKind::RegisterCube => value,
            VaryingKind::DivideZ | VaryingKind::RegisterDivideZ => {
                let parts = self.vector(Op::Div, vec![vec![x, y], vec![z, z]], 2);
                [parts[0], parts[1], one, w]
            }
            VaryingKind::DivideW | VaryingKind::RegisterDivideW => {
                let parts = self.vector(Op::Div, vec![vec![x, y, z], vec![w, w, w]], 3);
                [parts[0], parts[1], parts[2], one]
            }
            VaryingKind::Normalize => {
                let vector = vec![x, y, z];
                let parts = self.vector(Op::Normalize, vec![vector], 3);
                [parts[0], parts[1], parts[2], w]
            }
            VaryingKind::FragCoord => four(&self.input(Input::FragCoord, 4)),
            VaryingKind::PointCoord => four(&self.input(Input::PointCoord, 4)),
            VaryingKind::FrontFacing => [self.input(Input::FrontFacing, 1)[0]; 4],
            VaryingKind::Kind1
            | VaryingKind::Kind5
            | VaryingKind::Builtin14
            | VaryingKind::Builtin15
            | VaryingKind::Undocumented(_) => {
                return Err(self.unknown(format!("varying kind {} is not known", unit.kind.code())));
            }
        };
        if let Some(register) = unit.written() {
            self.write(register, unit.mask, &value);
        }
        Ok(value)
    }

    /// Components of the inputs; those not loaded are 0, 0, 0, 1.
    pub(super) fn interpolated(&mut self, unit: &Varying) -> [Lane; 4] {
        let (zero, one) = (self.number(0.0), self.number(1.0));
        let mut value = [zero, zero, zero, one];
        let count = unit.alignment.components();
        let lanes = match unit.offset() {
            None => self.input(Input::Stage(unit.index << unit.alignment.shift()), count as u8),
            Some(scalar) => {
                let first = self.place(unit.index as i32, unit.alignment, Some(scalar));
                (0..count as i32)
                    .map(|at| {
                        let number = self.place_number(first, at);
                        self.push(Op::Input(Input::StageAt), &[number])
                    })
                    .collect()
            }
        };
        value.iter_mut().zip(lanes).for_each(|(value, lane)| *value = lane);
        value
    }

    pub(super) fn sample(
        &mut self,
        unit: &Sampler,
        coordinates: &[Lane; 4],
        early_bias: Option<Lane>,
    ) -> Result<(), Error> {
        if unit.offset().is_some() {
            return Err(self.unknown("a texture whose number is computed"));
        }
        let cube = unit.is_cube();
        let mut args = vec![coordinates[..if cube { 3 } else { 2 }].to_vec()];
        let level = match unit.level() {
            LevelOfDetail::Implicit => Level::Implicit,
            LevelOfDetail::Bias(scalar) => {
                args.push(vec![early_bias.unwrap_or_else(|| self.scalar(scalar))]);
                Level::Bias
            }
            LevelOfDetail::Explicit(scalar) => {
                args.push(vec![self.scalar(scalar)]);
                Level::Exact
            }
        };
        let declared = self
            .interface
            .samplers
            .iter()
            .find(|sampler| sampler.number == unit.index);
        match declared {
            None => return Err(Error::interface(format!("no symbol for texture {}", unit.index))),
            Some(declared) if declared.cube != cube => {
                let what = format!("texture {} as a plane here and as a cube there", unit.index);
                return Err(self.unknown(what));
            }
            Some(_) => {}
        }
        let op = Op::Texture {
            sampler: unit.index,
            cube,
            level,
        };
        let texel = self.vector(op, args, 4);
        self.set_pipeline(Register::TEXTURE, &texel);
        Ok(())
    }

    pub(super) fn set_pipeline(&mut self, register: Register, lanes: &[Lane]) {
        if let Some(at) = register.index().checked_sub(Register::CONST0.index()) {
            self.pipeline[at] = four(lanes);
        }
    }

    fn place(&mut self, index: i32, alignment: Alignment, offset: Option<Scalar>) -> Place {
        let Some(offset) = offset else {
            return Place::Float(index.wrapping_shl(alignment.shift()));
        };
        let offset = self.scalar(offset);
        let whole = self.push(Op::Trunc, &[offset]);
        let (base, unit) = (
            self.number(index as f32),
            self.number((1u32 << alignment.shift()) as f32),
        );
        let moved = self.push(Op::Add, &[whole, base]);
        Place::Computed(self.push(Op::Mul, &[moved, unit]))
    }

    /// A place's index plus an offset in floats.
    fn place_number(&mut self, place: Place, further: i32) -> Lane {
        match place {
            Place::Float(at) => self.number((at + further) as f32),
            Place::Computed(at) => {
                let further = self.number(further as f32);
                self.push(Op::Add, &[at, further])
            }
        }
    }

    pub(super) fn load(&mut self, unit: &Load) -> Result<(), Error> {
        let place = self.place(unit.signed_index(), unit.alignment, unit.offset());
        let count = unit.alignment.components();
        let mut lanes = match (unit.source, place) {
            (LoadSource::Uniform, Place::Float(first)) => self.uniforms(first.max(0) as u32, count),
            (LoadSource::Uniform, Place::Computed(_)) => (0..count as i32)
                .map(|at| {
                    let number = self.place_number(place, at);
                    self.push(Op::Input(Input::UniformAt), &[number])
                })
                .collect(),
            (LoadSource::Temporary, _) => (0..count as i32).map(|at| self.temporary(place, at)).collect(),
            (LoadSource::Undocumented(source), _) => {
                return Err(self.unknown(format!("load source {source} is not known")));
            }
        };
        if self.exact && unit.source == LoadSource::Uniform {
            let width = lanes.len();
            lanes = self.vector(Op::Half, vec![lanes], width);
        }
        let zero = self.number(0.0);
        lanes.resize(4, zero);
        self.set_pipeline(Register::UNIFORM, &lanes);
        Ok(())
    }

    /// Uniforms by index, including those that are part of the program.
    pub(super) fn uniforms(&mut self, first: u32, count: usize) -> Vec<Lane> {
        let floats = first..first + count as u32;
        let constants: Vec<_> = floats.clone().map(|float| self.interface.constant(float)).collect();
        if constants.iter().all(Option::is_none) && floats.clone().all(|float| self.is_there(float)) {
            return self.input(Input::Uniform(first), count as u8);
        }
        let lanes = floats.zip(constants).map(|(float, constant)| match constant {
            Some(value) => self.number(value),
            None if self.is_there(float) => self.input(Input::Uniform(float), 1)[0],
            // Nothing is stored between two uniforms.
            None => self.number(0.0),
        });
        lanes.collect()
    }

    pub(super) fn is_there(&self, float: u32) -> bool {
        self.interface.uniforms.is_empty() || self.interface.place(float).is_some()
    }

    fn temporary(&mut self, place: Place, further: i32) -> Lane {
        if let (Place::Float(at), false) = (place, self.addressed) {
            return self.builder.read(self.block, temporary(at + further));
        }
        let number = self.place_number(place, further + MIDDLE);
        self.push(Op::Load, &[number])
    }

    pub(super) fn store(&mut self, unit: &Store) -> Result<(), Error> {
        if unit.reads_tile() {
            let what = match unit.target {
                StoreTarget::Depth => "depth",
                StoreTarget::TemporaryOrColor | StoreTarget::Undocumented(_) => "colour",
            };
            return Err(self.unknown(format!("reading the framebuffer's {what}")));
        }
        let place = self.place(unit.signed_index(), unit.alignment, unit.offset());
        for at in 0..unit.alignment.components() as i32 {
            let mut value = self.scalar(unit.first().behind(at as u32));
            if self.exact {
                value = self.push(Op::Half, &[value]);
            }
            match place {
                Place::Float(first) if !self.addressed => {
                    self.builder.write(self.block, temporary(first + at), value);
                }
                _ => {
                    let number = self.place_number(place, at + MIDDLE);
                    self.push(Op::Store, &[number, value]);
                }
            }
        }
        Ok(())
    }
}

fn temporary(float: i32) -> Variable {
    TEMPORARIES.wrapping_add_signed(float)
}
