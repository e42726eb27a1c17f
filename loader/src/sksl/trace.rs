//! Events of the reader, per node and field.

use serde_json::{Value, json};

/// Receives every node and field as it is read.
pub trait Trace {
    /// Whether events are used; if not, the reader skips preparing them.
    const LOUD: bool = true;
    /// A node begins.
    fn enter(&mut self, _name: &'static str, _offset: u32) {}
    /// The innermost open node ends.
    fn leave(&mut self) {}
    /// A field of `width` bytes at `offset`, zero-extended.
    fn field(&mut self, _name: &'static str, _offset: u32, _width: u8, _value: u64) {}
    /// A string reference at `offset`: the string's offset, and its text.
    fn name(&mut self, _name: &'static str, _offset: u32, _string: u16, _text: &str) {}
    /// A string of the table; `offset` is that of its length byte.
    fn string(&mut self, _offset: u32, _text: &str) {}
}

/// Discards all events.
pub struct Silent;

impl Trace for Silent {
    const LOUD: bool = false;
}

/// The structure as indented text; each line begins with its byte offset.
#[derive(Default)]
pub(super) struct Text {
    pub(super) out: String,
    depth: usize,
}

impl Text {
    fn line(&mut self, offset: u32, text: std::fmt::Arguments) {
        use std::fmt::Write;
        let _ = writeln!(self.out, "{offset:06x}  {:1$}{text}", "", 2 * self.depth);
    }
}

impl Trace for Text {
    fn enter(&mut self, name: &'static str, offset: u32) {
        self.line(offset, format_args!("{name}"));
        self.depth += 1;
    }
    fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
    fn field(&mut self, name: &'static str, offset: u32, _width: u8, value: u64) {
        if name != "command" {
            self.line(offset, format_args!("{name} = {value}"));
        }
    }
    fn name(&mut self, name: &'static str, offset: u32, _string: u16, text: &str) {
        self.line(offset, format_args!("{name} = {text:?}"));
    }
    fn string(&mut self, offset: u32, text: &str) {
        self.line(offset, format_args!("string {text:?}"));
    }
}

/// The structure as nested JSON.
#[derive(Default)]
pub(super) struct Json {
    pub(super) done: Vec<Value>,
    open: Vec<(Value, Vec<Value>)>,
}

impl Json {
    fn add(&mut self, value: Value) {
        match self.open.last_mut() {
            Some((_, children)) => children.push(value),
            None => self.done.push(value),
        }
    }
}

impl Trace for Json {
    fn enter(&mut self, name: &'static str, offset: u32) {
        self.open.push((json!({ "node": name, "offset": offset }), Vec::new()));
    }
    fn leave(&mut self) {
        if let Some((mut node, children)) = self.open.pop() {
            if !children.is_empty() {
                node["children"] = Value::Array(children);
            }
            self.add(node);
        }
    }
    fn field(&mut self, name: &'static str, offset: u32, _width: u8, value: u64) {
        if name != "command" {
            self.add(json!({ "field": name, "offset": offset, "value": value }));
        }
    }
    fn name(&mut self, name: &'static str, offset: u32, _string: u16, text: &str) {
        self.add(json!({ "field": name, "offset": offset, "value": text }));
    }
    fn string(&mut self, offset: u32, text: &str) {
        self.add(json!({ "string": text, "offset": offset }));
    }
}
