//! Every instruction of 64-bit ARM that is written, beside another crate's decoder.

use super::asm::{Access, Asm, Gpr, Mem, Three, Two, code};

/// What a decoder makes of the words that are written, a line each.
fn decoded(write: impl FnOnce(&mut Asm)) -> Vec<String> {
    let mut asm = Asm::new();
    write(&mut asm);
    let (words, rest) = asm.bytes.as_chunks::<4>();
    assert!(rest.is_empty());
    let text = |word: &[u8; 4]| {
        let instruction = disarm64::decoder::decode(u32::from_le_bytes(*word));
        let text = instruction.map_or(format!("{word:02x?}"), |instruction| instruction.to_string());
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    words.iter().map(text).collect()
}

/// Low registers and high ones, different ones and the same.
const REGISTERS: [[u8; 3]; 4] = [[0, 1, 2], [31, 3, 9], [5, 31, 30], [8, 8, 8]];

#[test]
fn instructions_of_vectors_decode() {
    let three: [(Three, &str, &str); 23] = [
        (code::FADD, "fadd", "4s"),
        (code::FSUB, "fsub", "4s"),
        (code::FMUL, "fmul", "4s"),
        (code::FDIV, "fdiv", "4s"),
        (code::FMLA, "fmla", "4s"),
        (code::FCMGT, "fcmgt", "4s"),
        (code::FCMGE, "fcmge", "4s"),
        (code::FCMEQ, "fcmeq", "4s"),
        (code::ADD, "add", "4s"),
        (code::MUL, "mul", "4s"),
        (code::UMIN, "umin", "4s"),
        (code::TRN1, "trn1", "4s"),
        (code::TRN2, "trn2", "4s"),
        (code::ZIP1_PAIRS, "zip1", "2d"),
        (code::ZIP2_PAIRS, "zip2", "2d"),
        (code::AND, "and", "16b"),
        (code::ORR, "orr", "16b"),
        (code::BSL, "bsl", "16b"),
        (code::BIT, "bit", "16b"),
        (code::BIF, "bif", "16b"),
        (code::AND_LOW, "and", "8b"),
        (code::CMTST_HALVES, "cmtst", "4h"),
        (code::TBL4, "tbl", "16b"),
    ];
    let two: [(Two, &str, &str, &str); 12] = [
        (code::FSQRT, "fsqrt", ".4s", ".4s"),
        (code::FRINTM, "frintm", ".4s", ".4s"),
        (code::FRINTZ, "frintz", ".4s", ".4s"),
        (code::FABS, "fabs", ".4s", ".4s"),
        (code::FNEG, "fneg", ".4s", ".4s"),
        (code::FCVTZS, "fcvtzs", ".4s", ".4s"),
        (code::SCVTF, "scvtf", ".4s", ".4s"),
        (code::NOT, "not", ".16b", ".16b"),
        (code::FCVTN, "fcvtn", ".4h", ".4s"),
        (code::FCVTL, "fcvtl", ".4s", ".4h"),
        (code::DUP, "dup", ".4s", ".s[0]"),
        (code::UMINV, "uminv", "", ".4s"),
    ];
    for [to, a, b] in REGISTERS {
        for (op, name, of) in three {
            let first = match op {
                code::TBL4 => {
                    let table: Vec<_> = (0..4).map(|at| format!("v{}.{of}", (a + at) % 32)).collect();
                    format!("{{ {} }}", table.join(", "))
                }
                _ => format!("v{a}.{of}"),
            };
            let want = format!("{name} v{to}.{of}, {first}, v{b}.{of}");
            assert_eq!(decoded(|asm| asm.three(op, to, a, b)), [want]);
        }
        for (op, name, result, of) in two {
            let kind = if result.is_empty() { "s" } else { "v" };
            let want = format!("{name} {kind}{to}{result}, v{a}{of}");
            assert_eq!(decoded(|asm| asm.two(op, to, a)), [want]);
        }
        for bits in [0, 1, 8, 23, 31] {
            let want = format!("shl v{to}.4s, v{a}.4s, #{bits}");
            assert_eq!(decoded(|asm| asm.shift_left(to, a, bits)), [want]);
        }
        for bits in [1, 8, 23, 32] {
            let want = format!("ushr v{to}.4s, v{a}.4s, #{bits}");
            assert_eq!(decoded(|asm| asm.shift_right(to, a, bits)), [want]);
        }
        for lane in 0..4 {
            let want = [
                format!("umov w9, v{a}.s[{lane}]"),
                format!("ld1 {{ v{to}.s }}[{lane}], [x13]"),
            ];
            let have = decoded(|asm| {
                asm.lane(Gpr::X9, a, lane);
                asm.load_lane(to, lane, Gpr::X13);
            });
            assert_eq!(have, want);
        }
    }
}

#[test]
fn constants_decode() {
    let cases = [
        (0, "movi v9.4s, #0x0"),
        (0xff, "movi v9.4s, #0xff"),
        (0xa500, "movi v9.4s, #0xa5, LSL #8"),
        (0x7f_0000, "movi v9.4s, #0x7f, LSL #16"),
        (0x8000_0000, "movi v9.4s, #0x80, LSL #24"),
        (0x7fff_ffff, "mvni v9.4s, #0x80, LSL #24"),
        (u32::MAX, "mvni v9.4s, #0x0"),
        (0xffff_00ff, "mvni v9.4s, #0xff, LSL #8"),
        (1f32.to_bits(), "fmov v9.4s, #1"),
        (0.5f32.to_bits(), "movi v9.4s, #0x3f, LSL #24"),
        ((-2.5f32).to_bits(), "fmov v9.4s, #-2.5"),
        (31f32.to_bits(), "fmov v9.4s, #31"),
        (0.25f32.to_bits(), "fmov v9.4s, #0.25"),
        ((-1.9375f32).to_bits(), "fmov v9.4s, #-1.9375"),
    ];
    for (bits, want) in cases {
        let have = decoded(|asm| assert!(asm.constant(9, bits)));
        assert_eq!(have, [want], "{bits:#x}");
    }
    for value in [40f32, 0.1, 0.0625, 255.0, 1.96875, -1e-40] {
        assert!(decoded(|asm| assert!(!asm.constant(9, value.to_bits()))).is_empty());
    }
    assert_eq!(decoded(|asm| asm.bytes_of(28, 4)), ["movi v28.16b, #0x4"]);
    assert_eq!(
        decoded(|asm| asm.upper_bytes_of(27, 0x7c)),
        ["movi v27.8h, #0x7c, LSL #8"]
    );
}

#[test]
fn accesses_decode() {
    let accesses: [(Access, &str, usize); 8] = [
        (code::LDR_W, "ldr w", 4),
        (code::STR_W, "str w", 4),
        (code::LDR_X, "ldr x", 8),
        (code::LDR_D, "ldr d", 8),
        (code::STR_D, "str d", 8),
        (code::LDR_S, "ldr s", 4),
        (code::LDR_Q, "ldr q", 16),
        (code::STR_Q, "str q", 16),
    ];
    for (access, name, size) in accesses {
        for (base, base_name) in [(Gpr::X0, "x0"), (Gpr::X13, "x13"), (Gpr::Sp, "sp")] {
            for register in [0, 9, 30] {
                let at = |offset| decoded(|asm| asm.access(access, register, Mem { base, offset }));
                assert_eq!(at(0), [format!("{name}{register}, [{base_name}]")]);
                let last = 4095 * size;
                assert_eq!(at(last), [format!("{name}{register}, [{base_name}, #{last:#x}]")]);
                let far = [
                    format!("add x14, {base_name}, #{size:#x}, lsl #12"),
                    format!("{name}{register}, [x14, #0x10]"),
                ];
                assert_eq!(at(4096 * size + 16), far);
            }
        }
    }
    let offset = 65_535 * 512 + 64;
    let farther = decoded(|asm| asm.access(code::LDR_Q, 3, Mem { base: Gpr::X1, offset }));
    let pages = offset >> 12;
    let want = [
        "add x14, x1, #0xfff, lsl #12".to_owned(),
        "add x14, x14, #0xfff, lsl #12".to_owned(),
        format!("add x14, x14, #{:#x}, lsl #12", pages - 2 * 4095),
        format!("ldr q3, [x14, #{:#x}]", offset & 0xfff),
    ];
    assert_eq!(farther[0], want[0]);
    assert_eq!(farther[farther.len() - 1], want[3]);
    assert_eq!(farther[1..3], want[1..3]);
    assert_eq!(
        decoded(|asm| asm.load_indexed(31, Gpr::X13, Gpr::X9)),
        ["ldr s31, [x13, w9, uxtw #2]"]
    );
}

#[test]
fn the_rest_decodes() {
    let have = decoded(|asm| {
        asm.add(Gpr::X6, 32);
        asm.word_at(Gpr::X10, Gpr::X13, Gpr::X11);
        asm.zero(Gpr::X8);
        asm.or_not(Gpr::X8, Gpr::X9);
    });
    let want = [
        "add x6, x6, #0x20",
        "add x10, x13, w11, uxtw #2",
        "movz w8, #0x0, lsl #0x0",
        "orn w8, w8, w9",
    ];
    assert_eq!(have, want);
    // Branches count bytes.
    let have = decoded(|asm| {
        (0..4).for_each(|_| asm.zero(Gpr::X9));
        asm.count_down(Gpr::X7, 4);
    });
    let want = ["sub w7, w7, #0x1", "cbz w7, 0x8", "b 0xffffffffffffffec"];
    assert_eq!(have[4..], want);
}

/// The frame has room for what is the caller's, which comes back from where it went.
#[test]
fn frames_decode() {
    for bytes in [0, 64, 3584] {
        let have = decoded(|asm| {
            asm.enter();
            asm.leave();
            asm.set_frame(bytes);
        });
        let size = bytes + 64;
        let mut want = vec![format!("sub sp, sp, #{size:#x}")];
        for name in ["str", "ldr"] {
            want.extend((8..16).map(|register| match 8 * (register - 8) {
                0 => format!("{name} d{register}, [sp]"),
                offset => format!("{name} d{register}, [sp, #{offset:#x}]"),
            }));
        }
        want.push(format!("add sp, sp, #{size:#x}"));
        want.push("ret x30".to_owned());
        assert_eq!(have, want);
    }
}
