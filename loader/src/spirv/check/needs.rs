//! Capabilities, extensions, versions, entry points and decorations.

use super::{Checked, Item};
use crate::spirv::grammar::{Gate, Shape};
use crate::spirv::operand::{bits, string, string_words};
use crate::spirv::{capability, class, decoration as dec, model, op};
use std::collections::{HashMap, HashSet};

pub(super) fn check(module: &mut Checked<'_>) {
    let have = declared(module);
    module.capabilities.clone_from(&have);
    let extensions: HashSet<String> = module
        .items
        .iter()
        .filter(|i| i.opcode() == op::EXTENSION)
        .filter_map(|i| string(&i.words[1..]))
        .map(|s| s.0)
        .collect();
    let entries = Entries::new(module);
    let ballots = extensions.contains("SPV_AMD_shader_ballot");
    let scans = ballots || have.contains(&capability::KERNEL);
    let rounds = ROUNDING.iter().any(|capability| have.contains(capability));
    extension_versions(module);
    let grammar = module.grammar;
    for at in 0..module.items.len() {
        let item = module.items[at];
        if item.opcode() != op::CAPABILITY && !(ballots && item.name().ends_with("NonUniformAMD")) {
            gate(
                module,
                &item,
                (&item.row.gate, false),
                &item.row.name,
                &have,
                &extensions,
            );
        }
        for place in item.places() {
            let place = module.operands[place];
            let Some(kind) = grammar.kind(place.kind) else { continue };
            if !matches!(kind.shape, Shape::Value | Shape::Mask) {
                continue;
            }
            let word = item.words[usize::from(place.at)];
            let free = match &*kind.name {
                "BuiltIn" => NAMED_FREELY.contains(&word),
                // Reduce, InclusiveScan and ExclusiveScan.
                "GroupOperation" => scans && word <= 2,
                "FPRoundingMode" => rounds,
                "Decoration" => rounds && word == dec::FP_ROUNDING_MODE,
                _ => false,
            };
            if free {
                continue;
            }
            match kind.shape {
                Shape::Value => {
                    // Aliases share a value: one enabled alias suffices.
                    let aliases = kind.aliases(word).iter();
                    let mut all = Gate {
                        version: u32::MAX,
                        last_version: aliases
                            .clone()
                            .map(|row| row.gate().last_version)
                            .max()
                            .unwrap_or(u32::MAX),
                        ..Gate::default()
                    };
                    for row in aliases {
                        let new = row
                            .gate()
                            .capabilities
                            .iter()
                            .filter(|id| !all.capabilities.contains(id));
                        let new: Vec<u32> = new.copied().collect();
                        all.capabilities.extend(new);
                        let new = row
                            .gate()
                            .extensions
                            .iter()
                            .filter(|name| !all.extensions.contains(name));
                        let new: Vec<_> = new.cloned().collect();
                        all.extensions.extend(new);
                        all.version = all.version.min(row.gate().version);
                    }
                    if kind.name == "Capability" {
                        all.capabilities.clear();
                    }
                    let name = kind.value(word).map_or("", |row| &row.name);
                    gate(module, &item, (&all, true), name, &have, &extensions);
                }
                Shape::Mask => {
                    for row in bits(word).filter_map(|bit| kind.value(bit)) {
                        gate(module, &item, (row.gate(), true), &row.name, &have, &extensions);
                    }
                }
                _ => {}
            }
        }
        if item.is_extended()
            && let Some(Some(set)) = module.context.set(item.word(3))
            && let Some(row) = grammar.sets[set].row(item.word(4))
        {
            gate(module, &item, (&row.gate, false), &row.name, &have, &extensions);
        }
        match item.opcode() {
            op::ENTRY_POINT => entry_point(module, &item, &entries),
            op::EXECUTION_MODE | op::EXECUTION_MODE_ID => {
                let entry = item.word(1);
                if !entries.functions.contains(&entry) {
                    module.fail("execution-mode", &item, format!("id {entry} is not an entry point"));
                }
            }
            op::MEMBER_NAME => {
                if let Some(target) = module
                    .def(item.word(1))
                    .filter(|t| t.opcode() != op::TYPE_STRUCT || item.word(2) as usize >= t.args().len())
                {
                    module.fail(
                        "member",
                        &item,
                        format!("%{} has no member {}", target.result, item.word(2)),
                    );
                }
            }
            _ => {}
        }
    }
    let linkage = have.contains(&capability::LINKAGE);
    if !linkage && entries.functions.is_empty() {
        module.header(
            "entry-point",
            "neither an entry point nor the capability Linkage".to_owned(),
            5,
        );
    }
}

/// Extensions written against version 1.4.
fn extension_versions(module: &mut Checked<'_>) {
    const FROM_1_4: [&str; 3] = [
        "SPV_EXT_mesh_shader",
        "SPV_KHR_workgroup_memory_explicit_layout",
        "SPV_NV_shader_invocation_reorder",
    ];
    for at in 0..module.items.len() {
        let item = module.items[at];
        let name = (item.opcode() == op::EXTENSION)
            .then(|| string(&item.words[1..]))
            .flatten();
        if module.words[1] < 0x10400 && name.is_some_and(|(name, _)| FROM_1_4.contains(&&*name)) {
            module.fail("version", &item, "the extension needs version 1.4");
        }
    }
}

/// Capabilities declared or implied.
fn declared(module: &Checked<'_>) -> HashSet<u32> {
    let mut open: Vec<u32> = module
        .items
        .iter()
        .filter(|i| i.opcode() == op::CAPABILITY)
        .map(|i| i.word(1))
        .collect();
    let kind = module.grammar.kind_of("Capability");
    let mut have = HashSet::new();
    while let Some(capability) = open.pop() {
        if have.insert(capability) {
            open.extend(
                kind.and_then(|k| k.value(capability))
                    .into_iter()
                    .flat_map(|row| &row.gate().capabilities),
            );
        }
    }
    have
}

/// Checks the conditions of an instruction, or of one of its enumerants.
fn gate(
    module: &mut Checked<'_>,
    item: &Item<'_>,
    (gate, enumerant): (&Gate, bool),
    name: &str,
    have: &HashSet<u32>,
    extensions: &HashSet<String>,
) {
    if !gate.capabilities.is_empty() && !gate.capabilities.iter().any(|c| have.contains(c)) {
        let kind = module.grammar.kind_of("Capability");
        let names: Vec<_> = gate
            .capabilities
            .iter()
            .filter_map(|c| Some(kind?.value(*c)?.name.as_ref()))
            .collect();
        module.fail(
            "capability",
            item,
            format!("{name} needs the capability {}", names.join(" or ")),
        );
    }
    let last = gate.last_version;
    if last < module.words[1] {
        module.fail(
            "version",
            item,
            format!("{name} is not in versions after {}.{}", last >> 16, last >> 8 & 255),
        );
    }
    if gate.version <= module.words[1] {
        return;
    }
    // A capability that itself is of an extension requires one, which need not be that of the instruction.
    let kind = module.grammar.kind_of("Capability");
    let of_extension = |id: &u32| {
        let row = kind.and_then(|kind| kind.value(*id));
        row.is_some_and(|row| row.gate().version == u32::MAX && !row.gate().extensions.is_empty())
    };
    let granted = gate.version == u32::MAX && gate.capabilities.iter().any(|id| have.contains(id) && of_extension(id));
    let enabled = granted || gate.extensions.iter().any(|e| extensions.contains(&**e));
    // A capability brings an instruction into earlier versions, but not an enumerant.
    let by_capability = gate.version == u32::MAX || !gate.capabilities.is_empty() && !enumerant;
    let enabled = enabled || gate.extensions.is_empty() && by_capability;
    if !enabled {
        module.fail(
            "version",
            item,
            format!(
                "{name} needs a later version or one of the extensions {:?}",
                gate.extensions
            ),
        );
    }
}

/// Entry points, gathered once.
struct Entries<'a> {
    functions: HashSet<u32>,
    /// Number of entry points with a model and a name.
    names: HashMap<(u32, &'a [u32]), u32>,
}

impl<'a> Entries<'a> {
    fn new(module: &Checked<'a>) -> Self {
        let mut all = Self {
            functions: HashSet::new(),
            names: HashMap::new(),
        };
        for item in &module.items {
            if item.opcode() == op::ENTRY_POINT {
                all.functions.insert(item.word(2));
                *all.names.entry((item.word(1), Self::name(item))).or_default() += 1;
            }
        }
        all
    }

    /// The words of an entry point's name.
    fn name(item: &Item<'a>) -> &'a [u32] {
        let words = item.words.get(3..).unwrap_or(&[]);
        &words[..string_words(words).unwrap_or(0)]
    }

    /// Number of entry points with this one's model and name.
    fn twins(&self, item: &Item<'a>) -> u32 {
        self.names.get(&(item.word(1), Self::name(item))).copied().unwrap_or(0)
    }
}

fn entry_point<'a>(module: &mut Checked<'a>, item: &Item<'a>, entries: &Entries<'a>) {
    let Some(function) = module.def(item.word(2)).filter(|f| f.opcode() == op::FUNCTION) else {
        return module.fail("entry-point", item, "names no function");
    };
    let kernel = item.word(1) == model::KERNEL;
    let signature = module.def(function.word(4));
    if !kernel && signature.is_some_and(|s| s.args().len() != 1 || module.opcode(s.word(2)) != op::TYPE_VOID) {
        module.fail("entry-point", item, "an entry point has parameters or a result");
    }
    let skip = 3 + string(&item.words[3..]).map_or(0, |s| s.1);
    let late = module.words[1] >= 0x10400;
    let mut seen = HashSet::new();
    for id in item.words.get(skip..).unwrap_or(&[]) {
        match module.def(*id) {
            Some(v) if matches!(v.opcode(), op::VARIABLE | op::UNTYPED_VARIABLE_KHR) => {
                let class = v.word(3);
                if class == class::FUNCTION || (!late && class != class::INPUT && class != class::OUTPUT) {
                    module.fail(
                        "interface",
                        item,
                        format!("%{id} of storage class {class} is not an interface variable"),
                    );
                }
            }
            _ => module.fail("interface", item, format!("%{id} is not a variable")),
        }
        if !seen.insert(*id) && late {
            module.fail("interface", item, format!("%{id} is named twice"));
        }
    }
    if entries.twins(item) > 1 {
        module.fail("entry-point", item, "name and model are those of another entry point");
    }
}

/// Capabilities for 16-bit conversions, which allow rounding modes.
const ROUNDING: [u32; 5] = [
    capability::STORAGE_BUFFER_16,
    capability::STORAGE_UNIFORM_16,
    capability::STORAGE_PUSH_CONSTANT_16,
    capability::STORAGE_INPUT_OUTPUT_16,
    capability::WORKGROUP_EXPLICIT_LAYOUT_16,
];

/// Built-ins of the default vertex block, which modules may declare without their capabilities: PointSize, ClipDistance
/// and CullDistance.
const NAMED_FREELY: [u32; 3] = [1, 3, 4];
