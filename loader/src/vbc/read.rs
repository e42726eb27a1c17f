//! Reads bytes into the borrowed view: header, the reflection in each possible form, and the ranges of the code.
//!
//! Three forms share the header: the current dialect, the current dialect with 48-byte subpass records, and the legacy
//! dialect. The reader picks the form in which every stage begins with SPIR-V's magic and the last stage ends with the
//! file. If none fits, it tries word counts that lost multiples of 65536; if that fails, it takes the first form in
//! which every declared section is present, and the validator reports what is wrong.

use super::limits::{MAX_BINDINGS, MAX_INPUTS, MAX_OUTPUTS};
use super::types::{Dialect, Stage, Stages, SubpassInput, Tables, TexelType};
use super::view::{Code, MAX_RAW_SUBPASS, RAW_SUBPASS_BYTES, RECORD_BYTES, Records, Subpass, Uniform, Vbc, member};
use super::{FORMAT, HEADER_BYTES, MAGIC, SHADER_TYPE_GRAPHICS, VERSION, declared};
use crate::cursor::Cursor;
use crate::spirv::{self, ModuleIndex};
use crate::{Error, Report, Result, Severity};
use std::sync::OnceLock;

/// Words that a 16-bit word count loses per overflow.
const OVERFLOW_WORDS: usize = 1 << 16;

/// Reads a file as a view that borrows it.
///
/// # Errors
/// Invalid if the magic is wrong or a section runs past the end of the file; Unsupported for another version, shader
/// type or byte order. Meaningless values are not errors here; see the module's documentation.
pub fn read(bytes: &[u8]) -> Result<Vbc<'_>> {
    let mut cursor = Cursor::new(FORMAT, bytes);
    let header = Header::read(&mut cursor).map_err(|error| error.within("header"))?;
    let current = Reflection::read(cursor.clone(), Form::Current);
    if let Ok(reflection) = &current
        && let Some(code) = exact_code(reflection, &header)
    {
        return Ok(view(&header, reflection, Layout::exact(code)));
    }
    salvage(bytes, &header, cursor, current)
}

/// Tries the unexpected forms, then the compiler bugs, then the most complete form.
fn salvage<'a>(bytes: &[u8], header: &Header, cursor: Cursor<'a>, current: Result<Reflection<'a>>) -> Result<Vbc<'a>> {
    let forms = [
        current,
        Reflection::read(cursor.clone(), Form::RawSubpass),
        Reflection::read(cursor, Form::Legacy),
    ];
    let readable = || forms.iter().flatten();
    for reflection in readable() {
        if let Some(code) = exact_code(reflection, header) {
            return Ok(view(header, reflection, Layout::exact(code)));
        }
    }
    for reflection in readable() {
        if let Some(layout) = overflowed_code(reflection, header) {
            return Ok(view(header, reflection, layout));
        }
    }
    // A form whose first stage begins with SPIR-V's magic is preferred.
    let likely = |reflection: &&Reflection| starts_with_magic(reflection.rest);
    if let Some(reflection) = readable().find(likely).or_else(|| readable().next()) {
        let layout = loose_code(reflection, header)?;
        return Ok(view(header, reflection, layout));
    }
    let [current, ..] = forms;
    if is_big_endian(bytes) {
        let message = "the file is big endian: its compiler ran on a big-endian machine";
        return Err(Error::unsupported(FORMAT, message).at(HEADER_BYTES as u64));
    }
    Err(current.err().expect("no form is readable, so neither is the first"))
}

/// Whether the first three counts are small in the other byte order (a little-endian count other than zero never is).
fn is_big_endian(bytes: &[u8]) -> bool {
    let mut cursor = Cursor::new(FORMAT, bytes.get(HEADER_BYTES..).unwrap_or_default());
    let mut count = |most: usize| {
        let count = u32::from_be_bytes(cursor.array("count").ok()?) as usize;
        let fits = count <= most && cursor.records(count, RECORD_BYTES, "records").is_ok();
        fits.then_some(count)
    };
    let mut counts = || Some(count(MAX_INPUTS)? + count(MAX_OUTPUTS)? + count(MAX_BINDINGS)?);
    counts().is_some_and(|sum| sum != 0)
}

/// The sections before the reflection.
struct Header {
    words: [usize; 5],
    tables: Tables,
}

impl Header {
    fn read(cursor: &mut Cursor) -> Result<Self> {
        let magic: [u8; 3] = cursor.array("magic")?;
        if magic != MAGIC {
            return Err(Error::invalid(FORMAT, "the magic is not VBC", 0));
        }
        let version = cursor.u8("version")?;
        if version != VERSION {
            let message = format!("version {version} (only {VERSION} is known)");
            return Err(Error::unsupported(FORMAT, message).at(3));
        }
        let shader_type = cursor.u8("shader type")?;
        if shader_type != SHADER_TYPE_GRAPHICS {
            let message = format!("shader type {shader_type} (only {SHADER_TYPE_GRAPHICS}, graphics, is known)");
            return Err(Error::unsupported(FORMAT, message).at(4));
        }
        let words = u16s(cursor, "bytecode sizes")?.map(usize::from);
        let tables = Tables::from_sizes(u16s(cursor, "binding table sizes")?);
        Ok(Self { words, tables })
    }
}

fn u16s(cursor: &mut Cursor, what: &str) -> Result<[u16; 5]> {
    let bytes: [u8; 10] = cursor.array(what)?;
    Ok(std::array::from_fn(|i| {
        u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]])
    }))
}

/// The layout of the reflection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Current,
    RawSubpass,
    Legacy,
}

impl Form {
    fn dialect(self) -> Dialect {
        match self {
            Self::Current | Self::RawSubpass => Dialect::Current,
            Self::Legacy => Dialect::Legacy,
        }
    }
}

/// The sections between header and code, read in one form.
struct Reflection<'a> {
    form: Form,
    inputs: Records<'a>,
    outputs: Records<'a>,
    bindings: Records<'a>,
    uniform: Option<Uniform<'a>>,
    subpass: Records<'a>,
    /// Offset of the code, and all bytes from there.
    code_offset: u64,
    rest: &'a [u8],
}

impl<'a> Reflection<'a> {
    fn read(mut cursor: Cursor<'a>, form: Form) -> Result<Self> {
        let inputs = records(&mut cursor, RECORD_BYTES, "vertex inputs")?;
        let outputs = records(&mut cursor, RECORD_BYTES, "fragment outputs")?;
        let bindings = records(&mut cursor, RECORD_BYTES, "bindings")?;
        let uniform = uniform(&mut cursor, form.dialect()).map_err(|error| error.within("uniform"))?;
        let size = if form == Form::RawSubpass { RAW_SUBPASS_BYTES } else { 4 };
        let subpass = records(&mut cursor, size, "subpass inputs")?;
        if form == Form::RawSubpass && !(1..=MAX_RAW_SUBPASS).contains(&(subpass.bytes.len() / size)) {
            return Err(cursor.error("not one to four 48-byte subpass records"));
        }
        let code_offset = cursor.offset();
        let rest = cursor.take(cursor.remaining(), "code")?;
        Ok(Self {
            form,
            inputs,
            outputs,
            bindings,
            uniform,
            subpass,
            code_offset,
            rest,
        })
    }
}

/// Reads a count, then that many records of `size` bytes.
fn records<'a>(cursor: &mut Cursor<'a>, size: usize, what: &str) -> Result<Records<'a>> {
    let count = cursor.u32("count").map_err(|error| error.within(what))? as usize;
    let offset = cursor.offset();
    let bytes = cursor.records(count, size, what)?;
    Ok(Records { offset, bytes })
}

fn uniform<'a>(cursor: &mut Cursor<'a>, dialect: Dialect) -> Result<Option<Uniform<'a>>> {
    let size = match dialect {
        Dialect::Current => u32::from(cursor.u16("size")?),
        Dialect::Legacy => cursor.u32("size")?,
    };
    if size == 0 {
        return Ok(None);
    }
    let stages = Stages(cursor.u16("stages")?);
    let count = cursor.u32("member count")?;
    let members = members(cursor, count, dialect)?;
    Ok(Some(Uniform {
        size,
        stages,
        dialect,
        count,
        members,
    }))
}

/// Walks the member records, which vary in length; each is bounds-checked before it is read.
fn members<'a>(cursor: &mut Cursor<'a>, count: u32, dialect: Dialect) -> Result<Records<'a>> {
    let offset = cursor.offset();
    let mut ahead = cursor.clone();
    let all = ahead.take(ahead.remaining(), "members")?;
    let mut length = 0;
    for i in 0..count {
        let Some((_, bytes)) = member(&all[length..], dialect) else {
            let message = "record runs past end of file";
            return Err(Error::invalid(FORMAT, message, offset + length as u64).within(format!("member {i}")));
        };
        length += bytes;
    }
    let bytes = cursor.take(length, "members")?;
    Ok(Records { offset, bytes })
}

/// The range of each stage's code, and the bytes after it.
struct Layout {
    /// Words of each stage; 0 if it is absent.
    words: [usize; 5],
    overflowed: bool,
}

impl Layout {
    fn exact(words: [usize; 5]) -> Self {
        let overflowed = false;
        Self { words, overflowed }
    }
}

fn starts_with_magic(bytes: &[u8]) -> bool {
    bytes.starts_with(&spirv::MAGIC.to_le_bytes())
}

/// Whether stages of these lengths fill the rest of the file and each begins with the magic.
fn fits(rest: &[u8], words: [usize; 5]) -> bool {
    let mut rest = Some(rest);
    for &count in words.iter().filter(|&&count| count != 0) {
        rest = rest
            .filter(|rest| starts_with_magic(rest))
            .and_then(|rest| rest.get(4 * count..));
    }
    rest.is_some_and(<[u8]>::is_empty)
}

fn exact_code(reflection: &Reflection, header: &Header) -> Option<[usize; 5]> {
    fits(reflection.rest, header.words).then_some(header.words)
}

/// The layout if word counts lost multiples of 65536: each stage runs until the next one's magic. Since a count of zero
/// also means "absent", a vertex or fragment stage of zero words is taken as overflowed.
fn overflowed_code(reflection: &Reflection, header: &Header) -> Option<Layout> {
    let rest = reflection.rest;
    let declared: usize = header.words.iter().sum();
    let extra = (rest.len() / 4).checked_sub(declared)?;
    if !rest.len().is_multiple_of(4) || extra == 0 || !extra.is_multiple_of(OVERFLOW_WORDS) {
        return None;
    }
    let required = [Stage::Vert.index(), Stage::Frag.index()];
    let present = |i: usize| header.words[i] != 0 || required.contains(&i);
    let mut words = header.words;
    let (mut at, mut left) = (0, extra / OVERFLOW_WORDS);
    for i in (0..5).filter(|&i| present(i)) {
        let last = !(i + 1..5).any(present);
        let ends_here = |count: usize| starts_with_magic(rest.get(4 * (at + count)..).unwrap_or_default());
        while left > 0 && (last || words[i] == 0 || !ends_here(words[i])) {
            words[i] += OVERFLOW_WORDS;
            left -= 1;
        }
        at += words[i];
    }
    let overflowed = true;
    fits(rest, words).then_some(Layout { words, overflowed })
}

/// The declared layout, if the file has enough bytes; magics may be wrong and bytes may remain.
fn loose_code(reflection: &Reflection, header: &Header) -> Result<Layout> {
    let mut cursor = Cursor::new(FORMAT, reflection.rest);
    for stage in Stage::ALL {
        let words = header.words[stage.index()];
        cursor.records(words, 4, "words of code").map_err(|error| {
            let at = reflection.code_offset + cursor.offset();
            error.at(at).within(stage)
        })?;
    }
    Ok(Layout::exact(header.words))
}

fn view<'a>(header: &Header, reflection: &Reflection<'a>, layout: Layout) -> Vbc<'a> {
    let (mut rest, mut offset) = (reflection.rest, reflection.code_offset);
    let code = layout.words.map(|count| {
        let bytes;
        (bytes, rest) = rest.split_at(4 * count);
        let at = offset;
        offset += bytes.len() as u64;
        (count != 0).then_some(Code { bytes, offset: at })
    });
    let mut notes = Report::default();
    let modules: [OnceLock<_>; 5] = Default::default();
    let fragment = || {
        let code = code[Stage::Frag.index()]?;
        modules[Stage::Frag.index()].get_or_init(|| code.index()).as_ref().ok()
    };
    let subpass = match reflection.form {
        Form::RawSubpass => Subpass::Raw(
            reflection.subpass,
            recover_subpass(reflection.subpass, fragment(), &mut notes),
        ),
        _ => Subpass::Records(reflection.subpass),
    };
    if reflection.form == Form::Legacy {
        let message = "this is the layout of the compiler of 2021-01-03 to 2021-01-13";
        notes.push(Severity::Warning, "legacy-dialect", "", message, Some(0));
    }
    if layout.overflowed {
        overflow_notes(header, &layout, &mut notes);
    }
    let trailing = Records { offset, bytes: rest };
    Vbc {
        dialect: reflection.form.dialect(),
        tables: header.tables,
        inputs: reflection.inputs,
        outputs: reflection.outputs,
        bindings: reflection.bindings,
        uniform: reflection.uniform,
        subpass,
        code,
        modules,
        trailing,
        diagnostics: notes.diagnostics,
    }
}

fn overflow_notes(header: &Header, layout: &Layout, notes: &mut Report) {
    for stage in Stage::ALL {
        let (declared, real) = (header.words[stage.index()], layout.words[stage.index()]);
        if declared != real {
            let message = format!(
                "the compiler cut the word count {real} to 16 bits ({declared}) and wrote all the code; \
                 the code's true length is used"
            );
            let offset = Some(5 + 2 * stage.index() as u64);
            notes.push(Severity::Warning, "word-count-overflow", stage, message, offset);
        }
    }
}

/// Recovers from the fragment code the subpass inputs whose records are the compiler's in-memory object.
fn recover_subpass(
    records: Records,
    module: Option<&ModuleIndex>,
    notes: &mut Report,
) -> [SubpassInput; MAX_RAW_SUBPASS] {
    let message = "the compiler wrote its 48-byte object in place of each 4-byte record; \
                   texel types are taken from the fragment code";
    notes.push(
        Severity::Warning,
        "subpass-records-48",
        "subpass inputs",
        message,
        Some(records.offset),
    );
    // The compiler supports four components only; float is the most harmless guess for an unused input.
    let mut inputs = [SubpassInput {
        texel: TexelType::FLOAT,
        components: 4,
    }; MAX_RAW_SUBPASS];
    let found = module.map(declared::subpass_texels);
    for (i, (offset, _)) in records.iter::<RAW_SUBPASS_BYTES>().enumerate() {
        match found.as_ref().and_then(|found| found[i]) {
            Some(texel) => inputs[i].texel = texel,
            None => notes.push(
                Severity::Warning,
                "subpass-texel-lost",
                format_args!("subpass input {i}"),
                "the code does not use it, so its texel type is lost; float is assumed",
                Some(offset),
            ),
        }
    }
    inputs
}
