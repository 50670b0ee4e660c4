//! Device time from profiling events.

use ocl::core::{self, ProfilingInfo, ProfilingInfoResult};

/// Returns the seconds from the start of `first` to the end of `last`, both finished events.
///
/// None if the device has no profiling, or reports an end no later than the start, as some drivers do for markers.
pub(super) fn span(first: &core::Event, last: &core::Event) -> Option<f64> {
    let Ok(ProfilingInfoResult::Start(start)) = core::get_event_profiling_info(first, ProfilingInfo::Start)
    else {
        return None;
    };
    let Ok(ProfilingInfoResult::End(end)) = core::get_event_profiling_info(last, ProfilingInfo::End) else {
        return None;
    };
    (end > start).then(|| (end - start) as f64 * 1e-9)
}
