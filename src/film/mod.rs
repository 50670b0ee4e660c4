//! Films: pictures one after another, as PNG files, a GIF, or an MP4 or WebM that the program `ffmpeg` makes of them.

mod palette;

use std::fs::File;
use std::io::{BufWriter, Cursor, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use image::{ImageFormat, RgbImage};

use self::palette::Indexed;
use crate::error::{Error, Result};
use crate::files::{Draft, Output};

/// What a film may be shown at, in pictures a second.
pub const RATES: std::ops::RangeInclusive<u32> = 1..=120;

/// The most pixels that a side of a picture can have, be it in a film, in a file or in the window: graphics drivers take no more.
pub const MOST_SIDE: u32 = 16_384;

/// What a film is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Plays wherever pictures are shown, in 256 colours a picture.
    Gif,
    /// H.264, by `ffmpeg`.
    Mp4,
    /// VP9, by `ffmpeg`.
    Webm,
    /// A file for each picture: nothing is lost.
    Frames,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::Gif, Self::Mp4, Self::Webm, Self::Frames];

    /// What a person calls it, and what there is to know.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Gif => ("GIF", "plays wherever pictures are shown; 256 colours a picture, large files"),
            Self::Mp4 => ("MP4", "H.264, plays nearly everywhere; needs the program ffmpeg"),
            Self::Webm => ("WebM", "VP9, small, for the web; needs the program ffmpeg"),
            Self::Frames => ("PNG", "a file for each picture: nothing is lost"),
        }
    }

    /// How its files' names end.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Gif => "gif",
            Self::Mp4 => "mp4",
            Self::Webm => "webm",
            Self::Frames => "png",
        }
    }

    /// What the name of a file asks for.
    ///
    /// # Errors
    /// If that is no film.
    pub fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().unwrap_or_default();
        let format = Self::ALL.into_iter().find(|format| extension.eq_ignore_ascii_case(format.extension()));
        format.ok_or_else(|| {
            let text = "a film is a .gif, .mp4 or .webm, or .png files such as name-%04d.png";
            Error::Invalid(format!("{}: {text}", path.display()))
        })
    }

    /// The options of the first encoder that `ffmpeg` has, best first.
    fn codec(self) -> Result<&'static [&'static str]> {
        let name = self.words().0;
        let output = Command::new("ffmpeg").args(["-hide_banner", "-encoders"]).stdin(Stdio::null()).output();
        let output = output.map_err(|error| {
            Error::Invalid(format!(
                "{name} needs the program ffmpeg, which does not start ({error}); on Debian and Ubuntu, \
                 apt install ffmpeg. GIF and PNG need nothing"
            ))
        })?;
        let listed = String::from_utf8_lossy(&output.stdout);
        let has = |encoder: &str| listed.lines().any(|line| line.split_whitespace().nth(1) == Some(encoder));
        let codecs: &[&[&str]] = match self {
            Self::Mp4 => &[
                &["libx264", "-crf", "18", "-preset", "medium", "-movflags", "+faststart"],
                &["mpeg4", "-q:v", "2", "-movflags", "+faststart"],
            ],
            _ => &[
                &["libvpx-vp9", "-crf", "24", "-b:v", "0", "-row-mt", "1"],
                &["libvpx", "-crf", "10", "-b:v", "8M"],
            ],
        };
        let codec = codecs.iter().copied().find(|codec| has(codec[0]));
        codec.ok_or_else(|| {
            let wanted: Vec<_> = codecs.iter().map(|codec| codec[0]).collect();
            Error::Invalid(format!("this ffmpeg cannot write {name}: it has none of {}", wanted.join(", ")))
        })
    }
}

/// A film that is being made. Until it is finished there is no file of its name; a film that is dropped leaves nothing but the
/// PNG files that were written.
pub struct Film {
    size: (u32, u32),
    writer: Writer,
}

enum Writer {
    /// Where the number stands in the name, and how many pictures there are.
    Frames(Pattern, u32),
    /// With the hundredths of a second that a picture stays; none is left of it only while it is finished.
    Gif {
        encoder: gif::Encoder<BufWriter<File>>,
        draft: Draft,
        rate: u32,
        shown: u32,
    },
    Ffmpeg {
        child: Running,
        words: File,
        draft: Draft,
    },
}

impl Film {
    /// A film of `size` pixels, `rate` pictures a second, in the file `path`, whose name says what it is.
    ///
    /// # Errors
    /// If nothing can be written there, or `ffmpeg` is needed and is not there: before there is anything to lose.
    pub fn create(path: &Path, size: (u32, u32), rate: u32) -> Result<Self> {
        let format = Format::of(path)?;
        if !RATES.contains(&rate) {
            let (least, most) = (RATES.start(), RATES.end());
            return Err(Error::Invalid(format!("{rate} pictures a second: {least} to {most} are possible")));
        }
        let writer = match format {
            Format::Frames => {
                let pattern = Pattern::of(path);
                Output::create(&pattern.name(1))?;
                Writer::Frames(pattern, 0)
            }
            Format::Gif => {
                let draft = Output::create(path)?.draft()?;
                let [width, height] = [size.0, size.1].map(u16::try_from);
                let (Ok(width), Ok(height)) = (width, height) else {
                    return Err(Error::Invalid("a GIF has at most 65535 × 65535 pixels".to_owned()));
                };
                let file = BufWriter::new(draft.file()?);
                let encoder = gif::Encoder::new(file, width, height, &[]);
                let mut encoder = encoder.map_err(gif_error(&draft))?;
                let repeats = encoder.set_repeat(gif::Repeat::Infinite);
                repeats.map_err(gif_error(&draft))?;
                Writer::Gif { encoder, draft, rate, shown: 0 }
            }
            Format::Mp4 | Format::Webm => ffmpeg(format, Output::create(path)?.draft()?, size, rate)?,
        };
        Ok(Self { size, writer })
    }

    /// Adds a picture of the film's size.
    ///
    /// # Errors
    /// If it is of another size, or cannot be written; with the words of `ffmpeg` if that gave up.
    pub fn add(&mut self, picture: &RgbImage) -> Result<()> {
        if picture.dimensions() != self.size {
            let ((w, h), (width, height)) = (picture.dimensions(), self.size);
            return Err(Error::Invalid(format!("a picture of {w} × {h} is none of {width} × {height}")));
        }
        match &mut self.writer {
            Writer::Frames(pattern, count) => {
                *count += 1;
                let bytes = png(picture)?;
                Output::create(&pattern.name(*count))?.save(|file| file.write_all(&bytes))
            }
            Writer::Gif { encoder, draft, rate, shown } => {
                let (width, height) = (self.size.0 as u16, self.size.1 as u16);
                let Indexed { palette, pixels } = Indexed::new(picture);
                let mut frame = gif::Frame::from_palette_pixels(width, height, pixels, palette, None);
                // Hundredths of a second, such that the film as a whole is as long as it should be.
                let until = |nth: u32| (f64::from(nth) * 100.0 / f64::from(*rate)).round() as u32;
                frame.delay = (until(*shown + 1) - until(*shown)) as u16;
                *shown += 1;
                encoder.write_frame(&frame).map_err(gif_error(draft))
            }
            Writer::Ffmpeg { child, words, .. } => {
                let written = child.0.stdin.as_mut().map_or(Ok(()), |pipe| pipe.write_all(picture));
                written.map_err(|error| gave_up(&error.to_string(), words))
            }
        }
    }

    /// Ends the film and gives the file its name.
    ///
    /// # Errors
    /// If it cannot be written to its end; an older file of that name is then still whole.
    pub fn finish(self) -> Result<()> {
        match self.writer {
            Writer::Frames(..) => Ok(()),
            Writer::Gif { encoder, draft, .. } => {
                let mut file = encoder.into_inner().map_err(gif_error(&draft))?;
                file.flush().map_err(draft.error())?;
                draft.keep()
            }
            Writer::Ffmpeg { mut child, mut words, draft } => {
                drop(child.0.stdin.take());
                let status = child.0.wait().map_err(|error| gave_up(&error.to_string(), &mut words))?;
                match status.success() {
                    true => draft.keep(),
                    false => Err(gave_up(&status.to_string(), &mut words)),
                }
            }
        }
    }
}

fn gif_error(draft: &Draft) -> impl FnOnce(gif::EncodingError) -> Error + use<> {
    let error = draft.error();
    move |why| match why {
        gif::EncodingError::Io(why) => error(why),
        why => error(std::io::Error::other(why)),
    }
}

/// A program that does not outlive its film.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn ffmpeg(format: Format, draft: Draft, (width, height): (u32, u32), rate: u32) -> Result<Writer> {
    let codec = format.codec()?;
    // A program that ends before it has read all must not end this one.
    #[cfg(unix)]
    // SAFETY: no handler is involved.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
    }
    let start = |error: std::io::Error| Error::Invalid(format!("ffmpeg does not start: {error}"));
    let words = tempfile::tempfile().map_err(start)?;
    let mut command = Command::new("ffmpeg");
    command.args(["-hide_banner", "-loglevel", "error", "-nostats", "-y"]);
    command.args(["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", &format!("{width}x{height}")]);
    command.args(["-r", &rate.to_string(), "-i", "-", "-an"]);
    // Colours at half the resolution, which is what players take, need even sides.
    command.args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2,scale=out_color_matrix=bt709,format=yuv420p"]);
    // What players take pictures of this size for, said all the same.
    for kind in ["-colorspace", "-color_primaries", "-color_trc"] {
        command.args([kind, "bt709"]);
    }
    command.arg("-c:v").args(codec);
    let path = draft.lend(&mut command)?;
    command.args(["-f", format.extension()]).arg(path);
    // Ctrl+C is meant for this program, which ends that one.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.stdin(Stdio::piped());
    command.stderr(words.try_clone().map_err(start)?);
    Ok(Writer::Ffmpeg { child: Running(command.spawn().map_err(start)?), words, draft })
}

/// With the last that `ffmpeg` said.
fn gave_up(reason: &str, words: &mut File) -> Error {
    let mut said = String::new();
    // Without words there is the reason.
    let _ = words.seek(SeekFrom::Start(0)).and_then(|_| words.take(1 << 16).read_to_string(&mut said));
    let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    Error::Invalid(format!("ffmpeg gave up ({reason}) {last}").trim_end().to_owned())
}

/// A picture as PNG.
///
/// # Errors
/// If it has no pixels.
pub fn png(picture: &RgbImage) -> Result<Vec<u8>> {
    let mut png = Cursor::new(Vec::new());
    let written = picture.write_to(&mut png, ImageFormat::Png);
    written.map_err(|error| Error::Graphics(format!("the picture does not become a PNG: {error}")))?;
    Ok(png.into_inner())
}

/// The names of numbered files.
struct Pattern {
    path: PathBuf,
    before: String,
    digits: usize,
    after: String,
}

impl Pattern {
    /// `name-%04d.png`; without such a place the number stands before the extension.
    fn of(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let place = name.split_once('%').and_then(|(before, rest)| {
            let (digits, after) = rest.split_once('d')?;
            let digits = if digits.is_empty() { 1 } else { digits.parse().ok().filter(|n| *n <= 9)? };
            Some((before.to_owned(), digits, after.to_owned()))
        });
        let (before, digits, after) = place.unwrap_or_else(|| {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let extension = path.extension().unwrap_or_default().to_string_lossy();
            (format!("{stem}-"), 4, format!(".{extension}"))
        });
        Self { path: path.to_owned(), before, digits, after }
    }

    fn name(&self, nth: u32) -> PathBuf {
        let Self { path, before, digits, after } = self;
        path.with_file_name(format!("{before}{nth:0digits$}{after}"))
    }
}
