//! Swanson SL libraries on the command line.

use super::{Format, Info};
use crate::cli::{AsArgs, CheckArgs, DisArgs, Failure, InfoArgs, Outcome, RewriteArgs, RunArgs};
use crate::s0::{self, Host};
use anyhow::anyhow;
use loader::Report;
use loader::sl::{self, Library, PrintOptions};
use serde_json::{Value, json};

/// Swanson SL libraries.
pub struct Sl;

impl Format for Sl {
    fn name(&self) -> &'static str {
        sl::FORMAT
    }

    fn detect(&self, bytes: &[u8]) -> bool {
        bytes.starts_with(&sl::MAGIC)
    }

    fn info(&self, bytes: &[u8], _args: &InfoArgs) -> Outcome<Info> {
        let library = sl::read(bytes)?;
        let json = structure(&library);
        let (version, binaries) = (library.version, library.constants.len());
        let mut text = format!("SL library, version {version}, {binaries} binaries\n");
        for module in &library.modules {
            let branches: usize = module.blocks.iter().map(|block| block.branches.len()).sum();
            let name = sl::quote(library.bytes(module.name.content));
            let blocks = module.blocks.len();
            text += &format!("unit {name}: {blocks} blocks, {branches} branches");
            let needs = dependencies(&library, module);
            let needs = if needs.is_empty() {
                String::new()
            } else {
                format!("; loads {}", needs.join(", "))
            };
            text += &format!("{needs}\n");
        }
        Ok(Info { text, json })
    }

    fn check(&self, bytes: &[u8], _args: &CheckArgs) -> Report {
        sl::check(bytes)
    }

    /// Runs a unit: exit code 0 when it succeeds.
    fn run(&self, bytes: &[u8], args: &RunArgs) -> Outcome {
        let library = sl::read(bytes)?;
        let unit = match (&args.module, library.modules.last()) {
            (Some(name), _) => name.as_bytes().to_vec(),
            (None, Some(module)) => library.bytes(module.name.content).to_vec(),
            (None, None) => return Err(Failure::Bad(anyhow!("sl: the library has no unit to run"))),
        };
        let mut print = |line: &str| eprintln!("{line}");
        let mut host = Host::new(&library).with_fuel(args.fuel);
        if args.trace {
            host = host.with_trace(&mut print);
        }
        match host.run(&unit) {
            Ok(s0::Outcome::Succeeded) => Ok(()),
            Ok(s0::Outcome::Failed) => Err(Failure::Bad(anyhow!(
                "sl: unit {} finished with fail",
                sl::quote(&unit)
            ))),
            Err(error) => Err(Failure::Bad(anyhow!("sl: {error}"))),
        }
    }

    fn rewrite(&self, bytes: &[u8], args: &RewriteArgs) -> Outcome<Vec<u8>> {
        let library = sl::read(bytes)?;
        Ok(if args.canonical {
            sl::write(&sl::canonical(&library))?
        } else {
            sl::write(&library)?
        })
    }

    fn dis(&self, bytes: &[u8], args: &DisArgs) -> Outcome<String> {
        let library = sl::read(bytes)?;
        if args.json {
            return Ok(format!("{:#}\n", structure(&library)));
        }
        let locations = args.locations;
        Ok(sl::print(&library, &PrintOptions { locations }))
    }

    fn assembles(&self, _text: &str, args: &AsArgs) -> bool {
        args.file.extension().is_some_and(|ext| ext == "s0")
    }

    fn assemble(&self, text: &str, args: &AsArgs) -> Outcome<Vec<u8>> {
        let file = args.file.file_name().unwrap_or_default().to_string_lossy();
        let library = sl::parse(text, &file).map_err(|error| {
            let text = error.render(text, &args.file.display().to_string());
            Failure::Bad(anyhow!("sl: {error}\n{}", text.trim_end()))
        })?;
        Ok(sl::write(&library)?)
    }
}

/// What the loader of a unit receives beside `$loaded`.
fn dependencies(library: &Library<'_>, module: &sl::Module) -> Vec<String> {
    let branch = module.blocks.first().and_then(|block| block.branches.first());
    let names = branch.map(|branch| &branch.receiving.names[..]).unwrap_or_default();
    let bytes = names.iter().map(|name| library.bytes(name.content));
    bytes.filter(|bytes| bytes != b"$loaded").map(sl::quote).collect()
}

fn structure(library: &Library<'_>) -> Value {
    let block = |block: &sl::Block| {
        let text = |name: &sl::Name| library.text(name.content).into_owned();
        let list = |names: &sl::Names| {
            let names_: Vec<_> = names.names.iter().map(text).collect();
            json!({ "names": names_, "glob": names.glob.is_some() })
        };
        let branch = |branch: &sl::Branch| {
            json!({
                "name": text(&branch.name),
                "receiving": list(&branch.receiving),
                "statements": branch.statements.len(),
                "invokes": text(&branch.invocation.target),
                "branch": text(&branch.invocation.branch),
                "inputs": list(&branch.invocation.inputs),
            })
        };
        let branches: Vec<_> = block.branches.iter().map(branch).collect();
        let (name, containing) = (text(&block.name), list(&block.containing));
        json!({ "name": name, "containing": containing, "branches": branches })
    };
    let module = |module: &sl::Module| {
        let blocks: Vec<_> = module.blocks.iter().map(block).collect();
        let (name, loads) = (library.text(module.name.content), dependencies(library, module));
        json!({ "name": name, "loads": loads, "blocks": blocks })
    };
    let modules: Vec<_> = library.modules.iter().map(module).collect();
    json!({ "format": "sl", "version": library.version, "binaries": library.constants.len(), "modules": modules })
}
