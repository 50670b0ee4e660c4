//! Writes traces of the kernels that devices ran, in the Trace Event Format
//! (<https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>). Perfetto and `chrome://tracing`
//! open such files.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::compute::{Launch, Recording};

/// Number (`tid`) of the track that shows a device's passes.
const PASSES: u32 = 0;
/// Number (`tid`) of the track that shows a device's kernels.
const KERNELS: u32 = 1;

/// Writes a trace with two tracks for each device: passes over all bodies or cells, and the kernels that they run.
/// `title` describes the simulation.
///
/// # Errors
/// Returns an error if writing fails.
pub fn write(title: &str, devices: &[(String, Recording)], mut out: impl Write) -> io::Result<()> {
    let mut events = Vec::new();
    for (process, (name, recording)) in (1u32..).zip(devices) {
        let named = |kind: &str, track: u32, name: &str| json!({ "ph": "M", "name": kind, "pid": process, "tid": track, "args": { "name": name } });
        events.push(named("process_name", PASSES, name));
        events.push(named("thread_name", PASSES, "passes"));
        events.push(named("thread_name", KERNELS, "kernels"));
        events.extend(
            recording.launches.chunk_by(|a, b| a.pass == b.pass).map(|pass| self::pass(process, pass)),
        );
        events.extend(recording.launches.iter().map(|launch| kernel(process, launch)));
    }
    let is_cut = devices.iter().any(|(_, recording)| recording.is_cut);
    let about = json!({ "simulation": title, "is_cut": is_cut });
    let trace = json!({ "traceEvents": events, "displayTimeUnit": "ms", "otherData": about });
    serde_json::to_writer(&mut out, &trace)?;
    out.flush()
}

fn pass(process: u32, launches: &[Launch]) -> Value {
    let (first, last) = (launches[0], launches[launches.len() - 1]);
    let args = json!({ "pass": first.pass, "launches": launches.len() });
    event((process, PASSES), &format!("pass {}", first.pass), [first.start, last.end], &args)
}

fn kernel(process: u32, launch: &Launch) -> Value {
    let Launch { kernel, start, end, items, work_group, local_bytes, pass } = *launch;
    let args =
        json!({ "pass": pass, "work_items": items, "work_group": work_group, "local_bytes": local_bytes });
    event((process, KERNELS), kernel, [start, end], &args)
}

/// Returns a trace event of the type "complete". Converts `start` and `end` from nanoseconds to microseconds.
fn event((process, track): (u32, u32), name: &str, [start, end]: [u64; 2], args: &Value) -> Value {
    let [ts, dur] = [start, end - start].map(|time| time as f64 * 1e-3);
    json!({ "ph": "X", "name": name, "pid": process, "tid": track, "ts": ts, "dur": dur, "args": args })
}
