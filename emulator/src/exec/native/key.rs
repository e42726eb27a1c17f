//! What machine code depends on beside the program.

use crate::blend::Blending;
use crate::exec::wide::fragment_code::row;
use crate::exec::{FragmentContext, Orientation};
use crate::fragment_ops::LateTests;
use crate::texture::{Texture, filter, levels};
use jit::MAX_TEXTURES;

/// Rows of fragments' places: the [places](jit::graph::RowTypes::places) of code for whole tiles.
pub(crate) const PLACES: [u16; 4] = [row::X, row::Y, row::COLUMN, row::ROW];

/// Rows that fragments are tested with behind their program.
pub(crate) const SAMPLES: [u16; 4] = [row::DEPTH, row::TILE_DEPTH, row::TILE_STENCIL, row::ARRIVED];

/// How a texture is sampled that goes a short way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    /// One level.
    Plain(filter::Form),
    /// Levels, or a cube.
    Levels(levels::Form),
}

impl Form {
    fn of(texture: &Texture<'_>) -> Option<Self> {
        match texture.plain(false) {
            Some(plain) => Some(Self::Plain(plain.form())),
            None => texture.short_levels(false).map(|levels| Self::Levels(levels.form())),
        }
    }
}

/// What code is made for, beside the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    pub(crate) orientation: Orientation,
    /// The primitive has one w.
    pub(crate) flat: bool,
    /// Planes are computed where fragments of many primitives are batched; rows have what they come to.
    pub(crate) batched: bool,
    pub(crate) color_register: usize,
    pub(crate) second_register: Option<usize>,
    pub(crate) depth_register: Option<usize>,
    /// Colours are wanted as words.
    pub(crate) words: bool,
    /// And alphas beside them.
    pub(crate) alpha: bool,
    /// And blended so.
    pub(crate) blending: Option<Blending>,
    /// And tested behind the program.
    pub(crate) tests: Option<LateTests>,
    /// How textures are sampled that go the short way.
    pub(crate) textures: [Option<Form>; MAX_TEXTURES],
}

impl Key {
    /// For fragments of one primitive at a time.
    pub(crate) fn new(context: &FragmentContext<'_>, flat: bool) -> Self {
        let mut textures = [None; MAX_TEXTURES];
        let used = context.program.samplers;
        for (number, (form, texture)) in textures.iter_mut().zip(context.textures).enumerate() {
            if used >> number & 1 == 1 {
                *form = Form::of(texture);
            }
        }
        let register = |register: usize| FragmentContext::output(register);
        // An output that no register holds is zero; the wide engine handles that.
        let whole = register(context.color_register).is_some();
        let alone = context.second_register.is_none() && context.depth_register.is_none();
        let words = context.wants_words && whole && alone;
        Self {
            orientation: context.orientation,
            flat,
            batched: false,
            color_register: register(context.color_register).unwrap_or(0),
            second_register: context.second_register.and_then(register),
            depth_register: context.depth_register.and_then(register),
            words,
            alpha: words && context.wants_alpha,
            blending: context.blending.filter(|_| words).copied(),
            tests: context.tests.filter(|_| words),
            textures,
        }
    }

    /// For fragments of many primitives that were batched.
    pub(crate) fn batched(self) -> Self {
        Self { batched: true, ..self }
    }
}
