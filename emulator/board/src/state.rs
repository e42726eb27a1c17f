//! Register values, and the effects of reads and writes.

use crate::job::{Cancel, Job, Outcome, Share, is_in_vertex_stream};
use crate::layout::{Line, Model, Placed, Product, Row, Unit, keeps};
use crate::registers::{
    Access, Register, broadcast, dlbu, gp, gp_command, gp_interrupt, gp_status, mmu, mmu_command, mmu_interrupt,
    mmu_status, pmu, pmu_interrupt, pp, pp_control, pp_interrupt, pp_status,
};
use std::sync::Arc;
use utgard::frame::{GpFrame, PP_REGISTERS, WRITE_BACKS, WriteBackUnit, version};

/// An effect of a write besides the register's change.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Start a job.
    Start(Job),
    /// Cancel a unit's job.
    Cancel(Arc<Cancel>),
}

/// A unit and the words of its block.
struct UnitState {
    placed: &'static Placed,
    words: Vec<u32>,
    /// The running job, or one that stopped and waits for a reset.
    job: Option<Job>,
}

impl UnitState {
    fn word(&mut self, offset: u32) -> &mut u32 {
        &mut self.words[(offset / 4) as usize]
    }

    fn get(&self, offset: u32) -> u32 {
        self.words[(offset / 4) as usize]
    }

    fn reset(&mut self) {
        self.words.fill(0);
        for register in self.placed.unit.registers() {
            self.words[(register.offset / 4) as usize] = register.reset;
        }
    }
}

/// All registers.
pub(crate) struct State {
    model: Model,
    units: Vec<UnitState>,
    /// Power domains that are off.
    off: u32,
    /// Levels of the interrupt lines, a bit each.
    lines: u32,
}

/// The interrupt registers of a unit.
struct Interrupts {
    raw: u32,
    mask: u32,
}

fn interrupts(unit: Unit) -> Option<Interrupts> {
    let (raw, mask) = match unit {
        Unit::Gp => (gp::INT_RAWSTAT, gp::INT_MASK),
        Unit::Pp(_) => (pp::INT_RAWSTAT, pp::INT_MASK),
        Unit::GpMmu | Unit::PpMmu(_) => (mmu::INT_RAWSTAT, mmu::INT_MASK),
        Unit::Pmu => (pmu::INT_RAWSTAT, pmu::INT_MASK),
        _ => return None,
    };
    Some(Interrupts { raw, mask })
}

impl State {
    /// A GPU in its power-on state.
    pub(crate) fn new(model: Model) -> Self {
        let units = model.units().map(|placed| {
            let mut unit = UnitState {
                placed,
                words: vec![0; (placed.unit.size() / 4) as usize],
                job: None,
            };
            unit.reset();
            unit
        });
        Self {
            model,
            units: units.collect(),
            off: 0,
            lines: 0,
        }
    }

    fn place(&self, unit: Unit) -> Option<usize> {
        self.units.iter().position(|state| state.placed.unit == unit)
    }

    fn unit(&mut self, unit: Unit) -> Option<&mut UnitState> {
        self.units.iter_mut().find(|state| state.placed.unit == unit)
    }

    fn is_off(&self, unit: Unit) -> bool {
        self.off & self.model.domain(unit) != 0
    }

    /// Whether any unit has a running or stopped job.
    pub(crate) fn is_busy(&self) -> bool {
        self.units.iter().any(|unit| unit.job.is_some())
    }

    /// The value of a register; 0 if there is none.
    pub(crate) fn read(&self, offset: u32) -> u32 {
        let Some(placed) = self.model.unit_at(offset) else {
            return 0;
        };
        self.read_unit(placed.unit, offset - placed.offset)
    }

    fn read_unit(&self, unit: Unit, offset: u32) -> u32 {
        let unit = match unit {
            Unit::AllPps => match self.members(0).next() {
                Some(number) => Unit::Pp(number),
                None => return 0,
            },
            Unit::AllMmus => match self.members(16).next() {
                Some(number) => Unit::PpMmu(number),
                None => return 0,
            },
            unit => unit,
        };
        let (Some(at), Some(row), false) = (self.place(unit), unit.register(offset & !3), self.is_off(unit)) else {
            return 0;
        };
        let state = &self.units[at];
        let is_450 = self.model.product() == Product::Mali450;
        match (unit, row) {
            (
                _,
                Row::Register(Register {
                    access: Access::Command,
                    ..
                }),
            ) => 0,
            (Unit::Gp, _) if offset == gp::VERSION => [version::GP_400, version::GP_450][usize::from(is_450)],
            (Unit::Pp(_), _) if offset == pp::VERSION => [version::PP_400, version::PP_450][usize::from(is_450)],
            (Unit::Pmu, _) if offset == pmu::STATUS => self.off,
            (Unit::Gp, _) if offset == gp::INT_STAT => masked(state),
            (Unit::Pp(_), _) if offset == pp::INT_STATUS => masked(state),
            (Unit::GpMmu | Unit::PpMmu(_), _) if offset == mmu::INT_STATUS => masked(state),
            _ => state.get(offset & !3),
        }
    }

    /// Pixel processors in the broadcast mask, starting at a bit.
    fn members(&self, first: u32) -> impl Iterator<Item = u32> + use<> {
        let mask = self
            .place(Unit::Broadcast)
            .map_or(0, |at| self.units[at].get(broadcast::MASK) >> first);
        (0..self.model.pixel_processors()).filter(move |number| mask >> number & 1 != 0)
    }

    /// Writes a register; writes to unmapped offsets are ignored.
    pub(crate) fn write(&mut self, offset: u32, value: u32, effects: &mut Vec<Effect>) {
        let Some(placed) = self.model.unit_at(offset) else {
            return;
        };
        let within = (offset - placed.offset) & !3;
        match placed.unit {
            Unit::AllPps => self
                .members(0)
                .for_each(|number| self.write_unit(Unit::Pp(number), within, value, effects)),
            Unit::AllMmus => self
                .members(16)
                .for_each(|number| self.write_unit(Unit::PpMmu(number), within, value, effects)),
            unit => self.write_unit(unit, within, value, effects),
        }
    }

    fn write_unit(&mut self, unit: Unit, offset: u32, value: u32, effects: &mut Vec<Effect>) {
        let (Some(row), false) = (unit.register(offset), self.is_off(unit)) else {
            return;
        };
        let Some(state) = self.unit(unit) else { return };
        match row {
            Row::Register(register) if keeps(register) => *state.word(offset) = value & register.mask,
            Row::Register(register) if register.access == Access::Command => {
                self.command(unit, offset, value, effects);
            }
            Row::Register(_) => {}
            Row::Frame(_) | Row::WriteBack(_) | Row::Unnamed => *state.word(offset) = value,
        }
    }

    fn command(&mut self, unit: Unit, offset: u32, value: u32, effects: &mut Vec<Effect>) {
        match (unit, offset) {
            (Unit::Gp, gp::INT_CLEAR) => self.clear(unit, value),
            (Unit::Pp(_), pp::INT_CLEAR) => self.clear(unit, value),
            (Unit::GpMmu | Unit::PpMmu(_), mmu::INT_CLEAR) => self.clear(unit, value),
            (Unit::Pmu, pmu::INT_CLEAR) => self.clear(unit, value),
            (Unit::Gp, gp::COMMAND) => self.gp_command(value, effects),
            (Unit::Pp(number), pp::CONTROL) => self.pp_command(number, value, effects),
            (Unit::GpMmu | Unit::PpMmu(_), mmu::COMMAND) => self.mmu_command(unit, value, effects),
            (Unit::Pmu, pmu::POWER_UP) => self.power(value, false, effects),
            (Unit::Pmu, pmu::POWER_DOWN) => self.power(value, true, effects),
            // Commands of the caches have no effect.
            _ => {}
        }
    }

    fn raise(&mut self, unit: Unit, bits: u32) {
        if let (Some(interrupts), Some(state)) = (interrupts(unit), self.unit(unit)) {
            *state.word(interrupts.raw) |= bits;
        }
    }

    fn clear(&mut self, unit: Unit, bits: u32) {
        if let (Some(interrupts), Some(state)) = (interrupts(unit), self.unit(unit)) {
            *state.word(interrupts.raw) &= !bits;
        }
    }

    /// Ends a unit's job, if any.
    fn cancel(&mut self, unit: Unit, effects: &mut Vec<Effect>) {
        if let Some(job) = self.unit(unit).and_then(|state| state.job.take()) {
            effects.push(Effect::Cancel(job.cancel));
        }
    }

    /// A hard reset: clears all registers.
    fn reset(&mut self, unit: Unit, effects: &mut Vec<Effect>) {
        self.cancel(unit, effects);
        if let Some(state) = self.unit(unit) {
            state.reset();
        }
    }

    /// A soft reset: ends the job, keeps the registers, and raises an interrupt.
    fn soft_reset(&mut self, unit: Unit, status: u32, completed: u32, effects: &mut Vec<Effect>) {
        self.cancel(unit, effects);
        if let (Some(interrupts), Some(state)) = (interrupts(unit), self.unit(unit)) {
            *state.word(interrupts.raw) = completed;
            *state.word(status) = 0;
        }
    }

    fn gp_command(&mut self, value: u32, effects: &mut Vec<Effect>) {
        let unit = Unit::Gp;
        if value & gp_command::RESET != 0 {
            return self.reset(unit, effects);
        }
        if value & gp_command::SOFT_RESET != 0 {
            return self.soft_reset(unit, gp::STATUS, gp_interrupt::RESET_COMPLETED, effects);
        }
        if value & gp_command::STOP_BUS != 0 {
            self.raise(unit, gp_interrupt::BUS_STOPPED);
            self.set_status(unit, gp::STATUS, gp_status::BUS_STOPPED, 0);
        }
        if value & gp_command::FORCE_HANG != 0 {
            self.raise(unit, gp_interrupt::FORCE_HANG);
        }
        let (vs, plbu) = (value & gp_command::START_VS != 0, value & gp_command::START_PLBU != 0);
        let directory = self.directory(Unit::GpMmu);
        let Some(state) = self.unit(unit) else { return };
        // A running processor, or one with a stopped bus, starts nothing.
        if !(vs || plbu) || state.job.is_some() || state.get(gp::STATUS) & gp_status::BUS_STOPPED != 0 {
            return;
        }
        let mut frame: Vec<u32> = state.words[..GpFrame::WORDS].to_vec();
        if !vs {
            frame[1] = frame[0];
        }
        if !plbu {
            frame[3] = frame[2];
        }
        let active = if vs { gp_status::VS_ACTIVE } else { 0 } | if plbu { gp_status::PLBU_ACTIVE } else { 0 };
        *state.word(gp::STATUS) |= active;
        *state.word(gp::VS_POSITION) = frame[0];
        *state.word(gp::PLBU_POSITION) = frame[2];
        let job = Job {
            unit,
            frame,
            directory,
            share: None,
            cancel: Arc::default(),
        };
        state.job = Some(job.clone());
        effects.push(Effect::Start(job));
    }

    fn pp_command(&mut self, number: u32, value: u32, effects: &mut Vec<Effect>) {
        let unit = Unit::Pp(number);
        if value & pp_control::RESET != 0 {
            return self.reset(unit, effects);
        }
        if value & pp_control::SOFT_RESET != 0 {
            return self.soft_reset(unit, pp::STATUS, pp_interrupt::RESET_COMPLETED, effects);
        }
        if value & pp_control::STOP_BUS != 0 {
            self.raise(unit, pp_interrupt::BUS_STOPPED);
            self.set_status(unit, pp::STATUS, pp_status::BUS_STOPPED, 0);
        }
        if value & pp_control::START == 0 {
            return;
        }
        let directory = self.directory(Unit::PpMmu(number));
        let share = self.share(number);
        let Some(state) = self.unit(unit) else { return };
        if state.job.is_some() || state.get(pp::STATUS) & pp_status::BUS_STOPPED != 0 {
            return;
        }
        let mut frame = state.words[..PP_REGISTERS].to_vec();
        for unit in 1..=WRITE_BACKS {
            frame.extend_from_slice(&state.words[0x40 * unit..][..WriteBackUnit::WORDS]);
        }
        *state.word(pp::STATUS) |= pp_status::ACTIVE;
        *state.word(pp::LIST_POSITION) = frame[0];
        let share = share.filter(|share| share.address == frame[0]);
        let job = Job {
            unit,
            frame,
            directory,
            share,
            cancel: Arc::default(),
        };
        state.job = Some(job.clone());
        effects.push(Effect::Start(job));
    }

    /// A pixel processor's share of the load-balancing unit's tiles, if that is enabled.
    fn share(&self, number: u32) -> Option<Share> {
        let state = &self.units[self.place(Unit::Dlbu)?];
        let enabled = state.get(dlbu::ENABLE);
        if enabled >> number & 1 == 0 || state.get(dlbu::PAGE) & 1 == 0 {
            return None;
        }
        Some(Share {
            address: state.get(dlbu::LIST_ADDRESS),
            registers: [dlbu::BLOCKS, dlbu::SIZE, dlbu::BLOCK, dlbu::START].map(|offset| state.get(offset)),
            number: (enabled & ((1 << number) - 1)).count_ones(),
            of: enabled.count_ones(),
        })
    }

    fn directory(&mut self, unit: Unit) -> Option<u32> {
        let state = self.unit(unit)?;
        (state.get(mmu::STATUS) & mmu_status::PAGING != 0).then(|| state.get(mmu::DIRECTORY))
    }

    fn set_status(&mut self, unit: Unit, register: u32, set: u32, clear: u32) {
        if let Some(state) = self.unit(unit) {
            let word = state.word(register);
            *word = *word & !clear | set;
        }
    }

    fn mmu_command(&mut self, unit: Unit, value: u32, effects: &mut Vec<Effect>) {
        let set = |state: &mut Self, set, clear| state.set_status(unit, mmu::STATUS, set, clear);
        match value {
            mmu_command::ENABLE_PAGING => set(self, mmu_status::PAGING, 0),
            mmu_command::DISABLE_PAGING => set(self, 0, mmu_status::PAGING),
            mmu_command::ENABLE_STALL => set(self, mmu_status::STALL, 0),
            mmu_command::DISABLE_STALL => set(self, 0, mmu_status::STALL),
            mmu_command::PAGE_FAULT_DONE => {
                let faulted = self
                    .unit(unit)
                    .is_some_and(|state| state.get(mmu::STATUS) & mmu_status::PAGE_FAULT != 0);
                set(self, 0, mmu_status::PAGE_FAULT | mmu_status::FAULT_IS_WRITE);
                // The access is retried; a job's writes depend only on its reads, so the whole job is run again.
                let processor = match unit {
                    Unit::PpMmu(number) => Unit::Pp(number),
                    _ => Unit::Gp,
                };
                let directory = self.directory(unit);
                if let (true, Some(job)) = (faulted, self.unit(processor).and_then(|state| state.job.as_mut())) {
                    job.directory = directory;
                    effects.push(Effect::Start(job.clone()));
                }
            }
            mmu_command::RESET => {
                if let Some(state) = self.unit(unit) {
                    state.reset();
                }
            }
            // Translations are read from the tables for every job, so there is no TLB to invalidate.
            _ => {}
        }
    }

    fn power(&mut self, domains: u32, off: bool, effects: &mut Vec<Effect>) {
        let all = self.model.domains();
        let before = self.off;
        self.off = if off {
            self.off | domains & all
        } else {
            self.off & !domains
        };
        let changed = before ^ self.off;
        let units: Vec<Unit> = self.model.units().map(|placed| placed.unit).collect();
        for unit in units {
            if self.model.domain(unit) & changed != 0 {
                self.reset(unit, effects);
            }
        }
        // A Mali-400 with all domains off cannot raise the interrupt.
        if !(off && self.model.product() == Product::Mali400 && self.off == all) {
            self.raise(Unit::Pmu, pmu_interrupt::COMMAND_DONE);
        }
    }

    /// Restores the power-on state.
    pub(crate) fn reset_all(&mut self, effects: &mut Vec<Effect>) {
        self.off = 0;
        let units: Vec<Unit> = self.model.units().map(|placed| placed.unit).collect();
        units.into_iter().for_each(|unit| self.reset(unit, effects));
    }

    /// Applies a job's outcome; no effect if it was cancelled.
    pub(crate) fn finish(&mut self, job: &Job, outcome: &Outcome) {
        let unit = job.unit;
        let Some(state) = self.unit(unit) else { return };
        let is_current = state
            .job
            .as_ref()
            .is_some_and(|have| Arc::ptr_eq(&have.cancel, &job.cancel));
        if !is_current {
            return;
        }
        let mmu = match unit {
            Unit::Pp(number) => Unit::PpMmu(number),
            _ => Unit::GpMmu,
        };
        match (outcome, unit) {
            (Outcome::Done, Unit::Gp) => {
                let frame = &job.frame;
                let (vs, plbu) = (frame[0] != frame[1], frame[2] != frame[3]);
                state.job = None;
                let active = gp_status::VS_ACTIVE | gp_status::PLBU_ACTIVE;
                *state.word(gp::STATUS) &= !active;
                *state.word(gp::VS_POSITION) = frame[1];
                *state.word(gp::PLBU_POSITION) = frame[3];
                let bits = if vs { gp_interrupt::VS_END } else { 0 } | if plbu { gp_interrupt::PLBU_END } else { 0 };
                self.raise(unit, bits);
            }
            (Outcome::Done, _) => {
                state.job = None;
                *state.word(pp::STATUS) &= !pp_status::ACTIVE;
                self.raise(unit, pp_interrupt::END_OF_FRAME);
            }
            // The processor waits until the MMU fault is handled or reset.
            (Outcome::PageFault { address, is_write }, _) => {
                let status = mmu_status::PAGE_FAULT | if *is_write { mmu_status::FAULT_IS_WRITE } else { 0 };
                self.set_status(mmu, mmu::STATUS, status, mmu_status::FAULT_IS_WRITE);
                if let Some(state) = self.unit(mmu) {
                    *state.word(mmu::FAULT_ADDRESS) = *address;
                }
                self.raise(mmu, mmu_interrupt::PAGE_FAULT);
            }
            (Outcome::BusError(_), _) => self.raise(mmu, mmu_interrupt::READ_BUS_ERROR),
            (Outcome::Invalid { address, .. }, Unit::Gp) => {
                let is_vertex = is_in_vertex_stream(&job.frame, *address);
                let bits = [gp_interrupt::PLBU_INVALID, gp_interrupt::VS_INVALID];
                self.raise(unit, bits[usize::from(is_vertex)]);
            }
            (Outcome::Invalid { .. }, _) => self.raise(unit, pp_interrupt::INVALID_COMMAND),
            // Stays so until it is reset.
            (Outcome::Hang(_) | Outcome::Cancelled, _) => {}
        }
    }

    /// Lines whose level changed since the last call, with their current level.
    pub(crate) fn changed_lines(&mut self) -> Vec<(Line, bool)> {
        let common = self
            .place(Unit::Broadcast)
            .map_or(0, |at| self.units[at].get(broadcast::INTERRUPT_MASK));
        let mut levels = Vec::new();
        let mut all = false;
        for state in &self.units {
            let raised = masked(state) != 0;
            match state.placed.unit {
                Unit::Gp => levels.push((Line::Gp, raised)),
                Unit::GpMmu => levels.push((Line::GpMmu, raised)),
                Unit::Pmu => levels.push((Line::Pmu, raised)),
                Unit::PpMmu(number) => levels.push((Line::PpMmu(number), raised)),
                Unit::Pp(number) => {
                    let is_common = common >> number & 1 != 0;
                    all |= is_common && raised;
                    levels.push((Line::Pp(number), raised && !is_common));
                }
                _ => {}
            }
        }
        levels.push((Line::AllPps, all));
        levels.retain(|(line, level)| (self.lines >> line.number() & 1 != 0) != *level);
        for (line, _) in &levels {
            self.lines ^= 1 << line.number();
        }
        levels
    }
}

/// Pending interrupts after the mask.
fn masked(state: &UnitState) -> u32 {
    interrupts(state.placed.unit).map_or(0, |at| state.get(at.raw) & state.get(at.mask))
}
