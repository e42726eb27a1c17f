//! Random instructions have every unit as often as their generator says, with fields that compilers use.

use fastrand::Rng;
use std::collections::BTreeMap;
use utgard::gp::{self, Source, Stored, UNITS};
use utgard::pp::ops::Origin;
use utgard::pp::{self, Alignment, LoadSource, Register, StoreMode};

const COUNT: u32 = 20_000;

/// Whether a number of [`COUNT`] is one in `odds`, within a tenth and some.
fn is_one_in(odds: f64, count: u32) -> bool {
    let wanted = f64::from(COUNT) / odds;
    (f64::from(count) - wanted).abs() < wanted * 0.12 + 20.0
}

#[test]
fn fragment_units_are_as_frequent_as_asked() {
    let mut random = Rng::with_seed(1);
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for _ in 0..COUNT {
        let i = pp::random::instruction(&mut random);
        for (at, unit) in pp::UNITS.iter().enumerate() {
            *counts.entry(unit.0).or_default() += u32::from(i.unit(at).is_some());
        }
        let mut count = |what, yes: bool| *counts.entry(what).or_default() += u32::from(yes);
        count("stop", i.control.stop);
        count("sync", i.control.sync);
        count("combine and store", i.combine.is_some() && i.store.is_some());
        count("forwarded vector", i.vec_acc.is_some_and(|unit| unit.a_is_mul));
        count("forwarded scalar", i.float_acc.is_some_and(|unit| unit.a_is_mul));
        count("load with offset", i.load.is_some_and(|unit| unit.offset_enable));
        count("store with offset", i.store.is_some_and(|unit| unit.offset_enable));
        if let Some(unit) = i.varying {
            let row = unit.kind.row();
            assert!(
                row.known && (unit.unknown4, unit.unknown7, unit.unknown32) == (0, 0, 0),
                "{unit:?}"
            );
            let given = unit.register == Register::NONE;
            assert!(given || row.origin != Origin::Memory, "{unit:?}");
            assert!(!given || row.origin != Origin::Register, "{unit:?}");
            assert!(
                row.origin != Origin::Memory || unit.index < 10 && unit.alignment != Alignment::Vec4,
                "{unit:?}"
            );
            assert!(
                unit.destination.0 < pp::flow::REGISTERS || unit.destination == Register::NONE,
                "{unit:?}"
            );
            count("nowhere", unit.written().is_none());
        }
        if let Some(unit) = i.sampler {
            assert!(
                i.control.sync && unit.index < 3 && unit.constant == pp::Sampler::CONSTANT,
                "{unit:?}"
            );
            assert_eq!((unit.unknown12, unit.unknown19), (0, 0));
        }
        if let Some(unit) = i.load {
            assert!(
                (-16..48).contains(&unit.signed_index()) && unit.alignment != Alignment::Varying4,
                "{unit:?}"
            );
            assert_eq!((unit.unknown2, unit.unknown12), (0, 0));
            count("temporaries", unit.source == LoadSource::Temporary);
        }
        if let Some(unit) = i.store {
            assert!(
                (-16..0).contains(&unit.signed_index()) && unit.read == StoreMode::Store,
                "{unit:?}"
            );
        }
    }
    let is = |what: &str, odds: f64| assert!(is_one_in(odds, counts[what]), "{what}: {counts:?}");
    for (what, odds) in [
        ("sampler", 8.0),
        ("load", 4.0),
        ("vec_mul", 2.0),
        ("float_mul", 3.0),
        ("vec_acc", 2.0),
        ("float_acc", 3.0),
        ("combine", 5.0),
        ("store", 12.5),
        ("const0", 2.0),
        ("const1", 6.0),
        // With the sampler's coordinates.
        ("varying", 2.4),
        ("stop", 40.0),
        ("sync", 4.27),
        ("forwarded vector", 8.0),
        ("forwarded scalar", 18.0),
        ("load with offset", 24.0),
        ("store with offset", 75.0),
        ("temporaries", 8.0),
        ("nowhere", 16.0),
    ] {
        is(what, odds);
    }
    assert_eq!((counts["combine and store"], counts["branch"]), (0, 0));
}

#[test]
fn vertex_units_are_as_frequent_as_asked() {
    let mut random = Rng::with_seed(1);
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for _ in 0..COUNT {
        let alone = gp::random::instruction(&mut random, true);
        let early = |source: &Source| matches!(source, Source::Result(..) | Source::Port0Before(_));
        assert!(!alone.sources().iter().any(early), "{alone:?}");
        let i = gp::random::instruction(&mut random, false);
        assert!(i.load_address < gp::flow::MEMORY_VEC4S && !i.branch);
        for (row, busy) in UNITS.iter().zip(i.busy()) {
            *counts.entry(row.name).or_default() += u32::from(busy);
        }
        let mut count = |what, yes: bool| *counts.entry(what).or_default() += u32::from(yes);
        count("early", i.sources().iter().any(early));
        count("offset", i.load_offset != gp::LoadOffset::Nothing);
        count("temporary", i.store0_temporary);
        assert_eq!(i.flags, if i.store0_temporary { gp::flags::TEMPORARY } else { 0 });
        assert!(!(i.store1_temporary || i.store0_temporary && i.store0_varying), "{i:?}");
        for (stored, _) in i.stores() {
            assert!(
                matches!(stored, Stored::Nothing) || matches!(stored, Stored::Unit(unit) if i.is_busy(unit)),
                "{i:?}"
            );
        }
        count("stored", i.store1_w != Stored::Nothing);
        count("select", i.is_busy(gp::Unit::Mul0) && i.mul_op == gp::MulOp::Select);
    }
    for (what, odds) in [
        ("acc0", 4.0 / 3.0),
        ("acc1", 8.0 / 3.0),
        ("mul0", 4.0 / 3.0),
        // Three in four, but for the half of them whose operation takes both multipliers half of the time.
        ("mul1", 16.0 / 9.0),
        ("complex", 2.0),
        ("pass", 2.0),
        ("offset", 4.0),
        ("temporary", 8.1),
        ("stored", 2.05),
        ("select", 32.0 / 3.0),
    ] {
        assert!(is_one_in(odds, counts[what]), "{what}: {counts:?}");
    }
}

/// One in twelve instructions that may branches, forwards.
#[test]
fn programs_branch_forwards() {
    let mut random = Rng::with_seed(1);
    let (mut vertex, mut fragment, mut discards) = (0, 0, 0);
    for _ in 0..200 {
        let program = gp::random::program(&mut random, 100);
        for (at, i) in program.iter().enumerate().filter(|(_, i)| i.branch) {
            assert!(usize::from(i.target()) > at && usize::from(i.target()) < 100 && i.pass_source.is_used());
            assert_eq!(i.flags, gp::flags::BRANCH);
            vertex += 1;
        }
        let words = pp::random::program(&mut random, 100);
        let (code, _) = pp::flow::instructions(&words);
        for (_, i) in &code {
            let Some(branch) = i.branch else { continue };
            assert!(branch.is_discard() || branch.signed_target() > 0);
            fragment += u32::from(!branch.is_discard());
            discards += u32::from(branch.is_discard());
        }
        assert!(code[99].1.control.stop && code[99].1.branch.is_none());
    }
    assert!(is_one_in(24.0, vertex), "{vertex}");
    assert!(is_one_in(10.1, fragment), "{fragment}");
    assert!(is_one_in(33.7, discards), "{discards}");
}
