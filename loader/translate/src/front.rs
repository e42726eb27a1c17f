//! naga's validator and its GLSL front end, shared by reading, writing and SkSL.

use crate::error::chain;
use crate::guard::guarded;
use crate::{Error, ErrorKind, Language, Result, combined, structs};
use loader::SourceError;
use naga::ShaderStage;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use std::ops::Range;

/// Whether a character continues a name or a number.
pub(crate) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// A module that naga's validator accepts, and the selected entry point.
#[derive(Clone, Debug)]
pub struct Shader {
    /// The module, with all its entry points.
    pub module: naga::Module,
    /// The validator's information about it: types of expressions, uses of globals.
    pub info: ModuleInfo,
    /// Index of the entry point in [`naga::Module::entry_points`].
    pub entry: usize,
}

impl Shader {
    /// The entry point.
    pub fn entry_point(&self) -> &naga::EntryPoint {
        &self.module.entry_points[self.entry]
    }

    /// The name of the input at a location.
    pub fn input_name(&self, wanted: u32) -> Option<&str> {
        let arguments = &self.entry_point().function.arguments;
        arguments
            .iter()
            .find_map(|argument| match is_at(argument.binding.as_ref(), wanted) {
                true => argument.name.as_deref(),
                false => self.member_at(argument.ty, wanted),
            })
    }

    /// The name of the output at a location; a result that is not a structure has none.
    pub fn output_name(&self, wanted: u32) -> Option<&str> {
        self.member_at(self.entry_point().function.result.as_ref()?.ty, wanted)
    }

    /// The name of a structure's member at a location.
    fn member_at(&self, ty: naga::Handle<naga::Type>, wanted: u32) -> Option<&str> {
        let naga::TypeInner::Struct { members, .. } = &self.module.types[ty].inner else {
            return None;
        };
        let mut members = members.iter();
        let member = members.find(|member| is_at(member.binding.as_ref(), wanted))?;
        member.name.as_deref()
    }

    /// The name of the image or buffer at a binding.
    pub fn binding_name(&self, group: u32, binding: u32) -> Option<&str> {
        let wanted = Some(naga::ResourceBinding { group, binding });
        let mut globals = self.module.global_variables.iter();
        globals.find(|(_, global)| global.binding == wanted)?.1.name.as_deref()
    }

    /// Replaces each `override` of WGSL by a constant: the value given by name or by `@id`, or its default.
    ///
    /// # Errors
    /// A name that the shader lacks; a value that is not a number, `true` or `false`, or does not fit; a constant with
    /// neither a default nor a value.
    pub fn fixed(self, constants: &[(String, String)]) -> Result<Self> {
        use naga::back::pipeline_constants::{PipelineConstantError, process_overrides};
        let overrides = &self.module.overrides;
        if overrides.is_empty() && constants.is_empty() {
            return Ok(self);
        }
        let wrong = |message: String| -> Error { ErrorKind::Entry(message).into() };
        let mut given = naga::back::PipelineConstants::default();
        for (name, value) in constants {
            let number = match value.as_str() {
                "true" => 1.0,
                "false" => 0.0,
                _ => value
                    .parse()
                    .map_err(|_| wrong(format!("the constant {name}={value}: no number, true or false")))?,
            };
            given.insert(name.clone(), number);
        }
        let resolved = guarded("at setting constants", || {
            Ok(process_overrides(&self.module, &self.info, None, &given)
                .map(|(module, info)| (module.into_owned(), info.into_owned())))
        })?;
        match resolved {
            Ok((module, info)) => Ok(Self { module, info, ..self }),
            Err(PipelineConstantError::NotFound(name)) => {
                let called = |one: &naga::Override| match (one.id, &one.name) {
                    (Some(id), Some(name)) => format!("{id} ({name})"),
                    (Some(id), None) => id.to_string(),
                    (None, name) => name.clone().unwrap_or_default(),
                };
                let have: Vec<String> = overrides.iter().map(|(_, one)| called(one)).collect();
                let have = match have.is_empty() {
                    true => "it has none".to_owned(),
                    false => format!("it has {}", have.join(", ")),
                };
                Err(wrong(format!("the shader has no constant {name}; {have}")))
            }
            Err(PipelineConstantError::MissingValue(name)) => Err(wrong(format!(
                "the constant {name} has no default and no value is given"
            ))),
            Err(error) => Err(wrong(format!("the shader's constants: {error}"))),
        }
    }

    /// The entry point's stage.
    pub fn stage(&self) -> ShaderStage {
        self.entry_point().stage
    }
}

/// Whether a binding is a location of this number.
fn is_at(binding: Option<&naga::Binding>, wanted: u32) -> bool {
    matches!(binding, Some(naga::Binding::Location { location, .. }) if *location == wanted)
}

/// Parses GLSL with naga's front end, after splitting combined samplers; errors have line and column.
pub(crate) fn parse_glsl(text: &str, stage: ShaderStage) -> Result<naga::Module> {
    if let Some((place, members)) = structs::too_many_members(text) {
        let span = naga::Span::new(place.start as u32, place.end as u32);
        let message = format!("a struct of {members} members, those of its members counted: too many");
        return Err(text_error(Language::Glsl, text, Some(span), &message));
    }
    crate::nesting::check(Language::Glsl, text)?;
    let mut options = naga::front::glsl::Options::from(stage);
    let split = combined::split(text);
    let macros = split.iter().flat_map(|split| &split.macros);
    options
        .defines
        .extend(macros.map(|(name, meant)| (name.clone(), meant.clone())));
    let parted = split.as_ref().map_or(text, |split| &split.text);
    let parsed = guarded("at reading GLSL", || {
        Ok(naga::front::glsl::Frontend::default().parse(&options, parted))
    })?;
    let mut module = parsed.map_err(|errors| match errors.errors.first() {
        Some(first) => text_error(Language::Glsl, text, Some(first.meta), &first.kind.to_string()),
        None => text_error(Language::Glsl, text, None, "naga cannot read it"),
    })?;
    for (_, function) in module.functions.iter_mut() {
        test_behind_continue(&mut function.body);
    }
    for entry in &mut module.entry_points {
        test_behind_continue(&mut entry.function.body);
    }
    Ok(module)
}

/// naga's front end puts the condition of `do {} while` at the end of the body, where a `continue` skips it. Moves it
/// to where a `continue` leads. Only statements generated by the front end have no span.
fn test_behind_continue(block: &mut naga::Block) {
    use naga::Statement;
    for (statement, _) in block.span_iter_mut() {
        match statement {
            Statement::Block(block) => test_behind_continue(block),
            Statement::If { accept, reject, .. } => {
                test_behind_continue(accept);
                test_behind_continue(reject);
            }
            Statement::Switch { cases, .. } => {
                cases.iter_mut().for_each(|case| test_behind_continue(&mut case.body));
            }
            Statement::Loop {
                body,
                continuing,
                break_if,
            } => {
                test_behind_continue(body);
                let is_tested_last = body.span_iter().last().is_some_and(|(last, span)| {
                    let leaves = matches!(last, Statement::If { accept, reject, .. }
                        if reject.is_empty() && matches!(accept.first(), Some(Statement::Break)));
                    leaves && !span.is_defined()
                });
                let has_body = matches!(body.first(), Some(Statement::Block(_)));
                if !(is_tested_last && has_body && continuing.is_empty() && break_if.is_none()) {
                    continue;
                }
                let last = body.len() - 1;
                for (at, (statement, span)) in std::mem::take(body).span_into_iter().enumerate() {
                    match statement {
                        Statement::If { condition, .. } if at == last => *break_if = Some(condition),
                        other if at == 0 => body.push(other, span),
                        other => continuing.push(other, span),
                    }
                }
            }
            _ => {}
        }
    }
}

/// Validates a module by all of naga's rules, with every capability enabled.
///
/// # Errors
/// naga's reason for rejecting it.
pub fn validated(module: &naga::Module) -> Result<ModuleInfo> {
    guarded("at validating a module", || {
        validator().validate(module).map_err(|error| {
            ErrorKind::Module {
                language: Language::Spirv,
                message: chain(error.as_inner()),
                offset: None,
                unsupported: true,
            }
            .into()
        })
    })
}

/// naga's validator with every rule and capability.
pub(crate) fn validator() -> Validator {
    Validator::new(ValidationFlags::all(), Capabilities::all())
}

/// The same for a module made from a text; errors have line and column.
pub(crate) fn validate_text(language: Language, text: &str, module: &naga::Module) -> Result<ModuleInfo> {
    guarded("at validating a module", || {
        validator().validate(module).map_err(|error| {
            // The shortest span is the most specific.
            let spans = error.spans().filter(|(span, _)| span.is_defined());
            let span = spans
                .map(|(span, _)| *span)
                .min_by_key(|span| span.to_range().map(|r| r.len()));
            text_error(language, text, span, &chain(error.as_inner()))
        })
    })
}

/// An error at a span of a text.
pub(crate) fn text_error(language: Language, text: &str, span: Option<naga::Span>, message: &str) -> Error {
    let range = span.and_then(naga::Span::to_range).unwrap_or(0..0);
    error_at(language, text, range, message)
}

/// An error at bytes of a text.
pub(crate) fn error_at(language: Language, text: &str, range: Range<usize>, message: &str) -> Error {
    let error = SourceError::new(text, range, message);
    let file = None;
    ErrorKind::Text { language, error, file }.into()
}
