//! Test scripts of the field: AmberScript and VkScript.

mod field;
mod run;
mod text;
