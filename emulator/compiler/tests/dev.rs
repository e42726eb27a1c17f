#![allow(missing_docs, dead_code)]
use compiler::*;
use skrymir_compiler as compiler;
#[test]
fn corpus() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/glsl-es");
    let tsv = std::fs::read_to_string(folder.join("lima.tsv")).unwrap();
    let mut totals = [[0u32; 2]; 2];
    for line in tsv.lines().filter(|l| !l.starts_with('#')) {
        let f: Vec<&str> = line.split('\t').collect();
        for (s, (ext, stage, col)) in [("vert", Stage::Vertex, 1), ("frag", Stage::Fragment, 5)].into_iter().enumerate() {
            let text = std::fs::read_to_string(folder.join(format!("{}.{ext}", f[0]))).unwrap();
            let t = std::time::Instant::now();
            match compile(Input::GlslEs(&text, stage), &Options::default()) {
                Ok(c) => {
                    println!("{:40} {ext} lima {:>4} ours {:>4}  {:?} spills {:?} {}", f[0], f[col], c.report.instructions, t.elapsed(), c.report.spill_stores, utgard::stats::stats(&c.program).findings.len());
                    if let Ok(n) = f[col].parse::<u32>() { totals[s][0] += n; totals[s][1] += c.report.instructions; }
                    if std::env::var("SHOW").is_ok_and(|w| f[0].contains(&w)) {
                        println!("{}", utgard::shader::disassemble(&loader::mbs::Mbs::of(&[c.program.clone()])).unwrap());
                        for f in utgard::stats::stats(&c.program).findings { println!("{f:?}"); }
                    }
                }
                Err(e) => println!("{:40} {ext} {}", f[0], e.render(f[0], &text)),
            }
        }
    }
    println!("totals {totals:?}");
}
