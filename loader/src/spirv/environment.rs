//! Target environments: a version of SPIR-V alone, or an API that accepts SPIR-V up to some version, by the names that
//! SPIRV-Tools uses.

use std::fmt;

/// A target environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TargetEnv {
    name: &'static str,
    version: u32,
    api: Api,
}

/// The API whose rules apply in addition to SPIR-V's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Api {
    /// No API.
    None,
    /// Vulkan of this version, encoded as SPIR-V versions are: `0x10100` is 1.1.
    Vulkan(u32),
}

const fn row(name: &'static str, version: u32, api: Api) -> TargetEnv {
    TargetEnv { name, version, api }
}

impl TargetEnv {
    /// SPIR-V of any known version, without an API's rules.
    pub const UNIVERSAL: Self = row("spv1.6", 0x10600, Api::None);

    /// Every environment. Those of OpenCL and OpenGL are missing: their rules are not implemented.
    pub const ALL: &'static [Self] = &[
        row("spv1.0", 0x10000, Api::None),
        row("spv1.1", 0x10100, Api::None),
        row("spv1.2", 0x10200, Api::None),
        row("spv1.3", 0x10300, Api::None),
        row("spv1.4", 0x10400, Api::None),
        row("spv1.5", 0x10500, Api::None),
        Self::UNIVERSAL,
        row("vulkan1.0", 0x10000, Api::Vulkan(0x10000)),
        row("vulkan1.1", 0x10300, Api::Vulkan(0x10100)),
        row("vulkan1.1spv1.4", 0x10400, Api::Vulkan(0x10100)),
        row("vulkan1.2", 0x10500, Api::Vulkan(0x10200)),
        row("vulkan1.3", 0x10600, Api::Vulkan(0x10300)),
        row("vulkan1.4", 0x10600, Api::Vulkan(0x10400)),
    ];

    /// Looks up an environment by name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|env| env.name == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Latest SPIR-V version that it accepts, as in the header.
    pub fn version(self) -> u32 {
        self.version
    }

    /// The API whose rules apply.
    pub fn api(self) -> Api {
        self.api
    }
}

impl fmt::Display for TargetEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}
