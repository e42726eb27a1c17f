//! Compile times, and the lengths of programs beside those of Mesa's compiler if the corpus is present:
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

/// Programs of recordings, with Mesa's code for them.
fn recorded(folder: &Path) -> Vec<Row> {
    let mut rows = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let Some((name, listing)) = name.strip_suffix(".code.txt").zip(std::fs::read_to_string(&path).ok()) else {
            continue;
        };
        let (vertex, fragment) = listing.split_once("# PP").unwrap_or((&listing, ""));
        let length = |part: &str| part.lines().skip(1).take_while(|line| !line.is_empty()).count() as u32;
        for (ending, stage, mesa) in [
            ("vert", Stage::Vertex, length(vertex)),
            ("frag", Stage::Fragment, length(fragment)),
        ] {
            if let Ok(text) = std::fs::read_to_string(folder.join(format!("{name}.{ending}"))) {
                rows.push(Row {
                    name: name.to_owned(),
                    stage,
                    mesa: Some(mesa).filter(|mesa| *mesa > 0),
                    text,
                });
            }
        }
    }
    rows.sort_by(|a, b| a.name.cmp(&b.name));
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
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let mut rows = rows(&corpus.join("glsl-es"));
    rows.extend(recorded(&corpus.join("mali")));
    if rows.is_empty() {
        println!("corpora glsl-es and mali: not here, there is nothing to compile");
        return;
    }
    println!(
        "{:34} {:8} {:>6} {:>6} {:>7} {:>7} {:>10}",
        "program", "stage", "mesa", "ours", "ratio", "spills", "time"
    );
    let mut all = Vec::new();
    for stage in [Stage::Vertex, Stage::Fragment] {
        let (mut mesa, mut ours, mut known, mut no_longer) = (0, 0, 0, 0);
        for row in rows.iter().filter(|row| row.stage == stage) {
            let Some((instructions, spills, time)) = timed(row) else {
                continue;
            };
            all.push(time);
            let ratio = row.mesa.map_or("-".to_owned(), |mesa| {
                format!("{:.2}", f64::from(instructions) / f64::from(mesa))
            });
            let theirs = row.mesa.map_or("-".to_owned(), |mesa| mesa.to_string());
            println!(
                "{:34} {:8} {theirs:>6} {instructions:>6} {ratio:>7} {spills:>7} {:>8.2}ms",
                row.name,
                format!("{stage:?}"),
                time.as_secs_f64() * 1e3
            );
            if let Some(count) = row.mesa {
                mesa += count;
                ours += instructions;
                known += 1;
                no_longer += u32::from(instructions <= count);
            }
        }
        println!(
            "{:34} {:8} {mesa:>6} {ours:>6} {:>7.2}   {no_longer} of {known} no longer",
            "total",
            format!("{stage:?}"),
            f64::from(ours) / f64::from(mesa.max(1))
        );
    }
    all.sort();
    println!(
        "time of a program: median {:.2} ms, longest {:.2} ms",
        all[all.len() / 2].as_secs_f64() * 1e3,
        all[all.len() - 1].as_secs_f64() * 1e3
    );
}
