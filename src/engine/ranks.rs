//! Simulations on several ranks of an MPI run: rank 0 describes the simulation to the other ranks and gives them
//! orders.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::{Result, State, invalid};
use crate::compute::{Devices, Ranks};
use crate::modes::{
    self, Blueprint, DeviceRecipe, Link, Mode, Order, Parcel, Recipe, Simulation, Team, bits, pack, set_bits,
    unpack, words,
};

/// Returns a team of the devices of all MPI ranks, or only of the devices of this process if there are no other ranks
/// or if the kernel variant cannot use all devices together.
pub(super) fn team(
    devices: &Devices,
    mut local: Vec<DeviceRecipe>,
    mode: &dyn Mode,
    state: &State,
) -> Result<Team> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let (recipe, lead) = (local[0].recipe, &devices[0].info);
    let Some((ranks, count)) = devices.ranks() else { return Ok(local.into()) };
    let infos = &ranks.devices()[..count];
    if !infos.iter().flatten().skip(1).all(|other| recipe.variant.together.allows(lead, other)) {
        return Ok(local.into());
    }
    // Devices of different ranks agree on the layout of the work only if they have the same recipe.
    local.iter_mut().for_each(|own| own.recipe = recipe);
    let others = infos.iter().enumerate().skip(1).flat_map(|(rank, infos)| vec![rank; infos.len()]);
    let owners: Vec<usize> = vec![0; local.len()].into_iter().chain(others).collect();
    let (lists, grid) = pack(state);
    let blueprint = Blueprint {
        mode: mode.info().name.to_owned(),
        params: bits(mode.boxed().as_mut()),
        recipe: words(&recipe),
        owners: owners.clone(),
        edits: (*devices.edits()).clone(),
        grid,
    };
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    let message = Parcel { id, order: Order::Build(Box::new(blueprint)), lists }.to_bytes()?;
    Ok(Team { local, link: Some(Link { ranks, id, owners, message }) })
}

/// Carries out the orders of rank 0 on `devices` until rank 0 ends the run.
///
/// # Errors
/// Returns an error if a device fails or an order cannot be obeyed.
pub fn serve(ranks: &'static Ranks, devices: &Devices) -> Result<()> {
    let mut simulations: BTreeMap<u64, (&'static modes::ModeInfo, Box<dyn Simulation>)> = BTreeMap::new();
    loop {
        let Parcel { id, order, lists } = Parcel::from_bytes(&ranks.next_order()?)?;
        match order {
            Order::Quit => return Ok(()),
            Order::Drop => drop(simulations.remove(&id)),
            Order::Build(blueprint) => {
                let mode = mode(&blueprint.mode, blueprint.params)?;
                devices.set_edits(blueprint.edits);
                let local = local(devices, mode.as_ref(), blueprint.recipe)?;
                let link = Link { ranks, id, owners: blueprint.owners, message: Vec::new() };
                let team = Team { local, link: Some(link) };
                let simulation = mode.build_together(team, &unpack(&lists, blueprint.grid)?)?;
                simulations.insert(id, (mode.info(), simulation));
            }
            order => {
                let known = simulations.get_mut(&id);
                let (info, simulation) =
                    known.ok_or_else(|| invalid!("rank 0 sent a command for an unknown simulation"))?;
                match order {
                    Order::Set(params) => simulation.set(mode(info.name, params)?.as_ref())?,
                    order => simulation.obey(order, &lists)?,
                }
            }
        }
    }
}

fn mode(name: &str, params: Vec<u32>) -> Result<Box<dyn Mode>> {
    let info = modes::find(name).ok_or_else(|| invalid!("unknown mode {name}"))?;
    let mut mode = (info.default)();
    set_bits(mode.as_mut(), params);
    Ok(mode)
}

/// Returns the devices of this rank, each with the kernel settings (recipe) of rank 0.
fn local(
    devices: &Devices,
    mode: &dyn Mode,
    (name, work_group, knobs): (String, usize, BTreeMap<String, u32>),
) -> Result<Vec<DeviceRecipe>> {
    let variant = mode.info().variants.iter().find(|variant| variant.name == name);
    let recipe = |device: &crate::compute::Device| {
        let recipe = variant.and_then(|variant| Recipe::of_words(variant, &device.info, work_group, &knobs));
        let recipe = recipe.ok_or_else(|| {
            invalid!("the device {} does not support the kernel settings of rank 0", device.info.name)
        })?;
        Ok(DeviceRecipe { device: device.clone(), recipe })
    };
    devices.iter().map(recipe).collect()
}
