//! Our rules against spirv-val: valid modules, and deliberately damaged modules.

use super::module_text;

use super::samples::all;
use module_text::{Sample, bytes, in_pairs, installed, tool};
use skrymir::loader::spirv::{instructions, validate};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

/// Corpus modules use scalar layout; there is no other requirement on the target.
const VAL: &[&str] = &["--scalar-block-layout"];

fn reference(sample: &Sample, at: usize, folder: &Path) -> Option<String> {
    let file = folder.join(format!("v{at}.spv"));
    std::fs::write(&file, bytes(&sample.words)).unwrap();
    let output = tool("spirv-val", VAL, &[&file]);
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).trim().to_owned())
}

fn ours(sample: &Sample) -> Option<String> {
    let report = validate(&sample.words);
    (!report.is_valid()).then(|| report.diagnostics[0].to_string())
}

const WAYS: [&str; 8] = [
    "operand word",
    "operand to another id",
    "opcode",
    "instruction removed",
    "instruction doubled",
    "neighbours swapped",
    "cut short",
    "header",
];

/// One change to a module.
fn mutate(words: &[u32], way: usize, random: &mut fastrand::Rng) -> Vec<u32> {
    let spans: Vec<(usize, usize)> = instructions(words)
        .flatten()
        .map(|i| (i.position, i.position + i.words.len()))
        .collect();
    let (start, end) = spans[random.usize(..spans.len())];
    let mut out = words.to_vec();
    match way {
        0 if end - start > 1 => out[start + 1 + random.usize(..end - start - 1)] = random.usize(..64) as u32,
        1 if end - start > 1 => {
            // From the last third, where the functions are, half of the time.
            let (start, end) = if random.bool() {
                (start, end)
            } else {
                spans[spans.len() - 1 - random.usize(..spans.len() / 3 + 1)]
            };
            if end - start > 1 {
                out[start + 1 + random.usize(..end - start - 1)] = 1 + random.usize(..words[3] as usize - 1) as u32;
            }
        }
        2 => out[start] = out[start] & 0xffff_0000 | random.usize(..400) as u32,
        3 => drop(out.drain(start..end)),
        4 => {
            let copy = words[start..end].to_vec();
            out.splice(end..end, copy);
        }
        5 => {
            let (next, after) = *spans.iter().find(|s| s.0 == end).unwrap_or(&(start, end));
            let mut both = words[next..after].to_vec();
            both.extend(&words[start..end]);
            if next == end {
                out.splice(start..after, both);
            }
        }
        6 => out.truncate(start.max(6)),
        _ => out[random.usize(..5)] ^= 1 << random.usize(..20),
    }
    out
}

#[test]
fn agrees_with_spirv_val() {
    let folder = tempfile::tempdir().unwrap();
    let all = all(folder.path());
    if !installed("spirv-val") {
        for sample in &all {
            assert_eq!(ours(sample), None, "{}", sample.name);
            let cut = Sample {
                words: sample.words[..sample.words.len() - 1].to_vec(),
                ..sample.clone()
            };
            assert!(ours(&cut).is_some(), "{}", sample.name);
        }
        println!("spirv-val is not installed: nothing to compare with");
        return;
    }
    let rows = Mutex::new(Vec::new());
    in_pairs(&all, |at, sample| {
        let row = (reference(sample, at, folder.path()), ours(sample));
        rows.lock().unwrap().push((at, row));
    });
    let mut rows = rows.into_inner().unwrap();
    rows.sort_by_key(|row| row.0);
    let valid: Vec<&Sample> = rows.iter().filter(|r| r.1.0.is_none()).map(|r| &all[r.0]).collect();
    let apart: Vec<_> = rows
        .iter()
        .filter(|r| r.1.0.is_some() != r.1.1.is_some())
        .map(|r| (&all[r.0].name, &r.1))
        .collect();
    println!(
        "{} modules: spirv-val finds {} valid; {} verdicts differ",
        all.len(),
        valid.len(),
        apart.len()
    );
    for row in &apart {
        println!("  differ: {row:?}");
    }

    let small: Vec<&Sample> = valid.iter().copied().filter(|s| s.words.len() < 4000).collect();
    let mut random = fastrand::Rng::with_seed(1);
    let mutants: Vec<(usize, Sample)> = (0..640)
        .map(|n| {
            let base = small[random.usize(..small.len())];
            let words = mutate(&base.words, n % WAYS.len(), &mut random);
            (
                n % WAYS.len(),
                Sample {
                    name: format!("{} {n} ({})", base.name, WAYS[n % WAYS.len()]),
                    words,
                },
            )
        })
        .collect();
    let verdicts = Mutex::new(Vec::new());
    in_pairs(&mutants, |at, (way, sample)| {
        let row = (*way, at, reference(sample, at, folder.path()), ours(sample));
        verdicts.lock().unwrap().push(row);
    });
    let mut verdicts = verdicts.into_inner().unwrap();
    verdicts.sort_by_key(|v| v.1);
    let mut table: BTreeMap<usize, [usize; 4]> = BTreeMap::new();
    for (way, at, theirs, ours) in &verdicts {
        // spirv-val 2023.1 accepts a non-semantic instruction between the blocks of a function; the specification and
        // newer versions do not.
        if theirs.is_none()
            && ours
                .as_ref()
                .is_some_and(|said| said.contains("OpExtInst: is outside a block"))
        {
            println!("  {}: skipped: {ours:?}", mutants[*at].1.name);
            continue;
        }
        let column = match (theirs, ours) {
            (Some(_), Some(_)) => 0,
            (Some(_), None) => 1,
            (None, Some(_)) => 2,
            (None, None) => 3,
        };
        table.entry(*way).or_default()[column] += 1;
        if column == 1 || column == 2 {
            println!(
                "  {}: spirv-val {:?}; we {ours:?}",
                mutants[*at].1.name,
                theirs.as_ref().map(|t| t.lines().next().unwrap_or("").to_owned())
            );
        }
    }
    println!(
        "{:24} {:>8} {:>8} {:>8} {:>8}",
        "mutation", "both bad", "only val", "only we", "both ok"
    );
    let mut sum = [0; 4];
    for (way, row) in &table {
        println!("{:24} {:8} {:8} {:8} {:8}", WAYS[*way], row[0], row[1], row[2], row[3]);
        (0..4).for_each(|n| sum[n] += row[n]);
    }
    let share = sum[0] as f64 / (sum[0] + sum[1]) as f64;
    println!(
        "{:24} {:8} {:8} {:8} {:8}: {:.1} % of what spirv-val rejects",
        "all",
        sum[0],
        sum[1],
        sum[2],
        sum[3],
        share * 100.0
    );
    assert!(apart.is_empty());
    assert!(sum[0] + sum[1] >= 300, "too few mutants that spirv-val rejects");
    assert!(share >= 0.9, "{share}");
    assert_eq!(sum[2], 0, "false alarms on what spirv-val accepts");
}
