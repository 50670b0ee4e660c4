//! The program for Windows under Wine: all commands, the window, and files exchanged with the program for Linux.
//!
//! `scripts/setup --wine` installs what these tests need, and `scripts/packages/windows --program` builds the program.
//! `scripts/test --all` does the second and runs the tests if Wine is installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use tempfile::TempDir;

use crate::support::window::{Display, spot, until};

/// Debian keeps this program out of PATH, and on PATH a script that asks for a 32-bit Wine.
const WINE: &str = "/usr/lib/wine/wine64";
/// Program that all programs under Wine share.
const SERVER: &str = "/usr/lib/wine/wineserver64";
/// Wine 8 lacks the DLL from which Rust's library takes random numbers. Wine 9 has it.
const RANDOM: &str = "#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL ProcessPrng(PBYTE bytes, SIZE_T count) { return SystemFunction036(bytes, (ULONG)count); }
";
/// A program in the place of ffmpeg: lists an encoder, or reads all pictures and writes their number of bytes to the
/// film.
const FFMPEG: &str = r#"#include <stdio.h>
#include <string.h>
#include <io.h>
#include <fcntl.h>
int main(int count, char **words) {
    static char buffer[1 << 16];
    unsigned long long bytes = 0;
    if (!strcmp(words[count - 1], "-encoders")) return puts(" V....D libx264 H.264") < 0;
    _setmode(0, _O_BINARY);
    for (int got; (got = _read(0, buffer, sizeof buffer)) > 0;) bytes += got;
    FILE *film = fopen(words[count - 1], "wb");
    return !film || fprintf(film, "%llu", bytes) < 0 || fclose(film);
}
"#;
/// A folder's name with a space, a quotation mark, and Cyrillic and Japanese letters.
const ODD: &str = "Körper's папка 星";
/// Variables for Wine. Without `mscoree` and `mshtml` it does not offer to download Mono and Gecko.
const WITHOUT_OFFERS: &str = "mscoree,mshtml=";

/// The folder with the program and what it needs, `target/wine`.
static PROGRAMS: LazyLock<PathBuf> = LazyLock::new(|| {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
    let folder = target.join("wine");
    fs::create_dir_all(&folder).unwrap();
    let built = target.join("x86_64-pc-windows-gnu").join("release").join("gravitile.exe");
    fs::copy(&built, folder.join("gravitile.exe")).unwrap_or_else(|error| {
        panic!(
            "{error}: {}; run scripts/setup --wine and scripts/packages/windows --program",
            built.display()
        )
    });
    compile(&folder, "bcryptprimitives.dll", RANDOM, &["-shared", "-ladvapi32"]);
    compile(&folder, "ffmpeg.exe", FFMPEG, &[]);
    // Another run of the tests may have left settings there.
    for place in ["Local", "Roaming"] {
        for user in fs::read_dir(folder.join("prefix/drive_c/users")).into_iter().flatten() {
            let _ = fs::remove_dir_all(user.unwrap().path().join("AppData").join(place).join("gravitile"));
        }
    }
    let status = Command::new(WINE).args(["wineboot", "--init"]).envs(wine_in(&folder)).status().unwrap();
    assert!(status.success(), "wineboot: {status}");
    folder
});

/// Compiles a program or a DLL for Windows.
fn compile(folder: &Path, name: &str, source: &str, options: &[&str]) {
    let file = folder.join(name).with_extension("c");
    fs::write(&file, source).unwrap();
    let mut command = Command::new("x86_64-w64-mingw32-gcc");
    command.arg(&file).arg("-o").arg(folder.join(name)).args(options);
    assert!(command.status().unwrap().success(), "{name} cannot be compiled");
}

/// Returns the environment of Wine, which keeps its files in `folder`.
fn wine_in(folder: &Path) -> [(&'static str, String); 4] {
    [
        ("WINEPREFIX", folder.join("prefix").to_str().unwrap().to_owned()),
        ("WINEDEBUG", "-all".to_owned()),
        ("WINEDLLOVERRIDES", WITHOUT_OFFERS.to_owned()),
        ("LC_ALL", "C.UTF-8".to_owned()),
    ]
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Opens a display for Wine. All programs under Wine must use the display of the first one, so earlier ones are ended.
fn display() -> Display {
    let display = Display::open();
    // The server has ended already if nothing has used Wine for some seconds.
    let _ = Command::new(SERVER).arg("-k").envs(wine_in(&PROGRAMS)).status();
    display
}

/// Returns the program for Windows as a command in `folder`.
fn windows(display: &Display, folder: &Path) -> Command {
    let mut command = Command::new(WINE);
    command.arg(PROGRAMS.join("gravitile.exe")).envs(wine_in(&PROGRAMS));
    let mut command = quiet(command, folder);
    command.env("DISPLAY", display.name());
    command
}

/// Returns the program for Linux as a command in `folder`, without a display.
fn linux(folder: &Path) -> Command {
    quiet(Command::new(env!("CARGO_BIN_EXE_gravitile")), folder)
}

fn quiet(mut command: Command, folder: &Path) -> Command {
    command.current_dir(folder).env_remove("DISPLAY").stdin(Stdio::null());
    command.env("XDG_CACHE_HOME", folder);
    if let Some(cache) = dirs::cache_dir() {
        command.env("POCL_CACHE_DIR", cache.join("pocl").join("kcache"));
    }
    command
}

/// Runs a command with arguments that are separated by spaces. It must succeed. Returns what it prints.
fn run(mut command: Command, args: &str) -> String {
    let Output { status, stdout, stderr } = command.args(args.split(' ')).output().unwrap();
    let stderr = String::from_utf8(stderr).unwrap();
    assert!(status.success(), "{args}: {status}: {stderr}");
    String::from_utf8(stdout).unwrap()
}

/// Runs a command that must fail with exit code 2. Returns its message.
fn fail(mut command: Command, args: &str) -> String {
    let Output { status, stderr, .. } = command.args(args.split(' ')).output().unwrap();
    let stderr = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(2), "{args}: {stderr}");
    stderr
}

fn is_same(folder: &Path, a: &str, b: &str) {
    let read = |name| fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(read(a) == read(b), "{a} and {b} differ");
}

#[test]
#[ignore = "needs Wine: scripts/test --all runs it"]
fn the_same_scene_gives_the_same_bodies_and_snapshots_continue_on_the_other_system() {
    let (display, folder) = (display(), folder());
    let at = folder.path();
    for start in ["--mode gravity --bodies 600", "--scene galaxy --bodies 600", "--scene rings --bodies 500"]
    {
        let start = format!("run {start} --seed 7");
        run(linux(at), &format!("{start} --steps 30 --out all.csv"));
        run(windows(&display, at), &format!("{start} --steps 30 --out windows.csv"));
        is_same(at, "all.csv", "windows.csv");
        run(linux(at), &format!("{start} --steps 12 --save linux.gravitile"));
        run(windows(&display, at), &format!("{start} --steps 12 --save windows.gravitile"));
        run(windows(&display, at), "run --resume linux.gravitile --steps 18 --out there.csv");
        run(linux(at), "run --resume windows.gravitile --steps 18 --out back.csv");
        is_same(at, "all.csv", "there.csv");
        is_same(at, "all.csv", "back.csv");
    }
    // Linux writes all the files, because the speeds in them depend on the C library in the last digit.
    for name in ["all", "there", "back"] {
        fs::create_dir(at.join(name)).unwrap();
    }
    let start = "run --scene cylinder --cells 4000 --seed 7";
    run(linux(at), &format!("{start} --steps 30 --out all"));
    run(linux(at), &format!("{start} --steps 12 --save linux.gravitile"));
    run(windows(&display, at), &format!("{start} --steps 12 --save windows.gravitile"));
    run(windows(&display, at), "run --resume linux.gravitile --steps 17 --save there.gravitile");
    run(linux(at), "run --resume there.gravitile --steps 1 --out there");
    run(linux(at), "run --resume windows.gravitile --steps 18 --out back");
    is_same(at, "all/final_state.dat", "there/final_state.dat");
    is_same(at, "all/final_state.dat", "back/final_state.dat");
}

#[test]
#[ignore = "needs Wine: scripts/test --all runs it"]
fn measuring_checking_and_drawing_work() {
    let display = display();
    let at = display.folder();
    let devices: serde_json::Value =
        serde_json::from_str(&run(windows(&display, at), "devices --json")).unwrap();
    let same: serde_json::Value = serde_json::from_str(&run(linux(at), "devices --json")).unwrap();
    assert_eq!(devices["devices"][0]["name"], same["devices"][0]["name"]);
    assert!(run(windows(&display, at), "devices").contains("→ 0  "), "the arrow is UTF-8 in a pipe");
    run(windows(&display, at), "check --mode gravity --variant naive,tiled");
    let bench = "bench --mode gravity --variant naive --bodies 256 --repeats 1 --seconds 0.01";
    assert!(run(windows(&display, at), bench).contains("naive"));

    let scene = "render --scene galaxy --bodies 500 --steps 5 --size 320x200";
    run(windows(&display, at), &format!("{scene} --out windows.png"));
    run(linux(at), &format!("{scene} --out linux.png"));
    let [a, b] = ["windows.png", "linux.png"].map(|name| image::open(at.join(name)).unwrap().into_rgb8());
    let differ =
        a.pixels().zip(b.pixels()).filter(|(a, b)| (0..3).any(|k| a.0[k].abs_diff(b.0[k]) > 2)).count();
    assert!(differ < 64, "{differ} pixels differ");
    run(linux(at), "run --resume windows.png --steps 3");
    run(windows(&display, at), "run --resume linux.png --steps 3");
    for name in ["film.gif", "film-%04d.png", "film.mp4"] {
        run(windows(&display, at), &format!("{scene} --frames 3 --out {name}"));
    }
    assert_eq!(
        fs::read_to_string(at.join("film.mp4")).unwrap(),
        (320 * 200 * 3 * 3).to_string(),
        "by ffmpeg.exe"
    );
    assert!(at.join("film-0003.png").is_file() && at.join("film.gif").is_file());
}

#[test]
#[ignore = "needs Wine: scripts/test --all runs it"]
fn missing_opencl_and_opengl_are_reported_with_advice() {
    let display = display();
    let at = display.folder();
    let mut command = windows(&display, at);
    command.env("WINEDLLOVERRIDES", format!("{WITHOUT_OFFERS};opencl="));
    let message = fail(command, "run --steps 1");
    assert!(message.contains("OpenCL.dll") && message.contains("install the newest driver"), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    for args in ["render --bodies 9 --steps 1 --out a.png", "--clean --bodies 9 --frames 1"] {
        let mut command = windows(&display, at);
        command.env("MESA_GL_VERSION_OVERRIDE", "2.1");
        let message = fail(command, args);
        assert!(message.contains("OpenGL 3.3") && message.contains("install the newest driver"), "{message}");
    }
}

#[test]
#[ignore = "needs Wine: scripts/test --all runs it"]
fn unicode_names_long_paths_and_crlf_line_ends_are_read() {
    let (display, folder) = (display(), folder());
    let at = folder.path().join(ODD);
    fs::create_dir(&at).unwrap();
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scenes");
    let scene = fs::read_to_string(assets.join("figure-eight.toml")).unwrap();
    fs::write(at.join("сцена.toml"), crlf(&scene)).unwrap();
    fs::write(at.join("тела.csv"), crlf("x,y,z,vx,vy,vz,m\n0,0,0,0,0,0,1\n1,0,0,0,1,0,0.01\n")).unwrap();
    run(windows(&display, &at), "run --scene сцена.toml --steps 10 --out 星.csv --save снимок.gravitile");
    run(linux(&at), "run --scene figure-eight --steps 10 --out linux.csv");
    is_same(&at, "星.csv", "linux.csv");
    run(windows(&display, &at), "run --load тела.csv --steps 10 --out 星.csv");
    run(linux(&at), "run --load тела.csv --steps 10 --out linux.csv");
    is_same(&at, "星.csv", "linux.csv");
    let whole = format!("Z:{}\\снимок.gravitile", at.display()).replace('/', "\\");
    let mut command = windows(&display, folder.path());
    let status = command.args(["run", "--steps", "1", "--resume", &whole]).status().unwrap();
    assert!(status.success(), "{whole}");

    let long = (0..5).fold(folder.path().to_owned(), |path, _| path.join("f".repeat(80)));
    fs::create_dir_all(&long).unwrap();
    let name = format!("Z:{}\\long.csv", long.display()).replace('/', "\\");
    let mut command = windows(&display, folder.path());
    let status = command.args(["run", "--bodies", "64", "--steps", "1", "--out", &name]).status().unwrap();
    assert!(status.success() && long.join("long.csv").is_file(), "{name}");
}

#[test]
#[ignore = "needs Wine: scripts/test --all runs it"]
fn a_console_waits_for_the_program_and_the_desktop_opens_no_console() {
    let display = display();
    let at = display.folder();
    let cmd = |words: &str| {
        let mut command = Command::new(WINE);
        command.envs(wine_in(&PROGRAMS)).env("DISPLAY", display.name());
        let program = PROGRAMS.join("gravitile.exe");
        let program = format!("Z:{}", program.display()).replace('/', "\\");
        command.args(["cmd", "/c"]).args(words.split(' ').map(|word| word.replace("PROGRAM", &program)));
        let mut command = quiet(command, at);
        command.env("DISPLAY", display.name());
        if words.starts_with("start") {
            // The started program keeps what it inherits, so a pipe would be open until the program ends.
            return (command.stdout(Stdio::null()).status().unwrap().code(), String::new());
        }
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, text) = cmd("PROGRAM devices && echo done");
    assert!(
        code == Some(0) && text.trim_end().ends_with("done") && text.contains("OpenCL version"),
        "{text}"
    );
    assert_eq!(cmd("PROGRAM run --steps nonsense").0, Some(2));
    // `start` gives a program a console of its own, as the desktop does, and does not wait.
    assert_eq!(cmd("start PROGRAM --clean --bodies 64 --frames 20 --report report.json").0, Some(0));
    let search = |name: &str| {
        let mut command = Command::new("xdotool");
        let output =
            command.args(["search", "--onlyvisible", "--name", name]).env("DISPLAY", display.name()).output();
        !output.unwrap().stdout.is_empty()
    };
    until("the window is open", || search("^gravitile$").then_some(()));
    assert!(!search("gravitile.exe"), "a console window is open");
    until("the report is written", || at.join("report.json").is_file().then_some(()));
    until("the viewer is closed", || (!search("^gravitile$")).then_some(()));
    assert_eq!(cmd("start PROGRAM --resume nothing.gravitile").0, Some(0));
    until("a message box is open", || search("^gravitile$").then_some(()));
    assert!(!search("gravitile.exe"), "a console window is open");
    let mut key = Command::new("xdotool");
    key.args(["search", "--name", "^gravitile$", "windowfocus", "key", "Return"])
        .env("DISPLAY", display.name());
    assert!(key.status().unwrap().success());
    until("the message box is closed", || (!search("^gravitile$")).then_some(()));
}

#[test]
#[ignore = "needs Wine: scripts/test --all runs it"]
fn a_closed_output_pipe_ends_the_program_without_a_message() {
    let display = display();
    let mut command = windows(&display, display.folder());
    let mut child = command.arg("devices").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&stderr);
    assert!(status.code() == Some(1) && stderr.is_empty(), "{status}: {stderr}");
}

#[test]
#[ignore = "needs Wine: scripts/test --all runs it"]
fn the_window_responds_saves_and_continues() {
    let mut display = display().starting(&[WINE, PROGRAMS.join("gravitile.exe").to_str().unwrap()]);
    for (name, value) in wine_in(&PROGRAMS) {
        display = display.set(name, String::leak(value));
    }
    let at = display.folder();
    let controls = display.run("--clean --bodies 300 --frames 20 --size 1200x760");
    let viewer = display.view("--clean --bodies 300 --size 1200x760");
    // Wine leaves room for the frame that a window manager would draw.
    viewer.act("windowmove --sync WINDOW 0 0");
    let slider = controls.control("dt");
    viewer.drag(&spot(slider, 0.8, 0.5), &spot(slider, 0.25, 0.5));
    viewer.runs();
    viewer.key("m");
    viewer.runs();
    viewer.key("space");
    viewer.dialog("ctrl+s", "Return");
    let report = viewer.quit();
    let saved = at.join("belt.gravitile");
    assert!(saved.is_file(), "{:?}", report.events);
    assert_eq!(report.stats["mode"], "asteroids");
    assert!(report.events.iter().any(|event| event.what.starts_with("dt=")), "{:?}", report.events);
    let report = display.run("--clean --resume belt.gravitile --frames 5");
    assert_eq!(report.stats["mode"], "asteroids");
    run(linux(at), "run --resume belt.gravitile --steps 1");
}
