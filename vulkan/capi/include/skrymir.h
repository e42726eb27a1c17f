// The C interface of Skrymir: VBC shaders on a Vulkan device of the caller's.
//
// Every function that can fail returns a SkrymirResult; skrymir_error_message has the words. Whatever a function makes
// is destroyed by the function of its name, in any order, NULL being ignored; the caller's VkInstance and VkDevice must
// outlive all of it. Objects do not change once they are made: any number of threads may use one at once.
//
// Made by cbindgen from vulkan/capi/src; a test holds it equal.

#ifndef SKRYMIR_H
#define SKRYMIR_H

#include <stddef.h>
#include <stdint.h>
#include "vulkan/vulkan_core.h"

// The slot of a descriptor that belongs to none.
#define SKRYMIR_NO_SLOT UINT32_MAX

// How a call ended.
typedef enum SkrymirResult {
  // It did what it says.
  SKRYMIR_RESULT_OK = 0,
  // A list has more elements than there was room for; those that fit were written.
  SKRYMIR_RESULT_INCOMPLETE = 1,
  // An argument is NULL, no known number, or does not go with the others.
  SKRYMIR_RESULT_ARGUMENT = 2,
  // The file breaks its format.
  SKRYMIR_RESULT_INVALID = 3,
  // The file is good; this library or the device cannot do what it asks for.
  SKRYMIR_RESULT_UNSUPPORTED = 4,
  // What is asked for is not in the file.
  SKRYMIR_RESULT_NOT_FOUND = 5,
  // A call of Vulkan failed.
  SKRYMIR_RESULT_VULKAN = 6,
  // There is no memory on the device.
  SKRYMIR_RESULT_MEMORY = 7,
  // A mistake in this library; the objects involved are best destroyed.
  SKRYMIR_RESULT_PANIC = 8,
} SkrymirResult;

// How a fragment's colour meets the one in the picture.
typedef enum SkrymirBlend {
  // It replaces it.
  SKRYMIR_BLEND_NONE = 0,
  // Source over.
  SKRYMIR_BLEND_ALPHA = 1,
  // Source over with colour multiplied by alpha already.
  SKRYMIR_BLEND_PREMULTIPLIED = 2,
  // Sum.
  SKRYMIR_BLEND_ADDITIVE = 3,
  // Product.
  SKRYMIR_BLEND_MULTIPLY = 4,
} SkrymirBlend;

// How vertices lie in buffers.
typedef enum SkrymirVertexBuffers {
  // All inputs that the file declares in one buffer at binding 0.
  SKRYMIR_VERTEX_BUFFERS_INTERLEAVED = 0,
  // Each input that the code reads in a buffer of its own, tightly packed.
  SKRYMIR_VERTEX_BUFFERS_SEPARATE = 1,
} SkrymirVertexBuffers;

// The caller's device, ready for programs.
typedef struct SkrymirContext SkrymirContext;

// A graphics pipeline on the caller's device.
typedef struct SkrymirPipeline SkrymirPipeline;

// Modules, descriptor set layouts and the pipeline layout of a shader on a device.
typedef struct SkrymirProgram SkrymirProgram;

// A loaded VBC file.
typedef struct SkrymirShader SkrymirShader;

// One member of a shader's uniform block.
typedef struct SkrymirUniformMember {
  // Bytes from the start of the block.
  uint32_t offset;
  // Bytes.
  uint32_t size;
  // Rows: the length of a vector.
  uint32_t rows;
  // Columns of a matrix, else 1.
  uint32_t columns;
  // Elements of an array, else 1.
  uint32_t array;
  // Bytes from one column to the next.
  uint32_t matrix_stride;
  // Bytes from one element to the next.
  uint32_t array_stride;
} SkrymirUniformMember;

// A device of the caller's, Vulkan 1.2 or later, and the features that it was created with. Features may be NULL where
// none of that structure were switched on; those of extensions count under the core structure that took them in.
// `scalarBlockLayout` is needed by every shader with a block.
typedef struct SkrymirDeviceInfo {
  // vkGetInstanceProcAddr.
  PFN_vkGetInstanceProcAddr get_instance_proc_addr;
  // The instance.
  VkInstance instance;
  // The device's physical device.
  VkPhysicalDevice physical_device;
  // The device.
  VkDevice device;
  // Core features.
  const VkPhysicalDeviceFeatures *features;
  // Features of Vulkan 1.1.
  const VkPhysicalDeviceVulkan11Features *features11;
  // Features of Vulkan 1.2.
  const VkPhysicalDeviceVulkan12Features *features12;
  // Features of Vulkan 1.3.
  const VkPhysicalDeviceVulkan13Features *features13;
} SkrymirDeviceInfo;

// One binding of a program's set layouts.
typedef struct SkrymirDescriptor {
  // Descriptor set: 0 for slots, 1 for the uniform block, 2 for subpass inputs.
  uint32_t set;
  // Binding in the set; in set 0 that is the slot.
  uint32_t binding;
  // What is bound.
  VkDescriptorType descriptor_type;
  // Descriptors.
  uint32_t count;
  // Stages that use it.
  VkShaderStageFlags stages;
  // The slot of the file's tables that it is, or SKRYMIR_NO_SLOT.
  uint32_t slot;
} SkrymirDescriptor;

// What a pipeline is made for. All zeros but for topology and target is a good start. Viewport and scissor are
// dynamic; counter-clockwise triangles are front faces.
typedef struct SkrymirPipelineInfo {
  // What vertices form.
  VkPrimitiveTopology topology;
  // Control points of a patch; of patches alone.
  uint32_t patch_control_points;
  // Sides that are not drawn: none, front or back.
  VkCullModeFlags cull_mode;
  // A SkrymirBlend, for every target that is not of integers.
  uint32_t blend;
  // A SkrymirVertexBuffers.
  uint32_t vertex_buffers;
  // Whether depth is tested.
  VkBool32 depth_test;
  // Whether fragments that pass store their depth.
  VkBool32 depth_write;
  // When a fragment passes.
  VkCompareOp depth_compare;
  // The render pass; VK_NULL_HANDLE for dynamic rendering, which the device must have switched on.
  VkRenderPass render_pass;
  // The subpass of the render pass.
  uint32_t subpass;
  // Colour attachments of the subpass, or of the rendering.
  uint32_t color_count;
  // Their formats, for dynamic rendering.
  const VkFormat *color_formats;
  // The depth attachment's format, for dynamic rendering; VK_FORMAT_UNDEFINED without.
  VkFormat depth_format;
} SkrymirPipelineInfo;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The words of the last failure on this thread, in UTF-8; empty before the first. They stay until the next call on
// this thread that fails.
const char *skrymir_error_message(void);

// The library's version, such as "0.1.0".
const char *skrymir_version(void);

// Frees a text that a function of this library gave.
//
// # Safety
// NULL, or such a text that has not been freed.
void skrymir_string_free(char *text);

// Loads a VBC file from memory; the bytes are copied.
//
// # Safety
// `bytes` points to `size` bytes, `shader` to a place for a pointer.
enum SkrymirResult skrymir_shader_load(const uint8_t *bytes,
                                       size_t size,
                                       struct SkrymirShader **shader);

// Tests every rule of the format. SKRYMIR_RESULT_INVALID where one is broken. `report` may be NULL; else it gets all
// findings, warnings too, a line each (for `skrymir_string_free`), whether the file is valid or not.
//
// # Safety
// `shader` is alive; `report` is NULL or points to a place for a pointer.
enum SkrymirResult skrymir_shader_validate(const struct SkrymirShader *shader,
                                           char **report);

// What an engine needs to know of the shader, as JSON by the schema that `skrymir reflect --schema` prints; for
// `skrymir_string_free`.
//
// # Safety
// `shader` is alive; `json` points to a place for a pointer.
enum SkrymirResult skrymir_shader_reflect(const struct SkrymirShader *shader,
                                          char **json);

// Bytes of the uniform block (set 1, binding 0); 0 where the shader has none.
//
// # Safety
// `shader` is alive; `size` points to a place for a number.
enum SkrymirResult skrymir_shader_uniform_size(const struct SkrymirShader *shader, uint32_t *size);

// Where a member of the uniform block lies, by its name in the source.
//
// # Safety
// `shader` is alive; `name` ends with NUL; `member` points to a place for a member.
enum SkrymirResult skrymir_shader_uniform_member(const struct SkrymirShader *shader,
                                                 const char *name,
                                                 struct SkrymirUniformMember *member);

// Destroys a shader; programs made from it stay.
//
// # Safety
// NULL, or alive and used by no other thread.
void skrymir_shader_destroy(struct SkrymirShader *shader);

// Takes the caller's device for making programs; it stays the caller's. Nothing is submitted to its queues, and no
// device memory is taken.
//
// # Safety
// `device` is NULL or its handles are alive and belong together, the features are those that it was created with, and
// it outlives everything made from the context. `context` points to a place for a pointer.
enum SkrymirResult skrymir_context_create(const struct SkrymirDeviceInfo *device,
                                          struct SkrymirContext **context);

// Destroys a context; the caller's device stays, and what was made from the context too.
//
// # Safety
// NULL, or alive and used by no other thread.
void skrymir_context_destroy(struct SkrymirContext *context);

// Makes a shader's modules and layouts: an ordinary descriptor for each slot that the code uses (set 0, binding =
// slot), the uniform block (set 1, binding 0), subpass inputs (set 2), no push constants. A file that breaks a rule of
// its format is refused, and so is one that the device lacks a feature or the room for; drivers trust what they get.
//
// # Safety
// `context` and `shader` are alive; `program` points to a place for a pointer.
enum SkrymirResult skrymir_program_create(const struct SkrymirContext *context,
                                          const struct SkrymirShader *shader,
                                          struct SkrymirProgram **program);

// The pipeline layout, the program's own; VK_NULL_HANDLE for NULL.
//
// # Safety
// NULL or alive.
VkPipelineLayout skrymir_program_pipeline_layout(const struct SkrymirProgram *program);

// The descriptor set layouts by set, the program's own: without a place their number, else as many as there is room
// for, as Vulkan gives lists. Sets that nothing is in have a layout without bindings.
//
// # Safety
// `program` is alive; `count` points to a number, `layouts` is NULL or has room for as many.
enum SkrymirResult skrymir_program_set_layouts(const struct SkrymirProgram *program,
                                               uint32_t *count,
                                               VkDescriptorSetLayout *layouts);

// The bindings of all set layouts, ascending: without a place their number, else as many as there is room for.
//
// # Safety
// `program` is alive; `count` points to a number, `descriptors` is NULL or has room for as many.
enum SkrymirResult skrymir_program_descriptors(const struct SkrymirProgram *program,
                                               uint32_t *count,
                                               struct SkrymirDescriptor *descriptors);

// Destroys a program; pipelines made from it stay, and hold what they need.
//
// # Safety
// NULL, or alive and used by no other thread; no set made with its layouts is in use.
void skrymir_program_destroy(struct SkrymirProgram *program);

// Makes a pipeline. The program may be destroyed before it.
//
// # Safety
// `program` is alive; `info` is NULL or what it points to is of the program's device; `pipeline` points to a place for
// a pointer.
enum SkrymirResult skrymir_pipeline_create(const struct SkrymirProgram *program,
                                           const struct SkrymirPipelineInfo *info,
                                           struct SkrymirPipeline **pipeline);

// The pipeline, for vkCmdBindPipeline; VK_NULL_HANDLE for NULL.
//
// # Safety
// NULL or alive.
VkPipeline skrymir_pipeline_handle(const struct SkrymirPipeline *pipeline);

// Destroys a pipeline.
//
// # Safety
// NULL, or alive, used by no other thread, and by no work that the device has yet to do.
void skrymir_pipeline_destroy(struct SkrymirPipeline *pipeline);

// Where a pipeline fetches its vertices from, by a SkrymirVertexBuffers: two lists, each as Vulkan gives lists. Either
// may be left out by a NULL count.
//
// # Safety
// `program` is alive; a count is NULL or points to a number, and the list behind it is NULL or has room for as many.
enum SkrymirResult skrymir_program_vertex_input(const struct SkrymirProgram *program,
                                                uint32_t vertex_buffers,
                                                uint32_t *binding_count,
                                                VkVertexInputBindingDescription *bindings,
                                                uint32_t *attribute_count,
                                                VkVertexInputAttributeDescription *attributes);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SKRYMIR_H */
