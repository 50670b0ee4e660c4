//! Ranks: copies of the program that an MPI launcher such as `mpirun` starts, and messages between them.
//!
//! Rank 0 runs the user's command and sends orders. The other ranks carry out orders until rank 0 tells them to stop.

#[cfg_attr(feature = "mpi", path = "mpi.rs")]
#[cfg_attr(not(feature = "mpi"), path = "none.rs")]
mod net;

use std::ops::Range;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use super::events::{self, TIMEOUT_VARIABLE};
use super::found::DeviceInfo;
use crate::base::{Error, Result, invalid};
use net::{Net, Request};

/// Environment variables in which the launchers of Open MPI, MPICH and SLURM pass the number of ranks.
const SIZE_VARIABLES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];
/// Environment variables in which the launchers of Open MPI, MPICH and SLURM pass the rank of the process.
const RANK_VARIABLES: [&str; 3] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"];
/// Environment variables in which MPI launchers pass the number of the process among the processes on its host.
const LOCAL_VARIABLES: [&str; 4] =
    ["OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK", "SLURM_LOCALID"];
/// Maximum size of one message, in bytes. Longer data are sent in several messages. MPI libraries move a message only
/// while the program asks whether it is done, so a message must be short enough to arrive before the waiting program
/// sleeps.
const CHUNK: usize = 1 << 20;
/// Time for which a waiting rank only yields to other threads. Later it sleeps between polls, to use little CPU time.
const EAGER: Duration = Duration::from_millis(2);
/// Ratio of the time waited so far to the length of the next sleep. With this ratio, sleeping delays an answer by at
/// most 2 %.
const NAP_SHARE: u32 = 50;
/// Maximum length of a sleep while waiting for another rank.
const LONGEST_NAP: Duration = Duration::from_micros(200);

/// Kind of message between two ranks.
#[derive(Debug, Clone, Copy)]
enum Tag {
    /// An order from rank 0.
    Order = 1,
    /// The answer of another rank to an order.
    Reply,
    /// The reason why a rank failed, as a sentence for the user.
    Failure,
    /// Rows of a device's buffer.
    Rows,
}

/// The ranks of an MPI run, as seen from this process.
#[derive(Debug)]
pub struct Ranks {
    rank: usize,
    size: usize,
    timeout: Duration,
    net: Net,
    /// Devices of each rank. Only rank 0 knows them, after [`Ranks::gather_devices`].
    devices: OnceLock<Vec<Vec<DeviceInfo>>>,
    /// Message that says why another rank failed, once rank 0 has received the reason.
    failure: OnceLock<String>,
}

static RANKS: OnceLock<Ranks> = OnceLock::new();

fn number(variables: &[&str]) -> Option<usize> {
    variables.iter().find_map(|name| std::env::var(name).ok()?.trim().parse().ok())
}

/// Returns the ranks of the MPI run that this process belongs to, or `None` if the process was started alone.
pub fn ranks() -> Option<&'static Ranks> {
    RANKS.get()
}

/// Returns the number that the launcher gave to this process, starting at 0; 0 without a launcher.
pub fn launched_rank() -> usize {
    number(&RANK_VARIABLES).unwrap_or(0)
}

/// Returns the number of this process among the ranks on its host, starting at 0.
pub fn local_rank() -> usize {
    number(&LOCAL_VARIABLES).unwrap_or_else(launched_rank)
}

/// Connects this process to the other processes of its MPI run, if a launcher started several processes.
///
/// # Errors
/// Returns an error if a launcher started several processes, and MPI does not connect them or the program was built
/// without the feature `mpi`.
pub fn start_ranks() -> Result<()> {
    let Some(launched) = number(&SIZE_VARIABLES).filter(|size| *size > 1) else { return Ok(()) };
    let timeout = events::timeout()?;
    let (net, rank, size) = Net::start()?;
    if size == 1 {
        return Err(invalid!(
            "the launcher started {launched} copies of gravitile, but MPI does not connect them; start them with the \
             launcher of the MPI library that gravitile was built with, or under SLURM with `srun --mpi=pmix`"
        ));
    }
    let ranks = Ranks { rank, size, timeout, net, devices: OnceLock::new(), failure: OnceLock::new() };
    let _ = RANKS.set(ranks);
    Ok(())
}

/// First message of a rank to rank 0: a checksum of its program, and its devices or the reason why it has none.
#[derive(serde::Serialize, serde::Deserialize)]
struct Greeting {
    build: u32,
    devices: Result<Vec<DeviceInfo>, String>,
}

impl Ranks {
    /// Returns the rank (number) of this process in the MPI run, starting at 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the number of processes in the MPI run.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the devices of each rank; empty before [`Ranks::gather_devices`], and on all ranks except rank 0.
    pub fn devices(&self) -> &[Vec<DeviceInfo>] {
        self.devices.get().map_or(&[], Vec::as_slice)
    }

    /// Sends this rank's build number and its devices `own` to rank 0. If the rank has no device, `own` is the reason.
    /// Rank 0 compares the builds and collects the devices.
    ///
    /// # Errors
    /// On rank 0, returns an error if a rank has another build or no device.
    pub fn gather_devices(&self, own: Result<Vec<DeviceInfo>, String>) -> Result<()> {
        let build = build_number()?;
        if self.rank > 0 {
            let greeting = serde_json::to_vec(&Greeting { build, devices: own });
            return self.send(0, Tag::Reply, &greeting.map_err(|error| invalid!("{error}"))?);
        }
        let mut all = vec![own.map_err(Error::Invalid)?];
        for rank in 1..self.size {
            let Greeting { build: other, devices } = serde_json::from_slice(&self.receive(rank, Tag::Reply)?)
                .map_err(|_| {
                    invalid!(
                        "rank {rank} runs another version of gravitile; start the same version on all hosts"
                    )
                })?;
            if other != build {
                return Err(invalid!(
                    "rank {rank} runs a different build of gravitile from rank 0; copy the same program to all hosts"
                ));
            }
            all.push(devices.map_err(|why| invalid!("rank {rank} cannot take part: {why}"))?);
        }
        let _ = self.devices.set(all);
        Ok(())
    }

    /// Sends the order `message` from rank 0 to the ranks `others`.
    ///
    /// # Errors
    /// Returns an error if a rank has failed or does not answer.
    pub fn order(&self, mut others: Range<usize>, message: &[u8]) -> Result<()> {
        self.check()?;
        others.try_for_each(|rank| self.send(rank, Tag::Order, message))
    }

    /// Returns an error if another rank has failed.
    fn check(&self) -> Result<()> {
        if let Some(failed) =
            (1..self.size).find(|&other| self.net.probe(other, Tag::Failure as i32).is_some())
        {
            let why = self.receive(failed, Tag::Failure)?;
            let _ =
                self.failure.set(format!("rank {failed} cannot continue: {}", String::from_utf8_lossy(&why)));
        }
        self.failure.get().map_or(Ok(()), |failure| Err(Error::Rank(failure.clone())))
    }

    /// Waits for the next order from rank 0.
    pub fn next_order(&self) -> Result<Vec<u8>> {
        self.receive(0, Tag::Order)
    }

    /// Sends `values` to rank 0 as this rank's answer to an order.
    pub fn reply(&self, values: &[f64]) -> Result<()> {
        self.send(0, Tag::Reply, bytemuck::cast_slice(values))
    }

    /// Waits for the answer of a rank. Rank 0 calls this function once for each order that asks for an answer.
    pub fn answer(&self, rank: usize) -> Result<Vec<f64>> {
        Ok(bytemuck::pod_collect_to_vec(&self.receive(rank, Tag::Reply)?))
    }

    /// Tells rank 0 in a `sentence` why this rank failed. Then sleeps until rank 0 ends all ranks.
    pub fn fail(&self, sentence: &str) {
        let _ = self.send(0, Tag::Failure, sentence.as_bytes());
        loop {
            thread::sleep(Duration::from_secs(1));
        }
    }

    /// Ends all processes of the MPI run immediately, with exit code 2.
    pub fn abort(&self) {
        self.net.abort(2);
    }

    /// Leaves the MPI run. All ranks must call this function.
    pub fn leave(&self) {
        self.net.finalize();
    }

    /// Sends and receives ranges of memory, each given as a rank, an address and a length in bytes. Waits for all
    /// transfers.
    ///
    /// # Safety
    /// The memory must stay valid during the call, and no range to fill may overlap another range.
    pub(super) unsafe fn swap(
        &self,
        sends: &[(usize, *const u8, usize)],
        receives: &[(usize, *mut u8, usize)],
    ) -> Result<()> {
        let chunks = |len: usize| (0..len).step_by(CHUNK).map(move |at| (at, CHUNK.min(len - at)));
        let mut open: Vec<(usize, Request)> = Vec::new();
        for &(rank, to, len) in receives {
            for (at, len) in chunks(len) {
                // SAFETY: the chunk lies in the range that the caller vouches for.
                open.push((rank, unsafe { self.net.receive(rank, Tag::Rows as i32, to.add(at), len) }));
            }
        }
        for &(rank, from, len) in sends {
            for (at, len) in chunks(len) {
                // SAFETY: the chunk lies in the range that the caller vouches for.
                open.push((rank, unsafe { self.net.send(rank, Tag::Rows as i32, from.add(at), len) }));
            }
        }
        for (rank, mut request) in open {
            self.until(rank, || self.net.is_done(&mut request).then_some(()))?;
        }
        Ok(())
    }

    /// Sends a message in chunks. If its length is a multiple of the chunk size, an empty chunk marks the end.
    fn send(&self, to: usize, tag: Tag, message: &[u8]) -> Result<()> {
        for at in (0..=message.len()).step_by(CHUNK) {
            let chunk = &message[at..message.len().min(at + CHUNK)];
            // SAFETY: the wait below ends after the transfer, or the program ends.
            let mut request = unsafe { self.net.send(to, tag as i32, chunk.as_ptr(), chunk.len()) };
            self.until(to, || self.net.is_done(&mut request).then_some(()))?;
        }
        Ok(())
    }

    fn receive(&self, from: usize, tag: Tag) -> Result<Vec<u8>> {
        let mut message = Vec::new();
        loop {
            let len = self.until(from, || self.net.probe(from, tag as i32))?;
            let start = message.len();
            message.resize(start + len, 0);
            // SAFETY: `message` does not move before the wait has ended.
            let mut request =
                unsafe { self.net.receive(from, tag as i32, message[start..].as_mut_ptr(), len) };
            self.until(from, || self.net.is_done(&mut request).then_some(()))?;
            if len < CHUNK {
                return Ok(message);
            }
        }
    }

    /// Waits for the rank `rank` until `done` returns a value. Only rank 0 limits the waiting time, because other ranks
    /// may wait for user input.
    fn until<T>(&self, rank: usize, mut done: impl FnMut() -> Option<T>) -> Result<T> {
        let start = Instant::now();
        loop {
            if let Some(value) = done() {
                return Ok(value);
            }
            let waited = start.elapsed();
            if waited < EAGER {
                thread::yield_now();
                continue;
            }
            thread::sleep((waited / NAP_SHARE).min(LONGEST_NAP));
            if self.rank == 0 {
                self.check()?;
                if waited > self.timeout {
                    let seconds = self.timeout.as_secs_f64();
                    return Err(Error::Rank(format!(
                        "rank {rank} did not respond within {seconds} s, so its process or its host has probably \
                         stopped; to wait longer, set {TIMEOUT_VARIABLE} to more seconds"
                    )));
                }
            }
        }
    }
}

/// Returns a checksum of the program's executable file, which contains the kernels.
fn build_number() -> Result<u32> {
    let path = std::env::current_exe()
        .map_err(|error| invalid!("cannot find the program file of gravitile: {error}"))?;
    let program = std::fs::read(&path).map_err(Error::io("read", &path))?;
    Ok(crc32fast::hash(&program))
}
