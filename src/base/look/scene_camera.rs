//! The camera with which a scene opens: direction, distance and target.

use crate::base::params::ChangeEffect::View;
use crate::base::params::parameters;

parameters! {
    /// The camera with which a scene opens, relative to a view of all its bodies.
    #[derive(Debug, Clone, PartialEq)]
    pub struct SceneCamera {
        /// Rotation about the z axis. At 0, the x axis points right and the y axis points away.
        yaw: f32 = -20.0, "Yaw" [-360.0..=360.0, Linear] unit("degrees") effect(View),
        /// Angle of the camera above the x-y plane: 90 looks down on the plane, 0 looks along it.
        pitch: f32 = 30.0, "Pitch" [-90.0..=90.0, Linear] unit("degrees") effect(View),
        /// Magnification: at 1, all bodies are in view; at 2, the camera is half as far away.
        zoom: f32 = 1.0, "Zoom" [1e-6..=1e6, Log] effect(View),
        /// Shift of the camera's target along x, from the centre of the bodies.
        x: f32 = 0.0, "Shift along x" [-1e18..=1e18, Linear] unit("scene units") effect(View),
        /// Shift of the camera's target along y, from the centre of the bodies.
        y: f32 = 0.0, "Shift along y" [-1e18..=1e18, Linear] unit("scene units") effect(View),
        /// Shift of the camera's target along z, from the centre of the bodies.
        z: f32 = 0.0, "Shift along z" [-1e18..=1e18, Linear] unit("scene units") effect(View),
    }
}
