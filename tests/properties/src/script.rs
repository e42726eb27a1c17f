//! Test scripts: AmberScript and VkScript.

/// Any text is a script or an error; a script prints as text that parses to the same model.
pub fn parse(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match script::parse(text) {
        Ok(model) => {
            let printed = model.to_string();
            let again = script::parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
            assert_eq!(model, again, "{printed}");
        }
        Err(error) => assert!(!error.message.is_empty() && error.place.line > 0),
    }
}
