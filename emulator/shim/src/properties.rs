//! Properties of the display's objects, one row each. Listing, reading, setting and atomic changes are derived from the
//! table.

use crate::abi::errno;
use crate::screen::id;

/// A property, by its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Row {
    /// The connector's power state.
    Dpms,
    /// The CRTC that drives the connector.
    ConnectorCrtc,
    /// Whether the CRTC is active.
    Active,
    /// The blob with its mode.
    Mode,
    /// Address for the out-fence descriptor.
    OutFence,
    /// Type of the plane.
    Type,
    /// The framebuffer the plane shows.
    FrameBuffer,
    /// The CRTC that shows the plane.
    PlaneCrtc,
    /// Left edge of the source rectangle, in 1/65536 pixel.
    SourceX,
    /// Its top edge.
    SourceY,
    /// Its width.
    SourceWidth,
    /// Its height.
    SourceHeight,
    /// Left edge of the rectangle on the screen, in pixels.
    CrtcX,
    /// Its top edge.
    CrtcY,
    /// Its width.
    CrtcWidth,
    /// Its height.
    CrtcHeight,
    /// The fence to wait for before reading the framebuffer.
    InFence,
}

/// The type of a property's value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// An integer from 0 to this one.
    Range(u64),
    /// A signed integer in this range.
    Signed(i64, i64),
    /// One of these names.
    Enum(&'static [&'static str]),
    /// The id of an object of this type, or 0.
    Object(u32),
    /// The id of a blob, or 0.
    Blob,
}

/// A property.
#[derive(Debug)]
pub(crate) struct Property {
    /// The row.
    pub row: Row,
    /// Its name.
    pub name: &'static str,
    /// The object type that has it.
    pub part: u32,
    /// Its type.
    pub kind: Kind,
    /// Its initial value.
    pub first: u64,
    /// Whether programs without atomic changes see it.
    pub plain: bool,
}

/// Object types in properties.
mod object {
    pub(crate) const CRTC: u32 = 0xcccc_cccc;
    pub(crate) const FRAME_BUFFER: u32 = 0xfbfb_fbfb;
}

/// Flags of properties.
mod flag {
    pub(crate) const RANGE: u32 = 1 << 1;
    pub(crate) const IMMUTABLE: u32 = 1 << 2;
    pub(crate) const ENUM: u32 = 1 << 3;
    pub(crate) const BLOB: u32 = 1 << 4;
    pub(crate) const OBJECT: u32 = 1 << 6;
    pub(crate) const SIGNED: u32 = 2 << 6;
    pub(crate) const ATOMIC: u32 = 1 << 31;
}

/// Number of properties.
const COUNT: usize = 17;

const U32: Kind = Kind::Range(u32::MAX as u64);
const PIXELS: Kind = Kind::Signed(i32::MIN as i64, i32::MAX as i64);

macro_rules! rows {
    ($($row:ident $name:literal $part:ident $kind:expr, $first:expr, $plain:expr;)*) => {
        /// All of them, in the order of [`Row`].
        pub(crate) static PROPERTIES: [Property; COUNT] = [
            $(Property { row: Row::$row, name: $name, part: id::$part, kind: $kind, first: $first, plain: $plain },)*
        ];
    };
}

rows! {
    Dpms "DPMS" CONNECTOR Kind::Enum(&["On", "Standby", "Suspend", "Off"]), 0, true;
    ConnectorCrtc "CRTC_ID" CONNECTOR Kind::Object(object::CRTC), 0, false;
    Active "ACTIVE" CRTC Kind::Range(1), 0, false;
    Mode "MODE_ID" CRTC Kind::Blob, 0, false;
    OutFence "OUT_FENCE_PTR" CRTC Kind::Range(u64::MAX), 0, false;
    Type "type" PLANE Kind::Enum(&["Overlay", "Primary", "Cursor"]), 1, true;
    FrameBuffer "FB_ID" PLANE Kind::Object(object::FRAME_BUFFER), 0, false;
    PlaneCrtc "CRTC_ID" PLANE Kind::Object(object::CRTC), 0, false;
    SourceX "SRC_X" PLANE U32, 0, false;
    SourceY "SRC_Y" PLANE U32, 0, false;
    SourceWidth "SRC_W" PLANE U32, 0, false;
    SourceHeight "SRC_H" PLANE U32, 0, false;
    CrtcX "CRTC_X" PLANE PIXELS, 0, false;
    CrtcY "CRTC_Y" PLANE PIXELS, 0, false;
    CrtcWidth "CRTC_W" PLANE U32, 0, false;
    CrtcHeight "CRTC_H" PLANE U32, 0, false;
    InFence "IN_FENCE_FD" PLANE Kind::Signed(-1, i32::MAX as i64), u64::MAX, false;
}

/// The first property's id; `front/display.c` contains those of the two descriptor properties.
const FIRST: u32 = 60;

/// Size of a name in bytes.
const NAME: usize = 32;

impl Property {
    /// Its id.
    pub(crate) fn id(&self) -> u32 {
        FIRST + self.row as u32
    }

    /// The property with this id.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn by_id(number: u32) -> Result<&'static Self, i32> {
        let at = number.checked_sub(FIRST).ok_or(errno::ENOENT)?;
        PROPERTIES.get(at as usize).ok_or(errno::ENOENT)
    }

    /// The properties of an object that a program sees.
    pub(crate) fn of(part: u32, atomic: bool) -> impl Iterator<Item = &'static Self> {
        PROPERTIES
            .iter()
            .filter(move |property| property.part == part && (atomic || property.plain))
    }

    /// Whether only the display sets it.
    pub(crate) fn is_immutable(&self) -> bool {
        self.row == Row::Type
    }

    /// The interface's flags for its type.
    pub(crate) fn flags(&self) -> u32 {
        let kind = match self.kind {
            Kind::Range(_) => flag::RANGE,
            Kind::Signed(..) => flag::SIGNED,
            Kind::Enum(_) => flag::ENUM,
            Kind::Object(_) => flag::OBJECT,
            Kind::Blob => flag::BLOB,
        };
        let immutable = if self.is_immutable() { flag::IMMUTABLE } else { 0 };
        kind | immutable | if self.plain { 0 } else { flag::ATOMIC }
    }

    /// Whether a value is valid; the existence of objects and blobs is checked elsewhere.
    pub(crate) fn takes(&self, value: u64) -> bool {
        match self.kind {
            Kind::Range(last) => value <= last,
            Kind::Signed(first, last) => (first..=last).contains(&(value as i64)),
            Kind::Enum(names) => value < names.len() as u64,
            Kind::Object(object::CRTC) => value == 0 || value == u64::from(id::CRTC),
            Kind::Object(_) | Kind::Blob => value <= u64::from(u32::MAX),
        }
    }

    /// The values that the interface reports: limits, object type, or all enumerants.
    pub(crate) fn values(&self) -> Vec<u64> {
        match self.kind {
            Kind::Range(last) => vec![0, last],
            Kind::Signed(first, last) => vec![first as u64, last as u64],
            Kind::Enum(names) => (0..names.len() as u64).collect(),
            Kind::Object(kind) => vec![kind.into()],
            Kind::Blob => Vec::new(),
        }
    }

    /// The names of an enumeration's values.
    pub(crate) fn names(&self) -> &'static [&'static str] {
        match self.kind {
            Kind::Enum(names) => names,
            _ => &[],
        }
    }
}

/// A name in the interface's layout: 32 bytes, zero-padded.
pub(crate) fn name(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(NAME, 0);
    bytes
}

/// The values of all properties of a display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State([u64; COUNT]);

impl Default for State {
    fn default() -> Self {
        Self(std::array::from_fn(|row| PROPERTIES[row].first))
    }
}

impl State {
    /// Shows a framebuffer at the screen's size, starting at a place.
    pub(crate) fn show(&mut self, mode: u32, buffer: u32, place: (u32, u32), size: (u32, u32)) {
        self.set(&[
            (Row::Active, 1),
            (Row::Mode, mode.into()),
            (Row::ConnectorCrtc, id::CRTC.into()),
        ]);
        self.set_picture(buffer, place, size);
    }

    /// Sets the plane's source to a framebuffer, unscaled, starting at a place.
    pub(crate) fn set_picture(&mut self, buffer: u32, (left, top): (u32, u32), (width, height): (u32, u32)) {
        let [left, top, width, height] = [left, top, width, height].map(u64::from);
        self.set(&[
            (Row::PlaneCrtc, id::CRTC.into()),
            (Row::FrameBuffer, buffer.into()),
            (Row::SourceX, left << 16),
            (Row::SourceY, top << 16),
            (Row::SourceWidth, width << 16),
            (Row::SourceHeight, height << 16),
            (Row::CrtcX, 0),
            (Row::CrtcY, 0),
            (Row::CrtcWidth, width),
            (Row::CrtcHeight, height),
        ]);
    }

    /// A property's value.
    pub(crate) fn get(&self, row: Row) -> u64 {
        self.0[row as usize]
    }

    /// Sets properties.
    pub(crate) fn set(&mut self, values: &[(Row, u64)]) {
        for (row, value) in values {
            self.0[*row as usize] = *value;
        }
    }

    /// The displayed framebuffer, and the origin in it.
    pub(crate) fn shown(&self) -> Option<(u32, (u32, u32))> {
        let buffer = self.get(Row::FrameBuffer) as u32;
        (self.get(Row::Active) == 1 && buffer != 0).then_some((buffer, self.place()))
    }

    /// The pixel of the framebuffer at the screen's origin.
    pub(crate) fn place(&self) -> (u32, u32) {
        let [left, top] = [Row::SourceX, Row::SourceY].map(|row| (self.get(row) >> 16) as u32);
        (left, top)
    }

    /// Whether another state differs in the mode or in the routing from CRTC to connector.
    pub(crate) fn is_other_mode(&self, other: &Self) -> bool {
        let rows = [Row::Active, Row::Mode, Row::ConnectorCrtc];
        rows.iter().any(|row| self.get(*row) != other.get(*row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order_and_begin_with_what_they_may_be() {
        for (at, property) in PROPERTIES.iter().enumerate() {
            assert_eq!(property.row as usize, at);
            assert!(property.takes(property.first), "{}", property.name);
            assert!(std::ptr::eq(Property::by_id(property.id()).unwrap(), property));
            assert!(property.name.len() < NAME);
        }
        assert!(Property::by_id(FIRST - 1).is_err() && Property::by_id(FIRST + COUNT as u32).is_err());
        let takes = |row: Row, value: u64| PROPERTIES[row as usize].takes(value);
        assert!(!takes(Row::Active, 2) && !takes(Row::InFence, -2_i64 as u64));
        assert!(!takes(Row::PlaneCrtc, id::PLANE.into()));
    }

    #[test]
    fn the_front_knows_the_descriptors() {
        let front = include_str!("../front/display.c");
        for (name, row) in [("IN_FENCE_FD", Row::InFence), ("OUT_FENCE_PTR", Row::OutFence)] {
            let line = format!("    {name} = {},", PROPERTIES[row as usize].id());
            assert!(front.contains(&line), "{line}");
        }
    }
}
