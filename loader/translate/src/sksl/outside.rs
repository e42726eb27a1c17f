//! The external interface in a program's tree: its globals, its `main`, its textures.

use loader::sksl::*;

/// The set of subpass inputs, as in VBC.
pub(super) const ATTACHMENTS: i8 = 2;

/// Direction of a stage interface variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    In,
    Out,
}

impl Way {
    /// The GLSL keyword.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Out => "out",
        }
    }
}

/// Global variables and interface blocks of the program, in order.
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

/// Inputs of a mesh program's `main` under any name: parameters that are structs and only read.
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

/// Whether the program is a mesh program.
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

/// The GLSL texture type of an SkSL type; naga's GLSL for Vulkan has separate textures and samplers.
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
