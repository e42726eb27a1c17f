#!/usr/bin/env bash
# Compares the time of `skrymir convert` with that of spirv-cross, on a generated module of about 50 KB: 30 functions
# with loops and textures, and a uniform block.
# Usage: tests/convert.sh [ROUNDS]
# Prints for each language the least processor time of both in milliseconds (run alternately, 20 times each), and the
# ratio. SKRYMIR is the program; by default it is built with --release.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/setup.sh
need_packages gcc g++ libc6-dev glslang-tools spirv-cross python3
need_rust
[ -n "${SKRYMIR:-}" ] || { cargo build --quiet --release --bin skrymir && SKRYMIR=${CARGO_TARGET_DIR:-target}/release/skrymir; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 - "$folder" "$SKRYMIR" "${1:-20}" <<'PYTHON'
import os, subprocess, sys

folder, skrymir, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
functions = 30
text = """#version 450
layout(location = 0) in vec4 v;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform Block { mat4 m; vec4 light[8]; float time; int count; } u;
layout(set = 0, binding = 1) uniform sampler2D first;
layout(set = 0, binding = 2) uniform sampler2D second;
"""
for n in range(functions):
    text += f"""vec4 f{n}(vec4 p, float k) {{
  vec4 sum = vec4(0.0);
  for (int i = 0; i < u.count; i++) {{
    vec4 l = u.light[i & 7] * (k + {n}.5);
    if (dot(l, p) > 0.25) sum += texture({["first", "second"][n % 2]}, p.xy * l.zw + vec2(u.time)) * max(l.x, 0.5);
    else sum -= normalize(l + vec4({n % 7}.0)) * sin(p.y);
  }}
  return u.m * sum + mix(p, sum, clamp(k, 0.0, 1.0));
}}
"""
calls = " + ".join(f"f{n}(v, float({n}))" for n in range(functions))
text += f"void main() {{ color = {calls}; }}\n"
source, module = os.path.join(folder, "big.frag"), os.path.join(folder, "big.spv")
open(source, "w").write(text)
subprocess.run(["glslangValidator", "-V", "-o", module, source], check=True, stdout=subprocess.DEVNULL)
print(f"module: {os.path.getsize(module)} bytes")

def spent(command):
    """Processor time of a command in milliseconds."""
    output = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=output)
    _, status, usage = os.wait4(pid, 0)
    assert status == 0, command
    return 1000 * (usage.ru_utime + usage.ru_stime)

# No checker reads MSL.
for language, check, options in [
    ("glsl", ["--no-check"], []),
    ("msl", [], ["--msl"]),
    ("hlsl", ["--no-check"], ["--hlsl", "--shader-model", "51"]),
]:
    ours = [skrymir, "convert", *check, "--to", language, module]
    theirs = ["spirv-cross", module, *options]
    pairs = [(spent(ours), spent(theirs)) for _ in range(rounds)]
    a, b = (min(column) for column in zip(*pairs))
    print(f"{language:5} skrymir {a:5.1f} ms  spirv-cross {b:5.1f} ms  {a / b:.2f}")
PYTHON
