//! Applies a user's edits to asteroids. Existing bodies keep their sizes when bodies are added or removed.

use super::carried::{CONTACT, MASSES, NEVER, RADII, SIZES, SUBSTEPS, extent};
use super::parameters::Asteroids;
use crate::base::{Bodies, CLUSTER, Edit, Result, invalid};
use crate::modes::{Extra, edits};

/// Applies a user's edit to the bodies and to the lists of their sizes, masses and contacts.
pub(super) fn edit(params: &Asteroids, bodies: &mut Bodies, extra: &mut Extra, edit: &Edit) -> Result<()> {
    // Sizes are proportional to the cube root of the mass. The edit keeps the proportionality factor.
    let rows = bodies.positions.iter().zip(extra.get(SIZES).into_iter().flatten());
    let factor =
        rows.into_iter().find_map(|(x, size)| (x[3] > 0.0 && *size > 0.0).then(|| size / x[3].cbrt()));
    let size = |mass: f32| factor.map_or(1.0, |factor| factor * mass.cbrt());
    let all: f32 = bodies.positions.iter().map(|x| x[3]).sum();
    // Radius of a launched cluster: large enough that the bodies of the cluster do not touch.
    let wide = match edit {
        Edit::Launch(launch) => {
            let mass = if all > 0.0 { all * launch.share } else { launch.share };
            let radius = params.radius * size(mass / CLUSTER as f32);
            3.0 * radius * (CLUSTER as f32).cbrt()
        }
        _ => 0.0,
    };
    let before = bodies.len();
    edits::apply(bodies, edit, wide, |_, _| 0.0)?;
    if let Edit::Change { mass: Some(0.0), .. } | Edit::Launch(crate::base::edit::Launch { share: 0.0, .. }) =
        edit
    {
        return Err(invalid!("the mass of a body must be above 0, because collisions depend on it"));
    }
    let mut list = |name: &str, change: &dyn Fn(&mut Vec<f32>)| extra.get_mut(name).map(change);
    match edit {
        Edit::Change { body, mass: Some(mass), .. } => {
            list(SIZES, &|sizes| sizes[*body] = size(*mass));
            list(MASSES, &|masses| masses[*body] = *mass);
        }
        Edit::Change { .. } => {}
        Edit::Remove(body) => {
            for name in [SIZES, MASSES] {
                list(name, &|rows| {
                    rows.remove(*body);
                });
            }
            list(CONTACT, &|rows| drop(rows.drain(4 * body..4 * body + 4)));
        }
        Edit::Launch(_) => {
            let new = || bodies.positions[before..].iter().map(|x| x[3]);
            list(SIZES, &|sizes| sizes.extend(new().map(size)));
            list(MASSES, &|masses| masses.extend(new()));
            list(CONTACT, &|rows| rows.extend(new().flat_map(|_| [0.0, 0.0, NEVER, 0.0])));
        }
    }
    let radii = extent(extra.get(SIZES).into_iter().flatten().copied());
    extra.insert(RADII.to_owned(), radii.to_vec());
    // Removes the schedule of substeps, so that the motion of the bodies is measured before the next step.
    extra.remove(SUBSTEPS);
    Ok(())
}
