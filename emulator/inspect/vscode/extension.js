// Starts `skrymir dap` for debug sessions, and fills in a launch without a launch.json.
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

// Endings of the two stages' files.
const STAGES = { vertex: [".vert", ".vert.s"], fragment: [".frag", ".frag.s"] };

// The stage of a file by its name, and the name without its ending.
function stageOf(file) {
  for (const [stage, endings] of Object.entries(STAGES)) {
    const ending = endings.find((ending) => file.endsWith(ending));
    if (ending) return { stage, stem: file.slice(0, -ending.length) };
  }
  return undefined;
}

// What launching a file means: a pair with its neighbour of the same name, or a file with both stages. Nothing without one.
function launchOf(file, exists = fs.existsSync) {
  const basic = { type: "skrymir", request: "launch", name: path.basename(file), cwd: path.dirname(file), stopOnEntry: true };
  const found = stageOf(file);
  if (!found) return { ...basic, program: file };
  const other = found.stage === "vertex" ? "fragment" : "vertex";
  const neighbour = STAGES[other].map((ending) => found.stem + ending).find((file) => exists(file));
  return neighbour && { ...basic, [found.stage]: file, [other]: neighbour };
}

// The file of the current editor, if it has one.
function current() {
  const document = vscode.window.activeTextEditor?.document;
  return document?.uri.scheme === "file" ? document.uri.fsPath : undefined;
}

function activate(context) {
  const provider = {
    provideDebugConfigurations() {
      const launch = current() && launchOf(current());
      return launch ? [launch] : [];
    },
    async resolveDebugConfiguration(folder, given) {
      if (given.program || given.vertex || given.fragment) return given;
      const launch = current() && launchOf(current());
      if (launch) return { ...launch, ...given, type: "skrymir", request: "launch", name: given.name ?? launch.name };
      await vscode.window.showErrorMessage("Skrymir: open a shader whose other stage has the same name, or write a launch.json.");
      return undefined;
    },
  };
  const factory = {
    createDebugAdapterDescriptor(session) {
      const command = vscode.workspace.getConfiguration("skrymir", session.workspaceFolder?.uri).get("path", "skrymir");
      // An editor ends the session without a word if there is no such command.
      const { error } = spawnSync(command, ["--version"], { timeout: 10000 });
      if (error) throw new Error(`Skrymir: "${command}" does not start (${error.code}). The setting skrymir.path names the command.`);
      return new vscode.DebugAdapterExecutable(command, ["dap"]);
    },
  };
  const dynamic = vscode.DebugConfigurationProviderTriggerKind?.Dynamic;
  context.subscriptions.push(
    vscode.debug.registerDebugConfigurationProvider("skrymir", provider),
    ...(dynamic === undefined ? [] : [vscode.debug.registerDebugConfigurationProvider("skrymir", provider, dynamic)]),
    vscode.debug.registerDebugAdapterDescriptorFactory("skrymir", factory),
  );
}

module.exports = { activate, launchOf };
