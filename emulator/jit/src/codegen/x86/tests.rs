//! Every instruction of x86 that is written, beside another crate's decoder.

use super::asm::{Asm, Gpr, Masked, Mem, Rm, code};
use crate::isa::Isa;
use iced_x86::{Decoder, DecoderOptions, Formatter, Mnemonic, NasmFormatter};

/// Every form with low and high registers, near and far memory, is what it is called.
#[test]
fn every_form_decodes() {
    let mut count = 0;
    for isa in [Isa::Avx512, Isa::Avx2 { fma: true }] {
        let top = if isa.evex() { 31 } else { 15 };
        let prefix = if isa.evex() { "zmm" } else { "ymm" };
        let ops = [
            (code::ADDPS, "vaddps", true),
            (code::SUBPS, "vsubps", true),
            (code::MULPS, "vmulps", true),
            (code::DIVPS, "vdivps", true),
            (code::MINPS, "vminps", true),
            (code::MAXPS, "vmaxps", true),
            (code::ANDPS, "vandps", true),
            (code::XORPS, "vxorps", true),
            (code::PADDD, "vpaddd", true),
            (code::PMINUD, "vpminud", true),
            (code::FMADD132PS, "vfmadd132ps", true),
            (code::FMADD213PS, "vfmadd213ps", true),
            (code::FMSUB132PS, "vfmsub132ps", true),
            (code::FMSUB231PS, "vfmsub231ps", true),
            (code::FMADD231PS, "vfmadd231ps", true),
            (code::PAND, if isa.evex() { "vpandd" } else { "vpand" }, true),
            (code::POR, if isa.evex() { "vpord" } else { "vpor" }, true),
            (code::SQRTPS, "vsqrtps", false),
            (code::CVTDQ2PS, "vcvtdq2ps", false),
            (code::CVTTPS2DQ, "vcvttps2dq", false),
            (code::MOVUPS_LOAD, "vmovups", false),
            (code::MOVAPS, "vmovaps", false),
        ];
        for (op, name, two) in ops {
            for (to, a, b) in [(0, 1, 2), (top, 3, 9), (5, top, top - 1), (8, 8, 8)] {
                let memory = |base: Gpr, disp: i32| Rm::Full(Mem { base, disp });
                let places = [
                    (Rm::Reg(b), format!("{prefix}{b}")),
                    (memory(Gpr::Rsi, 64), "[rsi+40h]".to_owned()),
                    (memory(Gpr::R10, -4096), "[r10-1000h]".to_owned()),
                    (memory(Gpr::Rsp, 0), "[rsp]".to_owned()),
                    (memory(Gpr::Rsp, 12345), "[rsp+3039h]".to_owned()),
                ];
                for (rm, place) in places {
                    let mut asm = Asm::new(isa);
                    asm.vector(op, to, if two { a } else { 0 }, rm);
                    let mut decoder = Decoder::with_ip(64, &asm.bytes, 0, DecoderOptions::NONE);
                    let instruction = decoder.decode();
                    let mut text = String::new();
                    NasmFormatter::new().format(&instruction, &mut text);
                    let second = if two { format!(",{prefix}{a}") } else { String::new() };
                    assert_eq!(
                        text,
                        format!("{name} {prefix}{to}{second},{place}"),
                        "{:02x?}",
                        asm.bytes
                    );
                    assert_eq!(instruction.len(), asm.bytes.len());
                    count += 1;
                }
            }
        }
    }
    println!("{count} instructions are what they should be");
}

/// The rest of the forms, by hand.
#[test]
fn special_forms_decode() {
    let wide = |f: &dyn Fn(&mut Asm)| made(Isa::Avx512, f);
    let narrow = |f: &dyn Fn(&mut Asm)| made(Isa::Avx2 { fma: true }, f);
    let far = Mem { base: Gpr::R9, disp: 8 };
    let cases = [
        (
            wide(&|a| a.vector(code::ADDPS, 17, 3, Rm::Each(far))),
            "vaddps zmm17,zmm3,[r9+8]{1to16}",
        ),
        (
            wide(&|a| a.vector(code::BROADCASTSS, 30, 0, Rm::Each(far))),
            "vbroadcastss zmm30,[r9+8]",
        ),
        (
            narrow(&|a| a.vector(code::BROADCASTSS, 12, 0, Rm::Each(far))),
            "vbroadcastss ymm12,[r9+8]",
        ),
        (
            wide(&|a| a.vector_immediate(code::CVTPS2PH, 20, 0, Rm::Reg(9), 0)),
            "vcvtps2ph ymm9,zmm20,0",
        ),
        (
            narrow(&|a| a.vector_immediate(code::CVTPS2PH, 10, 0, Rm::Reg(9), 0)),
            "vcvtps2ph xmm9,ymm10,0",
        ),
        (wide(&|a| a.test_words(7, 25, 31)), "vptestmw k7,ymm25,ymm31"),
        (
            wide(&|a| a.vector_immediate(code::PTERNLOGD, 18, 2, Rm::Each(far), 0xfe)),
            "vpternlogd zmm18,zmm2,[r9+8]{1to16},0FEh",
        ),
        (
            wide(&|a| a.vector_masked(code::CVTPH2PS, 4, 0, Rm::Reg(29), Masked { by: 7, zero: true })),
            "vcvtph2ps zmm4{k7}{z},ymm29",
        ),
        (
            wide(&|a| a.vector_immediate(code::CMPPS, 3, 17, Rm::Reg(4), 0x1e)),
            "vcmpgt_oqps k3,zmm17,zmm4",
        ),
        (
            wide(&|a| a.vector_masked(code::BLENDMPS, 18, 2, Rm::Reg(3), Masked { by: 5, zero: false })),
            "vblendmps zmm18{k5},zmm2,zmm3",
        ),
        (
            wide(&|a| {
                let masked = Masked { by: 7, zero: false };
                a.vector_masked(
                    code::MOVUPS_STORE,
                    19,
                    0,
                    Rm::Full(Mem {
                        base: Gpr::Rsi,
                        disp: 512,
                    }),
                    masked,
                );
            }),
            "vmovups [rsi+200h]{k7},zmm19",
        ),
        (
            wide(&|a| a.gather(21, Gpr::Rax, 28, 7)),
            "vpgatherdd zmm21{k7},[rax+zmm28*4]",
        ),
        (wide(&|a| a.shift(18, 24, true, 23)), "vpslld zmm18,zmm24,17h"),
        (narrow(&|a| a.shift(3, 9, false, 8)), "vpsrld ymm3,ymm9,8"),
        (
            wide(&|a| a.vector_immediate(code::ROUNDPS, 1, 0, Rm::Reg(16), 9)),
            "vrndscaleps zmm1,zmm16,9",
        ),
        (
            narrow(&|a| a.vector_immediate(code::ROUNDPS, 1, 0, Rm::Reg(9), 9)),
            "vroundps ymm1,ymm9,9",
        ),
        (
            wide(&|a| a.vector_immediate(code::PERMILPS, 1, 0, Rm::Reg(20), 0x50)),
            "vpermilps zmm1,zmm20,50h",
        ),
        (
            wide(&|a| a.vector(code::PERMPS, 19, 28, Rm::Full(far))),
            "vpermps zmm19,zmm28,[r9+8]",
        ),
        (
            narrow(&|a| a.vector(code::PERMPS, 3, 12, Rm::Full(far))),
            "vpermps ymm3,ymm12,[r9+8]",
        ),
        (
            narrow(&|a| a.vector_immediate(code::BLENDVPS, 1, 2, Rm::Reg(3), 4 << 4)),
            "vblendvps ymm1,ymm2,ymm3,ymm4",
        ),
        (
            narrow(&|a| a.half_vector(code::PSIGNW, 14, 9, Rm::Reg(3))),
            "vpsignw xmm14,xmm9,xmm3",
        ),
        (
            narrow(&|a| a.vector(code::MASKMOVPS_STORE, 9, 14, Rm::Full(far))),
            "vmaskmovps [r9+8],ymm14,ymm9",
        ),
        (wide(&|a| a.mask_load(6, far)), "kmovw k6,[r9+8]"),
        (wide(&|a| a.mask_store(far, 6)), "kmovw [r9+8],k6"),
        (wide(&|a| a.mask_all(7)), "kxnorw k7,k7,k7"),
        (wide(&|a| a.mask_bits(Gpr::Rax, 5)), "kmovw eax,k5"),
        (narrow(&|a| a.signs(Gpr::Rax, 13)), "vmovmskps eax,ymm13"),
        (
            narrow(&|a| a.with_word(code::MOVD_LOAD, 12, 0, Gpr::Rax, Gpr::Rbx)),
            "vmovd xmm12,[rax+rbx*4]",
        ),
        (
            narrow(&|a| {
                a.with_word(code::PINSRD, 14, 14, Gpr::R9, Gpr::R10);
                a.bytes.push(3);
            }),
            "vpinsrd xmm14,xmm14,[r9+r10*4],3",
        ),
        (
            narrow(&|a| a.vector_immediate(code::INSERTI128, 9, 9, Rm::Reg(14), 1)),
            "vinserti128 ymm9,ymm9,xmm14,1",
        ),
        (wide(&|a| a.load(Gpr::R11, far)), "mov r11,[r9+8]"),
        (wide(&|a| a.load_short(Gpr::Rbx, far)), "mov ebx,[r9+8]"),
        (wide(&|a| a.load_short(Gpr::R8, far)), "mov r8d,[r9+8]"),
        (wide(&|a| a.or_to(far, Gpr::Rax)), "or [r9+8],eax"),
        (narrow(&|a| a.set_floats(far)), "vldmxcsr [r9+8]"),
        (narrow(&|a| a.get_floats(far)), "vstmxcsr [r9+8]"),
        (wide(&|a| a.and(Gpr::Rax, 25)), "and eax,19h"),
        (wide(&|a| a.shift_left(Gpr::Rbx, 16)), "shl ebx,10h"),
        (wide(&|a| a.add(Gpr::R10, 64)), "add r10,40h"),
        (wide(&|a| a.flip(Gpr::Rax, 255)), "xor eax,0FFh"),
    ];
    for (bytes, want) in cases {
        let mut decoder = Decoder::with_ip(64, &bytes, 0, DecoderOptions::NONE);
        let instruction = decoder.decode();
        let mut text = String::new();
        NasmFormatter::new().format(&instruction, &mut text);
        assert_eq!(text, want, "{bytes:02x?}");
        assert_eq!(instruction.len(), bytes.len(), "{want}");
    }
}

fn made(isa: Isa, f: &dyn Fn(&mut Asm)) -> Vec<u8> {
    let mut asm = Asm::new(isa);
    f(&mut asm);
    asm.bytes
}

/// Every early way out leads to the first instruction of the end.
#[test]
fn early_ways_out_lead_to_the_end() {
    let mut asm = Asm::new(Isa::Avx512);
    for count in 0..3 {
        (0..100 * count).for_each(|_| asm.flip(Gpr::Rax, 255));
        asm.leave_unless_zero();
    }
    let end = asm.bytes.len() as u64;
    asm.leave();
    let decoder = Decoder::with_ip(64, &asm.bytes, 0, DecoderOptions::NONE);
    let all: Vec<_> = decoder.into_iter().collect();
    let targets: Vec<u64> = all
        .iter()
        .filter(|instruction| instruction.mnemonic() == Mnemonic::Jne)
        .map(|instruction| instruction.near_branch_target())
        .collect();
    assert_eq!(targets, [end; 3]);
    let last: Vec<_> = all.iter().skip_while(|instruction| instruction.ip() < end).collect();
    assert_eq!(last[0].mnemonic(), Mnemonic::Vzeroupper);
    assert_eq!(last[last.len() - 1].mnemonic(), Mnemonic::Ret);
}
