//! Suggestions for unknown names.

/// Minimum similarity of a suggestion, from 0 to 1.
const ALIKE: f64 = 0.8;

/// Limit on listed names.
const LISTED: usize = 8;

/// A hint after `there is no NAME`: the most similar name, or else all names; empty if there are none or too many.
pub fn hint(name: &str, known: impl IntoIterator<Item = String>) -> String {
    let known: Vec<String> = known.into_iter().collect();
    let alike = |other: &String| strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase());
    let best = known.iter().max_by(|a, b| alike(a).total_cmp(&alike(b)));
    match best.filter(|best| alike(best) >= ALIKE) {
        Some(best) => format!("; did you mean \"{best}\"?"),
        None if known.is_empty() || known.len() > LISTED => String::new(),
        None => format!("; there is {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_get_a_suggestion() {
        let known = || ["tint", "mvp"].map(String::from);
        assert_eq!(hint("tnit", known()), "; did you mean \"tint\"?");
        assert_eq!(hint("Tint", known()), "; did you mean \"tint\"?");
        assert_eq!(hint("light", known()), "; there is tint, mvp");
        assert_eq!(hint("light", []), "");
        assert_eq!(hint("light", (0..9).map(|number| format!("u{number}"))), "");
    }
}
