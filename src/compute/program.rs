//! Building OpenCL C into kernels, and running them.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::PoisonError;

use bytemuck::Pod;
use ocl::core::{self, ArgVal};

use super::buffer::Buffer;
use super::device::{Device, Edits, Kind};
use super::fault::{Call, Fault};
use crate::error::{Error, Result};

/// One file of OpenCL C.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    /// Its name under `kernels/`, as compiler messages show it.
    pub file: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// 1/√x as the machine has it: see [`Program::build_with_root`].
pub const ROOT: Source =
    Source { file: "root.cl", text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/root.cl")) };

/// Programs by source and options, so that changing back to a variant costs nothing. The source is all of its text: an
/// edited kernel is never taken for the program's own. With each the files that it was built of.
pub(super) type ProgramCache = HashMap<(CString, CString), (Vec<Source>, core::Program)>;

/// More programs than this are not kept: a search for the best numbers builds hundreds that are never asked for again.
const MOST_PROGRAMS: usize = 256;

/// Drops of `programs` those that were built of edited texts other than `edits`.
pub(super) fn forget_edits(programs: &mut ProgramCache, edits: &Edits) {
    let own = Edits::new();
    programs.retain(|(text, _), (sources, _)| {
        [&own, edits].iter().any(|edits| joined(sources, edits).as_bytes() == text.as_bytes())
    });
}

/// The text of a program, with `edits` in place of its own. `#line` gives messages the right file and line.
fn joined(sources: &[Source], edits: &Edits) -> String {
    let text = |source: &Source| edits.get(source.file).map_or(source.text, String::as_str).to_owned();
    sources.iter().map(|s| format!("#line 1 \"{}\"\n{}\n", s.file, text(s))).collect()
}

/// A built program: a bag of kernels.
#[derive(Debug, Clone)]
pub struct Program {
    device: Device,
    program: core::Program,
}

/// Multiply-add may round once; nothing may assume that NaN does not happen. `-w`: PoCL reports every loop
/// that it did not unroll.
///
/// None of them has to be: some compilers, such as that of a server's device, take fewer, and build without.
const OPTIONS: [&str; 4] = ["-cl-std=CL1.2", "-cl-mad-enable", "-cl-no-signed-zeros", "-w"];

/// Why a compiler refuses.
struct Refusal {
    log: String,
    /// Whether it is for the options, and not for the program.
    is_for_options: bool,
}

impl Refusal {
    /// Which of `options` to leave out, if any may be to blame.
    fn option(&self, options: &[&str]) -> Option<usize> {
        let named =
            options.iter().position(|option| self.log.split_whitespace().any(|word| word.contains(option)));
        named.or_else(|| self.is_for_options.then(|| options.len() - 1))
    }
}

/// Compiles a source; the outer error is one of the device, the inner one of the compiler.
fn compile(device: &Device, source: &CString, options: &CString) -> Result<Result<core::Program, Refusal>> {
    use core::{ProgramBuildInfo as Query, ProgramBuildInfoResult as Answer};
    const DOING: &str = "building a program";
    if device.befalls(Call::Build, DOING)? == Some(Fault::Options) {
        let log = "the compiler gave no reason (a test's fault)".to_owned();
        return Ok(Err(Refusal { log, is_for_options: true }));
    }
    let program = core::create_program_with_source(&device.context, std::slice::from_ref(source))
        .map_err(device.fail("creating a program"))?;
    let built = core::build_program(&program, Some(&[device.id]), options, None, None);
    // `ocl` takes a failure without a log for a success.
    let status = core::get_program_build_info(&program, device.id, Query::BuildStatus);
    let failed = matches!(status, Ok(Answer::BuildStatus(core::ProgramBuildStatus::Error)));
    if built.is_ok() && !failed {
        return Ok(Ok(program));
    }
    let code = built.err().and_then(|error| error.api_status());
    let log = match core::get_program_build_info(&program, device.id, Query::BuildLog) {
        Ok(Answer::BuildLog(log)) if !log.trim_matches(['\0', '\n', ' ']).is_empty() => {
            log.trim_end_matches(['\0', '\n']).to_owned()
        }
        _ => "the compiler gave no reason".to_owned(),
    };
    let is_for_options = matches!(
        code,
        Some(core::Status::CL_INVALID_BUILD_OPTIONS | core::Status::CL_INVALID_COMPILER_OPTIONS)
    );
    Ok(Err(Refusal { log, is_for_options }))
}

impl Program {
    /// Compiles `sources` in order, with `defines` as `-D name=value`.
    ///
    /// # Errors
    /// [`Error::Build`] with the compiler's log, which names file and line.
    pub fn build(device: &Device, sources: &[Source], defines: &[(&str, String)]) -> Result<Self> {
        device.note_built(sources.iter().map(|source| source.file));
        // 1/√x, as quick as it is good. GPUs have an instruction for it; that of CPUs, which Intel's compiler takes for
        // native_rsqrt, is good to 12 bits alone.
        let root = if device.info.kind == Kind::Cpu { "rsqrt" } else { "native_rsqrt" };
        let defines = [&[("reciprocal_root", root.to_owned())], defines].concat();
        let mut defines = defines;
        if device.is_pocl() && device.twin > 0 {
            // PoCL 5.0 takes a kernel that two devices run at once, one of them from an offset, for another than it is, and
            // ends the program. So each has one of its own.
            defines.push(("TWIN", device.twin.to_string()));
        }
        let defines: String = defines.iter().map(|(name, value)| format!(" -D {name}={value}")).collect();
        let build_error = |log: String| Error::Build {
            file: sources.last().map_or("", |s| s.file).to_owned(),
            device: device.info.name.clone(),
            log,
        };
        let text =
            |s: String| CString::new(s).map_err(|_| build_error("the source has a NUL byte".to_owned()));
        let key = (text(joined(sources, &device.edits()))?, text(defines)?);
        // Not locked while a compiler is at work: two threads that want the same at the same time both build it.
        let cache = || device.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, program)) = cache().get(&key).cloned() {
            return Ok(Self { device: device.clone(), program });
        }
        let mut options = OPTIONS.to_vec();
        let program = loop {
            let all = text(options.join(" ") + &key.1.to_string_lossy())?;
            match compile(device, &key.0, &all)? {
                Ok(program) => break program,
                Err(Refusal { log, .. }) if options.is_empty() => return Err(build_error(log)),
                Err(refusal) => match refusal.option(&options) {
                    Some(at) => {
                        let option = options.remove(at);
                        tracing::info!("{} does not take {option}", device.info.name);
                    }
                    None => return Err(build_error(refusal.log)),
                },
            }
        };
        let mut programs = cache();
        if programs.len() >= MOST_PROGRAMS {
            programs.clear();
        }
        programs.insert(key, (sources.to_vec(), program.clone()));
        drop(programs);
        Ok(Self { device: device.clone(), program })
    }

    /// The same behind `kernels/root.cl`, and with its portable root where the compiler refuses the machine's own.
    ///
    /// # Errors
    /// [`Error::Build`] with what the compiler says of the first form if it takes neither.
    pub fn build_with_root(
        device: &Device,
        sources: &[Source],
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
            tracing::info!("{file} takes the portable root: {} refuses its own", device.info.name);
            Ok(program)
        })
    }

    /// The kernel with the entry point `name`.
    ///
    /// # Errors
    /// If the program has none of that name.
    pub fn kernel(&self, name: &'static str) -> Result<Kernel> {
        let kernel =
            core::create_kernel(&self.program, name).map_err(self.device.fail("creating a kernel"))?;
        Ok(Kernel { device: self.device.clone(), kernel, name })
    }
}

/// An argument of a kernel.
#[derive(Debug, Clone, Copy)]
pub enum Arg<'a> {
    /// A `__global` pointer.
    Buffer(&'a core::Mem),
    /// `uint`.
    Uint(u32),
    /// `float`.
    Float(f32),
    /// `float8`.
    Float8([f32; 8]),
    /// `float16`.
    Float16([f32; 16]),
}

impl<'a, T: Pod> From<&'a Buffer<T>> for Arg<'a> {
    fn from(buffer: &'a Buffer<T>) -> Self {
        Arg::Buffer(&buffer.mem)
    }
}

/// Which work-items run: `count` of them from `offset`, in work-groups of `group`.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    /// The first global id.
    pub offset: usize,
    /// How many; a multiple of `group`.
    pub count: usize,
    /// Work-items to a work-group.
    pub group: usize,
}

/// An entry point of a program.
#[derive(Debug)]
pub struct Kernel {
    device: Device,
    kernel: core::Kernel,
    name: &'static str,
}

impl Kernel {
    /// The most work-items that a work-group of this kernel may have on its device: registers and local
    /// memory can make it less than [`super::DeviceInfo::max_work_group`].
    ///
    /// # Errors
    /// If the driver does not say.
    fn max_work_group(&self) -> Result<usize> {
        use core::{KernelWorkGroupInfo as Query, KernelWorkGroupInfoResult as Answer};
        match core::get_kernel_work_group_info(&self.kernel, self.device.id, Query::WorkGroupSize) {
            Ok(Answer::WorkGroupSize(size)) => Ok(size),
            Ok(_) => Ok(self.device.info.max_work_group),
            Err(error) => Err(self.device.fail("asking for a kernel's limits")(error)),
        }
    }

    /// Fails if the kernel, called `name` towards people, does not take work-groups of `group` items.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the largest that it takes.
    pub fn check_work_group(&self, name: &str, group: usize) -> Result<()> {
        use core::{KernelWorkGroupInfo as Query, KernelWorkGroupInfoResult as Answer};
        // NVIDIA's driver says 256 of every kernel, and yet takes the size that one was compiled for.
        let compiled =
            core::get_kernel_work_group_info(&self.kernel, self.device.id, Query::CompileWorkGroupSize);
        if let Ok(Answer::CompileWorkGroupSize([size, ..])) = compiled
            && size == group
        {
            return Ok(());
        }
        let most = self.max_work_group()?;
        if group > most {
            let device = &self.device.info.name;
            let text =
                format!("a work-group of {group} is too large: {name} takes at most {most} on {device}");
            return Err(Error::Invalid(text));
        }
        Ok(())
    }

    /// Queues the kernel with `args` in their order. The event, if one is wanted, tells when it ran: a thousand short
    /// kernels are queued faster without.
    ///
    /// # Errors
    /// If an argument or the range does not fit.
    pub(super) fn enqueue(&self, range: Range, args: &[Arg], event: Option<&mut core::Event>) -> Result<()> {
        self.device.may(Call::Kernel, self.name)?;
        let fail = |error| self.device.fail(self.name)(error);
        for (index, arg) in (0..).zip(args) {
            let value = match arg {
                Arg::Buffer(mem) => ArgVal::mem(mem),
                Arg::Uint(x) => ArgVal::scalar(x),
                Arg::Float(x) => ArgVal::scalar(x),
                // SAFETY: eight floats are as large as the `float8` that the kernel takes, and outlive the
                // call, which copies them.
                Arg::Float8(x) => unsafe { ArgVal::from_raw(size_of_val(x), x.as_ptr().cast(), false) },
                // SAFETY: as above, of sixteen floats.
                Arg::Float16(x) => unsafe { ArgVal::from_raw(size_of_val(x), x.as_ptr().cast(), false) },
            };
            core::set_kernel_arg(&self.kernel, index, value).map_err(fail)?;
        }
        // SAFETY: the arguments were checked by OpenCL against the kernel's signature in number and size;
        // each kernel bounds its accesses by the count that it is given, which its owner keeps within the
        // buffers.
        unsafe {
            core::enqueue_kernel(
                &self.device.queue,
                &self.kernel,
                1,
                Some([range.offset, 0, 0]),
                &[range.count, 1, 1],
                Some([range.group, 1, 1]),
                None::<core::Event>,
                event,
            )
        }
        .map_err(fail)
    }
}
