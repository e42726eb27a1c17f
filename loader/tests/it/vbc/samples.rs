//! Our own VBC samples: small files generated from the format's description, covering each section and dialect.

use loader::vbc::{
    BaseType, Binding, Model, Shape, Stage, Stages, SubpassInput, Tables, TexelRank, TexelType, UniformMember,
    UniformModel, Variable,
};

/// Every sample in `tests/data`, by file name.
pub(super) fn all() -> [(&'static str, Vec<u8>); 5] {
    let written = |model: &Model| loader::vbc::write(model).expect("a sample that can be written");
    [
        ("minimal.vbc", written(&minimal())),
        ("everything.vbc", written(&everything())),
        ("five_stages.vbc", written(&five_stages())),
        ("legacy.vbc", legacy(&everything())),
        ("raw_subpass.vbc", raw_subpass(&everything())),
    ]
}

/// Vertex and fragment stage that declare nothing.
pub(super) fn minimal() -> Model {
    let mut model = Model::default();
    for stage in [Stage::Vert, Stage::Frag] {
        *model.code_mut(stage) = Module::new().finish(stage);
    }
    model
}

/// All five stages, declaring nothing.
pub(super) fn five_stages() -> Model {
    let mut model = Model::default();
    for stage in Stage::ALL {
        *model.code_mut(stage) = Module::new().finish(stage);
    }
    model
}

const SMALL_TABLES: Tables = Tables {
    samplers: 16,
    images: 8,
    buffers: 4,
    rotexels: 2,
    rwtexels: 3,
};

/// An entry in every section, all declared in the code.
pub(super) fn everything() -> Model {
    let frag = Stages(Stage::Frag.bit());
    let variable = |location, base, dims, array| Variable {
        location,
        base,
        dims,
        array,
    };
    let member = |name: &str, offset, base, dims, array| UniformMember {
        name: name.into(),
        offset,
        base,
        dims,
        array,
    };
    let binding = |slot, base, stages, shape| Binding {
        slot,
        base,
        stages,
        shape,
    };
    let texel = |rank, texel, size, components| Shape::Texel {
        rank,
        texel,
        size,
        components,
    };
    let mut model = Model {
        tables: SMALL_TABLES,
        inputs: vec![
            variable(0, BaseType::FLOAT, [3, 1], 1),
            variable(1, BaseType::FLOAT, [4, 3], 1),
            variable(4, BaseType::UINT, [2, 1], 2),
        ],
        outputs: vec![
            variable(1, BaseType::INT, [1, 1], 1),
            variable(0, BaseType::FLOAT, [4, 1], 1),
        ],
        bindings: vec![
            binding(0, BaseType::SAMPLER, frag, texel(TexelRank::D2, TexelType::FLOAT, 4, 4)),
            binding(2, BaseType::SAMPLER, frag, texel(TexelRank::D3, TexelType::UINT, 4, 4)),
            binding(
                9,
                BaseType::IMAGE,
                frag,
                texel(TexelRank::D2_ARRAY, TexelType::UNORM, 1, 4),
            ),
            binding(3, BaseType::RO_BUFFER, Stages::VERT_FRAG, Shape::Buffer { size: 20 }),
            binding(4, BaseType::RW_BUFFER, frag, Shape::Buffer { size: 16 }),
            binding(
                5,
                BaseType::RO_TEXELS,
                frag,
                texel(TexelRank::BUFFER, TexelType::INT, 4, 4),
            ),
            binding(
                6,
                BaseType::RW_TEXELS,
                frag,
                texel(TexelRank::BUFFER, TexelType::FLOAT, 4, 2),
            ),
        ],
        uniform: Some(UniformModel {
            size: 100,
            stages: Stages::VERT_FRAG,
            members: vec![
                member("mvp", 0, BaseType::FLOAT, [4, 4], 1),
                member("tint", 64, BaseType::FLOAT, [3, 1], 1),
                member("lit", 76, BaseType::BOOL, [1, 1], 1),
                member("weights", 80, BaseType::INT, [1, 1], 5),
            ],
        }),
        subpass_inputs: [TexelType::FLOAT, TexelType::UINT]
            .map(|texel| SubpassInput { texel, components: 4 })
            .to_vec(),
        code: Default::default(),
    };
    *model.code_mut(Stage::Vert) = everything_vert();
    *model.code_mut(Stage::Frag) = everything_frag();
    model
}

fn everything_vert() -> Vec<u32> {
    let mut m = Module::new();
    let (float, uint) = (m.float(), m.int(0));
    let (float3, float4, uint2) = (m.vector(float, 3), m.vector(float, 4), m.vector(uint, 2));
    let (matrix, pair) = (m.matrix(float4, 3), m.array(uint2, 2));
    m.located(INPUT, float3, 0);
    m.located(INPUT, matrix, 1);
    m.located(INPUT, pair, 4);
    m.uniform();
    m.push_block(5);
    m.buffer_table(20, true);
    m.finish(Stage::Vert)
}

fn everything_frag() -> Vec<u32> {
    let mut m = Module::new();
    for capability in [46, 47, 49, 40, 5304, 5305] {
        m.capability(capability);
    }
    let (float, int, uint) = (m.float(), m.int(1), m.int(0));
    let float4 = m.vector(float, 4);
    m.located(OUTPUT, int, 1);
    m.located(OUTPUT, float4, 0);
    m.uniform();
    m.push_block(5);
    m.buffer_table(20, true);
    m.buffer_table(16, false);
    let image = m.image(float, 1, 0, 1, 0);
    let sampled = m.declare(27, &[image]);
    m.table(UNIFORM_CONSTANT, sampled, 16, 0);
    let image = m.image(uint, 2, 0, 1, 0);
    let sampled = m.declare(27, &[image]);
    m.table(UNIFORM_CONSTANT, sampled, 16, 0);
    let image = m.image(float, 1, 1, 2, 4);
    m.table(UNIFORM_CONSTANT, image, 8, 1);
    let image = m.image(int, 5, 0, 1, 0);
    m.table(UNIFORM_CONSTANT, image, 2, 3);
    let image = m.image(float, 5, 0, 2, 6);
    m.table(UNIFORM_CONSTANT, image, 3, 4);
    for (index, component) in [float, uint].into_iter().enumerate() {
        let image = m.image(component, 6, 0, 2, 0);
        let variable = m.variable(UNIFORM_CONSTANT, image);
        m.descriptor(variable, 2, index as u32);
        m.decorate(&[variable, 43, index as u32]);
    }
    m.finish(Stage::Frag)
}

const UNIFORM_CONSTANT: u32 = 0;
const INPUT: u32 = 1;
const UNIFORM: u32 = 2;
const OUTPUT: u32 = 3;
const PUSH_CONSTANT: u32 = 9;
const STORAGE_BUFFER: u32 = 12;

/// A SPIR-V module under construction: declarations, and a `main` that returns.
#[derive(Default)]
struct Module {
    capabilities: Vec<u32>,
    annotations: Vec<u32>,
    declarations: Vec<u32>,
    /// Declarations without their result, to declare equal types once.
    known: Vec<(Vec<u32>, u32)>,
    globals: Vec<u32>,
    bound: u32,
}

fn put(out: &mut Vec<u32>, opcode: u32, operands: &[u32]) {
    out.push((operands.len() as u32 + 1) << 16 | opcode);
    out.extend(operands);
}

impl Module {
    fn new() -> Self {
        let mut module = Self {
            bound: 1,
            ..Self::default()
        };
        module.capability(1); // Shader
        module
    }

    fn id(&mut self) -> u32 {
        self.bound += 1;
        self.bound - 1
    }

    fn capability(&mut self, capability: u32) {
        put(&mut self.capabilities, 17, &[capability]);
    }

    fn decorate(&mut self, operands: &[u32]) {
        put(&mut self.annotations, 71, operands);
    }

    fn member_decorate(&mut self, operands: &[u32]) {
        put(&mut self.annotations, 72, operands);
    }

    /// A type that may be declared again under another id.
    fn declare(&mut self, opcode: u32, operands: &[u32]) -> u32 {
        let id = self.id();
        put(&mut self.declarations, opcode, &[&[id], operands].concat());
        id
    }

    /// A type that is declared once.
    fn once(&mut self, opcode: u32, operands: &[u32]) -> u32 {
        let key = [&[opcode], operands].concat();
        if let Some((_, id)) = self.known.iter().find(|known| known.0 == key) {
            return *id;
        }
        let id = self.declare(opcode, operands);
        self.known.push((key, id));
        id
    }

    fn float(&mut self) -> u32 {
        self.once(22, &[32])
    }

    fn int(&mut self, signed: u32) -> u32 {
        self.once(21, &[32, signed])
    }

    fn vector(&mut self, component: u32, rows: u32) -> u32 {
        self.once(23, &[component, rows])
    }

    fn matrix(&mut self, column: u32, columns: u32) -> u32 {
        self.once(24, &[column, columns])
    }

    fn image(&mut self, sampled_type: u32, dim: u32, arrayed: u32, sampled: u32, format: u32) -> u32 {
        self.once(25, &[sampled_type, dim, 0, arrayed, 0, sampled, format])
    }

    fn constant(&mut self, value: u32) -> u32 {
        let uint = self.int(0);
        let id = self.id();
        put(&mut self.declarations, 43, &[uint, id, value]);
        id
    }

    fn array(&mut self, element: u32, length: u32) -> u32 {
        let length = self.constant(length);
        self.declare(28, &[element, length])
    }

    fn variable(&mut self, class: u32, pointee: u32) -> u32 {
        let pointer = self.once(32, &[class, pointee]);
        let id = self.id();
        put(&mut self.declarations, 59, &[pointer, id, class]);
        self.globals.push(id);
        id
    }

    fn located(&mut self, class: u32, pointee: u32, location: u32) {
        let id = self.variable(class, pointee);
        self.decorate(&[id, 30, location]);
    }

    fn descriptor(&mut self, variable: u32, set: u32, binding: u32) {
        self.decorate(&[variable, 34, set]);
        self.decorate(&[variable, 33, binding]);
    }

    fn table(&mut self, class: u32, element: u32, length: u32, binding: u32) -> u32 {
        let array = self.array(element, length);
        let variable = self.variable(class, array);
        self.descriptor(variable, 0, binding);
        variable
    }

    /// A block of `uints` push constants.
    fn push_block(&mut self, uints: u32) {
        let uint = self.int(0);
        let block = self.declare(30, &vec![uint; uints as usize]);
        for i in 0..uints {
            self.member_decorate(&[block, i, 35, 4 * i]);
        }
        self.decorate(&[block, 2]);
        self.variable(PUSH_CONSTANT, block);
    }

    /// The buffers' table, of structs that are arrays of floats in `stride` bytes.
    fn buffer_table(&mut self, stride: u32, read_only: bool) {
        let float = self.float();
        let element = self.declare(30, &vec![float; stride as usize / 4]);
        for i in 0..stride / 4 {
            self.member_decorate(&[element, i, 35, 4 * i]);
        }
        let array = self.declare(29, &[element]);
        self.decorate(&[array, 6, stride]);
        let block = self.declare(30, &[array]);
        self.member_decorate(&[block, 0, 35, 0]);
        if read_only {
            self.member_decorate(&[block, 0, 24]);
        }
        self.decorate(&[block, 2]);
        self.table(STORAGE_BUFFER, block, u32::from(SMALL_TABLES.buffers), 2);
    }

    /// The uniform of [`everything`].
    fn uniform(&mut self) {
        let (float, uint, int) = (self.float(), self.int(0), self.int(1));
        let (float3, float4) = (self.vector(float, 3), self.vector(float, 4));
        let matrix = self.matrix(float4, 4);
        let weights = self.array(int, 5);
        self.decorate(&[weights, 6, 4]);
        let user = self.declare(30, &[matrix, float3, uint, weights]);
        for (i, offset) in [0, 64, 76, 80].into_iter().enumerate() {
            self.member_decorate(&[user, i as u32, 35, offset]);
        }
        self.member_decorate(&[user, 0, 5]);
        self.member_decorate(&[user, 0, 7, 16]);
        let block = self.declare(30, &[user]);
        self.member_decorate(&[block, 0, 35, 0]);
        self.decorate(&[block, 2]);
        let variable = self.variable(UNIFORM, block);
        self.descriptor(variable, 1, 0);
    }

    /// The module with a `main` of the stage's execution model.
    fn finish(mut self, stage: Stage) -> Vec<u32> {
        let (void, main, label) = (self.id(), self.id(), self.id());
        let function = self.id();
        let model = stage.index() as u32;
        let mut out = vec![loader::spirv::MAGIC, 0x0001_0500, 0, self.bound, 0];
        match stage {
            Stage::Vert | Stage::Frag => {}
            Stage::Tesc | Stage::Tese => put(&mut self.capabilities, 17, &[3]),
            Stage::Geom => put(&mut self.capabilities, 17, &[2]),
        }
        out.extend(&self.capabilities);
        put(&mut out, 14, &[0, 1]);
        let name = [u32::from_le_bytes(*b"main"), 0];
        put(&mut out, 15, &[&[model, main], &name[..], &self.globals].concat());
        let modes: &[&[u32]] = match stage {
            Stage::Vert => &[],
            Stage::Tesc => &[&[26, 3]],
            Stage::Tese => &[&[22], &[1], &[5]],
            Stage::Geom => &[&[22], &[0, 1], &[29], &[26, 3]],
            Stage::Frag => &[&[7]],
        };
        for mode in modes {
            put(&mut out, 16, &[&[main], *mode].concat());
        }
        out.extend(&self.annotations);
        out.extend(&self.declarations);
        put(&mut out, 19, &[void]);
        put(&mut out, 33, &[function, void]);
        put(&mut out, 54, &[void, main, 0, function]);
        put(&mut out, 248, &[label]);
        put(&mut out, 253, &[]);
        put(&mut out, 56, &[]);
        out
    }
}

/// The model as the compiler of the legacy dialect would have written it.
pub(super) fn legacy(model: &Model) -> Vec<u8> {
    let base = |base: BaseType| match base.0 {
        7..=10 => base.0 + 1,
        other => other,
    };
    let current = loader::vbc::write(&Model {
        bindings: Vec::new(),
        uniform: None,
        subpass_inputs: Vec::new(),
        code: Default::default(),
        ..model.clone()
    });
    let mut out = current.expect("a sample that can be written");
    out.truncate(out.len() - 4 - 2 - 4); // bindings, uniform, subpass inputs: none
    for stage in Stage::ALL {
        let count = model.code(stage).len() as u16;
        out[5 + 2 * stage.index()..][..2].copy_from_slice(&count.to_le_bytes());
    }
    out.extend((model.bindings.len() as u32).to_le_bytes());
    for binding in &model.bindings {
        out.extend([binding.slot, base(binding.base)]);
        out.extend(binding.stages.0.to_le_bytes());
        out.extend(match binding.shape {
            Shape::Buffer { size } => {
                let [low, high] = size.to_le_bytes();
                [low, high, 0, 0]
            }
            Shape::Texel {
                rank,
                texel,
                size,
                components,
            } => {
                let number = if texel == TexelType::UNORM { 4 } else { texel.0 + 2 };
                let fixed = matches!(binding.base, BaseType::SAMPLER | BaseType::RO_TEXELS);
                let (size, components) = if fixed { (0, 0) } else { (size, components) };
                [rank.0 + 1, number, size, components]
            }
        });
    }
    match &model.uniform {
        None => out.extend(0u32.to_le_bytes()),
        Some(uniform) => {
            out.extend(uniform.size.to_le_bytes());
            out.extend(uniform.stages.0.to_le_bytes());
            out.extend((uniform.members.len() as u32).to_le_bytes());
            for member in &uniform.members {
                out.extend(member.offset.to_le_bytes());
                out.extend([member.base.0, member.dims[0], member.dims[1], member.array]);
                out.extend((member.name.len() as u32).to_le_bytes());
                out.extend(&member.name);
            }
        }
    }
    out.extend((model.subpass_inputs.len() as u32).to_le_bytes());
    for input in &model.subpass_inputs {
        out.extend([input.texel.0 + 2, input.components, 0, 0]);
    }
    out.extend(model.code.iter().flatten().flat_map(|word| word.to_le_bytes()));
    out
}

/// The model with subpass inputs as the compiler's 48-byte objects: string (pointer, length, 16 inline bytes), index,
/// pointer to the type.
pub(super) fn raw_subpass(model: &Model) -> Vec<u8> {
    let written = loader::vbc::write(model).expect("a sample that can be written");
    let code_bytes = 4 * model.code.iter().map(Vec::len).sum::<usize>();
    let (reflection, code) = written.split_at(written.len() - code_bytes);
    let (head, _) = reflection.split_at(reflection.len() - 4 * model.subpass_inputs.len());
    let mut out = head.to_vec();
    for index in 0..model.subpass_inputs.len() as u32 {
        let name = format!("input{index}");
        let mut inline = [0; 16];
        inline[..name.len()].copy_from_slice(name.as_bytes());
        out.extend(0x5581_9100_0010u64.to_le_bytes());
        out.extend((name.len() as u64).to_le_bytes());
        out.extend(inline);
        out.extend(index.to_le_bytes());
        out.extend([0; 4]);
        out.extend(0x5581_9100_2000u64.to_le_bytes());
    }
    out.extend(code);
    out
}
