//! `gravitile render`: step without a window, and draw the result.

use std::io::Cursor;
use std::process::ExitCode;

use image::ImageFormat;

use super::{config, open_several, run_with_progress, size, steps};
use crate::bodies::Points;
use crate::cli::Render;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::files::Output;
use crate::view::{Camera, Offscreen, View};

pub(super) fn call(args: &Render) -> Result<ExitCode> {
    let config = config(&args.simulation, |_| ())?;
    let (width, height) = size(&args.size)?;
    if let Some(other) = args.out.extension().filter(|extension| !extension.eq_ignore_ascii_case("png")) {
        let text = format!("--out {}: what is written is PNG, not {}", args.out.display(), other.display());
        return Err(Error::Invalid(text));
    }
    let output = Output::create(&args.out)?;
    let offscreen = Offscreen::new((width, height))?;
    let steps = steps(args.steps, &config);
    let mut engine = Engine::new(open_several(&args.simulation.device)?, config)?;
    run_with_progress(&mut engine, steps)?;

    let (points, _) = engine.publish(Points::default())?.wait()?;
    let mut camera = Camera::facing(points.shape);
    camera.frame_all(&points, width as f32 / height as f32);
    let mut view = View::new(offscreen.context())?;
    view.upload(&points, points.value_range())?;
    let picture = offscreen.render(|surface| view.draw(surface, &camera, None))?;

    let mut png = Cursor::new(Vec::new());
    picture
        .write_to(&mut png, ImageFormat::Png)
        .map_err(|error| Error::Graphics(format!("the picture does not become a PNG: {error}")))?;
    output.save(|file| file.write_all(png.get_ref()))?;
    Ok(ExitCode::SUCCESS)
}
