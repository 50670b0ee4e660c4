//! Card with the properties of the selected body, and controls for editing the body.

use egui::{Align2, Button, Color32, RichText, vec2};

use super::action::{Action, Collector};
use super::model::Model;
use super::numbers::live_number;
use super::theme;
use super::widgets::{button, shortcut_button, small};
use crate::base::{
    BodyNames, Edit, FINITE_LIMIT, MOST_BOXES, OrbitCentre, SelectedBody, Unit, Units, WalkCounts, format,
    units,
};
use crate::modes::Attraction;

/// Shows the selected body's properties in a card, if a body is selected.
pub(super) fn show(ctx: &egui::Context, model: &mut Model, out: &mut Collector) {
    let Some(selected) = model.stats.selected else { return };
    let corner = ctx.available_rect().right_bottom() - vec2(12.0, 12.0);
    let window = egui::Window::new("card").title_bar(false).resizable(false);
    window.pivot(Align2::RIGHT_BOTTOM).default_pos(corner).show(ctx, |ui| {
        let number = format!("Body {}", format::count(selected.body as u64));
        let name = model.stats.names.get(selected.body);
        ui.label(RichText::new(name.unwrap_or(&number)).strong().color(theme::of(ui).strong));
        if name.is_some() {
            ui.label(small(ui, number));
        }
        ui.add_space(4.0);
        // A separate id per body, so that text typed for one body does not appear for another body.
        ui.push_id(selected.body, |ui| {
            egui::Grid::new("body").num_columns(2).min_row_height(0.0).spacing([16.0, 4.0]).show(ui, |ui| {
                let units = &model.stats.config.start.units;
                editable(ui, &selected, units, out);
                derived(ui, &selected, (units, &model.stats.names));
                if model.stats.config.mode.attraction() != Attraction::Nothing {
                    orbit(ui, &selected, (units, &model.stats.names));
                }
                if let Some(walk) = model.stats.cells.and_then(|counts| counts.walk) {
                    walked(ui, &walk);
                }
            });
        });
        ui.add_space(4.0);
        ui.horizontal(|ui| {
            let follow = ui.add(Button::new("Follow").selected(model.tools.follows));
            let follow = follow.on_hover_text("Move the camera with this body, or stop following");
            out.record("follow body", &follow);
            model.tools.follows ^= follow.clicked();
            shortcut_button(ui, out, ("delete body", "Delete"), Action::DeleteBody);
            button(ui, out, ("let go", "Deselect", "Deselect this body (Escape)"), Action::Deselect);
        });
    });
}

/// Shows the editable properties of the selected body: mass and velocity.
fn editable(ui: &mut egui::Ui, selected: &SelectedBody, units: &Units, out: &mut Collector) {
    let &SelectedBody { body, mass, velocity, .. } = selected;
    let speed_unit = units.speed();
    if let Some(mass) = number(ui, out, ("Mass", "body mass"), (mass, units.mass.as_ref())) {
        out.actions.push(Action::Edit(Edit::Change { body, mass: Some(mass), velocity: None }));
    }
    if velocity.iter().any(|c| !c.is_finite()) {
        ui.label("Velocity");
        ui.label(RichText::new("Not a finite number, so the body is excluded").color(theme::of(ui).warning));
        ui.end_row();
        return;
    }
    for (axis, label) in ["Velocity x", "Velocity y", "Velocity z"].into_iter().enumerate() {
        if let Some(speed) = number(ui, out, (label, label), (velocity[axis], speed_unit.as_ref())) {
            let mut velocity = velocity;
            velocity[axis] = speed;
            out.actions.push(Action::Edit(Edit::Change { body, mass: None, velocity: Some(velocity) }));
        }
    }
}

/// Shows the read-only properties of the selected body: speed, position, acceleration and energy.
fn derived(ui: &mut egui::Ui, selected: &SelectedBody, (units, names): (&Units, &BodyNames)) {
    let mut row = |label: &str, value: String, help: &str| row(ui, label, value, help);
    let length = |v: [f64; 3]| glam::DVec3::from(v).length();
    let speed = units::quantity(length(selected.velocity.map(f64::from)), units.speed().as_ref(), 4);
    row("Speed", speed, "Magnitude of the velocity, |v|");
    if let Some((body, distance)) = selected.heaviest {
        let from = name_of(body, names);
        let distance = units::quantity(distance, units.length.as_ref(), 4);
        row("Distance", format!("{distance} from {from}"), "Distance from the heaviest other body");
    }
    let size = units.length.as_ref().map_or(1.0, |unit| unit.size as f32);
    let position = selected.position.map(|c| format!("{:>8.3}", c * size)).join(" ");
    row(&units::labelled("Position", units.length.as_ref()), position, "Coordinates x, y and z");
    let help = "Acceleration due to gravity, |a|, computed in double precision";
    row("Acceleration", format::significant(length(selected.acceleration), 4), help);
    let help = "Kinetic plus potential energy, ½ m v² + m Φ: negative if the body is bound by gravity";
    row("Energy", format::significant(selected.energy, 4), help);
}

/// Shows what the selected body orbits, and the elements of its orbit.
fn orbit(ui: &mut egui::Ui, selected: &SelectedBody, (units, names): (&Units, &BodyNames)) {
    let mut row = |label: &str, value: String, help: &str| row(ui, label, value, help);
    let Some(orbit) = selected.orbit else {
        return row("Orbit", "–".to_owned(), "No mass is close enough to hold this body in an orbit");
    };
    let around = match orbit.centre {
        OrbitCentre::Planet => "the planet".to_owned(),
        OrbitCentre::Body(body) => name_of(body, names),
        OrbitCentre::Others => "the other bodies".to_owned(),
    };
    let what = match orbit.centre {
        OrbitCentre::Planet => "Kepler orbit around the planet",
        OrbitCentre::Body(_) => {
            "Kepler orbit around the body that has most of the mass; all other bodies are ignored"
        }
        OrbitCentre::Others => {
            "Kepler orbit around the centre of mass of all other bodies. Only bodies closer to that centre than the selected body are assumed to attract it"
        }
    };
    let help = format!(
        "{what}. The orbit is computed from the current position and velocity. The picture shows its ellipse"
    );
    row("Orbit around", around, &help);
    let length = |value: f64| units::quantity(value, units.length.as_ref(), 4);
    match (orbit.period, orbit.apocentre) {
        (Some(period), Some(apocentre)) => {
            row("Period", units::quantity(period, units.time.as_ref(), 4), "Time of one revolution");
            let help = "Half the length of the orbit's ellipse";
            row("Semi-major axis", length(orbit.semi_major_axis), help);
            row("Apocentre", length(apocentre), "Largest distance from the centre of attraction");
        }
        _ => row(
            "Bound",
            "no, it escapes".to_owned(),
            "The body is faster than the escape speed, so its path is not an ellipse",
        ),
    }
    row("Pericentre", length(orbit.pericentre), "Smallest distance from the centre of attraction");
    let help = "Shape of the orbit: 0 for a circle, below 1 for an ellipse, above 1 for a hyperbola";
    row("Eccentricity", format::significant(orbit.eccentricity, 4), help);
    let inclination = orbit.inclination.map_or("–".to_owned(), |angle| format!("{angle:.2}°"));
    row(
        "Inclination",
        inclination,
        "Angle between the orbit and the plane z = 0. Above 90°, the body moves clockwise as seen from positive z",
    );
}

fn row(ui: &mut egui::Ui, label: &str, value: String, help: &str) {
    ui.label(label).on_hover_text(help);
    ui.label(RichText::new(value).monospace().color(theme::of(ui).strong)).on_hover_text(help);
    ui.end_row();
}

/// Returns the name of a body, or its number if it has no name.
fn name_of(body: usize, names: &BodyNames) -> String {
    names.get(body).map_or_else(|| format!("body {}", format::count(body as u64)), str::to_owned)
}

/// Shows the counts of the tree walk that computes the selected body's acceleration, in the colours of the drawn cells.
fn walked(ui: &mut egui::Ui, walk: &WalkCounts) {
    let most = format::count(MOST_BOXES as u64);
    let [opened, taken, plain] = theme::of_cells(ui);
    let mut row = |label: &str, count: usize, color: Color32, help: &str| {
        let help = format!("{help}. The picture shows at most {most} cells, the largest first");
        ui.label(label).on_hover_text(&help);
        let value = RichText::new(format::count(count as u64)).monospace().color(color);
        ui.label(value).on_hover_text(&help);
        ui.end_row();
    };
    let help = "Tree cells that were too near or too large to act on this body as single units, so that their contents were used instead";
    row("Cells opened", walk.opened, opened, help);
    row(
        "Cells used",
        walk.taken,
        taken,
        "Tree cells that act on this body as single units, in place of the bodies that they contain",
    );
    row("Pairs", walk.pairs, plain, "Bodies so close that their forces are computed individually");
}

fn number(
    ui: &mut egui::Ui,
    out: &mut Collector,
    (label, key): (&str, &str),
    (value, unit): (f32, Option<&Unit>),
) -> Option<f32> {
    let size = unit.map_or(1.0, |unit| unit.size);
    let shown = f64::from(value) * size;
    let name = ui.label(units::labelled(label, unit));
    let texts = (key, &name, "Type a number or drag; Ctrl+Z undoes the change");
    let speed = (shown.abs() / 100.0).max(1e-6);
    let text = |x| format::significant(x, 4);
    let most = f64::from(FINITE_LIMIT) * size;
    let typed = live_number(ui, out, texts, shown, (speed, text), -most..=most);
    ui.end_row();
    typed.map(|number| (number / size) as f32)
}
