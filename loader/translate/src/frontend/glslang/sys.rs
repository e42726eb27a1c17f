//! Calls to glslang's C interface.
//!
//! A [`Shader`] owns a handle and all data that glslang keeps pointers to; a [`Program`] owns the shaders linked in it.
//! Both are private to this folder.

use super::include::Includes;
use super::limits::LIMITS;
use crate::frontend::{Dialect, Stage};
use crate::guard::asserted;
use glslang_sys as sys;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

/// The purpose of parsing a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Check validity by the language's own rules; generate no code.
    Judge,
    /// SPIR-V for Vulkan; with `relaxed`, OpenGL features that Vulkan lacks (uniforms outside blocks) are converted.
    Vulkan { newest: bool, relaxed: bool },
}

/// A text and how to parse it.
pub(super) struct Job {
    pub stage: Stage,
    pub dialect: Dialect,
    pub purpose: Purpose,
    pub code: CString,
    /// Lines before the text that have no position in it.
    pub preamble: CString,
    /// An entry point other than `main`; it is renamed to `main` in the SPIR-V.
    pub entry: Option<CString>,
    /// A version that overrides the one in the text.
    pub version: Option<i32>,
}

/// A text passed to glslang.
pub(super) struct Shader {
    handle: NonNull<sys::glslang_shader_t>,
    stage: Stage,
    /// glslang keeps the address of its field `code`, and of the texts that it points to.
    input: Box<sys::glslang_input_t>,
    _code: CString,
    _preamble: CString,
    /// The assertion that ended glslang.
    failure: Option<String>,
}

/// Initialises glslang once per process; whether it succeeded.
fn is_ready() -> bool {
    static READY: OnceLock<bool> = OnceLock::new();
    // SAFETY: no other call into glslang comes before this one, and it is made once.
    *READY.get_or_init(|| unsafe { sys::glslang_initialize_process() } != 0)
}

fn stage_of(stage: Stage) -> sys::glslang_stage_t {
    use sys::glslang_stage_t as Its;
    match stage {
        Stage::Vertex => Its::Vertex,
        Stage::TessellationControl => Its::TesselationControl,
        Stage::TessellationEvaluation => Its::TesselationEvaluation,
        Stage::Geometry => Its::Geometry,
        Stage::Fragment => Its::Fragment,
        Stage::Compute => Its::Compute,
        Stage::RayGeneration => Its::RayGeneration,
        Stage::Intersection => Its::Intersect,
        Stage::AnyHit => Its::AnyHit,
        Stage::ClosestHit => Its::ClosestHit,
        Stage::Miss => Its::Miss,
        Stage::Callable => Its::Callable,
        Stage::Task => Its::Task,
        Stage::Mesh => Its::Mesh,
    }
}

/// Copies a string of glslang, which may contain partial characters.
///
/// # Safety
/// `text` is null or a NUL-terminated string.
unsafe fn owned(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller guarantees it.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The functions of glslang that a text can end by a failed assertion.
mod fallible {
    use super::{c_int, sys};

    // Declared again, as functions that may unwind.
    unsafe extern "C-unwind" {
        pub(super) fn glslang_shader_preprocess(
            shader: *mut sys::glslang_shader_t,
            input: *const sys::glslang_input_t,
        ) -> c_int;
        pub(super) fn glslang_shader_parse(
            shader: *mut sys::glslang_shader_t,
            input: *const sys::glslang_input_t,
        ) -> c_int;
        pub(super) fn glslang_program_link(program: *mut sys::glslang_program_t, messages: c_int) -> c_int;
        pub(super) fn glslang_program_map_io(program: *mut sys::glslang_program_t) -> c_int;
        pub(super) fn glslang_program_SPIRV_generate_with_options(
            program: *mut sys::glslang_program_t,
            stage: sys::glslang_stage_t,
            options: *mut sys::glslang_spv_options_t,
        );
    }
}

/// C's `assert` calls this if its condition is false. Under [`asserted`] it unwinds: glslang, which is compiled without
/// exceptions, leaves some memory allocated, and holds no lock. Otherwise it ends the process, as the C library's does.
///
/// # Safety
/// The texts are NUL-terminated strings.
#[cfg(target_os = "linux")]
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __assert_fail(
    condition: *const c_char,
    file: *const c_char,
    line: c_uint,
    function: *const c_char,
) -> ! {
    // SAFETY: the caller guarantees it.
    let (condition, file, function) = unsafe { (owned(condition), owned(file), owned(function)) };
    let message = format!("{file}:{line}: {function}: assertion `{condition}` failed");
    if crate::guard::assertions_unwind() {
        std::panic::resume_unwind(Box::new(message));
    }
    eprintln!("{message}");
    std::process::abort()
}

/// glslang's messages, with the assertion that ended it if there are none.
fn with_failure(log: String, failure: Option<&String>) -> String {
    match failure {
        Some(failure) if !log.contains("ERROR: ") => format!("{log}{failure}\n"),
        _ => log,
    }
}

impl Shader {
    /// A shader that is not parsed yet; `None` if glslang cannot be initialised.
    pub(super) fn new(job: Job) -> Option<Self> {
        if !is_ready() {
            return None;
        }
        let messages = sys::glslang_messages_t::DISPLAY_ERROR_COLUMN;
        let (client, client_version, target, target_version, messages) = match job.purpose {
            Purpose::Judge => (
                sys::glslang_client_t::None,
                sys::glslang_target_client_version_t::OpenGL450,
                sys::glslang_target_language_t::None,
                sys::glslang_target_language_version_t::SPIRV1_0,
                messages,
            ),
            Purpose::Vulkan { newest, .. } => (
                sys::glslang_client_t::Vulkan,
                match newest {
                    true => sys::glslang_target_client_version_t::Vulkan1_4,
                    false => sys::glslang_target_client_version_t::Vulkan1_1,
                },
                sys::glslang_target_language_t::SPIRV,
                match newest {
                    true => sys::glslang_target_language_version_t::SPIRV1_6,
                    false => sys::glslang_target_language_version_t::SPIRV1_3,
                },
                messages | sys::glslang_messages_t::SPV_RULES | sys::glslang_messages_t::VULKAN_RULES,
            ),
        };
        let (language, messages) = match job.dialect {
            Dialect::Glsl => (sys::glslang_source_t::GLSL, messages),
            Dialect::Hlsl => (
                sys::glslang_source_t::HLSL,
                messages | sys::glslang_messages_t::READ_HLSL | sys::glslang_messages_t::HLSL_OFFSETS,
            ),
        };
        let input = Box::new(sys::glslang_input_t {
            language,
            stage: stage_of(job.stage),
            client,
            client_version,
            target_language: target,
            target_language_version: target_version,
            code: job.code.as_ptr(),
            default_version: 100,
            default_profile: sys::glslang_profile_t::None,
            force_default_version_and_profile: 0,
            forward_compatible: 0,
            messages,
            resource: &raw const LIMITS,
            callbacks: sys::glsl_include_callbacks_t {
                include_system: Some(include_system),
                include_local: Some(include_local),
                free_include_result: Some(free_included),
            },
            callbacks_ctx: std::ptr::null_mut(),
        });
        // SAFETY: the input is whole, and lives as long as the handle, as do the texts that it points to.
        let handle = NonNull::new(unsafe { sys::glslang_shader_create(&raw const *input) })?;
        let shader = Self {
            handle,
            stage: job.stage,
            input,
            _code: job.code,
            _preamble: job.preamble,
            failure: None,
        };
        let mut options =
            sys::glslang_shader_options_t::AUTO_MAP_BINDINGS | sys::glslang_shader_options_t::AUTO_MAP_LOCATIONS;
        if matches!(job.purpose, Purpose::Vulkan { relaxed: true, .. }) {
            options |= sys::glslang_shader_options_t::VULKAN_RULES_RELAXED;
        }
        let at = handle.as_ptr();
        // SAFETY: the handle is this shader's own. The preamble lives as long as it; the names are copied.
        unsafe {
            sys::glslang_shader_set_preamble(at, shader._preamble.as_ptr());
            if matches!(job.purpose, Purpose::Vulkan { .. }) {
                sys::glslang_shader_set_options(at, options.0);
            }
            if let Some(version) = job.version {
                sys::glslang_shader_set_glsl_version(at, version);
            }
            if let Some(entry) = &job.entry {
                sys::glslang_shader_set_entry_point(at, c"main".as_ptr());
                sys::glslang_shader_set_source_entry_point(at, entry.as_ptr());
            }
        }
        Some(shader)
    }

    /// Runs the preprocessor; returns its output, or `None` and a [`log`](Self::log) if the text is invalid.
    pub(super) fn preprocess(&mut self, includes: &mut Includes<'_>) -> Option<String> {
        self.input.callbacks_ctx = (&raw mut *includes).cast();
        // SAFETY: the handle and the input are this shader's own. The includes, which the callbacks get, outlive the call.
        let passed = asserted(|| unsafe {
            fallible::glslang_shader_preprocess(self.handle.as_ptr(), &raw const *self.input) != 0
        });
        self.input.callbacks_ctx = std::ptr::null_mut();
        let passed = self.settled(passed);
        // SAFETY: the string belongs to the handle and is copied.
        passed.then(|| unsafe { owned(sys::glslang_shader_get_preprocessed_code(self.handle.as_ptr())) })
    }

    /// Parses the text, which has no includes; whether it is valid. Messages are in the [`log`](Self::log).
    pub(super) fn parse(&mut self) -> bool {
        // SAFETY: the handle and the input are this shader's own; the text is copied by the first call.
        let passed = asserted(|| unsafe {
            sys::glslang_shader_set_preprocessed_code(self.handle.as_ptr(), self.input.code);
            fallible::glslang_shader_parse(self.handle.as_ptr(), &raw const *self.input) != 0
        });
        self.settled(passed)
    }

    /// Whether a call succeeded; keeps the assertion that ended it.
    fn settled(&mut self, passed: Result<bool, String>) -> bool {
        passed.unwrap_or_else(|failure| {
            self.failure = Some(failure);
            false
        })
    }

    /// Messages about the text.
    pub(super) fn log(&self) -> String {
        // SAFETY: the string belongs to the handle and is copied.
        let log = unsafe { owned(sys::glslang_shader_get_info_log(self.handle.as_ptr())) };
        with_failure(log, self.failure.as_ref())
    }
}

impl Drop for Shader {
    fn drop(&mut self) {
        // SAFETY: the handle is this shader's own and is not used again.
        unsafe { sys::glslang_shader_delete(self.handle.as_ptr()) }
    }
}

/// Shaders that were parsed without errors, linked.
pub(super) struct Program {
    handle: NonNull<sys::glslang_program_t>,
    shaders: Vec<Shader>,
    linked: bool,
    /// The assertion that ended glslang.
    failure: Option<String>,
}

impl Program {
    /// Links shaders; messages are in the [`log`](Self::log).
    pub(super) fn link(shaders: Vec<Shader>, purpose: Purpose) -> Option<Self> {
        // SAFETY: glslang was started for the shaders.
        let handle = NonNull::new(unsafe { sys::glslang_program_create() })?;
        let mut program = Self {
            handle,
            shaders,
            linked: false,
            failure: None,
        };
        let at = handle.as_ptr();
        let messages = match purpose {
            Purpose::Judge => sys::glslang_messages_t::DEFAULT,
            Purpose::Vulkan { .. } => sys::glslang_messages_t::SPV_RULES | sys::glslang_messages_t::VULKAN_RULES,
        };
        for shader in &program.shaders {
            // SAFETY: both handles are live, and the program is deleted before its shaders.
            unsafe { sys::glslang_program_add_shader(at, shader.handle.as_ptr()) }
        }
        // SAFETY: the handle is this program's own; places are given only to what is linked.
        let linked = asserted(|| unsafe {
            fallible::glslang_program_link(at, messages.0) != 0
                && (purpose == Purpose::Judge || fallible::glslang_program_map_io(at) != 0)
        });
        match linked {
            Ok(linked) => program.linked = linked,
            Err(failure) => program.failure = Some(failure),
        }
        Some(program)
    }

    /// Whether linking succeeded.
    pub(super) fn is_linked(&self) -> bool {
        self.linked
    }

    /// Messages about the linked shaders.
    pub(super) fn log(&self) -> String {
        // SAFETY: the string belongs to the handle and is copied.
        let log = unsafe { owned(sys::glslang_program_get_info_log(self.handle.as_ptr())) };
        with_failure(log, self.failure.as_ref())
    }

    /// The words of the only shader, with source lines; `None` and a [`log`](Self::log) if it is not linked, or cannot be
    /// written.
    pub(super) fn words(&mut self) -> Option<Vec<u32>> {
        let stage = self.shaders.first().filter(|_| self.linked)?.stage;
        let mut options = sys::glslang_spv_options_t {
            generate_debug_info: true,
            strip_debug_info: false,
            disable_optimizer: true,
            optimize_size: false,
            optimize_performance: false,
            disassemble: false,
            validate: false,
            emit_nonsemantic_shader_debug_info: false,
            emit_nonsemantic_shader_debug_source: false,
            compile_only: false,
            optimize_allow_expanded_id_bound: false,
            compiler_signature: std::ptr::null(),
            command_line_arguments: std::ptr::null(),
            current_working_directory: std::ptr::null(),
        };
        let at = self.handle.as_ptr();
        // SAFETY: the stage is one that was linked. The words are as many as glslang reports and are copied.
        let words = asserted(|| unsafe {
            fallible::glslang_program_SPIRV_generate_with_options(at, stage_of(stage), &raw mut options);
            let mut words = vec![0; sys::glslang_program_SPIRV_get_size(at)];
            sys::glslang_program_SPIRV_get(at, words.as_mut_ptr());
            words
        });
        words.map_err(|failure| self.failure = Some(failure)).ok()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the handle is this program's own and is not used again; its shaders are dropped behind it.
        unsafe { sys::glslang_program_delete(self.handle.as_ptr()) }
    }
}

/// An included file in the form that glslang expects; [`free_included`] frees it.
///
/// # Safety
/// `context` points to the [`Includes`] given to [`Shader::preprocess`], and the names are NUL-terminated strings.
unsafe fn included(
    context: *mut c_void,
    header: *const c_char,
    includer: *const c_char,
    depth: usize,
    local: bool,
) -> *mut sys::glsl_include_result_t {
    // SAFETY: the caller guarantees it; there is no other access to the includes while the preprocessor runs.
    let (includes, header, includer) =
        unsafe { (&mut *context.cast::<Includes<'_>>(), owned(header), owned(includer)) };
    let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        includes.find(&header, &includer, depth, local)
    }));
    let (name, data) = match found {
        Ok(Ok((name, text))) => (name, text),
        // An empty name means that there is no file; the text is then the message.
        Ok(Err(message)) => (String::new(), message),
        Err(_) => (String::new(), "the file could not be read".to_owned()),
    };
    let data: Box<[u8]> = data.into_bytes().into();
    let length = data.len();
    Box::into_raw(Box::new(sys::glsl_include_result_t {
        header_name: CString::new(name).unwrap_or_default().into_raw(),
        header_data: Box::into_raw(data).cast::<c_char>(),
        header_length: length,
    }))
}

unsafe extern "C" fn include_local(
    context: *mut c_void,
    header: *const c_char,
    includer: *const c_char,
    depth: usize,
) -> *mut sys::glsl_include_result_t {
    // SAFETY: glslang hands on the context of the input, and names.
    unsafe { included(context, header, includer, depth, true) }
}

unsafe extern "C" fn include_system(
    context: *mut c_void,
    header: *const c_char,
    includer: *const c_char,
    depth: usize,
) -> *mut sys::glsl_include_result_t {
    // SAFETY: glslang hands on the context of the input, and names.
    unsafe { included(context, header, includer, depth, false) }
}

unsafe extern "C" fn free_included(_context: *mut c_void, result: *mut sys::glsl_include_result_t) -> std::ffi::c_int {
    // SAFETY: this is what `included` made, given back once; the boxes are those it was made of.
    unsafe {
        let result = Box::from_raw(result);
        drop(CString::from_raw(result.header_name.cast_mut()));
        let data = std::ptr::slice_from_raw_parts_mut(result.header_data.cast_mut().cast::<u8>(), result.header_length);
        drop(Box::from_raw(data));
    }
    0
}
