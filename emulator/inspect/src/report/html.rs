//! HTML output: `raw` is markup of the page, `text` is escaped data.

use super::places::addresses;
use std::fmt::Display;

/// A page being written.
#[derive(Debug, Default)]
pub(super) struct Html {
    out: String,
}

impl Html {
    /// Markup of the page itself, never data.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.out.push_str(markup);
        self
    }

    /// Escaped text, also valid in a quoted attribute.
    pub(super) fn text(&mut self, text: impl Display) -> &mut Self {
        for c in text.to_string().chars() {
            match c {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '"' => self.out.push_str("&quot;"),
                '\'' => self.out.push_str("&#39;"),
                // No control characters, and none that change the text direction.
                '\n' | '\t' => self.out.push(c),
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => self.out.push('\u{fffd}'),
                c if c.is_control() => self.out.push('\u{fffd}'),
                c => self.out.push(c),
            }
        }
        self
    }

    /// Text with links for addresses that `known` accepts.
    pub(super) fn linked(&mut self, text: &str, job: usize, known: impl Fn(u32) -> bool) -> &mut Self {
        for (number, line) in text.lines().enumerate() {
            if number > 0 {
                self.out.push('\n');
            }
            let mut at = 0;
            for (range, address) in addresses(line) {
                self.text(&line[at..range.start]);
                let shown = &line[range.clone()];
                match known(address) {
                    true => self.address(shown, job, address),
                    false => self.text(shown),
                };
                at = range.end;
            }
            self.text(&line[at..]);
        }
        self
    }

    /// An address as a link to its contents.
    pub(super) fn address(&mut self, shown: &str, job: usize, address: u32) -> &mut Self {
        self.raw("<a href=\"#");
        self.text(place(job, address)).raw("\">").text(shown).raw("</a>")
    }

    /// The finished page.
    pub(super) fn finish(self) -> String {
        self.out
    }
}

/// Anchor of an address in a job.
pub(super) fn place(job: usize, address: u32) -> String {
    format!("job={job}&at={address:#x}")
}

/// JSON escaped for a script element.
pub(super) fn json(value: &serde_json::Value) -> String {
    // Sequences that could end the element or begin a comment contain this.
    value.to_string().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_markup() {
        let mut html = Html::default();
        html.text("<b onclick=\"a('&')\">\u{202e}\u{7}\n");
        assert_eq!(
            html.finish(),
            "&lt;b onclick=&quot;a(&#39;&amp;&#39;)&quot;&gt;\u{fffd}\u{fffd}\n"
        );
        let value = serde_json::json!({"name": "</script><!--"});
        assert_eq!(json(&value), r#"{"name":"\u003c/script>\u003c!--"}"#);
    }

    #[test]
    fn known_addresses_are_links() {
        let mut html = Html::default();
        html.linked("at 0x1000 <\nat 0x2000", 3, |address| address == 0x1000);
        assert_eq!(
            html.finish(),
            "at <a href=\"#job=3&amp;at=0x1000\">0x1000</a> &lt;\nat 0x2000"
        );
    }
}
