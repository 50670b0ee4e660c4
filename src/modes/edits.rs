//! Applies a user's edits to bodies, in all modes that have bodies.

use glam::{Vec3, vec3};

use super::kernels::{source, sources};
use crate::base::{Attractor, Bodies, CLUSTER, Edit, FINITE_LIMIT, Launch, Result, invalid};
use crate::compute::{Arg, Buffer, Kernel, KernelSource, Lane, Pass, Program};

const PULL: KernelSource = source!("pull.cl");

/// Applies a user's edit. A launched cluster has a radius of at least `wide`, and spins at `spin(mass, radius)`.
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

/// The kernel that applies an [`Attractor`], built on first use.
#[derive(Default)]
pub(super) struct AttractKernel(Option<Kernel>);

impl AttractKernel {
    /// Queues the kernel that applies `attractor` to the velocities `v` of the bodies at `x` for the duration `time`.
    pub(super) fn queue(
        &mut self,
        lane: &mut Lane,
        (attractor, time): (&Attractor, f32),
        x: &Buffer<[f32; 4]>,
        v: &Buffer<[f32; 4]>,
    ) -> Result<()> {
        let kernel = match self.0.take() {
            Some(kernel) => kernel,
            None => Program::build(lane.device(), &sources(&[PULL]), &[])?.kernel("pull")?,
        };
        let Attractor { at: [px, py, pz], strength, reach } = *attractor;
        let c = Arg::Float8([px, py, pz, strength * time, reach * reach, 0.0, 0.0, 0.0]);
        let args = [Arg::Uint(x.len() as u32), c, x.into(), v.into()];
        lane.whole(Pass::cheap(self.0.insert(kernel), &args, x.len()))
    }
}
