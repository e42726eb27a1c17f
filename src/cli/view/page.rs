//! Serves the page.

use super::Shown;
use crate::cli::error::Within;
use crate::cli::log::message;
use crate::cli::outcome::{Failure, Outcome};
use crate::cli::uniforms::UniformArgs;
use crate::cli::watch::{Files, INTERVAL};
use inspect::view::View;
use std::path::Path;
use std::time::{Duration, Instant};

/// Serves the page until the process ends; its address is printed first. Time runs from that of the arguments on. A
/// failure is printed; the last picture stays.
///
/// # Errors
/// Trouble when one of the files is standard input, or when there can be no page.
pub(crate) fn show<'a>(
    files: &[&Path],
    uniforms: &UniformArgs,
    mut load: impl FnMut() -> Outcome<Shown<'a>>,
) -> Outcome {
    let mut files = Files::new("--view", files)?;
    let view = View::open(None).within(|| "cannot show the picture in a browser")?;
    message(format_args!("{}", view.url()));
    let keep = |failure: Failure| message(format_args!("skrymir: {failure}\nskrymir: the last picture stays"));
    let (start, pause) = (Instant::now(), Duration::from_secs(1) / uniforms.rate);
    let mut shown: Option<Shown<'_>> = None;
    for number in 0.. {
        // One picture at least of what the files hold; more when a page waits for one.
        loop {
            if files.changed() {
                match load() {
                    Ok(loaded) => break shown = Some(loaded),
                    Err(failure) => keep(failure),
                }
            }
            match &shown {
                Some(shown) if shown.is_animated => {
                    if view.wanted(INTERVAL) {
                        break;
                    }
                }
                _ => std::thread::sleep(INTERVAL),
            }
        }
        let drawn = Instant::now();
        if let Some(shown) = &mut shown {
            let runs = || uniforms.time.unwrap_or(0.0) + start.elapsed().as_secs_f64();
            let seconds = if shown.is_animated { Some(runs()) } else { uniforms.time };
            match (shown.draw)(seconds) {
                Ok(picture) => view.show(number, [picture.width, picture.height], &picture.rgba),
                Err(failure) => {
                    keep(failure);
                    shown.is_animated = false;
                }
            }
        }
        std::thread::sleep(pause.saturating_sub(drawn.elapsed()));
    }
    Ok(())
}
