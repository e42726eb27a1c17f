//! Test scripts of the field: AmberScript and VkScript.

mod compute;
mod engines;
mod field;
mod run;
mod text;
