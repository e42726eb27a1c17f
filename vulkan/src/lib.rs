//! VBC shaders on Vulkan.
