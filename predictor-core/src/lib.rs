//! Forecasts of wait and run time, decisions about submissions, and the snapshot that carries them.
