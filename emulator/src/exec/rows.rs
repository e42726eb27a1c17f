//! What vertices of a batch have, as engines like it: a row for each component, a lane for each vertex.

use super::wide::lanes::{LANES, Row};

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
