//! Files: loading, checking, describing.

use crate::border::{Failure, Result, border, c_string, destroy, given, put, put_object, slice};
use loader::reflect::{Reflection, reflect};
use loader::vbc;
use std::ffi::{CStr, c_char};

/// A loaded VBC file.
pub struct Shader {
    bytes: Vec<u8>,
}

impl Shader {
    pub(crate) fn read(&self) -> std::result::Result<vbc::Vbc<'_>, Failure> {
        Ok(vbc::read(&self.bytes)?)
    }

    fn reflection(&self) -> std::result::Result<Reflection, Failure> {
        Ok(reflect(&self.read()?))
    }
}

/// One member of a shader's uniform block.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UniformMember {
    /// Bytes from the start of the block.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// Rows: the length of a vector.
    pub rows: u32,
    /// Columns of a matrix, else 1.
    pub columns: u32,
    /// Elements of an array, else 1.
    pub array: u32,
    /// Bytes from one column to the next.
    pub matrix_stride: u32,
    /// Bytes from one element to the next.
    pub array_stride: u32,
}

/// Loads a VBC file from memory; the bytes are copied.
///
/// # Safety
/// `bytes` points to `size` bytes, `shader` to a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_shader_load(bytes: *const u8, size: usize, shader: *mut *mut Shader) -> Result {
    border(|| {
        // SAFETY: the caller's.
        let bytes = unsafe { slice(bytes, size, "bytes") }?;
        // SAFETY: the caller's.
        unsafe {
            put_object(shader, "shader", || {
                vbc::read(bytes)?;
                Ok(Shader { bytes: bytes.to_vec() })
            })
        }
    })
}

/// Tests every rule of the format. SKRYMIR_RESULT_INVALID where one is broken. `report` may be NULL; else it gets all
/// findings, warnings too, a line each (for `skrymir_string_free`), whether the file is valid or not.
///
/// # Safety
/// `shader` is alive; `report` is NULL or points to a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_shader_validate(shader: *const Shader, report: *mut *mut c_char) -> Result {
    border(|| {
        // SAFETY: the caller's.
        let file = unsafe { given(shader, "shader") }?.read()?;
        let findings = vbc::validate(&file);
        if !report.is_null() {
            let lines = findings.diagnostics.iter().map(|finding| format!("{finding}\n"));
            let text = c_string(lines.collect());
            // SAFETY: the caller's; it is not NULL.
            unsafe { report.write(text.into_raw()) };
        }
        Ok(findings.accept(vbc::FORMAT)?)
    })
}

/// What an engine needs to know of the shader, as JSON by the schema that `skrymir reflect --schema` prints; for
/// `skrymir_string_free`.
///
/// # Safety
/// `shader` is alive; `json` points to a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_shader_reflect(shader: *const Shader, json: *mut *mut c_char) -> Result {
    border(|| {
        // SAFETY: the caller's.
        let shader = unsafe { given(shader, "shader") }?;
        // SAFETY: the caller's.
        unsafe {
            put(json, "json", || {
                let text = serde_json::to_string_pretty(&shader.reflection()?);
                let text = text.map_err(|error| Failure(Result::Unsupported, error.to_string()))?;
                Ok(c_string(text).into_raw())
            })
        }
    })
}

/// Bytes of the uniform block (set 1, binding 0); 0 where the shader has none.
///
/// # Safety
/// `shader` is alive; `size` points to a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_shader_uniform_size(shader: *const Shader, size: *mut u32) -> Result {
    border(|| {
        // SAFETY: the caller's.
        let shader = unsafe { given(shader, "shader") }?;
        // SAFETY: the caller's.
        unsafe {
            put(size, "size", || {
                Ok(shader.read()?.uniform().map_or(0, |uniform| uniform.size))
            })
        }
    })
}

/// Where a member of the uniform block lies, by its name in the source.
///
/// # Safety
/// `shader` is alive; `name` ends with NUL; `member` points to a place for a member.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_shader_uniform_member(
    shader: *const Shader,
    name: *const c_char,
    member: *mut UniformMember,
) -> Result {
    border(|| {
        // SAFETY: the caller's.
        let shader = unsafe { given(shader, "shader") }?;
        // SAFETY: the caller's.
        unsafe { given(name, "name") }?;
        // SAFETY: the caller's; it is not NULL.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        // SAFETY: the caller's.
        unsafe { put(member, "member", || shader.member(&name)) }
    })
}

impl Shader {
    fn member(&self, name: &str) -> std::result::Result<UniformMember, Failure> {
        let members = self.reflection()?.uniform.map(|uniform| uniform.members);
        let found = members.iter().flatten().find(|member| member.name == name);
        let member = found.ok_or_else(|| {
            let message = format!("the shader has no uniform member \"{name}\"");
            Failure(Result::NotFound, message)
        })?;
        Ok(UniformMember {
            offset: member.offset,
            size: member.size,
            rows: member.rows,
            columns: member.columns,
            array: member.array,
            matrix_stride: member.matrix_stride,
            array_stride: member.array_stride,
        })
    }
}

/// Destroys a shader; programs made from it stay.
///
/// # Safety
/// NULL, or alive and used by no other thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_shader_destroy(shader: *mut Shader) {
    // SAFETY: the caller's.
    unsafe { destroy(shader) }
}
