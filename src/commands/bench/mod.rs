//! `gravitile bench`: measures speeds.

mod limits;
pub(super) mod scaling;
mod timing;
pub(super) mod tune;
pub(super) mod variants;
