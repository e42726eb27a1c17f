//! The display in a browser: a page of [`inspect::view`] with the screen's keyboard and pointer.

use crate::error::{Result, Within};
use inspect::view::View;
use shim::{Input, Shown, Sink};
use std::sync::Arc;

/// A page that is served.
pub struct Page {
    /// Its address.
    pub url: String,
    /// Shows pictures on it.
    pub sink: Box<Sink>,
}

/// Opens a page for a screen, with its keyboard and pointer.
///
/// # Errors
/// When there can be no server.
pub fn open(to: Arc<Input>) -> Result<Page> {
    let events = move |body: &[u8]| input(&to, body).is_some();
    let view = View::open(Some(Arc::new(events))).within(|| "cannot show the screen in a browser")?;
    let url = view.url().to_owned();
    let sink = move |shown: &Shown| view.show(shown.number, [shown.width, shown.height], &shown.rgba);
    Ok(Page {
        url,
        sink: Box::new(sink),
    })
}

/// Something that happens to keyboard or pointer.
enum Act {
    Point(i32, i32),
    Key(u16, bool),
    Wheel(i32, i32),
}

/// Keyboard and pointer events, one per line; none is applied if a line is invalid.
fn input(to: &Input, body: &[u8]) -> Option<()> {
    let text = std::str::from_utf8(body).ok()?;
    let acts: Option<Vec<Act>> = text.lines().map(act).collect();
    for act in acts? {
        match act {
            Act::Point(x, y) => to.point(x, y),
            Act::Key(code, down) => to.key(code, down),
            Act::Wheel(right, up) => to.wheel(right, up),
        }
    }
    Some(())
}

fn act(line: &str) -> Option<Act> {
    let words: Vec<&str> = line.split(' ').collect();
    let number = |text: &str| text.parse::<i32>().ok();
    Some(match words[..] {
        ["point", x, y] => Act::Point(number(x)?, number(y)?),
        ["key", code, down @ ("0" | "1")] => Act::Key(code.parse().ok()?, down == "1"),
        ["wheel", right, up] => Act::Wheel(number(right)?, number(up)?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_events_or_refused() {
        let screen = Input::new(64, 48);
        let taken = |body: &str| input(&screen, body.as_bytes()).is_some();
        assert!(taken("point 3 4\nkey 30 1\nkey 30 0\nwheel 0 -1"));
        for bad in ["point 3", "key 30 2", "key x 1", "wheel 1 2 3", "jump", "key -1 0"] {
            assert!(!taken(bad), "{bad}");
        }
    }
}
