//! Units with their names resolved: every branch whose environment is known has slots instead of names.

use loader::sl::{Library, Location, Module, Name, Names, Statement, free_names, quote};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Names in order.
#[derive(Clone, Debug)]
pub(super) struct Shape(pub Rc<[Symbol]>);

impl Shape {
    /// The same names; shapes of one host that are the same are one.
    #[inline]
    pub(crate) fn same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }

    /// Whether the other has all of these names.
    pub(crate) fn is_part_of(&self, other: &Self) -> bool {
        self.0.iter().all(|name| other.0.binary_search(name).is_ok())
    }
}

/// A name, by number.
pub type Symbol = u32;

/// A slot of a branch's environment.
pub(super) type Slot = u16;

/// A step of a branch with slots.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A closure of a block, of these slots in the order of the block's shape.
    Closure {
        to: Slot,
        block: u32,
        names: Shape,
        slots: Box<[Slot]>,
    },
    /// A literal.
    Literal { to: Slot, bytes: Rc<[u8]> },
}

/// A branch that runs by slots: what is received first, then what is contained, then what is defined.
#[derive(Clone, Debug)]
pub(super) struct Fast {
    /// Slots there are.
    pub slots: usize,
    /// The statements.
    pub steps: Vec<Step>,
    /// Slot of what is invoked.
    pub target: Slot,
    /// What is passed, in the order of its shape.
    pub inputs: Box<[Slot]>,
    /// Names of what is passed.
    pub names: Shape,
}

/// A branch.
#[derive(Clone, Debug)]
pub(super) struct BranchCode {
    /// Its name.
    pub name: Symbol,
    /// What it receives; with a glob at least that.
    pub receiving: Shape,
    /// It takes whatever else comes.
    pub receives_rest: bool,
    /// How it runs by slots; `None` where globs leave the environment open, or the code breaks a rule: then it runs by
    /// names, and says which.
    pub fast: Option<Fast>,
    /// The branch's number in its block.
    pub number: usize,
    /// Branch the invocation names.
    pub invokes: Symbol,
}

/// A block.
#[derive(Clone, Debug)]
pub(super) struct BlockCode {
    /// Unit it is in, and its number there.
    pub place: (usize, usize),
    /// What closures of it hold; with a glob at least that.
    pub containing: Shape,
    /// They hold whatever else is closed over.
    pub contains_rest: bool,
    /// Its branches.
    pub branches: Vec<BranchCode>,
}

/// Units made ready to run.
pub struct Code<'l> {
    /// The library they are from.
    pub library: &'l Library<'l>,
    names: HashMap<Rc<[u8]>, Symbol>,
    texts: Vec<Rc<[u8]>>,
    shapes: HashMap<Rc<[Symbol]>, Shape>,
    pub(super) blocks: Vec<BlockCode>,
    /// First block of each unit.
    pub(super) first: Vec<u32>,
}

impl<'l> Code<'l> {
    /// Resolves the names of all units of a library.
    pub fn new(library: &'l Library<'l>) -> Self {
        let mut code = Self {
            library,
            names: HashMap::new(),
            texts: Vec::new(),
            shapes: HashMap::new(),
            blocks: Vec::new(),
            first: Vec::new(),
        };
        let mut first = 0;
        for module in &library.modules {
            code.first.push(first);
            first += module.blocks.len() as u32;
        }
        for (unit, module) in library.modules.iter().enumerate() {
            for number in 0..module.blocks.len() {
                let block = code.block(unit, module, number);
                code.blocks.push(block);
            }
        }
        code
    }

    /// Number of a name.
    pub fn symbol(&mut self, bytes: &[u8]) -> Symbol {
        if let Some(symbol) = self.names.get(bytes) {
            return *symbol;
        }
        let bytes: Rc<[u8]> = bytes.into();
        self.texts.push(bytes.clone());
        let symbol = self.texts.len() as Symbol - 1;
        self.names.insert(bytes, symbol);
        symbol
    }

    /// A name's bytes.
    pub fn text(&self, symbol: Symbol) -> &Rc<[u8]> {
        &self.texts[symbol as usize]
    }

    fn name(&mut self, name: &Name) -> Symbol {
        let library = self.library;
        self.symbol(library.bytes(name.content))
    }

    /// Names in order; the same names are the same shape.
    pub(super) fn shape(&mut self, mut names: Vec<Symbol>) -> Shape {
        names.sort_unstable();
        let names: Rc<[Symbol]> = names.into();
        self.shapes.entry(names.clone()).or_insert(Shape(names)).clone()
    }

    fn shape_of(&mut self, names: &Names) -> Shape {
        let symbols = names.names.iter().map(|name| self.name(name)).collect();
        self.shape(symbols)
    }

    fn block(&mut self, unit: usize, module: &Module, number: usize) -> BlockCode {
        let block = &module.blocks[number];
        let containing = self.shape_of(&block.containing);
        let mut branches = Vec::new();
        for (number, branch) in block.branches.iter().enumerate() {
            let (name, receiving) = (self.name(&branch.name), self.shape_of(&branch.receiving));
            let open = block.containing.glob.is_some() || branch.receiving.glob.is_some();
            let fast = if open {
                None
            } else {
                self.fast(unit, module, branch, &receiving, &containing)
            };
            let invokes = self.name(&branch.invocation.branch);
            let receives_rest = branch.receiving.glob.is_some();
            branches.push(BranchCode {
                name,
                receiving,
                receives_rest,
                fast,
                number,
                invokes,
            });
        }
        BlockCode {
            place: (unit, number),
            containing,
            contains_rest: block.containing.glob.is_some(),
            branches,
        }
    }

    /// A branch by slots: what it receives first, then what its block contains, then what it defines. `None` when a
    /// rule would be broken: the slow way then says which.
    fn fast(
        &mut self,
        unit: usize,
        module: &Module,
        branch: &loader::sl::Branch,
        receiving: &Shape,
        containing: &Shape,
    ) -> Option<Fast> {
        let mut environment: BTreeMap<Symbol, Slot> = BTreeMap::new();
        let mut next: Slot = 0;
        let mut add = |environment: &mut BTreeMap<Symbol, Slot>, name: Symbol| {
            let slot = next;
            next = next.checked_add(1)?;
            environment.insert(name, slot).is_none().then_some(slot)
        };
        for name in receiving.0.iter().chain(containing.0.iter()) {
            add(&mut environment, *name)?;
        }
        let mut steps = Vec::new();
        for (at, statement) in branch.statements.iter().enumerate() {
            match statement {
                Statement::Literal { dest, content, .. } => {
                    let to = add(&mut environment, self.name(dest))?;
                    steps.push(Step::Literal {
                        to,
                        bytes: self.library.bytes(*content).into(),
                    });
                }
                // Renaming only changes which name the slot has.
                Statement::Rename { dest, source } => {
                    let slot = environment.remove(&self.name(source))?;
                    environment.insert(self.name(dest), slot).is_none().then_some(())?;
                }
                Statement::Closure {
                    dest,
                    block,
                    close_over,
                } => {
                    let mut taken = BTreeMap::new();
                    for name in &close_over.names {
                        let name = self.name(name);
                        taken.insert(name, environment.remove(&name)?);
                    }
                    if close_over.glob.is_some() {
                        let library = self.library;
                        let mut kept: Vec<Symbol> = free_names(library, branch, at + 1)
                            .into_iter()
                            .map(|name| self.symbol(name))
                            .collect();
                        // An older value of the name that is defined here moves.
                        let dest = self.name(dest);
                        kept.retain(|name| *name != dest);
                        let rest: Vec<Symbol> = environment
                            .keys()
                            .copied()
                            .filter(|name| !kept.contains(name))
                            .collect();
                        taken.extend(rest.into_iter().filter_map(|name| environment.remove_entry(&name)));
                    }
                    let names = self.shape(taken.keys().copied().collect());
                    let wanted = &module.blocks[*block as usize].containing;
                    let block = self.first[unit] + block;
                    let fits = self.shape_of(wanted);
                    let matches = if wanted.glob.is_some() {
                        fits.is_part_of(&names)
                    } else {
                        fits.same(&names)
                    };
                    matches.then_some(())?;
                    let to = add(&mut environment, self.name(dest))?;
                    steps.push(Step::Closure {
                        to,
                        block,
                        names,
                        slots: taken.into_values().collect(),
                    });
                }
            }
        }
        let target = environment.remove(&self.name(&branch.invocation.target))?;
        let inputs = &branch.invocation.inputs;
        let listed = self.shape_of(inputs);
        let names = self.shape(environment.keys().copied().collect());
        let matches = if inputs.glob.is_some() {
            listed.is_part_of(&names)
        } else {
            listed.same(&names)
        };
        matches.then(|| Fast {
            slots: usize::from(next),
            steps,
            target,
            inputs: environment.into_values().collect(),
            names,
        })
    }

    /// `unit, block B, branch R` for messages.
    pub(super) fn place(&self, block: u32, branch: Option<usize>) -> String {
        let code = &self.blocks[block as usize];
        let module = &self.library.modules[code.place.0];
        let name = |name: &Name| quote(self.library.bytes(name.content));
        let block = &module.blocks[code.place.1];
        let branch = branch.and_then(|branch| block.branches.get(branch));
        let branch = branch.map_or(String::new(), |branch| format!(", branch {}", name(&branch.name)));
        format!("unit {}, block {}{branch}", name(&module.name), name(&block.name))
    }

    /// The source of a block's branch.
    pub(super) fn source(&self, block: u32, branch: usize) -> &'l loader::sl::Branch {
        let (unit, number) = self.blocks[block as usize].place;
        &self.library.modules[unit].blocks[number].branches[branch]
    }

    /// A location as text.
    pub(super) fn location(&self, location: &Location) -> String {
        self.library.place(location)
    }
}
