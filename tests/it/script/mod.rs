//! Test scripts of the field: AmberScript and VkScript.

mod compute;
mod field;
mod run;
mod text;
