//! VBC files.

use loader::spirv::ModuleIndex;
use loader::vbc::fit::{Mode, fit, needs};
use loader::vbc::{self, RULES, Stage, Tables, Vbc};

/// Reading: all accessors of a view work, and `check` finds the reader's errors.
pub fn read(bytes: &[u8]) {
    let report = vbc::check(bytes);
    let file = match vbc::read(bytes) {
        Ok(file) => file,
        Err(error) => return crate::refused_too(&report, &error),
    };
    for finding in &report.diagnostics {
        assert!(
            RULES.iter().any(|rule| rule.0 == finding.rule),
            "{finding}: no such rule"
        );
        assert!(
            finding.offset.is_none_or(|offset| offset <= bytes.len() as u64),
            "{finding}: outside the file"
        );
    }
    look(&file);
}

fn look(file: &Vbc<'_>) {
    file.inputs().chain(file.outputs()).for_each(drop);
    file.bindings().chain(file.bindings_as_stored()).for_each(drop);
    (0..file.subpass_inputs().len()).for_each(|at| _ = file.subpass_name(at));
    if let Some(uniform) = file.uniform() {
        assert!(uniform.members().count() <= uniform.member_count());
    }
    for stage in Stage::ALL {
        if let Some(code) = file.code(stage) {
            assert_eq!(code.words().len(), code.word_count());
        }
    }
    let _ = vbc::summary(file).map(|summary| summary.to_string());
    let _ = vbc::summary(file).map(serde_json::to_value);
}

/// Writing: a valid model is read back unchanged, and a written file is written the same again.
pub fn write(bytes: &[u8]) {
    let Ok(file) = vbc::read(bytes) else { return };
    let model = file.to_model();
    let Ok(written) = vbc::write(&model) else { return };
    if !vbc::validate(&file).is_valid() {
        // An inconsistent model may be read in another form.
        let _ = vbc::read(&written).map(|file| file.to_model());
        return;
    }
    let again = vbc::read(&written).expect("what was written can be read").to_model();
    assert!(again == model, "writing changed a valid file");
    assert_eq!(vbc::write(&again).as_ref(), Ok(&written), "written twice, two files");
}

const CUT: Mode = Mode::Cut {
    tables: Tables {
        samplers: 16,
        images: 8,
        buffers: 16,
        rotexels: 8,
        rwtexels: 8,
    },
    declare: true,
};

/// Use: requirements, layouts and fitting return for any readable file.
pub fn used(bytes: &[u8]) {
    let Ok(file) = vbc::read(bytes) else { return };
    let _ = vbc::requirements(&file);
    let reflection = loader::reflect::reflect(&file);
    let _ = loader::reflect::rust::structs(&reflection);
    let mut stages = Vec::new();
    for stage in Stage::ALL {
        let Some(code) = file.code(stage) else { continue };
        let words = code.words();
        let Ok(index) = ModuleIndex::new(&words) else { continue };
        let _ = needs(&index);
        for mode in [Mode::Bindless, CUT, Mode::Lowered] {
            if let Ok(fitted) = fit(&index, &mode) {
                let again = loader::spirv::instructions(&fitted.words);
                assert!(
                    again.into_iter().all(|i| i.is_ok()),
                    "{mode:?}: the fitted code cannot be walked"
                );
            }
        }
        stages.push((stage, words));
    }
    let _ = vbc::pack::pack(&stages, &vbc::pack::Names::default());
}
