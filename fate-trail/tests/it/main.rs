//! What the crate promises, looked at from outside.

mod application;
mod contract;
mod corpus;
mod emitters;
mod levels;
mod lines;
mod one_trail;
mod recorder;
mod text;
