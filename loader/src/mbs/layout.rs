//! Memory layout of symbols: alignment, stride and size by type and storage class (docs/spec/mbs.md, section 4; how
//! vendor files fill the fields: docs/spec/mbs.md, section 3). The unit is the float.

use super::program::{NO_PARENT, Symbol, SymbolType};

/// A storage class; each has its own layout rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StorageClass {
    /// Outputs of vertices, inputs of fragments.
    Varying,
    /// Uniforms of fragment programs.
    PpUniform,
    /// Uniforms of vertex programs.
    GpUniform,
    /// Attributes of vertex programs.
    Attribute,
}

/// A type as a shader declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// One to four components.
    Vector(SymbolType, u16),
    /// Columns, as many as rows.
    Matrix(u16),
    /// A texture.
    Sampler(SymbolType),
    /// Members.
    Struct(Vec<Declaration>),
}

/// A declared variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// Name.
    pub name: String,
    /// Type of it, or of its elements.
    pub ty: Type,
    /// Elements of an array, 0 for none.
    pub entries: u16,
}

impl Type {
    /// Looks up a type by its GLSL name, such as `vec3` or `mat4`; `None` for structures.
    pub fn by_name(name: &str) -> Option<Self> {
        let split = name
            .find(|c: char| c.is_ascii_digit())
            .filter(|_| name != "sampler2D")
            .unwrap_or(name.len());
        let (base, count) = name.split_at(split);
        let count: u16 = if count.is_empty() {
            1
        } else {
            count.parse().ok().filter(|n| (2..=4).contains(n))?
        };
        Some(match base {
            "float" if count == 1 => Self::Vector(SymbolType::FLOAT, 1),
            "int" if count == 1 => Self::Vector(SymbolType::INT, 1),
            "bool" if count == 1 => Self::Vector(SymbolType::BOOL, 1),
            "vec" if count > 1 => Self::Vector(SymbolType::FLOAT, count),
            "ivec" if count > 1 => Self::Vector(SymbolType::INT, count),
            "bvec" if count > 1 => Self::Vector(SymbolType::BOOL, count),
            "mat" if count > 1 => Self::Matrix(count),
            "sampler2D" => Self::Sampler(SymbolType::SAMPLER_2D),
            "samplerCube" => Self::Sampler(SymbolType::SAMPLER_CUBE),
            "samplerExternalOES" => Self::Sampler(SymbolType::SAMPLER_EXTERNAL),
            _ => return None,
        })
    }

    /// Alignment of offsets, a power of two.
    pub fn alignment(&self, class: StorageClass) -> u16 {
        match (class, self) {
            (StorageClass::Attribute, _) => 4,
            // The vertex processor indexes arrays and columns of uniforms by vec4; smaller vectors only have to fit in
            // one.
            (StorageClass::GpUniform, Self::Matrix(_) | Self::Struct(_)) => 4,
            (StorageClass::GpUniform, Self::Vector(_, count)) => {
                if *count == 4 {
                    4
                } else {
                    1
                }
            }
            (_, Self::Vector(_, count) | Self::Matrix(count)) => [1, 1, 2, 4, 4][usize::from(*count).min(4)],
            (_, Self::Sampler(_)) => 1,
            (_, Self::Struct(members)) => members
                .iter()
                .map(|member| member.ty.alignment(class))
                .max()
                .unwrap_or(1),
        }
    }

    /// Distance between array elements. A single value takes the same space, except small vectors in the vertex
    /// processor's uniforms.
    pub fn stride(&self, class: StorageClass) -> u16 {
        match (class, self) {
            (StorageClass::Attribute | StorageClass::GpUniform, Self::Vector(..)) => 4,
            (StorageClass::Attribute | StorageClass::GpUniform, Self::Matrix(count)) => 4 * count,
            (_, Self::Vector(_, count)) => [1, 1, 2, 4, 4][usize::from(*count).min(4)],
            (_, Self::Matrix(count)) => count * [1, 1, 2, 4, 4][usize::from(*count).min(4)],
            (StorageClass::GpUniform | StorageClass::Attribute, Self::Sampler(_)) => 4,
            (_, Self::Sampler(_)) => 1,
            (_, Self::Struct(members)) => {
                let mut place = Place::default();
                for member in members {
                    place.put(member, class);
                }
                let end = place.next.next_multiple_of(u32::from(self.alignment(class).max(1)));
                u16::try_from(end).unwrap_or(u16::MAX)
            }
        }
    }

    fn kind(&self) -> SymbolType {
        match self {
            Self::Vector(kind, _) | Self::Sampler(kind) => *kind,
            Self::Matrix(_) => SymbolType::MATRIX,
            Self::Struct(_) => SymbolType::STRUCT,
        }
    }

    fn components(&self) -> u16 {
        match self {
            Self::Vector(_, count) | Self::Matrix(count) => *count,
            Self::Sampler(SymbolType::SAMPLER_CUBE) => 3,
            Self::Sampler(_) => 2,
            Self::Struct(members) => members.len() as u16,
        }
    }

    /// The size field: a column's size for matrices, the stride for everything else.
    fn size(&self, class: StorageClass) -> u16 {
        match self {
            Self::Matrix(count) => self.stride(class) / count,
            _ => self.stride(class),
        }
    }
}

/// An allocator of offsets. Offsets are 16 bits in files; the running total does not wrap.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    next: u32,
}

impl Place {
    /// Offset of the next declaration.
    fn put(&mut self, declaration: &Declaration, class: StorageClass) -> u16 {
        let (ty, entries) = (&declaration.ty, declaration.entries);
        let array = entries > 0;
        let alone = match (class, ty) {
            // A single float, vec2 or vec3 takes its own size if it does not cross into the next vec4.
            (StorageClass::GpUniform, Type::Vector(_, count)) if !array => Some(u32::from(*count)),
            _ => None,
        };
        let alignment = if array && class == StorageClass::GpUniform {
            4
        } else {
            ty.alignment(class)
        };
        let mut offset = self.next.next_multiple_of(u32::from(alignment.max(1)));
        if let Some(count) = alone
            && offset % 4 + count > 4
        {
            offset = offset.next_multiple_of(4);
        }
        let size = alone.unwrap_or(u32::from(ty.stride(class)) * u32::from(entries.max(1)));
        self.next = offset.saturating_add(size).min(u32::MAX / 2);
        u16::try_from(offset).unwrap_or(super::UNUSED)
    }
}

/// The symbols of declarations, structures followed by their members, and the total space in floats.
pub fn layout(declarations: &[Declaration], class: StorageClass) -> (Vec<Symbol>, u32) {
    let mut symbols = Vec::new();
    let mut place = Place::default();
    for declaration in declarations {
        let offset = place.put(declaration, class);
        add(declaration, class, offset, NO_PARENT, &mut symbols);
    }
    (symbols, place.next.next_multiple_of(4))
}

fn add(declaration: &Declaration, class: StorageClass, offset: u16, parent: u16, symbols: &mut Vec<Symbol>) {
    let number = symbols.len() as u16;
    symbols.push(symbol(declaration, class, offset, parent));
    if let Type::Struct(members) = &declaration.ty {
        let mut place = Place::default();
        for member in members {
            let offset = place.put(member, class);
            add(member, class, offset, number, symbols);
        }
    }
}

/// The symbol of one declaration at an offset.
pub fn symbol(declaration: &Declaration, class: StorageClass, offset: u16, parent: u16) -> Symbol {
    let ty = &declaration.ty;
    let fragment = matches!(class, StorageClass::PpUniform);
    let is_sampler = matches!(ty, Type::Sampler(_));
    let precision = match (is_sampler, fragment) {
        (true, _) => 1,
        (_, true) => 2,
        _ => 3,
    };
    Symbol {
        name: declaration.name.as_bytes().to_vec(),
        unknown: 0,
        kind: ty.kind(),
        components: ty.components(),
        size: ty.size(class),
        entries: declaration.entries,
        stride: ty.stride(class),
        flags: 16,
        precision,
        invariant: 0,
        offset,
        parent: if class == StorageClass::Attribute { 0 } else { parent },
        index: None,
        initial: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use StorageClass::{Attribute, GpUniform, PpUniform, Varying};

    fn declare(text: &str) -> Vec<Declaration> {
        let one = |text: &str| {
            let (ty, entries) = text
                .split_once('[')
                .map_or((text, 0), |(ty, n)| (ty, n.trim_end_matches(']').parse().unwrap()));
            Declaration {
                name: text.to_owned(),
                ty: Type::by_name(ty).unwrap(),
                entries,
            }
        };
        text.split_whitespace().map(one).collect()
    }

    fn offsets(text: &str, class: StorageClass) -> Vec<u16> {
        layout(&declare(text), class)
            .0
            .iter()
            .map(|symbol| symbol.offset)
            .collect()
    }

    #[test]
    fn varyings_floats_align_to_one() {
        assert_eq!(offsets("float float float", Varying), [0, 1, 2]);
    }

    #[test]
    fn varyings_vec2_align_to_two_vec3_and_vec4_to_four() {
        assert_eq!(offsets("float vec2 float vec3 vec4", Varying), [0, 2, 4, 8, 12]);
    }

    #[test]
    fn varyings_matrices_align_as_their_columns() {
        assert_eq!(offsets("float mat2 float mat3 mat4", Varying), [0, 2, 6, 8, 20]);
    }

    #[test]
    fn fragment_uniforms_are_as_varyings() {
        for text in ["float vec2 vec3 float", "mat2 float mat3", "vec2[3] float"] {
            assert_eq!(offsets(text, PpUniform), offsets(text, Varying));
        }
    }

    #[test]
    fn integers_and_booleans_are_as_floats() {
        for class in [Varying, PpUniform, GpUniform, Attribute] {
            assert_eq!(offsets("float vec2 vec3", class), offsets("int ivec2 bvec3", class));
        }
    }

    #[test]
    fn a_sampler_takes_a_float() {
        assert_eq!(offsets("sampler2D samplerCube float", PpUniform), [0, 1, 2]);
        let (symbols, space) = layout(&declare("sampler2D"), PpUniform);
        assert_eq!(
            (symbols[0].components, symbols[0].size, symbols[0].stride, space),
            (2, 1, 1, 4)
        );
        assert_eq!(layout(&declare("samplerCube"), PpUniform).0[0].components, 3);
    }

    #[test]
    fn vertex_uniforms_only_need_to_fit_a_vec4() {
        assert_eq!(
            offsets("float vec2 float vec3 float vec2 vec3", GpUniform),
            [0, 1, 3, 4, 7, 8, 12]
        );
    }

    #[test]
    fn vertex_uniforms_have_a_stride_of_four() {
        let (symbols, _) = layout(&declare("float[3] vec2[2] mat3 mat4"), GpUniform);
        let fields: Vec<[u16; 3]> = symbols.iter().map(|s| [s.offset, s.stride, s.size]).collect();
        assert_eq!(fields, [[0, 4, 4], [12, 4, 4], [20, 12, 4], [32, 16, 4]]);
    }

    #[test]
    fn attributes_take_a_vec4_each() {
        assert_eq!(offsets("float vec2 vec4 float", Attribute), [0, 4, 8, 12]);
    }

    #[test]
    fn an_array_aligns_as_its_elements_and_is_as_long_as_all() {
        assert_eq!(offsets("float vec2[3] float", Varying), [0, 2, 8]);
        assert_eq!(offsets("float[3] float", Varying), [0, 3]);
    }

    #[test]
    fn a_structure_aligns_as_its_largest_member_and_is_padded_to_that() {
        let members = declare("float vec2 float");
        let structure = |entries| Declaration {
            name: "s".to_owned(),
            ty: Type::Struct(members.clone()),
            entries,
        };
        let after = declare("float");
        let (symbols, _) = layout(&[after[0].clone(), structure(2), after[0].clone()], Varying);
        let places: Vec<(u16, u16)> = symbols.iter().map(|symbol| (symbol.offset, symbol.parent)).collect();
        // A float at 0; the structure at 2, of 6 floats per element with members at 0, 2 and 4; the next symbol at 14.
        assert_eq!(
            places,
            [(0, NO_PARENT), (2, NO_PARENT), (0, 1), (2, 1), (4, 1), (14, NO_PARENT)]
        );
        assert_eq!((symbols[1].components, symbols[1].stride), (3, 6));
    }

    #[test]
    fn type_names() {
        for name in [
            "float",
            "vec4",
            "ivec2",
            "bvec3",
            "int",
            "bool",
            "mat3",
            "sampler2D",
            "samplerCube",
        ] {
            let declaration = Declaration {
                name: String::new(),
                ty: Type::by_name(name).unwrap(),
                entries: 0,
            };
            assert_eq!(symbol(&declaration, PpUniform, 0, NO_PARENT).type_name(), name);
        }
        assert_eq!(
            [
                Type::by_name("vec5"),
                Type::by_name("mat1"),
                Type::by_name(""),
                Type::by_name("float2")
            ],
            [const { None }; 4]
        );
    }
}
