//! Device time from profiling events.

use ocl::core::{self, ProfilingInfo, ProfilingInfoResult};

/// Seconds from the start of `first` to the end of `last`, both finished; none where the device has no
/// profiling, or says that the end came no later than the start: some drivers stamp markers so.
pub(super) fn span(first: &core::Event, last: &core::Event) -> Option<f64> {
    let start = match core::get_event_profiling_info(first, ProfilingInfo::Start) {
        Ok(ProfilingInfoResult::Start(ns)) => ns,
        _ => return None,
    };
    let end = match core::get_event_profiling_info(last, ProfilingInfo::End) {
        Ok(ProfilingInfoResult::End(ns)) => ns,
        _ => return None,
    };
    (end > start).then(|| (end - start) as f64 * 1e-9)
}
