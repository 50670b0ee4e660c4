//! Tests films without a window, with and without `ffmpeg`. A script that records its arguments replaces `ffmpeg`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{folder, gravitile, run};

const RENDER: &str = "render --scene figure-eight --size 65x41";

/// Installs a script that replaces `ffmpeg`: it lists `encoders`, reads pictures, and ends with the command `end`.
fn install(folder: &Path, encoders: &str, end: &str) {
    let script = format!(
        "#!/bin/sh\nfor last; do :; done\ncase \"$*\" in *-encoders*) printf '{encoders}'; exit 0;; esac\n\
         echo \"$*\" > arguments\ncat > \"$last\"\n{end}\n"
    );
    let bin = folder.join("bin");
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join("ffmpeg"), script).unwrap();
    fs::set_permissions(bin.join("ffmpeg"), fs::Permissions::from_mode(0o755)).unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> =
        names.filter(|name| name.starts_with("film") || name.starts_with(".tmp")).collect();
    names.sort();
    names
}

/// Makes a folder for PATH without `ffmpeg`. PoCL needs `ld`, unless its cache already holds the kernels.
fn without_ffmpeg(folder: &Path) -> PathBuf {
    let tools = folder.join("tools");
    fs::create_dir(&tools).unwrap();
    let ld = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|path| path.join("ld"))
        .find(|ld| ld.exists());
    std::os::unix::fs::symlink(ld.expect("`ld` is on PATH"), tools.join("ld")).unwrap();
    tools
}

#[test]
fn missing_ffmpeg_is_reported_at_once_and_other_formats_still_work() {
    let folder = folder();
    let path = without_ffmpeg(folder.path());
    let args = format!("{RENDER} --frames 3 --steps 4000000000 --out film.mp4");
    let mut command = gravitile(folder.path(), &args);
    let stderr = command.env("PATH", &path).assert().code(2).get_output().stderr.clone();
    let stderr = String::from_utf8(stderr).unwrap();
    assert!(stderr.contains("MP4 needs the program ffmpeg") && stderr.contains("GIF"), "{stderr}");
    let args = format!("{RENDER} --frames 3 --steps-per-frame 20 --out film.gif");
    let mut command = gravitile(folder.path(), &args);
    command.env("PATH", &path).assert().success().stderr("wrote film.gif (3 pictures)\n");
    let args = format!("{RENDER} --frames 3 --out film-%02d.png --look turn=on");
    let wrote = "wrote film-01.png to film-03.png (3 pictures)\n";
    gravitile(folder.path(), &args).assert().success().stdout("").stderr(wrote);
    assert_eq!(names(folder.path()), ["film-01.png", "film-02.png", "film-03.png", "film.gif"]);
}

#[test]
fn ffmpeg_receives_every_picture_and_its_messages_are_reported() {
    let folder = folder();
    let args = format!("{RENDER} --frames 5 --fps 24 --out film.webm");
    let path = format!("{}:{}", folder.path().join("bin").display(), std::env::var("PATH").unwrap());
    let run = |code: i32| {
        let mut command = gravitile(folder.path(), &args);
        let output = command.env("PATH", &path).assert().code(code).get_output().stderr.clone();
        String::from_utf8(output).unwrap()
    };
    install(folder.path(), " V..... libx264 H.264\\n", "");
    assert!(run(2).contains("libvpx-vp9"), "it has no encoder");
    install(folder.path(), " V..... libvpx-vp9 VP9\\n", "echo broken disk >&2; exit 1");
    fs::write(folder.path().join("film.webm"), "older").unwrap();
    assert!(run(2).contains("broken disk"));
    assert_eq!(fs::read(folder.path().join("film.webm")).unwrap(), b"older");
    assert_eq!(names(folder.path()), ["film.webm"]);
    install(folder.path(), " V..... libvpx-vp9 VP9\\n", "");
    run(0);
    let film = fs::read(folder.path().join("film.webm")).unwrap();
    assert_eq!(film.len(), 5 * 65 * 41 * 3, "every picture");
    let pictures: Vec<_> = film.chunks(65 * 41 * 3).collect();
    assert!(pictures.windows(2).all(|pair| pair[0] != pair[1]), "and each is another");
    let arguments = fs::read_to_string(folder.path().join("arguments")).unwrap();
    assert!(arguments.contains("-r 24") && arguments.contains("-s 65x41"), "{arguments}");
    // An `ffmpeg` that ends early must not end the program by a signal.
    let script = folder.path().join("bin").join("ffmpeg");
    let text = fs::read_to_string(&script).unwrap().replace("cat > \"$last\"", "echo no room >&2; exit 3");
    fs::write(&script, text).unwrap();
    let large = args.replace("65x41", "640x400");
    let mut command = gravitile(folder.path(), &large);
    let stderr = command.env("PATH", &path).assert().code(2).get_output().stderr.clone();
    assert!(String::from_utf8(stderr).unwrap().contains("no room"));
}

#[test]
fn a_rendered_picture_can_be_resumed_unless_bare() {
    let folder = folder();
    let at = |args: &str| run(folder.path(), args);
    at("render --scene plummer --bodies 200 --steps 30 --size 64x40 --out film.png");
    at("render --scene plummer --bodies 200 --steps 30 --size 64x40 --out filmed.png --bare");
    at("run --resume film.png --steps 10 --out resumed.csv");
    at("run --scene plummer --bodies 200 --steps 40 --out straight.csv");
    let [resumed, straight] =
        ["resumed.csv", "straight.csv"].map(|name| fs::read(folder.path().join(name)).unwrap());
    assert_eq!(resumed, straight);
    let output =
        gravitile(folder.path(), "run --resume filmed.png").assert().code(2).get_output().stderr.clone();
    assert!(String::from_utf8(output).unwrap().contains("contains no gravitile scene"));
    let pixels = |name: &str| image::open(folder.path().join(name)).unwrap().into_rgb8();
    assert_eq!(pixels("film.png"), pixels("filmed.png"));
}

/// Starts a film that would take days, and waits until its file contains pictures. The file may have no name yet.
fn filming(folder: &Path, name: &str) -> std::process::Child {
    use std::os::unix::process::CommandExt;
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gravitile"));
    // If `nohup` or a shell's `&` started the tests, these signals are ignored, so their default handlers are restored.
    // SAFETY: signal is a system call without allocation, which may be made between fork and exec.
    unsafe {
        command.pre_exec(|| {
            for signal in [libc::SIGINT, libc::SIGHUP] {
                libc::signal(signal, libc::SIG_DFL);
            }
            Ok(())
        });
    }
    filming_by(command, folder, name)
}

/// Starts a film that would take days with the given command, and waits until the film's file contains pictures.
fn filming_by(mut command: std::process::Command, folder: &Path, name: &str) -> std::process::Child {
    let args = format!("{RENDER} --frames 1000000 --out {name}");
    let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap());
    command.args(args.split_whitespace()).current_dir(folder).env("PATH", path);
    let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let files = format!("/proc/{}/fd", child.id());
    let is_long = |file: std::io::Result<fs::DirEntry>| {
        let file = file.ok()?.path();
        Some(fs::read_link(&file).ok()?.starts_with(folder) && fs::metadata(&file).ok()?.len() > 20_000)
    };
    let start = std::time::Instant::now();
    while !fs::read_dir(&files).unwrap().any(|file| is_long(file).unwrap_or(false)) {
        assert!(start.elapsed() < super::PATIENCE, "nothing is written");
        assert_eq!(child.try_wait().unwrap(), None, "the program ended");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child
}

#[test]
fn a_signal_cancels_a_film_with_its_exit_code_and_leaves_no_file() {
    let folder = folder();
    for (signal, code) in [(libc::SIGINT, 130), (libc::SIGTERM, 143), (libc::SIGHUP, 129)] {
        let child = filming(folder.path(), "film.gif");
        // SAFETY: the process is a child of this test, and has not been waited for yet.
        unsafe { libc::kill(child.id() as i32, signal) };
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code));
        assert!(String::from_utf8(output.stderr).unwrap().contains("cancelled"));
        assert_eq!(names(folder.path()), [""; 0]);
    }
}

/// A film continues after its terminal closes if the program was started with `nohup`.
#[test]
fn a_film_started_with_nohup_survives_its_terminal() {
    let folder = folder();
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_gravitile")]);
    let mut child = filming_by(command, folder.path(), "film.gif");
    let signal = |child: &std::process::Child, signal| {
        // SAFETY: the process is a child of this test, and has not been waited for yet.
        unsafe { libc::kill(child.id() as i32, signal) };
    };
    signal(&child, libc::SIGHUP);
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!(child.try_wait().unwrap(), None);
    signal(&child, libc::SIGTERM);
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_film_leaves_no_file() {
    let folder = folder();
    install(folder.path(), " V..... libx264 H.264\\n", "");
    for name in ["film.gif", "film.mp4"] {
        let mut child = filming(folder.path(), name);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(names(folder.path()), [""; 0], "{name}");
    }
}
