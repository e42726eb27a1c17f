//! A VBC shader adapted to one device.

use crate::context::{Context, Inner};
use crate::draw::VertexBuffers;
use crate::error::{Call, Error, ErrorKind, Result};
use crate::layout::{self, Bound, Layouts, TableLayout};
use crate::tables::{TABLE_PUSH, Tables};
use crate::texture::TexelFormat;
use crate::vertex::{Input, VertexInput};
use ash::vk;
use loader::reflect::{VertexAttribute, VertexLayout};
use loader::spirv::{ModuleIndex, block, class, mode};
use loader::vbc::fit::{self, Fitted, Mode};
use loader::vbc::{BaseType, DescriptorKind, FeatureNeed, Primitive, Shape, Stage, TexelType, Variable, Vbc};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How a shader accesses the resources of table slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BindMode {
    /// Bindless if the device has descriptor indexing and sufficient limits, otherwise lowered.
    #[default]
    Auto,
    /// Full tables, indexed through push constants, as VBC defines them.
    Bindless,
    /// An ordinary descriptor per used slot; the code has no lookup.
    Lowered,
}

/// Decides whether a module may be passed to a driver, and returns the reason if not.
pub type Validator<'a> = &'a dyn Fn(&[u32]) -> loader::Result<()>;

/// One fragment output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Attachment index.
    pub location: u8,
    /// Numeric class of the shader's output.
    pub class: TexelType,
    /// Components: 1, 2 or 4.
    pub components: u8,
    /// Whether the code writes it; if not, the target keeps its clear colour.
    pub written: bool,
}

/// A binding of a program's set layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// The descriptor type.
    pub kind: vk::DescriptorType,
    /// Number of descriptors.
    pub count: u32,
    /// Stages that use it.
    pub stages: vk::ShaderStageFlags,
    /// The slot of VBC's tables; `None` for tables, uniforms and subpass inputs.
    pub slot: Option<u8>,
}

/// Shader modules, layouts and vertex inputs of a VBC on one device. Cheap to clone.
#[derive(Clone)]
pub struct Program {
    pub(crate) inner: Arc<ProgramInner>,
}

pub(crate) struct ProgramInner {
    pub stages: Vec<(vk::ShaderStageFlags, vk::ShaderModule)>,
    pub bound: BTreeMap<(u32, u32), Bound>,
    pub layouts: Layouts,
    pub push: Option<vk::PushConstantRange>,
    pub inputs: Vec<Input>,
    /// Bytes per vertex with interleaved inputs, including unread ones.
    pub vertex_stride: u32,
    pub outputs: Vec<Output>,
    pub uniform_size: u32,
    pub bindless: bool,
    /// Whether set 0 is an engine's tables.
    pub has_tables: bool,
    /// The primitive type that a draw must have, if the shader requires one.
    pub primitive: Option<Primitive>,
    pub context: Arc<Inner>,
}

/// VBC's stages and Vulkan's bits for them, in pipeline order.
const STAGES: [(Stage, vk::ShaderStageFlags); 5] = [
    (Stage::Vert, vk::ShaderStageFlags::VERTEX),
    (Stage::Tesc, vk::ShaderStageFlags::TESSELLATION_CONTROL),
    (Stage::Tese, vk::ShaderStageFlags::TESSELLATION_EVALUATION),
    (Stage::Geom, vk::ShaderStageFlags::GEOMETRY),
    (Stage::Frag, vk::ShaderStageFlags::FRAGMENT),
];

impl Program {
    /// Adapts a shader to the device and creates its modules and layouts.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) with the missing feature or the limit;
    /// [`ErrorKind::Load`](crate::ErrorKind::Load) from fitting.
    pub fn new(context: &Context, vbc: &Vbc<'_>, mode: BindMode) -> Result<Self> {
        Self::validated(context, vbc, mode, &|_| Ok(()))
    }

    /// [`Program::new`], with every stage's fitted code checked by a validator before the driver gets it, because
    /// drivers do not check modules.
    ///
    /// # Errors
    /// See [`Program::new`]; and the validator's error.
    pub fn validated(context: &Context, vbc: &Vbc<'_>, mode: BindMode, validator: Validator<'_>) -> Result<Self> {
        let device = &context.inner;
        match mode {
            BindMode::Bindless => Self::with(device, vbc, &Mode::Bindless, validator),
            BindMode::Lowered => Self::with(device, vbc, &Mode::Lowered, validator),
            BindMode::Auto if device.features.bindless() => match Self::with(device, vbc, &Mode::Bindless, validator) {
                Err(error) if matches!(error.kind(), ErrorKind::Unsupported(_)) => {
                    Self::with(device, vbc, &Mode::Lowered, validator)
                }
                other => other,
            },
            BindMode::Auto => Self::with(device, vbc, &Mode::Lowered, validator),
        }
    }

    /// Adapts a shader to an engine's tables: all such programs share set 0 and the push constants, which stay bound
    /// across pipelines. Set 1 is a dynamic uniform buffer.
    ///
    /// # Errors
    /// See [`Program::validated`].
    pub fn for_tables(context: &Context, vbc: &Vbc<'_>, tables: &Tables, validator: Validator<'_>) -> Result<Self> {
        Self::fitted(&context.inner, vbc, &tables.mode(), Some(tables.layout()), validator)
    }

    fn with(device: &Arc<Inner>, vbc: &Vbc<'_>, mode: &Mode, validator: Validator<'_>) -> Result<Self> {
        Self::fitted(device, vbc, mode, None, validator)
    }

    fn fitted(
        device: &Arc<Inner>,
        vbc: &Vbc<'_>,
        mode: &Mode,
        tables: Option<Arc<TableLayout>>,
        validator: Validator<'_>,
    ) -> Result<Self> {
        check_features(
            device,
            vbc,
            !matches!(mode, Mode::Lowered | Mode::Cut { declare: false, .. }),
        )?;
        let stages = fit_stages(vbc, mode)?;
        for (stage, fitted) in &stages {
            validator(&fitted.words).map_err(|error| error.within(format!("{stage:?}")))?;
        }
        let resources: Vec<_> = stages
            .iter()
            .map(|(stage, fitted)| (*stage, fitted.resources.clone()))
            .collect();
        let mut bound = layout::merge(&resources)?;
        let push_bytes = stages
            .iter()
            .map(|(_, fitted)| fitted.push_constant_bytes)
            .max()
            .unwrap_or(0);
        let push = if tables.is_some() {
            Some(TABLE_PUSH)
        } else {
            push_range(&stages, push_bytes)
        };
        layout::check_limits(&bound, push_bytes, &device.limits)?;
        let bindless = matches!(mode, Mode::Bindless);
        if bindless {
            assign_slots(&mut bound, vbc);
        }
        check_slots(&bound, vbc)?;
        check_locations(vbc, &device.limits)?;
        check_vertices(vbc, &device.limits)?;
        let layout = loader::reflect::vertex_layout(vbc);
        let inputs = inputs(vbc, &layout, &device.limits)?;
        let outputs = outputs(vbc, &device.limits)?;
        let has_tables = tables.is_some();
        let layouts = Layouts::new(device, &bound, push, bindless, tables)?;
        let mut inner = ProgramInner {
            stages: Vec::new(),
            bound,
            layouts,
            push,
            inputs,
            vertex_stride: layout.stride,
            outputs,
            uniform_size: vbc.uniform().map_or(0, |uniform| uniform.size),
            bindless,
            has_tables,
            primitive: loader::vbc::input_primitive(vbc),
            context: device.clone(),
        };
        for (stage, fitted) in &stages {
            let info = vk::ShaderModuleCreateInfo::default().code(&fitted.words);
            // SAFETY: the words are complete instructions, checked by our walker, with a valid header.
            let module = unsafe { device.device.create_shader_module(&info, None) }.call("vkCreateShaderModule")?;
            inner.stages.push((*stage, module));
            device.name(module, &format!("{stage:?} stage"));
        }
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The context that it was created with.
    pub fn context(&self) -> Context {
        Context {
            inner: self.inner.context.clone(),
        }
    }

    /// The pipeline layout, for an engine's own binding.
    pub fn layout(&self) -> vk::PipelineLayout {
        self.inner.layouts.pipeline
    }

    /// The shader stages in pipeline order, for pipelines that an engine creates itself. Their modules live as long as the
    /// program.
    pub fn shader_stages(&self) -> impl Iterator<Item = vk::PipelineShaderStageCreateInfo<'static>> + '_ {
        self.inner.stage_infos()
    }

    /// The push constants of the pipeline layout: indices of table slots, if the full tables or an engine's are bound.
    pub fn push_constant_range(&self) -> Option<vk::PushConstantRange> {
        self.inner.push
    }

    /// The descriptor set layouts, by set.
    pub fn set_layouts(&self) -> &[vk::DescriptorSetLayout] {
        &self.inner.layouts.sets
    }

    /// The bindings of the set layouts, ascending.
    pub fn descriptors(&self) -> impl ExactSizeIterator<Item = Descriptor> + '_ {
        let tables = self.inner.has_tables;
        self.inner.bound.iter().map(move |((set, binding), bound)| Descriptor {
            set: *set,
            binding: *binding,
            kind: layout::binding(bound, tables).descriptor_type,
            count: bound.resource.count,
            stages: bound.stages,
            slot: bound.resource.slot,
        })
    }

    /// The vertex inputs that the code reads, by ascending location: the order of a pipeline's vertex bindings if they
    /// are separate.
    pub fn inputs(&self) -> &[Input] {
        &self.inner.inputs
    }

    /// Vertex bindings and attributes of a pipeline, for engines that create their own.
    pub fn vertex_input(&self, buffers: VertexBuffers) -> VertexInput {
        VertexInput::new(&self.inner.inputs, self.inner.vertex_stride, buffers)
    }

    /// The fragment outputs by ascending location.
    pub fn outputs(&self) -> &[Output] {
        &self.inner.outputs
    }

    /// Whether the full tables are bound (otherwise every slot is a separate descriptor).
    pub fn is_bindless(&self) -> bool {
        self.inner.bindless
    }

    /// The slots that the code reads or writes, ascending.
    pub fn slots(&self) -> Vec<u8> {
        let all: BTreeSet<u8> = self
            .inner
            .bound
            .values()
            .flat_map(|bound| bound.slots.iter().copied())
            .collect();
        all.into_iter().collect()
    }
}

impl ProgramInner {
    /// The shader stages in pipeline order.
    pub(crate) fn stage_infos(&self) -> impl Iterator<Item = vk::PipelineShaderStageCreateInfo<'static>> + '_ {
        self.stages.iter().map(|(stage, module)| {
            vk::PipelineShaderStageCreateInfo::default()
                .stage(*stage)
                .module(*module)
                .name(c"main")
        })
    }

    /// The pipeline stages that run its code.
    pub(crate) fn pipeline_stages(&self) -> vk::PipelineStageFlags {
        let stage = |(flag, _): &(vk::ShaderStageFlags, vk::ShaderModule)| match *flag {
            vk::ShaderStageFlags::VERTEX => vk::PipelineStageFlags::VERTEX_SHADER,
            vk::ShaderStageFlags::TESSELLATION_CONTROL => vk::PipelineStageFlags::TESSELLATION_CONTROL_SHADER,
            vk::ShaderStageFlags::TESSELLATION_EVALUATION => vk::PipelineStageFlags::TESSELLATION_EVALUATION_SHADER,
            vk::ShaderStageFlags::GEOMETRY => vk::PipelineStageFlags::GEOMETRY_SHADER,
            _ => vk::PipelineStageFlags::FRAGMENT_SHADER,
        };
        self.stages
            .iter()
            .map(stage)
            .fold(vk::PipelineStageFlags::empty(), |all, stage| all | stage)
    }
}

impl Drop for ProgramInner {
    fn drop(&mut self) {
        for (_, module) in &self.stages {
            // SAFETY: pipelines do not need their modules after creation.
            unsafe { self.context.device.destroy_shader_module(*module, None) };
        }
    }
}

fn fit_stages(vbc: &Vbc<'_>, mode: &Mode) -> Result<Vec<(vk::ShaderStageFlags, Fitted)>> {
    let mut stages = Vec::new();
    for (stage, flag) in STAGES {
        if let Some(module) = vbc.module(stage) {
            let place = |error: loader::Error| error.within(stage);
            let index = module.as_ref().map_err(|error| place(error.clone()))?;
            stages.push((flag, fit::fit(index, mode).map_err(place)?));
        }
    }
    Ok(stages)
}

fn push_range(stages: &[(vk::ShaderStageFlags, Fitted)], bytes: u32) -> Option<vk::PushConstantRange> {
    let users = stages
        .iter()
        .filter(|(_, fitted)| fitted.push_constant_bytes > 0)
        .map(|(stage, _)| *stage);
    let stages = users.fold(vk::ShaderStageFlags::empty(), |all, stage| all | stage);
    (bytes > 0).then_some(vk::PushConstantRange {
        stage_flags: stages,
        offset: 0,
        size: bytes,
    })
}

/// Assigns each declared slot to its table's binding, because bindless code does not name slots.
fn assign_slots(bound: &mut BTreeMap<(u32, u32), Bound>, vbc: &Vbc<'_>) {
    for ((_, binding), entry) in bound.iter_mut().filter(|((set, _), _)| *set == 0) {
        let slots = vbc
            .bindings()
            .filter(|b| loader::vbc::Tables::index_of(b.base) == Some(*binding as usize))
            .map(|b| b.slot);
        entry.slots = slots.collect();
        entry.slots.sort_unstable();
        entry.slots.truncate(entry.resource.count as usize);
    }
}

/// Checks that the device has every feature that the shader needs; the error lists all missing ones. Lowered code needs
/// no table indexing.
fn check_features(device: &Inner, vbc: &Vbc<'_>, bindless: bool) -> Result<()> {
    let requirements = loader::vbc::requirements(vbc);
    let lacks = |need: &&FeatureNeed| (bindless || !need.feature.is_for_tables()) && !device.features.has(need.feature);
    let mut missing: Vec<String> = requirements
        .features
        .iter()
        .filter(lacks)
        .map(|need| format!("{} (for {})", need.feature, need.why))
        .collect();
    let unknown = requirements.unknown_capabilities.iter();
    missing.extend(unknown.map(|(stage, capability)| format!("SPIR-V capability {capability} (in the {stage} code)")));
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "the device {} lacks {}",
        device.info.name,
        missing.join(", ")
    )))
}

/// The index of a stage's code; fitting does not change its interface.
fn module<'v, 'a>(vbc: &'v Vbc<'a>, stage: Stage) -> Option<&'v ModuleIndex<'a>> {
    vbc.module(stage)?.as_ref().ok()
}

/// Locations of a stage's variables in a storage class.
fn locations(vbc: &Vbc<'_>, stage: Stage, storage: u32) -> BTreeSet<u32> {
    module(vbc, stage).map_or_else(BTreeSet::new, |module| module.locations(storage))
}

/// Checks that each slot's descriptor matches the reflection. (The validator sees only tables, in which slots of one
/// type are indistinguishable; lowered code distinguishes them.)
fn check_slots(bound: &BTreeMap<(u32, u32), Bound>, vbc: &Vbc<'_>) -> Result<()> {
    for resource in bound.values().map(|bound| bound.resource) {
        let Some(slot) = resource.slot else { continue };
        let reflected = vbc.bindings().find(|binding| binding.slot == slot);
        let kind = reflected.and_then(|binding| loader::vbc::Tables::index_of(binding.base));
        let shape = reflected.map(|binding| binding.shape);
        let agrees = kind.is_some_and(|table| DescriptorKind::TABLES[table] == resource.kind)
            && match (shape, resource.image) {
                (Some(Shape::Texel { rank, texel, .. }), Some((in_code, class))) => {
                    let normalised = texel == TexelType::UNORM || texel == TexelType::SNORM;
                    rank == in_code && class == if normalised { TexelType::FLOAT } else { texel }
                }
                (Some(Shape::Buffer { .. }), None) => true,
                _ => false,
            };
        if !agrees {
            let kind = resource.kind.name();
            let message = format!("slot {slot} is a {kind} in the code and something else in the reflection");
            return Err(loader::Error::new(loader::ErrorKind::Invalid, "vbc", message).into());
        }
    }
    Ok(())
}

/// Checks components passed between stages: by type, and by the highest location (four per location, four for the
/// position).
fn check_locations(vbc: &Vbc<'_>, limits: &vk::PhysicalDeviceLimits) -> Result<()> {
    // Stage, storage class, whether the variables are arrays over a primitive's vertices, and the limit.
    let rules = [
        (Stage::Vert, class::OUTPUT, false, limits.max_vertex_output_components),
        (
            Stage::Tesc,
            class::INPUT,
            true,
            limits.max_tessellation_control_per_vertex_input_components,
        ),
        (
            Stage::Tesc,
            class::OUTPUT,
            true,
            limits.max_tessellation_control_per_vertex_output_components,
        ),
        (
            Stage::Tese,
            class::INPUT,
            true,
            limits.max_tessellation_evaluation_input_components,
        ),
        (
            Stage::Tese,
            class::OUTPUT,
            false,
            limits.max_tessellation_evaluation_output_components,
        ),
        (Stage::Geom, class::INPUT, true, limits.max_geometry_input_components),
        (Stage::Geom, class::OUTPUT, false, limits.max_geometry_output_components),
        (Stage::Frag, class::INPUT, false, limits.max_fragment_input_components),
    ];
    for (stage, storage, per_vertex, limit) in rules {
        let Some(module) = module(vbc, stage) else { continue };
        let highest = module.locations(storage).into_iter().max();
        let by_location = highest.map_or(0, |highest| (u64::from(highest) + 1) * 4 + 4);
        let by_type = block::components(module, storage, per_vertex);
        let used = by_location.max(by_type.into());
        if used > u64::from(limit) {
            let message = format!("the {stage} stage passes {used} components, the device {limit}");
            return Err(Error::unsupported(message));
        }
    }
    Ok(())
}

/// Checks the output vertices of tessellation control and geometry stages against the device's limits, which drivers do
/// not check.
fn check_vertices(vbc: &Vbc<'_>, limits: &vk::PhysicalDeviceLimits) -> Result<()> {
    let rules = [
        (
            Stage::Geom,
            mode::OUTPUT_VERTICES,
            "output vertices",
            limits.max_geometry_output_vertices,
        ),
        (
            Stage::Geom,
            mode::INVOCATIONS,
            "invocations",
            limits.max_geometry_shader_invocations,
        ),
        (
            Stage::Tesc,
            mode::OUTPUT_VERTICES,
            "output vertices",
            limits.max_tessellation_patch_size,
        ),
    ];
    for (stage, mode, what, most) in rules {
        let Some(module) = module(vbc, stage) else { continue };
        let given = module.modes(mode).next().unwrap_or(0);
        if !(1..=most).contains(&given) {
            let message = format!("{given} {what} of the {stage} stage, the device allows 1 to {most}");
            return Err(Error::unsupported(message));
        }
    }
    Ok(())
}

/// The vertex inputs that the vertex stage reads (the optimiser drops unused ones; reflection keeps them).
fn inputs(vbc: &Vbc<'_>, layout: &VertexLayout, limits: &vk::PhysicalDeviceLimits) -> Result<Vec<Input>> {
    let read = locations(vbc, Stage::Vert, class::INPUT);
    let mut inputs = Vec::new();
    for variable in vbc
        .inputs()
        .filter(|variable| read.contains(&u32::from(variable.location)))
    {
        let input = input(variable, layout)?;
        if u32::from(input.location) + input.locations > limits.max_vertex_input_attributes {
            let message = format!(
                "vertex input at location {} reaches past the device's {} attributes",
                input.location, limits.max_vertex_input_attributes
            );
            return Err(Error::unsupported(message));
        }
        inputs.push(input);
    }
    if inputs.len() > limits.max_vertex_input_bindings as usize {
        return Err(Error::unsupported(format!("{} vertex inputs", inputs.len())));
    }
    Ok(inputs)
}

fn input(variable: Variable, layout: &VertexLayout) -> Result<Input> {
    let rows = variable.dims[0];
    let formats = match variable.base {
        BaseType::FLOAT => [
            vk::Format::R32_SFLOAT,
            vk::Format::R32G32_SFLOAT,
            vk::Format::R32G32B32_SFLOAT,
            vk::Format::R32G32B32A32_SFLOAT,
        ],
        BaseType::INT => [
            vk::Format::R32_SINT,
            vk::Format::R32G32_SINT,
            vk::Format::R32G32B32_SINT,
            vk::Format::R32G32B32A32_SINT,
        ],
        BaseType::UINT => [
            vk::Format::R32_UINT,
            vk::Format::R32G32_UINT,
            vk::Format::R32G32B32_UINT,
            vk::Format::R32G32B32A32_UINT,
        ],
        other => {
            return Err(Error::data(format!(
                "vertex input {} of type {other}",
                variable.location
            )));
        }
    };
    let format = usize::from(rows).checked_sub(1).and_then(|row| formats.get(row));
    let format = *format.ok_or_else(|| Error::data(format!("vertex input {} has {rows} rows", variable.location)))?;
    let is_first = |attribute: &&VertexAttribute| attribute.input == u32::from(variable.location);
    Ok(Input {
        location: variable.location,
        format,
        locations: variable.locations(),
        step: 4 * u32::from(rows),
        offset: layout.attributes.iter().find(is_first).map_or(0, |first| first.offset),
    })
}

fn outputs(vbc: &Vbc<'_>, limits: &vk::PhysicalDeviceLimits) -> Result<Vec<Output>> {
    let written = locations(vbc, Stage::Frag, class::OUTPUT);
    let mut outputs = Vec::new();
    for variable in vbc.outputs() {
        let class = match variable.base {
            BaseType::FLOAT => TexelType::FLOAT,
            BaseType::INT => TexelType::INT,
            BaseType::UINT => TexelType::UINT,
            other => {
                return Err(Error::data(format!(
                    "fragment output {} of type {other}",
                    variable.location
                )));
            }
        };
        let limit = limits.max_color_attachments.min(limits.max_fragment_output_attachments);
        if u32::from(variable.location) >= limit {
            let message = format!(
                "fragment output at location {}, the device has {limit}",
                variable.location
            );
            return Err(Error::unsupported(message));
        }
        let written = written.contains(&u32::from(variable.location));
        outputs.push(Output {
            location: variable.location,
            class,
            components: variable.dims[0],
            written,
        });
    }
    outputs.sort_unstable_by_key(|output| output.location);
    outputs.dedup_by_key(|output| output.location);
    if outputs.is_empty() {
        // A shader without outputs still yields a picture: its cleared target.
        outputs.push(Output {
            location: 0,
            class: TexelType::FLOAT,
            components: 4,
            written: false,
        });
    }
    Ok(outputs)
}

impl Output {
    /// The target's format; `float4` is the one for four-component float targets.
    pub(crate) fn format(self, float4: TexelFormat) -> TexelFormat {
        match self.class {
            TexelType::FLOAT => TexelFormat {
                components: self.components,
                ..float4
            },
            class => TexelFormat {
                class,
                bytes: 4,
                components: self.components,
            },
        }
    }
}
