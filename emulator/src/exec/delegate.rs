//! Engines around other engines.

use super::batched::QuadBatcher;
use super::inputs::Inputs;
use super::{Engine, FragmentContext, FragmentKernel, Fragments, Quad, VertexBatch};
use crate::fault::Result;
use crate::silicon::Silicon;
use std::sync::Arc;

/// An engine around another one: methods that it does not override are the other's. Each is an [`Engine`].
#[expect(missing_docs, reason = "they are those of `Engine`")]
pub trait Delegate: Send + Sync {
    /// The other engine.
    fn engine(&self) -> &dyn Engine;

    fn name(&self) -> &'static str {
        self.engine().name()
    }

    fn silicon(&self) -> Silicon {
        self.engine().silicon()
    }

    fn vertices(&self, batch: &mut VertexBatch<'_>) -> Result<()> {
        self.engine().vertices(batch)
    }

    fn fragments(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        quads: &[Quad],
        out: &mut Fragments,
    ) -> Result<()> {
        self.engine().fragments(context, inputs, quads, out)
    }

    fn kernel(&self, context: &FragmentContext<'_>, flat: bool) -> Option<Arc<dyn FragmentKernel>> {
        self.engine().kernel(context, flat)
    }

    fn batcher(&self, context: &FragmentContext<'_>, flat: bool) -> Option<Arc<dyn QuadBatcher>> {
        self.engine().batcher(context, flat)
    }

    fn fast_paths(&self) -> bool {
        self.engine().fast_paths()
    }

    fn observed_pixel(&self) -> Option<(u32, u32)> {
        self.engine().observed_pixel()
    }

    fn report(&self) -> Option<String> {
        self.engine().report()
    }

    fn painted(&self, before: [f32; 4], color: Option<[f32; 4]>, after: [f32; 4]) {
        self.engine().painted(before, color, after);
    }
}

impl<D: Delegate> Engine for D {
    fn name(&self) -> &'static str {
        Delegate::name(self)
    }

    fn silicon(&self) -> Silicon {
        Delegate::silicon(self)
    }

    fn vertices(&self, batch: &mut VertexBatch<'_>) -> Result<()> {
        Delegate::vertices(self, batch)
    }

    fn fragments(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        quads: &[Quad],
        out: &mut Fragments,
    ) -> Result<()> {
        Delegate::fragments(self, context, inputs, quads, out)
    }

    fn kernel(&self, context: &FragmentContext<'_>, flat: bool) -> Option<Arc<dyn FragmentKernel>> {
        Delegate::kernel(self, context, flat)
    }

    fn batcher(&self, context: &FragmentContext<'_>, flat: bool) -> Option<Arc<dyn QuadBatcher>> {
        Delegate::batcher(self, context, flat)
    }

    fn fast_paths(&self) -> bool {
        Delegate::fast_paths(self)
    }

    fn observed_pixel(&self) -> Option<(u32, u32)> {
        Delegate::observed_pixel(self)
    }

    fn report(&self) -> Option<String> {
        Delegate::report(self)
    }

    fn painted(&self, before: [f32; 4], color: Option<[f32; 4]>, after: [f32; 4]) {
        Delegate::painted(self, before, color, after);
    }
}
