//! Operands and results of the extended instruction sets GLSL.std.450 and OpenCL.std, by the tables of their families.

use super::extended_tables::{Count, Family, GLSL, Numbers, OPENCL, READABLE, Shape, Width};
use super::form::{Base, Form, Why};
use super::{Checked, Item};
use crate::spirv::op;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Families by the name of an instruction.
type Families = LazyLock<HashMap<&'static str, &'static Family>>;

static OF_GLSL: Families = LazyLock::new(|| by_name(GLSL));
static OF_OPENCL: Families = LazyLock::new(|| by_name(OPENCL));

fn by_name(families: &'static [Family]) -> HashMap<&'static str, &'static Family> {
    let of_family = |family: &'static Family| family.names.split(' ').map(move |name| (name, family));
    families.iter().flat_map(of_family).collect()
}

/// Checks an instruction against its family.
pub(super) fn extended(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let set = module.grammar.sets.get(module.context.set(item.word(3))??)?;
    let (families, untyped) = match &*set.name {
        "GLSL.std.450" => (&OF_GLSL, false),
        "OpenCL.std" => (&OF_OPENCL, true),
        _ => return None,
    };
    let row = set.row(item.word(4))?;
    let family = families.get(&*row.name)?;
    let args = item.words.get(5..)?;
    let subject = match family.result {
        Shape::Void => module.type_of(*args.first()?),
        Shape::Pair(_) => module.def(item.ty)?.args().first().copied().unwrap_or(0),
        _ => item.ty,
    };
    let call = Call {
        module,
        args,
        subject,
        untyped,
    };
    if !call.fits(&family.result, item.ty) {
        return Some(format!("{}: the result is {}", row.name, family.result));
    }
    let last = family.operands.last()?;
    let shapes = family.operands.iter().chain(std::iter::repeat(last));
    let (at, (_, shape)) = args
        .iter()
        .zip(shapes)
        .enumerate()
        .find(|(_, (word, shape))| !call.takes(shape, **word))?;
    // All operands of the grammar's last rule, which may repeat, have its name.
    let name = row
        .operands
        .get(at)
        .or(row.operands.last())
        .map_or("", |rule| &rule.name);
    Some(format!("{}: {name} is {shape}", row.name))
}

/// Whether an instruction interpolates an input anew, which only fragment shaders do.
pub(super) fn interpolates(module: &Checked<'_>, item: &Item<'_>) -> bool {
    let set = module.sets.get(&item.word(3)).map(String::as_str);
    // InterpolateAtCentroid, InterpolateAtSample and InterpolateAtOffset.
    set == Some("GLSL.std.450") && (76..=78).contains(&item.word(4))
}

/// An instruction and what its operands are compared with.
struct Call<'m, 'a> {
    module: &'m Checked<'a>,
    args: &'m [u32],
    /// The subject of its [shapes](Shape).
    subject: u32,
    /// Whether pointers may have no type.
    untyped: bool,
}

impl Call<'_, '_> {
    /// Whether an operand fits, which may be a literal.
    fn takes(&self, shape: &Shape, word: u32) -> bool {
        let ty = self.module.type_of(word);
        match shape {
            Shape::Any => true,
            Shape::Components => word == self.form(self.subject).count,
            Shape::First => self.args.first().is_some_and(|first| self.module.type_of(*first) == ty),
            _ => self.fits(shape, ty),
        }
    }

    /// Whether a type fits.
    fn fits(&self, shape: &Shape, ty: u32) -> bool {
        let module = self.module;
        match shape {
            Shape::Same => ty == self.subject,
            Shape::Numbers(numbers) => self.counts(numbers, self.form(ty)),
            Shape::Parts(counts) => {
                let component = module.component(ty);
                counts.contains(&self.form(ty).count) && component == module.component(self.subject)
            }
            Shape::Square => module
                .matrix(ty)
                .is_some_and(|matrix| matrix.columns == matrix.rows && matrix.scalar == module.component(self.subject)),
            Shape::Pointer(classes, to) => match module.def(ty) {
                Some(pointer) if pointer.opcode() == op::TYPE_POINTER => {
                    within(classes, pointer.word(2)) && self.fits(to, pointer.word(3))
                }
                Some(pointer) if pointer.opcode() == op::TYPE_UNTYPED_POINTER_KHR => {
                    self.untyped && within(classes, pointer.word(2))
                }
                _ => false,
            },
            Shape::Format => {
                let relaxed = module.extends("SPV_EXT_relaxed_printf_string_address_space");
                let classes = if relaxed { READABLE } else { &READABLE[..1] };
                self.fits(&Shape::Pointer(classes, &Shape::Text), ty)
            }
            Shape::Text => {
                let array = module.def(ty).filter(|ty| ty.opcode() == op::TYPE_ARRAY);
                let element = array.map_or(ty, |array| array.word(2));
                self.form(element) == Form { width: 8, ..Form::WORD }
            }
            Shape::Exponent => {
                let form = self.form(ty);
                let short = form.width == 16 && module.extends("SPV_AMD_gpu_shader_int16");
                form.int() && (form.width == 32 || short) && form.count == self.form(self.subject).count
            }
            Shape::Size => {
                let form = self.form(ty);
                form.scalar(Base::Int) && Some(form.width) == self.address()
            }
            Shape::Pair(second) => {
                let members = module.def(ty).filter(|ty| ty.opcode() == op::TYPE_STRUCT);
                let both = members.map_or(&[][..], |members| members.args());
                let float = self.form(self.subject).float();
                float && both.len() == 2 && self.fits(second, both[1])
            }
            Shape::Void => module.opcode(ty) == op::TYPE_VOID,
            // The first two have no type, and the third is not an operand's.
            Shape::Components | Shape::First | Shape::Removed => false,
            Shape::Any => true,
        }
    }

    fn counts(&self, numbers: &Numbers, form: Form) -> bool {
        let subject = self.form(self.subject);
        let wide = match numbers.width {
            Width::Any => true,
            Width::Of(widths) => widths.contains(&form.width),
            Width::Subject => form.width == subject.width,
            Width::Half => form.width.checked_mul(2) == Some(subject.width),
        };
        let many = match numbers.count {
            Count::Of(counts) => counts.contains(&form.count),
            Count::Subject => form.count == subject.count,
        };
        numbers.bases.contains(&form.base) && wide && many
    }

    /// Components of a scalar or vector; the number of a cooperative vector's is 0, because it may be specialised.
    fn form(&self, ty: u32) -> Form {
        let Some(item) = self.module.def(ty) else {
            return self.module.form(ty);
        };
        match item.opcode() {
            op::TYPE_COOPERATIVE_VECTOR_NV => self.module.form(item.word(2)).times(0),
            op::TYPE_INT | op::TYPE_FLOAT | op::TYPE_VECTOR => self.module.form(ty),
            _ => self.module.form(0),
        }
    }

    /// Bits of an address, if addresses have a size.
    fn address(&self) -> Option<u32> {
        // Physical32 and Physical64.
        match self.module.addressing {
            1 => Some(32),
            2 => Some(64),
            _ => None,
        }
    }
}

/// Whether a storage class is listed; an empty list has all.
fn within(classes: &[u32], class: u32) -> bool {
    classes.is_empty() || classes.contains(&class)
}
