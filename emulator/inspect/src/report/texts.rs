//! The texts of a job that contain addresses.

use super::model::{Gp, Job, Kind, Pp};

/// All of them, for links on the page.
pub(super) fn of(job: &Job) -> Vec<String> {
    let mut texts: Vec<String> = job.programs.iter().map(|program| at(program.address)).collect();
    texts.extend(job.fault.iter().cloned());
    texts.extend(job.notes.iter().cloned());
    match &job.kind {
        Kind::Gp(gp) => geometry(gp, &mut texts),
        Kind::Pp(pp) => pixels(pp, &mut texts),
    }
    texts
}

/// An address as text.
pub(super) fn at(address: u32) -> String {
    format!("at {address:#x}")
}

fn geometry(gp: &Gp, texts: &mut Vec<String>) {
    for (title, commands) in &gp.streams {
        texts.push(title.clone());
        for command in commands {
            texts.push(at(command.address));
            texts.push(command.text.clone());
            texts.extend(command.details.iter().cloned());
        }
    }
    for draw in &gp.draws {
        texts.push(draw.words.clone());
        texts.extend(draw.columns.iter().map(|column| column.place.clone()));
    }
}

fn pixels(pp: &Pp, texts: &mut Vec<String>) {
    texts.push(pp.frame.clone());
    texts.extend(pp.targets.iter().map(|target| target.title.clone()));
    for draw in &pp.draws {
        texts.push(format!("render state {}", at(draw.state_address)));
        texts.extend(draw.state.iter().map(|said| said.text.clone()));
        texts.push(draw.uniforms.clone());
        texts.extend(draw.trouble.iter().cloned());
        for texture in &draw.textures {
            texts.push(texture.words.clone());
            texts.extend(texture.levels.iter().map(|level| level.title.clone()));
        }
    }
}
