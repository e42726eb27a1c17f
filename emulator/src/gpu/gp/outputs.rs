//! Outputs of vertices: positions, point sizes and varyings, each an array in memory, stored a batch of vertices at a time.

use crate::exec::{MAX_VERTICES as BATCH, Row};
use crate::fault::Result;
use crate::gpu::notes::Notes;
use crate::memory::{Array, Lent, Memory, Sink, Sinks};
use crate::simd::{Found, dispatch};
use num::half;
use num::lanes::QuadLanes;
use std::ops::Range;
use utgard::stream::{ComponentType, OutputKind, VertexSpec};

/// Largest stride in bytes with which a batch's attributes are read in one piece.
pub(crate) const MAX_NEAR: u32 = 256;

/// The objects that outputs are stored into, while several threads do that, and their arrays, by object.
pub(crate) struct Borrowed {
    objects: Vec<(Lent, Vec<(usize, Array)>)>,
    count: usize,
}

/// Lends what a draw stores, in parts of some vertices, if each part's outputs are apart from the others', and no attribute is in
/// the same object.
pub(crate) fn lend(
    memory: &mut Memory,
    attributes: &[VertexSpec],
    outputs: &[VertexSpec],
    count: u32,
    part: usize,
) -> Option<Borrowed> {
    let mut objects: Vec<(usize, Vec<(usize, Array)>)> = Vec::new();
    for (number, spec) in outputs.iter().enumerate() {
        let spec = plain(*spec);
        let (bytes, stride) = (output_bytes(&spec)?, spec.stride as usize);
        if !(bytes..=MAX_NEAR as usize).contains(&stride) {
            return None;
        }
        let array = Array {
            address: spec.address,
            length: stride * (count as usize - 1) + bytes,
            part: stride * part,
        };
        let object = memory.object_at(array.address)?;
        memory.borrow(array.address, u32::try_from(array.length).ok()?)?;
        match objects.iter_mut().find(|(have, _)| *have == object) {
            Some((_, arrays)) => arrays.push((number, array)),
            None => objects.push((object, vec![(number, array)])),
        }
    }
    for spec in attributes {
        let length = u64::from(spec.stride) * u64::from(count) + 16;
        let is_there = memory.object_at(spec.address).is_some_and(|object| {
            let is_stored = objects.iter().any(|(stored, _)| *stored == object);
            !is_stored && u64::from(memory.length_up_to(spec.address, u32::MAX)) + 16 >= length
        });
        if !is_there {
            return None;
        }
    }
    let mut borrowed = Borrowed {
        objects: Vec::new(),
        count: outputs.len(),
    };
    for (_, arrays) in objects {
        let start = arrays.iter().map(|(_, array)| array.address).min()?;
        let end = |(_, array): &(usize, Array)| u64::from(array.address) + array.length as u64;
        let length = arrays.iter().map(end).max()? - u64::from(start);
        match memory.lend(start, u32::try_from(length).unwrap_or(u32::MAX)) {
            Some(lent) => borrowed.objects.push((lent, arrays)),
            None => {
                borrowed.give_back(memory);
                return None;
            }
        }
    }
    Some(borrowed)
}

impl Borrowed {
    /// Targets for the parts of each output; nothing where they overlap.
    pub(super) fn sinks(&mut self) -> Option<Vec<Sinks<'_>>> {
        let mut all: Vec<Option<Sinks<'_>>> = (0..self.count).map(|_| None).collect();
        for (lent, arrays) in &mut self.objects {
            let of_object: Vec<Array> = arrays.iter().map(|(_, array)| *array).collect();
            for ((number, _), sinks) in arrays.iter().zip(lent.arrays(&of_object)?) {
                all[*number] = Some(sinks);
            }
        }
        all.into_iter().collect()
    }

    pub(super) fn give_back(self, memory: &mut Memory) {
        self.objects.into_iter().for_each(|(lent, _)| memory.take_back(lent));
    }
}

/// An output's specification, with the special types of positions and point sizes replaced by floats.
pub(crate) fn plain(spec: VertexSpec) -> VertexSpec {
    match spec.output() {
        OutputKind::Position => VertexSpec::floats(spec.address, 4, spec.stride),
        OutputKind::PointSize => VertexSpec::floats(spec.address, 1, spec.stride),
        OutputKind::Varying => spec,
    }
}

/// Stores one output of vertices from its rows.
pub(crate) fn store(
    memory: &mut Memory,
    spec: VertexSpec,
    vertices: Range<u32>,
    rows: Option<&[Row; 4]>,
    notes: &mut Notes,
) -> Result<()> {
    let spec = plain(spec);
    let (Some(rows), count) = (rows, vertices.len().min(BATCH)) else {
        return Ok(());
    };
    let Some(bytes) = output_bytes(&spec) else {
        notes.add(format!("output type {:#x} is unknown", spec.type_code()));
        return Ok(());
    };
    let start = spec.address.wrapping_add(spec.stride.wrapping_mul(vertices.start));
    let stride = spec.stride as usize;
    let all = stride * count.saturating_sub(1) + bytes;
    // Nearly all arrays are in one object.
    if (bytes..=MAX_NEAR as usize).contains(&stride)
        && let Some(all) = memory.borrow_mut(start, all, stride == bytes)
    {
        put(&spec, rows, count, all, stride);
        return Ok(());
    }
    let mut packed = [0; 16 * BATCH];
    let packed = &mut packed[..bytes * count];
    put(&spec, rows, count, packed, bytes);
    memory.write_apart(start, spec.stride, bytes, packed)
}

/// Stores one output of vertices in a part of an array that was lent.
pub(crate) fn store_apart(sink: &mut Sink<'_, '_>, spec: VertexSpec, vertices: Range<u32>, rows: Option<&[Row; 4]>) {
    let spec = plain(spec);
    let (Some(rows), Some(bytes)) = (rows, output_bytes(&spec)) else {
        return;
    };
    let (count, stride) = (vertices.len().min(BATCH), spec.stride as usize);
    let start = spec.address.wrapping_add(spec.stride.wrapping_mul(vertices.start));
    let all = stride * count.saturating_sub(1) + bytes;
    let is_there = sink.fill(start, all, |all| put(&spec, rows, count, all, stride));
    debug_assert!(is_there, "a batch is within a part");
}

/// Bytes of an output of a vertex, as [`plain`] has it; none for unknown types.
fn output_bytes(spec: &VertexSpec) -> Option<usize> {
    let components = usize::from(spec.components) + 1;
    match (spec.kind, spec.fixed) {
        (ComponentType::F32, false) => Some(4 * components),
        (ComponentType::F16, false) => Some(2 * components),
        _ => None,
    }
}

/// Puts an output of `count` vertices into bytes, a stride apart.
fn put(spec: &VertexSpec, rows: &[Row; 4], count: usize, all: &mut [u8], stride: usize) {
    let components = usize::from(spec.components) + 1;
    match spec.kind {
        ComponentType::F32 => dispatch!(
            put_floats(
                components: usize,
                all: &mut [u8],
                stride: usize,
                count: usize,
                rows: &[Row; 4],
            ) -> (),
            Found::best()
        ),
        _ => put_halves(all, stride, count, &rows[..components]),
    }
}

/// The first floats of vertices, a stride apart; compiled for each instruction set.
#[inline(always)]
#[expect(
    clippy::extra_unused_type_parameters,
    reason = "its loops become as wide as the lanes are"
)]
fn put_floats<L: QuadLanes>(components: usize, all: &mut [u8], stride: usize, count: usize, rows: &[Row; 4]) {
    match components {
        1 => put_vectors::<1>(all, stride, count, rows),
        2 => put_vectors::<2>(all, stride, count, rows),
        3 => put_vectors::<3>(all, stride, count, rows),
        _ => put_vectors::<4>(all, stride, count, rows),
    }
}

/// The first `N` floats of vertices.
#[inline(always)]
fn put_vectors<const N: usize>(all: &mut [u8], stride: usize, count: usize, rows: &[Row; 4]) {
    let count = count.min(BATCH);
    if stride == 4 * N {
        return turn_out::<N>(all, count, rows);
    }
    let mut packed = [[[0; 4]; N]; BATCH];
    turn_out::<N>(packed.as_flattened_mut().as_flattened_mut(), count, rows);
    for (vertex, vector) in packed.iter().enumerate().take(count) {
        all[stride * vertex..][..4 * N].copy_from_slice(vector.as_flattened());
    }
}

/// The first floats of vertices, side by side.
#[inline(always)]
fn turn_out<const N: usize>(all: &mut [u8], count: usize, rows: &[Row; 4]) {
    let vectors = &mut all.as_chunks_mut::<4>().0.as_chunks_mut::<N>().0[..count.min(BATCH)];
    for vertex in 0..vectors.len() {
        for component in 0..N {
            vectors[vertex][component] = rows[component][vertex].to_le_bytes();
        }
    }
}

/// The same as halves.
fn put_halves(all: &mut [u8], stride: usize, count: usize, rows: &[Row]) {
    for (number, row) in rows.iter().enumerate() {
        for (vertex, value) in row.iter().enumerate().take(count) {
            let at = vertex * stride + 2 * number;
            all[at..at + 2].copy_from_slice(&half::from_f32(*value).to_le_bytes());
        }
    }
}
