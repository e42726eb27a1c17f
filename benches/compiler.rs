//! How long compiling takes, and how long the programs are beside those of Mesa's compiler, where the corpus is there:
//! `cargo bench --bench compiler`.
#![allow(missing_docs)]

use compiler::{Input, Options, Stage, compile};
use std::path::Path;
use std::time::{Duration, Instant};

/// One program of the table.
struct Row {
    name: String,
    stage: Stage,
    mesa: Option<u32>,
    text: String,
}

fn rows(folder: &Path) -> Vec<Row> {
    let Ok(table) = std::fs::read_to_string(folder.join("lima.tsv")) else {
        return Vec::new();
    };
    let mut rows = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        for (ending, stage, column) in [("vert", Stage::Vertex, 1), ("frag", Stage::Fragment, 5)] {
            let path = folder.join(format!("{}.{ending}", fields[0]));
            if let Ok(text) = std::fs::read_to_string(path) {
                rows.push(Row {
                    name: fields[0].to_owned(),
                    stage,
                    mesa: fields.get(column).and_then(|field| field.parse().ok()),
                    text,
                });
            }
        }
    }
    rows
}

fn timed(row: &Row) -> Option<(u32, u32, Duration)> {
    let mut times = Vec::new();
    let mut found = None;
    for _ in 0..5 {
        let start = Instant::now();
        let compiled = compile(Input::GlslEs(&row.text, row.stage), &Options::default());
        times.push(start.elapsed());
        match compiled {
            Ok(compiled) => found = Some((compiled.report.instructions, compiled.report.spill_stores)),
            Err(error) => {
                println!("{}", error.render(&row.name, &row.text));
                return None;
            }
        }
    }
    times.sort();
    found.map(|(instructions, spills)| (instructions, spills, times[2]))
}

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/glsl-es");
    let rows = rows(&folder);
    if rows.is_empty() {
        println!("corpus glsl-es: not here, there is nothing to compile");
        return;
    }
    println!(
        "{:34} {:8} {:>6} {:>6} {:>7} {:>7} {:>10}",
        "program", "stage", "mesa", "ours", "ratio", "spills", "time"
    );
    let mut all = Vec::new();
    for stage in [Stage::Vertex, Stage::Fragment] {
        let (mut mesa, mut ours) = (0, 0);
        for row in rows.iter().filter(|row| row.stage == stage) {
            let Some((instructions, spills, time)) = timed(row) else {
                continue;
            };
            all.push(time);
            let ratio = row.mesa.map_or("-".to_owned(), |mesa| {
                format!("{:.2}", f64::from(instructions) / f64::from(mesa))
            });
            let known = row.mesa.map_or("-".to_owned(), |mesa| mesa.to_string());
            println!(
                "{:34} {:8} {known:>6} {instructions:>6} {ratio:>7} {spills:>7} {:>8.2}ms",
                row.name,
                format!("{stage:?}"),
                time.as_secs_f64() * 1e3
            );
            if let Some(count) = row.mesa {
                mesa += count;
                ours += instructions;
            }
        }
        println!(
            "{:34} {:8} {mesa:>6} {ours:>6} {:>7.2}",
            "total",
            format!("{stage:?}"),
            f64::from(ours) / f64::from(mesa.max(1))
        );
    }
    all.sort();
    println!(
        "median time of a program: {:.2} ms",
        all[all.len() / 2].as_secs_f64() * 1e3
    );
}
