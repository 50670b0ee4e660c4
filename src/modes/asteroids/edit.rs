//! Changes by hand: a body keeps its size when others come and go.

use super::Asteroids;
use super::simulation::{CONTACT, MASSES, NEVER, RADII, SIZES, SUBSTEPS, extent};
use crate::bodies::Bodies;
use crate::error::{Error, Result};
use crate::hand::{CLUSTER, Edit};
use crate::modes::{Extra, hand};

/// Changes the bodies, and their sizes, masses and contacts with them.
pub(super) fn edit(params: &Asteroids, bodies: &mut Bodies, extra: &mut Extra, edit: &Edit) -> Result<()> {
    // The radius over the parameter goes with the cube root of the mass, by a factor that stays what it was.
    let rows = bodies.positions.iter().zip(extra.get(SIZES).into_iter().flatten());
    let factor =
        rows.into_iter().find_map(|(x, size)| (x[3] > 0.0 && *size > 0.0).then(|| size / x[3].cbrt()));
    let size = |mass: f32| factor.map_or(1.0, |factor| factor * mass.cbrt());
    let all: f32 = bodies.positions.iter().map(|x| x[3]).sum();
    // As wide as to have room for all without touching.
    let wide = match edit {
        Edit::Launch(launch) => {
            let mass = if all > 0.0 { all * launch.share } else { launch.share };
            let radius = params.radius * size(mass / CLUSTER as f32);
            3.0 * radius * (CLUSTER as f32).cbrt()
        }
        _ => 0.0,
    };
    let before = bodies.len();
    hand::apply(bodies, edit, wide, |_, _| 0.0)?;
    if let Edit::Change { mass: Some(0.0), .. } | Edit::Launch(crate::hand::Launch { share: 0.0, .. }) = edit
    {
        return Err(Error::Invalid("a body that others bounce off has a mass".to_owned()));
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
    // Other bodies move otherwise: they are looked at before the next step.
    extra.remove(SUBSTEPS);
    Ok(())
}
