//! Random GLSL ES shaders, for the compiler and, as typical compiled programs, for every engine.

use fastrand::Rng;

/// A shader under construction.
struct Writer<'a> {
    random: &'a mut Rng,
    text: String,
}

const SWIZZLES: [&[&str]; 4] = [
    &["x", "y", "z", "w"],
    &["xy", "zw", "yx", "wz", "xx"],
    &["xyz", "yzw", "zxy", "wwx"],
    &["xyzw", "wzyx", "yxwz", "xxyy"],
];
const TYPES: [&str; 4] = ["float", "vec2", "vec3", "vec4"];

impl Writer<'_> {
    fn pick(&mut self, choices: &[&'static str]) -> &'static str {
        choices[self.random.usize(..choices.len())]
    }

    /// A component or several components of a variable.
    fn leaf(&mut self, size: usize) -> String {
        if self.random.u32(..5) == 0 {
            let number = self.pick(&["0.0", "0.5", "1.0", "2.0", "-0.25", "3.75"]);
            return format!("{}({number})", TYPES[size - 1]);
        }
        let (variable, swizzle) = (self.pick(&["v", "u", "t", "r"]), self.pick(SWIZZLES[size - 1]));
        format!("{variable}.{swizzle}")
    }

    /// An expression with a number of components.
    fn value(&mut self, size: usize, depth: u32) -> String {
        if depth == 0 {
            return self.leaf(size);
        }
        let depth = depth - 1;
        match self.random.u32(..12) {
            0..4 => {
                let operator = self.pick(&["+", "-", "*", "*", "+"]);
                format!("({} {operator} {})", self.value(size, depth), self.value(size, depth))
            }
            4 => {
                let function = self.pick(&["abs", "floor", "fract", "sin", "cos", "ceil", "sign", "exp2"]);
                format!("{function}({})", self.value(size, depth))
            }
            5 => {
                let function = self.pick(&["min", "max", "step"]);
                format!("{function}({}, {})", self.value(size, depth), self.value(size, depth))
            }
            6 => format!("clamp({}, 0.0, 1.0)", self.value(size, depth)),
            7 => {
                let weight = self.value(1, depth);
                format!(
                    "mix({}, {}, {weight})",
                    self.value(size, depth),
                    self.value(size, depth)
                )
            }
            8 => {
                let of = 2 + self.random.usize(..3);
                let product = format!("dot({}, {})", self.value(of, depth), self.value(of, depth));
                format!("{}({product})", TYPES[size - 1])
            }
            9 => format!("({} * {})", self.value(size, depth), self.value(1, depth)),
            10 => format!(
                "({} > {} ? {} : {})",
                self.value(1, 0),
                self.value(1, 0),
                self.leaf(size),
                self.leaf(size)
            ),
            _ => self.leaf(size),
        }
    }

    /// An assignment, to some components or all.
    fn assign(&mut self) -> String {
        let (variable, size) = (self.pick(&["t", "r"]), 1 + self.random.usize(..4));
        // An assignment's target must not name a component twice.
        let to = [
            &["x", "y", "z", "w"][..],
            &["xy", "zw", "yx", "wy"],
            &["xyz", "yzw", "wxy"],
            &["xyzw", "wzyx"],
        ];
        let (to, value) = (self.pick(to[size - 1]), self.value(size, 2));
        let operator = self.pick(&["=", "=", "+=", "*="]);
        format!("{variable}.{to} {operator} {value};")
    }

    fn statements(&mut self, sampler: bool) {
        for _ in 0..2 + self.random.u32(..5) {
            let line = match self.random.u32(..10) {
                0 => format!("if ({} < {}) {{ {} }}", self.value(1, 1), self.leaf(1), self.assign()),
                1 => {
                    let (taken, other) = (self.assign(), self.assign());
                    format!(
                        "if ({} > {}) {{ {taken} }} else {{ {other} }}",
                        self.leaf(1),
                        self.leaf(1)
                    )
                }
                2 => format!(
                    "for (int i = 0; i < {}; i++) {{ {} }}",
                    1 + self.random.u32(..4),
                    self.assign()
                ),
                3 if sampler => format!("r = texture2D(s, {});", self.value(2, 1)),
                4 if sampler => format!("if ({} < -1.5) discard;", self.leaf(1)),
                _ => self.assign(),
            };
            self.text += &line;
            self.text += "\n";
        }
    }
}

/// A fragment shader.
pub fn fragment(random: &mut Rng) -> String {
    let begin = "precision mediump float; varying vec4 v; uniform vec4 u; uniform sampler2D s;
        void main() { vec4 t = v, r = u;\n";
    let text = begin.to_owned();
    let mut writer = Writer { random, text };
    writer.statements(true);
    writer.text + "gl_FragColor = t + r; }"
}

/// A vertex shader.
pub fn vertex(random: &mut Rng) -> String {
    let begin = "attribute vec4 v; uniform vec4 u; varying vec4 o; void main() { vec4 t = v, r = u;\n";
    let text = begin.to_owned();
    let mut writer = Writer { random, text };
    writer.statements(false);
    writer.text + "o = t; gl_Position = r; }"
}
