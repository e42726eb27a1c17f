//! Test scripts of the field: AmberScript and VkScript.

mod run;
mod text;
