//! A file's tree: typed arenas and handles.
//!
//! The tree records exactly what the file contains: a built-in is a name, and a symbol that is written twice is two
//! symbols. Every definition is at its first use, so ids and string offsets are not kept: the writer assigns them
//! again.

use super::enums::*;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// Index of a `T` in its arena of the same [`Tree`].
pub struct Handle<T>(pub(super) u32, PhantomData<fn() -> T>);

impl<T> Handle<T> {
    pub(super) fn new(index: u32) -> Self {
        Self(index, PhantomData)
    }

    /// Position in the arena, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Handle<T> {}
impl<T> PartialEq for Handle<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<T> Eq for Handle<T> {}
impl<T> std::hash::Hash for Handle<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// Values of one kind, each with the byte offset that it was read from.
#[derive(Clone, Debug)]
pub struct Arena<T> {
    items: Vec<T>,
    offsets: Vec<u32>,
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl<T> Arena<T> {
    pub(super) fn with_capacity(n: usize) -> Self {
        let (items, offsets) = (Vec::with_capacity(n), Vec::with_capacity(n));
        Self { items, offsets }
    }

    /// Adds a value; `offset` is its byte offset in the file, 0 if it has none.
    pub fn add(&mut self, value: T, offset: u32) -> Handle<T> {
        self.items.push(value);
        self.offsets.push(offset);
        Handle::new(self.items.len() as u32 - 1)
    }

    /// Byte offset from the start of the file.
    pub fn offset(&self, handle: Handle<T>) -> u64 {
        u64::from(self.offsets[handle.index()])
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Every value with its handle, in file order.
    pub fn iter(&self) -> impl Iterator<Item = (Handle<T>, &T)> {
        self.items
            .iter()
            .enumerate()
            .map(|(i, item)| (Handle::new(i as u32), item))
    }
}

impl<T> Index<Handle<T>> for Arena<T> {
    type Output = T;
    fn index(&self, handle: Handle<T>) -> &T {
        &self.items[handle.index()]
    }
}

impl<T> IndexMut<Handle<T>> for Arena<T> {
    fn index_mut(&mut self, handle: Handle<T>) -> &mut T {
        &mut self.items[handle.index()]
    }
}

/// A string of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Str(pub(super) u32);

/// The strings of a tree, in one buffer.
#[derive(Clone, Debug, Default)]
pub struct Strings {
    pub(super) text: String,
    pub(super) ranges: Vec<(u32, u32)>,
}

impl Strings {
    /// Number of strings.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Interns a string.
    pub fn intern(&mut self, text: &str) -> Str {
        if let Some(found) = (0..self.ranges.len() as u32).map(Str).find(|s| &self[*s] == text) {
            return found;
        }
        let start = self.text.len() as u32;
        self.text += text;
        self.ranges.push((start, self.text.len() as u32));
        Str(self.ranges.len() as u32 - 1)
    }
}

impl Index<Str> for Strings {
    type Output = str;
    fn index(&self, s: Str) -> &str {
        let (start, end) = self.ranges[s.0 as usize];
        &self.text[start as usize..end as usize]
    }
}

/// A reference to a symbol, packed into one word.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ref(pub(super) u32);

/// What a [`Ref`] refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Nothing (id 0): the parameter of a built-in overload, whose variable is not in the file.
    None,
    /// A symbol of this tree.
    Symbol(Handle<Symbol>),
    /// A built-in, known only by name.
    Builtin(Str),
}

impl Ref {
    /// A reference to nothing.
    pub const NONE: Self = Self(0);
    const BUILTIN: u32 = 1 << 31;

    /// A reference to a symbol of the tree.
    pub fn symbol(handle: Handle<Symbol>) -> Self {
        Self(handle.0 + 1)
    }

    /// A reference to a built-in.
    pub fn builtin(name: Str) -> Self {
        Self(name.0 | Self::BUILTIN)
    }

    /// What it refers to.
    pub fn target(self) -> Target {
        match self.0 {
            0 => Target::None,
            n if n & Self::BUILTIN != 0 => Target::Builtin(Str(n & !Self::BUILTIN)),
            n => Target::Symbol(Handle::new(n - 1)),
        }
    }

    /// The symbol of this tree it refers to.
    pub fn as_symbol(self) -> Option<Handle<Symbol>> {
        match self.target() {
            Target::Symbol(handle) => Some(handle),
            _ => None,
        }
    }
}

impl fmt::Debug for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.target(), f)
    }
}

/// A range of the tree's word pool, one word per `T`.
pub struct List<T> {
    pub(super) start: u32,
    pub(super) len: u32,
    of: PhantomData<fn() -> T>,
}

impl<T> List<T> {
    pub(super) fn new(start: u32, len: u32) -> Self {
        Self {
            start,
            len,
            of: PhantomData,
        }
    }

    /// Number of items.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether it is empty.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for List<T> {}
impl<T> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "list {}+{}", self.start, self.len)
    }
}

/// Types that can be stored in a [`List`].
pub trait Word: Copy {
    #[doc(hidden)]
    fn from_word(word: u32) -> Self;
    #[doc(hidden)]
    fn to_word(self) -> u32;
}

impl<T> Word for Handle<T> {
    fn from_word(word: u32) -> Self {
        Self::new(word)
    }
    fn to_word(self) -> u32 {
        self.0
    }
}
impl Word for Ref {
    fn from_word(word: u32) -> Self {
        Self(word)
    }
    fn to_word(self) -> u32 {
        self.0
    }
}

/// An entry of a symbol table's sorted list: an index into its owned symbols, or a built-in type by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Index into [`SymbolTable::owned`].
    Owned(u16),
    /// A built-in of the root table (allowed by the format, never seen in data).
    Builtin(Str),
}

impl Word for Entry {
    fn from_word(word: u32) -> Self {
        match Ref(word).target() {
            Target::Builtin(name) => Self::Builtin(name),
            _ => Self::Owned(word as u16),
        }
    }
    fn to_word(self) -> u32 {
        match self {
            Self::Owned(index) => u32::from(index),
            Self::Builtin(name) => Ref::builtin(name).0,
        }
    }
}

/// `layout(...)`: flags of [`layout`], and values, -1 if absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // each field is the qualifier of its name
pub struct Layout {
    /// The qualifiers present in the source; see [`layout`].
    pub flags: u32,
    pub location: i8,
    pub offset: i16,
    pub binding: i16,
    pub index: i8,
    pub set: i8,
    pub builtin: i16,
    pub input_attachment_index: i8,
}

impl Layout {
    /// No qualifiers.
    pub const DEFAULT: Self = Self {
        flags: 0,
        location: -1,
        offset: -1,
        binding: -1,
        index: -1,
        set: -1,
        builtin: -1,
        input_attachment_index: -1,
    };
}

impl Default for Layout {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A layout and flags of [`modifier`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modifiers {
    /// Layout qualifiers.
    pub layout: Layout,
    /// See [`modifier`].
    pub flags: u32,
}

/// A symbol: anything with a name or an id.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // fields named as in the format
pub enum Symbol {
    /// Array type; its name is derived from the component's.
    Array {
        component: Ref,
        /** -1 = unsized. */
        count: i8,
    },
    /// Struct type.
    Struct {
        name: Str,
        fields: Vec<StructField>,
        interface_block: bool,
    },
    /// A function's declaration; its parameters are [`Ref::NONE`] in a built-in overload.
    Function {
        modifiers: Modifiers,
        name: Str,
        parameters: List<Ref>,
        returns: Ref,
    },
    /// Overloads of one name.
    Overloads { functions: List<Ref> },
    /// A variable.
    Variable {
        modifiers: Modifiers,
        name: Str,
        ty: Ref,
        storage: Storage,
    },
    /// Field of an unnamed interface block; has no id.
    Field { owner: Ref, index: u8 },
}

/// A field of a struct type.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct StructField {
    pub modifiers: Modifiers,
    pub name: Str,
    pub ty: Ref,
}

/// The symbols of one scope.
#[derive(Clone, Copy, Debug)]
pub struct SymbolTable {
    /// Set in module files at every level, clear in programs.
    pub builtin: bool,
    /// Symbols in order of definition.
    pub owned: List<Ref>,
    /// The same symbols sorted by name, bytewise.
    pub names: List<Entry>,
}

/// A top-level element.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Element {
    Function {
        declaration: Ref,
        body: Handle<Statement>,
    },
    Prototype {
        declaration: Ref,
    },
    /// Always a variable declaration.
    Global {
        declaration: Handle<Statement>,
    },
    InterfaceBlock {
        variable: Ref,
        type_name: Str,
        instance_name: Str,
        /** 0 = none. */
        array_size: u8,
    },
    Struct {
        ty: Ref,
    },
    /// A module function that the program uses, with all its symbols.
    Shared {
        parameters: List<Ref>,
        declaration: Ref,
        definition: Handle<Element>,
    },
}

/// One case of a switch.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// `None` for the default case.
    pub value: Option<i32>,
    /// Exactly one statement; an unbraced block when there are several.
    pub body: Handle<Statement>,
}

/// A statement.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Statement {
    Block {
        table: Option<Handle<SymbolTable>>,
        statements: List<Handle<Statement>>,
        kind: BlockKind,
    },
    Break,
    Continue,
    Discard,
    Nop,
    Do {
        body: Handle<Statement>,
        test: Handle<Expression>,
    },
    Expression(Handle<Expression>),
    For {
        table: Option<Handle<SymbolTable>>,
        initializer: Option<Handle<Statement>>,
        test: Option<Handle<Expression>>,
        next: Option<Handle<Expression>>,
        body: Handle<Statement>,
    },
    If {
        is_static: bool,
        test: Handle<Expression>,
        then: Handle<Statement>,
        otherwise: Option<Handle<Statement>>,
    },
    Return(Option<Handle<Expression>>),
    Switch {
        is_static: bool,
        table: Option<Handle<SymbolTable>>,
        value: Handle<Expression>,
        cases: List<Handle<Case>>,
    },
    /// For an array, `base_type` is the element type; an `array_size` of 0 means no array.
    Variable {
        variable: Ref,
        base_type: Ref,
        array_size: u8,
        value: Option<Handle<Expression>>,
    },
}

/// An expression.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Expression {
    Binary {
        left: Handle<Expression>,
        op: Operator,
        right: Handle<Expression>,
    },
    Bool(bool),
    Float {
        ty: Ref,
        bits: u32,
    },
    /// Unsigned if its type is.
    Int {
        ty: Ref,
        bits: u32,
    },
    /// `command` is one of the nine constructors.
    Constructor {
        command: Command,
        ty: Ref,
        arguments: List<Handle<Expression>>,
    },
    FieldAccess {
        base: Handle<Expression>,
        index: u8,
        owner: FieldOwner,
    },
    Call {
        ty: Ref,
        function: Ref,
        arguments: List<Handle<Expression>>,
    },
    Index {
        base: Handle<Expression>,
        index: Handle<Expression>,
    },
    Prefix {
        op: Operator,
        operand: Handle<Expression>,
    },
    Postfix {
        op: Operator,
        operand: Handle<Expression>,
    },
    /// A field of the device capabilities, by name.
    Setting(Str),
    /// Components 0..=3, at most four.
    Swizzle {
        base: Handle<Expression>,
        components: [u8; 4],
        count: u8,
    },
    Ternary {
        test: Handle<Expression>,
        then: Handle<Expression>,
        otherwise: Handle<Expression>,
    },
    Variable {
        variable: Ref,
        kind: RefKind,
    },
}

/// Kind of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Header {
    /// Built-ins of a program kind: symbols and elements.
    Module,
    /// One program.
    Program {
        kind: ProgramKind,
        version: LanguageVersion,
        use_flip_rt_uniform: bool,
    },
}

/// A whole file.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Tree {
    pub header: Header,
    pub strings: Strings,
    pub symbols: Arena<Symbol>,
    pub tables: Arena<SymbolTable>,
    pub cases: Arena<Case>,
    pub elements: Arena<Element>,
    pub statements: Arena<Statement>,
    pub expressions: Arena<Expression>,
    pub(super) pool: Vec<u32>,
    /// The root symbol table.
    pub table: Handle<SymbolTable>,
    /// Top-level elements in order.
    pub top: List<Handle<Element>>,
}

impl Tree {
    /// The items of a list.
    pub fn list<T: Word>(&self, list: List<T>) -> impl DoubleEndedIterator<Item = T> + ExactSizeIterator + Clone + '_ {
        let start = list.start as usize;
        self.pool[start..start + list.len as usize]
            .iter()
            .map(|word| T::from_word(*word))
    }

    /// Creates a list.
    pub fn make_list<T: Word>(&mut self, items: &[T]) -> List<T> {
        let start = self.pool.len() as u32;
        self.pool.extend(items.iter().map(|item| item.to_word()));
        List::new(start, items.len() as u32)
    }

    /// The symbol that a reference refers to, if it is in this tree.
    pub fn symbol(&self, reference: Ref) -> Option<&Symbol> {
        reference.as_symbol().map(|handle| &self.symbols[handle])
    }
}
