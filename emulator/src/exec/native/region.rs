//! Compiled graphs as the code of regions.

use crate::exec::FragmentContext;
use crate::exec::lanes::Mask;
use crate::exec::wide::alu::Machine;
use crate::exec::wide::region::{RegionCode, VertexRegionCode, Work};
use jit::{Block, Call, MAX_TEXTURES, Texels, Variants};

impl RegionCode for Variants {
    fn run(&self, work: Work<'_, '_>) -> bool {
        let lanes = work.machine.lanes;
        let mut textures: [Texels<'_>; MAX_TEXTURES];
        let mut used = &[][..];
        if !self.textures().is_empty() {
            textures = [Texels::default(); MAX_TEXTURES];
            let of_code = &mut textures[..self.textures().len()];
            if !look_up(self.textures(), work.context, of_code) {
                return false;
            }
            used = of_code;
        }
        // The destination stays as it is, in case the code bails out.
        if let Some(destination) = work.destination.filter(|_| self.blends()) {
            copy_some(&mut work.words[..lanes], &destination[..lanes], work.mask);
        }
        Variants::run(
            self,
            Call {
                rows: work.machine.rows,
                lanes,
                uniforms: work.machine.uniforms,
                inputs: Block::of(work.inputs),
                mask: work.mask.as_ref(),
                textures: used,
                words: work.words,
            },
        )
    }

    fn is_infallible(&self) -> bool {
        self.textures().is_empty() && !self.has_guards()
    }

    fn takes_tiles(&self) -> bool {
        Variants::takes_tiles(self)
    }
}

impl VertexRegionCode for Variants {
    fn run(&self, machine: &mut Machine<'_>, mask: Option<Mask>) -> bool {
        Variants::run(
            self,
            Call {
                lanes: machine.lanes,
                uniforms: machine.uniforms,
                mask: mask.as_ref(),
                ..Call::of_rows(machine.rows)
            },
        )
    }
}

/// Finds the texels of the textures that code reads; false if they have not been looked up yet.
fn look_up<'a>(used: &[bool], context: &FragmentContext<'a>, into: &mut [Texels<'a>]) -> bool {
    let used = used.iter().zip(into).enumerate();
    used.filter(|(_, (used, _))| **used).all(|(number, (_, into))| {
        let texture = context.textures.get(number);
        let Some((largest, words)) = texture.and_then(|texture| texture.texels_ready()) else {
            return false;
        };
        *into = Texels {
            words,
            largest: largest as f32,
        };
        true
    })
}

/// Copies the words of a mask's lanes, or all.
fn copy_some(to: &mut [u32], from: &[u32], mask: Option<Mask>) {
    let Some(mask) = mask else {
        return to.copy_from_slice(from);
    };
    let lanes = to.chunks_mut(8).zip(from.chunks(8));
    for ((to, from), mask) in lanes.zip(mask.to_le_bytes()) {
        match mask {
            0 => {}
            0xff => to.copy_from_slice(from),
            _ => {
                let pairs = to.iter_mut().zip(from).enumerate();
                pairs
                    .filter(|(lane, _)| mask >> lane & 1 == 1)
                    .for_each(|(_, (to, from))| *to = *from);
            }
        }
    }
}
