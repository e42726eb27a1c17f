//! What fragments of a primitive get from its vertices: planes over the picture, divided by the plane of 1/w where the
//! primitive is in perspective.

/// Varyings of a fragment program, as vec4 slots.
pub const SLOTS: usize = 12;

/// A value that is linear over the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Plane {
    /// Value at the primitive's origin.
    pub base: f32,
    /// Change per column.
    pub dx: f32,
    /// Change per row.
    pub dy: f32,
}

impl Plane {
    /// The plane's value at a distance from the primitive's origin; every engine computes it in this order.
    #[inline(always)]
    pub fn at(&self, x: f32, y: f32) -> f32 {
        self.dx * x + (self.dy * y + self.base)
    }
}

/// The inputs of one primitive.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// Where planes have their base, in pixels.
    pub origin: [f32; 2],
    /// All of the primitive has one w: varyings are planes themselves.
    pub flat: bool,
    /// 1/w.
    pub inverse_w: Plane,
    /// Depth in the window, 0 to 1.
    pub z: Plane,
    /// Each varying component, times 1/w unless the primitive is flat.
    pub varyings: [[Plane; 4]; SLOTS],
    /// `gl_PointCoord`.
    pub point: [Plane; 2],
    /// The front is seen.
    pub front: bool,
}

impl Default for Inputs {
    fn default() -> Self {
        Self {
            origin: [0.0; 2],
            flat: true,
            inverse_w: Plane {
                base: 1.0,
                dx: 0.0,
                dy: 0.0,
            },
            z: Plane::default(),
            varyings: [[Plane::default(); 4]; SLOTS],
            point: [Plane::default(); 2],
            front: true,
        }
    }
}

impl Inputs {
    /// Distance of a pixel's centre from the origin.
    #[inline(always)]
    pub fn offset(&self, column: u32, row: u32) -> [f32; 2] {
        [column as f32 + 0.5 - self.origin[0], row as f32 + 0.5 - self.origin[1]]
    }

    /// A component of the varyings at a distance from the origin; behind the last slot are zeros.
    #[inline(always)]
    pub fn varying(&self, component: usize, [x, y]: [f32; 2]) -> f32 {
        let slot = self.varyings.get(component / 4);
        let linear = slot.map_or(0.0, |slot| slot[component % 4].at(x, y));
        match self.flat {
            true => linear,
            false => linear * (1.0 / self.inverse_w.at(x, y)),
        }
    }
}

/// Primitives whose inputs are [side by side](ManyInputs).
pub const MANY: usize = 16;

/// A plane of each of some primitives.
#[derive(Clone, Debug)]
pub struct Planes {
    /// Values at the primitives' origins.
    pub base: [f32; MANY],
    /// Changes per column.
    pub dx: [f32; MANY],
    /// Changes per row.
    pub dy: [f32; MANY],
}

impl Default for Planes {
    fn default() -> Self {
        Self {
            base: [0.0; MANY],
            dx: [0.0; MANY],
            dy: [0.0; MANY],
        }
    }
}

impl Planes {
    /// One primitive's.
    #[inline]
    pub fn get(&self, at: usize) -> Plane {
        Plane {
            base: self.base[at],
            dx: self.dx[at],
            dy: self.dy[at],
        }
    }

    fn set(&mut self, at: usize, plane: Plane) {
        (self.base[at], self.dx[at], self.dy[at]) = (plane.base, plane.dx, plane.dy);
    }
}

/// [`Inputs`] of some primitives. Only the used components are set; the rest is stale.
#[derive(Clone, Debug, Default)]
pub struct ManyInputs {
    /// Where planes have their base, in pixels: columns and rows.
    pub origin: [[f32; MANY]; 2],
    /// 1/w.
    pub inverse_w: Planes,
    /// Depth in the window.
    pub z: Planes,
    /// Each varying component, times 1/w unless the primitive is flat.
    pub varyings: [[Planes; 4]; SLOTS],
    /// `gl_PointCoord`.
    pub point: [Planes; 2],
}

impl ManyInputs {
    /// Sets a primitive's, of its varyings the slots and components that are used.
    pub fn set(&mut self, at: usize, inputs: &Inputs, used: &[(usize, usize)]) {
        for (into, from) in self.origin.iter_mut().zip(inputs.origin) {
            into[at] = from;
        }
        self.inverse_w.set(at, inputs.inverse_w);
        self.z.set(at, inputs.z);
        for (into, from) in self.point.iter_mut().zip(inputs.point) {
            into.set(at, from);
        }
        for (slot, component) in used {
            self.varyings[*slot][*component].set(at, inputs.varyings[*slot][*component]);
        }
    }
}
