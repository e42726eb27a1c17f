//! Every rule of a file that can be checked without a device.
//!
//! The reflection is checked here; `agree` checks the SPIR-V against it. Findings have a stable rule name and the byte
//! offset of the offending record or field.

use super::limits::*;
use super::types::{BaseType, Binding, Dialect, Shape, Stage, Stages, Tables, TexelRank, TexelType, Variable};
use super::view::{Member, Records, Subpass, Uniform, Vbc};
use super::{agree, interface, primitive, read, view};
use crate::{Report, Severity, spirv};
use std::fmt;

/// Reads and validates a file; a read error becomes the only finding.
pub fn check(bytes: &[u8]) -> Report {
    match read(bytes) {
        Ok(file) => validate(&file),
        Err(error) => Report {
            diagnostics: vec![(&error).into()],
        },
    }
}

/// Checks every rule of the format; the reader's findings come first.
///
/// Device limits are not checked. If a section has more records than the format allows, that is reported and the excess
/// records are not checked.
pub fn validate(file: &Vbc) -> Report {
    let mut report = Report {
        diagnostics: file.diagnostics.clone(),
    };
    let mut checks = Checks {
        file,
        report: &mut report,
    };
    checks.stages();
    checks.inputs();
    checks.outputs();
    checks.bindings();
    if let Some(uniform) = file.uniform {
        checks.uniform(uniform);
    }
    checks.subpass_inputs();
    checks.end();
    interface::check(file, &mut report);
    primitive::check(file, &mut report);
    report
}

struct Checks<'f, 'a> {
    file: &'f Vbc<'a>,
    report: &'f mut Report,
}

impl Checks<'_, '_> {
    fn error(&mut self, rule: &'static str, place: impl fmt::Display, message: impl Into<String>, offset: u64) {
        self.report.push(Severity::Error, rule, place, message, Some(offset));
    }

    fn warn(&mut self, rule: &'static str, place: impl fmt::Display, message: impl Into<String>, offset: u64) {
        self.report.push(Severity::Warning, rule, place, message, Some(offset));
    }

    /// Reports a section with more records than allowed.
    fn count(&mut self, rule: &'static str, what: &str, count: usize, most: usize, offset: u64) {
        if count > most {
            self.error(rule, "", format!("{count} {what}, at most {most} are allowed"), offset);
        }
    }

    /// The two required stages, those that no compiler writes, and the code of each.
    fn stages(&mut self) {
        let present = self.file.stages();
        for stage in Stage::ALL {
            let count_offset = 5 + 2 * stage.index() as u64;
            match self.file.code(stage) {
                Some(_) => self.code(stage),
                None if Stages::VERT_FRAG.contains(stage) => {
                    let message = "the stage is absent; vertex and fragment are mandatory";
                    self.error("stage-missing", stage, message, count_offset);
                }
                None => {}
            }
            if present.contains(stage) && !Stages::VERT_FRAG.contains(stage) {
                let message = "the compiler writes vertex and fragment only, and the engine reads no other";
                self.report
                    .push(Severity::Note, "stage-extra", stage, message, Some(count_offset));
            }
        }
        if present.contains(Stage::Tesc) != present.contains(Stage::Tese) {
            let message = "one tessellation stage without the other";
            self.error("stage-missing", "", message, 5 + 2 * Stage::Tesc.index() as u64);
        }
    }

    fn code(&mut self, stage: Stage) {
        let Some(code) = self.file.code(stage) else { return };
        let offset = code.offset();
        if code.word_count() < spirv::HEADER_WORDS {
            let message = format!("{} words are less than a module's header", code.word_count());
            return self.error("code-too-short", stage, message, offset);
        }
        match code.word(0) {
            Some(spirv::MAGIC) => agree::check(self.file, stage, code, self.report),
            Some(word) if word.swap_bytes() == spirv::MAGIC => {
                let message = "the code is big endian: the file comes from a big-endian machine";
                self.error("spirv-big-endian", stage, message, offset);
            }
            word => {
                let word = word.unwrap_or_default();
                let message = format!("the code begins with {word:#010x}, not SPIR-V's magic");
                self.error("spirv-magic", stage, message, offset);
            }
        }
    }

    fn padding(&mut self, place: impl fmt::Display, bytes: &[u8], offset: u64) {
        if bytes.iter().any(|&byte| byte != 0) {
            self.warn(
                "padding",
                place,
                format!("reserved bytes are {bytes:02x?}, not zero"),
                offset,
            );
        }
    }

    fn inputs(&mut self) {
        let records = self.file.inputs;
        let count = records.bytes.len() / view::RECORD_BYTES;
        self.count("input-count", "vertex inputs", count, MAX_INPUTS, records.offset);
        let mut taken = Locations::default();
        for (i, (offset, input)) in with_offsets(records, self.file.inputs()).enumerate().take(MAX_INPUTS) {
            let place = format_args!("input {i}");
            self.padding(place, record_tail(records, i, 5), offset + 5);
            self.numeric("input-base", place, input.base, offset + 1);
            self.dims("input-dims", place, input.base, input.dims, offset + 2);
            self.input_array(place, &input, offset + 4);
            self.input_locations(place, &input, &mut taken, offset);
        }
    }

    fn numeric(&mut self, rule: &'static str, place: impl fmt::Display, base: BaseType, offset: u64) {
        if !base.is_numeric() {
            self.error(
                rule,
                place,
                format!("base type {base} is not int, uint or float"),
                offset,
            );
        }
    }

    /// Scalars, vectors of up to four, and float matrices of two to four rows and columns.
    fn dims(&mut self, rule: &'static str, place: impl fmt::Display, base: BaseType, dims: [u8; 2], offset: u64) {
        let [rows, columns] = dims;
        let matrix = base == BaseType::FLOAT && (2..=4).contains(&rows) && (2..=4).contains(&columns);
        let vector = (1..=4).contains(&rows) && columns == 1;
        if !vector && !matrix {
            let message = format!("no {base} type has {rows} rows and {columns} columns");
            self.error(rule, place, message, offset);
        }
    }

    fn input_array(&mut self, place: impl fmt::Display, input: &Variable, offset: u64) {
        let most = if input.dims[1] > 1 { 1 } else { MAX_INPUT_ARRAY };
        if !(1..=most).contains(&input.array) {
            let message = format!("array of {} elements, 1 to {most} are allowed", input.array);
            self.error("input-array", place, message, offset);
        }
    }

    fn input_locations(&mut self, place: impl fmt::Display, input: &Variable, taken: &mut Locations, offset: u64) {
        let (start, end) = (u32::from(input.location), u32::from(input.location) + input.locations());
        if start >= MAX_INPUT_LOCATIONS {
            let message = format!("location {start} (0 to {} are allowed)", MAX_INPUT_LOCATIONS - 1);
            self.error("input-location", place, message, offset);
        } else if taken.take(start, end) {
            let message = format!("locations {start} to {} overlap an earlier input", end.max(1) - 1);
            self.error("input-overlap", place, message, offset);
        } else if end > MAX_INPUT_LOCATIONS {
            let message = format!("locations {start} to {}: a device need only have 16", end - 1);
            self.warn("input-past-16", place, message, offset);
        }
    }

    fn outputs(&mut self) {
        let records = self.file.outputs;
        let count = records.bytes.len() / view::RECORD_BYTES;
        self.count("output-count", "fragment outputs", count, MAX_OUTPUTS, records.offset);
        let mut taken = Locations::default();
        for (i, (offset, output)) in with_offsets(records, self.file.outputs()).enumerate().take(MAX_OUTPUTS) {
            let place = format_args!("output {i}");
            self.padding(place, record_tail(records, i, 5), offset + 5);
            self.numeric("output-base", place, output.base, offset + 1);
            let [rows, columns] = output.dims;
            if columns != 1 || !matches!(rows, 1 | 2 | 4) {
                let message = format!("{rows} rows and {columns} columns: outputs have 1, 2 or 4 components");
                self.error("output-dims", place, message, offset + 2);
            }
            if output.array != 1 {
                let message = format!("array of {} elements: outputs are not arrays", output.array);
                self.error("output-array", place, message, offset + 4);
            }
            let location = u32::from(output.location);
            if location as usize >= MAX_OUTPUTS {
                let message = format!("location {location} (0 to {} are allowed)", MAX_OUTPUTS - 1);
                self.error("output-location", place, message, offset);
            } else if taken.take(location, location + 1) {
                self.error("output-duplicate", place, format!("location {location} again"), offset);
            }
        }
    }

    fn bindings(&mut self) {
        let records = self.file.bindings;
        let count = records.bytes.len() / view::RECORD_BYTES;
        self.count("binding-count", "bindings", count, MAX_BINDINGS, records.offset);
        let mut slots = Locations::default();
        for (i, (offset, binding)) in with_offsets(records, self.file.bindings())
            .enumerate()
            .take(MAX_BINDINGS)
        {
            let place = format_args!("binding {i}");
            let slot = u32::from(binding.slot);
            if slot as usize >= MAX_BINDINGS {
                let message = format!("slot {slot} (0 to {} are allowed)", MAX_BINDINGS - 1);
                self.error("slot-range", place, message, offset);
            } else if slots.take(slot, slot + 1) {
                self.error("slot-duplicate", place, format!("slot {slot} again"), offset);
            }
            self.mask("binding-stages", place, binding.stages, offset + 2);
            let Some(table) = Tables::index_of(binding.base) else {
                let message = format!("base type {} is not a kind of binding", binding.base);
                self.error("binding-base", place, message, offset + 1);
                continue;
            };
            if self.file.tables.sizes()[table] == 0 {
                let message = format!("its table ({}) has no entries", Tables::NAMES[table]);
                self.error("table-empty", place, message, 15 + 2 * table as u64);
            }
            if let Shape::Buffer { size } = binding.shape {
                self.struct_size("buffer-size", place, size.into(), offset + 4);
                self.padding(place, record_tail(records, i, 6), offset + 6);
            } else {
                self.texel(place, &binding, offset + 4);
            }
        }
    }

    /// A mask may name only stages that the file has; an empty mask is valid.
    fn mask(&mut self, rule: &'static str, place: impl fmt::Display, stages: Stages, offset: u64) {
        let absent = Stages(stages.0 & !self.file.stages().0);
        if absent != Stages::NONE {
            self.error(rule, place, format!("names absent stages: {absent}"), offset);
        }
    }

    fn struct_size(&mut self, rule: &'static str, place: impl fmt::Display, size: u32, offset: u64) {
        if size == 0 || !size.is_multiple_of(4) || size > MAX_STRUCT_BYTES {
            let message = format!("{size} bytes: a struct has 4 to {MAX_STRUCT_BYTES} in steps of 4");
            self.error(rule, place, message, offset);
        }
    }

    fn texel(&mut self, place: impl fmt::Display + Copy, binding: &Binding, offset: u64) {
        let Shape::Texel {
            rank,
            texel,
            size,
            components,
        } = binding.shape
        else {
            return;
        };
        let buffer = matches!(binding.base, BaseType::RO_TEXELS | BaseType::RW_TEXELS);
        if !rank.is_known() {
            self.error("texel-rank", place, format!("unknown texel rank {rank}"), offset);
        } else if (rank == TexelRank::BUFFER) != buffer {
            let message = format!("a {} of rank {rank}", binding.base);
            self.error("texel-rank", place, message, offset);
        }
        if !texel.is_known() {
            self.error("texel-type", place, format!("unknown texel type {texel}"), offset + 1);
        } else if !texel_is_legal(binding.base, texel, size, components) {
            let message = format!("a {} of {components} {texel} components of {size} bytes", binding.base);
            self.error("texel-format", place, message, offset + 1);
        }
    }

    fn uniform(&mut self, uniform: Uniform) {
        let members_offset = uniform.members.offset;
        let size_bytes = match uniform.dialect {
            Dialect::Current => 2,
            Dialect::Legacy => 4,
        };
        // Size, stages (2 bytes) and member count (4 bytes) precede the members.
        let offset = members_offset - 6 - size_bytes;
        self.struct_size("uniform-size", "uniform", uniform.size, offset);
        self.mask("uniform-stages", "uniform", uniform.stages, members_offset - 6);
        let count = uniform.member_count();
        self.count(
            "member-count",
            "uniform members",
            count,
            MAX_MEMBERS,
            members_offset - 4,
        );
        let mut names = Vec::with_capacity(count.min(MAX_MEMBERS));
        let mut end = 0;
        for (i, (offset, member)) in uniform.members_at().enumerate().take(MAX_MEMBERS) {
            let place = format_args!("uniform member {i}");
            names.push((member.name, i, offset));
            self.member_name(place, member.name, offset);
            self.member_type(place, &member, offset);
            self.member_place(place, &member, uniform.size, &mut end, offset);
        }
        if count <= MAX_MEMBERS && end < uniform.size {
            let message = format!(
                "members end at {end} of {} bytes; scalar layout has no padding",
                uniform.size
            );
            self.error("uniform-packing", "uniform", message, offset);
        }
        names.sort_unstable();
        for pair in names.windows(2) {
            let [(name, first, _), (again, second, offset)] = pair else {
                continue;
            };
            if name == again {
                let message = format!("the same name as member {first}: {}", name.escape_ascii());
                self.error(
                    "member-duplicate",
                    format_args!("uniform member {second}"),
                    message,
                    *offset,
                );
            }
        }
    }

    fn member_name(&mut self, place: impl fmt::Display, name: &[u8], offset: u64) {
        // Members of structs and of several blocks have a path: `block.lights[0].colour`.
        for part in name.split(|byte| *byte == b'.') {
            let (part, number) = match part.iter().position(|byte| *byte == b'[') {
                Some(at) => part.split_at(at),
                None => (part, &[][..]),
            };
            if part.is_empty() || part.len() > MAX_NAME {
                let message = format!("a name of {} bytes, 1 to {MAX_NAME} are allowed", part.len());
                return self.error("member-name-length", place, message, offset);
            }
            let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
            let is_index = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'[' | b']');
            if part[0].is_ascii_digit() || !part.iter().all(word) || !number.iter().all(is_index) {
                let message = format!("\"{}\" is not an identifier", name.escape_ascii());
                return self.error("member-name", place, message, offset);
            }
        }
    }

    fn member_type(&mut self, place: impl fmt::Display + Copy, member: &Member, offset: u64) {
        if member.base != BaseType::BOOL && !member.base.is_numeric() {
            let message = format!("base type {} is not bool, int, uint or float", member.base);
            self.error("member-base", place, message, offset);
        }
        self.dims("member-dims", place, member.base, member.dims, offset);
        if !(1..=MAX_MEMBER_ARRAY).contains(&member.array) {
            let message = format!(
                "array of {} elements, 1 to {MAX_MEMBER_ARRAY} are allowed",
                member.array
            );
            self.error("member-array", place, message, offset);
        }
    }

    /// Members are packed without gaps; `end` is the end of the previous one.
    fn member_place(&mut self, place: impl fmt::Display, member: &Member, size: u32, end: &mut u32, offset: u64) {
        let (start, before) = (member.offset, *end);
        let finish = start.saturating_add(member.extent());
        *end = finish.max(before);
        if finish > size {
            let message = format!("bytes {start} to {finish} of a uniform of {size}");
            self.error("member-extent", place, message, offset);
        } else if start < before {
            let message = format!("begins at {start}, the members before it end at {before}");
            self.error("member-overlap", place, message, offset);
        } else if start > before {
            let message = format!("begins at {start}, the members before it end at {before}: no gap in scalar layout");
            self.error("member-gap", place, message, offset);
        }
    }

    fn subpass_inputs(&mut self) {
        let Subpass::Records(records) = self.file.subpass else {
            return; // Recovered records are valid by construction, and the reader has reported them.
        };
        let count = records.bytes.len() / 4;
        self.count(
            "subpass-count",
            "subpass inputs",
            count,
            MAX_SUBPASS_INPUTS,
            records.offset,
        );
        for (i, (offset, input)) in with_offsets_of::<4, _>(records, self.file.subpass_inputs())
            .enumerate()
            .take(MAX_SUBPASS_INPUTS)
        {
            let place = format_args!("subpass input {i}");
            let number = matches!(input.texel, TexelType::INT | TexelType::UINT | TexelType::FLOAT);
            if !number || input.components != 4 {
                let message = format!(
                    "{} {} components: 4 of int, uint or float",
                    input.components, input.texel
                );
                self.error("subpass-texel", place, message, offset);
            }
            self.padding(place, &records.bytes[4 * i + 2..4 * i + 4], offset + 2);
        }
    }

    fn end(&mut self) {
        let trailing = self.file.trailing;
        if !trailing.bytes.is_empty() {
            let message = format!("{} bytes behind the last stage", trailing.bytes.len());
            self.error("trailing-bytes", "", message, trailing.offset);
        }
    }
}

/// Locations or slots in use. Those past 63 are out of range and not tracked.
#[derive(Default)]
struct Locations(u64);

impl Locations {
    /// Marks `start..end` as used; returns whether any of it was used before.
    fn take(&mut self, start: u32, end: u32) -> bool {
        let below = |n: u32| 1u64.checked_shl(n).map_or(u64::MAX, |bit| bit - 1);
        let mask = below(end) & !below(start);
        let overlaps = self.0 & mask != 0;
        self.0 |= mask;
        overlaps
    }
}

/// Whether this binding type allows such texels.
fn texel_is_legal(base: BaseType, texel: TexelType, size: u8, components: u8) -> bool {
    let normalised = matches!(texel, TexelType::UNORM | TexelType::SNORM);
    match base {
        BaseType::SAMPLER | BaseType::RO_TEXELS => !normalised && (size, components) == (4, 4),
        _ if normalised => matches!(size, 1 | 2) && matches!(components, 1 | 2 | 4),
        _ => size == 4 && matches!(components, 1 | 2 | 4),
    }
}

fn with_offsets<T>(records: Records<'_>, items: impl Iterator<Item = T>) -> impl Iterator<Item = (u64, T)> {
    with_offsets_of::<{ view::RECORD_BYTES }, T>(records, items)
}

fn with_offsets_of<const N: usize, T>(
    records: Records<'_>,
    items: impl Iterator<Item = T>,
) -> impl Iterator<Item = (u64, T)> {
    let start = records.offset;
    items.enumerate().map(move |(i, item)| (start + (i * N) as u64, item))
}

/// The bytes of an 8-byte record from `from` on.
fn record_tail(records: Records<'_>, index: usize, from: usize) -> &[u8] {
    let start = index * view::RECORD_BYTES;
    &records.bytes[start + from..start + view::RECORD_BYTES]
}
