//! Resolves `#include`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Limit on include depth.
const MAX_DEPTH: usize = 64;

/// Limit on the total size of included files.
const MAX_BYTES: usize = 64 << 20;

/// Search paths of included files, and the files found.
pub(super) struct Includes<'a> {
    /// The including text; files beside it are found first.
    path: &'a Path,
    folders: &'a [PathBuf],
    bytes: usize,
    /// The name of a file that exists but is rejected, and why.
    refused: Option<(String, String)>,
    /// Texts by the path that messages name.
    pub(super) found: HashMap<String, String>,
}

impl<'a> Includes<'a> {
    pub(super) fn new(path: &'a Path, folders: &'a [PathBuf]) -> Self {
        Self {
            path,
            folders,
            bytes: 0,
            refused: None,
            found: HashMap::new(),
        }
    }

    /// The path and the text of a file: `local` ones are searched beside the including file first, then in the folders
    /// in order.
    pub(super) fn find(
        &mut self,
        header: &str,
        includer: &str,
        depth: usize,
        local: bool,
    ) -> Result<(String, String), String> {
        if depth > MAX_DEPTH {
            return Err(format!("{header}: files include each other more than {MAX_DEPTH} deep"));
        }
        let includer = match self.found.contains_key(includer) {
            true => Path::new(includer),
            false => self.path,
        };
        let beside = includer.parent().filter(|_| local).map(Path::to_path_buf);
        for folder in beside.iter().chain(self.folders) {
            let path = folder.join(header);
            if !path.is_file() {
                continue;
            }
            let name = path.display().to_string();
            let bytes = std::fs::read(&path).map_err(|error| format!("{name}: {error}"))?;
            self.bytes = self.bytes.saturating_add(bytes.len());
            if self.bytes > MAX_BYTES {
                return Err(format!("{name}: included files exceed {MAX_BYTES} bytes in total"));
            }
            let text = String::from_utf8(bytes).map_err(|_| format!("{name}: this is not UTF-8"))?;
            if text.contains('\0') || name.contains(['\0', '"', '\n']) {
                return Err(format!("{name}: a character that no text or name may have"));
            }
            if let Err(error) = crate::nesting::check(crate::Language::Glsl, &text) {
                let message = format!("{name}: {error}");
                self.refused = Some((header.to_owned(), message.clone()));
                return Err(message);
            }
            self.found.insert(name.clone(), text.clone());
            return Ok((name, text));
        }
        // glslang searches local ones a second time like the others.
        if let Some((_, why)) = self.refused.as_ref().filter(|(name, _)| name == header) {
            return Err(why.clone());
        }
        let why = "no such file; folders to look in are named with -I";
        Err(format!("{header}: {why}"))
    }
}
