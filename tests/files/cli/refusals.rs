//! Tests refused commands: exit code 2, one line on stderr that says what is wrong and what is allowed, no output on
//! stdout, no file left behind, and no long computation before the refusal.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use gravitile::modes::MODES;

use super::{folder, gravitile};

/// Names and contents of the files in the folder in which the refused commands run.
const FILES: &[(&str, &str)] = &[
    ("header.csv", "a,b,c\n1,2,3\n"),
    ("word.csv", "x,y,z,vx,vy,vz,m\n0,0,0,0,0,0,1\n0,0,zero,0,0,0,1\n"),
    ("nan.csv", "x,y,z,vx,vy,vz,m\nNaN,0,0,0,0,0,1\n"),
    ("truncated.csv", "x,y,z,vx,vy,vz,m\n0,0,0,0,0,0,1\n1,0,0,0,0,0,1\n2,0,0,0"),
    ("empty.csv", ""),
    ("torn.toml", "mode = \"gravity\"\ngenerator = \"ga"),
    ("ring.toml", "mode = \"gravity\"\ngenerator = \"ring\"\n"),
    ("much.toml", "mode = \"gravity\"\ngenerator = \"ring\"\n[params]\neps = 7\n"),
    ("box.params", "12\n10\n4000\n10\n0.1\n0.005\n1.85\n"),
    ("short.params", "12\n10\n4000\n10\n0.1\n0.005\n"),
    ("long.params", "12\n10\n4000\n10\n0.1\n0.005\n1.85\n7\n"),
    ("word.params", "12\n10\nmany\n10\n0.1\n0.005\n1.85\n"),
    ("thin.params", "12\n10\n4000\n10\n0.1\n0.005\n2\n"),
    ("void.params", "12\n10\n4000\n10\n0\n0.005\n1.85\n"),
    ("vast.params", "999999\n999999\n4000\n10\n0.1\n0.005\n1.85\n"),
    ("outside.dat", "0 0 1\n12 0 1\n"),
    ("free.dat", "0 0 0\n"),
];

/// Commands that must be refused, with texts that the message must contain. `LONG` stands for steps that take hours.
const REFUSALS: &[(&str, &[&str])] = &[
    // Syntax of the command line.
    ("nope", &["'nope'"]),
    ("run --nope 1", &["'--nope'"]),
    ("run --steps many", &["'many'", "--steps"]),
    ("run --steps -1", &["'-1'", "--steps", "0..="]),
    ("run LONG --seed one", &["'one'", "--seed"]),
    ("render LONG", &["--out"]),
    ("completions dos", &["'dos'", "bash", "zsh", "fish"]),
    ("man --out nowhere", &["cannot write nowhere"]),
    ("bench --plot x.jpg", &["x.jpg", ".png or .csv"]),
    ("bench --plot speed", &["speed: ", ".png or .csv"]),
    ("view --lesson cooking", &["no lesson called `cooking`", "kernels"]),
    ("bench --roofline x.jpg", &["x.jpg", ".png or .csv"]),
    ("bench --plot nowhere/x.png", &["cannot write nowhere/x.png"]),
    ("bench --resume nowhere.gravitile", &["cannot read nowhere.gravitile"]),
    ("bench --resume x.gravitile --scene galaxy", &["--resume", "--scene"]),
    ("bench --resume x.gravitile --bodies 100", &["--resume", "--bodies"]),
    ("bench --resume x.gravitile --devices 1", &["--resume", "--devices"]),
    ("bench --tune --plot x.png", &["--tune", "--plot"]),
    ("bench --repeats 0", &["'0'", "--repeats", "1..="]),
    // Parameters.
    ("run LONG --set nope=1", &["`nope`", "dt, eps, g, decay"]),
    ("run LONG --set dt", &["--set dt", "KEY=VALUE"]),
    ("run LONG --set dt=", &["dt=", "0.00001 to 0.1"]),
    ("run LONG --set dt=7", &["dt=7", "0.00001 to 0.1"]),
    ("run LONG --set dt=-0.01", &["dt=-0.01", "0.00001 to 0.1"]),
    ("run LONG --set dt=NaN", &["dt=NaN", "0.00001 to 0.1"]),
    ("run LONG --set dt=inf", &["dt=inf", "0.00001 to 0.1"]),
    ("run LONG --set g=fast", &["g=fast", "0 to 10"]),
    ("run LONG --set integrator=rk4", &["integrator=rk4", "leapfrog or euler or taylor"]),
    ("run LONG --set flat=maybe", &["flat=maybe", "true or false"]),
    ("run LONG --set eps=0.1 dt=7", &["dt=7", "0.00001 to 0.1"]),
    ("bench --set nope=1", &["`nope`", "dt, eps"]),
    ("bench --set nope=1,2", &["`nope`", "dt, eps"]),
    (
        "bench --variant tree --set eps=0.1,opening=0.1",
        &["separate the parameters with spaces, as in --set eps=0.1 opening=0.1"],
    ),
    ("bench --variant tree --set opening=0.001,x", &["opening=x", "a number from 0.00001 to 0.1"]),
    ("bench --variant tree --set opening=0.001,", &["opening= is", "a number from 0.00001 to 0.1"]),
    ("bench --variant tree --set opening=0.1,1", &["opening=1 ", "a number from 0.00001 to 0.1"]),
    ("bench --set dt=0.1,0.2 eps=1,2", &["--set dt=0.1,0.2 eps=1,2", "one parameter"]),
    (
        "bench --variant mutual --set opening=0.1,0.2",
        &["--set opening=0.1,0.2", "mutual do not use", "add --variant tree"],
    ),
    ("bench --mode asteroids --set opening=0.1,0.2", &["no parameter `opening`, but --mode gravity has"]),
    ("bench --devices 1 --mode gravity --set opening=0.1,0.2", &["opening=0.1,0.2", "must be a number"]),
    ("run LONG --set opening=0.1,0.2", &["opening=0.1,0.2", "must be a number"]),
    ("render --out x.png --look nope=1", &["`nope`", "palette, exposure"]),
    ("render --out x.png --look bloom", &["--look bloom", "KEY=VALUE"]),
    ("view --look palette=grey", &["palette=grey", "dusk or ice"]),
    ("view --look trails=1e9", &["trails=1e9", "0 to 2000"]),
    // Compile-time parameters (knobs).
    ("run LONG --knob k", &["--knob k", "NAME=VALUE"]),
    ("run LONG --knob nope=1", &["unknown knob `nope`", "lanes, vectors, root, k, split, unroll, equal"]),
    ("run LONG --knob k=3", &["k must be one of 1, 2, 4"]),
    ("run LONG --knob k=", &["k must be one of 1, 2, 4"]),
    ("run LONG --knob k=1,2", &["one value", "bench"]),
    ("run LONG --variant vector --knob k=1", &["unknown knob `k`", "lanes, vectors, root"]),
    ("run LONG --variant tiled --knob k=1", &["this variant has no compile-time parameters"]),
    ("bench --variant tiled --knob k=1", &["no compile-time parameters"]),
    ("bench --tune --variant tiled", &["--tune", "--variant"]),
    ("bench --tune --bodies 0", &["0 bodies", "the number must be from 1 to "]),
    // Numbers of bodies, and sizes of work-groups.
    ("run LONG --bodies 0", &["--bodies 0", "auto or a whole number of at least 1"]),
    ("run LONG --bodies -3", &["--bodies -3", "auto or a whole number of at least 1"]),
    ("run LONG --bodies 1.5", &["--bodies 1.5", "auto or a whole number of at least 1"]),
    ("run LONG --bodies x", &["--bodies x", "auto or a whole number of at least 1"]),
    ("run LONG --bodies 99999999999", &["99999999999 bodies", "the number must be from 1 to "]),
    ("run LONG --bodies 99999999999999999999", &["--bodies 99999999999999999999", "whole number"]),
    ("run LONG --bodies 100 --scene figure-eight", &["figure-eight has exactly 3 bodies, not 100"]),
    ("bench --bodies 0", &["0 bodies", "the number must be from 1 to "]),
    ("run LONG --work-group 0", &["--work-group 0", "auto or a whole number of at least 1"]),
    ("run LONG --work-group -1", &["--work-group -1", "auto or a whole number of at least 1"]),
    ("run LONG --work-group 100000", &["a work-group size of 100000", "allows only 1 "]),
    ("run LONG --variant naive --work-group 100000", &["a work-group size of 100000", "allows 1 to "]),
    ("bench --work-group 100000", &["a work-group size of 100000", "allows 1 to "]),
    ("view --steps-per-frame 0", &["--steps-per-frame 0", "auto or a whole number of at least 1"]),
    // Names, for example of modes and scenes.
    ("run LONG --mode nope", &["unknown mode `nope`", "gravity"]),
    ("run LONG --scene nope", &["unknown scene `nope`", "galaxy", "asteroids (belt", "fluid ("]),
    ("run LONG --scene andromeda", &["did you mean milky-way-andromeda?"]),
    ("run LONG --scene cilinder", &["did you mean cylinder?"]),
    ("run LONG --scene torn.toml", &["torn.toml, line 2: "]),
    ("run LONG --scene missing.toml", &["cannot read missing.toml"]),
    (
        "run LONG --mode fluid --scene ring.toml",
        &["ring.toml is a scene for --mode gravity, but you chose --mode fluid"],
    ),
    ("run LONG --scene much.toml", &["much.toml: eps=7 is not allowed", "0.00001 to 1"]),
    ("run LONG --resume header.csv", &["header.csv: this file is not a gravitile snapshot"]),
    ("run LONG --resume missing.gravitile", &["cannot read missing.gravitile"]),
    ("run LONG --resume header.csv --scene cube", &["--resume", "--scene"]),
    ("run LONG --save missing/a.gravitile", &["cannot write missing/a.gravitile"]),
    ("run LONG --load header.bin", &["cannot read header.bin"]),
    ("run LONG --variant nope", &["unknown variant `nope`", "naive", "auto"]),
    ("run LONG --device nope", &["no device `nope`", "0 ("]),
    ("run LONG --device 99", &["no device `99`", "0 ("]),
    ("bench --variant naive,nope", &["unknown variant `nope`", "naive"]),
    ("bench --mode nope", &["unknown mode `nope`"]),
    ("check --variant nope", &["unknown variant `nope`", "naive"]),
    ("check --mode nope", &["unknown mode `nope`"]),
    ("devices --devices nope", &["no device `nope`", "0 ("]),
    ("run LONG --devices 0,nope", &["no device `nope`", "0 ("]),
    ("run LONG --devices sub:0", &["--devices sub:0", "1 to "]),
    ("run LONG --devices sub:999", &["--devices sub:999", "1 to "]),
    ("run LONG --devices sub:x", &["--devices sub:x", "1 to "]),
    ("run LONG --device 0 --devices 0", &["--device ", "--devices"]),
    ("bench --devices 0", &["'0'", "--devices", "1..="]),
    ("bench --devices all", &["'all'", "--devices"]),
    ("bench --devices 999", &["--devices 999", "--among"]),
    ("bench --devices 1 --mode gravity --work-group 32,64", &["--work-group 32, 64", "one value"]),
    ("bench --devices 1 --mode gravity --knob k=1,2", &["--knob k=1,2", "one value"]),
    ("bench --devices 1,2 --device 0", &["--device", "--devices"]),
    ("bench --devices 1,2 --tune", &["--devices", "--tune"]),
    ("bench --among all", &["--among", "--devices"]),
    ("devices --device nope", &["no device `nope`", "0 ("]),
    // Files to read.
    ("run LONG --load missing.csv", &["cannot read missing.csv"]),
    ("run LONG --load .", &["cannot read ."]),
    ("run LONG --load header.csv", &["header.csv, line 1", "x,y,z,vx,vy,vz,m"]),
    ("run LONG --load word.csv", &["word.csv, line 3", "field z", "\"zero\""]),
    ("run LONG --load nan.csv", &["nan.csv, line 2", "field x"]),
    ("run LONG --load truncated.csv", &["truncated.csv, line 4", "field vy is missing"]),
    ("run LONG --load empty.csv", &["empty.csv, line 1", "x,y,z,vx,vy,vz,m"]),
    ("run LONG --load nan.csv --scene cube", &["--load", "--scene"]),
    // Files to write.
    ("run LONG --out missing/bodies.csv", &["cannot write missing/bodies.csv"]),
    ("run LONG --out .", &["cannot write .", "directory"]),
    ("render LONG --out missing/x.png", &["cannot write missing/x.png"]),
    ("render LONG --out .", &["cannot write .", "directory"]),
    ("view --report missing/r.json", &["cannot write missing/r.json"]),
    ("view --report .", &["cannot write .", "directory"]),
    // Files for a fluid.
    ("run --mode fluid --params missing.params", &["cannot read missing.params"]),
    ("run --mode fluid --params short.params", &["short.params, line 7", "omega is missing"]),
    ("run --mode fluid --params long.params", &["long.params, line 8", "unexpected line"]),
    (
        "run --mode fluid --params word.params",
        &["word.params, line 3", "steps is \"many\"", "a whole number"],
    ),
    ("run --mode fluid --params thin.params", &["thin.params, line 7", "omega is \"2\"", "0.01 to 1.999"]),
    ("run --mode fluid --params void.params", &["void.params, line 5", "density is \"0\"", "0.001 to 10"]),
    ("run --mode fluid --params vast.params", &["vast.params, line 2", "too many"]),
    ("run --mode fluid --params box.params --obstacles outside.dat", &["outside.dat, line 2", "x is \"12\""]),
    ("run --mode fluid --params box.params --obstacles free.dat", &["free.dat, line 1", "blocked is \"0\""]),
    ("run --mode fluid --obstacles outside.dat", &["--params"]),
    ("run --mode fluid --params box.params --scene step", &["--params", "--scene"]),
    ("run LONG --params box.params", &["--params reads a fluid", "gravity", "use --mode fluid"]),
    ("run LONG --set omega=1", &["--mode gravity has no parameter `omega`, but --mode fluid has", "eps"]),
    ("bench --mode fluid --set planet_mass=1", &["no parameter `planet_mass`, but --mode asteroids has"]),
    (
        "run LONG --mode fluid --load nan.csv",
        &["--load reads bodies", "fluid", "use --mode gravity or --mode asteroids"],
    ),
    ("run LONG --mode fluid --cells 99999999999", &["99999999999 cells", "the number must be from 1 to "]),
    ("run LONG --mode fluid --scene box-128 --cells 500", &["box-128 has exactly 16384 cells, not 500"]),
    ("run LONG --mode fluid --set omega=2", &["omega=2", "0.01 to 1.999"]),
    ("run LONG --mode fluid --set density=0", &["density=0", "0.001 to 10"]),
    ("run LONG --mode fluid --set viscosity=0", &["viscosity=0", "a number from"]),
    ("run LONG --mode fluid --set drive=wind", &["drive=wind", "row or force or inlet"]),
    ("run LONG --mode fluid --out missing/deep", &["cannot create the folder missing/deep"]),
    (
        "run LONG --mode fluid --scene porous --set drive=inlet omega=1.999 inlet=0.3",
        &["steps, the flow blew up", "lower relaxation"],
    ),
    // Sizes of pictures.
    ("render LONG --out x.png --size 0x10", &["--size 0x10", "WxH", "1x1 to 16384x16384"]),
    ("render LONG --out x.png --size 10x0", &["--size 10x0", "WxH", "1x1 to 16384x16384"]),
    ("render LONG --out x.png --size axb", &["--size axb", "WxH", "1x1 to 16384x16384"]),
    ("render LONG --out x.png --size 20000x10", &["--size 20000x10", "WxH", "1x1 to 16384x16384"]),
    ("render LONG --out x.png --size 320", &["--size 320", "WxH", "1x1 to 16384x16384"]),
    ("view --size axb", &["--size axb", "WxH", "1x1 to 16384x16384"]),
];

#[test]
fn bad_input_is_refused_in_one_line() {
    let folder = folder();
    for (name, text) in FILES {
        fs::write(folder.path().join(name), text).unwrap();
    }
    for (args, says) in REFUSALS {
        let args = args.replace("LONG", "--steps 4000000000");
        assert_refusal(folder.path(), &args, &[], says);
    }
}

#[test]
fn a_refused_command_leaves_the_output_file_unchanged() {
    let folder = folder();
    fs::write(folder.path().join("bodies.csv"), "mine").unwrap();
    assert_refusal(folder.path(), "run --scene nope --out bodies.csv", &[], &["unknown scene"]);
    assert_refusal(folder.path(), "run --bodies 99999999999 --out bodies.csv", &[], &["99999999999"]);
    assert_eq!(fs::read_to_string(folder.path().join("bodies.csv")).unwrap(), "mine");
}

#[test]
fn an_unknown_name_is_refused_with_a_list_of_valid_names() {
    for info in MODES {
        let scenes: Vec<_> = info.scenes.iter().map(|scene| scene.name.as_str()).collect();
        let variants: Vec<_> = info.variants.iter().map(|variant| variant.name).collect();
        let modes: Vec<_> = MODES.iter().map(|info| info.name).collect();
        let mode = format!("run --mode {}", info.name);
        for (args, names) in [("--scene nope", scenes), ("--variant nope", variants), ("--mode nope", modes)]
        {
            let args =
                if args.starts_with("--mode") { format!("run {args}") } else { format!("{mode} {args}") };
            assert_refusal(folder().path(), &args, &[], &names);
        }
    }
}

#[test]
fn a_missing_opencl_device_is_reported_with_what_to_install() {
    // This hides all drivers from the ICD loader.
    let hidden = [("OCL_ICD_VENDORS", "/nonexistent"), ("OCL_ICD_FILENAMES", "")];
    for args in ["devices", "devices --json", "run", "view", "bench", "check", "render --out x.png", ""] {
        let clock = Instant::now();
        assert_refusal(folder().path(), args, &hidden, &["no OpenCL device was found", "install", "PoCL"]);
        // The crate `ocl` alone would retry for ten seconds.
        assert!(clock.elapsed() < Duration::from_secs(8), "`gravitile {args}` took {:?}", clock.elapsed());
    }
}

#[test]
fn a_missing_display_is_reported_with_commands_that_work_without_one() {
    for args in ["", "view", "--bodies 256 --report r.json"] {
        assert_refusal(
            folder().path(),
            args,
            &[],
            &["no display", "DISPLAY is set", "`gravitile render`", "`gravitile run`"],
        );
    }
    let wrong = [("DISPLAY", ":nonexistent")];
    assert_refusal(folder().path(), "", &wrong, &["no display", "`gravitile render`", "`gravitile run`"]);
}

fn assert_refusal(folder: &Path, args: &str, env: &[(&str, &str)], says: &[&str]) {
    let before = listing(folder);
    let output = gravitile(folder, args).envs(env.iter().copied()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let told = format!("`gravitile {args}` with stderr:\n{stderr}");
    assert_eq!(output.status.code(), Some(2), "exit code of {told}");
    assert!(output.stdout.is_empty(), "stdout of {told}");
    for words in says {
        assert!(stderr.contains(words), "{words:?} is not said by {told}");
    }
    // clap adds the usage. The program's own errors are one sentence and name no paths of the machine that built it.
    let one_line = stderr.starts_with("gravitile: ") && stderr.ends_with('\n') && stderr.lines().count() == 1;
    assert!(one_line || stderr.starts_with("error: "), "more or less than one line by {told}");
    assert!(!stderr.contains(".rs") && !stderr.contains("panicked"), "innards in {told}");
    assert_eq!(listing(folder), before, "files of {told}");
}

/// Returns the names and sizes of the files in a folder.
fn listing(folder: &Path) -> Vec<(std::ffi::OsString, u64)> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut entries: Vec<_> =
        entries.map(|entry| (entry.file_name(), entry.metadata().unwrap().len())).collect();
    entries.sort();
    entries
}
