//! Builds programs from OpenCL C, and queues their kernels.

use std::ffi::CString;
use std::sync::Arc;

use bytemuck::Pod;
use ocl::core::{self, ArgVal};

use super::buffer::Buffer;
use super::device::Device;
use super::events::NO_WAIT;
use super::fault::{Call, InjectedFault};
use super::found::DeviceKind;
use super::recorder::Launch;
use super::source::{KernelSource, ProgramSource, join, kernel_source};
use crate::base::{Error, Result, invalid};

/// OpenCL source of a function that computes 1/√x as fast as the device can; see [`Program::build_with_root`].
pub const ROOT: KernelSource = kernel_source!("root.cl");

/// A set of kernels compiled for a device.
#[derive(Debug, Clone)]
pub struct Program {
    device: Device,
    program: core::Program,
    source: Arc<ProgramSource>,
}

/// Compiler options. They allow fused multiply-adds but preserve NaN. `-w` silences the message that PoCL prints for
/// each loop that it does not unroll. Options that a compiler rejects are left out.
const OPTIONS: [&str; 4] = ["-cl-std=CL1.2", "-cl-mad-enable", "-cl-no-signed-zeros", "-w"];

/// The reason why a compiler rejected a program.
struct Refusal {
    log: String,
    /// Whether the compiler rejected the build options rather than the source code.
    is_for_options: bool,
}

impl Refusal {
    /// Returns the index of the build option that may have caused the error, or `None` if the options did not cause it.
    fn option(&self, options: &[&str]) -> Option<usize> {
        // Intel's compiler repeats the options in the log of every failure.
        let mut lines = self.log.lines().filter(|line| !line.starts_with("Options used"));
        let named = lines.find_map(|line| {
            options.iter().position(|option| line.split_whitespace().any(|word| word.contains(option)))
        });
        named.or_else(|| options.len().checked_sub(1).filter(|_| self.is_for_options))
    }
}

/// Compiles OpenCL source. The outer error is a device failure; the inner error is the compiler's rejection.
fn compile(device: &Device, source: &CString, options: &CString) -> Result<Result<core::Program, Refusal>> {
    use core::{ProgramBuildInfo as Query, ProgramBuildInfoResult as Answer};
    const DOING: &str = "building a program";
    if device.injected_fault(Call::Build, DOING)? == Some(InjectedFault::Options) {
        let log = "the compiler gave no reason (injected by a test)".to_owned();
        return Ok(Err(Refusal { log, is_for_options: true }));
    }
    let program = core::create_program_with_source(&device.context, std::slice::from_ref(source))
        .map_err(device.fail("creating a program"))?;
    let built = core::build_program(&program, Some(&[device.id]), options, None, None);
    let ask = |query| core::get_program_build_info(&program, device.id, query);
    // `ocl` reports a failure without a log as success.
    let failed = matches!(ask(Query::BuildStatus), Ok(Answer::BuildStatus(core::ProgramBuildStatus::Error)));
    if built.is_ok() && !failed {
        return Ok(Ok(program));
    }
    let code = built.err().and_then(|error| error.api_status());
    let log = match ask(Query::BuildLog) {
        Ok(Answer::BuildLog(log)) => log.trim_end_matches(['\0', '\n']).to_owned(),
        _ => String::new(),
    };
    let log = if log.trim().is_empty() { "the compiler reported no reason".to_owned() } else { log };
    let is_for_options = matches!(
        code,
        Some(core::Status::CL_INVALID_BUILD_OPTIONS | core::Status::CL_INVALID_COMPILER_OPTIONS)
    );
    Ok(Err(Refusal { log, is_for_options }))
}

/// Calls `compile` with [`OPTIONS`], and again without each option that the compiler rejects. Returns the log of the
/// compiler if it rejects the program for another reason.
fn with_accepted_options<T>(
    mut compile: impl FnMut(&[&str]) -> Result<Result<T, Refusal>>,
) -> Result<Result<T, String>> {
    let mut options = OPTIONS.to_vec();
    loop {
        let refusal = match compile(&options)? {
            Ok(program) => return Ok(Ok(program)),
            Err(refusal) => refusal,
        };
        let Some(at) = refusal.option(&options) else { return Ok(Err(refusal.log)) };
        // Not within the macro, which evaluates its arguments only if logging is enabled.
        let option = options.remove(at);
        tracing::info!("the compiler does not accept the build option {option}");
    }
}

impl Program {
    /// Compiles `sources`, joined in order. Passes each of `defines` to the compiler as `-D name=value`.
    ///
    /// # Errors
    /// Returns [`Error::Build`] with the compiler's log, which names the file and the line.
    pub fn build(
        device: &Device,
        sources: &[KernelSource],
        defines: &[(&'static str, String)],
    ) -> Result<Self> {
        device.note_built(sources.iter().map(|source| source.file));
        // The fastest accurate 1/√x: `native_rsqrt` is accurate on GPUs, but has 12 bits with Intel's CPU compiler.
        let root = if device.info.kind == DeviceKind::Cpu { "rsqrt" } else { "native_rsqrt" };
        let mut defines = [&[("reciprocal_root", root.to_owned())], defines].concat();
        if device.info.is_pocl() && device.instance > 0 {
            // PoCL 5.0 aborts if two devices run one kernel at once, one with an offset. This macro makes them differ.
            defines.push(("DEVICE_INSTANCE", device.instance.to_string()));
        }
        let source = ProgramSource { files: sources.to_vec(), defines, edits: device.edits() };
        let defines: String =
            source.defines.iter().map(|(name, value)| format!(" -D {name}={value}")).collect();
        let build_error = |log: String| Error::Build {
            file: sources.last().map_or("", |s| s.file).to_owned(),
            device: device.info.name.clone(),
            log,
        };
        let text = |s| {
            CString::new(s)
                .map_err(|_| build_error("the source code contains a NUL byte; remove it".to_owned()))
        };
        let key = (text(join(sources, &source.edits))?, text(defines)?);
        // The cache is not locked during a build: two threads may build the same program at once.
        if let Some(program) = device.program_cache().get(&key) {
            return Ok(Self { device: device.clone(), program, source: Arc::new(source) });
        }
        let program = with_accepted_options(|options| {
            let all = text(options.join(" ") + &key.1.to_string_lossy())?;
            compile(device, &key.0, &all)
        })?
        .map_err(build_error)?;
        device.program_cache().insert(key, sources, program.clone());
        Ok(Self { device: device.clone(), program, source: Arc::new(source) })
    }

    /// Compiles [`ROOT`] and `sources`. If the compiler rejects the assembly in `kernels/root.cl`, uses portable code.
    ///
    /// # Errors
    /// Returns [`Error::Build`] with the log of the first attempt if the compiler rejects both versions.
    pub fn build_with_root(
        device: &Device,
        sources: &[KernelSource],
        defines: &[(&'static str, String)],
    ) -> Result<Self> {
        let sources = [&[ROOT], sources].concat();
        Self::build(device, &sources, defines).or_else(|why| {
            if !matches!(why, Error::Build { .. }) {
                return Err(why);
            }
            let portable = [defines, &[("PORTABLE_ROOT", "1".to_owned())]].concat();
            let program = Self::build(device, &sources, &portable).map_err(|_| why)?;
            let file = sources.last().map_or("", |source| source.file);
            tracing::info!(
                "{file} uses the portable square root, because {} rejects the assembly code",
                device.info.name
            );
            Ok(program)
        })
    }

    /// Returns the kernel with the entry point `name`.
    ///
    /// # Errors
    /// Returns an error if the program has no such entry point.
    pub fn kernel(&self, name: &'static str) -> Result<Kernel> {
        const DOING: &str = "creating a kernel";
        let kernel = core::create_kernel(&self.program, name).map_err(self.device.fail(DOING))?;
        match core::get_kernel_info(&kernel, core::KernelInfo::NumArgs).map_err(self.device.fail(DOING))? {
            core::KernelInfoResult::NumArgs(args) => {
                let (device, source) = (self.device.clone(), self.source.clone());
                Ok(Kernel { device, kernel, name, args: args as usize, source })
            }
            _ => Err(invalid!("the driver does not report the number of arguments of the kernel {name}")),
        }
    }
}

/// Argument to pass to a kernel.
#[derive(Debug, Clone, Copy)]
pub enum Arg<'a> {
    /// A buffer, passed as a `__global` pointer.
    Buffer(&'a core::Mem),
    /// A value of the OpenCL type `uint`.
    Uint(u32),
    /// A value of the OpenCL type `float`.
    Float(f32),
    /// A value of the OpenCL type `float8`.
    Float8([f32; 8]),
    /// A value of the OpenCL type `float16`.
    Float16([f32; 16]),
}

impl<'a, T: Pod> From<&'a Buffer<T>> for Arg<'a> {
    fn from(buffer: &'a Buffer<T>) -> Self {
        Arg::Buffer(&buffer.mem)
    }
}

/// Range of work-items, identified by their global ids, for which a kernel runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkRange {
    /// Global id of the first work-item.
    pub offset: usize,
    /// Number of work-items, which must be a multiple of `group`.
    pub count: usize,
    /// Number of work-items in a work-group.
    pub group: usize,
}

/// A kernel: an entry point of a built program.
#[derive(Debug)]
pub struct Kernel {
    device: Device,
    kernel: core::Kernel,
    name: &'static str,
    /// Number of arguments that the kernel takes.
    args: usize,
    source: Arc<ProgramSource>,
}

impl Kernel {
    /// Returns the files and macros from which the kernel's program was built.
    pub fn source(&self) -> &Arc<ProgramSource> {
        &self.source
    }

    /// Checks that the kernel can run in work-groups of `group` work-items. Error messages call the kernel `name`.
    ///
    /// # Errors
    /// Returns [`Error::Invalid`] with the largest possible size if `group` is too large.
    pub fn check_work_group(&self, name: &str, group: usize) -> Result<()> {
        use core::{KernelWorkGroupInfo as Query, KernelWorkGroupInfoResult as Answer};
        // NVIDIA's driver reports 256 for every kernel, but accepts the size that a kernel was compiled for.
        let ask = |query| core::get_kernel_work_group_info(&self.kernel, self.device.id, query);
        if matches!(ask(Query::CompileWorkGroupSize), Ok(Answer::CompileWorkGroupSize([size, ..])) if size == group)
        {
            return Ok(());
        }
        let most = match ask(Query::WorkGroupSize) {
            Ok(Answer::WorkGroupSize(size)) => size,
            Ok(_) => self.device.info.max_work_group,
            Err(error) => return Err(self.device.fail("reading a kernel's limits")(error)),
        };
        if group > most {
            let device = &self.device.info.name;
            return Err(invalid!(
                "a work-group size of {group} is too large: the kernel {name} allows at most {most} on {device}"
            ));
        }
        Ok(())
    }

    /// Queues the kernel with the arguments `args`. Pass an event only to time the run: events slow queueing down.
    ///
    /// # Errors
    /// Returns an error if the arguments or the range are not valid for the kernel.
    pub(super) fn enqueue(
        &self,
        range: WorkRange,
        args: &[Arg],
        event: Option<&mut core::Event>,
    ) -> Result<()> {
        self.device.check(Call::Kernel, self.name)?;
        // OpenCL would replace a missing argument with the argument of an earlier call, whose buffer may be gone.
        if args.len() != self.args {
            let (name, expected, given) = (self.name, self.args, args.len());
            return Err(invalid!("the kernel {name} has {expected} arguments, but gravitile passes {given}"));
        }
        let fail = |error| self.device.fail(self.name)(error);
        for (index, arg) in (0..).zip(args) {
            let value = match arg {
                Arg::Buffer(mem) => ArgVal::mem(mem),
                Arg::Uint(x) => ArgVal::scalar(x),
                Arg::Float(x) => ArgVal::scalar(x),
                // SAFETY: `x` is as large as a `float8`, and outlives `set_kernel_arg`, which copies it.
                Arg::Float8(x) => unsafe { ArgVal::from_raw(size_of_val(x), x.as_ptr().cast(), false) },
                // SAFETY: `x` is as large as a `float16`, and outlives `set_kernel_arg`, which copies it.
                Arg::Float16(x) => unsafe { ArgVal::from_raw(size_of_val(x), x.as_ptr().cast(), false) },
            };
            core::set_kernel_arg(&self.kernel, index, value).map_err(fail)?;
        }
        let (is_recorded, mut own) = (self.device.recorder.is_on(), core::Event::null());
        let mut event = if is_recorded { Some(event.unwrap_or(&mut own)) } else { event };
        // SAFETY: OpenCL has checked the arguments' sizes, and keeps the buffers until the kernel has run. Kernels
        // bound their accesses by the counts in their arguments, which callers keep within the buffers.
        unsafe {
            // PoCL compiles a kernel for an offset of zero and again for any other. An offset in a second dimension,
            // which no kernel reads, makes PoCL compile each kernel once.
            let (dimensions, unread) = if self.device.info.is_pocl() { (2, 1) } else { (1, 0) };
            let (offset, group) = (Some([range.offset, unread, 0]), Some([range.group, 1, 1]));
            let (queue, count) = (&self.device.queue, [range.count, 1, 1]);
            let event = event.as_deref_mut();
            core::enqueue_kernel(queue, &self.kernel, dimensions, offset, &count, group, NO_WAIT, event)
        }
        .map_err(fail)?;
        match event {
            Some(event) if is_recorded => self.device.recorder.add(self.launch(range), event.clone()),
            _ => Ok(()),
        }
    }

    /// Describes a launch of the kernel over `range`. The recorder later sets the times and the pass.
    fn launch(&self, range: WorkRange) -> Launch {
        use core::{KernelWorkGroupInfo as Query, KernelWorkGroupInfoResult as Answer};
        let local = core::get_kernel_work_group_info(&self.kernel, self.device.id, Query::LocalMemSize);
        // NVIDIA's driver reports one byte for kernels without local memory.
        let local_bytes = if let Ok(Answer::LocalMemSize(bytes)) = local { bytes & !1 } else { 0 };
        let WorkRange { count: items, group: work_group, .. } = range;
        Launch { kernel: self.name, start: 0, end: 0, items, work_group, local_bytes, pass: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the options of each attempt to compile a program with a compiler that always answers with `log`.
    fn attempts(log: &str, is_for_options: bool) -> Vec<Vec<String>> {
        let mut attempts = Vec::new();
        let outcome = with_accepted_options::<()>(|options| {
            assert!(attempts.len() <= OPTIONS.len(), "the same options are tried again and again");
            attempts.push(options.iter().map(|&option| option.to_owned()).collect());
            Ok(Err(Refusal { log: log.to_owned(), is_for_options }))
        });
        assert_eq!(outcome.unwrap().unwrap_err(), log);
        attempts
    }

    #[test]
    fn rejected_compiler_options_are_dropped_and_other_errors_are_not_retried() {
        assert_eq!(attempts("set.cl:1: error", false), [OPTIONS]);
        assert_eq!(attempts("no reason", true).len(), OPTIONS.len() + 1);
        assert_eq!(
            attempts("unknown option: -cl-mad-enable", false)[1..],
            [["-cl-std=CL1.2", "-cl-no-signed-zeros", "-w"]]
        );
        // Intel's compiler repeats the options in every log.
        let log =
            format!("Options used by backend compiler: {}\nSymbols not found: [ f ]", OPTIONS.join(" "));
        assert_eq!(attempts(&log, false), [OPTIONS]);
    }
}
