//! The story of a run: the frames of the last minutes, compressed and within a limit of memory, with the events among them.

mod codec;
mod events;
mod record;
mod recorder;

pub use self::codec::Packed;
pub use self::events::{Event, EventKind};
pub use self::record::{Record, StoryFrame};
pub use self::recorder::Recorder;
