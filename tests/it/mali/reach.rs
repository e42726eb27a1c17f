//! Coverage of random programs, as a table without empty cells; the programs that cover it run on every engine.

use fastrand::Rng;
use properties::reach::{self, Cell, How, Outcome, Table, Unit};
use properties::{engines, programs, reach_gp};
use std::collections::BTreeMap;
use utgard::pp;

/// Number of generated programs; few of them cover new cells.
const PROGRAMS: usize = 40_000;

/// Reachable cells that were not reached.
fn empty(table: &Table) -> Vec<Cell> {
    let can = reach::cells()
        .into_iter()
        .filter(|cell| reach::unreachable(*cell).is_none());
    can.filter(|cell| !table.contains_key(cell)).collect()
}

/// Prints for each kind of cell how many there are and how many can be reached, and why others cannot.
fn print(table: &Table) {
    let (mut kinds, mut reasons) = (BTreeMap::new(), BTreeMap::new());
    for cell in reach::cells() {
        let kind = match cell {
            Cell::Meets(meeting, _) => format!("{:?} meets {:?}", meeting.first, meeting.second),
            Cell::Component(..) => "components".to_owned(),
            Cell::Ends(..) => "ends".to_owned(),
            Cell::Operation(..) => "operations".to_owned(),
            Cell::Modifier(..) => "modifiers".to_owned(),
            Cell::Source(..) => "sources".to_owned(),
            Cell::Condition(..) => "conditions".to_owned(),
            Cell::EarlyBias(..) => "early biases".to_owned(),
        };
        match reach::unreachable(cell) {
            Some(reason) => *reasons.entry(reason).or_insert(0) += 1,
            None => {
                let (cells, reached, least) = kinds.entry(kind).or_insert((0, 0, u32::MAX));
                let count = table.get(&cell).copied().unwrap_or(0);
                (*cells, *reached, *least) = (*cells + 1, *reached + u32::from(count > 0), count.min(*least));
            }
        }
    }
    println!("{:<24} {:>6} {:>8} {:>6}", "", "cells", "reached", "least");
    for (kind, (cells, reached, least)) in kinds {
        println!("{kind:<24} {cells:>6} {reached:>8} {least:>6}");
    }
    for (reason, cells) in reasons {
        println!("{cells:>6} cells: {reason}");
    }
}

/// Every cell is reached, by programs with the same results on all engines.
#[test]
fn fragment_programs_reach_every_cell() {
    let (mut random, mut table, mut kept) = (Rng::with_seed(1), Table::new(), Vec::new());
    for _ in 0..PROGRAMS {
        let length = 2 + random.usize(..8);
        let (program, words) = programs::fragment(&mut random, length);
        if reach::note(&program, &mut table) {
            kept.push(words);
        }
    }
    print(&table);
    let unexpected: Vec<_> = table
        .keys()
        .filter(|cell| reach::unreachable(**cell).is_some())
        .collect();
    assert!(unexpected.is_empty(), "reached in spite of a reason: {unexpected:#?}");
    let empty = empty(&table);
    assert!(empty.is_empty(), "{} empty cells: {empty:#?}", empty.len());
    let mut fragments = 0;
    for words in &kept {
        fragments += (0..3)
            .map(|_| engines::compare_fragments(words, &mut random).0)
            .sum::<usize>();
    }
    println!(
        "{} programs reach all of it, {fragments} fragments are the same from every engine",
        kept.len()
    );
    assert!(kept.len() > 300 && fragments > 50_000);
}

/// The same for vertex programs.
#[test]
fn vertex_programs_reach_every_cell() {
    let (mut random, mut table, mut kept) = (Rng::with_seed(2), reach_gp::Table::new(), Vec::new());
    for _ in 0..PROGRAMS {
        let length = 2 + random.usize(..8);
        let program = programs::vertex(&mut random, length);
        if reach_gp::note(&program, &mut table) {
            kept.push(program);
        }
    }
    let (mut can, mut reasons) = (Vec::new(), BTreeMap::new());
    for cell in reach_gp::cells() {
        match reach_gp::unreachable(cell) {
            Some(reason) => *reasons.entry(reason).or_insert(0) += 1,
            None => can.push(cell),
        }
    }
    for (reason, cells) in reasons {
        println!("{cells:>6} cells: {reason}");
    }
    let unexpected = table.keys().filter(|cell| reach_gp::unreachable(**cell).is_some());
    assert_eq!(
        unexpected.collect::<Vec<_>>(),
        Vec::<&reach_gp::Cell>::new(),
        "reached in spite of a reason"
    );
    let empty: Vec<_> = can.iter().filter(|cell| !table.contains_key(cell)).collect();
    assert!(empty.is_empty(), "{} empty cells: {empty:#?}", empty.len());
    let count = kept.len();
    let compared: usize = kept
        .into_iter()
        .map(|program| engines::compare_vertices(program, &mut random, 100))
        .sum();
    println!(
        "{} cells, {count} programs reach all of them, {compared} vertices are the same from every engine",
        can.len()
    );
    assert!(count > 300 && compared > 5_000);
}

/// Negative control: programs with sixteen registers and few units leave cells empty.
#[test]
fn sparse_programs_leave_cells_empty() {
    let (mut random, mut table) = (Rng::with_seed(1), Table::new());
    for _ in 0..2_000 {
        let length = 2 + random.usize(..8);
        let words = pp::random::program(&mut random, length);
        let program: Vec<_> = pp::flow::instructions(&words).0.into_iter().map(|(_, i)| i).collect();
        reach::note(&program, &mut table);
    }
    let empty = empty(&table);
    println!("{} cells are empty", empty.len());
    assert!(empty.len() > 500);
    // A product that is only forwarded, of a register that the scalar multiplier writes: the engines once differed
    // here.
    let of_fault = |cell: &&Cell| match cell {
        Cell::Meets(meeting, [(Outcome::Stored, _), (Outcome::Forwarded, true)]) => {
            let units = (meeting.first, meeting.second) == (Unit::FloatMul, Unit::VecMul);
            units && !meeting.next && meeting.how == How::ReadsStored
        }
        _ => false,
    };
    assert_eq!(empty.iter().filter(of_fault).count(), 2);
}
