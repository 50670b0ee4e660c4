//! An orbit camera: it turns about a target, moves nearer and farther, and finds the bodies.
//!
//! The z axis points up, because discs lie in the x-y plane. Lengths on the screen are in *viewport heights*,
//! x to the right and y downwards as a mouse moves; a cursor is measured from the middle of the viewport. So no
//! move needs to know the window's size in pixels.

use std::f32::consts::{FRAC_PI_2, PI, TAU};

use glam::{Mat4, Vec3};

use super::framing;

/// Where the scene is looked at from.
#[derive(Debug, Clone, PartialEq)]
pub struct Camera {
    /// The point that is looked at and turned about, in scene units.
    pub target: Vec3,
    /// The way round the z axis, in radians; at 0 the camera stands on the −y side and x points right.
    pub yaw: f32,
    /// The height above the x-y plane, in radians, from −π/2 to π/2.
    pub pitch: f32,
    /// From the target to the eye, in scene units.
    pub distance: f32,
    /// The vertical field of view, in radians.
    pub fov: f32,
    /// The distance that last framed everything: sprites are larger nearer than this, smaller beyond.
    pub(super) home: f32,
}

/// Distances stay where their squares are finite and not zero in `f32`.
const DISTANCES: std::ops::RangeInclusive<f32> = 1e-15..=1e18;
/// A drag over one viewport height turns the camera by this.
const RADIANS_PER_HEIGHT: f32 = PI;

impl Default for Camera {
    /// Frames the unit sphere about the origin from 30° above the plane.
    fn default() -> Self {
        Self { target: Vec3::ZERO, yaw: -0.35, pitch: 0.52, distance: 3.0, fov: 0.8, home: 3.0 }
    }
}

impl Camera {
    /// Turns about the target as a drag by `(dx, dy)` viewport heights asks; the poles stop it.
    pub fn orbit(&mut self, dx: f32, dy: f32) {
        if dx.is_finite() && dy.is_finite() {
            self.yaw = (self.yaw - dx * RADIANS_PER_HEIGHT).rem_euclid(TAU);
            self.pitch = (self.pitch + dy * RADIANS_PER_HEIGHT).clamp(-FRAC_PI_2, FRAC_PI_2);
        }
    }

    /// Moves sideways so that the point of the target's plane under the cursor follows a drag by `(dx, dy)`
    /// viewport heights.
    pub fn pan(&mut self, dx: f32, dy: f32) {
        self.look_at(self.target - self.on_target_plane(dx, dy));
    }

    /// Multiplies the distance by `factor` (below 1 is nearer) and keeps the point of the target's plane under the
    /// `cursor` where it is; the cursor is in viewport heights from the middle.
    pub fn zoom(&mut self, factor: f32, cursor: [f32; 2]) {
        let distance = (self.distance * factor).clamp(*DISTANCES.start(), *DISTANCES.end());
        if factor > 0.0 && distance.is_finite() {
            let under_cursor = self.on_target_plane(cursor[0], cursor[1]);
            self.look_at(self.target + under_cursor * (1.0 - distance / self.distance));
            self.distance = distance;
        }
    }

    /// Looks at the bodies' centre from where about 95 % of them and their turns about the z axis through it are
    /// in the picture, whatever the others do. `positions` are `(x, y, z, m)`; `aspect` is width over height.
    ///
    /// The direction stays. Without a finite body nothing changes; a single body is looked at from 3 away.
    pub fn frame_all(&mut self, positions: &[[f32; 4]], aspect: f32) {
        let half_height = (self.fov / 2.0).tan();
        let frame = framing::Frame { half_width: half_height * sane(aspect), half_height, pitch: self.pitch };
        let Some((centre, distance)) = frame.fit(positions) else { return };
        self.look_at(centre);
        // Nearer than a few ulps of the target's coordinates the eye could not be told from the target.
        let floor = (centre.abs().max_element() * 1e-5).max(*DISTANCES.start());
        let distance = if distance > 0.0 { distance } else { 3.0 };
        self.distance = distance.clamp(floor, *DISTANCES.end());
        self.home = self.distance;
    }

    /// From scene coordinates to OpenGL's clip space, for a viewport `aspect` times as wide as high.
    ///
    /// Nothing is too far: the far plane is at infinity. The near plane is at a thousandth of the distance.
    pub fn view_projection(&self, aspect: f32) -> Mat4 {
        let [right, up, back] = self.axes();
        // `look_at` would lose the up direction at the poles.
        let rotation =
            Mat4::from_cols(right.extend(0.0), up.extend(0.0), back.extend(0.0), glam::Vec4::W).transpose();
        let view = Mat4::from_translation(Vec3::NEG_Z * self.distance)
            * rotation
            * Mat4::from_translation(-self.target);
        Mat4::perspective_infinite_rh(self.fov, sane(aspect), self.distance * 1e-3) * view
    }

    /// How much larger than where everything was framed sprites are: they grow with the root of the nearness, so
    /// that a closer look also shows more room between bodies.
    pub(super) fn closeness(&self) -> f32 {
        (self.home / self.distance).sqrt().clamp(0.25, 8.0)
    }

    /// The scene's directions to the right, upwards and towards the eye.
    fn axes(&self) -> [Vec3; 3] {
        let ((sin_yaw, cos_yaw), (sin_pitch, cos_pitch)) = (self.yaw.sin_cos(), self.pitch.sin_cos());
        let right = Vec3::new(cos_yaw, sin_yaw, 0.0);
        let back = Vec3::new(sin_yaw * cos_pitch, -cos_yaw * cos_pitch, sin_pitch);
        [right, back.cross(right), back]
    }

    /// The offset from the target, in its plane, that shows `(x, y)` viewport heights from the middle.
    fn on_target_plane(&self, x: f32, y: f32) -> Vec3 {
        let [right, up, _] = self.axes();
        (right * x - up * y) * (2.0 * (self.fov / 2.0).tan() * self.distance)
    }

    /// Moves the target, unless to nowhere.
    fn look_at(&mut self, target: Vec3) {
        if target.is_finite() {
            self.target = target.clamp(Vec3::splat(-1e18), Vec3::splat(1e18));
        }
    }
}

/// A minimised window has an aspect of 0 or NaN.
fn sane(aspect: f32) -> f32 {
    if aspect.is_finite() { aspect.clamp(0.01, 100.0) } else { 1.0 }
}
