//! Tests of files and of the command line.

mod cli;
mod csv;
mod documents;
mod keeping;
mod old_files;
mod ranks;
mod scenes;
mod share;
mod snapshots;
#[path = "../support/mod.rs"]
mod support;
mod untrusted;
