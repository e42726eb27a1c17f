//! Files: loading, validation, reflection.

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
/// `bytes` points to `size` bytes, `shader` to writable memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_shader_load(bytes: *const u8, size: usize, shader: *mut *mut Shader) -> Result {
    border(|| {
        // SAFETY: guaranteed by the caller.
        let bytes = unsafe { slice(bytes, size, "bytes") }?;
        // SAFETY: guaranteed by the caller.
        unsafe {
            put_object(shader, "shader", || {
                vbc::read(bytes)?;
                Ok(Shader { bytes: bytes.to_vec() })
            })
        }
    })
}

/// Checks every rule of the format; SKRYMIR_RESULT_INVALID if one is broken. `report` may be NULL; otherwise it
/// receives all findings, including warnings, one per line (free it with `skrymir_string_free`), for valid and invalid
/// files.
///
/// # Safety
/// `shader` is valid; `report` is NULL or points to writable memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_shader_validate(shader: *const Shader, report: *mut *mut c_char) -> Result {
    border(|| {
        // SAFETY: guaranteed by the caller.
        let file = unsafe { given(shader, "shader") }?.read()?;
        let findings = vbc::validate(&file);
        if !report.is_null() {
            let lines = findings.diagnostics.iter().map(|finding| format!("{finding}\n"));
            let text = c_string(lines.collect());
            // SAFETY: guaranteed by the caller; it is not NULL.
            unsafe { report.write(text.into_raw()) };
        }
        Ok(findings.accept(vbc::FORMAT)?)
    })
}

/// The shader's reflection as JSON, with the schema that `skrymir reflect --schema` prints; free it with
/// `skrymir_string_free`.
///
/// # Safety
/// `shader` is valid; `json` points to writable memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_shader_reflect(shader: *const Shader, json: *mut *mut c_char) -> Result {
    border(|| {
        // SAFETY: guaranteed by the caller.
        let shader = unsafe { given(shader, "shader") }?;
        // SAFETY: guaranteed by the caller.
        unsafe {
            put(json, "json", || {
                let text = serde_json::to_string_pretty(&shader.reflection()?);
                let text = text.map_err(|error| Failure(Result::Unsupported, error.to_string()))?;
                Ok(c_string(text).into_raw())
            })
        }
    })
}

/// Size of the uniform block (set 1, binding 0) in bytes; 0 if the shader has none.
///
/// # Safety
/// `shader` is valid; `size` points to writable memory for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_shader_uniform_size(shader: *const Shader, size: *mut u32) -> Result {
    border(|| {
        // SAFETY: guaranteed by the caller.
        let shader = unsafe { given(shader, "shader") }?;
        // SAFETY: guaranteed by the caller.
        unsafe {
            put(size, "size", || {
                Ok(shader.read()?.uniform().map_or(0, |uniform| uniform.size))
            })
        }
    })
}

/// The layout of a member of the uniform block, by its name in the source.
///
/// # Safety
/// `shader` is valid; `name` is NUL-terminated; `member` points to writable memory for a member.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_shader_uniform_member(
    shader: *const Shader,
    name: *const c_char,
    member: *mut UniformMember,
) -> Result {
    border(|| {
        // SAFETY: guaranteed by the caller.
        let shader = unsafe { given(shader, "shader") }?;
        // SAFETY: guaranteed by the caller.
        unsafe { given(name, "name") }?;
        // SAFETY: guaranteed by the caller; it is not NULL.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        // SAFETY: guaranteed by the caller.
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

/// Destroys a shader; programs created from it remain valid.
///
/// # Safety
/// NULL, or valid and not used by another thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_shader_destroy(shader: *mut Shader) {
    // SAFETY: guaranteed by the caller.
    unsafe { destroy(shader) }
}
