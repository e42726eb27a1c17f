//! The vertex inputs of a pipeline.

use crate::draw::VertexBuffers;
use ash::vk;

/// A vertex input as the pipeline fetches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// First location.
    pub location: u8,
    /// Format of each column or array element.
    pub format: vk::Format,
    /// Number of locations: columns times array elements.
    pub locations: u32,
    /// Bytes from one location to the next.
    pub step: u32,
    /// Offset within a vertex whose inputs are interleaved.
    pub offset: u32,
}

impl Input {
    /// Bytes per vertex in a separate buffer.
    pub fn stride(&self) -> u32 {
        self.locations * self.step
    }
}

/// The vertex input of a pipeline: one attribute per column or array element of each input that the code reads.
#[derive(Clone, Debug)]
pub struct VertexInput {
    /// Bindings, from 0.
    pub bindings: Vec<vk::VertexInputBindingDescription>,
    /// Attributes by input.
    pub attributes: Vec<vk::VertexInputAttributeDescription>,
}

impl VertexInput {
    /// The inputs in separate buffers, or interleaved in one with `stride` bytes per vertex.
    pub(crate) fn new(all: &[Input], stride: u32, buffers: VertexBuffers) -> Self {
        let described = |(binding, stride): (u32, u32)| vk::VertexInputBindingDescription {
            binding,
            stride,
            input_rate: vk::VertexInputRate::VERTEX,
        };
        let inputs = || (0u32..).zip(all);
        let bindings: Vec<(u32, u32)> = match buffers {
            VertexBuffers::Separate => inputs().map(|(at, input)| (at, input.stride())).collect(),
            VertexBuffers::Interleaved if all.is_empty() => Vec::new(),
            VertexBuffers::Interleaved => vec![(0, stride)],
        };
        let attributes = inputs().flat_map(|(at, input)| {
            let (binding, start) = match buffers {
                VertexBuffers::Separate => (at, 0),
                VertexBuffers::Interleaved => (0, input.offset),
            };
            (0..input.locations).map(move |element| vk::VertexInputAttributeDescription {
                location: u32::from(input.location) + element,
                binding,
                format: input.format,
                offset: start + element * input.step,
            })
        });
        Self {
            attributes: attributes.collect(),
            bindings: bindings.into_iter().map(described).collect(),
        }
    }
}
