//! `gravitile bench`: measures speeds.

mod limits;
pub(super) mod scaling;
mod timing;
pub(super) mod tune;
pub(super) mod variants;

use std::collections::BTreeMap;

use super::options::set_mode;
use crate::base::error::Result;
use crate::cli::Bench;
use crate::engine::config::Config;
use crate::engine::tuned::Tuned;
use crate::modes::{ModeInfo, Variant};

/// The kernels of a configuration to measure; what is not chosen, `auto` chooses.
struct Kernels<'a> {
    variant: Option<&'static Variant>,
    work_group: Option<usize>,
    knobs: BTreeMap<&'static str, u32>,
    tuned: &'a Tuned,
}

/// Returns a configuration to measure, with the parameters of `--set`.
fn configuration(args: &Bench, info: &'static ModeInfo, bodies: usize, kernels: Kernels) -> Result<Config> {
    let Kernels { variant, work_group, knobs, tuned } = kernels;
    let bodies = Some(bodies);
    let mut config = Config { bodies, variant, work_group, knobs, tuned: tuned.clone(), ..Config::new(info) };
    config.mode.unseen();
    config.mode.even();
    set_mode(config.mode.as_mut(), &args.set)?;
    Ok(config)
}
