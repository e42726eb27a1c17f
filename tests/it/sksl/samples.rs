//! Small SkSL programs of every translated kind.

use loader::sksl::*;

fn with(flags: u32) -> Modifiers {
    Modifiers {
        flags,
        ..Modifiers::default()
    }
}

/// A number that is negated so often.
pub(crate) fn negated(times: u32) -> Tree {
    let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
    let main = b.function("half4", "main", &[]);
    let mut value = b.float("half", 1.0);
    for _ in 0..times {
        value = b.expression(Expression::Prefix {
            op: Operator::MINUS,
            operand: value,
        });
    }
    let value = b.statement(Statement::Return(Some(value)));
    b.define(main, &[value]).finish()
}

/// `half4(p * 0.125, 1, 1) * tint`: red grows to the right, green downwards, over eight pixels.
pub(crate) fn effect() -> Tree {
    let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
    let tint = b.uniform("half4", "tint");
    let at = b.parameter("float2", "p", 10009);
    let main = b.function("half4", "main", &[at]);
    let (p, eighth) = (b.read(at), b.float("float", 0.125));
    let scaled = b.binary(p, Operator::STAR, eighth);
    let half = b.construct(Command::CONSTRUCTOR_COMPOUND_CAST, "half2", &[scaled]);
    let one = b.float("half", 1.0);
    let four = b.construct(Command::CONSTRUCTOR_COMPOUND, "half4", &[half, one, one]);
    let tint = b.read(tint);
    let product = b.binary(four, Operator::STAR, tint);
    let value = b.statement(Statement::Return(Some(product)));
    b.define(main, &[value]).finish()
}

/// A colour filter that swaps red and blue.
pub(crate) fn filter() -> Tree {
    let mut b = Builder::new(ProgramKind::RUNTIME_COLOR_FILTER);
    let color = b.parameter("half4", "color", 10010);
    let main = b.function("half4", "main", &[color]);
    let color = b.read(color);
    let swapped = b.expression(Expression::Swizzle {
        base: color,
        components: [2, 1, 0, 3],
        count: 4,
    });
    let value = b.statement(Statement::Return(Some(swapped)));
    b.define(main, &[value]).finish()
}

/// `void main() { sk_FragColor = color; }` with an input, a uniform matrix and a sampler where asked for.
pub(crate) fn fragment(input: bool, sampler: bool) -> Tree {
    let mut b = Builder::new(ProgramKind::FRAGMENT);
    let color = match input {
        true => b.global("half4", "color", with(modifier::IN), None),
        false => b.uniform("half4", "color"),
    };
    let texture = sampler.then(|| b.uniform("sampler2D", "texture"));
    let main = b.function("void", "main", &[]);
    let mut value = b.read(color);
    if let Some(texture) = texture {
        let (texture, zero) = (b.read(texture), b.float("float", 0.5));
        let at = b.construct(Command::CONSTRUCTOR_SPLAT, "float2", &[zero]);
        let texel = b.call("half4", "sample", &[texture, at]);
        value = b.binary(value, Operator::STAR, texel);
    }
    let out = b.builtin("sk_FragColor");
    let write = b.assign(out, value);
    b.define(main, &[write]).finish()
}

/// Passes `place` on as the position and `paint` as the colour.
pub(crate) fn vertex() -> Tree {
    any_vertex(false)
}

/// The same with positions in pixels, which `sk_RTAdjust` transforms to clip space.
pub(crate) fn vertex_in_pixels() -> Tree {
    any_vertex(true)
}

fn any_vertex(in_pixels: bool) -> Tree {
    let mut b = Builder::new(ProgramKind::VERTEX);
    if in_pixels {
        b.uniform("float4", "sk_RTAdjust");
    }
    let place = b.global("float2", "place", with(modifier::IN), None);
    let paint = b.global("half4", "paint", with(modifier::IN), None);
    let color = b.global("half4", "color", with(modifier::OUT), None);
    let main = b.function("void", "main", &[]);
    let paint = b.read(paint);
    let first = b.assign(color, paint);
    let (place, zero, one) = (b.read(place), b.float("float", 0.0), b.float("float", 1.0));
    let four = b.construct(Command::CONSTRUCTOR_COMPOUND, "float4", &[place, zero, one]);
    let block = b.builtin("sk_PerVertex");
    let block = b.expression(Expression::Variable {
        variable: block,
        kind: RefKind::WRITE,
    });
    let position = b.expression(Expression::FieldAccess {
        base: block,
        index: 0,
        owner: FieldOwner::ANONYMOUS_BLOCK,
    });
    let assignment = b.binary(position, Operator::ASSIGN, four);
    let second = b.statement(Statement::Expression(assignment));
    b.define(main, &[first, second]).finish()
}

/// A generic program: `half4 main() { return half4(0.5); }`.
pub(crate) fn generic() -> Tree {
    let mut b = Builder::new(ProgramKind::GENERIC);
    let main = b.function("half4", "main", &[]);
    let half = b.float("half", 0.5);
    let value = b.construct(Command::CONSTRUCTOR_SPLAT, "half4", &[half]);
    let value = b.statement(Statement::Return(Some(value)));
    b.define(main, &[value]).finish()
}

/// A filter that linearises sRGB colours.
pub(crate) fn linear() -> Tree {
    let mut b = Builder::new(ProgramKind::RUNTIME_COLOR_FILTER);
    let color = b.parameter("half4", "color", 10010);
    let main = b.function("half4", "main", &[color]);
    let color = b.read(color);
    let rgb = b.expression(Expression::Swizzle {
        base: color,
        components: [0, 1, 2, 0],
        count: 3,
    });
    let (rgb, one) = (b.call("half3", "toLinearSrgb", &[rgb]), b.float("half", 1.0));
    let value = b.construct(Command::CONSTRUCTOR_COMPOUND, "half4", &[rgb, one]);
    let value = b.statement(Statement::Return(Some(value)));
    b.define(main, &[value]).finish()
}

/// A shader that declares a child, which this format cannot call.
pub(crate) fn child() -> Tree {
    let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
    b.uniform("shader", "child");
    let at = b.parameter("float2", "p", 10009);
    let main = b.function("half4", "main", &[at]);
    let half = b.float("half", 0.25);
    let value = b.construct(Command::CONSTRUCTOR_SPLAT, "half4", &[half]);
    let value = b.statement(Statement::Return(Some(value)));
    b.define(main, &[value]).finish()
}

/// Structs whose members GLSL lays out with gaps: written in whole and in part, compared, passed to and modified by a
/// function. Each component of the result depends on another member.
pub(crate) fn narrow() -> Tree {
    let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
    b.structure(
        "S",
        &[("float2x2", "m"), ("float[3]", "a"), ("bool", "b"), ("float2[2]", "p")],
    );
    // void change(inout float2x2 x) { x = x * 0.5; }
    let x = b.parameter("float2x2", "x", -1);
    b.change(x, modifier::IN | modifier::OUT);
    let change = b.function("void", "change", &[x]);
    let (read, half) = (b.read(x), b.float("float", 0.5));
    let product = b.binary(read, Operator::STAR, half);
    let body = b.assign(x, product);
    b.define(change, &[body]);
    let at = b.parameter("float2", "p", 10009);
    let main = b.function("half4", "main", &[at]);
    let (s, declared_s) = b.local("S", "s", None);
    let read = b.read(s);
    let (t, declared_t) = b.local("S", "t", Some(read));
    let member = |b: &mut Builder, of: Ref, index: u8| {
        let base = b.expression(Expression::Variable {
            variable: of,
            kind: RefKind::WRITE,
        });
        b.field(base, index)
    };
    let store = |b: &mut Builder, to: Handle<Expression>, op: Operator, value: Handle<Expression>| {
        let assignment = b.binary(to, op, value);
        b.statement(Statement::Expression(assignment))
    };
    let mut body = vec![declared_s];
    // s.m = float2x2(0.5, 0.25, 0.125, 1); s.m[1].y = 0.75; s.m[0] *= 0.5; s.m *= 1.5;
    let numbers = [0.5, 0.25, 0.125, 1.0].map(|x| b.float("float", x));
    let matrix = b.construct(Command::CONSTRUCTOR_COMPOUND, "float2x2", &numbers);
    let to = member(&mut b, s, 0);
    body.push(store(&mut b, to, Operator::ASSIGN, matrix));
    let to = member(&mut b, s, 0);
    let column = b.element(to, 1);
    let y = b.expression(Expression::Swizzle {
        base: column,
        components: [1, 0, 0, 0],
        count: 1,
    });
    let value = b.float("float", 0.75);
    body.push(store(&mut b, y, Operator::ASSIGN, value));
    let to = member(&mut b, s, 0);
    let column = b.element(to, 0);
    let value = b.float("float", 0.5);
    body.push(store(&mut b, column, Operator::MUL_ASSIGN, value));
    let (to, value) = (member(&mut b, s, 0), b.float("float", 1.5));
    body.push(store(&mut b, to, Operator::MUL_ASSIGN, value));
    // change(s.m);
    let matrix = member(&mut b, s, 0);
    let call = b.call_own("void", change, &[matrix]);
    body.push(b.statement(Statement::Expression(call)));
    // s.a = float[3](0.25, 0.5, 0.75); s.a[1] = s.a[2] * 0.5; s.b = true; s.p[0] = s.p[1] = p * 0.125;
    let numbers = [0.25, 0.5, 0.75].map(|x| b.float("float", x));
    let array = b.construct(Command::CONSTRUCTOR_ARRAY, "float[3]", &numbers);
    let to = member(&mut b, s, 1);
    body.push(store(&mut b, to, Operator::ASSIGN, array));
    let from = b.read(s);
    let from = b.field(from, 1);
    let (last, half) = (b.element(from, 2), b.float("float", 0.5));
    let value = b.binary(last, Operator::STAR, half);
    let to = member(&mut b, s, 1);
    let to = b.element(to, 1);
    body.push(store(&mut b, to, Operator::ASSIGN, value));
    let (to, value) = (member(&mut b, s, 2), b.expression(Expression::Bool(true)));
    body.push(store(&mut b, to, Operator::ASSIGN, value));
    for i in [0, 1] {
        let (to, p, eighth) = (member(&mut b, s, 3), b.read(at), b.float("float", 0.125));
        let (to, value) = (b.element(to, i), b.binary(p, Operator::STAR, eighth));
        body.push(store(&mut b, to, Operator::ASSIGN, value));
    }
    // S t = s; t.a[0] += 0; the colour is (s == t ? s.m[1].y : 0, s.a[1], s.b ? p[1].x : 1, s.m[0].x).
    body.push(declared_t);
    let (left, right) = (b.read(s), b.read(t));
    let test = b.binary(left, Operator::EQ, right);
    let whole = b.read(s);
    let m = b.field(whole, 0);
    let second = b.element(m, 1);
    let (then, otherwise) = (b.element(second, 1), b.float("float", 0.0));
    let red = b.expression(Expression::Ternary { test, then, otherwise });
    let a = b.field(whole, 1);
    let green = b.element(a, 1);
    let (test, pairs) = (b.field(whole, 2), b.field(whole, 3));
    let pair = b.element(pairs, 1);
    let (then, otherwise) = (b.element(pair, 0), b.float("float", 1.0));
    let blue = b.expression(Expression::Ternary { test, then, otherwise });
    let first = b.element(m, 0);
    let alpha = b.element(first, 0);
    let four = b.construct(Command::CONSTRUCTOR_COMPOUND, "half4", &[red, green, blue, alpha]);
    body.push(b.statement(Statement::Return(Some(four))));
    b.define(main, &body).finish()
}

/// A checkerboard-like product of the coordinates, tinted by a uniform.
pub(crate) fn tinted_wave() -> Tree {
    let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
    let tint = b.uniform("half4", "tint");
    let at = b.parameter("float2", "p", 10009);
    let main = b.function("half4", "main", &[at]);
    let p = b.read(at);
    let wave = b.call("float2", "sin", &[p]);
    let x = b.expression(Expression::Swizzle {
        base: wave,
        components: [0; 4],
        count: 1,
    });
    let half = b.construct(Command::CONSTRUCTOR_SCALAR_CAST, "half", &[x]);
    let tint = b.read(tint);
    let product = b.binary(tint, Operator::STAR, half);
    let value = b.statement(Statement::Return(Some(product)));
    b.define(main, &[value]).finish()
}
