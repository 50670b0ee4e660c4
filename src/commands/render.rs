//! `gravitile render`: step without a window, and draw the result.

use std::io::Cursor;
use std::process::ExitCode;

use image::ImageFormat;

use super::{Begin, look, open_several, run_in_parts, run_with_progress, size, steps};
use crate::bodies::Points;
use crate::cli::Render;
use crate::error::{Error, Result};
use crate::files::Output;
use crate::view::{Camera, Offscreen, View};

pub(super) fn call(args: &Render) -> Result<ExitCode> {
    let begin = Begin::new(&args.simulation, |_| ())?;
    let (width, height) = size(&args.size)?;
    let look = look(&args.looks.look)?;
    if let Some(other) = args.out.extension().filter(|extension| !extension.eq_ignore_ascii_case("png")) {
        let text = format!("--out {}: what is written is PNG, not {}", args.out.display(), other.display());
        return Err(Error::Invalid(text));
    }
    let output = Output::create(&args.out)?;
    let offscreen = Offscreen::new((width, height))?;
    let steps = steps(args.steps, &begin.config);
    let mut engine = begin.engine(open_several(&args.simulation.device)?)?;
    let mut view = View::new(offscreen.context())?;
    view.set_look(&look)?;
    // Trails go back over pictures: here there is one for each of the last steps.
    let pictures = steps.min(look.trails as u32);
    run_with_progress(&mut engine, steps - pictures)?;
    let mut points = Points::default();
    for nth in 0..=pictures {
        if nth > 0 {
            run_in_parts(&mut engine, 1, |_| ())?;
        }
        (points, _) = engine.publish(points)?.wait()?;
        view.upload(&points, points.value_range())?;
    }
    let mut camera = Camera::facing(points.shape);
    camera.frame_all(&points, width as f32 / height as f32);
    let picture = offscreen.render(|surface| view.draw(surface, &camera, None))?;

    let mut png = Cursor::new(Vec::new());
    picture
        .write_to(&mut png, ImageFormat::Png)
        .map_err(|error| Error::Graphics(format!("the picture does not become a PNG: {error}")))?;
    output.save(|file| file.write_all(png.get_ref()))?;
    Ok(ExitCode::SUCCESS)
}
