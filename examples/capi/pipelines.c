// An engine draws a triangle through a stencil, with four samples per pixel: the first pipeline is the library's, the
// second is created here from the program's shader stages and layout. examples/pipelines is the same in Rust.
//
//   cc -std=c99 examples/capi/pipelines.c -Ivulkan/capi/include -Ltarget/release -lskrymir_capi -lvulkan -o pipelines
//   ./pipelines tests/data/vbc/triangle.vbc out.ppm

#include <skrymir.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

enum { SIZE = 256 };

static const VkFormat COLOR = VK_FORMAT_R8G8B8A8_UNORM;
static const VkSampleCountFlagBits SAMPLES = VK_SAMPLE_COUNT_4_BIT;

// The mask, and what is seen through it: a triangle over all of the picture. Position, colour.
static const float VERTICES[6][5] = {
    {0.0f, -0.8f, 0.0f, 0.0f, 0.0f},  {0.8f, 0.8f, 0.0f, 0.0f, 0.0f},   {-0.8f, 0.8f, 0.0f, 0.0f, 0.0f},
    {-1.0f, -1.0f, 1.0f, 0.0f, 0.0f}, {3.0f, -1.0f, -1.0f, 2.0f, 0.0f}, {-1.0f, 3.0f, -1.0f, 0.0f, 2.0f},
};

static void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void vulkan(VkResult result, const char *call) {
    if (result != VK_SUCCESS) fail(call, "failed");
}

static void skrymir(SkrymirResult result, const char *call) {
    if (result != SKRYMIR_RESULT_OK) fail(call, skrymir_error_message());
}

static VkInstance instance;
static VkPhysicalDevice physical;
static VkDevice device;
static VkQueue queue;

static VkPhysicalDeviceVulkan12Features features12 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
static VkPhysicalDeviceVulkan13Features features13 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};

static void open_device(void) {
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.apiVersion = VK_API_VERSION_1_3;
    VkInstanceCreateInfo of_instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    of_instance.pApplicationInfo = &application;
    vulkan(vkCreateInstance(&of_instance, NULL, &instance), "vkCreateInstance");
    uint32_t count = 1;
    VkResult found = vkEnumeratePhysicalDevices(instance, &count, &physical);
    if (count == 0 || found < 0) fail("vkEnumeratePhysicalDevices", "no device");
    features12.scalarBlockLayout = VK_TRUE;
    features13.dynamicRendering = VK_TRUE;
    features12.pNext = &features13;
    float priority = 1.0f;
    VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queues.queueCount = 1;
    queues.pQueuePriorities = &priority;
    VkDeviceCreateInfo of_device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    of_device.pNext = &features12;
    of_device.queueCreateInfoCount = 1;
    of_device.pQueueCreateInfos = &queues;
    vulkan(vkCreateDevice(physical, &of_device, NULL, &device), "vkCreateDevice");
    vkGetDeviceQueue(device, 0, 0, &queue);
    features12.pNext = NULL;
}

static VkDeviceMemory allocate(VkMemoryRequirements needs, VkMemoryPropertyFlags flags) {
    VkPhysicalDeviceMemoryProperties kinds;
    vkGetPhysicalDeviceMemoryProperties(physical, &kinds);
    uint32_t kind = 0;
    while (kind < kinds.memoryTypeCount && (!(needs.memoryTypeBits & 1u << kind) ||
                                            (kinds.memoryTypes[kind].propertyFlags & flags) != flags)) {
        ++kind;
    }
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    info.allocationSize = needs.size;
    info.memoryTypeIndex = kind;
    VkDeviceMemory memory;
    vulkan(vkAllocateMemory(device, &info, NULL, &memory), "vkAllocateMemory");
    return memory;
}

typedef struct Buffer {
    VkBuffer raw;
    VkDeviceMemory memory;
    uint8_t *bytes;
} Buffer;

static Buffer create_buffer(size_t size, VkBufferUsageFlags usage) {
    Buffer buffer;
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = size;
    info.usage = usage;
    vulkan(vkCreateBuffer(device, &info, NULL, &buffer.raw), "vkCreateBuffer");
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, buffer.raw, &needs);
    buffer.memory = allocate(needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    vulkan(vkBindBufferMemory(device, buffer.raw, buffer.memory, 0), "vkBindBufferMemory");
    void *mapped;
    vulkan(vkMapMemory(device, buffer.memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    buffer.bytes = mapped;
    return buffer;
}

static void destroy_buffer(Buffer buffer) {
    vkDestroyBuffer(device, buffer.raw, NULL);
    vkFreeMemory(device, buffer.memory, NULL);
}

typedef struct Image {
    VkImage raw;
    VkDeviceMemory memory;
    VkImageView view;
    VkImageSubresourceRange range;
} Image;

static Image create_image(VkFormat format, VkSampleCountFlagBits samples, VkImageUsageFlags usage, VkImageAspectFlags aspect) {
    Image image;
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = format;
    info.extent.width = info.extent.height = SIZE;
    info.extent.depth = info.mipLevels = info.arrayLayers = 1;
    info.samples = samples;
    info.usage = usage;
    vulkan(vkCreateImage(device, &info, NULL, &image.raw), "vkCreateImage");
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(device, image.raw, &needs);
    image.memory = allocate(needs, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    vulkan(vkBindImageMemory(device, image.raw, image.memory, 0), "vkBindImageMemory");
    VkImageSubresourceRange range = {aspect, 0, 1, 0, 1};
    image.range = range;
    VkImageViewCreateInfo of_view = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
    of_view.image = image.raw;
    of_view.viewType = VK_IMAGE_VIEW_TYPE_2D;
    of_view.format = format;
    of_view.subresourceRange = range;
    vulkan(vkCreateImageView(device, &of_view, NULL, &image.view), "vkCreateImageView");
    return image;
}

static void destroy_image(Image image) {
    vkDestroyImageView(device, image.view, NULL);
    vkDestroyImage(device, image.raw, NULL);
    vkFreeMemory(device, image.memory, NULL);
}

static void turn(VkCommandBuffer commands, const Image *image, VkImageLayout from, VkImageLayout to, VkAccessFlags before,
                 VkAccessFlags after) {
    VkImageMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
    barrier.srcAccessMask = before;
    barrier.dstAccessMask = after;
    barrier.oldLayout = from;
    barrier.newLayout = to;
    barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    barrier.image = image->raw;
    barrier.subresourceRange = image->range;
    VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    vkCmdPipelineBarrier(commands, all, all, 0, 0, NULL, 0, NULL, 1, &barrier);
}

// A device has one of these two.
static VkFormat stencil_format(void) {
    VkFormatProperties properties;
    vkGetPhysicalDeviceFormatProperties(physical, VK_FORMAT_D32_SFLOAT_S8_UINT, &properties);
    return properties.optimalTilingFeatures & VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT
               ? VK_FORMAT_D32_SFLOAT_S8_UINT
               : VK_FORMAT_D24_UNORM_S8_UINT;
}

static VkStencilOpState face(VkStencilOp pass, VkCompareOp compare) {
    VkStencilOpState state = {VK_STENCIL_OP_KEEP, pass, VK_STENCIL_OP_KEEP, compare, 0xff, 0xff, 1};
    return state;
}

// The library's pipeline: the stencil becomes the reference, which the command buffer sets; no colour is written.
static SkrymirPipeline *mask_pipeline(const SkrymirProgram *program, VkFormat stencil) {
    VkPipelineColorBlendAttachmentState unwritten = {0};
    VkDynamicState reference = VK_DYNAMIC_STATE_STENCIL_REFERENCE;
    SkrymirPipelineInfo info = {0};
    info.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    info.color_count = 1;
    info.color_formats = &COLOR;
    info.stencil_format = stencil;
    info.stencil_test = VK_TRUE;
    info.stencil_front = info.stencil_back = face(VK_STENCIL_OP_REPLACE, VK_COMPARE_OP_ALWAYS);
    info.samples = SAMPLES;
    info.blend_attachment_count = 1;
    info.blend_attachments = &unwritten;
    info.dynamic_state_count = 1;
    info.dynamic_states = &reference;
    SkrymirPipeline *pipeline;
    skrymir(skrymir_pipeline_create(program, &info, &pipeline), "mask");
    return pipeline;
}

// The engine's own pipeline, of the program's stages, vertex input and layout: it draws where the stencil is 1.
static VkPipeline own_pipeline(const SkrymirProgram *program, VkFormat stencil) {
    VkPipelineShaderStageCreateInfo stages[2];
    VkVertexInputBindingDescription bindings[1];
    VkVertexInputAttributeDescription attributes[2];
    uint32_t stage_count = 2, binding_count = 1, attribute_count = 2;
    skrymir(skrymir_program_shader_stages(program, &stage_count, stages), "stages");
    skrymir(skrymir_program_vertex_input(program, SKRYMIR_VERTEX_BUFFERS_INTERLEAVED, &binding_count, bindings,
                                         &attribute_count, attributes),
            "vertex input");
    VkPipelineVertexInputStateCreateInfo vertex = {.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    vertex.vertexBindingDescriptionCount = binding_count;
    vertex.pVertexBindingDescriptions = bindings;
    vertex.vertexAttributeDescriptionCount = attribute_count;
    vertex.pVertexAttributeDescriptions = attributes;
    VkPipelineInputAssemblyStateCreateInfo assembly = {.sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    VkPipelineViewportStateCreateInfo viewport = {.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
    viewport.viewportCount = viewport.scissorCount = 1;
    VkPipelineRasterizationStateCreateInfo raster = {.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
    raster.lineWidth = 1.0f;
    VkPipelineMultisampleStateCreateInfo samples = {.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
    samples.rasterizationSamples = SAMPLES;
    VkPipelineDepthStencilStateCreateInfo depth = {.sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
    depth.stencilTestEnable = VK_TRUE;
    depth.front = depth.back = face(VK_STENCIL_OP_KEEP, VK_COMPARE_OP_EQUAL);
    VkPipelineColorBlendAttachmentState written = {0};
    written.colorWriteMask = 0xf;
    VkPipelineColorBlendStateCreateInfo blend = {.sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
    blend.attachmentCount = 1;
    blend.pAttachments = &written;
    VkDynamicState states[2] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    VkPipelineDynamicStateCreateInfo dynamic = {.sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};
    dynamic.dynamicStateCount = 2;
    dynamic.pDynamicStates = states;
    VkPipelineRenderingCreateInfo rendering = {.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
    rendering.colorAttachmentCount = 1;
    rendering.pColorAttachmentFormats = &COLOR;
    rendering.stencilAttachmentFormat = stencil;
    VkGraphicsPipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
    info.pNext = &rendering;
    info.stageCount = stage_count;
    info.pStages = stages;
    info.pVertexInputState = &vertex;
    info.pInputAssemblyState = &assembly;
    info.pViewportState = &viewport;
    info.pRasterizationState = &raster;
    info.pMultisampleState = &samples;
    info.pDepthStencilState = &depth;
    info.pColorBlendState = &blend;
    info.pDynamicState = &dynamic;
    info.layout = skrymir_program_pipeline_layout(program);
    VkPipeline pipeline;
    vulkan(vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline), "vkCreateGraphicsPipelines");
    return pipeline;
}

static void record(VkCommandBuffer commands, const Image *color, const Image *stencil, const Image *picture, VkBuffer vertices,
                   VkPipeline mask, VkPipeline own) {
    VkImageLayout undefined = VK_IMAGE_LAYOUT_UNDEFINED, drawn = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
    VkImageLayout tested = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
    VkAccessFlags write = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
    turn(commands, color, undefined, drawn, 0, write);
    turn(commands, picture, undefined, drawn, 0, write);
    turn(commands, stencil, undefined, tested, 0,
         VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_READ_BIT | VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT);
    VkRenderingAttachmentInfo colors = {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    colors.imageView = color->view;
    colors.imageLayout = drawn;
    colors.resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT;
    colors.resolveImageView = picture->view;
    colors.resolveImageLayout = drawn;
    colors.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    colors.storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
    float grey[4] = {0.1f, 0.1f, 0.1f, 1.0f};
    memcpy(colors.clearValue.color.float32, grey, sizeof grey);
    VkRenderingAttachmentInfo stencils = {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    stencils.imageView = stencil->view;
    stencils.imageLayout = tested;
    stencils.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    stencils.storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
    VkRenderingInfo rendering = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO};
    rendering.renderArea.extent.width = rendering.renderArea.extent.height = SIZE;
    rendering.layerCount = 1;
    rendering.colorAttachmentCount = 1;
    rendering.pColorAttachments = &colors;
    rendering.pStencilAttachment = &stencils;
    VkViewport viewport = {0.0f, 0.0f, SIZE, SIZE, 0.0f, 1.0f};
    VkDeviceSize offset = 0;
    vkCmdBeginRendering(commands, &rendering);
    vkCmdSetViewport(commands, 0, 1, &viewport);
    vkCmdSetScissor(commands, 0, 1, &rendering.renderArea);
    vkCmdBindVertexBuffers(commands, 0, 1, &vertices, &offset);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, mask);
    vkCmdSetStencilReference(commands, VK_STENCIL_FACE_FRONT_AND_BACK, 1);
    vkCmdDraw(commands, 3, 1, 0, 0);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, own);
    vkCmdDraw(commands, 3, 1, 3, 0);
    vkCmdEndRendering(commands);
    turn(commands, picture, drawn, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, write, VK_ACCESS_TRANSFER_READ_BIT);
}

static void draw(const SkrymirProgram *program, const Buffer *pixels) {
    VkFormat format = stencil_format();
    VkImageUsageFlags attachment = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    Image color = create_image(COLOR, SAMPLES, attachment, VK_IMAGE_ASPECT_COLOR_BIT);
    Image stencil = create_image(format, SAMPLES, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT,
                                 VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT);
    Image picture = create_image(COLOR, VK_SAMPLE_COUNT_1_BIT, attachment | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                                 VK_IMAGE_ASPECT_COLOR_BIT);
    Buffer vertices = create_buffer(sizeof VERTICES, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT);
    memcpy(vertices.bytes, VERTICES, sizeof VERTICES);
    SkrymirPipeline *mask = mask_pipeline(program, format);
    VkPipeline own = own_pipeline(program, format);
    VkCommandPoolCreateInfo of_pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandPool pool;
    vulkan(vkCreateCommandPool(device, &of_pool, NULL, &pool), "vkCreateCommandPool");
    VkCommandBufferAllocateInfo of_commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    of_commands.commandPool = pool;
    of_commands.commandBufferCount = 1;
    VkCommandBuffer commands;
    vulkan(vkAllocateCommandBuffers(device, &of_commands, &commands), "vkAllocateCommandBuffers");
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    vulkan(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    record(commands, &color, &stencil, &picture, vertices.raw, skrymir_pipeline_handle(mask), own);
    VkBufferImageCopy copy = {0};
    copy.imageSubresource.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT;
    copy.imageSubresource.layerCount = 1;
    copy.imageExtent.width = copy.imageExtent.height = SIZE;
    copy.imageExtent.depth = 1;
    vkCmdCopyImageToBuffer(commands, picture.raw, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, pixels->raw, 1, &copy);
    vulkan(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO};
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    vulkan(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
    vulkan(vkQueueWaitIdle(queue), "vkQueueWaitIdle");
    vkDestroyCommandPool(device, pool, NULL);
    vkDestroyPipeline(device, own, NULL);
    skrymir_pipeline_destroy(mask);
    destroy_buffer(vertices);
    destroy_image(picture);
    destroy_image(stencil);
    destroy_image(color);
}

int main(int count, char **arguments) {
    static uint8_t bytes[1 << 20];
    if (count != 3) fail("usage", "pipelines triangle.vbc OUT.ppm");
    FILE *file = fopen(arguments[1], "rb");
    if (!file) fail(arguments[1], "cannot be read");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);

    open_device();
    SkrymirDeviceInfo info = {0};
    info.get_instance_proc_addr = vkGetInstanceProcAddr;
    info.instance = instance;
    info.physical_device = physical;
    info.device = device;
    info.features12 = &features12;
    info.features13 = &features13;
    SkrymirContext *context;
    SkrymirShader *shader;
    SkrymirProgram *program;
    skrymir(skrymir_context_create(&info, &context), "context");
    skrymir(skrymir_shader_load(bytes, size, &shader), "load");
    skrymir(skrymir_program_create(context, shader, &program), "program");
    Buffer pixels = create_buffer((size_t)SIZE * SIZE * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    draw(program, &pixels);

    file = fopen(arguments[2], "wb");
    if (!file) fail(arguments[2], "cannot be written");
    fprintf(file, "P6\n%d %d\n255\n", SIZE, SIZE);
    for (size_t pixel = 0; pixel < (size_t)SIZE * SIZE; ++pixel) fwrite(pixels.bytes + pixel * 4, 1, 3, file);
    if (fclose(file) != 0) fail(arguments[2], "cannot be written");
    printf("picture: %s (Skrymir %s)\n", arguments[2], skrymir_version());

    skrymir_program_destroy(program);
    skrymir_shader_destroy(shader);
    skrymir_context_destroy(context);
    destroy_buffer(pixels);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(instance, NULL);
    return 0;
}
