//! Starts programs on several ranks with `mpirun`, and finds their processes.

use std::fs;

/// Environment variables for `mpirun` and the program. They allow Open MPI to run as root and with more ranks than
/// cores, let each rank use all cores, and make all ranks share the work even if there is little.
pub(crate) const ENVIRONMENT: [(&str, &str); 6] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
    ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
    ("GRAVITILE_SHARE", "always"),
];

/// Returns the process id of a rank that the launcher with the process id `launcher` started, if there is one that has
/// computed for `seconds` seconds.
pub(crate) fn find_rank(launcher: u32, rank: usize, seconds: f64) -> Option<u32> {
    let ids =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let marks = ["OMPI_COMM_WORLD_RANK", "PMI_RANK"].map(|name| format!("{name}={rank}"));
    let is_wanted = |id: &u32| {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        let has_mark = environment
            .split(|byte| *byte == 0)
            .any(|variable| marks.iter().any(|mark| mark.as_bytes() == variable));
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        // The fields after the program's name in brackets: the state, the parent process, and at indices 11 and 12 the
        // processor time.
        let fields: Vec<f64> = stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .map(|word| word.parse().unwrap_or(0.0))
            .collect();
        let ticks = fields.get(11..13).map_or(0.0, |ticks| ticks[0] + ticks[1]);
        has_mark && fields.get(1) == Some(&f64::from(launcher)) && ticks >= 100.0 * seconds
    };
    ids.into_iter().find(is_wanted)
}

/// Sends a signal to a process.
pub(crate) fn signal(name: &str, id: u32) {
    let status = std::process::Command::new("kill").args(["-s", name, &id.to_string()]).status();
    assert!(status.unwrap().success(), "kill -s {name} {id}");
}
