//! Vulkan: locations of stage interfaces; no two variables share a location.

use super::{Checked, Item};
use crate::spirv::{class, decoration as dec, model, op};
use std::collections::{HashMap, HashSet};

/// Locations after this one are not checked.
const MAX_SLOTS: u64 = 4096 * 4;

/// Limit on the nesting of types.
const MAX_DEPTH: u32 = 32;

/// The parameters of a variable's or member's decorations.
type Parameters = HashMap<(u32, Option<u32>, u32), u32>;

/// Locations and related decorations, by id and member.
pub(super) fn parameters(module: &Checked<'_>) -> Parameters {
    const KINDS: [u32; 4] = [dec::LOCATION, dec::COMPONENT, dec::INDEX, dec::STREAM];
    let located = module.given.iter().filter(|given| KINDS.contains(&given.kind));
    let value = |at: usize| module.items[at].words.last().copied().unwrap_or(0);
    located
        .map(|given| ((given.target, given.member, given.kind), value(given.at)))
        .collect()
}

/// Checks an entry point's interface.
pub(super) fn check(module: &mut Checked<'_>, entry: &Item<'_>, listed: &[u32], parameters: &Parameters) {
    const STAGES: [u32; 5] = [
        model::VERTEX,
        model::TESSELLATION_CONTROL,
        model::TESSELLATION_EVALUATION,
        model::GEOMETRY,
        model::FRAGMENT,
    ];
    if !STAGES.contains(&entry.word(1)) {
        return;
    }
    let (mut seen, mut taken) = (HashSet::new(), HashSet::new());
    for id in listed.iter().filter(|id| seen.insert(**id)) {
        let Some(item) = module.def(*id).filter(|item| item.opcode() == op::VARIABLE) else {
            continue;
        };
        let variable = Variable {
            module,
            parameters,
            item,
            model: entry.word(1),
        };
        if let Err(why) = variable.place(&mut taken) {
            module.fail("vulkan-location", &item, why);
        }
    }
}

/// A variable in an entry point's interface.
struct Variable<'m, 'a> {
    module: &'m Checked<'a>,
    parameters: &'m Parameters,
    item: Item<'a>,
    model: u32,
}

/// Used components: storage class, index or stream, and four per location.
type Taken = HashSet<(u32, u32, u64)>;

impl Variable<'_, '_> {
    fn parameter(&self, id: u32, member: Option<u32>, kind: u32) -> Option<u32> {
        self.parameters.get(&(id, member, kind)).copied()
    }

    fn place(&self, taken: &mut Taken) -> Result<(), String> {
        let (module, id) = (self.module, self.item.result);
        let Some((class, pointee)) = module.pointer(self.item.ty) else {
            return Ok(());
        };
        if !matches!(class, class::INPUT | class::OUTPUT) || module.decorated(id, dec::BUILT_IN) {
            return Ok(());
        }
        let index = self.parameter(id, None, dec::INDEX);
        if index.is_some() && (class != class::OUTPUT || self.model != model::FRAGMENT) {
            return Err("only a fragment shader's outputs have an Index".to_owned());
        }
        let ty = self.of_one_vertex(class, pointee);
        let is_struct = module.opcode(ty) == op::TYPE_STRUCT;
        if is_struct && module.decorated(ty, dec::BUILT_IN) {
            return Ok(());
        }
        match self.parameter(id, None, dec::LOCATION) {
            Some(location) => {
                let component = self.parameter(id, None, dec::COMPONENT).unwrap_or(0);
                // Each stream of a geometry shader has its own locations.
                let stream = self.parameter(id, None, dec::STREAM).filter(|_| class == class::OUTPUT);
                let space = index.or(stream).unwrap_or(0);
                // As have patches.
                let patch = u32::from(module.decorated(id, dec::PATCH)) << 31;
                self.elements(ty, location, component, (class, space | patch), taken)
            }
            None if module.decorated(ty, dec::BLOCK) => self.members(ty, class, taken),
            None => Err("needs a Location".to_owned()),
        }
    }

    /// The type of one vertex's share.
    fn of_one_vertex(&self, class: u32, ty: u32) -> u32 {
        let (module, output) = (self.module, class == class::OUTPUT);
        let patch = module.decorated(self.item.result, dec::PATCH);
        let arrayed = match self.model {
            model::TESSELLATION_CONTROL => !patch,
            model::TESSELLATION_EVALUATION => !output && !patch,
            model::GEOMETRY => !output,
            model::FRAGMENT => !output && module.decorated(self.item.result, dec::PER_VERTEX),
            _ => false,
        };
        match module.def(ty) {
            Some(array) if arrayed && matches!(array.opcode(), op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY) => {
                array.word(2)
            }
            _ => ty,
        }
    }

    fn take(&self, slots: std::ops::Range<u64>, class: (u32, u32), taken: &mut Taken) -> Result<(), String> {
        for slot in slots.start..slots.end.min(MAX_SLOTS) {
            if !taken.insert((class.0, class.1, slot)) {
                return Err(format!("shares location {}, component {}", slot / 4, slot % 4));
            }
        }
        Ok(())
    }

    /// A variable with a location: each element of an array takes as many locations as the first.
    fn elements(
        &self,
        ty: u32,
        location: u32,
        component: u32,
        class: (u32, u32),
        taken: &mut Taken,
    ) -> Result<(), String> {
        let array = self.module.def(ty).filter(|ty| ty.opcode() == op::TYPE_ARRAY);
        let count = array
            .and_then(|array| self.module.known_word(array.word(3)))
            .unwrap_or(1);
        let element = array.map_or(ty, |array| array.word(2));
        let locations = self.locations(element, 0)?;
        if locations == 0 {
            // Such as samplers: any number of them takes no location.
            return Ok(());
        }
        let components = self.components(element, 0);
        for n in 0..u64::from(count) {
            let first = (u64::from(location) + locations.saturating_mul(n)).saturating_mul(4);
            if first >= MAX_SLOTS {
                break;
            }
            let slots = match components {
                0 => first..first + locations.saturating_mul(4),
                _ => first + u64::from(component)..first + u64::from(component) + components,
            };
            self.take(slots, class, taken)?;
        }
        Ok(())
    }

    /// The members of a block that have locations.
    fn members(&self, ty: u32, class: u32, taken: &mut Taken) -> Result<(), String> {
        let members = self.module.def(ty).map_or(&[][..], |ty| ty.args());
        for (member, ty_of) in (0u32..).zip(members) {
            let Some(location) = self.parameter(ty, Some(member), dec::LOCATION) else {
                return Err(format!("member {member} needs a Location"));
            };
            let component = u64::from(self.parameter(ty, Some(member), dec::COMPONENT).unwrap_or(0));
            let (locations, components) = (self.locations(*ty_of, 0)?, self.components(*ty_of, 0));
            let first = u64::from(location) * 4;
            if first >= MAX_SLOTS {
                continue;
            }
            let array = self.module.opcode(*ty_of) == op::TYPE_ARRAY && (1..4).contains(&components);
            let rows = if array { locations.min(MAX_SLOTS) } else { 1 };
            for row in 0..rows {
                let first = first + row * 4;
                let slots = match components {
                    0 => first..first + locations.saturating_mul(4),
                    _ => first + component..first + component + components,
                };
                self.take(slots, (class, 0), taken)?;
            }
        }
        Ok(())
    }

    /// Number of locations that a type takes.
    fn locations(&self, ty: u32, depth: u32) -> Result<u64, String> {
        let Some(item) = self.module.def(ty).filter(|_| depth < MAX_DEPTH) else {
            return Ok(0);
        };
        let of = |ty| self.locations(ty, depth + 1);
        Ok(match item.opcode() {
            op::TYPE_INT | op::TYPE_FLOAT => 1,
            op::TYPE_VECTOR => {
                let form = self.module.form(ty);
                if form.width == 64 && form.count > 2 { 2 } else { 1 }
            }
            op::TYPE_MATRIX => of(item.word(2))?.saturating_mul(u64::from(item.word(3))),
            op::TYPE_ARRAY => {
                let count = self.module.known_word(item.word(3)).unwrap_or(1);
                of(item.word(2))?.saturating_mul(u64::from(count))
            }
            op::TYPE_STRUCT => {
                if self.module.decorated(ty, dec::LOCATION) {
                    return Err("members of a variable with a location have no locations".to_owned());
                }
                // Wide structs of wide structs would take long, so counting stops after the last location.
                let mut sum = 0u64;
                for id in item.args() {
                    if sum > MAX_SLOTS {
                        break;
                    }
                    sum = sum.saturating_add(of(*id)?);
                }
                sum
            }
            _ => 0,
        })
    }

    /// Components of a scalar, vector or array element; 0 for others.
    fn components(&self, ty: u32, depth: u32) -> u64 {
        let Some(item) = self.module.def(ty).filter(|_| depth < MAX_DEPTH) else {
            return 0;
        };
        match item.opcode() {
            op::TYPE_INT | op::TYPE_FLOAT if item.word(2) == 64 => 2,
            op::TYPE_INT | op::TYPE_FLOAT => 1,
            op::TYPE_VECTOR => self.components(item.word(2), depth + 1) * u64::from(item.word(3)),
            op::TYPE_ARRAY => self.components(item.word(2), depth + 1),
            _ => 0,
        }
    }
}
