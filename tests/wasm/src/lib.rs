//! `#[test]` for wasm32-unknown-unknown, where the standard harness cannot print and ends at the first panic.
//!
//! A crate with
//!
//! ```text
//! #[cfg(all(test, target_family = "wasm"))]
//! #[macro_use]
//! extern crate wasm_test;
//! ```
//!
//! exports every `#[test]` of its own there, and `run.mjs` beside this calls them one by one. Elsewhere nothing changes.

use proc_macro::{Span, TokenStream, TokenTree};

/// Exports a test under its file, line and name; a panic passes its message to the import `test.panicked`.
#[proc_macro_attribute]
pub fn test(_: TokenStream, function: TokenStream) -> TokenStream {
    let mut tokens = function.clone().into_iter();
    let is_fn = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word.to_string() == "fn");
    let name = tokens.by_ref().find(is_fn).and_then(|_| tokens.next());
    let Some(name) = name else {
        return "compile_error!(\"a test is a function\");".parse().unwrap_or_default();
    };
    let ignored = function.to_string().contains("#[ignore");
    let place = Span::call_site();
    let export = format!(
        "{} {}:{} {name}",
        if ignored { "ignored" } else { "test" },
        place.file(),
        place.line()
    );
    let run = format!(
        "const _: () = {{
            #[unsafe(export_name = {export:?})]
            extern \"C\" fn run() {{
                #[link(wasm_import_module = \"test\")]
                unsafe extern \"C\" {{
                    fn panicked(text: *const u8, length: usize);
                }}
                ::std::panic::set_hook(::std::boxed::Box::new(|panic| {{
                    let text = ::std::string::ToString::to_string(panic);
                    // SAFETY: the text lives through the call.
                    unsafe {{ panicked(text.as_ptr(), text.len()) }}
                }}));
                let () = {name}();
            }}
        }};"
    );
    let mut out = function;
    out.extend(run.parse::<TokenStream>().unwrap_or_default());
    out
}
