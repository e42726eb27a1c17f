//! The page (docs/page) and the door that it is built on (emulator/wasm).

mod broken;
mod browser;
mod door;
