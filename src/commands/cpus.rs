//! Finds the fastest of several CPU devices, such as those of PoCL and of Intel's runtime, by measuring each one once.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::base::{Error, OutputFile, Result, files, invalid};
use crate::compute::{self, DeviceInfo, DeviceKind, FoundDevice};

/// Options for the speed measurement: gravity with few bodies, and a kernel that CPU compilers build in about a second.
const MEASUREMENT: [&str; 12] = [
    "bench",
    "--mode",
    "gravity",
    "--variant",
    "vector",
    "--bodies",
    BODIES,
    "--seconds",
    "0.05",
    "--repeats",
    "3",
    "--json",
];
/// Number of bodies in the speed measurement of a CPU device.
pub(super) const BODIES: &str = "4096";
/// Maximum duration of the speed measurement of a device. The limit is needed because the compiler of a driver may
/// hang. On a busy machine, building the kernel can take more than 10 seconds.
const PATIENCE: Duration = Duration::from_secs(30);
/// Maximum relative error of the results of a device. A device with larger errors is not used. The errors of the kernel
/// itself are below 1e-5.
const MOST_ERROR: f64 = 1e-3;
/// Maximum size of the file `cpus.json`, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// Measured speeds of CPU devices in steps per second, by device; `None` if the measurement failed.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Speeds(BTreeMap<String, Option<f64>>);

impl Speeds {
    /// Returns the path of the file that stores the speeds, or `None` if the user has no cache folder.
    fn path() -> Option<PathBuf> {
        Some(dirs::cache_dir()?.join("gravitile").join("cpus.json"))
    }

    /// Reads the stored speeds. Returns an empty map if there is no valid file; the devices are then measured again.
    pub(super) fn load() -> Self {
        let text =
            Self::path().and_then(|path| files::read_small(&path, MOST_BYTES, "a list of speeds").ok()?);
        text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }

    /// Prepares the file that stores the speeds.
    fn file() -> Result<OutputFile> {
        let path = Self::path().ok_or_else(|| invalid!("there is no cache folder"))?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Error::io("write", folder))?;
        }
        OutputFile::create(&path)
    }

    fn save(&self) -> Result<()> {
        let text = serde_json::to_vec_pretty(self)
            .map_err(|error| invalid!("cannot write the speeds of the CPU devices: {error}"))?;
        Self::file()?.replace(&text)
    }

    /// Returns the measured speed in steps per second. The outer `None` means that the device was never measured, the
    /// inner `None` that its measurement failed.
    pub(super) fn of(&self, info: &DeviceInfo) -> Option<Option<f64>> {
        self.0.get(&key(info)).copied()
    }

    /// Measures all CPU devices in `found` one after another, and stores their speeds for later runs.
    pub(super) fn measure(found: &[FoundDevice]) -> Self {
        let mut speeds = Self::load();
        let cpus = models(found);
        eprintln!("measuring {} CPU devices to find the fastest one…", cpus.len());
        for info in cpus {
            let speed = steps_per_second(info.index);
            let outcome = speed.inspect_err(|why| eprintln!("note: {} cannot be used: {why}", info.label()));
            speeds.0.insert(key(info), outcome.ok());
        }
        if let Err(error) = speeds.save() {
            eprintln!("note: the speeds of the CPU devices were not stored: {error}");
        }
        speeds
    }

    /// Returns the CPU devices in `found` with their speeds, fastest first. Devices without a speed come last.
    fn ranking<'f>(&self, found: &'f [FoundDevice]) -> Vec<(&'f DeviceInfo, f64)> {
        let speed = |info| self.of(info).flatten().unwrap_or(0.0);
        let mut ranking: Vec<_> = models(found).into_iter().map(|info| (info, speed(info))).collect();
        ranking.sort_by(|a, b| b.1.total_cmp(&a.1));
        ranking
    }

    /// Returns a sentence that compares the two fastest CPU devices, or `None` if fewer than two were measured.
    pub(super) fn sentence(&self, found: &[FoundDevice]) -> Option<String> {
        let [(first, fast), (second, slow), ..] = self.ranking(found)[..] else { return None };
        let label = |info: &DeviceInfo| format!("{} of {}", info.label(), info.platform);
        (slow > 0.0)
            .then(|| format!("{} is {:.1} times as fast as {}", label(first), fast / slow, label(second)))
    }
}

/// Returns the key of a CPU device in the stored file. The key contains the driver version, because a new driver must
/// be measured again.
fn key(info: &DeviceInfo) -> String {
    [&*info.platform, &info.name, &info.driver].join(" · ")
}

/// Returns one CPU device of each model in `found`. Devices of the same platform with the same name and driver are one
/// model: they are equally fast.
fn models(found: &[FoundDevice]) -> Vec<&DeviceInfo> {
    let mut models: Vec<&DeviceInfo> = Vec::new();
    for info in found.iter().map(|found| &found.info).filter(|info| info.kind == DeviceKind::Cpu) {
        if !models.iter().any(|other| key(other) == key(info)) {
            models.push(info);
        }
    }
    models
}

/// Returns the index in `found`, the list of all devices, of the device to use if the user names none: the first GPU,
/// or else the fastest CPU. Measures the CPU devices if there are several and one of them was never measured.
pub(super) fn preferred(found: &[FoundDevice]) -> usize {
    let cpus = models(found);
    // Ranks of an MPI run must not start programs.
    if found[0].info.kind != DeviceKind::Cpu || cpus.len() < 2 || compute::ranks().is_some() {
        return 0;
    }
    let mut speeds = Speeds::load();
    // Speeds that cannot be stored would have to be measured at each start.
    if cpus.iter().any(|info| speeds.of(info).is_none()) && Speeds::file().is_ok() {
        speeds = Speeds::measure(found);
        if let Some(sentence) = speeds.sentence(found) {
            eprintln!("note: {sentence}, so it was chosen; to use another device, add --device");
        }
    }
    speeds.ranking(found).first().map_or(0, |(info, _)| info.index)
}

/// Measures the speed of the device `index` in a separate process, because a driver may crash or hang.
fn steps_per_second(index: usize) -> io::Result<f64> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(MEASUREMENT).args(["--device", &index.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    #[cfg(windows)]
    std::os::windows::process::CommandExt::creation_flags(&mut command, 0x0800_0000); // CREATE_NO_WINDOW
    let mut child = command.spawn()?;
    finish(&mut child)?;
    let mut text = Vec::new();
    child.stdout.take().map_or(Ok(0), |mut stdout| stdout.read_to_end(&mut text))?;
    let report: Report = serde_json::from_slice(&text)?;
    match report.rows.first() {
        Some(row) if row.relative_error.is_none_or(|error| error < MOST_ERROR) => Ok(row.steps_per_second),
        _ => Err(io::Error::other("its results are wrong; see `gravitile check`")),
    }
}

/// Waits until the child process ends, and returns an error if it failed. Kills a process that takes too long.
fn finish(child: &mut Child) -> io::Result<()> {
    let started = Instant::now();
    loop {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(_) => return Err(io::Error::other("its driver crashed or reported an error")),
            None if started.elapsed() > PATIENCE => {
                child.kill()?;
                child.wait()?;
                let seconds = PATIENCE.as_secs();
                return Err(io::Error::other(format!("its driver did not finish within {seconds} s")));
            }
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// The part of the output of `gravitile bench --json` that a measurement needs.
#[derive(Deserialize)]
struct Report {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    steps_per_second: f64,
    relative_error: Option<f64>,
}
