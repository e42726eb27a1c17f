//! A job, from the driver's frame to its end.

use crate::abi::errno;
use crate::event::Pipe;
use crate::options::Hardware;
use crate::space;
use emulator::memory::Memory;
use utgard::frame::{
    GpFrame, LISTS, LISTS_450, Lists450, PP_FRAME_WORDS, PROCESSOR_LISTS_450, PROCESSORS, PROCESSORS_450,
};
use utgard::stream::TileCommand;

/// Message for a job that ended because of an emulator bug.
pub(crate) const FAILED: &str = "the emulator failed";

/// A submitted job.
pub(crate) struct Request {
    /// Which queue.
    pub pipe: Pipe,
    /// The frame.
    pub frame: Vec<u32>,
    /// Addresses and access (1 read, 2 write) of its objects.
    pub objects: Vec<(u32, u32)>,
}

/// The kernel's checks of a submitted job.
///
/// # Errors
/// An `errno`.
pub(crate) fn check(pipe: Pipe, frame: &[u32], hardware: Hardware, pps: u32) -> Result<(), i32> {
    let good = match pipe {
        Pipe::Gp => {
            let ordered = frame.chunks_exact(2).all(|pair| pair[0] <= pair[1]);
            let frame = GpFrame::from_words(frame);
            ordered && (frame.vertex_start != frame.vertex_end || frame.list_start != frame.list_end)
        }
        Pipe::Pp => {
            let behind = frame.get(LISTS_450..).unwrap_or_default();
            let pad = hardware == Hardware::Mali450 && Lists450::from_words(behind).padding != 0;
            (1..=pps).contains(&PROCESSORS.of(frame)) && !pad
        }
    };
    if good { Ok(()) } else { Err(errno::EINVAL) }
}

/// A frame in the emulator's layout: that of a Mali-400, but with one list per pixel processor.
pub(crate) fn plain(frame: &[u32], pipe: Pipe, hardware: Hardware, memory: &mut Memory) -> Vec<u32> {
    if pipe == Pipe::Gp || hardware == Hardware::Mali400 {
        return frame.to_vec();
    }
    let mut plain = frame[..LISTS].to_vec();
    let lists = Lists450::from_words(&frame[LISTS_450..]);
    if lists.makes_lists {
        // The area is large enough for the maximum number of tiles.
        if memory.write(space::END, &tiles(&lists)).is_ok() {
            plain[PROCESSORS.word] = 1;
            plain.push(space::END);
        }
    } else {
        plain.extend_from_slice(&frame[PROCESSOR_LISTS_450..][..PROCESSORS_450]);
    }
    plain.resize(PP_FRAME_WORDS, 0);
    plain
}

/// The tile list that a Mali-450 generates (docs/spec/mali/kernel.md, section 5).
fn tiles(lists: &Lists450) -> Vec<u8> {
    let words = lists.tiles().into_iter().flat_map(TileCommand::encode);
    words.flat_map(u32::to_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_jobs_are_rejected() {
        let gp = |frame: [u32; 6]| check(Pipe::Gp, &frame, Hardware::Mali400, 1);
        assert_eq!(gp([1, 2, 3, 4, 5, 6]), Ok(()));
        assert_eq!(gp([1, 1, 3, 4, 5, 6]), Ok(()));
        assert_eq!(gp([2, 1, 3, 4, 5, 6]), Err(errno::EINVAL));
        assert_eq!(gp([1, 1, 3, 3, 5, 6]), Err(errno::EINVAL));
        let mut pp = [0; 78];
        for (pps, good) in [(0, false), (1, true), (2, true), (3, false)] {
            pp[23] = pps;
            assert_eq!(check(Pipe::Pp, &pp, Hardware::Mali400, 2).is_ok(), good, "{pps}");
        }
        (pp[23], pp[61]) = (1, 1);
        assert_eq!(check(Pipe::Pp, &pp, Hardware::Mali450, 2), Err(errno::EINVAL));
    }

    #[test]
    fn every_tile_has_its_block() {
        // Three by two tiles in blocks of two by one.
        let list = tiles(&Lists450::from_words(&[1, 0, 0x4000, 1 << 16 | 2, 2 << 28 | 1, 0]));
        let words: Vec<u32> = list
            .chunks_exact(4)
            .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]))
            .collect();
        let commands: Vec<(u32, u32)> = words
            .chunks_exact(4)
            .map(|w| (w[1] & 0xffff, (w[2] & 0x1fff_fffc) << 3))
            .collect();
        let expected = [
            (0, 0x4000),
            (1, 0x4000),
            (2, 0x4200),
            (0x100, 0x4400),
            (0x101, 0x4400),
            (0x102, 0x4600),
        ];
        assert_eq!(commands, expected);
        assert_eq!(words.last(), Some(&0xbc00_0000));
    }
}
