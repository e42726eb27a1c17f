//! Rows of lanes and masks of them, and what vertices of a batch have: a row for each component, a lane for each vertex.

/// Lanes of a row.
pub const LANES: usize = 128;

/// A number for every lane, where vector units like to find it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Row(pub(super) [f32; LANES]);

impl Row {
    /// The same number for every lane.
    pub const fn splat(value: f32) -> Self {
        Self([value; LANES])
    }
}

impl std::ops::Deref for Row {
    type Target = [f32; LANES];

    #[inline(always)]
    fn deref(&self) -> &[f32; LANES] {
        &self.0
    }
}

impl std::ops::DerefMut for Row {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f32; LANES] {
        &mut self.0
    }
}

/// A bit for every lane.
pub type Mask = u128;

/// Vertices of a batch at most.
pub const MAX_VERTICES: usize = LANES;

/// Attributes or outputs of a batch of vertices: vec4s by their number, in each a lane for every vertex.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VertexRows {
    rows: Vec<[Row; 4]>,
}

impl VertexRows {
    /// So many vec4s of each vertex, all zero.
    pub fn new(count: usize) -> Self {
        let mut rows = Self::default();
        rows.clear(count);
        rows
    }

    /// Vec4s given vertex after vertex, `count` of each; vertices beyond [`MAX_VERTICES`] are left out.
    pub fn of(values: &[[f32; 4]], count: usize) -> Self {
        let mut rows = Self::new(count);
        for (vertex, values) in values.chunks(count.max(1)).enumerate().take(MAX_VERTICES) {
            for (number, value) in values.iter().enumerate() {
                rows.set(vertex, number, *value);
            }
        }
        rows
    }

    /// So many vec4s of each vertex from now on, all zero.
    pub fn clear(&mut self, count: usize) {
        self.rows.clear();
        self.rows.resize(count, [Row::splat(0.0); 4]);
    }

    /// Vec4s that a vertex has.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// A vertex's vec4; zero where there is none.
    pub fn get(&self, vertex: usize, number: usize) -> [f32; 4] {
        let row = self.rows.get(number).filter(|_| vertex < MAX_VERTICES);
        row.map_or([0.0; 4], |[x, y, z, w]| [x[vertex], y[vertex], z[vertex], w[vertex]])
    }

    /// Sets a vertex's vec4; one that is not there stays so.
    pub fn set(&mut self, vertex: usize, number: usize, value: [f32; 4]) {
        if let Some(rows) = self.rows.get_mut(number).filter(|_| vertex < MAX_VERTICES) {
            (0..4).for_each(|component| rows[component][vertex] = value[component]);
        }
    }

    /// All that a vertex has.
    pub fn vertex(&self, vertex: usize) -> impl Iterator<Item = [f32; 4]> {
        (0..self.count()).map(move |number| self.get(vertex, number))
    }

    /// The four rows of a vec4.
    pub(crate) fn four(&self, number: usize) -> Option<&[Row; 4]> {
        self.rows.get(number)
    }

    /// The four rows of a vec4.
    pub(crate) fn four_mut(&mut self, number: usize) -> Option<&mut [Row; 4]> {
        self.rows.get_mut(number)
    }
}
