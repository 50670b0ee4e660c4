//! Films: sequences of pictures as PNG files, as a GIF, or as an MP4 or WebM that the program `ffmpeg` encodes.

mod palette;

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{BufWriter, Cursor, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use image::{ImageFormat, RgbImage};
#[cfg(windows)]
use windows_sys::Win32::System::Threading::CREATE_NO_WINDOW;

use self::palette::Indexed;
use crate::base::{Choice, Draft, Error, OutputFile, Result, advice, choice, format, invalid};

/// Accepted frame rates for films, in frames per second.
pub const RATES: std::ops::RangeInclusive<u32> = 1..=120;

/// Maximum width and height, in pixels, of films, picture files and the window. Graphics drivers support sizes up to
/// this limit.
pub const MOST_SIDE: u32 = 16_384;

choice! {
    /// File format of a film.
    pub enum Format {
        /// Plays everywhere, but files are large, and each frame has at most 256 colours.
        Gif = "GIF",
        /// H.264 video, which plays nearly everywhere. Needs the program ffmpeg.
        Mp4 = "MP4",
        /// VP9 video: small files for the web. Needs the program ffmpeg.
        Webm = "WebM",
        /// One PNG file per frame, without any loss of quality.
        Frames = "PNG",
    }
}

impl Format {
    /// Returns the default format of films: MP4 if the program `ffmpeg` is found, otherwise GIF.
    pub fn usual() -> Self {
        static USUAL: LazyLock<Format> =
            LazyLock::new(|| Format::usual_with(&std::env::var_os("PATH").unwrap_or_default()));
        *USUAL
    }

    /// Returns the default format of films: MP4 if `ffmpeg` is in a folder of `path`, otherwise GIF. `path` is a list
    /// of folders like the variable PATH.
    fn usual_with(path: &OsStr) -> Self {
        let ffmpeg = format!("ffmpeg{}", std::env::consts::EXE_SUFFIX);
        match std::env::split_paths(path).any(|folder| folder.join(&ffmpeg).is_file()) {
            true => Self::Mp4,
            false => Self::Gif,
        }
    }

    /// Returns the file name extension of the format, without a dot.
    pub fn extension(self) -> String {
        self.name().to_lowercase()
    }

    /// Returns the film format that matches the file name extension of `path`.
    pub(crate) fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().unwrap_or_default();
        let format = Self::OPTIONS.iter().find(|(_, opt)| extension.eq_ignore_ascii_case(opt.name));
        format.map(|(format, _)| *format).ok_or_else(|| {
            invalid!(
                "{}: the name of a film must end in .gif, .mp4 or .webm, or in .png for numbered files such as \
                 name-%04d.png",
                path.display()
            )
        })
    }

    /// Returns the `ffmpeg` options for the best encoder of this format that the installed `ffmpeg` supports.
    fn codec(self) -> Result<&'static [&'static str]> {
        let name = self.name();
        let output = ffmpeg_command().args(["-hide_banner", "-encoders"]).stdin(Stdio::null()).output();
        let output = output.map_err(|error| {
            invalid!(
                "{name} needs the program ffmpeg, which could not be started ({error}); {}. GIF and PNG work without ffmpeg",
                advice::FFMPEG
            )
        })?;
        let listed = String::from_utf8_lossy(&output.stdout);
        let has = |encoder: &str| listed.lines().any(|line| line.split_whitespace().nth(1) == Some(encoder));
        let codecs: [&[&str]; 2] = match self {
            Self::Mp4 => [
                &["libx264", "-crf", "18", "-preset", "medium", "-movflags", "+faststart"],
                &["mpeg4", "-q:v", "2", "-movflags", "+faststart"],
            ],
            _ => [
                &["libvpx-vp9", "-crf", "24", "-b:v", "0", "-row-mt", "1"],
                &["libvpx", "-crf", "10", "-b:v", "8M"],
            ],
        };
        let codec = codecs.iter().copied().find(|codec| has(codec[0]));
        codec.ok_or_else(|| {
            let wanted: Vec<_> = codecs.iter().map(|codec| codec[0]).collect();
            let wanted = wanted.join(", ");
            invalid!(
                "the installed ffmpeg cannot write {name}, because it lacks the encoders {wanted}; install a full \
                 version of ffmpeg, or choose GIF or PNG"
            )
        })
    }
}

/// Progress of a film that is being made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Number of pictures made so far.
    pub done: u32,
    /// Number of pictures in the whole film.
    pub pictures: u32,
    /// Time since the start of filming.
    pub elapsed: Duration,
}

impl Progress {
    /// Returns the completed fraction of the film, from 0 to 1.
    pub fn share(&self) -> f32 {
        self.done as f32 / self.pictures.max(1) as f32
    }
}

impl fmt::Display for Progress {
    /// Writes a sentence without a full stop, such as `Filming: 120 of 300 pictures, about 20 s left`.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        /// Time after which the speed of a film is known well enough to estimate the remaining time.
        const KNOWN: Duration = Duration::from_secs(1);
        let Self { done, pictures, elapsed } = *self;
        write!(f, "Filming: {done} of {pictures} pictures")?;
        if (1..pictures).contains(&done) && elapsed > KNOWN {
            let left = elapsed.as_secs_f64() * f64::from(pictures - done) / f64::from(done);
            write!(f, ", about {} left", format::duration(left))?;
        }
        Ok(())
    }
}

/// A film that is being written. Dropping the value before [`Film::finish`] deletes the file, but keeps finished PNG
/// files.
pub struct Film {
    path: PathBuf,
    size: (u32, u32),
    writer: Writer,
}

enum Writer {
    /// Numbered PNG files, with the file name pattern and the number of files written so far.
    Frames(Pattern, u32),
    /// A GIF file. `shown` is the number of pictures written so far, from which the next picture's delay is computed.
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
    /// Starts a film of `size` pixels at `rate` frames per second. The extension of `path` selects the format.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, or if `ffmpeg` is needed and missing.
    pub fn create(path: &Path, size: (u32, u32), rate: u32) -> Result<Self> {
        let format = Format::of(path)?;
        if !RATES.contains(&rate) {
            let (least, most) = (RATES.start(), RATES.end());
            return Err(invalid!(
                "the frame rate must be from {least} to {most} frames per second (it is {rate})"
            ));
        }
        let writer = match format {
            Format::Frames => {
                let pattern = Pattern::of(path);
                OutputFile::create(&pattern.name(1))?;
                Writer::Frames(pattern, 0)
            }
            Format::Gif => {
                let draft = OutputFile::create(path)?.draft()?;
                let [width, height] = [size.0, size.1].map(u16::try_from);
                let (Ok(width), Ok(height)) = (width, height) else {
                    return Err(invalid!("a GIF has at most 65535 × 65535 pixels; choose a smaller size"));
                };
                let file = BufWriter::new(draft.file()?);
                let encoder = gif::Encoder::new(file, width, height, &[]);
                let mut encoder = encoder.map_err(gif_error(&draft))?;
                let repeats = encoder.set_repeat(gif::Repeat::Infinite);
                repeats.map_err(gif_error(&draft))?;
                Writer::Gif { encoder, draft, rate, shown: 0 }
            }
            Format::Mp4 | Format::Webm => ffmpeg(format, OutputFile::create(path)?.draft()?, size, rate)?,
        };
        Ok(Self { path: path.to_owned(), size, writer })
    }

    /// Appends a picture to the film. The picture must have the size of the film.
    ///
    /// # Errors
    /// Returns an error if the size of `picture` differs from the film's, or if writing to the file or `ffmpeg` fails.
    pub fn add(&mut self, picture: &RgbImage) -> Result<()> {
        if picture.dimensions() != self.size {
            let ((w, h), (width, height)) = (picture.dimensions(), self.size);
            return Err(invalid!("the picture has {w} × {h} pixels, but the film has {width} × {height}"));
        }
        match &mut self.writer {
            Writer::Frames(pattern, count) => {
                *count += 1;
                let bytes = png(picture)?;
                OutputFile::create(&pattern.name(*count))?.save(|file| file.write_all(&bytes))
            }
            Writer::Gif { encoder, draft, rate, shown } => {
                let (width, height) = (self.size.0 as u16, self.size.1 as u16);
                let Indexed { palette, pixels } = Indexed::new(picture);
                let mut frame = gif::Frame::from_palette_pixels(width, height, pixels, palette, None);
                // Delays in hundredths of a second, rounded such that the whole film has the right length.
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

    /// Writes the rest of the film and moves the file to its final name. Returns that name, or the names of the first
    /// and the last of several files.
    ///
    /// # Errors
    /// Returns an error if the rest of the film cannot be written. An existing film of the same name is kept.
    pub fn finish(self) -> Result<String> {
        match self.writer {
            Writer::Frames(pattern, count) if count > 1 => {
                let [first, last] = [1, count].map(|nth| pattern.name(nth));
                return Ok(format!("{} to {}", first.display(), last.display()));
            }
            Writer::Frames(pattern, _) => return Ok(pattern.name(1).display().to_string()),
            Writer::Gif { encoder, draft, .. } => {
                let mut file = encoder.into_inner().map_err(gif_error(&draft))?;
                file.flush().map_err(draft.error())?;
                draft.keep()?;
            }
            Writer::Ffmpeg { mut child, mut words, draft } => {
                drop(child.0.stdin.take());
                let status = child.0.wait().map_err(|error| gave_up(&error.to_string(), &mut words))?;
                if !status.success() {
                    return Err(gave_up(&status.to_string(), &mut words));
                }
                draft.keep()?;
            }
        }
        Ok(self.path.display().to_string())
    }
}

fn gif_error(draft: &Draft) -> impl FnOnce(gif::EncodingError) -> Error + use<> {
    let error = draft.error();
    move |why| match why {
        gif::EncodingError::Io(why) => error(why),
        why => error(std::io::Error::other(why)),
    }
}

/// A running `ffmpeg` process, which is killed when this value is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Errors are ignored, because `ffmpeg` may already have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns a command that starts `ffmpeg`. Ctrl+C does not stop `ffmpeg`; only this program ends it.
fn ffmpeg_command() -> Command {
    let mut command = Command::new("ffmpeg");
    // In a process group of its own, `ffmpeg` does not receive Ctrl+C.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    // CREATE_NO_WINDOW gives `ffmpeg` a hidden console of its own: no console window opens, and Ctrl+C does not reach
    // it.
    #[cfg(windows)]
    std::os::windows::process::CommandExt::creation_flags(&mut command, CREATE_NO_WINDOW);
    command
}

fn ffmpeg(format: Format, draft: Draft, (width, height): (u32, u32), rate: u32) -> Result<Writer> {
    let codec = format.codec()?;
    // If ffmpeg ends before it has read all pictures, SIGPIPE must not end this program.
    #[cfg(unix)]
    // SAFETY: no handler is involved.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
    }
    let start = |error: std::io::Error| invalid!("cannot start ffmpeg: {error}");
    let words = tempfile::tempfile().map_err(start)?;
    let mut command = ffmpeg_command();
    command.args(["-hide_banner", "-loglevel", "error", "-nostats", "-y"]);
    command.args(["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", &format!("{width}x{height}")]);
    command.args(["-r", &rate.to_string(), "-i", "-", "-an"]);
    // Players expect colours at half the resolution, which needs even sides.
    command.args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2,scale=out_color_matrix=bt709,format=yuv420p"]);
    // States the colour space explicitly instead of relying on the player's default.
    for kind in ["-colorspace", "-color_primaries", "-color_trc"] {
        command.args([kind, "bt709"]);
    }
    command.arg("-c:v").args(codec);
    let path = draft.lend(&mut command)?;
    command.args(["-f", &format.extension()]).arg(path);
    command.stdin(Stdio::piped());
    command.stderr(words.try_clone().map_err(start)?);
    Ok(Writer::Ffmpeg { child: Running(command.spawn().map_err(start)?), words, draft })
}

/// Returns an error for a failure of `ffmpeg`. The message contains `reason` and the last line of `ffmpeg`'s output.
fn gave_up(reason: &str, words: &mut File) -> Error {
    let mut said = String::new();
    // If the message cannot be read, the error contains only the reason.
    let _ = words.seek(SeekFrom::Start(0)).and_then(|_| words.take(1 << 16).read_to_string(&mut said));
    let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    let report = if last.is_empty() { String::new() } else { format!("; it reported: {last}") };
    invalid!("ffmpeg could not write the film ({reason}){report}")
}

/// Encodes a picture as PNG.
///
/// # Errors
/// Returns an error if the picture has no pixels.
pub fn png(picture: &RgbImage) -> Result<Vec<u8>> {
    let mut png = Cursor::new(Vec::new());
    let written = picture.write_to(&mut png, ImageFormat::Png);
    written.map_err(|error| Error::Graphics(format!("cannot encode the picture as PNG: {error}")))?;
    Ok(png.into_inner())
}

/// A pattern for numbered file names, such as `name-%04d.png`.
struct Pattern {
    path: PathBuf,
    before: String,
    digits: usize,
    after: String,
}

impl Pattern {
    /// Parses a file name such as `name-%04d.png`. If the name has no pattern, numbers go before the extension.
    fn of(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let place = name.rmatch_indices('%').find_map(|(at, _)| {
            let (digits, after) = name[at + 1..].split_once('d')?;
            // Any other percent sign is an ordinary character of the name, as in `50%done`.
            let is_word = !digits.starts_with('0') && after.starts_with(char::is_alphanumeric);
            let digits = match digits.as_bytes() {
                [] => 1,
                [digit] | [b'0', digit] if digit.is_ascii_digit() => usize::from(digit - b'0').max(1),
                _ => return None,
            };
            (!is_word).then(|| (name[..at].to_owned(), digits, after.to_owned()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_film_format_is_mp4_if_ffmpeg_is_found_and_gif_otherwise() {
        let [empty, bin] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        std::fs::write(bin.path().join(format!("ffmpeg{}", std::env::consts::EXE_SUFFIX)), "").unwrap();
        let usual = |folders: &[&Path]| Format::usual_with(&std::env::join_paths(folders).unwrap());
        let [without, with] = [usual(&[empty.path()]), usual(&[empty.path(), bin.path()])];
        assert_eq!([without, with, usual(&[])], [Format::Gif, Format::Mp4, Format::Gif]);
    }

    #[test]
    fn film_progress_shows_the_remaining_time_once_the_speed_is_known() {
        let words = |done, seconds| {
            Progress { done, pictures: 300, elapsed: Duration::from_secs_f64(seconds) }.to_string()
        };
        assert_eq!(words(120, 13.0), "Filming: 120 of 300 pictures, about 20 s left");
        assert_eq!(words(30, 30.0), "Filming: 30 of 300 pictures, about 5 min left");
        for (done, seconds) in [(0, 5.0), (2, 0.1), (300, 60.0)] {
            assert_eq!(words(done, seconds), format!("Filming: {done} of 300 pictures"));
        }
    }
}
