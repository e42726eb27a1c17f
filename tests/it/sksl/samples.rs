//! Small SkSL programs of every kind that is translated.

use loader::sksl::*;

fn with(flags: u32) -> Modifiers {
    Modifiers {
        flags,
        ..Modifiers::default()
    }
}

/// `half4(p * 0.125, 1, 1) * tint`: red grows to the right, green downwards, over eight pixels.
pub fn effect() -> Tree {
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
pub fn filter() -> Tree {
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
pub fn fragment(input: bool, sampler: bool) -> Tree {
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

/// Hands `place` on as the position and `paint` as the colour.
pub fn vertex() -> Tree {
    any_vertex(false)
}

/// The same with positions in pixels, which `sk_RTAdjust` brings to clip space.
pub fn vertex_in_pixels() -> Tree {
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
pub fn generic() -> Tree {
    let mut b = Builder::new(ProgramKind::GENERIC);
    let main = b.function("half4", "main", &[]);
    let half = b.float("half", 0.5);
    let value = b.construct(Command::CONSTRUCTOR_SPLAT, "half4", &[half]);
    let value = b.statement(Statement::Return(Some(value)));
    b.define(main, &[value]).finish()
}

/// A filter that takes colours out of the sRGB curve.
pub fn linear() -> Tree {
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

/// A shader that declares a child, which it cannot ask in this format.
pub fn child() -> Tree {
    let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
    b.uniform("shader", "child");
    let at = b.parameter("float2", "p", 10009);
    let main = b.function("half4", "main", &[at]);
    let half = b.float("half", 0.25);
    let value = b.construct(Command::CONSTRUCTOR_SPLAT, "half4", &[half]);
    let value = b.statement(Statement::Return(Some(value)));
    b.define(main, &[value]).finish()
}
