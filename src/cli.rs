//! The command line, as clap types. Doc comments of fields are the help texts.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};

use crate::base::Result;
use crate::engine::FileKind;
use crate::export::film::RATES;

/// Simulate up to a million bodies, or a fluid, on a GPU or CPU with OpenCL, and watch the simulation live.
///
/// Without a command, the viewer opens. `gravitile FILE` opens a snapshot, a picture, a scene or a list of bodies. Under mpirun, all ranks compute one simulation together; this requires a build with the feature `mpi`.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct Cli {
    /// Command to run; the viewer opens if there is none.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Options of the viewer, used when no command is given.
    #[command(flatten)]
    pub(crate) view: View,
}

impl Cli {
    /// Parses the arguments of the program. Exits with a message if they are wrong.
    pub fn read() -> Self {
        match with_option(std::env::args_os().collect()) {
            Ok(words) => Self::parse_from(words),
            Err(error) => Self::command().error(ErrorKind::ValueValidation, error).exit(),
        }
    }

    /// Returns whether the command writes its results to stdout: true for every command except the viewer.
    pub fn prints(&self) -> bool {
        !matches!(self.command, None | Some(Command::View(_)))
    }
}

/// Adds the option that opens a file, if the only argument is a file name, as when a desktop passes a file that was
/// dropped on the program. A word without an extension is not taken for a file name. Returns an error if the program
/// cannot open files with the extension. `words` starts with the program's name.
fn with_option(mut words: Vec<OsString>) -> Result<Vec<OsString>> {
    if let [_, word] = &words[..]
        && let file = Path::new(word)
        && !word.as_encoded_bytes().starts_with(b"-")
        && file.extension().is_some()
    {
        words.insert(1, option_for(FileKind::of(file)?).into());
    }
    Ok(words)
}

/// Returns the option of the viewer that opens files of kind `kind`.
fn option_for(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Snapshot | FileKind::Picture => "--resume",
        FileKind::Scene => "--scene",
        FileKind::Csv | FileKind::Tipsy => "--load",
    }
}

/// Commands of `gravitile`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Open the viewer (the default)
    View(View),
    /// Simulate without a window and report speed, energy and momentum
    Run(Run),
    /// Simulate without a window and save a picture (PNG) or a film
    Render(Render),
    /// Measure the speed and accuracy of kernel variants for several numbers of bodies and work-group sizes
    Bench(Bench),
    /// Compare every kernel variant with a double-precision reference; the exit code is 1 if an error is too large
    Check(Check),
    /// List the OpenCL devices
    Devices(Devices),
    /// Print tab completions for a shell
    Completions(Completions),
    /// Print the manual page
    Man(Man),
}

/// The option that selects one device.
#[derive(Debug, Clone, Args)]
pub(crate) struct DeviceArgs {
    /// Device to compute on: a number, or part of a name, as listed by `gravitile devices`
    #[arg(long, value_name = "N|NAME", global = false)]
    pub(crate) device: Option<String>,
}

/// The options that select one or more devices.
#[derive(Debug, Clone, Args)]
pub(crate) struct DevicesArgs {
    #[command(flatten)]
    pub(crate) one: DeviceArgs,
    /// Devices that compute together: numbers or names as for --device, `all`, `gpus`, or `sub:K` to split the CPU's
    /// cores into K equal parts
    #[arg(long, value_name = "N,…|all|gpus|sub:K", conflicts_with = "device")]
    pub(crate) devices: Option<String>,
}

/// The option that replaces the built-in kernels.
#[derive(Debug, Clone, Args)]
pub(crate) struct KernelArgs {
    /// Use the OpenCL kernels in this folder instead of the built-in kernels. If the folder has no kernels, `view` copies the
    /// built-in kernels there. `view` also reloads a kernel whenever its file is saved
    #[arg(long, value_name = "FOLDER")]
    pub(crate) kernels: Option<PathBuf>,
}

/// The options that select the simulation.
#[derive(Debug, Clone, Args)]
pub(crate) struct Simulation {
    #[command(flatten)]
    pub(crate) device: DevicesArgs,
    #[command(flatten)]
    pub(crate) kernels: KernelArgs,
    /// Mode: gravity, asteroids or fluid [default: gravity, or the mode of the scene]
    #[arg(long)]
    pub(crate) mode: Option<String>,
    /// Scene to start from: a name or a scene file. To see all names, give an unknown one, such as `list`
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub(crate) scene: Option<String>,
    /// Start from the bodies in a CSV file with the columns x, y, z, vx, vy, vz, m and optionally name, in any order, or in a
    /// Tipsy file (.tipsy, .bin)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scene", "seed"])]
    pub(crate) load: Option<PathBuf>,
    /// Continue from a snapshot, or from a picture that contains one, exactly where it was saved. --set, --variant,
    /// --work-group and --knob override the settings in the file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["mode", "scene", "seed", "load", "params", "bodies"])]
    pub(crate) resume: Option<PathBuf>,
    /// Start a fluid simulation (with --mode fluid) from a parameter file. Its seven lines are nx, ny, steps,
    /// reynolds_dim, density, accel and omega
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scene", "seed", "load", "bodies"])]
    pub(crate) params: Option<PathBuf>,
    /// Place obstacles in the grid of --params. The file contains a line `x y 1` for each solid cell
    #[arg(long, value_name = "FILE", requires = "params")]
    pub(crate) obstacles: Option<PathBuf>,
    /// Number of bodies, or approximate number of cells in a fluid; `auto` chooses a number that suits the device
    #[arg(
        long,
        visible_alias = "cells",
        value_name = "N|auto",
        default_value = "auto",
        allow_negative_numbers = true
    )]
    pub(crate) bodies: String,
    /// Seed of the scene: the same seed gives the same bodies [default: 1, or the seed of the scene file]
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Kernel variant to use. To see all variants, give an unknown name, such as `list`
    #[arg(long, value_name = "NAME|auto", default_value = "auto")]
    pub(crate) variant: String,
    /// Size of a work-group: the number of work-items that run together on the device
    #[arg(long, value_name = "N|auto", default_value = "auto", allow_negative_numbers = true)]
    pub(crate) work_group: String,
    /// Set a compile-time parameter of the variant. To see all names, give an unknown one, such as `list=1`
    #[arg(long, value_name = "NAME=VALUE", num_args = 1..)]
    pub(crate) knob: Vec<String>,
    /// Set a parameter of the mode. To see all parameters, give an unknown one, such as `list=1`
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub(crate) set: Vec<String>,
}

/// Returns a parser that accepts frame rates in the supported range.
fn rates() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(i64::from(*RATES.start())..=i64::from(*RATES.end()))
}

/// Parses the duration of a measurement, in seconds.
fn duration(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.001..=60.0).contains(seconds));
    seconds.ok_or_else(|| "expected a number of seconds from 0.001 to 60".to_owned())
}

impl Simulation {
    /// Returns whether any of the options selects an initial state.
    pub(crate) fn is_chosen(&self) -> bool {
        let Self { mode, scene, load, resume, params, .. } = self;
        mode.is_some() || scene.is_some() || load.is_some() || resume.is_some() || params.is_some()
    }
}

/// The option that sets how the picture is drawn.
#[derive(Debug, Clone, Args)]
pub(crate) struct Looks {
    /// Set how the picture is drawn, for example `palette=ice`, `bloom=on`, `trails=60` or `exposure=0.5`. To see all
    /// keys, give an unknown one, such as `list=1`. To choose what the colours show, use `--set colour=…`
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub(crate) look: Vec<String>,
}

/// Options of `gravitile view`.
#[derive(Debug, Args)]
pub(crate) struct View {
    #[command(flatten)]
    pub(crate) simulation: Simulation,
    #[command(flatten)]
    pub(crate) looks: Looks,
    /// Simulation steps per displayed frame
    #[arg(long, value_name = "N|auto", default_value = "auto", allow_negative_numbers = true)]
    pub(crate) steps_per_frame: String,
    /// Simulate at full speed, without waiting for the screen
    #[arg(long)]
    pub(crate) free_run: bool,
    /// Start paused
    #[arg(long)]
    pub(crate) paused: bool,
    /// Size of the window in pixels [default: the last size; 1280x800 the first time]
    #[arg(long, value_name = "WxH")]
    pub(crate) size: Option<String>,
    /// Start with a lesson: the built-in lesson `kernels`, or a lesson in a TOML file
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) lesson: Option<PathBuf>,
    /// Do not read or write settings and autosaves; --frames implies this
    #[arg(long)]
    pub(crate) clean: bool,
    /// Save the simulation automatically at this interval, so that you can continue after a crash
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub(crate) autosave: u32,
    /// Exit after this many frames
    #[arg(long, value_name = "F")]
    pub(crate) frames: Option<u64>,
    /// On exit, write frame times, the number of steps and the configuration to a JSON file
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

/// Options of `gravitile run`.
#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) simulation: Simulation,
    /// Number of steps [default: 100, or the number in the --params file]
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) steps: Option<u32>,
    /// Write the bodies after the last step to a CSV file; for a fluid, write final_state.dat and av_vels.dat to a
    /// folder, which is created if it does not exist
    #[arg(long, value_name = "FILE|FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Write a snapshot after the last step; --resume continues from it
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Record when each kernel runs during the middle half of the steps, and write a trace for Perfetto or
    /// chrome://tracing
    #[arg(long, value_name = "FILE.json")]
    pub(crate) profile: Option<PathBuf>,
    /// Print the results as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `gravitile render`.
#[derive(Debug, Args)]
pub(crate) struct Render {
    #[command(flatten)]
    pub(crate) simulation: Simulation,
    #[command(flatten)]
    pub(crate) looks: Looks,
    /// Number of steps before the picture is drawn [default: 100, or the number in the --params file]
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) steps: Option<u32>,
    /// Size of the picture in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720")]
    pub(crate) size: String,
    /// PNG file to write. With --frames: a .gif, .mp4 or .webm file, or numbered .png files such as name-%04d.png
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Make a film with this many frames; .mp4 and .webm need the program ffmpeg
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) frames: Option<u32>,
    /// Simulation steps per frame of the film
    #[arg(
        long,
        value_name = "N|auto",
        default_value = "auto",
        requires = "frames",
        allow_negative_numbers = true
    )]
    pub(crate) steps_per_frame: String,
    /// Frames per second of the film
    #[arg(long, value_name = "N", default_value_t = 30, requires = "frames", value_parser = rates())]
    pub(crate) fps: u32,
    /// Write only the picture. Without --bare, the PNG file also contains the simulation, and --resume can continue from it
    #[arg(long, conflicts_with = "frames")]
    pub(crate) bare: bool,
}

/// The options that select a device and kernel variants.
#[derive(Debug, Args)]
pub(crate) struct Subject {
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) kernels: KernelArgs,
    /// Use only this mode [default: all modes]
    #[arg(long)]
    pub(crate) mode: Option<String>,
    /// Use only these kernel variants [default: all variants]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) variant: Vec<String>,
}

/// Options of `gravitile bench`.
#[derive(Debug, Args)]
pub(crate) struct Bench {
    #[command(flatten)]
    pub(crate) subject: Subject,
    /// Measure the speed with these numbers of devices; for example, 1,2 measures the first device alone, then the first two
    /// together. Under mpirun: with these numbers of ranks [default under mpirun: powers of two, and all
    /// ranks together]
    #[arg(long, value_name = "COUNT,…", value_delimiter = ',', conflicts_with_all = ["device", "tune", "plot"],
          value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) devices: Vec<u16>,
    /// Devices that the measurements with --devices may use: numbers, names, `all`, `gpus` or `sub:K` [default: all
    /// devices of the same kind as the first device]. Under mpirun: the devices of each rank
    #[arg(long, value_name = "N,…|all|gpus|sub:K", requires = "devices")]
    pub(crate) among: Option<String>,
    /// Scene to measure; it must allow any number of bodies [default: the first scene of each mode]
    #[arg(long, value_name = "NAME", conflicts_with = "tune")]
    pub(crate) scene: Option<String>,
    /// Measure the simulation in this snapshot, starting from its saved state; --set and the kernel options override its settings
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scene", "bodies", "tune", "devices"])]
    pub(crate) resume: Option<PathBuf>,
    /// Numbers of bodies or cells to measure [default: 1024 to 16384 bodies on a CPU, 16384 to 262144 on a GPU]
    #[arg(long, visible_alias = "cells", value_name = "N,…", value_delimiter = ',')]
    pub(crate) bodies: Vec<usize>,
    /// Work-group sizes to measure [default: what `auto` chooses]
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub(crate) work_group: Vec<usize>,
    /// Values of compile-time parameters; every combination is measured [default: what `auto` chooses]
    #[arg(long, value_name = "NAME=VALUE,…", num_args = 1..)]
    pub(crate) knob: Vec<String>,
    /// Set a parameter of the mode. To see all parameters, give an unknown one, such as `list=1`. If you give several
    /// values for one parameter, such as `opening=0.001,0.004`, the error and the speed are reported for each value
    #[arg(long, value_name = "KEY=VALUE,…", num_args = 1..)]
    pub(crate) set: Vec<String>,
    /// Search for the fastest variant and settings, and store them for `auto` to use
    #[arg(long, conflicts_with_all = ["variant", "work_group", "knob", "repeats", "kernels"])]
    pub(crate) tune: bool,
    /// Write a chart of the speeds to a PNG or CSV file. The horizontal axis shows the number of bodies, or the work-group
    /// size if you measure several sizes or only one number of bodies. With a list of values in --set, the chart shows
    /// speed against error
    #[arg(long, value_name = "FILE", conflicts_with = "tune")]
    pub(crate) plot: Option<PathBuf>,
    /// Write a roofline chart to a PNG or CSV file: operations per second against operations per byte, together with
    /// the peak rates of the device
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tune", "devices"])]
    pub(crate) roofline: Option<PathBuf>,
    /// Number of times to repeat each measurement; the median is reported
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repeats: u32,
    /// Minimum duration of each measurement in seconds; shorter measurements are less accurate
    #[arg(long, value_name = "S", default_value_t = 0.2, value_parser = duration, conflicts_with = "tune")]
    pub(crate) seconds: f64,
    /// Print the results as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `gravitile check`.
#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) subject: Subject,
    /// Print the results as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `gravitile devices`.
#[derive(Debug, Args)]
pub(crate) struct Devices {
    #[command(flatten)]
    pub(crate) device: DevicesArgs,
    /// Measure the speed of the CPU devices again. If there is no GPU, gravitile uses the fastest CPU device
    #[arg(long)]
    pub(crate) measure: bool,
    /// Print the results as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `gravitile completions`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell for which to print completions
    pub(crate) shell: clap_complete::Shell,
}

/// Options of `gravitile man`.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Write the manual pages of all commands to this folder, as gravitile.1, gravitile-run.1 and so on
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_alone_opens_the_file() {
        let words = |words: &[&str]| {
            with_option(std::iter::once("gravitile").chain(words.iter().copied()).map(Into::into).collect())
        };
        let parsed = |given: &[&str]| Cli::try_parse_from(words(given).unwrap());
        let opened = |word| parsed(&[word]).unwrap().view.simulation;
        assert_eq!(opened("My folder/later.gravitile").resume, Some("My folder/later.gravitile".into()));
        assert_eq!(opened("B.PNG").resume, Some("B.PNG".into()));
        assert_eq!(opened("mine.toml").scene.as_deref(), Some("mine.toml"));
        assert_eq!(opened("bodies.csv").load, Some("bodies.csv".into()));
        assert_eq!(opened("bodies.tipsy").load, Some("bodies.tipsy".into()));
        assert!(matches!(parsed(&["devices"]).unwrap().command, Some(Command::Devices(_))));
        for wrong in [&["notes"][..], &["bench.csv", "--json"], &["--report.png"]] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
        let error = words(&["notes.txt"]).unwrap_err().to_string();
        assert!(error.contains("notes.txt") && error.contains(".csv"), "{error}");
    }
}
