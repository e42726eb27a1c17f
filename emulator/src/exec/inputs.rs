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
}
