//! What can be typed: clap types only.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::film::RATES;

/// Step up to a million bodies, or a fluid, with OpenCL and watch them live.
///
/// Without a command the viewer opens.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The viewer's options, which may stand without its name.
    #[command(flatten)]
    pub view: View,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Open the viewer (the default)
    View(View),
    /// Step without a window and report speed, energy and momentum
    Run(Run),
    /// Step without a window and draw the result to a PNG, or to a film
    Render(Render),
    /// Measure speed and error of variants × numbers of bodies × work-group sizes
    Bench(Bench),
    /// Compare every variant with the f64 reference; exit code 1 if one is off
    Check(Check),
    /// List the OpenCL devices
    Devices(Devices),
}

/// Which device.
#[derive(Debug, Clone, Args)]
pub struct DeviceArgs {
    /// Device to compute on: its number or part of its name, as `gravitile devices` lists them
    #[arg(long, value_name = "N|NAME", global = false)]
    pub device: Option<String>,
}

/// Which devices.
#[derive(Debug, Clone, Args)]
pub struct DevicesArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub one: DeviceArgs,
    /// Devices that compute together: numbers or names as with --device; `all`; `gpus`; `sub:K`, K equal parts of the
    /// CPU's cores
    #[arg(long, value_name = "N,…|all|gpus|sub:K", conflicts_with = "device")]
    pub devices: Option<String>,
}

/// Which kernels.
#[derive(Debug, Clone, Args)]
pub struct KernelArgs {
    /// Take kernels from this folder in place of the program's own; `view` writes those to it if it has none, and watches
    /// it: a file that is saved runs at once
    #[arg(long, value_name = "FOLDER")]
    pub kernels: Option<PathBuf>,
}

/// What to simulate.
#[derive(Debug, Clone, Args)]
pub struct Simulation {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub device: DevicesArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub kernels: KernelArgs,
    /// What is simulated [default: gravity, or what the scene is of]
    #[arg(long)]
    pub mode: Option<String>,
    /// Where the bodies start, by name, or a scene file; a wrong name lists the right ones
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub scene: Option<String>,
    /// Start from the bodies of a CSV file with the header x,y,z,vx,vy,vz,m, or of a Tipsy file (.tipsy, .bin)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scene", "seed"])]
    pub load: Option<PathBuf>,
    /// Go on exactly where a snapshot, or a picture that carries one, was taken; --set, --variant, --work-group and --knob may change how
    #[arg(long, value_name = "FILE", conflicts_with_all = ["mode", "scene", "seed", "load", "params", "bodies"])]
    pub resume: Option<PathBuf>,
    /// Start with a fluid on the grid of a parameter file of seven lines: nx, ny, steps, reynolds_dim, density, accel, omega
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scene", "seed", "load", "bodies"])]
    pub params: Option<PathBuf>,
    /// Where that grid is solid: a file of lines `x y 1`
    #[arg(long, value_name = "FILE", requires = "params")]
    pub obstacles: Option<PathBuf>,
    /// Number of bodies, or about how many cells a fluid's grid has: `auto` fits the device
    #[arg(
        long,
        visible_alias = "cells",
        value_name = "N|auto",
        default_value = "auto",
        allow_negative_numbers = true
    )]
    pub bodies: String,
    /// Seed of the scene: the same seed gives the same bodies [default: 1, or what the scene file says]
    #[arg(long, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Kernel variant; a wrong name lists the right ones
    #[arg(long, value_name = "NAME|auto", default_value = "auto")]
    pub variant: String,
    /// Work-items to a work-group
    #[arg(long, value_name = "N|auto", default_value = "auto", allow_negative_numbers = true)]
    pub work_group: String,
    /// Set a number that the variant is compiled with; a wrong name lists the right ones
    #[arg(long, value_name = "NAME=VALUE", num_args = 1..)]
    pub knob: Vec<String>,
    /// Set a parameter; a wrong key lists the right ones
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub set: Vec<String>,
}

/// What a film may be shown at.
fn rates() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(i64::from(*RATES.start())..=i64::from(*RATES.end()))
}

impl Simulation {
    /// Whether it is said what to begin with.
    pub fn is_chosen(&self) -> bool {
        let Self { mode, scene, load, resume, params, .. } = self;
        mode.is_some() || scene.is_some() || load.is_some() || resume.is_some() || params.is_some()
    }
}

/// How it is drawn.
#[derive(Debug, Clone, Args)]
pub struct Looks {
    /// Set how it is drawn, such as `palette=ice`, `bloom=on`, `trails=60`, `exposure=0.5`; a wrong key lists the right
    /// ones. What colours show is `--set colour=…`
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub look: Vec<String>,
}

/// `gravitile view`.
#[derive(Debug, Args)]
pub struct View {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub simulation: Simulation,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub looks: Looks,
    /// Steps of a burst, between two frames
    #[arg(long, value_name = "N|auto", default_value = "auto", allow_negative_numbers = true)]
    pub steps_per_frame: String,
    /// Step on without waiting for the screen
    #[arg(long)]
    pub free_run: bool,
    /// Start paused
    #[arg(long)]
    pub paused: bool,
    /// Size of the window [default: as it was left, at first 1280x800]
    #[arg(long, value_name = "WxH")]
    pub size: Option<String>,
    /// Neither read nor keep settings and what runs; so too with --frames
    #[arg(long)]
    pub clean: bool,
    /// Keep what runs once in so many seconds, to go on there after a crash
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub autosave: u32,
    /// Leave after so many frames
    #[arg(long, value_name = "F")]
    pub frames: Option<u64>,
    /// On leaving, write frame times, steps and what ran to a JSON file
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

/// `gravitile run`.
#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub simulation: Simulation,
    /// Steps to take [default: 100, or what `--params` says]
    #[arg(long, allow_negative_numbers = true)]
    pub steps: Option<u32>,
    /// Write the bodies after the last step to a CSV file; of a fluid, final_state.dat and av_vels.dat into a folder
    #[arg(long, value_name = "FILE|FOLDER")]
    pub out: Option<PathBuf>,
    /// After the last step, write a snapshot for --resume
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Report as JSON
    #[arg(long)]
    pub json: bool,
}

/// `gravitile render`.
#[derive(Debug, Args)]
pub struct Render {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub simulation: Simulation,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub looks: Looks,
    /// Steps to take before the picture [default: 100, or what `--params` says]
    #[arg(long, allow_negative_numbers = true)]
    pub steps: Option<u32>,
    /// Size of the picture in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720")]
    pub size: String,
    /// The PNG file, which carries what is in it for --resume; with --frames a .gif, .mp4 or .webm, or .png files such as
    /// name-%04d.png
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Make a film of so many pictures; .mp4 and .webm need the program ffmpeg
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub frames: Option<u32>,
    /// Steps between two pictures of a film
    #[arg(
        long,
        value_name = "N|auto",
        default_value = "auto",
        requires = "frames",
        allow_negative_numbers = true
    )]
    pub steps_per_frame: String,
    /// Pictures of a film that are shown in a second
    #[arg(long, value_name = "N", default_value_t = 30, requires = "frames", value_parser = rates())]
    pub fps: u32,
    /// Leave out of the PNG what would let others go on from it
    #[arg(long, conflicts_with = "frames")]
    pub bare: bool,
}

/// `gravitile bench`.
#[derive(Debug, Args)]
pub struct Bench {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub device: DeviceArgs,
    /// Measure how the speed goes with the number of devices: a row for each of these numbers, of the first so many of
    /// those in --among
    #[arg(long, value_name = "COUNT,…", value_delimiter = ',', conflicts_with_all = ["device", "tune", "plot"],
          value_parser = clap::value_parser!(u16).range(1..))]
    pub devices: Vec<u16>,
    /// The devices that --devices counts: numbers, names, `all`, `gpus`, `sub:K` [default: all of the first one's kind]
    #[arg(long, value_name = "N,…|all|gpus|sub:K", requires = "devices")]
    pub among: Option<String>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub kernels: KernelArgs,
    /// Only this mode
    #[arg(long)]
    pub mode: Option<String>,
    /// Only these variants
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub variant: Vec<String>,
    /// Numbers of bodies or cells [default: of bodies 1024 to 16384 on a CPU, 16384 to 262144 on a GPU]
    #[arg(long, visible_alias = "cells", value_name = "N,…", value_delimiter = ',')]
    pub bodies: Vec<usize>,
    /// Work-group sizes [default: what `auto` takes]
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub work_group: Vec<usize>,
    /// Numbers that a variant is compiled with, in every combination [default: what `auto` takes]
    #[arg(long, value_name = "NAME=VALUE,…", num_args = 1..)]
    pub knob: Vec<String>,
    /// Set a parameter
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub set: Vec<String>,
    /// Search for the fastest variant and its numbers, and let `auto` take them from now on
    #[arg(long, conflicts_with_all = ["variant", "work_group", "knob", "repeats", "kernels"])]
    pub tune: bool,
    /// Draw the speeds to a PNG, or write them to a CSV, as the file's name ends: against the number of bodies, or
    /// against the work-group size where several are asked for or there is one number of bodies alone
    #[arg(long, value_name = "FILE", conflicts_with = "tune")]
    pub plot: Option<PathBuf>,
    /// Timings of which the median counts
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeats: u32,
    /// Report as JSON
    #[arg(long)]
    pub json: bool,
}

/// `gravitile check`.
#[derive(Debug, Args)]
pub struct Check {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub device: DeviceArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub kernels: KernelArgs,
    /// Only this mode
    #[arg(long)]
    pub mode: Option<String>,
    /// Only these variants
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub variant: Vec<String>,
}

/// `gravitile devices`.
#[derive(Debug, Args)]
pub struct Devices {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub device: DevicesArgs,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
