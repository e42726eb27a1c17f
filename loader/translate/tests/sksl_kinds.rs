//! Programs of every kind, with every kind of input and output, become valid SPIR-V with the expected interface.
#![allow(missing_docs)]

use skrymir_translate as translate;

use loader::sksl::*;
use loader::spirv::{ModuleIndex, capability, class, decoration, op};

#[path = "../../../tests/it/sksl/samples.rs"]
#[allow(dead_code)]
mod samples;

#[test]
fn structs_hold_types_that_glsl_pads() {
    valid(&samples::narrow());
}

/// The words of a program, which spirv-val accepts; its WGSL is valid too.
fn valid(tree: &Tree) -> Vec<u32> {
    // Every program here can be written and read.
    let bytes = write(tree).unwrap();
    let tree = &read(&bytes).unwrap();
    let text = || translate::sksl::to_glsl(tree, true).unwrap();
    let words = translate::sksl::to_stage(tree).unwrap_or_else(|e| panic!("{e}\n{}", text()));
    let verdict = translate::validate::spirv_val::validate(&words);
    assert!(!matches!(verdict, Some(Err(_))), "{verdict:?}\n{}", text());
    let source = translate::Source::new("a.bin", &bytes).unwrap();
    let shader = translate::read(&source).unwrap_or_else(|e| panic!("{e}\n{}", text()));
    translate::write(&shader, translate::Target::Wgsl, &Default::default())
        .unwrap_or_else(|e| panic!("{e}\n{}", text()));
    words
}

fn with(flags: u32) -> Modifiers {
    Modifiers {
        flags,
        ..Modifiers::default()
    }
}

fn parameter(b: &mut Builder, ty: &str, name: &str, flags: u32) -> Ref {
    let parameter = b.parameter(ty, name, -1);
    b.change(parameter, flags);
    parameter
}

/// Locations of the inputs or outputs, in order.
fn locations(words: &[u32], of: u32) -> Vec<u32> {
    let index = ModuleIndex::new(words).unwrap();
    index.locations(of).into_iter().collect()
}

fn target(b: &mut Builder, variable: Ref) -> Handle<Expression> {
    b.expression(Expression::Variable {
        variable,
        kind: RefKind::WRITE,
    })
}

fn assign(b: &mut Builder, left: Handle<Expression>, right: Handle<Expression>) -> Handle<Statement> {
    let assignment = b.binary(left, Operator::ASSIGN, right);
    b.statement(Statement::Expression(assignment))
}

fn give(b: &mut Builder, value: Handle<Expression>) -> Handle<Statement> {
    b.statement(Statement::Return(Some(value)))
}

fn structs(b: &mut Builder) {
    b.structure("Attributes", &[("float2", "position"), ("half4", "color")]);
    b.structure("Varyings", &[("float2", "position"), ("half4", "color")]);
}

/// `float2 main(Attributes a, out Varyings v)`, and the later `Varyings main(Attributes a)`.
#[test]
fn mesh_vertex_programs_have_attributes_varyings_and_a_position() {
    let mut b = Builder::new(ProgramKind::MESH_VERTEX);
    structs(&mut b);
    let a = parameter(&mut b, "Attributes", "a", 0);
    let v = parameter(&mut b, "Varyings", "v", modifier::OUT);
    let main = b.function("float2", "main", &[a, v]);
    let mut body = Vec::new();
    for field in [0, 1] {
        let (from, to) = (b.read(a), target(&mut b, v));
        let (from, to) = (b.field(from, field), b.field(to, field));
        body.push(assign(&mut b, to, from));
    }
    let from = b.read(a);
    let position = b.field(from, 0);
    body.push(give(&mut b, position));
    let early = b.define(main, &body).finish();

    let mut b = Builder::new(ProgramKind::MESH_VERTEX);
    structs(&mut b);
    let a = parameter(&mut b, "Attributes", "a", 0);
    let main = b.function("Varyings", "main", &[a]);
    let (v, declared) = b.local("Varyings", "v", None);
    let mut body = vec![declared];
    for field in [0, 1] {
        let (from, to) = (b.read(a), target(&mut b, v));
        let (from, to) = (b.field(from, field), b.field(to, field));
        body.push(assign(&mut b, to, from));
    }
    let value = b.read(v);
    body.push(give(&mut b, value));
    let late = b.define(main, &body).finish();

    for tree in [early, late] {
        let words = valid(&tree);
        assert_eq!(translate::sksl::stage(&tree).unwrap(), naga::ShaderStage::Vertex);
        assert_eq!(locations(&words, class::INPUT), [0, 1]);
        assert_eq!(locations(&words, class::OUTPUT), [0, 1]);
    }
}

/// `float2 main(Varyings v)`, `void` and `out half4`.
#[test]
fn mesh_fragment_programs_return_a_colour_or_coordinates() {
    for (returns, color) in [("float2", false), ("float2", true), ("void", true), ("void", false)] {
        let mut b = Builder::new(ProgramKind::MESH_FRAGMENT);
        structs(&mut b);
        let v = parameter(&mut b, "Varyings", "v", 0);
        let mut parameters = vec![v];
        if color {
            parameters.push(parameter(&mut b, "half4", "color", modifier::OUT));
        }
        let main = b.function(returns, "main", &parameters);
        let mut body = Vec::new();
        if let Some(color) = parameters.get(1) {
            let (from, to) = (b.read(v), target(&mut b, *color));
            let from = b.field(from, 1);
            body.push(assign(&mut b, to, from));
        }
        if returns == "float2" {
            let from = b.read(v);
            let position = b.field(from, 0);
            body.push(give(&mut b, position));
        }
        let tree = b.define(main, &body).finish();
        let words = valid(&tree);
        assert_eq!(locations(&words, class::INPUT), [0, 1]);
        let outputs = usize::from(color) + usize::from(returns == "float2");
        assert_eq!(locations(&words, class::OUTPUT).len(), outputs, "{returns} {color}");
        // A standalone fragment program has no source for its varyings.
        let refusal = translate::sksl::to_vbc(&tree).unwrap_err().to_string();
        assert!(refusal.contains("input v"), "{refusal}");
    }
}

/// `T main(float a, int2 b, bool c, float2x2 m, float n[3], inout half4 d, out float e)`.
#[test]
fn host_parameters_are_uniforms_and_results_are_outputs() {
    for (returns, outputs) in [
        ("half4", 1),
        ("float", 1),
        ("bool", 1),
        ("int3", 1),
        ("float3x3", 3),
        ("void", 0),
    ] {
        let mut b = Builder::new(ProgramKind::GENERIC);
        let all = [
            ("float", "a", 0),
            ("int2", "b", 0),
            ("bool", "c", 0),
            ("float2x2", "m", 0),
            ("float[3]", "n", 0),
            ("half4", "d", modifier::IN | modifier::OUT),
            ("float", "e", modifier::OUT),
        ];
        let parameters: Vec<Ref> = all
            .iter()
            .map(|(ty, name, flags)| parameter(&mut b, ty, name, *flags))
            .collect();
        let main = b.function(returns, "main", &parameters);
        let (n, e) = (b.read(parameters[4]), target(&mut b, parameters[6]));
        let second = b.element(n, 1);
        let mut body = vec![assign(&mut b, e, second)];
        let (a, c, one) = (b.read(parameters[0]), b.read(parameters[2]), b.float("float", 1.0));
        let chosen = b.expression(Expression::Ternary {
            test: c,
            then: a,
            otherwise: one,
        });
        let value = match returns {
            "half4" => Some(b.construct(Command::CONSTRUCTOR_SPLAT, "half4", &[chosen])),
            "float" => Some(chosen),
            "bool" => Some(b.binary(chosen, Operator::LT, one)),
            "int3" => {
                let (pair, three) = (b.read(parameters[1]), b.int("int", 3));
                Some(b.construct(Command::CONSTRUCTOR_COMPOUND, "int3", &[pair, three]))
            }
            "float3x3" => Some(b.construct(Command::CONSTRUCTOR_DIAGONAL_MATRIX, "float3x3", &[chosen])),
            _ => None,
        };
        if let Some(value) = value {
            body.push(give(&mut b, value));
        }
        let words = valid(&b.define(main, &body).finish());
        // The result comes first, then the values written back.
        let expected: Vec<u32> = (0..outputs + 2).collect();
        assert_eq!(locations(&words, class::OUTPUT), expected, "{returns}");
    }
}

/// `void main() { sk_FragColor = (sk_LastFragColor or subpassLoad(input)) * 0.5; }`.
fn last_color(subpass: bool) -> Tree {
    let mut b = Builder::new(ProgramKind::FRAGMENT);
    let read = match subpass {
        false => {
            let last = b.builtin("sk_LastFragColor");
            b.read(last)
        }
        true => {
            let mut modifiers = with(modifier::UNIFORM);
            modifiers.layout.input_attachment_index = 2;
            let input = b.global("subpassInput", "light", modifiers, None);
            let input = b.read(input);
            b.call("half4", "subpassLoad", &[input])
        }
    };
    let main = b.function("void", "main", &[]);
    let half = b.float("half", 0.5);
    let value = b.binary(read, Operator::STAR, half);
    let out = b.builtin("sk_FragColor");
    let write = b.assign(out, value);
    b.define(main, &[write]).finish()
}

#[test]
fn the_destination_colour_is_an_input_attachment() {
    for (subpass, number) in [(false, 0), (true, 2)] {
        let words = valid(&last_color(subpass));
        let index = ModuleIndex::new(&words[..]).unwrap();
        assert!(index.capabilities().contains(&capability::INPUT_ATTACHMENT));
        let numbers: Vec<u32> = index
            .globals()
            .filter_map(|global| index.decoration(global.id, decoration::INPUT_ATTACHMENT_INDEX))
            .collect();
        assert_eq!(numbers, [number]);
        assert!(index.bodies().any(|node| node.opcode == op::IMAGE_READ));
        assert!(!index.bodies().any(|node| node.opcode == op::IMAGE_FETCH));
    }
    let vbc = translate::sksl::to_vbc(&last_color(false)).unwrap();
    assert!(loader::vbc::read(&vbc).is_ok());
}

/// The second source of blending is output 0 with index 1.
#[test]
fn a_second_source_of_blending_is_an_output() {
    let mut b = Builder::new(ProgramKind::FRAGMENT);
    let main = b.function("void", "main", &[]);
    let mut body = Vec::new();
    for name in ["sk_FragColor", "sk_SecondaryFragColor"] {
        let half = b.float("half", 0.5);
        let value = b.construct(Command::CONSTRUCTOR_SPLAT, "half4", &[half]);
        let out = b.builtin(name);
        body.push(b.assign(out, value));
    }
    let words = valid(&b.define(main, &body).finish());
    let index = ModuleIndex::new(&words[..]).unwrap();
    let outputs = index.globals().filter(|global| global.class == class::OUTPUT);
    let mut indices: Vec<_> = outputs
        .map(|g| index.decoration(g.id, decoration::INDEX).unwrap_or(0))
        .collect();
    indices.sort_unstable();
    assert_eq!(indices, [0, 1]);
}

/// `uniform B { float x; half4 y; } b[3]` read at a constant and at a computed place.
#[test]
fn an_array_of_interface_blocks_is_an_array_of_descriptors() {
    for computed in [false, true] {
        let mut b = Builder::new(ProgramKind::FRAGMENT);
        let fields = [b.struct_field("float", "x", -1), b.struct_field("half4", "y", -1)];
        let mut modifiers = with(modifier::UNIFORM);
        modifiers.layout.binding = 4;
        let blocks = b.interface_block("B", &fields, modifiers, 3);
        let which = b.uniform("int", "which");
        let main = b.function("void", "main", &[]);
        let base = b.read(blocks);
        let block = match computed {
            false => b.element(base, 2),
            true => {
                let index = b.read(which);
                b.expression(Expression::Index { base, index })
            }
        };
        let (x, y) = (b.field(block, 0), b.field(block, 1));
        let value = b.binary(y, Operator::STAR, x);
        let out = b.builtin("sk_FragColor");
        let write = b.assign(out, value);
        let words = valid(&b.define(main, &[write]).finish());
        let index = ModuleIndex::new(&words[..]).unwrap();
        let block = index.globals().find(|g| index.place(g.id) == Some((0, 4))).unwrap();
        let (element, count) = index.array(block.pointee).expect("an array of blocks");
        assert_eq!(count, 3);
        assert!(
            index
                .decorations(element)
                .any(|node| node.operand(1) == Some(decoration::BLOCK))
        );
        let dynamic = index
            .capabilities()
            .contains(&capability::UNIFORM_BUFFER_ARRAY_DYNAMIC_INDEXING);
        assert_eq!(dynamic, computed);
    }
}

/// Members that naga or WGSL does not allow in a block are stored in another shape, at the same offsets.
#[test]
fn blocks_hold_what_their_rules_allow() {
    for (push, fields) in [
        (true, [("half2x2", 16, 1), ("half2x2", 32, 1)]),
        (true, [("float[3]", 0, 0), ("float2[2]", 16, 0)]),
        (false, [("float2x2", 0, 1), ("float3x2", 32, 1)]),
        (false, [("float[3]", 0, 0), ("float2[2]", 64, 0)]),
        (false, [("float2x2[2]", 0, 2), ("float", 64, 3)]),
        (false, [("float4", 48, 0), ("float", 0, 3)]),
    ] {
        let mut b = Builder::new(ProgramKind::FRAGMENT);
        let both = [
            b.struct_field(fields[0].0, "first", fields[0].1),
            b.struct_field(fields[1].0, "second", fields[1].1),
        ];
        let mut modifiers = with(modifier::UNIFORM);
        if push {
            modifiers.layout.flags = layout::PUSH_CONSTANT;
        }
        let block = b.interface_block("Block", &both, modifiers, 0);
        let main = b.function("void", "main", &[]);
        let mut sum = b.float("float", 0.0);
        for (i, (_, _, depth)) in fields.iter().enumerate() {
            let mut value = b.read(block);
            value = b.field(value, i as u8);
            let turns = match depth {
                0 => usize::from(fields[i].0.contains('[')) + usize::from(fields[i].0.starts_with("float2[")),
                1 => 2,
                2 => 3,
                _ => 0,
            };
            let turns = if fields[i].0 == "float4" { 1 } else { turns };
            for _ in 0..turns {
                value = b.element(value, 1);
            }
            sum = b.binary(sum, Operator::PLUS, value);
        }
        let value = b.construct(Command::CONSTRUCTOR_SPLAT, "half4", &[sum]);
        let out = b.builtin("sk_FragColor");
        let write = b.assign(out, value);
        valid(&b.define(main, &[write]).finish());
    }
}

/// Structs and bools as uniforms, structs from the previous stage, samplers passed to functions.
#[test]
fn uniforms_and_inputs_of_any_type() {
    let mut b = Builder::new(ProgramKind::FRAGMENT);
    b.structure("Light", &[("float4", "color"), ("float3x3", "turn")]);
    b.structure("Odd", &[("bool", "on"), ("float", "n"), ("Light", "light")]);
    let light = b.uniform("Light", "light");
    let odd = b.uniform("Odd", "odd");
    let on = b.uniform("bool3", "on");
    let many = b.uniform("bool[2]", "many");
    let input = b.global("Light", "incoming", with(modifier::IN), None);
    let main = b.function("void", "main", &[]);
    let (light, odd, input) = (b.read(light), b.read(odd), b.read(input));
    let (a, c) = (b.field(light, 0), b.field(input, 0));
    let mut value = b.binary(a, Operator::PLUS, c);
    let inner = b.field(odd, 2);
    let inner = b.field(inner, 0);
    value = b.binary(value, Operator::PLUS, inner);
    let n = b.field(odd, 1);
    value = b.binary(value, Operator::STAR, n);
    let tests = [b.read(on), b.read(many), b.field(odd, 0)];
    for (i, test) in tests.into_iter().enumerate() {
        let test = if i < 2 { b.element(test, 1) } else { test };
        let zero = b.float("float", 0.0);
        let none = b.construct(Command::CONSTRUCTOR_SPLAT, "half4", &[zero]);
        value = b.expression(Expression::Ternary {
            test,
            then: value,
            otherwise: none,
        });
    }
    let out = b.builtin("sk_FragColor");
    let write = b.assign(out, value);
    let words = valid(&b.define(main, &[write]).finish());
    assert_eq!(locations(&words, class::INPUT), [0, 1, 2, 3]);
}

/// `half4 f(sampler2D s, float2 p) { return sample(s, p); }`, with a sampler, one made of two, one in texels.
#[test]
fn samplers_of_all_makes_are_sampled() {
    let mut b = Builder::new(ProgramKind::FRAGMENT);
    let whole = b.uniform("sampler2D", "whole");
    let (texture, sampler) = (b.uniform("texture2D", "t"), b.uniform("sampler", "s"));
    let rect = b.uniform("sampler2DRect", "rect");
    let s = b.parameter("sampler2D", "s", -1);
    let p = b.parameter("float2", "p", -1);
    let f = b.function("half4", "f", &[s, p]);
    let (s, at) = (b.read(s), b.read(p));
    let texel = b.call("half4", "sample", &[s, at]);
    let body = give(&mut b, texel);
    b.define(f, &[body]);
    let main = b.function("void", "main", &[]);
    let quarter = b.float("float", 0.25);
    let at = b.construct(Command::CONSTRUCTOR_SPLAT, "float2", &[quarter]);
    let whole = b.read(whole);
    let mut value = b.call_own("half4", f, &[whole, at]);
    let (texture, sampler) = (b.read(texture), b.read(sampler));
    let made = b.call("sampler2D", "makeSampler2D", &[texture, sampler]);
    let texel = b.call("half4", "sample", &[made, at]);
    value = b.binary(value, Operator::PLUS, texel);
    let rect = b.read(rect);
    let texel = b.call("half4", "sample", &[rect, at]);
    value = b.binary(value, Operator::PLUS, texel);
    let out = b.builtin("sk_FragColor");
    let write = b.assign(out, value);
    valid(&b.define(main, &[write]).finish());
}

/// naga cannot negate unsigned integers, but GLSL can.
#[test]
fn unsigned_numbers_are_negated() {
    let mut b = Builder::new(ProgramKind::FRAGMENT);
    let x = b.uniform("uint", "x");
    let main = b.function("void", "main", &[]);
    let operand = b.read(x);
    let negative = b.expression(Expression::Prefix {
        op: Operator::MINUS,
        operand,
    });
    let scalar = b.construct(Command::CONSTRUCTOR_SCALAR_CAST, "half", &[negative]);
    let value = b.construct(Command::CONSTRUCTOR_SPLAT, "half4", &[scalar]);
    let out = b.builtin("sk_FragColor");
    let write = b.assign(out, value);
    valid(&b.define(main, &[write]).finish());
}

/// Structs of structs, each containing the previous one twice, are rejected before every part is visited.
#[test]
fn types_of_very_many_parts_are_refused() {
    let mut b = Builder::new(ProgramKind::FRAGMENT);
    b.structure("S0", &[("float", "a"), ("bool", "b")]);
    for i in 1..40 {
        let of = format!("S{}", i - 1);
        b.structure(&format!("S{i}"), &[(&of, "a"), (&of, "b")]);
    }
    b.uniform("S39", "all");
    let main = b.function("void", "main", &[]);
    let tree = b.define(main, &[]).finish();
    let refusal = translate::sksl::to_naga(&tree).unwrap_err().to_string();
    assert!(refusal.contains("parts"), "{refusal}");
}
