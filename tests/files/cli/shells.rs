//! Tests the completions for shells, and the manual pages.

use std::collections::BTreeSet;
use std::fs;

use clap::{CommandFactory, ValueEnum};
use clap_complete::Shell;
use gravitile::cli::Cli;

use super::{folder, stdout};

/// Returns the names of all commands.
fn commands() -> BTreeSet<String> {
    let commands: BTreeSet<_> =
        Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect();
    assert!(commands.len() > 6 && commands.contains("run"), "{commands:?}");
    commands
}

#[test]
fn completions_of_every_shell_name_every_command() {
    for shell in Shell::value_variants() {
        let text = stdout(folder().path(), &format!("completions {shell}"));
        let words: BTreeSet<_> =
            text.split(|c: char| !c.is_alphanumeric() && c != '-').map(str::to_owned).collect();
        let missing: Vec<_> = commands().difference(&words).cloned().collect();
        assert!(missing.is_empty(), "{shell} does not complete {missing:?}");
        assert!(words.iter().any(|word| word.ends_with("steps-per-frame")), "{shell} completes no options");
    }
}

#[cfg(unix)]
#[test]
fn bash_completes_every_command() {
    let script = stdout(folder().path(), "completions bash")
        + "\nCOMP_WORDS=(gravitile '') COMP_CWORD=1 COMP_TYPE=9; _gravitile gravitile '' gravitile; echo \"${COMPREPLY[@]}\"";
    let output = std::process::Command::new("bash").args(["--norc", "-c", &script]).output().unwrap();
    let offered = String::from_utf8(output.stdout).unwrap();
    let offered: BTreeSet<_> = offered.split_whitespace().map(str::to_owned).collect();
    assert!(commands().is_subset(&offered), "bash offers {offered:?}");
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let folder = folder();
    let manual = stdout(folder.path(), "man");
    assert!(manual.contains(".SH SYNOPSIS") && manual.contains("steps\\-per\\-frame"), "{manual}");
    stdout(folder.path(), "man --out .");
    assert_eq!(fs::read_to_string(folder.path().join("gravitile.1")).unwrap(), manual);
    for command in commands() {
        assert!(manual.contains(&format!("gravitile\\-{command}(1)")), "{command} is not in\n{manual}");
        let page = fs::read_to_string(folder.path().join(format!("gravitile-{command}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{page}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_reported() {
    for args in ["completions bash", "man"] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gravitile"));
        let output =
            command.args(args.split(' ')).stdout(fs::File::create("/dev/full").unwrap()).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args}: {told}");
        assert!(
            told.starts_with("gravitile: cannot write the ") && told.lines().count() == 1,
            "{args}: {told}"
        );
    }
}
