//! The MBS container.

mod rules;
