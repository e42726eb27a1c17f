//! The attributes and outputs of a batch of vertices: a row for each component, a lane for each vertex.

pub(crate) use num::rows::{LANES, Mask, Row};

/// Vertices of a batch at most.
pub const MAX_VERTICES: usize = LANES;

/// Where engines have the rows of a batch of vertices.
pub(super) mod row {
    /// First of the attributes; in front of them are the engine's own.
    pub(crate) const ATTRIBUTES: u16 = 64;
    /// First of the outputs.
    pub(crate) const OUTPUTS: u16 = 128;
    /// Behind the last of the outputs, where more of the engine's own are.
    pub(crate) const RESULTS: u16 = 192;
}

/// Vec4s of a kind that an instruction can name.
const MOST: usize = (row::OUTPUTS - row::ATTRIBUTES) as usize / 4;

/// What an attribute is that vertices do not have ([I]).
pub(crate) const MISSING: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

/// Attributes and outputs of a batch of vertices: vec4s by their number, in each a lane for every vertex. They are where
/// engines compute with them, so nothing is copied to and fro.
#[derive(Clone, Debug, PartialEq)]
pub struct VertexRows {
    rows: Vec<Row>,
    attributes: usize,
    outputs: usize,
}

impl VertexRows {
    /// Room for a batch without attributes and outputs.
    pub const EMPTY: Self = Self {
        rows: Vec::new(),
        attributes: 0,
        outputs: 0,
    };

    /// Rows for `attributes` and `outputs` of each vertex, at most sixteen of each, all zero.
    pub fn new(attributes: usize, outputs: usize) -> Self {
        let mut rows = Self::EMPTY;
        rows.clear(attributes, outputs);
        rows
    }

    /// Attributes given vertex after vertex, `count` of each, and `outputs` outputs, all zero; vertices beyond [`MAX_VERTICES`]
    /// are left out.
    pub fn of(values: &[[f32; 4]], count: usize, outputs: usize) -> Self {
        let mut rows = Self::new(count, outputs);
        for (vertex, values) in values.chunks(count.max(1)).enumerate().take(MAX_VERTICES) {
            for (number, value) in values.iter().enumerate() {
                if let Some(rows) = rows.attribute_mut(number) {
                    put(rows, vertex, *value);
                }
            }
        }
        rows
    }

    /// Changes the number of attributes and outputs, and sets all of them to zero.
    pub fn clear(&mut self, attributes: usize, outputs: usize) {
        (self.attributes, self.outputs) = (attributes.min(MOST), outputs.min(MOST));
        self.at_least(row::RESULTS.into());
        let first = usize::from(row::ATTRIBUTES);
        self.rows[first..first + 4 * self.attributes].fill(Row::splat(0.0));
        self.clear_outputs();
    }

    /// Outputs are zero again.
    pub fn clear_outputs(&mut self) {
        let first = usize::from(row::OUTPUTS);
        self.rows[first..first + 4 * self.outputs].fill(Row::splat(0.0));
    }

    /// A vertex's attributes.
    pub fn attributes_of(&self, vertex: usize) -> impl Iterator<Item = [f32; 4]> {
        self.vec4s(row::ATTRIBUTES, self.attributes, vertex)
    }

    /// A vertex's outputs.
    pub fn outputs_of(&self, vertex: usize) -> impl Iterator<Item = [f32; 4]> {
        self.vec4s(row::OUTPUTS, self.outputs, vertex)
    }

    /// Sets a vertex's output; one that is not there stays so.
    pub fn set_output(&mut self, vertex: usize, number: usize, value: [f32; 4]) {
        if number < self.outputs && vertex < MAX_VERTICES {
            put(self.four_mut(row::OUTPUTS, number), vertex, value);
        }
    }

    /// The rows of an attribute, if it is there.
    pub(crate) fn attribute_mut(&mut self, number: usize) -> Option<&mut [Row; 4]> {
        (number < self.attributes).then(|| self.four_mut(row::ATTRIBUTES, number))
    }

    /// The rows of an output, if it is there.
    pub(crate) fn output(&self, number: usize) -> Option<&[Row; 4]> {
        (number < self.outputs).then(|| self.four(row::OUTPUTS, number))
    }

    /// All rows, at least `count`; missing attributes that an instruction reads (`named`) have their default.
    pub(super) fn machine(&mut self, count: usize, named: u16) -> &mut [Row] {
        self.at_least(count);
        for number in (self.attributes..MOST).filter(|number| named >> number & 1 == 1) {
            *self.four_mut(row::ATTRIBUTES, number) = MISSING.map(Row::splat);
        }
        &mut self.rows
    }

    fn at_least(&mut self, count: usize) {
        if self.rows.len() < count {
            self.rows.resize(count, Row::splat(0.0));
        }
    }

    /// Vec4s of a vertex; none of one that is not there.
    fn vec4s(&self, first: u16, count: usize, vertex: usize) -> impl Iterator<Item = [f32; 4]> {
        let count = if vertex < MAX_VERTICES { count } else { 0 };
        (0..count).map(move |number| self.four(first, number).each_ref().map(|row| row[vertex]))
    }

    fn four(&self, first: u16, number: usize) -> &[Row; 4] {
        self.rows[usize::from(first) + 4 * number..]
            .first_chunk()
            .expect("rows of all vec4s")
    }

    fn four_mut(&mut self, first: u16, number: usize) -> &mut [Row; 4] {
        let rows = &mut self.rows[usize::from(first) + 4 * number..];
        rows.first_chunk_mut().expect("rows of all vec4s")
    }
}

/// A vertex's vec4 into its rows.
fn put(rows: &mut [Row; 4], vertex: usize, value: [f32; 4]) {
    (0..4).for_each(|component| rows[component][vertex] = value[component]);
}
