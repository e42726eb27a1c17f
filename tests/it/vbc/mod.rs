//! VBC: conversion, packing, pictures.

mod canvas;
mod cli;
mod convert;
mod engine;
mod formula;
mod fuzz;
mod pack;
mod pictures;
mod reflect;
mod stages;
mod watch;
