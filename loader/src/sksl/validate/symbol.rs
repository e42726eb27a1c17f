//! Symbols, tables, modifiers and names.

use super::*;

/// Modifiers and layout qualifiers allowed in a context.
#[derive(Clone, Copy)]
struct Allowed {
    flags: u32,
    layout: u32,
}

const PRECISION: u32 = modifier::HIGHP | modifier::MEDIUMP | modifier::LOWP;
const INTERPOLATION: u32 = modifier::FLAT | modifier::NO_PERSPECTIVE;
const IN_OUT: u32 = modifier::IN | modifier::OUT;

const FIELD: Allowed = Allowed {
    flags: PRECISION,
    layout: layout::OFFSET,
};
const BLOCK_FIELD: Allowed = Allowed {
    flags: PRECISION | INTERPOLATION,
    layout: layout::ALL,
};
const FUNCTION: Allowed = Allowed {
    flags: modifier::HAS_SIDE_EFFECTS | modifier::INLINE | modifier::NO_INLINE,
    layout: 0,
};
const MODULE_FUNCTION: Allowed = Allowed {
    flags: FUNCTION.flags | modifier::ES3,
    layout: 0,
};
const LOCAL: Allowed = Allowed {
    flags: modifier::CONST | PRECISION,
    layout: 0,
};
const PARAMETER: Allowed = Allowed {
    flags: modifier::CONST | IN_OUT | PRECISION,
    layout: layout::BUILTIN,
};
const GLOBAL: Allowed = Allowed {
    flags: modifier::CONST | modifier::UNIFORM | IN_OUT | INTERPOLATION | PRECISION,
    layout: layout::ALL,
};

impl Checker<'_> {
    pub(super) fn symbols(&mut self) {
        let tree = self.tree;
        for (handle, symbol) in tree.symbols.iter() {
            let offset = tree.symbols.offset(handle);
            match symbol {
                Symbol::Array { component, count } => {
                    self.ty(*component, offset);
                    self.require(
                        *count == -1 || *count > 0,
                        "array-size",
                        "array size is neither positive nor -1",
                        offset,
                    );
                    let plain = !matches!(self.typer.resolve(*component), Ty::Void | Ty::Array(_));
                    self.require(plain, "array-of", "array of void or of arrays", offset);
                }
                Symbol::Struct {
                    name,
                    fields,
                    interface_block,
                } => {
                    self.name(*name, offset);
                    let place = if *interface_block { BLOCK_FIELD } else { FIELD };
                    self.require(!fields.is_empty(), "empty-struct", "struct without fields", offset);
                    let mut seen = HashSet::new();
                    for field in fields {
                        self.name(field.name, offset);
                        self.modifiers(&field.modifiers, place, offset);
                        self.ty(field.ty, offset);
                        self.require(
                            self.typer.resolve(field.ty) != Ty::Void,
                            "void-value",
                            "field of type void",
                            offset,
                        );
                        self.require(
                            seen.insert(field.name),
                            "duplicate-field",
                            "two fields of one name",
                            offset,
                        );
                    }
                }
                Symbol::Function {
                    modifiers,
                    name,
                    parameters,
                    returns,
                } => {
                    self.name(*name, offset);
                    let of_a_module = tree.header == Header::Module
                        || self.has_shared
                        || tree.list(*parameters).any(|parameter| parameter == Ref::NONE);
                    let place = if of_a_module { MODULE_FUNCTION } else { FUNCTION };
                    self.modifiers(modifiers, place, offset);
                    self.ty(*returns, offset);
                    let mut seen = HashSet::new();
                    for parameter in tree.list(*parameters) {
                        self.require(
                            seen.insert(parameter) || parameter == Ref::NONE,
                            "parameter",
                            "a parameter twice",
                            offset,
                        );
                        let fits = match parameter.target() {
                            Target::None => true,
                            _ => matches!(
                                tree.symbol(parameter),
                                Some(Symbol::Variable {
                                    storage: Storage::PARAMETER,
                                    ..
                                })
                            ),
                        };
                        self.require(
                            fits,
                            "parameter",
                            "a parameter that is not a variable of that storage",
                            offset,
                        );
                    }
                }
                Symbol::Overloads { functions } => self.overloads(*functions, offset),
                Symbol::Variable {
                    modifiers,
                    name,
                    ty,
                    storage,
                } => {
                    if !tree.strings[*name].is_empty() {
                        self.name(*name, offset);
                    }
                    let place = match *storage {
                        Storage::LOCAL => LOCAL,
                        Storage::PARAMETER => PARAMETER,
                        _ => GLOBAL,
                    };
                    self.modifiers(modifiers, place, offset);
                    self.ty(*ty, offset);
                    self.require(
                        self.typer.resolve(*ty) != Ty::Void,
                        "void-value",
                        "variable of type void",
                        offset,
                    );
                    let known = [Storage::GLOBAL, Storage::LOCAL, Storage::PARAMETER].contains(storage);
                    self.require(known, "storage", "storage that is never written", offset);
                }
                Symbol::Field { owner, index } => {
                    let ty = self.typer.variable(*owner);
                    let fits = self.typer.field(ty, *index).is_some();
                    self.require(fits, "field", "field of something that has none of this index", offset);
                }
            }
        }
        for (handle, _) in tree.tables.iter() {
            self.table(handle);
        }
    }

    fn overloads(&mut self, functions: List<Ref>, offset: u64) {
        let tree = self.tree;
        let mut names = HashSet::new();
        for function in tree.list(functions) {
            match tree.symbol(function) {
                Some(Symbol::Function { name, .. }) => {
                    names.insert(*name);
                }
                _ => self.fail("overloads", "an overload that is not a function", offset),
            }
        }
        self.require(
            names.len() == 1 && functions.len() > 1,
            "overloads",
            "not two or more functions of one name",
            offset,
        );
    }

    /// A symbol's name in a table.
    fn name_of(&self, reference: Ref) -> Option<String> {
        let tree = self.tree;
        if let Target::Builtin(name) = reference.target() {
            return Some(tree.strings[name].to_owned());
        }
        Some(match tree.symbol(reference)? {
            Symbol::Struct { name, .. } | Symbol::Function { name, .. } | Symbol::Variable { name, .. } => {
                tree.strings[*name].to_owned()
            }
            Symbol::Overloads { functions } => {
                let first = tree.list(*functions).next()?;
                let Some(Symbol::Function { name, .. }) = tree.symbol(first) else {
                    return None;
                };
                tree.strings[*name].to_owned()
            }
            Symbol::Field { owner, index } => {
                let field = self.typer.field(self.typer.variable(*owner), *index)?;
                tree.strings[field.name].to_owned()
            }
            // The name of an array type is derived.
            Symbol::Array { component, count: -1 } => format!("{}[]", self.name_of(*component)?),
            Symbol::Array { component, count } => format!("{}[{count}]", self.name_of(*component)?),
        })
    }

    fn table(&mut self, handle: Handle<SymbolTable>) {
        let tree = self.tree;
        let offset = tree.tables.offset(handle);
        let SymbolTable { builtin, owned, names } = tree.tables[handle];
        // The scopes of a shared function come from its module and keep the module's flag.
        let fits = builtin == (tree.header == Header::Module) || (builtin && self.has_shared && handle != tree.table);
        self.require(
            fits,
            "table-builtin",
            "isBuiltin is set outside a module's symbols",
            offset,
        );
        let owned: Vec<Ref> = tree.list(owned).collect();
        let distinct: HashSet<_> = owned.iter().collect();
        self.require(
            distinct.len() == owned.len(),
            "table-owned",
            "a symbol owned twice",
            offset,
        );
        let mut last: Option<String> = None;
        let mut seen = HashSet::new();
        for entry in tree.list(names) {
            let name = match entry {
                Entry::Owned(index) => {
                    self.require(seen.insert(index), "table-entry", "a symbol with two entries", offset);
                    self.name_of(owned[usize::from(index)])
                }
                Entry::Builtin(name) => {
                    self.require(
                        types::is_type(&tree.strings[name]),
                        "unknown-type",
                        "no such builtin type",
                        offset,
                    );
                    Some(tree.strings[name].to_owned())
                }
            };
            let sorted = name.is_some() && (last.is_none() || last < name);
            self.require(
                sorted,
                "table-order",
                "entries are not sorted by name, or one has none",
                offset,
            );
            last = name;
        }
    }

    fn name(&mut self, name: Str, offset: u64) {
        let text = &self.tree.strings[name];
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'$';
        let starts = text.bytes().next().is_some_and(|b| !b.is_ascii_digit());
        let fits = starts && text.bytes().all(plain);
        if !fits {
            self.fail("name", format!("{text:?} is not a name"), offset);
        }
    }

    pub(super) fn ty(&mut self, reference: Ref, offset: u64) {
        match reference.target() {
            Target::Builtin(name) if !types::is_type(&self.tree.strings[name]) => {
                self.fail(
                    "unknown-type",
                    format!("no builtin type {:?}", &self.tree.strings[name]),
                    offset,
                );
            }
            Target::None => self.fail("unknown-type", "no type", offset),
            _ => {}
        }
    }

    fn modifiers(&mut self, modifiers: &Modifiers, place: Allowed, offset: u64) {
        let l = &modifiers.layout;
        let known = modifiers.flags & !modifier::ALL == 0 && l.flags & !layout::ALL == 0;
        self.require(known, "modifier-flags", "flags that do not exist", offset);
        let fits = modifiers.flags & modifier::ALL & !place.flags == 0
            && l.flags & layout::ALL & !place.layout == 0
            && (place.layout & layout::BUILTIN != 0 || l.builtin == -1);
        self.require(
            fits,
            "modifier-place",
            "modifiers or layout that cannot stand here",
            offset,
        );
        let has = |flags: u32| modifiers.flags & flags != 0;
        let one_precision = (modifiers.flags & PRECISION).count_ones() <= 1;
        let through = has(modifier::IN | modifier::OUT);
        let clash = has(modifier::UNIFORM) && (through || has(modifier::CONST))
            || has(modifier::INLINE) && has(modifier::NO_INLINE)
            || has(modifier::FLAT) && has(modifier::NO_PERSPECTIVE)
            || has(modifier::CONST) && has(modifier::OUT)
            || has(INTERPOLATION) && !through && place.flags & modifier::UNIFORM != 0;
        self.require(
            one_precision && !clash,
            "modifier-clash",
            "modifiers that exclude or require each other",
            offset,
        );
        let values = [
            (layout::LOCATION, i32::from(l.location)),
            (layout::OFFSET, l.offset.into()),
            (layout::BINDING, l.binding.into()),
            (layout::INDEX, l.index.into()),
            (layout::SET, l.set.into()),
            (layout::INPUT_ATTACHMENT_INDEX, l.input_attachment_index.into()),
        ];
        for (flag, value) in values {
            let fits = (l.flags & flag != 0) == (value != -1) && value >= -1;
            self.require(
                fits,
                "layout-value",
                "a layout value without its flag, or a flag without its value",
                offset,
            );
        }
        const KNOWN: [i16; 12] = [0, 1, 15, 17, 42, 43, 10001, 10008, 10009, 10010, 10011, 10012];
        let builtin = l.builtin == -1 && l.flags & layout::BUILTIN == 0 || KNOWN.contains(&l.builtin);
        self.require(
            builtin,
            "layout-builtin",
            "a builtin number that does not exist",
            offset,
        );
    }
}
