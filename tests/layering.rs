//! Tests the layers of `src/lib.rs`: which module may use which other module, and which modules may use OpenCL, OpenGL,
//! the window and the panel. Reads the tokens of the sources: ignores comments, doc links and strings, but includes the
//! contents of macros.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Spacing, TokenStream, TokenTree};

/// Files and folders in `src/`, each with the modules that it may use in addition to itself.
///
/// The rows are in the order of the layers, from the top down. A row names only rows below it, so that there are no
/// cycles. A new module needs a row.
const LAYERS: &[(&str, &str)] = &[
    ("main", "commands cli base"),
    // `lib.rs` declares every module and contains no code.
    ("lib", ""),
    ("commands", "cli app ui export session engine modes scene view compute base"),
    ("cli", "export engine modes scene compute base"),
    ("app", "ui export session engine modes scene view compute base"),
    ("ui", "export session engine modes scene compute base"),
    ("export", "engine modes compute base"),
    ("session", "engine modes compute base"),
    ("engine", "modes scene compute base"),
    ("modes", "scene compute base"),
    ("view", "base"),
    ("scene", "base"),
    ("compute", "base"),
    ("base", ""),
];

/// Outside libraries that only the listed modules may use. Any module may use the other libraries.
const CRATES: &[(&str, &str)] = &[
    ("ocl", "compute"),
    ("ocl_core", "compute"),
    ("cl_sys", "compute"),
    ("mpi", "compute"),
    ("glium", "view app"),
    ("glutin", "view app"),
    ("glutin_winit", "app"),
    ("raw_window_handle", "view app"),
    ("winit", "app"),
    ("egui", "ui app"),
    ("egui_plot", "ui"),
    ("egui_code_editor", "ui"),
    ("similar", "engine"),
    ("egui_file_dialog", "ui"),
    ("egui_glium", "app"),
    ("egui_winit", "app"),
];

#[test]
fn modules_use_only_lower_layers() {
    let mut found = Vec::new();
    for file in files("src").into_iter().filter(|file| file.extension().is_some_and(|it| it == "rs")) {
        let source = fs::read_to_string(&file).unwrap();
        let path = module_path(&file);
        found.extend(violations(&path, &source).into_iter().map(|it| format!("{}:{it}", shown(&file))));
    }
    assert!(found.is_empty(), "against the layers in tests/layering.rs:\n{}", found.join("\n"));
}

#[test]
fn every_module_has_a_row_in_the_layer_table() {
    let placed: BTreeSet<_> = LAYERS.iter().map(|row| row.0.to_owned()).collect();
    let present: BTreeSet<_> = files("src").iter().map(|file| layer(&module_path(file)).to_owned()).collect();
    let missing: Vec<_> = present.difference(&placed).collect();
    assert!(missing.is_empty(), "add a row to LAYERS in tests/layering.rs for {missing:?}");
}

#[test]
fn layer_tables_refer_only_to_rows_below() {
    for (at, (module, uses)) in LAYERS.iter().enumerate() {
        for used in words(uses) {
            assert!(
                LAYERS[at + 1..].iter().any(|row| row.0 == used),
                "{module} uses {used}: not a row below it"
            );
        }
    }
    for module in CRATES.iter().flat_map(|row| words(row.1)) {
        assert!(LAYERS.iter().any(|row| row.0 == module), "CRATES names {module}, which is no row of LAYERS");
    }
}

/// Files do not use each other in a cycle, neither directly nor through other files. A path through a `pub use` in
/// `mod.rs` counts as a path to the file that defines the item.
#[test]
fn source_files_have_no_dependency_cycles() {
    let sources = files("src").into_iter().filter(|file| file.extension().is_some_and(|it| it == "rs"));
    let modules: BTreeMap<String, Vec<Name>> = sources
        .map(|file| (module_path(&file), fs::read_to_string(&file).unwrap()))
        .map(|(module, source)| (module.join("::"), names_in(&module, &source)))
        .collect();
    let circles = circles(&modules);
    assert!(circles.is_empty(), "files that need each other:\n{}", circles.join("\n"));
}

/// Returns the groups of modules that use each other in a cycle, each as a list of arrows.
fn circles(modules: &BTreeMap<String, Vec<Name>>) -> Vec<String> {
    let arrows: BTreeMap<&String, BTreeMap<String, String>> = modules
        .iter()
        .map(|(module, names)| {
            let targets = names.iter().filter(|name| !name.passed_on).filter_map(|name| {
                let path = match name.path[0].as_str() {
                    "crate" => name.path[1..].to_vec(),
                    // A module may use its own child modules without `self::`.
                    child if modules.contains_key(&format!("{module}::{child}")) => {
                        module.split("::").map(str::to_owned).chain(name.path.iter().cloned()).collect()
                    }
                    _ => return None,
                };
                Some((defined_in(&path, modules, 0), path.join("::")))
            });
            (module, targets.filter(|(target, _)| target != module && !target.is_empty()).collect())
        })
        .collect();
    let reached = |start: &String| {
        let mut found = BTreeSet::new();
        let mut todo = vec![start];
        while let Some(module) = todo.pop() {
            for target in arrows.get(module).into_iter().flat_map(BTreeMap::keys) {
                if found.insert(target) {
                    todo.push(target);
                }
            }
        }
        found
    };
    let reached: BTreeMap<&String, BTreeSet<&String>> = modules.keys().map(|it| (it, reached(it))).collect();
    let mut placed = BTreeSet::new();
    let mut circles = Vec::new();
    for module in modules.keys().filter(|module| reached[module].contains(module)) {
        if placed.contains(module) {
            continue;
        }
        let circle: BTreeSet<_> = modules
            .keys()
            .filter(|it| reached[module].contains(it) && reached[it].contains(module))
            .collect();
        for from in &circle {
            for (to, name) in arrows[from].iter().filter(|(to, _)| circle.contains(to)) {
                circles.push(format!("{from} -> {to}: {name}"));
            }
        }
        placed.extend(circle);
    }
    circles
}

/// Returns the module that defines the item `path`, following `use` declarations in `mod.rs` files.
fn defined_in(path: &[String], modules: &BTreeMap<String, Vec<Name>>, depth: usize) -> String {
    let mut module = String::new();
    for (at, name) in path.iter().enumerate() {
        let inner = if at == 0 { name.clone() } else { format!("{module}::{name}") };
        if modules.contains_key(&inner) {
            module = inner;
            continue;
        }
        let imported = modules.get(&module).into_iter().flatten().find(|import| {
            import.path[0] == "crate" && import.path.last() == Some(name) && import.path[1..] != *path
        });
        return match imported {
            Some(import) if depth < 8 => {
                let whole: Vec<_> = import.path[1..].iter().chain(&path[at + 1..]).cloned().collect();
                defined_in(&whole, modules, depth + 1)
            }
            _ => module,
        };
    }
    module
}

/// No file contains an absolute path that exists only on a developer's machine.
#[test]
fn files_contain_no_machine_specific_paths() {
    // Each string is split in two, so that the test accepts this file.
    let forbidden = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];
    let roots = [
        "README.md",
        "CHANGELOG.md",
        "src",
        "tests",
        "benches",
        "kernels",
        "shaders",
        "assets",
        "scripts",
        ".ci",
    ];
    for file in roots.iter().flat_map(|root| files(root)) {
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        for (line, number) in text.lines().zip(1..) {
            for path in forbidden {
                assert!(!line.contains(path), "{}:{number}: names {path}", shown(&file));
            }
        }
    }
}

/// Returns the violations of the tables `LAYERS` and `CRATES` by `source`, the text of `module`, as "line: message".
fn violations(module: &[String], source: &str) -> Vec<String> {
    let layer = layer(module);
    let mut found = Vec::new();
    for Name { line, path, .. } in names_in(module, source) {
        let first = path.first().map_or("", String::as_str);
        if first == "crate" {
            match path.get(1) {
                Some(used) if may_use(layer, used) => {}
                Some(used) => found.push(format!("{line}: {layer} may not use {used}")),
                None => found.push(format!("{line}: {layer} names the whole crate; name what it uses")),
            }
            continue;
        }
        // Checks the whole path, because crates re-export each other (`glium::winit`).
        for name in &path {
            if let Some((_, users)) = CRATES.iter().find(|row| row.0 == *name)
                && !words(users).any(|user| user == layer)
            {
                found.push(format!("{line}: {layer} may not use the crate {name}"));
            }
        }
    }
    found.dedup(); // one branch of a `use` names the same module several times
    found
}

/// Returns the paths to modules and items that `source`, the text of `module`, mentions.
fn names_in(module: &[String], source: &str) -> Vec<Name> {
    let tokens: TokenStream = source.parse().expect("a Rust source");
    let mut names = Vec::new();
    scan(&flat(tokens), module, &mut names);
    names
}

/// Returns whether the table allows `layer` to use the module `used`.
fn may_use(layer: &str, used: &str) -> bool {
    layer == used || LAYERS.iter().any(|(module, uses)| *module == layer && words(uses).any(|it| it == used))
}

fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split_whitespace()
}

/// Returns the row of `LAYERS` that a module belongs to.
fn layer(module: &[String]) -> &str {
    &module[0]
}

/// A path mentioned in a source file, starting with `crate` or with the name of a library.
struct Name {
    line: usize,
    path: Vec<String>,
    /// Whether the name is re-exported by a `pub use`.
    passed_on: bool,
}

/// A token of Rust source. `::` is one token, and so is each bracket.
struct Token {
    text: String,
    line: usize,
}

fn flat(tokens: TokenStream) -> Vec<Token> {
    let mut out = Vec::<Token>::new();
    let mut joint = false; // the last token was a colon that touches the next one
    for tree in tokens {
        let line = tree.span().start().line;
        let mut push = |text: String| out.push(Token { text, line });
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    proc_macro2::Delimiter::Brace => ("{", "}"),
                    proc_macro2::Delimiter::Bracket => ("[", "]"),
                    _ => ("(", ")"),
                };
                push(open.into());
                out.extend(flat(group.stream()));
                out.push(Token { text: close.into(), line: group.span().end().line });
                joint = false;
            }
            TokenTree::Punct(punct) => {
                if joint && punct.as_char() == ':' {
                    out.last_mut().unwrap().text = "::".into();
                    joint = false;
                } else {
                    push(punct.to_string());
                    joint = punct.as_char() == ':' && punct.spacing() == Spacing::Joint;
                }
            }
            TokenTree::Ident(ident) => {
                push(ident.to_string().trim_start_matches("r#").to_owned());
                joint = false;
            }
            // Doc comments also arrive here, as string literals.
            TokenTree::Literal(_) => {
                push("literal".into());
                joint = false;
            }
        }
    }
    out
}

/// Collects the paths in `tokens`, the contents of `module`.
fn scan(tokens: &[Token], module: &[String], names: &mut Vec<Name>) {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let mut at = 0;
    while at < tokens.len() {
        if text(at) == "mod" && text(at + 2) == "{" {
            // In an inline module, `super` means the outer module.
            let end = closing(tokens, at + 2);
            let inner: Vec<_> = module.iter().cloned().chain([text(at + 1).to_owned()]).collect();
            scan(&tokens[at + 3..end], &inner, names);
            at = end;
        } else if text(at) == "use" || (text(at) == "crate" && text(at.wrapping_sub(1)) == "extern") {
            let first = names.len();
            // `pub use` and `pub(crate) use` re-export a name.
            let public = ["pub", ")"].contains(&text(at.wrapping_sub(1)));
            at = tree(tokens, at + 1, &[], module, names);
            for name in &mut names[first..] {
                name.passed_on = public;
            }
        } else if is_name(text(at)) && text(at + 1) == "::" {
            at = tree(tokens, at, &[], module, names);
        } else {
            at += 1;
        }
    }
}

/// Parses a path or a `use` tree that starts at the token `at`; `prefix` is the path before the braces. Returns the
/// index after the tree.
fn tree(
    tokens: &[Token],
    mut at: usize,
    prefix: &[String],
    module: &[String],
    names: &mut Vec<Name>,
) -> usize {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let start = at;
    let mut path = prefix.to_vec();
    let mut more = true; // at the start, and after a `::`
    if text(at) == "::" {
        at += 1;
    }
    while more && is_name(text(at)) {
        path.push(text(at).to_owned());
        more = text(at + 1) == "::";
        at += if more { 2 } else { 1 };
    }
    if more && text(at) == "{" {
        let end = closing(tokens, at);
        while at < end {
            at = tree(tokens, at + 1, &path, module, names);
            // Continues with the next branch, after `*` or `as name`.
            while at < end && text(at) != "," {
                at += 1;
            }
        }
        return end + 1;
    }
    // After a trailing comma, no path is left before the closing brace.
    if path.len() > prefix.len() || text(at) == "*" {
        names.push(Name { line: tokens[start].line, path: absolute(path, module), passed_on: false });
    }
    at
}

/// Resolves `super::x` and `self::x` to a path from the crate root; leaves other paths unchanged.
fn absolute(path: Vec<String>, module: &[String]) -> Vec<String> {
    let mut base = match path[0].as_str() {
        // The binary refers to the library by the package's name.
        "crate" | "gravitile" => vec![],
        "self" | "super" => module.to_vec(),
        _ => return path,
    };
    for name in &path {
        match name.as_str() {
            "super" => drop(base.pop()),
            "crate" | "gravitile" | "self" => {}
            _ => base.push(name.clone()),
        }
    }
    base.insert(0, "crate".into());
    base
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Returns the index of the bracket that closes the bracket at `open`.
fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}

/// Returns the module path of a file: `a::b` for `src/a/b.rs` and `src/a/b/mod.rs`, `lib` for `src/lib.rs`.
fn module_path(file: &Path) -> Vec<String> {
    let inside = file.strip_prefix(root().join("src")).unwrap().with_extension("");
    let mut path: Vec<_> = inside.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
    if path.len() > 1 && path.last().unwrap() == "mod" {
        path.pop();
    }
    path
}

/// Returns the path of a file relative to the repository's root, for messages.
fn shown(file: &Path) -> std::path::Display<'_> {
    file.strip_prefix(root()).unwrap_or(file).display()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns all files of the repository below `name`, which may also be a file, or not exist.
fn files(name: &str) -> Vec<PathBuf> {
    let mut todo = vec![root().join(name)];
    let mut found = Vec::new();
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            todo.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Tests the parser of this file, and that each rule can fail.
mod scanner {
    use super::{names_in, violations, words};

    /// Returns the violations by `source`, the text of `module`, without their line numbers.
    fn found(module: &str, source: &str) -> Vec<String> {
        let path: Vec<_> = module.split("::").map(str::to_owned).collect();
        violations(&path, source).iter().map(|it| it.rsplit(' ').next().unwrap().to_owned()).collect()
    }

    #[test]
    fn every_forbidden_dependency_is_detected() {
        for (module, uses) in super::LAYERS {
            for (other, _) in super::LAYERS {
                let wanted =
                    if module == other || words(uses).any(|it| it == *other) { vec![] } else { vec![*other] };
                assert_eq!(found(module, &format!("use crate::{other}::X;")), wanted, "{other} in {module}");
            }
            for (name, users) in super::CRATES {
                let wanted = if words(users).any(|it| it == *module) { vec![] } else { vec![*name] };
                assert_eq!(found(module, &format!("use {name}::X;")), wanted, "{name} in {module}");
            }
        }
    }

    #[test]
    fn every_syntax_that_names_a_module_is_detected() {
        for source in [
            "use crate::modes::Mode;",
            "use crate::modes;",
            "use crate::{modes::Mode};",
            "use crate::{base::{bodies::Points, error::Result}, modes as m,};",
            "use ::gravitile::modes::Mode;",
            "use super::modes::Mode;",
            "use super::{base::bodies::Points, modes::Mode};",
            "pub use self::super::modes::*;",
            "fn f(mode: &dyn crate::modes::Mode) {}",
            "fn f() { use crate::modes::Mode; }",
            "fn f() { println!(\"{}\", crate::modes::MODES.len()); }",
            "mod tests { use super::super::modes::Mode; }",
            "#[serde(default = crate::modes::f)] struct S;",
            "use crate::r#modes::Mode;",
        ] {
            assert_eq!(found("view", source), ["modes"], "{source}");
        }
        assert_eq!(found("view::points", "use super::super::modes::Mode;"), ["modes"]);
        assert_eq!(
            found("view", "use crate::{engine::{A, B}, modes::C}; use crate::ui;"),
            ["engine", "modes", "ui"]
        );
    }

    #[test]
    fn every_syntax_that_names_a_crate_is_detected() {
        for source in [
            "use ocl;",
            "use ocl::Buffer;",
            "use {glam::Vec3, ocl::{Buffer, Queue}};",
            "use ::ocl::Buffer;",
            "extern crate ocl as other;",
            "fn f(buffer: &ocl::Buffer<f32>) {}",
            "fn f() { let all = vec![ocl::Platform::list()]; }",
        ] {
            assert_eq!(found("view", source), ["ocl"], "{source}");
        }
        // `view` may use `glium`, but not `winit`, which `glium` re-exports.
        assert_eq!(found("view", "use glium::winit::window::Window;"), ["winit"]);
    }

    #[test]
    fn imports_of_the_whole_crate_are_refused() {
        for source in ["use crate::*;", "use super::*;", "use crate::{self as all};"] {
            assert_eq!(found("view", source), ["uses"], "{source}");
        }
    }

    #[test]
    fn comments_strings_and_local_paths_are_not_reported() {
        for source in [
            "// use crate::modes::Mode;",
            "/* ocl::Buffer */",
            "//! See [`crate::modes::Mode`].",
            "/// See [`crate::modes::Mode`] and `ocl::Buffer`.\nfn f() {}",
            "const S: &str = \"use crate::modes::Mode; ocl::Buffer\";",
            "const S: &str = r#\"use ocl::Buffer\"#;",
            "use crate::view::camera::Camera;",
            "use self::modes::Mode;",
            "mod modes; use super::view::modes::X;",
            "mod tests { use super::*; use super::modes; }",
            "pub(crate) fn f() -> impl Iterator + use<> { ocl() }",
            "fn f() { let ocl = Point { x: 1 }; ocl.x::<u8>(); }",
            "use crate::{base::{self, bodies::Points, error::Result},};",
        ] {
            assert_eq!(found("view", source), [""; 0], "{source}");
        }
        assert_eq!(found("view::points", "use super::*; use super::modes;"), [""; 0]);
    }

    #[test]
    fn only_public_use_declarations_reexport_a_name() {
        let passes_on = |source| names_in(&["view".to_owned()], source)[0].passed_on;
        assert!(passes_on("pub use super::base::X;") && passes_on("pub(crate) use super::base::X;"));
        for source in
            ["use super::base::X;", "//! A module.\nuse super::base::X;", "#[cfg(test)]\nuse super::base::X;"]
        {
            assert!(!passes_on(source), "{source}");
        }
    }

    #[test]
    fn violations_are_reported_with_their_line() {
        let path = ["view".to_owned()];
        let found = violations(&path, "\n\nuse crate::{\n    base,\n    modes,\n};\n");
        assert_eq!(found, ["5: view may not use modes"]);
    }
}
