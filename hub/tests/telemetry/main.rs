//! Hubs as telemetry: what arrives, what happens when nothing can arrive, and what is never touched.

mod dead;
mod joined;
mod metrics;
mod otlp;
mod receiver;
mod spans;
mod support;
