//! `skrymir devices`: the devices that `--device` accepts.

use super::engine::EngineName;
use super::run::EMULATOR;
use crate::cli::outcome::{Failure, Outcome, print};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

/// Arguments of `devices`.
#[derive(Args, Debug)]
#[command(after_help = "Example: skrymir devices --json")]
pub(crate) struct DevicesArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(args: &DevicesArgs) -> Outcome {
    let devices = vulkan::devices().map_err(|error| Failure::Trouble(error.into()))?;
    let engines = engines();
    if args.json {
        let mut rows: Vec<Value> = devices
            .iter()
            .map(|d| {
                json!({
                    "index": d.index, "name": d.name, "kind": d.kind, "api": d.api, "driver": d.driver,
                    "bindless": d.bindless,
                })
            })
            .collect();
        rows.push(json!({ "name": EMULATOR, "kind": "emulator", "engines": engines }));
        return print(&format!("{:#}\n", Value::Array(rows)));
    }
    if devices.is_empty() {
        print("no Vulkan device here\n")?;
    }
    for d in devices {
        let [major, minor, patch] = d.api;
        let tables = if d.bindless { "full tables" } else { "fitted tables" };
        print(&format!(
            "{}  {}  ({}, Vulkan {major}.{minor}.{patch}, {tables}, {})\n",
            d.index, d.name, d.kind, d.driver
        ))?;
    }
    print(&format!(
        "{EMULATOR}  a Mali-400 in software  (emulator; {})\n",
        engines.join(", ")
    ))
}

/// The emulator's engines, as `--device` names them.
fn engines() -> Vec<String> {
    let all = EngineName::value_variants()
        .iter()
        .filter(|name| **name != EngineName::Vulkan);
    all.filter_map(|name| Some(format!("{EMULATOR}/{}", name.to_possible_value()?.get_name())))
        .collect()
}
