//! Prints a file as text.

use super::requirements::requirements;
use super::types::{Binding, Shape, Stage, Tables, Variable};
use super::view::Vbc;
use std::fmt::{self, Write};

/// Header and reflection, one line per item; ends with a newline.
pub(super) fn print(out: &mut impl Write, file: &Vbc) -> fmt::Result {
    write!(out, "VBC, {} dialect; words of SPIR-V:", file.dialect())?;
    for stage in Stage::ALL {
        if let Some(code) = file.code(stage) {
            write!(out, " {stage} {}", code.word_count())?;
        }
    }
    write!(out, "\ntables:")?;
    for (name, size) in std::iter::zip(Tables::NAMES, file.tables().sizes()) {
        write!(out, " {name} {size}")?;
    }
    out.write_char('\n')?;
    for input in file.inputs() {
        writeln!(out, "in({}) {}", input.location, Typed(&input))?;
    }
    for output in file.outputs() {
        writeln!(out, "out({}) {}", output.location, Typed(&output))?;
    }
    for binding in file.bindings() {
        print_binding(out, &binding)?;
    }
    if let Some(uniform) = file.uniform() {
        writeln!(out, "uniform of {} bytes, stages {}", uniform.size, uniform.stages)?;
        for member in uniform.members() {
            let name = member.name.escape_ascii();
            let typed = Variable {
                location: 0,
                base: member.base,
                dims: member.dims,
                array: member.array,
            };
            writeln!(out, "  {:4} {} {name}", member.offset, Typed(&typed))?;
        }
    }
    for (i, input) in file.subpass_inputs().enumerate() {
        write!(out, "subpass({i}) {}{}", input.texel, input.components)?;
        match file.subpass_name(i) {
            Some(name) => writeln!(out, " {}", name.escape_ascii())?,
            None => out.write_char('\n')?,
        }
    }
    if !file.trailing().is_empty() {
        writeln!(out, "{} bytes behind the code", file.trailing().len())?;
    }
    for need in requirements(file).features {
        writeln!(out, "needs {} for {}", need.feature, need.why)?;
    }
    for diagnostic in file.diagnostics() {
        writeln!(out, "{diagnostic}")?;
    }
    Ok(())
}

/// A type in VSL's notation: `float`, `uint3`, `float4x3` (columns first), `float2[7]`.
pub(super) struct Typed<'v>(pub &'v Variable);

impl fmt::Display for Typed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Variable { base, dims, array, .. } = *self.0;
        write!(f, "{base}")?;
        match dims {
            [1, 1] => {}
            [rows, 1] => write!(f, "{rows}")?,
            [rows, columns] => write!(f, "{columns}x{rows}")?,
        }
        if array == 1 { Ok(()) } else { write!(f, "[{array}]") }
    }
}

fn print_binding(out: &mut impl Write, binding: &Binding) -> fmt::Result {
    write!(out, "bind({}) {}", binding.slot, binding.base)?;
    match binding.shape {
        Shape::Buffer { size } => write!(out, " of {size}-byte structs")?,
        Shape::Texel {
            rank,
            texel,
            size,
            components,
        } => write!(out, " {rank} {texel}{components}, {size} bytes each")?,
    }
    writeln!(out, ", stages {}", binding.stages)
}
