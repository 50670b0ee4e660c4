//! Applies a user's edits to bodies, in all modes that have bodies.

use glam::{Vec3, vec3};

use super::kernels::{source, sources};
use super::reduction::{GROUP, REDUCE, reduce_defines};
use crate::base::{Attractor, Bodies, CLUSTER, Edit, FINITE_LIMIT, Launch, Result, invalid};
use crate::compute::{Arg, Buffer, Device, Kernel, KernelSource, Lane, Pass, Program};

const PULL: KernelSource = source!("pull.cl");

/// Applies a user's edit to `bodies`. A launched cluster has a radius of at least `wide`, and rotates with the angular
/// velocity `spin(mass, radius)`.
pub(super) fn apply(
    bodies: &mut Bodies,
    edit: &Edit,
    wide: f32,
    spin: impl Fn(f32, f32) -> f32,
) -> Result<()> {
    let count = bodies.len();
    match edit {
        Edit::Change { body, .. } | Edit::Remove(body) if *body >= count => {
            Err(invalid!("there is no body {body}; the simulation has {count} bodies, numbered from 0"))
        }
        Edit::Change { body, mass, velocity } => {
            let numbers = mass.iter().chain(velocity.iter().flatten());
            if !numbers.into_iter().all(|x| x.abs() <= FINITE_LIMIT) || mass.is_some_and(|mass| mass < 0.0) {
                return Err(invalid!("the mass must be at least 0, and all numbers must be finite"));
            }
            if let Some(mass) = mass {
                bodies.positions[*body][3] = *mass;
            }
            if let Some(velocity) = velocity {
                bodies.velocities[*body][..3].copy_from_slice(velocity);
            }
            Ok(())
        }
        Edit::Remove(_) if count == 1 => Err(invalid!("the only remaining body cannot be removed")),
        Edit::Remove(body) => {
            bodies.positions.remove(*body);
            bodies.velocities.remove(*body);
            Ok(())
        }
        Edit::Launch(launch) => add(bodies, launch, wide, spin),
    }
}

fn add(bodies: &mut Bodies, launch: &Launch, wide: f32, spin: impl Fn(f32, f32) -> f32) -> Result<()> {
    let Launch { at, velocity, share, cluster } = *launch;
    let numbers = at.into_iter().chain(velocity).chain([share, cluster.unwrap_or(0.0)]);
    if !numbers.into_iter().all(|x| x.abs() <= FINITE_LIMIT) || share < 0.0 {
        return Err(invalid!(
            "position, velocity and mass must be finite numbers, and the mass must be at least 0"
        ));
    }
    let all: f64 = bodies.positions.iter().map(|x| f64::from(x[3])).sum();
    let mass = if all > 0.0 { (all * f64::from(share)) as f32 } else { share };
    let group = bodies.origins().fold(0.0, f32::max);
    let Some(radius) = cluster else {
        bodies.push(at, velocity, mass);
        set_group(bodies, 1, group);
        return Ok(());
    };
    let radius = radius.max(wide);
    let turn = Vec3::Z * spin(mass, radius);
    for nth in 0..CLUSTER {
        // Places the bodies on a spiral that fills a ball evenly: each body has the same volume.
        let share = (nth as f32 + 0.5) / CLUSTER as f32;
        let (height, angle) = (1.0 - 2.0 * (share * 19.0).fract(), 2.399_963 * nth as f32);
        let across = (1.0 - height * height).sqrt();
        let from_middle = vec3(across * angle.cos(), across * angle.sin(), height) * (radius * share.cbrt());
        let place = Vec3::from(at) + from_middle;
        let speed = Vec3::from(velocity) + turn.cross(from_middle);
        bodies.push(place.into(), speed.into(), mass / CLUSTER as f32);
    }
    set_group(bodies, CLUSTER, group);
    Ok(())
}

fn set_group(bodies: &mut Bodies, newest: usize, group: f32) {
    bodies.velocities.iter_mut().rev().take(newest).for_each(|v| v[3] = group);
}

/// Number of sums in a row of the `recoil` kernel in `kernels/pull.cl`.
const RECOIL_SUMS: usize = 4;

/// The kernels that apply an [`Attractor`], built on first use.
#[derive(Default)]
pub(super) struct AttractKernels(Option<Built>);

struct Built {
    recoil: Kernel,
    pull: Kernel,
    /// One row of sums per work-group: the momentum that the bodies receive, and their masses. Each sum takes eight
    /// bytes.
    rows: Buffer<[f32; 2]>,
}

/// Bodies whose velocities an [`Attractor`] changes.
pub(super) struct Attracted<'a> {
    /// Positions of the bodies.
    pub x: &'a Buffer<[f32; 4]>,
    /// Velocities of the bodies.
    pub v: &'a Buffer<[f32; 4]>,
    /// Name of the buffer, `x` or `v`, that holds the masses as the fourth number of each body.
    pub mass_in: &'static str,
    /// Whether the total momentum of the bodies stays constant. If not, an immovable body such as a planet takes the
    /// recoil.
    pub keeps_momentum: bool,
}

impl AttractKernels {
    /// Queues the kernels that apply `attractor` to the velocities of `bodies` for the simulated time `time`.
    pub(super) fn queue(
        &mut self,
        lane: &mut Lane,
        (attractor, time): (&Attractor, f32),
        bodies: &Attracted,
    ) -> Result<()> {
        let &Attracted { x, v, mass_in, keeps_momentum } = bodies;
        let built = match self.0.take() {
            Some(built) => built,
            None => Built::new(lane.device(), mass_in)?,
        };
        let Built { recoil, pull, rows } = self.0.insert(built);
        let Attractor { at: [px, py, pz], strength, reach } = *attractor;
        let keeps = f32::from(u8::from(keeps_momentum));
        let c = Arg::Float8([px, py, pz, strength * time, reach * reach, keeps, 0.0, 0.0]);
        let args = [Arg::Uint(x.len() as u32), c, x.into(), v.into(), (&*rows).into()];
        lane.whole(Pass::cheap(recoil, &args, GROUP * GROUP))?;
        lane.whole(Pass::cheap(pull, &args, x.len()))
    }
}

impl Built {
    fn new(device: &Device, mass_in: &str) -> Result<Self> {
        let mut defines = reduce_defines(device, RECOIL_SUMS);
        defines.push(("MASS_IN", mass_in.to_owned()));
        let program = Program::build(device, &sources(&[REDUCE, PULL]), &defines)?;
        let rows = Buffer::new(device, GROUP * RECOIL_SUMS)?;
        Ok(Self { recoil: program.kernel("recoil")?, pull: program.kernel("pull")?, rows })
    }
}
