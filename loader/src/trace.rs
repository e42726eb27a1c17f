//! Recorded jobs of a Mali-400 driver: buffer objects, what the CPU wrote into them, and the jobs it submitted, in order.
//!
//! All numbers are little-endian words. A file is `LIMATRC1`, the GPU (1 for a Mali-400), the number of pixel
//! processors, then records. The low byte of a record's first word is its type: `B` a buffer object, `F` its end, `P`
//! bytes that the CPU wrote, `S` a job. Frames have the layout of a Mali-400; recorders of a Mali-450 convert to it.

use crate::cursor::Cursor;
use crate::{Error, Result};

/// First bytes of a file.
pub const MAGIC: &[u8; 8] = b"LIMATRC1";

/// Name of the format in errors.
pub const FORMAT: &str = "trace";

/// Which queue a job is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipe {
    /// Geometry.
    Gp,
    /// Pixels.
    Pp,
}

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// A buffer object of `size` zero bytes at GPU address `address`; bit 0 of `flags`: a heap that grows.
    Buffer {
        /// GPU address.
        address: u32,
        /// Bytes.
        size: u32,
        /// Flags.
        flags: u32,
    },
    /// Frees the buffer object at an address.
    Free {
        /// GPU address.
        address: u32,
    },
    /// The CPU wrote bytes.
    Page {
        /// GPU address.
        address: u32,
        /// The bytes.
        bytes: &'a [u8],
    },
    /// A job.
    Submit {
        /// Which queue.
        pipe: Pipe,
        /// The job's frame registers in the layout of the kernel interface.
        frame: Vec<u32>,
        /// Buffer objects of the job: address, and access (1 read, 2 write).
        objects: Vec<(u32, u32)>,
    },
}

/// A recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace<'a> {
    /// 1 for a Mali-400, 2 for a Mali-450.
    pub gpu: u32,
    /// Pixel processors.
    pub pps: u32,
    /// The records with their byte offsets.
    pub records: Vec<(u64, Record<'a>)>,
}

impl<'a> Trace<'a> {
    /// Reads a recording; its pages are borrowed.
    ///
    /// # Errors
    /// If the bytes are not a recording.
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(FORMAT, bytes);
        if cursor.array::<8>("magic")? != *MAGIC {
            return Err(Error::invalid(FORMAT, "does not begin with LIMATRC1", 0));
        }
        let (gpu, pps) = (cursor.u32("GPU")?, cursor.u32("number of pixel processors")?);
        let mut records = Vec::new();
        while !cursor.is_empty() {
            let offset = cursor.offset();
            let place = format!("record {}", records.len());
            records.push((offset, record(&mut cursor).map_err(|error| error.within(place))?));
        }
        Ok(Self { gpu, pps, records })
    }

    /// The recording as bytes.
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        put(&[self.gpu, self.pps], &mut bytes);
        for (_, record) in &self.records {
            record.write(&mut bytes);
        }
        bytes
    }
}

fn put(words: &[u32], bytes: &mut Vec<u8>) {
    words
        .iter()
        .for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
}

impl Record<'_> {
    /// Appends the record to `bytes`.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Record::Buffer { address, size, flags } => put(&[u32::from(b'B'), *address, *size, *flags], bytes),
            Record::Free { address } => put(&[u32::from(b'F'), *address], bytes),
            Record::Page { address, bytes: page } => {
                put(&[u32::from(b'P'), *address, page.len() as u32], bytes);
                bytes.extend_from_slice(page);
            }
            Record::Submit { pipe, frame, objects } => {
                let pipe = u32::from(*pipe == Pipe::Pp);
                put(&[u32::from(b'S'), pipe, 4 * frame.len() as u32], bytes);
                put(frame, bytes);
                put(&[objects.len() as u32], bytes);
                objects
                    .iter()
                    .for_each(|(address, access)| put(&[*address, *access], bytes));
            }
        }
    }
}

fn record<'a>(cursor: &mut Cursor<'a>) -> Result<Record<'a>> {
    let offset = cursor.offset();
    let tag = cursor.u32("tag")?;
    Ok(match tag.to_le_bytes()[0] {
        b'B' => Record::Buffer {
            address: cursor.u32("address")?,
            size: cursor.u32("size")?,
            flags: cursor.u32("flags")?,
        },
        b'F' => Record::Free {
            address: cursor.u32("address")?,
        },
        b'P' => {
            let (address, length) = (cursor.u32("address")?, cursor.u32("length")?);
            Record::Page {
                address,
                bytes: cursor.take(length as usize, "page")?,
            }
        }
        b'S' => submit(cursor)?,
        _ => {
            return Err(Error::invalid(
                FORMAT,
                format!("tag {tag:#x} where B, F, P or S is expected"),
                offset,
            ));
        }
    })
}

fn submit<'a>(cursor: &mut Cursor<'a>) -> Result<Record<'a>> {
    let offset = cursor.offset();
    let pipe = match cursor.u32("pipe")? {
        0 => Pipe::Gp,
        1 => Pipe::Pp,
        pipe => return Err(Error::invalid(FORMAT, format!("pipe {pipe}"), offset)),
    };
    let size = cursor.u32("frame size")? as usize;
    let words = |bytes: &[u8]| -> Vec<u32> {
        bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect()
    };
    if !size.is_multiple_of(4) {
        return Err(Error::invalid(FORMAT, format!("a frame of {size} bytes"), offset));
    }
    let frame = words(cursor.take(size, "frame")?);
    let count = cursor.u32("number of buffer objects")? as usize;
    let objects = words(cursor.records(count, 8, "buffer objects")?);
    let objects = objects.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    Ok(Record::Submit { pipe, frame, objects })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        let records = vec![
            (
                16,
                Record::Buffer {
                    address: 0x1000,
                    size: 0x2000,
                    flags: 1,
                },
            ),
            (
                32,
                Record::Page {
                    address: 0x1000,
                    bytes: b"abc",
                },
            ),
            (
                47,
                Record::Submit {
                    pipe: Pipe::Pp,
                    frame: vec![1, 2],
                    objects: vec![(0x1000, 3)],
                },
            ),
            (79, Record::Free { address: 0x1000 }),
        ];
        let trace = Trace {
            gpu: 1,
            pps: 2,
            records,
        };
        let bytes = trace.write();
        assert_eq!(Trace::read(&bytes), Ok(trace));
        for end in 0..bytes.len() {
            let whole = [16, 32, 47, 79].contains(&end);
            assert_eq!(Trace::read(&bytes[..end]).is_ok(), whole, "{end}");
        }
    }
}
