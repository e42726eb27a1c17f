//! Swanson SL: random libraries are reproduced, random damage yields errors with offsets.
//!
//! `SL_RANDOM=100000` sets the number of each; the default is smaller.

use loader::sl::{
    self, Block, Branch, Builder, Invocation, Library, Location, Module, Name, Names, PrintOptions, Statement,
};

/// Generates libraries of random shape.
struct Maker(fastrand::Rng);

impl Maker {
    fn bytes(&mut self) -> Vec<u8> {
        (0..self.0.u64(..5)).map(|_| self.0.u8(..)).collect()
    }

    fn number(&mut self) -> u64 {
        let bits = self.0.u64(..57);
        self.0.u64(..(1 << bits).max(1))
    }

    fn location(&mut self, constants: u64) -> Location {
        Location {
            file: self.0.u64(..constants) as u32,
            start: [self.number(), self.number()],
            end: [self.number(), self.number()],
        }
    }

    fn name(&mut self, constants: u64) -> Name {
        Name {
            content: self.0.u64(..constants) as u32,
            location: self.location(constants),
        }
    }

    fn names(&mut self, constants: u64) -> Names {
        Names {
            names: (0..self.0.u64(..3)).map(|_| self.name(constants)).collect(),
            glob: self.0.bool().then(|| self.location(constants)),
        }
    }

    fn branch(&mut self, constants: u64, blocks: u64, version: u32) -> Branch {
        let statement = |random: &mut Self| match random.0.u64(..3) {
            0 => Statement::Closure {
                dest: random.name(constants),
                block: random.0.u64(..blocks) as u32,
                close_over: random.names(constants),
            },
            1 => Statement::Literal {
                dest: random.name(constants),
                content: random.0.u64(..constants) as u32,
                location: (version == 4).then(|| random.location(constants)),
            },
            _ => Statement::Rename {
                dest: random.name(constants),
                source: random.name(constants),
            },
        };
        Branch {
            name: self.name(constants),
            receiving: self.names(constants),
            statements: (0..self.0.u64(..4)).map(|_| statement(self)).collect(),
            invocation: Invocation {
                target: self.name(constants),
                branch: self.name(constants),
                inputs: self.names(constants),
            },
        }
    }

    /// A library of random shape; constants may repeat, names may clash: the format allows both.
    fn library(&mut self) -> Library<'static> {
        let version = 3 + self.0.u64(..2) as u32;
        let mut library = Builder::new(version).finish();
        let constants = 1 + self.0.u64(..6);
        library.constants.extend((0..constants).map(|_| self.bytes().into()));
        for _ in 0..self.0.u64(..3) {
            let (name, blocks) = (self.name(constants), 1 + self.0.u64(..3));
            let mut module = Module {
                name,
                blocks: Vec::new(),
            };
            for _ in 0..blocks {
                let (name, containing) = (self.name(constants), self.names(constants));
                let branches = (0..self.0.u64(..3))
                    .map(|_| self.branch(constants, blocks, version))
                    .collect();
                module.blocks.push(Block {
                    name,
                    containing,
                    branches,
                });
            }
            library.modules.push(module);
        }
        library
    }
}

fn count() -> u64 {
    std::env::var("SL_RANDOM")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(5_000)
}

#[test]
fn random_libraries_come_back() {
    let mut random = Maker(fastrand::Rng::with_seed(0x5eed));
    for _ in 0..count() {
        let library = random.library();
        let bytes = sl::write(&library).expect("writes");
        let read = sl::read(&bytes).expect("reads");
        assert_eq!(read, library);
        assert_eq!(sl::write(&read).expect("writes"), bytes);
        let text = sl::print_with(&library, &PrintOptions { locations: true }).unwrap();
        let parsed = sl::parse_in(&text, "x.s0").unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(parsed, library, "{text}");
    }
    println!("{} random libraries came back", count());
}

#[test]
fn random_damage_is_an_error_with_an_offset() {
    let mut random = Maker(fastrand::Rng::with_seed(0xbad));
    let (mut refused, mut bytes) = (0, Vec::new());
    for round in 0..count() {
        if round % 16 == 0 || bytes.is_empty() {
            bytes = sl::write(&random.library()).expect("writes");
        }
        let mut damaged = bytes.clone();
        for _ in 0..=random.0.u64(..3) {
            let at = random.0.usize(..damaged.len());
            damaged[at] = random.0.u8(..);
        }
        match sl::read(&damaged) {
            Err(error) => {
                refused += 1;
                assert!(error.offset().is_some(), "{error}");
            }
            Ok(library) => {
                sl::write(&library).expect("what reads can be written");
            }
        }
        sl::check(&damaged);
    }
    assert!(refused > 0);
    println!("{refused} of {} damaged files refused", count());
}
