//! Forecasts: how long a job will wait and run, what a plan says of the queue, and how far each of
//! them is to be trusted.
//!
//! What a forecast is stands in [`forecast`]; it is asked for by the traits there. What is learnt
//! of the past is handed over as a [`wait_model`], made of the [`trees`], the [`blend`], the
//! [`run_time_models`] and what a job sees of the [`past`]. What became of earlier
//! forecasts and promises corrects the next ones: [`levels`], [`promise`], [`reliability`] and
//! [`deadline_history`]. Learning itself is the crate `learning`'s. Nothing here knows of
//! decisions.

pub mod blend;
pub mod class;
pub mod deadline_history;
pub mod deadline_run_times;
pub mod forecast;
pub mod levels;
pub mod past;
pub mod price;
pub mod promise;
pub mod promised_job;
pub mod queue_plan;
pub mod reliability;
pub mod run_time_models;
pub mod trees;
pub mod wait_model;
