//! The interface of a shader in plain types with Vulkan's names.
//!
//! [`reflect`] derives it from a VBC file's reflection. [`Reflection::disagreements`] lists the differences between
//! reflection and SPIR-V (the validator's findings about the code). The JSON form has a published schema, [`SCHEMA`];
//! [`rust::structs`] prints vertex and uniform as Rust structs.

pub mod rust;

use crate::Severity;
use crate::vbc::{self, BaseType, Binding, Shape, Stage, Stages, Tables, TexelRank, TexelType, Variable, Vbc};
use serde::Serialize;

/// JSON schema (2020-12) of [`Reflection`] as serde writes it.
pub const SCHEMA: &str = include_str!("schema.json");

/// Everything that is needed to create layouts and fill buffers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reflection {
    /// The stages in the file.
    pub stages: Vec<&'static str>,
    /// Descriptor set layouts for the full tables, by set; sets between used ones are empty.
    pub set_layouts: Vec<SetLayout>,
    /// Push-constant ranges: they hold the slots' table indices.
    pub push_constant_ranges: Vec<PushConstantRange>,
    /// Vertex attributes, interleaved in one buffer.
    pub vertex: VertexLayout,
    /// Fragment outputs in file order, which is the engine's attachment order.
    pub outputs: Vec<Output>,
    /// The uniform block: set 1, binding 0.
    pub uniform: Option<UniformLayout>,
    /// Table slots.
    pub slots: Vec<Slot>,
    /// Subpass inputs: set 2, binding = index.
    pub subpass_inputs: Vec<SubpassInput>,
    /// Device features that the shader needs, by Vulkan's names.
    pub features: Vec<&'static str>,
    /// Differences between code and reflection; empty for a valid file.
    pub disagreements: Vec<String>,
}

/// One descriptor set layout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SetLayout {
    /// Set number.
    pub set: u32,
    /// Bindings by number.
    pub bindings: Vec<LayoutBinding>,
}

/// One binding of a set layout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LayoutBinding {
    /// Binding number.
    pub binding: u32,
    /// `VK_DESCRIPTOR_TYPE_...`.
    pub descriptor_type: &'static str,
    /// Descriptors: a table's size.
    pub descriptor_count: u32,
    /// `VK_SHADER_STAGE_..._BIT`s.
    pub stage_flags: Vec<&'static str>,
}

/// A push-constant range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PushConstantRange {
    /// `VK_SHADER_STAGE_..._BIT`s.
    pub stage_flags: Vec<&'static str>,
    /// Bytes from the start.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
}

/// Attributes interleaved in declaration order, aligned to four bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VertexLayout {
    /// Bytes of one vertex.
    pub stride: u32,
    /// One attribute per location: matrices have one per column, arrays one per element.
    pub attributes: Vec<VertexAttribute>,
}

/// One vertex attribute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VertexAttribute {
    /// Location.
    pub location: u32,
    /// `VK_FORMAT_...`.
    pub format: &'static str,
    /// Bytes from the start of the vertex.
    pub offset: u32,
    /// Location of the declared input that it belongs to.
    pub input: u32,
}

/// One fragment output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Output {
    /// Location.
    pub location: u32,
    /// `VK_FORMAT_...` with 32-bit components; any attachment of the same numeric class is compatible.
    pub format: &'static str,
}

/// The uniform block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UniformLayout {
    /// Bytes.
    pub size: u32,
    /// `VK_SHADER_STAGE_..._BIT`s of the stages that use it.
    pub stage_flags: Vec<&'static str>,
    /// Members by offset, in scalar layout.
    pub members: Vec<UniformMember>,
}

/// One member of the uniform block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UniformMember {
    /// Name in the source.
    pub name: String,
    /// Bytes from the start of the block.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// `float`, `int`, `uint` or `bool` (32 bits each).
    #[serde(rename = "type")]
    pub ty: String,
    /// Rows: the length of a vector.
    pub rows: u32,
    /// Columns of a matrix, else 1.
    pub columns: u32,
    /// Elements of an array, else 1.
    pub array: u32,
    /// Bytes from one column to the next.
    pub matrix_stride: u32,
    /// Bytes from one element to the next.
    pub array_stride: u32,
}

/// One table slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Slot {
    /// Slot, 0 to 31; its index is the 16-bit push constant at byte `2 * slot`.
    pub slot: u32,
    /// `VK_DESCRIPTOR_TYPE_...` of the table it indexes.
    pub descriptor_type: &'static str,
    /// Binding of that table in set 0.
    pub table: u32,
    /// Whether the shader may write it.
    pub writable: bool,
    /// `VK_SHADER_STAGE_..._BIT`s of the stages that use it.
    pub stage_flags: Vec<&'static str>,
    /// `VK_IMAGE_VIEW_TYPE_...` of images.
    pub view_type: Option<&'static str>,
    /// `VK_FORMAT_...` of storage images and texel buffers; for sampled images, a format of the class they accept.
    pub format: Option<&'static str>,
    /// Bytes of one element of a buffer.
    pub element_size: Option<u32>,
}

/// One subpass input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SubpassInput {
    /// Attachment index and binding in set 2.
    pub index: u32,
    /// `VK_FORMAT_...` with 32-bit components; any attachment of the same numeric class is compatible.
    pub format: &'static str,
}

/// Derives the reflection of a file.
pub fn reflect(file: &Vbc<'_>) -> Reflection {
    let needs = vbc::requirements(file);
    Reflection {
        stages: flags(file.stages()),
        set_layouts: set_layouts(file, &needs),
        push_constant_ranges: push_constants(file, needs.push_constant_bytes),
        vertex: vertex_layout(file),
        outputs: file.outputs().map(output).collect(),
        uniform: uniform(file),
        slots: file.bindings().map(slot).collect(),
        subpass_inputs: file.subpass_inputs().enumerate().map(subpass).collect(),
        features: needs.features.iter().map(|need| need.feature.name()).collect(),
        disagreements: disagreements(file),
    }
}

/// Vulkan's stage flags of a stage mask.
fn flags(stages: Stages) -> Vec<&'static str> {
    let name = |stage| match stage {
        Stage::Vert => "VK_SHADER_STAGE_VERTEX_BIT",
        Stage::Tesc => "VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT",
        Stage::Tese => "VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT",
        Stage::Geom => "VK_SHADER_STAGE_GEOMETRY_BIT",
        Stage::Frag => "VK_SHADER_STAGE_FRAGMENT_BIT",
    };
    stages.iter().map(name).collect()
}

/// Vulkan's name of a descriptor kind.
fn descriptor_type(kind: vbc::DescriptorKind) -> &'static str {
    use vbc::DescriptorKind as Kind;
    match kind {
        Kind::CombinedImageSampler => "VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER",
        Kind::StorageImage => "VK_DESCRIPTOR_TYPE_STORAGE_IMAGE",
        Kind::StorageBuffer => "VK_DESCRIPTOR_TYPE_STORAGE_BUFFER",
        Kind::UniformTexelBuffer => "VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER",
        Kind::StorageTexelBuffer => "VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER",
        Kind::UniformBuffer => "VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER",
        Kind::InputAttachment => "VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT",
    }
}

fn set_layouts(file: &Vbc<'_>, needs: &vbc::Requirements) -> Vec<SetLayout> {
    let count = needs.descriptors.iter().map(|need| need.set + 1).max().unwrap_or(0);
    // A table may be used by no stage in the reflection, but a layout must name at least one stage.
    let stages = |mask: Stages| flags(if mask == Stages::NONE { file.stages() } else { mask });
    let of_set = |set| {
        let of_set = needs.descriptors.iter().filter(|need| need.set == set);
        let bindings = of_set.map(|need| LayoutBinding {
            binding: need.binding,
            descriptor_type: descriptor_type(need.kind),
            descriptor_count: need.count,
            stage_flags: stages(need.stages),
        });
        SetLayout {
            set,
            bindings: bindings.collect(),
        }
    };
    (0..count).map(of_set).collect()
}

fn push_constants(file: &Vbc<'_>, size: u32) -> Vec<PushConstantRange> {
    let used = file.bindings().fold(0, |mask, binding| mask | binding.stages.0);
    let stages = if used == 0 { file.stages() } else { Stages(used) };
    let range = PushConstantRange {
        stage_flags: flags(stages),
        offset: 0,
        size,
    };
    if size == 0 { Vec::new() } else { vec![range] }
}

/// Vulkan's format of a vector of 32-bit components; `VK_FORMAT_UNDEFINED` for anything else.
fn vector_format(base: BaseType, rows: u8) -> &'static str {
    const FORMATS: [(BaseType, [&str; 4]); 3] = [
        (
            BaseType::FLOAT,
            [
                "VK_FORMAT_R32_SFLOAT",
                "VK_FORMAT_R32G32_SFLOAT",
                "VK_FORMAT_R32G32B32_SFLOAT",
                "VK_FORMAT_R32G32B32A32_SFLOAT",
            ],
        ),
        (
            BaseType::INT,
            [
                "VK_FORMAT_R32_SINT",
                "VK_FORMAT_R32G32_SINT",
                "VK_FORMAT_R32G32B32_SINT",
                "VK_FORMAT_R32G32B32A32_SINT",
            ],
        ),
        (
            BaseType::UINT,
            [
                "VK_FORMAT_R32_UINT",
                "VK_FORMAT_R32G32_UINT",
                "VK_FORMAT_R32G32B32_UINT",
                "VK_FORMAT_R32G32B32A32_UINT",
            ],
        ),
    ];
    let row = FORMATS.iter().find(|row| row.0 == base);
    row.and_then(|row| row.1.get(usize::from(rows).checked_sub(1)?))
        .copied()
        .unwrap_or("VK_FORMAT_UNDEFINED")
}

/// The base type of a texel's components.
fn texel_base(texel: TexelType) -> BaseType {
    match texel {
        TexelType::INT => BaseType::INT,
        TexelType::UINT => BaseType::UINT,
        _ => BaseType::FLOAT,
    }
}

/// Vertex inputs interleaved in one buffer: the layout of the struct of [`rust::structs`], usable as a pipeline's
/// vertex bindings.
pub fn vertex_layout(file: &Vbc<'_>) -> VertexLayout {
    let mut layout = VertexLayout::default();
    for input in file.inputs() {
        let step = 4 * u32::from(input.dims[0]);
        for element in 0..input.locations() {
            layout.attributes.push(VertexAttribute {
                location: u32::from(input.location) + element,
                format: vector_format(input.base, input.dims[0]),
                offset: layout.stride,
                input: input.location.into(),
            });
            layout.stride += step;
        }
    }
    layout
}

fn output(output: Variable) -> Output {
    Output {
        location: output.location.into(),
        format: vector_format(output.base, output.dims[0]),
    }
}

fn uniform(file: &Vbc<'_>) -> Option<UniformLayout> {
    let uniform = file.uniform()?;
    let member = |member: vbc::Member<'_>| {
        let [rows, columns] = member.dims.map(u32::from);
        UniformMember {
            name: String::from_utf8_lossy(member.name).into_owned(),
            offset: member.offset,
            size: member.extent(),
            ty: member.base.to_string(),
            rows,
            columns,
            array: member.array.into(),
            matrix_stride: 4 * rows,
            array_stride: 4 * rows * columns,
        }
    };
    let members = uniform.members().map(member).collect();
    Some(UniformLayout {
        size: uniform.size,
        stage_flags: flags(uniform.stages),
        members,
    })
}

fn slot(binding: Binding) -> Slot {
    let table = Tables::index_of(binding.base).unwrap_or(0);
    let (view_type, format, element_size) = match binding.shape {
        Shape::Buffer { size } => (None, None, Some(size.into())),
        Shape::Texel {
            rank,
            texel,
            size,
            components,
        } => (view_type(rank), texel_format(texel, size, components), None),
    };
    Slot {
        slot: binding.slot.into(),
        descriptor_type: descriptor_type(vbc::DescriptorKind::TABLES[table]),
        table: table as u32,
        writable: matches!(
            binding.base,
            BaseType::IMAGE | BaseType::RW_BUFFER | BaseType::RW_TEXELS
        ),
        stage_flags: flags(binding.stages),
        view_type,
        format,
        element_size,
    }
}

fn view_type(rank: TexelRank) -> Option<&'static str> {
    Some(match rank {
        TexelRank::D1 => "VK_IMAGE_VIEW_TYPE_1D",
        TexelRank::D2 => "VK_IMAGE_VIEW_TYPE_2D",
        TexelRank::D3 => "VK_IMAGE_VIEW_TYPE_3D",
        TexelRank::D1_ARRAY => "VK_IMAGE_VIEW_TYPE_1D_ARRAY",
        TexelRank::D2_ARRAY => "VK_IMAGE_VIEW_TYPE_2D_ARRAY",
        TexelRank::CUBE => "VK_IMAGE_VIEW_TYPE_CUBE",
        _ => return None,
    })
}

/// Vulkan's format of a texel.
fn texel_format(texel: TexelType, size: u8, components: u8) -> Option<&'static str> {
    const NORMALISED: [(TexelType, u8, [&str; 3]); 4] = [
        (
            TexelType::UNORM,
            1,
            ["VK_FORMAT_R8_UNORM", "VK_FORMAT_R8G8_UNORM", "VK_FORMAT_R8G8B8A8_UNORM"],
        ),
        (
            TexelType::SNORM,
            1,
            ["VK_FORMAT_R8_SNORM", "VK_FORMAT_R8G8_SNORM", "VK_FORMAT_R8G8B8A8_SNORM"],
        ),
        (
            TexelType::UNORM,
            2,
            [
                "VK_FORMAT_R16_UNORM",
                "VK_FORMAT_R16G16_UNORM",
                "VK_FORMAT_R16G16B16A16_UNORM",
            ],
        ),
        (
            TexelType::SNORM,
            2,
            [
                "VK_FORMAT_R16_SNORM",
                "VK_FORMAT_R16G16_SNORM",
                "VK_FORMAT_R16G16B16A16_SNORM",
            ],
        ),
    ];
    if size == 4 {
        return Some(vector_format(texel_base(texel), components));
    }
    let row = NORMALISED.iter().find(|row| row.0 == texel && row.1 == size)?;
    let column = [1, 2, 4].iter().position(|count| *count == components)?;
    Some(row.2[column])
}

fn subpass((index, input): (usize, vbc::SubpassInput)) -> SubpassInput {
    let format = vector_format(texel_base(input.texel), input.components);
    SubpassInput {
        index: index as u32,
        format,
    }
}

/// The validator's errors about the stages' code.
fn disagreements(file: &Vbc<'_>) -> Vec<String> {
    let report = vbc::validate(file);
    let of_code = |d: &&crate::Diagnostic| {
        d.severity == Severity::Error && Stage::ALL.iter().any(|stage| d.place == stage.name())
    };
    report
        .diagnostics
        .iter()
        .filter(of_code)
        .map(ToString::to_string)
        .collect()
}
