//! What a program's tree says of the outside: its globals, its `main`, its textures.

use loader::sksl::*;

/// The set of what a subpass reads, as VBC has it.
pub(super) const ATTACHMENTS: i8 = 2;

/// The way of a variable between two stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    In,
    Out,
}

impl Way {
    /// The word of GLSL.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Out => "out",
        }
    }
}

/// Global variables and interface blocks of the program's own, in order.
pub(super) fn globals(tree: &Tree) -> impl Iterator<Item = (Ref, &Modifiers, Str)> {
    tree.list(tree.top).filter_map(|element| {
        let variable = match tree.elements[element] {
            Element::Global { declaration } => match tree.statements[declaration] {
                Statement::Variable { variable, .. } => variable,
                _ => return None,
            },
            Element::InterfaceBlock { variable, .. } => variable,
            _ => return None,
        };
        match tree.symbol(variable)? {
            Symbol::Variable { modifiers, name, .. } => Some((variable, modifiers, *name)),
            _ => None,
        }
    })
}

/// Inputs of a mesh program's `main`, whatever the host calls them: parameters that are structs and only read.
pub(super) fn mesh_inputs(tree: &Tree) -> Vec<Ref> {
    if !is_mesh(tree) {
        return Vec::new();
    }
    let Some(Symbol::Function { parameters, .. }) = main(tree).and_then(|main| tree.symbol(main)) else {
        return Vec::new();
    };
    let read = |parameter: &Ref| {
        matches!(tree.symbol(*parameter),
            Some(Symbol::Variable { modifiers, .. }) if modifiers.flags & modifier::OUT == 0)
    };
    tree.list(*parameters).filter(read).collect()
}

/// Whether the program is one of a mesh.
pub(super) fn is_mesh(tree: &Tree) -> bool {
    matches!(tree.header, Header::Program { kind, .. }
        if matches!(kind, ProgramKind::MESH_VERTEX | ProgramKind::MESH_FRAGMENT))
}

/// The program's `main`, by the last definition of that name.
pub(super) fn main(tree: &Tree) -> Option<Ref> {
    let defined = tree.list(tree.top).filter_map(|element| match tree.elements[element] {
        Element::Function { declaration, .. } => Some(declaration),
        _ => None,
    });
    defined.rev().find(|declaration| {
        matches!(tree.symbol(*declaration), Some(Symbol::Function { name, .. }) if &tree.strings[*name] == "main")
    })
}

/// GLSL's texture in a type of SkSL; GLSL for Vulkan, as naga reads it, has it and the sampler apart.
pub(super) fn separate(ty: &str) -> Option<&'static str> {
    Some(match ty {
        "sampler1D" | "texture1D" => "texture1D",
        "sampler2D" | "samplerExternalOES" | "sampler2DRect" => "texture2D",
        "texture2D" | "textureExternalOES" | "texture2DRect" => "texture2D",
        "sampler3D" | "texture3D" => "texture3D",
        "isampler2D" | "itexture2D" => "itexture2D",
        _ => return None,
    })
}
