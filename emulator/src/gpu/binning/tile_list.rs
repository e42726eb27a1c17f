//! The tiles of a PP job, from the lists of its processors (docs/spec/mali/tile-lists.md).

use crate::fault::{Fault, FaultKind, Result};
use crate::gpu::notes::Notes;
use crate::memory::{Memory, PAGE, Seen};
use crate::thread_pool::{ThreadPool, lock};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use utgard::stream::TileCommand;

/// Tiles of a frame at most: 4096 pixels each way.
const MAX_TILES: usize = 1 << 16;

/// Commands of a tile list at most.
const MAX_COMMANDS: u32 = 1 << 20;

/// A tile: its row and column, and which of the job's references of polygon lists are its own.
pub(crate) type ListedTile = ((u32, u32), Range<usize>);

/// The tiles of a job and the polygon lists of each.
#[derive(Debug, Default)]
pub(crate) struct Tiles {
    /// The tiles in the order of rows, then columns, each once.
    pub tiles: Vec<ListedTile>,
    /// The references of tiles: numbers of polygon lists.
    pub bin_references: Vec<u32>,
    /// The polygon lists in the order of their first references: each one's address, and the number of its references.
    pub lists: Vec<(u32, u32)>,
}

/// Tiles as they are read.
#[derive(Debug, Default)]
struct Reading {
    tiles: Vec<ListedTile>,
    /// The references of tiles: addresses of polygon lists.
    bin_references: Vec<u32>,
}

/// Tiles that lists must have to be kept, and those of all lists that are kept at most.
const KEPT: Range<usize> = 64..1 << 18;

/// Lists of tiles that earlier jobs have read: drivers write them once for many frames.
#[derive(Debug, Default)]
pub(crate) struct TileListCache(Mutex<Vec<Arc<Read>>>);

/// Lists that were read.
#[derive(Debug)]
struct Read {
    /// What each was.
    lists: Vec<Seen>,
    tiles: Arc<Tiles>,
}

impl TileListCache {
    /// Every PP's list of tiles, read as [`Tiles::read`] does it unless all of them are as they were, which all threads see
    /// together where they are long.
    ///
    /// # Errors
    /// As [`Tiles::read`].
    pub(crate) fn read(
        &self,
        memory: &Memory,
        starts: &[u32],
        pool: Option<&ThreadPool>,
        notes: &mut Notes,
    ) -> Result<Arc<Tiles>> {
        let known = lock(&self.0).iter().find(|read| read.is_of(starts)).cloned();
        let is_same = |read: &Arc<Read>| read.lists.iter().all(|list| list.is_still(memory, pool));
        if let Some(read) = known.filter(is_same) {
            return Ok(read.tiles.clone());
        }
        let (tiles, lengths) = Tiles::read(memory, starts, notes)?;
        let tiles = Arc::new(tiles);
        if let Some(lengths) = lengths.filter(|_| KEPT.contains(&tiles.tiles.len())) {
            let lists = starts.iter().zip(lengths).map(|(start, length)| {
                let bytes = memory.bytes(*start, length)?;
                Ok(Seen::new(memory, *start, bytes.into_owned()))
            });
            // Lists that go on from one object into another are read each time.
            if let Ok(lists) = lists.collect::<Result<_>>() {
                let tiles = tiles.clone();
                self.keep(Read { lists, tiles });
            }
        }
        Ok(tiles)
    }

    /// Keeps what was read in the place of what was there before; with too much of it all others go.
    fn keep(&self, new: Read) {
        let mut kept = lock(&self.0);
        let starts: Vec<u32> = new.lists.iter().map(Seen::address).collect();
        kept.retain(|read| !read.is_of(&starts));
        let of_all: usize = kept.iter().map(|read| read.tiles.tiles.len()).sum();
        if of_all + new.tiles.tiles.len() > KEPT.end {
            kept.clear();
        }
        kept.push(Arc::new(new));
    }
}

impl Read {
    /// Whether these lists begin there.
    fn is_of(&self, starts: &[u32]) -> bool {
        self.lists.iter().map(Seen::address).eq(starts.iter().copied())
    }
}

impl Tiles {
    /// Reads every PP's list of tiles; with the bytes of each, where nothing in them is unknown.
    ///
    /// # Errors
    /// A list that is not there, does not end, or runs polygons before any tile; too many tiles.
    fn read(memory: &Memory, starts: &[u32], notes: &mut Notes) -> Result<(Self, Option<Vec<u32>>)> {
        let mut all = Reading::default();
        let mut lengths = Some(Vec::new());
        for start in starts {
            let length = all.read_list(memory, *start, notes)?;
            lengths = lengths.zip(length).map(|(mut lengths, length)| {
                lengths.push(length);
                lengths
            });
        }
        let all = all.in_order();
        match all.tiles.len() {
            0..=MAX_TILES => Ok((Self::numbered(all), lengths)),
            _ => Err(Fault::new(FaultKind::Limit, "too many tiles")),
        }
    }

    /// Gives each polygon list that is mentioned a number, in the order of their first references.
    fn numbered(
        Reading {
            tiles,
            mut bin_references,
        }: Reading,
    ) -> Self {
        // Tiles that follow each other are of one block more often than not.
        let mut numbers: Vec<_> = bin_references
            .chunk_by(|a, b| a == b)
            .map(|same| (same[0], None))
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut lists = Vec::with_capacity(numbers.len());
        for same in bin_references.chunk_by_mut(|a, b| a == b) {
            let at = numbers.partition_point(|(address, _)| *address < same[0]);
            let number = *numbers[at].1.get_or_insert_with(|| {
                lists.push((same[0], 0));
                lists.len() - 1
            });
            lists[number].1 += same.len() as u32;
            same.fill(number as u32);
        }
        Self {
            tiles,
            bin_references,
            lists,
        }
    }
}

impl Reading {
    /// Reads one list, its tiles as they come; its bytes, unless there are unknown commands.
    fn read_list(&mut self, memory: &Memory, start: u32, notes: &mut Notes) -> Result<Option<u32>> {
        let mut commands = Commands::new(memory, start);
        let first = self.tiles.len();
        let mut is_known = true;
        for _ in 0..MAX_COMMANDS {
            let at = commands.at;
            match TileCommand::decode(commands.step()?) {
                TileCommand::EndOfTiles(_) => return Ok(is_known.then(|| commands.at.wrapping_sub(start))),
                TileCommand::BeginTile(begin) => {
                    let end = self.bin_references.len();
                    self.tiles.push(((begin.row.into(), begin.column.into()), end..end));
                }
                TileCommand::RunBlock(run) => match self.tiles[first..].last_mut() {
                    Some((_, bin_references)) => {
                        self.bin_references.push(run.block.0);
                        bin_references.end = self.bin_references.len();
                    }
                    None => return Err(Fault::new(FaultKind::Command, "a polygon list before any tile").at(at)),
                },
                TileCommand::Undocumented([low, high]) => {
                    is_known = false;
                    notes.add(format!("tile list command {high:#010x} {low:#010x} is unknown"));
                }
            }
        }
        Err(Fault::new(FaultKind::Budget, "a list of tiles does not end").at(start))
    }

    /// The tiles in their order, those that came several times put together.
    fn in_order(mut self) -> Self {
        // Drivers of one PP write them like that.
        if self.tiles.is_sorted_by(|(a, _), (b, _)| a < b) {
            return self;
        }
        let mut all = Self::default();
        self.tiles.sort_by_key(|(tile, _)| *tile);
        for of_tile in self.tiles.chunk_by(|(a, _), (b, _)| a == b) {
            let start = all.bin_references.len();
            for (_, bin_references) in of_tile {
                all.bin_references
                    .extend_from_slice(&self.bin_references[bin_references.clone()]);
            }
            all.tiles.push((of_tile[0].0, start..all.bin_references.len()));
        }
        all
    }
}

/// Commands of a list one after the other.
struct Commands<'a> {
    memory: &'a Memory,
    /// Address of the next one.
    at: u32,
    /// Bytes from there on, as far as they were looked up together.
    near: Cow<'a, [u8]>,
    /// How many of them were read.
    read: usize,
}

impl<'a> Commands<'a> {
    fn new(memory: &'a Memory, at: u32) -> Self {
        Self {
            memory,
            at,
            near: Cow::Borrowed(&[]),
            read: 0,
        }
    }

    /// The next command's two words.
    #[inline]
    fn step(&mut self) -> Result<[u32; 2]> {
        let near = self.near.get(self.read..).and_then(|near| near.first_chunk());
        let words = match near {
            Some([a, b, c, d, e, f, g, h]) => [
                u32::from_le_bytes([*a, *b, *c, *d]),
                u32::from_le_bytes([*e, *f, *g, *h]),
            ],
            None => self.far()?,
        };
        (self.at, self.read) = (self.at.wrapping_add(8), self.read + 8);
        Ok(words)
    }

    /// The same where no more bytes were looked up: looks up some more.
    #[cold]
    fn far(&mut self) -> Result<[u32; 2]> {
        let words = self.memory.pair(self.at)?;
        (self.near, self.read) = (self.memory.bytes_up_to(self.at, PAGE), 0);
        Ok(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use utgard::field::Aligned;
    use utgard::stream::{BeginTile, EndOfTiles, RunBlock};

    /// A list's bytes: tiles, each with its polygon lists.
    fn bytes(tiles: &[((u8, u8), &[u32])]) -> Vec<u8> {
        let mut list: Vec<TileCommand> = Vec::new();
        for ((row, column), lists) in tiles {
            let (row, column) = (*row, *column);
            list.push(BeginTile { column, row }.into());
            list.extend(
                lists
                    .iter()
                    .map(|list| TileCommand::from(RunBlock { block: Aligned(*list) })),
            );
        }
        list.push(EndOfTiles {}.into());
        let words = list.into_iter().flat_map(TileCommand::encode);
        words.flat_map(u32::to_le_bytes).collect()
    }

    /// Addresses of all lists that tiles mention.
    fn referenced(tiles: &Tiles) -> Vec<u32> {
        let lists = tiles.bin_references.iter().map(|number| tiles.lists[*number as usize]);
        lists.map(|(address, _)| address).collect()
    }

    /// Lists of several processors, in any order, come to tiles in theirs.
    #[test]
    fn tiles_come_in_order() {
        let mut memory = Memory::default();
        memory.map(0x1000, 0x1000).unwrap();
        memory
            .write(0x1000, &bytes(&[((0, 0), &[32]), ((2, 1), &[64]), ((0, 3), &[])]))
            .unwrap();
        memory
            .write(0x1800, &bytes(&[((0, 1), &[96, 128]), ((2, 1), &[160])]))
            .unwrap();
        let (tiles, lengths) = Tiles::read(&memory, &[0x1000, 0x1800], &mut Notes::default()).unwrap();
        assert_eq!(lengths, Some(vec![48, 48]));
        assert_eq!(
            tiles.tiles,
            [((0, 0), 0..1), ((0, 1), 1..3), ((0, 3), 3..3), ((2, 1), 3..5)]
        );
        assert_eq!(referenced(&tiles), [32, 96, 128, 64, 160]);
        assert_eq!(tiles.lists, [32, 96, 128, 64, 160].map(|address| (address, 1)));
        let (tiles, _) = Tiles::read(&memory, &[0x1800], &mut Notes::default()).unwrap();
        assert_eq!((tiles.tiles.len(), &referenced(&tiles)[..]), (2, &[96, 128, 160][..]));
    }

    /// Lists go on from one object into the next, wherever the border is.
    #[test]
    fn lists_go_beyond_objects() {
        let tiles: Vec<((u8, u8), &[u32])> = (0..200).map(|column| ((7, column), &[0x20, 0x40][..])).collect();
        for start in [0x1000, 0x1004, 0x1008, 0x1ffc] {
            let mut memory = Memory::default();
            memory.map(0x1000, 0x1000).unwrap();
            memory.map(0x2000, 0x1000).unwrap();
            memory.map(0x3000, 0x1000).unwrap();
            let (list, border) = (bytes(&tiles), 0x2000 - start as usize);
            memory.write(start, &list[..border]).unwrap();
            memory
                .write(0x2000, &list[border..list.len().min(border + 0x1000)])
                .unwrap();
            memory.write(0x3000, &list[list.len().min(border + 0x1000)..]).unwrap();
            let (read, _) = Tiles::read(&memory, &[start], &mut Notes::default()).unwrap();
            assert_eq!((read.tiles.len(), read.bin_references.len()), (200, 400), "{start:#x}");
            assert!((0..).zip(&read.tiles).all(|(number, (tile, lists))| {
                *tile == (7, number as u32) && *lists == (2 * number..2 * number + 2)
            }));
            assert_eq!(referenced(&read)[..4], [0x20, 0x40, 0x20, 0x40]);
            assert_eq!(read.lists, [(0x20, 200), (0x40, 200)]);
        }
    }

    /// What was kept is found again while every list is as it was, and only then.
    #[test]
    fn lists_are_kept_while_they_are_the_same() {
        let tiles: Vec<((u8, u8), &[u32])> = (0..100).map(|column| ((7, column), &[0x20][..])).collect();
        let mut memory = Memory::default();
        memory.map(0x1000, 0x2000).unwrap();
        let (kept, mut notes) = (TileListCache::default(), Notes::default());
        memory.write(0x1000, &bytes(&tiles)).unwrap();
        memory.write(0x2000, &bytes(&[((9, 9), &[])])).unwrap();
        let mut read = |memory: &Memory| kept.read(memory, &[0x1000, 0x2000], None, &mut notes).unwrap();
        let first = read(&memory);
        assert_eq!(first.tiles.len(), 101);
        assert!(Arc::ptr_eq(&first, &read(&memory)));
        // The last command before the end of the second list.
        memory.write(0x2000, &bytes(&[((9, 8), &[])])).unwrap();
        let second = read(&memory);
        assert_eq!((second.tiles.len(), &second.tiles[100].0), (101, &(9, 8)));
        assert!(Arc::ptr_eq(&second, &read(&memory)));
        // Unknown commands are noted each time.
        memory.write(0x2000, &[0xff; 8]).unwrap();
        memory.write(0x2008, &bytes(&[((9, 8), &[])])).unwrap();
        for count in 1..3 {
            let mut notes = Notes::default();
            assert_eq!(
                kept.read(&memory, &[0x1000, 0x2000], None, &mut notes)
                    .unwrap()
                    .tiles
                    .len(),
                101
            );
            assert_eq!(notes.iter().count(), 1, "{count}");
        }
    }

    #[test]
    fn what_is_no_list() {
        let mut memory = Memory::default();
        memory.map(0x1000, 0x1000).unwrap();
        let mut kind = |bytes: &[u8]| {
            memory.write(0x1000, bytes).unwrap();
            let fault = Tiles::read(&memory, &[0x1000], &mut Notes::default()).err().unwrap();
            fault.kind
        };
        let before = TileCommand::from(RunBlock { block: Aligned(32) }).encode();
        assert_eq!(kind(&before.map(u32::to_le_bytes).concat()), FaultKind::Command);
        // It goes on past its object.
        assert_eq!(kind(&[0; 8]), FaultKind::Unmapped);
    }
}
