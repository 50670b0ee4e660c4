//! Tests the README and the documents: every command that they show is parsed, and every link leads somewhere. The quick
//! commands of the guide run; with `scripts/test --all`, those of all documents run.
//!
//! Commands stand in blocks that begin with ```` ```sh ````. The commands of one document run in order in one temporary
//! folder, so that a command finds the files that an earlier one wrote. To stay quick, they run with few bodies, few
//! steps and small pictures.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use gravitile::cli::Cli;
use gravitile::modes;

use super::cli::{folder, gravitile};

/// Maximum number of lines in the README.
const MOST_README_LINES: usize = 130;
/// Programs other than gravitile whose commands the documents show; the test does not run them.
const OTHER_PROGRAMS: [&str; 7] = ["cmake", "export", "man", "pocld", "sbatch", "sudo", "tar"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the documents as pairs of path, relative to the root of the repository, and text.
fn documents() -> Vec<(String, String)> {
    let mut names = vec!["README.md".to_owned(), "CHANGELOG.md".to_owned()];
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") {
            names.push(format!("docs/{name}"));
        }
    }
    names.sort();
    let read = |name: String| (name.clone(), fs::read_to_string(root().join(&name)).unwrap());
    names.into_iter().map(read).collect()
}

/// Returns the commands in a document: the lines of its `sh` blocks without comments, with continued lines joined.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut is_shell, mut command) = (false, String::new());
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_shell = !is_shell && ["sh", "console"].contains(&line.trim_start().trim_start_matches('`'));
        } else if is_shell && !line.starts_with('#') {
            let line = line.split(" #").next().unwrap().trim();
            let (line, is_continued) =
                line.strip_suffix('\\').map_or((line, false), |line| (line.trim_end(), true));
            command = format!("{command} {line}").trim().to_owned();
            if !is_continued && !command.is_empty() {
                found.push(std::mem::take(&mut command));
            }
        }
    }
    found
}

/// Splits a command into words. Quotes keep the words of an argument together.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    for c in command.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// A command that a document shows.
#[derive(Debug)]
enum Shown {
    /// A call of gravitile with these arguments.
    Gravitile(Vec<String>),
    /// A file or folder operation that runs in the temporary folder.
    Files(Vec<String>),
    /// A command that is only checked and not run.
    Checked,
}

/// Parses a command of a document. An error describes what is wrong with the command.
fn understand(command: &str) -> Result<Shown, String> {
    let mut words = words(command);
    let is_variable = |word: &String| {
        word.split_once('=').is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
    };
    while words.first().is_some_and(is_variable) {
        words.remove(0);
    }
    let Some(program) = words.first().cloned() else { return Ok(Shown::Checked) };
    let arguments = words.split_off(1);
    match program.as_str() {
        "scripts/run" | "gravitile" => {
            let all = [vec!["gravitile".to_owned()], arguments.clone()].concat();
            Cli::try_parse_from(all).map_err(|error| error.to_string())?;
            Ok(Shown::Gravitile(arguments))
        }
        script if script.starts_with("scripts/") => {
            let text = fs::read_to_string(root().join(script)).map_err(|error| error.to_string())?;
            let unknown =
                arguments.iter().find(|argument| argument.starts_with("--") && !text.contains(*argument));
            unknown.map_or(Ok(Shown::Checked), |option| Err(format!("{script} does not know {option}")))
        }
        "cargo" => {
            let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
            let bench = arguments.iter().position(|word| word == "--bench").map(|at| &arguments[at + 1]);
            match bench {
                Some(name) if !manifest.contains(&format!("name = \"{name}\"")) => {
                    Err(format!("there is no benchmark {name}"))
                }
                _ => Ok(Shown::Checked),
            }
        }
        "mpirun" | "srun" => {
            let at = arguments.iter().position(|word| word.ends_with("gravitile"));
            let at = at.ok_or_else(|| format!("{program} starts another program"))?;
            Cli::try_parse_from(&arguments[at..]).map_err(|error| error.to_string())?;
            Ok(Shown::Checked)
        }
        "cp" | "mkdir" => Ok(Shown::Files([vec![program], arguments].concat())),
        other if OTHER_PROGRAMS.contains(&other) => Ok(Shown::Checked),
        other => Err(format!("the test does not know the program {other}")),
    }
}

/// Takes an option with its values out of `arguments`.
fn take(arguments: &mut Vec<String>, option: &str) -> Option<Vec<String>> {
    let at = arguments.iter().position(|word| word == option)?;
    let end = arguments[at + 1..].iter().position(|word| word.starts_with("--"));
    let end = end.map_or(arguments.len(), |end| at + 1 + end);
    Some(arguments.drain(at..end).skip(1).collect())
}

/// Replaces the value of an option if the option is given. If `always` is true, adds the option if it is missing.
fn set(arguments: &mut Vec<String>, option: &str, value: &str, always: bool) {
    if take(arguments, option).is_some() || always {
        arguments.extend([option.to_owned(), value.to_owned()]);
    }
}

/// Reduces a command so that it runs quickly in this test. Returns `None` if the command opens a window, or needs
/// several devices or minutes.
fn small(mut arguments: Vec<String>) -> Option<Vec<String>> {
    let name = arguments.first().map_or("", String::as_str).to_owned();
    let is_long = ["--devices", "--tune", "--kernels"].iter().any(|word| arguments.iter().any(|w| w == word));
    match name.as_str() {
        "devices" | "completions" | "man" => {}
        _ if is_long => return None,
        "run" | "render" => {
            set(&mut arguments, "--bodies", "300", false);
            set(&mut arguments, "--cells", "2000", false);
            set(&mut arguments, "--steps", "3", true);
            if name == "render" {
                set(&mut arguments, "--size", "64x48", true);
                set(&mut arguments, "--frames", "2", false);
            }
        }
        "bench" => {
            let mode = take(&mut arguments, "--mode").map_or("gravity".to_owned(), |value| value.concat());
            // A list of values is only valid for the single variant that uses the parameter.
            let has_list = arguments.iter().any(|word| word.starts_with("opening="));
            let variant = if has_list { "tree" } else { "naive" };
            let variant = if mode == "fluid" { "fused" } else { variant };
            let quick = [("--repeats", "1"), ("--seconds", "0.01")];
            for (option, value) in
                [("--mode", mode.as_str()), ("--variant", variant)].into_iter().chain(quick)
            {
                set(&mut arguments, option, value, true);
            }
            // A snapshot determines its own number of bodies.
            if !arguments.iter().any(|word| word == "--resume") {
                set(&mut arguments, "--bodies", "300", true);
            }
        }
        _ => return None,
    }
    Some(arguments)
}

#[test]
fn every_command_in_the_documents_is_valid_and_cheap_ones_of_the_guide_run() {
    run_commands(|name| name == "docs/guide.md", 8);
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn every_cheap_command_in_the_documents_runs() {
    run_commands(|_| true, 30);
}

/// Parses the commands in all documents, and runs the cheap ones in the documents for which `runs` returns true. At least
/// `least` commands must have run.
fn run_commands(runs: impl Fn(&str) -> bool, least: usize) {
    let (mut parsed, mut ran, mut wrong) = (0, BTreeSet::new(), Vec::new());
    let examples = root().join("tests/fixtures/before-17");
    for (name, text) in documents() {
        let folder = folder();
        for file in ["box.params", "box.dat"] {
            fs::copy(examples.join(file), folder.path().join(file)).unwrap();
        }
        for command in commands(&text) {
            parsed += 1;
            let fault = match understand(&command) {
                Err(fault) => Some(fault),
                Ok(Shown::Checked) => None,
                Ok(_) if !runs(&name) => None,
                Ok(Shown::Files(words)) => run_on_files(folder.path(), &words),
                Ok(Shown::Gravitile(arguments)) => small(arguments).and_then(|arguments| {
                    // A command that names no files needs to run only once, even if several documents show it.
                    let is_new = ran.insert(arguments.clone());
                    if !is_new && !arguments.iter().any(|word| word.contains('.')) {
                        return None;
                    }
                    // The encoder for MP4 may not be installed; GIF needs none.
                    let arguments = arguments.iter().map(|word| word.replace(".mp4", ".gif"));
                    let output = gravitile(folder.path(), "").args(arguments).output().unwrap();
                    let stderr = String::from_utf8_lossy(&output.stderr);
                    let only_names_files = stderr.lines().all(|line| line.starts_with("wrote "));
                    let is_fine = output.status.success() && only_names_files;
                    (!is_fine).then(|| stderr.into_owned())
                }),
            };
            wrong.extend(fault.map(|fault| format!("{name}: {command}\n    {fault}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(parsed > 40 && ran.len() >= least, "{parsed} commands, of which {} ran", ran.len());
}

/// Copies a file of the repository, or makes a folder, in the temporary folder. Returns a description of an error.
fn run_on_files(folder: &Path, words: &[String]) -> Option<String> {
    match words {
        [program, from, to] if program == "cp" => {
            fs::copy(root().join(from), folder.join(to)).err().map(|error| format!("{from}: {error}"))
        }
        [program, option, made] if program == "mkdir" && option == "-p" => {
            fs::create_dir_all(folder.join(made)).err().map(|error| error.to_string())
        }
        _ => Some("the test runs only `cp FROM TO` and `mkdir -p FOLDER`".to_owned()),
    }
}

#[test]
fn mistakes_in_documented_commands_are_detected() {
    let understood = [
        "scripts/run --mode fluid",
        "A=1 B=2 gravitile run --steps 5",
        "cargo bench --bench peers",
        "mpirun -n 2 target/release/gravitile run",
    ];
    for command in understood {
        understand(command).unwrap_or_else(|fault| panic!("{command}: {fault}"));
    }
    for command in [
        "scripts/run --moed fluid",
        "gravitile walk",
        "scripts/tset",
        "scripts/test --everything",
        "cargo bench --bench nobody",
        "curl example.org",
        "mpirun -n 2 gravitile walk",
        "mpirun -n 2 other",
    ] {
        assert!(understand(command).is_err(), "{command} is taken for right");
    }
    let text =
        "```sh\nscripts/run devices # lists\nA=1 \\\nscripts/test\n```\n```toml\nx\n```\nscripts/run x\n";
    assert_eq!(commands(text), ["scripts/run devices", "A=1 scripts/test"]);
}

/// Returns the anchor that GitHub gives to a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    kept.chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// Returns the anchors of all headings in a document.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let headings = text.lines().filter(|line| {
        is_code ^= line.trim_start().starts_with("```");
        !is_code && line.starts_with('#')
    });
    headings.map(|line| anchor(line.trim_start_matches('#'))).collect()
}

/// Returns the targets of the links and pictures in a text.
fn links(text: &str) -> Vec<&str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect()
}

/// Returns a description of what is wrong with a link in the document `name`; `None` if the link is valid.
fn broken(name: &str, text: &str, link: &str) -> Option<String> {
    if link.starts_with("https://") {
        return None;
    }
    let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
    let path = root().join(name).parent().unwrap().join(file);
    if !file.is_empty() && !path.exists() {
        return Some(format!("{name}: {link} names no file"));
    }
    let target = match file.is_empty() {
        true => text.to_owned(),
        false if fragment.is_empty() => return None,
        false => fs::read_to_string(path).unwrap(),
    };
    (!anchors(&target).contains(fragment)).then(|| format!("{name}: {link} names no heading"))
}

#[test]
fn every_link_and_picture_in_the_documents_exists() {
    let mut wrong = Vec::new();
    let mut all = BTreeSet::new();
    for (name, text) in documents() {
        for link in links(&text) {
            all.insert(link.split('#').next().unwrap().rsplit('/').next().unwrap().to_owned());
            wrong.extend(broken(&name, &text, link));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        assert!(all.contains(&file), "no document links to docs/{file}");
    }
    let text = "# A heading: `x`!\n";
    assert_eq!(broken("README.md", text, "#a-heading-x"), None);
    assert!(
        broken("README.md", text, "#another").is_some() && broken("README.md", text, "none.md").is_some()
    );
}

#[test]
fn the_readme_is_short() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    let lines = text.lines().count();
    assert!(lines <= MOST_README_LINES, "README.md has {lines} lines; move some into docs/");
}

/// Every path in a code span, such as `src/modes/mod.rs`, names a file or folder of the repository.
#[test]
fn every_path_in_the_documents_exists() {
    let mut wrong = Vec::new();
    for (name, text) in documents().into_iter().filter(|(name, _)| name != "CHANGELOG.md") {
        for span in text.split('`').skip(1).step_by(2) {
            let roots =
                ["src/", "kernels/", "shaders/", "assets/", "tests/", "scripts/", "benches/", "docs/"];
            let is_path =
                roots.iter().any(|root| span.starts_with(root)) && !span.contains([' ', '*', '<', '\n']);
            if is_path && !root().join(span).exists() {
                wrong.push(format!("{name}: {span}"));
            }
        }
    }
    assert!(wrong.is_empty(), "no such files:\n{}", wrong.join("\n"));
}

/// Every scene, variant, compile-time parameter, parameter, appearance setting and option appears in the documents.
#[test]
fn the_documents_mention_every_scene_variant_and_option() {
    let text: String = documents().into_iter().map(|(_, text)| text).collect();
    let mut missing = BTreeSet::new();
    let mut seek = |name: &str| {
        if !text.contains(&format!("`{name}`")) && !text.contains(&format!("--{name}")) {
            missing.insert(name.to_owned());
        }
    };
    for mode in modes::MODES {
        seek(mode.name);
        mode.scenes.iter().for_each(|scene| seek(&scene.name));
        for variant in mode.variants {
            seek(variant.name);
            variant.knobs.iter().for_each(|knob| seek(knob.name));
        }
    }
    assert!(missing.is_empty(), "the documents do not mention {missing:?}");
}

/// Returns the `rust` and `c` code blocks of a document: the file or folder that the first line names, and the excerpts
/// between lines `// …`.
fn excerpts(text: &str) -> Vec<(String, Vec<Vec<String>>)> {
    let mut found: Vec<(String, Vec<Vec<String>>)> = Vec::new();
    let mut is_code = false;
    for line in text.lines().map(str::trim) {
        match (is_code, line) {
            (false, "```rust" | "```c") => {
                is_code = true;
                found.push((String::new(), vec![Vec::new()]));
            }
            (true, "```") => is_code = false,
            (true, line) => {
                let (file, parts) = found.last_mut().unwrap();
                match line {
                    _ if file.is_empty() => *file = line.trim_start_matches("// ").to_owned(),
                    "// …" => parts.push(Vec::new()),
                    "" => {}
                    line => parts.last_mut().unwrap().push(line.to_owned()),
                }
            }
            (false, _) => {}
        }
    }
    found
}

/// Returns whether a source contains an excerpt's lines in sequence. `…` at the end of a line matches anything.
fn holds(source: &str, part: &[String]) -> bool {
    let lines: Vec<_> = source.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_same = |(line, shown): (&&str, &String)| match shown.strip_suffix('…') {
        Some(beginning) => line.starts_with(beginning.trim()),
        None => line == shown,
    };
    lines.windows(part.len()).any(|window| window.iter().zip(part).all(is_same))
}

/// Returns the text of a file, or of each file in a folder.
fn sources(place: &Path) -> Vec<String> {
    match fs::read_dir(place) {
        Ok(entries) => entries.filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok()).collect(),
        Err(_) => fs::read_to_string(place).into_iter().collect(),
    }
}

#[test]
fn code_in_the_documents_matches_the_source() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (name, text) in documents() {
        for (place, parts) in excerpts(&text) {
            let sources = sources(&root().join(&place));
            for part in parts.iter().filter(|part| !part.is_empty()) {
                count += 1;
                if !sources.iter().any(|source| holds(source, part)) {
                    wrong.push(format!("{name}: {place} has no lines\n{}", part.join("\n")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(count >= 8, "only {count} excerpts");
    let text = "```rust\n// a.rs\nx();\n// …\n\ny();\n```\n";
    let part = |line: &str| vec![line.to_owned()];
    assert_eq!(excerpts(text), [("a.rs".to_owned(), vec![part("x();"), part("y();")])]);
    assert!(holds("a\n  b(1)\n", &part("b(…")) && !holds("a\nb(1)\n", &part("b(")));
}

/// Every label of the window that the documents quote, such as *Free run*, exists in the program.
#[test]
fn labels_in_the_documents_exist_in_the_window() {
    let mut places = vec![root().join("assets/scenes")];
    for room in ["ui", "ui/lens", "ui/lesson", "modes", "base/look", "engine"] {
        places.push(root().join("src").join(room));
    }
    for mode in modes::MODES {
        places.push(root().join("src/modes").join(mode.name));
    }
    let program: String = places.iter().flat_map(|place| sources(place)).collect();
    let mut wrong = Vec::new();
    for (name, text) in documents().into_iter().filter(|(name, _)| name != "CHANGELOG.md") {
        let prose: String = text.split('`').step_by(2).collect();
        for piece in prose.replace("**", "").split('*').skip(1).step_by(2) {
            let is_label = piece.starts_with(char::is_uppercase) && !piece.contains('\n');
            if is_label && !program.contains(&format!("\"{piece}\"")) {
                wrong.push(format!("{name}: *{piece}*"));
            }
        }
    }
    assert!(wrong.is_empty(), "the window has no such labels:\n{}", wrong.join("\n"));
}
