//! Variants of fragment shading: what all of a job's primitives with one shader share.

use super::scene::{Ready, Scene, Shader};
use crate::exec::{Engine, FragmentContext, FragmentKernel, LateTests, TileReader};
use crate::gpu::frame::Frame;
use std::cell::OnceCell;
use utgard::state::Compare;

/// A kernel and its properties.
#[derive(Clone, Copy)]
pub(crate) struct KernelInfo<'a> {
    pub code: &'a dyn FragmentKernel,
    /// [`FragmentKernel::is_infallible`]
    pub is_infallible: bool,
    /// [`FragmentKernel::instruction_count`]
    pub steps: u32,
    /// [`FragmentKernel::has_turns`]
    pub has_turns: bool,
    /// [`FragmentKernel::may_discard`]
    pub may_discard: bool,
}

/// A shader whose fragments become words.
pub(crate) struct FragmentVariant<'a> {
    shader: &'a Shader<'a>,
    /// Without a tile to read.
    pub context: FragmentContext<'a>,
    /// For primitives of one w, and for others.
    kernels: [OnceCell<Option<KernelInfo<'a>>>; 2],
    /// With the tests in the kernel, behind the program; nothing where the sides' tests differ.
    pub late: Option<FragmentContext<'a>>,
    late_kernels: [OnceCell<Option<KernelInfo<'a>>>; 2],
}

impl<'a> FragmentVariant<'a> {
    /// The variants of a scene's shaders.
    pub(super) fn all(scene: &'a Scene<'_>, frame: &Frame) -> Vec<Self> {
        let variant = |shader: &'a Shader<'_>| Self {
            shader,
            context: context(shader, frame, None, true),
            kernels: [const { OnceCell::new() }; 2],
            late: late(shader, frame),
            late_kernels: [const { OnceCell::new() }; 2],
        };
        scene.shaders.iter().map(variant).collect()
    }

    /// The kernel, if the engine has one; `flat`: for primitives of one w.
    #[inline]
    pub(super) fn kernel(&self, engine: &dyn Engine, flat: bool) -> Option<KernelInfo<'a>> {
        let make = || self.shader.kernel(engine, &self.context, flat);
        *self.kernels[usize::from(flat)].get_or_init(|| make().map(KernelInfo::of))
    }

    /// The same with tests behind the program.
    pub(super) fn late_kernel(&self, engine: &dyn Engine, flat: bool) -> Option<KernelInfo<'a>> {
        let make = || self.shader.late_kernel(engine, self.late.as_ref()?, flat);
        *self.late_kernels[usize::from(flat)].get_or_init(|| make().map(KernelInfo::of))
    }
}

impl<'a> KernelInfo<'a> {
    fn of(code: &'a dyn FragmentKernel) -> Self {
        Self {
            code,
            is_infallible: code.is_infallible(),
            steps: code.instruction_count(),
            has_turns: code.has_turns(),
            may_discard: code.may_discard(),
        }
    }
}

impl<'a> FragmentVariant<'a> {
    /// The kernel of a primitive whose words replace those of a tile that it covers.
    pub(super) fn covers(&self, engine: &dyn Engine, ready: &Ready) -> Option<KernelInfo<'a>> {
        let (state, context) = (&self.shader.state, &self.context);
        let asks = state.is_tested(ready.inputs.front) || context.wants_alpha || context.blending.is_some();
        if asks || !self.shader.takes_words {
            return None;
        }
        self.kernel(engine, ready.inputs.flat)
    }
}

/// Pixels of a frame that is small.
const FEW_PIXELS: u64 = 64 * 64;

/// The context of a draw's fragments; `tile` reads the tile.
pub(crate) fn context<'b>(
    shader: &'b Shader<'_>,
    frame: &Frame,
    tile: Option<&'b TileReader<'b>>,
    wants_words: bool,
) -> FragmentContext<'b> {
    let state = &shader.state;
    FragmentContext {
        program: &shader.program,
        uniforms: &shader.uniforms,
        textures: &shader.textures,
        color_register: state.color_register,
        second_register: state.blending.uses_second().then_some(state.second_register),
        depth_register: state.depth_register.or(state.packed_depth.then_some(0)),
        orientation: frame.orientation,
        tile: tile.filter(|_| shader.program.reads_tile),
        wants_words,
        wants_alpha: wants_words && state.alpha_compare != Compare::Always && state.blending.alpha_test.is_none(),
        blending: Some(&state.blending).filter(|_| wants_words && !shader.covers),
        tests: None,
        few: frame.pixels() <= FEW_PIXELS,
    }
}

/// The context of fragments that are tested behind their program, where both sides have the same tests.
fn late<'b>(shader: &'b Shader<'_>, frame: &Frame) -> Option<FragmentContext<'b>> {
    let state = &shader.state;
    let stencil = state.stencil_of(true);
    let is_alike = stencil == state.stencil_of(false);
    (is_alike && shader.takes_words && state.is_tested(true)).then(|| FragmentContext {
        wants_alpha: false,
        tests: Some(LateTests {
            alpha: (state.alpha_compare != Compare::Always).then_some((state.alpha_compare, state.alpha_reference)),
            stencil: stencil.copied(),
            depth: state.uses_depth().then_some((state.depth_compare, state.depth_write)),
        }),
        ..context(shader, frame, None, true)
    })
}
