//! More and more numbers at once, up to what registers hold and beyond: right, and kept in memory only where they must be.

use crate::common;
use crate::run::{Tally, check};
use skrymir_compiler::Stage;

/// Types of what is kept, with their components.
const TYPES: [(&str, u32); 4] = [("float", 1), ("vec2", 2), ("vec3", 3), ("vec4", 4)];

/// Where the numbers wait while others are computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Wait {
    /// In a block.
    Inside,
    /// While a loop runs.
    Loop,
    /// While one of two ways is taken.
    Branch,
}

pub(crate) const WAITS: [Wait; 3] = [Wait::Inside, Wait::Loop, Wait::Branch];

/// A program that keeps `count` values of a type until one that needs all of them is there.
fn text(stage: Stage, wait: Wait, ty: &str, components: u32, count: u32) -> String {
    let part = &"xyzw"[..components as usize];
    let lines = |line: &dyn Fn(u32) -> String| (0..count).map(line).collect::<Vec<_>>().join("\n");
    // Nothing that is as cheap to compute again.
    let made = lines(&|at| format!("{ty} x{at} = sqrt(abs(v.{part} * {at}.5 + 0.25));"));
    let used = lines(&|at| format!("s.{part} = s.{part} * 0.25 + x{};", count - 1 - at));
    let body = match wait {
        Wait::Inside => format!("{made} vec4 s = v; {used}"),
        Wait::Loop => format!(
            "{made} vec4 s = v; for (int i = 0; i < 300; i++) {{ if (float(i) > k * 2.0) break; s = s.yzwx * 0.5; }} {used}"
        ),
        Wait::Branch => format!(
            "{made} vec4 s = v; if (v.x > k) {{ s = exp2(s) + sin(s.yzwx) * exp2(-s); s = s * s + exp2(s.x) * sin(s); }} {used}"
        ),
    };
    match stage {
        Stage::Vertex => format!(
            "attribute vec4 v; uniform float k; varying vec4 o; void main() {{ {body} o = s; gl_Position = v; }}"
        ),
        Stage::Fragment => {
            format!(
                "precision mediump float; varying vec4 v; uniform float k; void main() {{ {body} gl_FragColor = s; }}"
            )
        }
    }
}

/// Scalars that the registers of a stage hold.
fn held(stage: Stage) -> u32 {
    match stage {
        Stage::Vertex => 64,
        Stage::Fragment => 24,
    }
}

/// Calls a function with each program: its name, text, stage, what waits and how many scalars.
pub(crate) fn each(mut f: impl FnMut(&str, &str, Stage, Wait, u32)) {
    for stage in [Stage::Fragment, Stage::Vertex] {
        for (ty, components) in TYPES {
            let full = held(stage) / components;
            let counts: &[u32] = match stage {
                Stage::Fragment => &[1, full / 2, full - 1, full, full + 1, full + full / 2],
                // Vertex programs are scheduled in many orders, and have no more than 512 instructions.
                Stage::Vertex => &[full / 4, full / 2, full + 1],
            };
            for wait in WAITS {
                let fits =
                    |count: u32| stage == Stage::Fragment || count <= full || (wait, components) == (Wait::Loop, 4);
                for count in counts.iter().filter(|count| fits(**count)) {
                    let name = format!("{stage:?} {wait:?} {ty} {count}");
                    f(
                        &name,
                        &text(stage, wait, ty, components, *count),
                        stage,
                        wait,
                        count * components,
                    );
                }
            }
        }
    }
}

#[test]
fn numbers_at_once_are_right_and_kept_where_they_fit() {
    let mut tally = Tally::default();
    let (mut at, step) = (0, common::quick_step(3));
    let mut spilled = 0;
    each(|name, text, stage, wait, scalars| {
        at += 1;
        if at % step != 0 {
            return;
        }
        let report = check(name, text, stage, &mut tally).report;
        let stored = report.spill_stores > 0;
        // What is left of the registers is room enough for the sum, and for what is computed beside.
        let room = if wait == Wait::Branch { 4 } else { 2 };
        if scalars * room <= held(stage) {
            assert!(!stored, "{name}: {report}");
        }
        // Across a loop nothing can be computed later: what waits is more than all registers.
        if wait == Wait::Loop && scalars > held(stage) {
            assert!(stored, "{name}: {report}");
        }
        assert_eq!(stored, report.spill_loads > 0, "{name}: {report}");
        assert_eq!(stored, report.temporaries > 0, "{name}: {report}");
        spilled += u32::from(stored);
    });
    println!("{at} programs, {spilled} with spills, {} numbers", tally.compared);
    assert!(spilled > 0);
}
