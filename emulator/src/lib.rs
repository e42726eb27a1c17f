//! The Mali-400 (Utgard) GPU in software.
