//! `skrymir devices`: what `--device` can choose from.

use crate::outcome::{Failure, Outcome, print};
use clap::Args;
use serde_json::{Value, json};

/// Arguments of `devices`.
#[derive(Args, Debug)]
#[command(after_help = "Example: skrymir devices --json")]
pub struct DevicesArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(args: &DevicesArgs) -> Outcome {
    let devices = vulkan::devices().map_err(|error| Failure::Trouble(error.into()))?;
    if args.json {
        let rows: Vec<Value> = devices
            .iter()
            .map(|d| {
                json!({
                    "index": d.index, "name": d.name, "kind": d.kind, "api": d.api, "driver": d.driver,
                    "bindless": d.bindless,
                })
            })
            .collect();
        return print(&format!("{:#}\n", Value::Array(rows)));
    }
    if devices.is_empty() {
        return print("no Vulkan device here\n");
    }
    for d in devices {
        let [major, minor, patch] = d.api;
        let tables = if d.bindless { "full tables" } else { "fitted tables" };
        print(&format!(
            "{}  {}  ({}, Vulkan {major}.{minor}.{patch}, {tables}, {})\n",
            d.index, d.name, d.kind, d.driver
        ))?;
    }
    Ok(())
}
