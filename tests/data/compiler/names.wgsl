// Several entry points, aliases, shadowed names, abstract numbers, early returns inside of loops.
alias Point = vec2<f32>;
alias Color = vec4<f32>;
const half_pi = 3.14159265 / 2;
const unit = vec3(1, 0, 0.5);
@group(0) @binding(3) var<uniform> texture: Color;
@group(1) @binding(3) var<uniform> sampler_: Color;

fn search(p: Point) -> f32 {
    var x = p.x;
    for (var i = 0; i < 6; i += 2) {
        let x2 = x * 0.5;
        for (var j = 0; j < 2; j++) {
            if (x2 > 0.75 + f32(j)) { return x2; }
            x += 0.375;
        }
    }
    { let x = p.y; return x; }
}

@vertex fn first(@location(3) p: Point) -> @builtin(position) Color { return Color(p, 0, 1); }
@vertex fn second(@location(0) p: Point) -> @builtin(position) Color { return Color(p.yx * sin(half_pi), 0.5, 1); }
@fragment fn one(@location(0) p: Point) -> @location(0) Color { return texture * search(p); }
@fragment fn two(@location(0) p: Point) -> @location(0) Color { return Color(unit * search(p), 1) + sampler_; }
