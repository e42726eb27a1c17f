//! Commands and enumerants of version 11.
//!
//! Source of every number: docs/spec/sksl.md, sections 2 and 3 (all seen in data except those marked "code").

use crate::open_enum;

open_enum! {
    /// The first byte of every node in the file. 34 is unused: neither written nor read.
    pub struct Command(u8) {
        ARRAY_TYPE = 0 "ArrayType", BINARY = 1 "Binary", BLOCK = 2 "Block", BOOL_LITERAL = 3 "BoolLiteral",
        BREAK = 4 "Break", BUILTIN_LAYOUT = 5 "BuiltinLayout", CONSTRUCTOR_ARRAY = 6 "ConstructorArray",
        CONSTRUCTOR_ARRAY_CAST = 7 "ConstructorArrayCast", CONSTRUCTOR_COMPOUND = 8 "ConstructorCompound",
        CONSTRUCTOR_COMPOUND_CAST = 9 "ConstructorCompoundCast",
        CONSTRUCTOR_DIAGONAL_MATRIX = 10 "ConstructorDiagonalMatrix",
        CONSTRUCTOR_MATRIX_RESIZE = 11 "ConstructorMatrixResize",
        CONSTRUCTOR_SCALAR_CAST = 12 "ConstructorScalarCast", CONSTRUCTOR_SPLAT = 13 "ConstructorSplat",
        CONSTRUCTOR_STRUCT = 14 "ConstructorStruct", CONTINUE = 15 "Continue", DEFAULT_LAYOUT = 16 "DefaultLayout",
        DEFAULT_MODIFIERS = 17 "DefaultModifiers", DISCARD = 18 "Discard", DO = 19 "Do", ELEMENTS = 20 "Elements",
        ELEMENTS_COMPLETE = 21 "ElementsComplete", EXPRESSION_STATEMENT = 22 "ExpressionStatement",
        FIELD = 23 "Field", FIELD_ACCESS = 24 "FieldAccess", FLOAT_LITERAL = 25 "FloatLiteral", FOR = 26 "For",
        FUNCTION_CALL = 27 "FunctionCall", FUNCTION_DECLARATION = 28 "FunctionDeclaration",
        FUNCTION_DEFINITION = 29 "FunctionDefinition", FUNCTION_PROTOTYPE = 30 "FunctionPrototype",
        GLOBAL_VAR = 31 "GlobalVar", IF = 32 "If", INDEX = 33 "Index", INTERFACE_BLOCK = 35 "InterfaceBlock",
        INT_LITERAL = 36 "IntLiteral", LAYOUT = 37 "Layout", MODIFIERS_8BIT = 38 "Modifiers8Bit",
        MODIFIERS = 39 "Modifiers", NOP = 40 "Nop", POSTFIX = 41 "Postfix", PREFIX = 42 "Prefix",
        PROGRAM = 43 "Program", RETURN = 44 "Return", SETTING = 45 "Setting", SHARED_FUNCTION = 46 "SharedFunction",
        STRUCT_DEFINITION = 47 "StructDefinition", STRUCT_TYPE = 48 "StructType", SWITCH = 49 "Switch",
        SWIZZLE = 50 "Swizzle", SYMBOL_REF = 51 "SymbolRef", SYMBOL_TABLE = 52 "SymbolTable",
        TERNARY = 53 "Ternary", UNRESOLVED_FUNCTION = 54 "UnresolvedFunction", VARIABLE = 55 "Variable",
        VAR_DECLARATION = 56 "VarDeclaration", VARIABLE_REFERENCE = 57 "VariableReference", VOID = 58 "Void",
    }
}

open_enum! {
    /// What a program is for.
    pub struct ProgramKind(u8) {
        FRAGMENT = 0 "fragment", VERTEX = 1 "vertex", GRAPHITE_FRAGMENT = 2 "graphite-fragment",
        GRAPHITE_VERTEX = 3 "graphite-vertex", RUNTIME_COLOR_FILTER = 4 "runtime-color-filter",
        RUNTIME_SHADER = 5 "runtime-shader", RUNTIME_BLENDER = 6 "runtime-blender",
        PRIVATE_RUNTIME_SHADER = 7 "private-runtime-shader", MESH_VERTEX = 8 "mesh-vertex",
        MESH_FRAGMENT = 9 "mesh-fragment", GENERIC = 10 "generic",
    }
}

open_enum! {
    /// Language version a program needs.
    pub struct LanguageVersion(u8) { V100 = 0 "100", V300 = 1 "300" }
}

open_enum! {
    /// Storage of a variable. `interface-block` is known from code only; data writes 0 for those.
    pub struct Storage(u8) { GLOBAL = 0 "global", INTERFACE_BLOCK = 1 "interface-block", LOCAL = 2 "local", PARAMETER = 3 "parameter" }
}

open_enum! {
    /// Operators; the name is the token.
    pub struct Operator(u8) {
        PLUS = 0 "+", MINUS = 1 "-", STAR = 2 "*", SLASH = 3 "/", PERCENT = 4 "%", SHL = 5 "<<", SHR = 6 ">>",
        NOT = 7 "!", AND = 8 "&&", OR = 9 "||", XOR = 10 "^^", BIT_NOT = 11 "~", BIT_AND = 12 "&", BIT_OR = 13 "|",
        BIT_XOR = 14 "^", ASSIGN = 15 "=", EQ = 16 "==", NE = 17 "!=", LT = 18 "<", GT = 19 ">", LE = 20 "<=",
        GE = 21 ">=", ADD_ASSIGN = 22 "+=", SUB_ASSIGN = 23 "-=", MUL_ASSIGN = 24 "*=", DIV_ASSIGN = 25 "/=",
        REM_ASSIGN = 26 "%=", SHL_ASSIGN = 27 "<<=", SHR_ASSIGN = 28 ">>=", AND_ASSIGN = 29 "&=",
        OR_ASSIGN = 30 "|=", XOR_ASSIGN = 31 "^=", INCREMENT = 32 "++", DECREMENT = 33 "--", COMMA = 34 ",",
    }
}

impl Operator {
    /// Whether the operator writes its left operand (or its only one).
    pub fn is_assignment(self) -> bool {
        self == Self::ASSIGN || (Self::ADD_ASSIGN..=Self::DECREMENT).contains(&self)
    }

    /// The operator that a compound assignment applies before it stores; `None` for all others.
    pub fn without_assignment(self) -> Option<Self> {
        Some(match self {
            Self::ADD_ASSIGN => Self::PLUS,
            Self::SUB_ASSIGN => Self::MINUS,
            Self::MUL_ASSIGN => Self::STAR,
            Self::DIV_ASSIGN => Self::SLASH,
            Self::REM_ASSIGN => Self::PERCENT,
            Self::SHL_ASSIGN => Self::SHL,
            Self::SHR_ASSIGN => Self::SHR,
            Self::AND_ASSIGN => Self::BIT_AND,
            Self::OR_ASSIGN => Self::BIT_OR,
            Self::XOR_ASSIGN => Self::BIT_XOR,
            _ => return None,
        })
    }
}

open_enum! {
    /// Whether a field is accessed through its struct or by its bare name, from an unnamed interface block.
    pub struct FieldOwner(u8) { DEFAULT = 0 "default", ANONYMOUS_BLOCK = 1 "anonymous-block" }
}

open_enum! {
    /// How a variable reference uses the variable.
    pub struct RefKind(u8) { READ = 0 "read", WRITE = 1 "write", READ_WRITE = 2 "read-write", POINTER = 3 "pointer" }
}

open_enum! {
    /// The source form of a block.
    pub struct BlockKind(u8) { UNBRACED = 0 "unbraced", BRACED = 1 "braced", COMPOUND = 2 "compound-statement" }
}

/// Modifier flags in print order; `inline` is never printed.
pub mod modifier {
    #![allow(missing_docs)] // each is the modifier of its name
    pub const FLAT: u32 = 1;
    pub const NO_PERSPECTIVE: u32 = 2;
    pub const CONST: u32 = 4;
    pub const UNIFORM: u32 = 8;
    pub const IN: u32 = 16;
    pub const OUT: u32 = 32;
    pub const HIGHP: u32 = 64;
    pub const MEDIUMP: u32 = 128;
    pub const LOWP: u32 = 256;
    pub const ES3: u32 = 512;
    pub const HAS_SIDE_EFFECTS: u32 = 1024;
    pub const INLINE: u32 = 2048;
    pub const NO_INLINE: u32 = 4096;
    /// All flags.
    pub const ALL: u32 = 8191;
}

/// Layout flags: the four qualifiers without a value, and the presence bits of those with one.
pub mod layout {
    #![allow(missing_docs)] // each is the qualifier of its name
    pub const ORIGIN_UPPER_LEFT: u32 = 1;
    pub const PUSH_CONSTANT: u32 = 2;
    pub const BLEND_SUPPORT_ALL_EQUATIONS: u32 = 4;
    pub const COLOR: u32 = 8;
    pub const LOCATION: u32 = 16;
    pub const OFFSET: u32 = 32;
    pub const BINDING: u32 = 64;
    pub const INDEX: u32 = 128;
    pub const SET: u32 = 256;
    pub const BUILTIN: u32 = 512;
    pub const INPUT_ATTACHMENT_INDEX: u32 = 1024;
    /// All flags.
    pub const ALL: u32 = 2047;
}
