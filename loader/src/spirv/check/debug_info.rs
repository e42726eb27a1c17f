//! The sets of debug information, `DebugInfo`, `OpenCL.DebugInfo.100` and `NonSemantic.Shader.DebugInfo.100`: where their
//! instructions stand, what they refer to before its definition, and what the operands of the latter two are.
//!
//! The two sets agree in names, but where the first has literals and enumerants, the second has constants.

use super::form::{Base, Why, when};
use super::functions::Place;
use super::{Checked, Item};
use crate::spirv::grammar::{Quantifier, Row, Rule, Shape};
use crate::spirv::op;

const OLDEST: &str = "DebugInfo";
const OPEN_CL: &str = "OpenCL.DebugInfo.100";
const SHADER: &str = "NonSemantic.Shader.DebugInfo.100";

/// Where an instruction stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// Among types, constants and global variables.
    Declarations,
    /// In a function, even before its first block, where its parameters are.
    Function,
    /// In a function's first block.
    FirstBlock,
}

/// Where an instruction of these sets stands; `None` for one of another set.
pub(super) fn home(module: &Checked<'_>, item: &Item<'_>) -> Option<Home> {
    let (_, row) = instruction(module, item)?;
    Some(match &*row.name {
        "DebugScope" | "DebugNoScope" | "DebugDeclare" | "DebugValue" | "DebugLine" | "DebugNoLine" => Home::Function,
        "DebugFunctionDefinition" => Home::FirstBlock,
        _ => Home::Declarations,
    })
}

/// Whether the operand at a word may be defined later.
pub(super) fn ahead(module: &Checked<'_>, item: &Item<'_>, word: usize) -> bool {
    if item.opcode() == op::EXT_INST_WITH_FORWARD_REFS_KHR {
        return word > 4;
    }
    const AHEAD: [(&str, &str); 2] = [("DebugFunction", "Function"), ("DebugTypeComposite", "Members")];
    instruction(module, item).is_some_and(|(set, row)| {
        let operand = word.checked_sub(5).and_then(|at| rule(row, at));
        set != SHADER && operand.is_some_and(|operand| AHEAD.contains(&(&*row.name, &*operand.name)))
    })
}

/// The opcode for forward references is for sets without meaning, and has a forward reference.
pub(super) fn relaxed(module: &Checked<'_>, item: &Item<'_>) -> Why {
    if item.opcode() != op::EXT_INST_WITH_FORWARD_REFS_KHR {
        return None;
    }
    let set = module.sets.get(&item.word(3))?;
    let own = module.defs.get(item.result);
    when(
        !set.starts_with("NonSemantic."),
        "only instructions of non-semantic sets have forward references",
    )
    .or_else(|| {
        let refers = module.used(item).any(|id| module.defs.get(id) > own);
        when(!refers, "has no forward reference, so it must be OpExtInst")
    })
}

/// The name of the set, if it is one of these, and the row of an instruction.
fn instruction<'a>(module: &Checked<'a>, item: &Item<'_>) -> Option<(&'a str, &'a Row)> {
    if !item.is_extended() {
        return None;
    }
    let set = &module.grammar.sets[module.context.set(item.word(3))??];
    let known = [OLDEST, OPEN_CL, SHADER].contains(&&*set.name);
    known.then_some(&*set.name).zip(set.row(item.word(4)))
}

/// The rule of an operand; the last rule may be for any number of them.
fn rule(row: &Row, at: usize) -> Option<&Rule> {
    let last = || row.operands.last().filter(|rule| rule.quantifier == Quantifier::Many);
    row.operands.get(at).or_else(last)
}

/// What an operand is, if it is an id.
enum Wanted {
    /// A constant 32-bit unsigned integer.
    Word,
    /// The result of an opcode or an instruction of these sets.
    One {
        text: &'static str,
        opcodes: &'static [u16],
        debug: &'static [&'static str],
    },
}

impl Wanted {
    fn text(&self) -> &'static str {
        match self {
            Self::Word => "a constant 32-bit unsigned integer",
            Self::One { text, .. } => text,
        }
    }
}

const fn result(text: &'static str, opcodes: &'static [u16]) -> Wanted {
    Wanted::One {
        text,
        opcodes,
        debug: &[],
    }
}

const fn debug(text: &'static str, debug: &'static [&'static str]) -> Wanted {
    Wanted::One {
        text,
        opcodes: &[],
        debug,
    }
}

/// The debug types, and the parameters that stand for types within templates.
const TYPES: &[&str] = &[
    "DebugTypeBasic",
    "DebugTypePointer",
    "DebugTypeQualifier",
    "DebugTypeArray",
    "DebugTypeVector",
    "DebugTypeMatrix",
    "DebugTypedef",
    "DebugTypeFunction",
    "DebugTypeEnum",
    "DebugTypeComposite",
    "DebugTypeMember",
    "DebugTypeInheritance",
    "DebugTypePtrToMember",
    "DebugTypeTemplate",
    "DebugTypeTemplateParameter",
    "DebugTypeTemplateTemplateParameter",
];

const TYPE: Wanted = debug("a debug type", TYPES.split_at(14).0);
const TYPE_OR_PARAMETER: Wanted = debug("a debug type", TYPES);
const SCOPE: Wanted = debug(
    "a lexical scope",
    &[
        "DebugCompilationUnit",
        "DebugFunction",
        "DebugLexicalBlock",
        "DebugTypeComposite",
        "DebugModuleINTEL",
    ],
);
const COMPOSITE: Wanted = debug("a DebugTypeComposite", &["DebugTypeComposite"]);
const FUNCTION: Wanted = debug("a DebugFunction", &["DebugFunction"]);
const FUNCTION_TYPE: Wanted = debug("a DebugTypeFunction", &["DebugTypeFunction"]);
const INLINED_AT: Wanted = debug("a DebugInlinedAt", &["DebugInlinedAt"]);
const CONSTANT: Wanted = result("a constant", &[op::CONSTANT]);
const STRING: Wanted = result("a string", &[op::STRING]);

/// What the operands are by instruction, or in any instruction, and name. The first row that fits holds.
const OPERANDS: &[(&str, &[&str], Wanted)] = &[
    (
        "DebugTypeVector",
        &["Base Type"],
        debug("a DebugTypeBasic", &["DebugTypeBasic"]),
    ),
    (
        "DebugTypeMatrix",
        &["Vector Type"],
        debug("a DebugTypeVector", &["DebugTypeVector"]),
    ),
    (
        "DebugTypeFunction",
        &["Return Type"],
        Wanted::One {
            text: "a debug type or void",
            opcodes: &[op::TYPE_VOID],
            debug: TYPES,
        },
    ),
    ("DebugTypeFunction", &["Parameter Types"], TYPE_OR_PARAMETER),
    (
        "DebugTypeComposite",
        &["Members"],
        debug(
            "a member, a base or a function",
            &["DebugTypeMember", "DebugTypeInheritance", "DebugFunction"],
        ),
    ),
    ("DebugTypeMember", &["Type"], TYPE_OR_PARAMETER),
    ("DebugTypeMember", &["Parent"], COMPOSITE),
    ("DebugTypeMember", &["Value"], CONSTANT),
    ("DebugTypeEnum", &["Value"], CONSTANT),
    ("DebugTypeTemplateParameter", &["Value"], CONSTANT),
    ("DebugTypeInheritance", &["Child", "Parent"], COMPOSITE),
    (
        "DebugTypeTemplate",
        &["Target"],
        debug(
            "a DebugTypeComposite or DebugFunction",
            &["DebugTypeComposite", "DebugFunction"],
        ),
    ),
    (
        "DebugTypeTemplate",
        &["Parameters"],
        debug(
            "a parameter of a template",
            &[
                "DebugTypeTemplateParameter",
                "DebugTypeTemplateTemplateParameter",
                "DebugTypeTemplateParameterPack",
            ],
        ),
    ),
    ("DebugGlobalVariable", &["Type"], TYPE),
    (
        "DebugGlobalVariable",
        &["Variable"],
        result(
            "a variable or a constant",
            &[op::VARIABLE, op::UNTYPED_VARIABLE_KHR, op::CONSTANT],
        ),
    ),
    (
        "DebugGlobalVariable",
        &["Static Member Declaration"],
        debug("a DebugTypeMember", &["DebugTypeMember"]),
    ),
    ("DebugLocalVariable", &["Type"], TYPE_OR_PARAMETER),
    ("DebugFunctionDeclaration", &["Type"], FUNCTION_TYPE),
    ("DebugFunction", &["Type"], FUNCTION_TYPE),
    ("DebugFunction", &["Function"], result("a function", &[op::FUNCTION])),
    (
        "DebugFunction",
        &["Declaration"],
        debug("a DebugFunctionDeclaration", &["DebugFunctionDeclaration"]),
    ),
    ("DebugFunctionDefinition", &["Function"], FUNCTION),
    (
        "DebugFunctionDefinition",
        &["Definition"],
        result("a function", &[op::FUNCTION]),
    ),
    (
        "DebugDeclare",
        &["Variable"],
        result(
            "a variable or a parameter",
            &[op::VARIABLE, op::UNTYPED_VARIABLE_KHR, op::FUNCTION_PARAMETER],
        ),
    ),
    (
        "DebugExpression",
        &["Operands ..."],
        debug("a DebugOperation", &["DebugOperation"]),
    ),
    ("DebugOperation", &["OpCode", "Operands ..."], Wanted::Word),
    ("DebugEntryPoint", &["Entry Point"], FUNCTION),
    (
        "DebugEntryPoint",
        &["Compilation Unit"],
        debug("a DebugCompilationUnit", &["DebugCompilationUnit"]),
    ),
    ("", &["Base Type", "Underlying Type", "Actual Type"], TYPE),
    ("", &["Parent", "Scope"], SCOPE),
    ("", &["Source"], debug("a DebugSource", &["DebugSource"])),
    ("", &["Inlined At", "Inlined"], INLINED_AT),
    (
        "",
        &["Local Variable"],
        debug("a DebugLocalVariable", &["DebugLocalVariable"]),
    ),
    ("", &["Expression"], debug("a DebugExpression", &["DebugExpression"])),
    ("", &["Size", "Offset"], CONSTANT),
    (
        "",
        &[
            "Name",
            "Linkage Name",
            "File",
            "Text",
            "Identifier",
            "Path",
            "Compiler Signature",
            "Command-line Arguments",
        ],
        STRING,
    ),
    (
        "",
        &[
            "Version",
            "DWARF Version",
            "Language",
            "Encoding",
            "Flags",
            "Tag",
            "Storage Class",
            "Type Qualifier",
            "Component Count",
            "Vector Count",
            "Arg Number",
            "Line",
            "Column",
            "Scope Line",
            "Line Start",
            "Line End",
            "Column Start",
            "Column End",
        ],
        Wanted::Word,
    ),
];

/// Instructions whose operands compilers leave out in ways of their own.
const FREE: [&str; 8] = [
    "DebugTypePtrToMember",
    "DebugTypeTemplateTemplateParameter",
    "DebugTypeTemplateParameterPack",
    "DebugLexicalBlockDiscriminator",
    "DebugInlinedVariable",
    "DebugMacroDef",
    "DebugMacroUndef",
    "DebugImportedEntity",
];

/// An instruction of the two newer sets.
#[derive(Clone, Copy)]
struct Info<'m, 'a> {
    module: &'m Checked<'a>,
    set: &'a str,
    row: &'a Row,
    args: &'a [u32],
}

impl<'m, 'a> Info<'m, 'a> {
    fn of(module: &'m Checked<'a>, item: &Item<'a>) -> Option<Self> {
        let (set, row) = instruction(module, item).filter(|(set, _)| *set != OLDEST)?;
        let args = item.words.get(5..)?;
        Some(Self { module, set, row, args })
    }

    /// The instruction that defines an id.
    fn defining(module: &'m Checked<'a>, id: u32) -> Option<Self> {
        Self::of(module, module.definition(id)?)
    }

    fn name(&self) -> &'a str {
        &self.row.name
    }

    /// Every operand that is an id, with its name.
    fn ids(self) -> impl Iterator<Item = (&'a str, u32)> {
        self.args.iter().enumerate().filter_map(move |(at, id)| {
            let operand = rule(self.row, at)?;
            match self.module.grammar.shape(operand.kind) {
                Shape::Id => Some((&*operand.name, *id)),
                // Only an enumeration has pairs, of values and names.
                Shape::Composite(_) if (at + 1).saturating_sub(self.row.operands.len()).is_multiple_of(2) => {
                    Some(("Value", *id))
                }
                Shape::Composite(_) => Some(("Name", *id)),
                _ => None,
            }
        })
    }

    /// The word of an operand that is there once.
    fn word(&self, name: &str) -> Option<u32> {
        let at = self.row.operands.iter().position(|operand| operand.name == name)?;
        self.args.get(at).copied()
    }

    /// A number, which is a literal or a constant.
    fn number(&self, name: &str) -> Option<u32> {
        let word = self.word(name)?;
        let operand = self.row.operands.iter().find(|operand| operand.name == name)?;
        match self.module.grammar.shape(operand.kind) {
            Shape::Id => self.module.known_word(word),
            _ => Some(word),
        }
    }

    /// A debug instruction that an operand refers to.
    fn operand(&self, name: &str) -> Option<Self> {
        Self::defining(self.module, self.word(name)?)
    }

    /// For a variable of a basic type, that type.
    fn basic(&self) -> Option<Self> {
        let variable = ["DebugLocalVariable", "DebugGlobalVariable"].contains(&self.name());
        self.operand("Type")
            .filter(|ty| variable && ty.name() == "DebugTypeBasic")
    }
}

/// Encodings of basic types, and tags of composite ones.
const SIGNED: u32 = 4;
const UNSIGNED: u32 = 6;
const UNION: u32 = 2;

/// Checks an instruction of the two newer sets.
pub(super) fn check(module: &Checked<'_>, item: &Item<'_>, place: Place) -> Why {
    let it = Info::of(module, item)?;
    let void = module.opcode(item.ty) == op::TYPE_VOID;
    when(!void, "the result type is not void")
        .or_else(|| operands(&it))
        .or_else(|| match it.name() {
            "DebugTypeVector" => count(&it, "Component Count"),
            "DebugTypeMatrix" => count(&it, "Vector Count"),
            "DebugTypeEnum" => {
                let size = it.word("Size")?;
                when(
                    !unknown(module, size) && !positive(module, size),
                    "Size is not positive",
                )
            }
            "DebugTypeArray" => it.args.get(1..)?.iter().find_map(|id| length(&it, *id)),
            "DebugTypeInheritance" => ["Child", "Parent"].into_iter().find_map(|name| {
                let tag = it.operand(name)?.number("Tag")?;
                when(tag >= UNION, &format!("{name} is neither a class nor a structure"))
            }),
            "DebugLine" => lines(&it),
            "DebugDeclare" => indices(&it, |id| module.of(id).scalar(Base::Int)),
            "DebugValue" => indices(&it, |id| {
                let constant = module.opcode(id) == op::CONSTANT && module.of(id).scalar(Base::Int);
                let encoding = || Info::defining(module, id)?.basic()?.number("Encoding");
                constant || encoding().is_some_and(|encoding| [SIGNED, UNSIGNED].contains(&encoding))
            }),
            "DebugFunctionDefinition" => {
                let within = module.items.get(place.function).map(|function| function.result);
                when(it.word("Definition") != within, "Definition is another function")
            }
            _ => None,
        })
        .map(|why| format!("{}: {why}", it.name()))
}

/// Whether an id stands for information that is not known, which every instruction may refer to: `DebugInfoNone`'s, or
/// that of an instruction in a later revision of the set.
fn unknown(module: &Checked<'_>, id: u32) -> bool {
    let later = |item: &Item<'_>| item.is_extended() && module.sets.get(&item.word(3)).is_some_and(|set| set == SHADER);
    match Info::defining(module, id) {
        Some(it) => it.name() == "DebugInfoNone",
        None => module.definition(id).is_some_and(later),
    }
}

/// Every operand that is an id is what its name asks for.
fn operands(it: &Info<'_, '_>) -> Why {
    if FREE.contains(&it.name()) {
        return None;
    }
    it.ids().find_map(|(name, id)| {
        let holds = |row: &&(&str, &[&str], Wanted)| (row.0.is_empty() || row.0 == it.name()) && row.1.contains(&name);
        let wanted = &OPERANDS.iter().find(holds)?.2;
        let fits = match wanted {
            Wanted::Word => it.module.constant_word(id),
            Wanted::One { opcodes, debug, .. } => {
                let of = Info::defining(it.module, id);
                opcodes.contains(&it.module.opcode(id))
                    || of.is_some_and(|of| debug.contains(&of.name()))
                    || unknown(it.module, id)
            }
        };
        when(!fits, &format!("{name}, %{id}, is not {}", wanted.text()))
    })
}

/// Vectors have up to four components, and matrices as many vectors.
fn count(it: &Info<'_, '_>, name: &str) -> Why {
    let count = it.number(name)?;
    when(
        !(1..=4).contains(&count),
        &format!("{name} is {count}, 1 to 4 are allowed"),
    )
}

/// Whether an id is an integer constant that is not 0.
fn positive(module: &Checked<'_>, id: u32) -> bool {
    let value = module.def(id).filter(|item| item.opcode() == op::CONSTANT);
    module.of(id).scalar(Base::Int) && value.is_some_and(|item| item.args().iter().any(|word| *word != 0))
}

/// An array's number of elements is a constant, specialised or not, or an unsigned variable. Arrays of shaders may be
/// of no known length.
fn length(it: &Info<'_, '_>, id: u32) -> Why {
    let module = it.module;
    let form = module.of(id);
    let zero = module.opcode(id) == op::CONSTANT && !positive(module, id);
    let wide = form.scalar(Base::Int) && [32, 64].contains(&form.width);
    let constant = module.is_constant(id) && wide && (it.set == SHADER || !zero);
    let variable = || {
        let ty = Info::defining(module, id)?.basic()?;
        let size = module.known_word(ty.word("Size")?)?;
        Some(ty.number("Encoding")? == UNSIGNED && [32, 64].contains(&size))
    };
    let fits = unknown(module, id) || constant || variable() == Some(true);
    when(
        !fits,
        &format!("Component Count, %{id}, is neither a constant nor an unsigned variable of 32 or 64 bits"),
    )
}

/// A range of lines does not end before it starts.
fn lines(it: &Info<'_, '_>) -> Why {
    let number = |name| it.number(name);
    let (first, last) = (number("Line Start")?, number("Line End")?);
    let (left, right) = (number("Column Start")?, number("Column End")?);
    when(last < first, "Line End is before Line Start")
        .or_else(|| when(first == last && right < left, "Column End is before Column Start"))
}

fn indices(it: &Info<'_, '_>, fits: impl Fn(u32) -> bool) -> Why {
    let wrong = it.ids().find(|(name, id)| *name == "Indexes" && !fits(*id))?;
    Some(format!("index %{} is not an integer", wrong.1))
}
