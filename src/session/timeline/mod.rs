//! Recording of a run: compressed frames of the last minutes within a memory limit, and the events between them.

mod codec;
mod events;
mod record;
mod recorder;

pub use self::codec::Packed;
pub use self::events::{Event, EventKind};
pub use self::record::{Record, RecordedFrame};
pub use self::recorder::Recorder;
