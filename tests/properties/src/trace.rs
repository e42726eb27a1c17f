//! Recorded jobs.

use loader::trace::{Pipe, Record, Trace};

/// Reading: a read recording is written and read as the same one.
pub fn read(bytes: &[u8]) {
    let Ok(trace) = Trace::read(bytes) else { return };
    let written = trace.write();
    assert_eq!(written.len(), bytes.len(), "another length is written");
    let again = Trace::read(&written).expect("what was written can be read");
    assert!(again == trace, "another recording comes back");
}

/// A recording with every kind of record.
pub fn seeds() -> Vec<Vec<u8>> {
    let records = [
        Record::Buffer {
            address: 0x1000,
            size: 4096,
            flags: 0,
        },
        Record::Page {
            address: 0x1000,
            bytes: &[1, 2, 3, 4],
        },
        Record::Submit {
            pipe: Pipe::Gp,
            frame: vec![0x1000; 6],
            objects: vec![(0x1000, 3)],
        },
        Record::Free { address: 0x1000 },
    ];
    let trace = Trace {
        gpu: 1,
        pps: 1,
        records: records.map(|record| (0, record)).into(),
    };
    vec![trace.write()]
}
