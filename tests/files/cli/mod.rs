//! Tests the command line without a display: every command, and every error message.

mod film;
mod refusals;
mod results;
mod resume;
mod shells;

use std::path::Path;
use std::time::Duration;

use assert_cmd::Command;
use tempfile::TempDir;

/// Time limit for a command: ample on a busy machine, but shorter than the steps that a refused command asks for would
/// take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Time limit for a command that must succeed. It only prevents endless waiting.
const LONG_PATIENCE: Duration = Duration::from_secs(1200);

/// Returns the command `gravitile ARGS` in `folder`, without a display for windows. Arguments are separated by spaces.
pub(super) fn gravitile(folder: &Path, args: &str) -> Command {
    let mut command = isolated(env!("CARGO_BIN_EXE_gravitile"), folder);
    command.args(args.split_whitespace());
    command
}

/// Returns the command that starts `program` in `folder`, without a display for windows and without the user's
/// settings.
pub(super) fn isolated(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).timeout(PATIENCE);
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "COLUMNS", "GRAVITILE_LOG"] {
        command.env_remove(name);
    }
    // The user's settings must not affect the tests; the caches of PoCL and Mesa are kept, because they save minutes.
    for name in ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"] {
        command.env(name, folder);
    }
    if let Some(cache) = dirs::cache_dir() {
        command.env("POCL_CACHE_DIR", cache.join("pocl").join("kcache"));
        command.env("MESA_SHADER_CACHE_DIR", cache);
    }
    command
}

pub(super) fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Runs a command that must succeed without warnings. Returns the text on stdout, and the names of the files that the
/// command says it wrote.
fn run(folder: &Path, args: &str) -> (String, Vec<String>) {
    let assert = gravitile(folder, args).timeout(LONG_PATIENCE).assert().success();
    let output = assert.get_output();
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|it| String::from_utf8(it.clone()).unwrap());
    let file = |line: &str| {
        line.strip_prefix("wrote ").unwrap_or_else(|| panic!("{args} warns: {stderr}")).to_owned()
    };
    let files = stderr.lines().map(file).collect();
    (stdout, files)
}

/// Runs a command that must succeed without warnings, and returns the text on stdout.
fn stdout(folder: &Path, args: &str) -> String {
    run(folder, args).0
}

fn json(folder: &Path, args: &str) -> serde_json::Value {
    let text = stdout(folder, args);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{args}: {error} in\n{text}"))
}
