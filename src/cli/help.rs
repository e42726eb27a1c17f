//! Manuals by topic, pages for `man`, and completions for shells.

use super::{Cli, description};
use crate::cli::error::Within;
use crate::cli::outcome::{Failure, Outcome, print, write};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::path::PathBuf;

/// Manuals that `skrymir help TOPIC` prints: the book's chapters.
pub(crate) const TOPICS: [(&str, &str, &str); 3] = [
    (
        "scene",
        "what is drawn with: vertices, uniforms, images, state",
        include_str!("../../docs/book/src/scene.md"),
    ),
    (
        "names",
        "what attributes, uniforms and textures are called",
        include_str!("../../docs/book/src/names.md"),
    ),
    (
        "assembly",
        "the text of Mali-400 programs",
        include_str!("../../docs/book/src/assembly.md"),
    ),
];

/// The topics, as the end of the command's help.
pub(crate) fn topics() -> String {
    let lines = TOPICS
        .iter()
        .map(|(name, about, _)| format!("  skrymir help {name:9} {about}\n"));
    format!("Manuals:\n{}", lines.collect::<String>())
}

/// The manual that a command line asks for, if it asks for one.
pub(crate) fn topic(arguments: &[std::ffi::OsString]) -> Option<&'static str> {
    let [_, help, name] = arguments else { return None };
    let wanted = (help == "help").then(|| name.to_str()).flatten()?;
    TOPICS
        .iter()
        .find(|(name, ..)| *name == wanted)
        .map(|(_, _, text)| *text)
}

/// Arguments of `completions`.
#[derive(Args, Debug)]
#[command(after_help = "Example: skrymir completions bash > /etc/bash_completion.d/skrymir")]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// Prints a shell's completions.
pub(crate) fn completions(args: &CompletionsArgs) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "skrymir", &mut text);
    print(&String::from_utf8_lossy(&text))
}

/// Arguments of `man`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  skrymir man | man -l -
  skrymir man replay | man -l -
  skrymir man --folder /usr/share/man/man1")]
pub(crate) struct ManArgs {
    /// The verb [default: the page of all]
    #[arg(conflicts_with = "folder")]
    pub verb: Option<String>,
    /// Write every page into this folder
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

/// Prints a page for `man`, or writes all.
pub(crate) fn man(args: &ManArgs) -> Outcome {
    let root = description();
    let page = |command: &clap::Command| -> Outcome<Vec<u8>> {
        let mut text = Vec::new();
        let named = command.clone().display_name(dashed(command));
        clap_mangen::Man::new(named)
            .render(&mut text)
            .within(|| "cannot make a page")?;
        Ok(text)
    };
    if let Some(folder) = &args.folder {
        std::fs::create_dir_all(folder).within(|| format!("cannot make {}", folder.display()))?;
        let verbs = root.get_subcommands().filter(|command| command.get_name() != "help");
        for command in std::iter::once(&root).chain(verbs) {
            write(&folder.join(format!("{}.1", dashed(command))), page(command)?)?;
        }
        return Ok(());
    }
    let command = match &args.verb {
        None => &root,
        Some(verb) => root
            .find_subcommand(verb)
            .ok_or_else(|| Failure::usage(format_args!("there is no verb {verb}")))?,
    };
    print(&String::from_utf8_lossy(&page(command)?))
}

/// The name of a command's page: `skrymir-replay`.
fn dashed(command: &clap::Command) -> String {
    match command.get_name() {
        "skrymir" => "skrymir".to_owned(),
        verb => format!("skrymir-{verb}"),
    }
}
