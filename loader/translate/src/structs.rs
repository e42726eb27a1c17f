//! Finds structs in a GLSL text that have too many members, counting nested ones, for a front end that visits each.

use crate::combined::tokens;
use loader::spirv::work::MAX_MEMBERS;
use std::collections::HashMap;
use std::ops::Range;

/// A struct being read.
struct Open<'a> {
    name: &'a str,
    members: u64,
    /// Members of the current declaration's type.
    each: u64,
}

/// The place and the member count of the first struct with too many; macros are not expanded.
pub fn too_many_members(text: &str) -> Option<(Range<usize>, u64)> {
    let mut known: HashMap<&str, u64> = HashMap::new();
    let mut open: Vec<Open> = Vec::new();
    let mut words = ["", ""];
    for token in tokens(text) {
        let word = &text[token.clone()];
        match (word, open.last_mut()) {
            ("{", _) if words.contains(&"struct") => {
                let name = if words[1] == "struct" { "" } else { words[1] };
                open.push(Open {
                    name,
                    members: 1,
                    each: 1,
                });
            }
            ("}", Some(last)) => {
                let members = last.members;
                if members > MAX_MEMBERS {
                    return Some((token, members));
                }
                known.insert(last.name, members);
                open.pop();
                if let Some(outer) = open.last_mut() {
                    outer.each = members;
                }
            }
            ("," | ";", Some(last)) => {
                last.members = last.members.saturating_add(last.each);
                if word == ";" {
                    last.each = 1;
                }
            }
            (word, Some(last)) => last.each = known.get(word).copied().unwrap_or(last.each),
            _ => {}
        }
        words = [words[1], word];
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_members_count() {
        let mut text = "struct S0 { float a, b; };\n".to_owned();
        for n in 0..17 {
            text += &format!("struct S{} {{ S{n} a; S{n} b; }};\n", n + 1);
        }
        // Each has one more than twice as many as the one before.
        let (place, members) = too_many_members(&text).unwrap();
        assert_eq!((&text[place.clone()], members), ("}", (1 << 19) - 1));
        assert_eq!(text[..place.start].lines().count(), 18);
        let fewer: String = text.lines().take(17).collect();
        assert_eq!(too_many_members(&fewer), None);
        let commas = text.replace("a; S", "a, S");
        assert!(too_many_members(&commas).is_some());
        assert_eq!(too_many_members("struct É { float é; }; «ẋ»"), None);
    }
}
