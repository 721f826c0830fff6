//! Forecasts of waits: QBETS and the default.

pub mod blended;
pub mod qbets;
