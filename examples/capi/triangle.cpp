// Draws a VBC shader off screen with a Vulkan of its own: the library makes layouts and pipeline, the rest is here.
//
//     triangle FILE.vbc OUT.ppm [--turned] [--forget]
//
// The shader takes in(0) float2 position and in(1) float3 colour; members of a uniform are 1. --turned draws another
// triangle, --forget destroys nothing that the library made: both are for tests, which must notice.

#include <skrymir.h>
#include <vulkan/vulkan.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr uint32_t kSize = 256;
constexpr VkFormat kFormat = VK_FORMAT_R8G8B8A8_UNORM;

[[noreturn]] void fail(const char *what, const char *why) {
    std::fprintf(stderr, "triangle: %s: %s\n", what, why);
    std::exit(1);
}

void check(SkrymirResult result, const char *what) {
    if (result != SKRYMIR_RESULT_OK) fail(what, skrymir_error_message());
}

void check(VkResult result, const char *what) {
    if (result != VK_SUCCESS) fail(what, std::to_string(result).c_str());
}

// What the program has of Vulkan before the library comes in.
struct Engine {
    VkInstance instance{};
    VkPhysicalDevice physical{};
    VkDevice device{};
    VkQueue queue{};
    VkPhysicalDeviceVulkan12Features v12{};
    VkPhysicalDeviceVulkan13Features v13{};

    Engine() {
        VkApplicationInfo application{};
        application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
        application.apiVersion = VK_API_VERSION_1_3;
        VkInstanceCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
        info.pApplicationInfo = &application;
        check(vkCreateInstance(&info, nullptr, &instance), "vkCreateInstance");
        uint32_t count = 1;
        const VkResult found = vkEnumeratePhysicalDevices(instance, &count, &physical);
        if ((found != VK_SUCCESS && found != VK_INCOMPLETE) || count == 0) fail("Vulkan", "no device");

        v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
        v12.scalarBlockLayout = VK_TRUE;
        v13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
        v13.pNext = &v12;
        v13.dynamicRendering = VK_TRUE;
        const float priority = 1.0F;
        VkDeviceQueueCreateInfo queues{};
        queues.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
        queues.queueCount = 1;
        queues.pQueuePriorities = &priority;
        VkDeviceCreateInfo create{};
        create.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
        create.pNext = &v13;
        create.queueCreateInfoCount = 1;
        create.pQueueCreateInfos = &queues;
        check(vkCreateDevice(physical, &create, nullptr, &device), "vkCreateDevice");
        vkGetDeviceQueue(device, 0, 0, &queue);
    }

    ~Engine() {
        vkDestroyDevice(device, nullptr);
        vkDestroyInstance(instance, nullptr);
    }

    Engine(const Engine &) = delete;
    Engine &operator=(const Engine &) = delete;

    VkDeviceMemory allocate(const VkMemoryRequirements &needs, VkMemoryPropertyFlags wanted) const {
        VkPhysicalDeviceMemoryProperties types;
        vkGetPhysicalDeviceMemoryProperties(physical, &types);
        VkMemoryAllocateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
        info.allocationSize = needs.size;
        for (uint32_t type = 0; type < types.memoryTypeCount; ++type) {
            const bool fits = (types.memoryTypes[type].propertyFlags & wanted) == wanted;
            if (fits && (needs.memoryTypeBits >> type & 1) != 0) {
                info.memoryTypeIndex = type;
                VkDeviceMemory memory{};
                check(vkAllocateMemory(device, &info, nullptr, &memory), "vkAllocateMemory");
                return memory;
            }
        }
        fail("memory", "no type fits");
    }
};

// A buffer in memory that both sides see.
struct Buffer {
    const Engine &engine;
    VkBuffer raw{};
    VkDeviceMemory memory{};
    uint8_t *bytes = nullptr;

    Buffer(const Engine &engine, VkDeviceSize size, VkBufferUsageFlags usage) : engine(engine) {
        VkBufferCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
        info.size = size;
        info.usage = usage;
        check(vkCreateBuffer(engine.device, &info, nullptr, &raw), "vkCreateBuffer");
        VkMemoryRequirements needs;
        vkGetBufferMemoryRequirements(engine.device, raw, &needs);
        memory = engine.allocate(needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
        check(vkBindBufferMemory(engine.device, raw, memory, 0), "vkBindBufferMemory");
        void *mapped = nullptr;
        check(vkMapMemory(engine.device, memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
        bytes = static_cast<uint8_t *>(mapped);
        std::memset(bytes, 0, static_cast<size_t>(size));
    }

    ~Buffer() {
        vkDestroyBuffer(engine.device, raw, nullptr);
        vkFreeMemory(engine.device, memory, nullptr);
    }

    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
};

// The picture.
struct Canvas {
    const Engine &engine;
    VkImage image{};
    VkDeviceMemory memory{};
    VkImageView view{};

    explicit Canvas(const Engine &engine) : engine(engine) {
        VkImageCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
        info.imageType = VK_IMAGE_TYPE_2D;
        info.format = kFormat;
        info.extent = {kSize, kSize, 1};
        info.mipLevels = 1;
        info.arrayLayers = 1;
        info.samples = VK_SAMPLE_COUNT_1_BIT;
        info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
        check(vkCreateImage(engine.device, &info, nullptr, &image), "vkCreateImage");
        VkMemoryRequirements needs;
        vkGetImageMemoryRequirements(engine.device, image, &needs);
        memory = engine.allocate(needs, 0);
        check(vkBindImageMemory(engine.device, image, memory, 0), "vkBindImageMemory");
        VkImageViewCreateInfo seen{};
        seen.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO;
        seen.image = image;
        seen.viewType = VK_IMAGE_VIEW_TYPE_2D;
        seen.format = kFormat;
        seen.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
        check(vkCreateImageView(engine.device, &seen, nullptr, &view), "vkCreateImageView");
    }

    ~Canvas() {
        vkDestroyImageView(engine.device, view, nullptr);
        vkDestroyImage(engine.device, image, nullptr);
        vkFreeMemory(engine.device, memory, nullptr);
    }

    Canvas(const Canvas &) = delete;
    Canvas &operator=(const Canvas &) = delete;

    void become(VkCommandBuffer commands, VkImageLayout from, VkImageLayout to) const {
        VkImageMemoryBarrier barrier{};
        barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER;
        barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
        barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
        barrier.oldLayout = from;
        barrier.newLayout = to;
        barrier.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
        barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
        barrier.image = image;
        barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
        const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
        vkCmdPipelineBarrier(commands, all, all, 0, 0, nullptr, 0, nullptr, 1, &barrier);
    }
};

// The library's part: from bytes to a pipeline.
struct Shader {
    SkrymirShader *shader = nullptr;
    SkrymirContext *context = nullptr;
    SkrymirProgram *program = nullptr;
    SkrymirPipeline *pipeline = nullptr;
    std::vector<VkDescriptorSetLayout> sets;
    bool forget;

    Shader(const Engine &engine, const std::vector<uint8_t> &bytes, bool forget) : forget(forget) {
        check(skrymir_shader_load(bytes.data(), bytes.size(), &shader), "load");
        check(skrymir_shader_validate(shader, nullptr), "validate");
        char *json = nullptr;
        check(skrymir_shader_reflect(shader, &json), "reflect");
        std::printf("reflection: %zu bytes of JSON\n", std::strlen(json));
        skrymir_string_free(json);

        SkrymirDeviceInfo device{};
        device.get_instance_proc_addr = vkGetInstanceProcAddr;
        device.instance = engine.instance;
        device.physical_device = engine.physical;
        device.device = engine.device;
        device.features12 = &engine.v12;
        device.features13 = &engine.v13;
        check(skrymir_context_create(&device, &context), "context");
        check(skrymir_program_create(context, shader, &program), "program");

        uint32_t count = 0;
        check(skrymir_program_set_layouts(program, &count, nullptr), "set layouts");
        sets.resize(count);
        check(skrymir_program_set_layouts(program, &count, sets.data()), "set layouts");

        SkrymirPipelineInfo info{};
        info.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
        info.vertex_buffers = SKRYMIR_VERTEX_BUFFERS_INTERLEAVED;
        info.color_count = 1;
        info.color_formats = &kFormat;
        check(skrymir_pipeline_create(program, &info, &pipeline), "pipeline");
    }

    ~Shader() {
        if (forget) return;
        skrymir_shader_destroy(shader);
        skrymir_context_destroy(context);
        skrymir_program_destroy(program);
        skrymir_pipeline_destroy(pipeline);
    }

    Shader(const Shader &) = delete;
    Shader &operator=(const Shader &) = delete;
};

// Three vertices as the pipeline fetches them: position and colour at the offsets that the library says.
std::vector<uint8_t> vertices(const Shader &shader, bool turned) {
    uint32_t one = 1;
    VkVertexInputBindingDescription binding{};
    check(skrymir_program_vertex_input(shader.program, SKRYMIR_VERTEX_BUFFERS_INTERLEAVED, &one, &binding, nullptr,
                                       nullptr),
          "vertex bindings");
    uint32_t count = 2;
    VkVertexInputAttributeDescription attributes[2];
    check(skrymir_program_vertex_input(shader.program, SKRYMIR_VERTEX_BUFFERS_INTERLEAVED, nullptr, nullptr, &count,
                                       attributes),
          "vertex attributes");
    const float sign = turned ? -1.0F : 1.0F;
    const float corners[3][2] = {{0.0F, -0.8F * sign}, {0.8F, 0.8F * sign}, {-0.8F, 0.8F * sign}};
    const float colors[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    std::vector<uint8_t> bytes(size_t{3} * binding.stride);
    for (size_t vertex = 0; vertex < 3; ++vertex) {
        for (uint32_t at = 0; at < count; ++at) {
            uint8_t *place = bytes.data() + vertex * binding.stride + attributes[at].offset;
            if (attributes[at].location == 0) std::memcpy(place, corners[vertex], sizeof corners[vertex]);
            if (attributes[at].location == 1) std::memcpy(place, colors[vertex], sizeof colors[vertex]);
        }
    }
    return bytes;
}

// The uniform block in a set of its own layout, where the shader has one; every number in it is 1.
struct Uniform {
    const Engine &engine;
    VkDescriptorPool pool{};
    VkDescriptorSet set{};
    Buffer buffer;

    Uniform(const Engine &engine, const Shader &shader, uint32_t size)
        : engine(engine), buffer(engine, size, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT) {
        const float one = 1.0F;
        for (uint32_t at = 0; at + sizeof one <= size; at += sizeof one) std::memcpy(buffer.bytes + at, &one, sizeof one);
        const VkDescriptorPoolSize room{VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1};
        VkDescriptorPoolCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
        info.maxSets = 1;
        info.poolSizeCount = 1;
        info.pPoolSizes = &room;
        check(vkCreateDescriptorPool(engine.device, &info, nullptr, &pool), "vkCreateDescriptorPool");
        VkDescriptorSetAllocateInfo allocate{};
        allocate.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
        allocate.descriptorPool = pool;
        allocate.descriptorSetCount = 1;
        allocate.pSetLayouts = &shader.sets.at(1);
        check(vkAllocateDescriptorSets(engine.device, &allocate, &set), "vkAllocateDescriptorSets");
        const VkDescriptorBufferInfo whole{buffer.raw, 0, VK_WHOLE_SIZE};
        VkWriteDescriptorSet write{};
        write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
        write.dstSet = set;
        write.descriptorCount = 1;
        write.descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
        write.pBufferInfo = &whole;
        vkUpdateDescriptorSets(engine.device, 1, &write, 0, nullptr);
    }

    ~Uniform() { vkDestroyDescriptorPool(engine.device, pool, nullptr); }

    Uniform(const Uniform &) = delete;
    Uniform &operator=(const Uniform &) = delete;
};

void record(VkCommandBuffer commands, const Shader &shader, const Canvas &canvas, VkBuffer vertex, VkDescriptorSet set) {
    VkClearValue black{};
    black.color.float32[3] = 1.0F;
    VkRenderingAttachmentInfo color{};
    color.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO;
    color.imageView = canvas.view;
    color.imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
    color.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    color.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    color.clearValue = black;
    VkRenderingInfo rendering{};
    rendering.sType = VK_STRUCTURE_TYPE_RENDERING_INFO;
    rendering.renderArea.extent = {kSize, kSize};
    rendering.layerCount = 1;
    rendering.colorAttachmentCount = 1;
    rendering.pColorAttachments = &color;
    const VkViewport viewport{0, 0, kSize, kSize, 0, 1};
    const VkRect2D scissor{{0, 0}, {kSize, kSize}};
    const VkDeviceSize start = 0;
    const VkPipelineLayout layout = skrymir_program_pipeline_layout(shader.program);
    const VkPipelineBindPoint graphics = VK_PIPELINE_BIND_POINT_GRAPHICS;

    canvas.become(commands, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL);
    vkCmdBeginRendering(commands, &rendering);
    vkCmdBindPipeline(commands, graphics, skrymir_pipeline_handle(shader.pipeline));
    if (set != VK_NULL_HANDLE) vkCmdBindDescriptorSets(commands, graphics, layout, 1, 1, &set, 0, nullptr);
    vkCmdSetViewport(commands, 0, 1, &viewport);
    vkCmdSetScissor(commands, 0, 1, &scissor);
    vkCmdBindVertexBuffers(commands, 0, 1, &vertex, &start);
    vkCmdDraw(commands, 3, 1, 0, 0);
    vkCmdEndRendering(commands);
    canvas.become(commands, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
}

void draw(const Engine &engine, const Shader &shader, bool turned, Buffer &pixels) {
    const Canvas canvas(engine);
    const std::vector<uint8_t> corners = vertices(shader, turned);
    const Buffer vertex(engine, corners.size(), VK_BUFFER_USAGE_VERTEX_BUFFER_BIT);
    std::memcpy(vertex.bytes, corners.data(), corners.size());
    uint32_t size = 0;
    check(skrymir_shader_uniform_size(shader.shader, &size), "uniform size");
    std::unique_ptr<Uniform> uniform;
    if (size > 0) uniform = std::make_unique<Uniform>(engine, shader, size);

    VkCommandPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    VkCommandPool pool{};
    check(vkCreateCommandPool(engine.device, &info, nullptr, &pool), "vkCreateCommandPool");
    VkCommandBufferAllocateInfo allocate{};
    allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    allocate.commandPool = pool;
    allocate.commandBufferCount = 1;
    VkCommandBuffer commands{};
    check(vkAllocateCommandBuffers(engine.device, &allocate, &commands), "vkAllocateCommandBuffers");
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    record(commands, shader, canvas, vertex.raw, uniform ? uniform->set : VK_NULL_HANDLE);
    VkBufferImageCopy copy{};
    copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    copy.imageExtent = {kSize, kSize, 1};
    vkCmdCopyImageToBuffer(commands, canvas.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, pixels.raw, 1, &copy);
    check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    VkSubmitInfo submit{};
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    check(vkQueueSubmit(engine.queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
    check(vkQueueWaitIdle(engine.queue), "vkQueueWaitIdle");
    vkDestroyCommandPool(engine.device, pool, nullptr);
}

void write(const char *path, const uint8_t *rgba) {
    std::ofstream file(path, std::ios::binary);
    file << "P6\n" << kSize << ' ' << kSize << "\n255\n";
    for (size_t pixel = 0; pixel < size_t{kSize} * kSize; ++pixel) {
        file.write(reinterpret_cast<const char *>(rgba + pixel * 4), 3);
    }
    if (!file.flush()) fail(path, "cannot be written");
}

}  // namespace

int main(int count, char **arguments) {
    if (count < 3) fail("usage", "triangle FILE.vbc OUT.ppm [--turned] [--forget]");
    bool turned = false;
    bool forget = false;
    for (int at = 3; at < count; ++at) {
        turned = turned || std::string(arguments[at]) == "--turned";
        forget = forget || std::string(arguments[at]) == "--forget";
    }
    std::ifstream file(arguments[1], std::ios::binary);
    if (!file) fail(arguments[1], "cannot be read");
    const std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());

    const Engine engine;
    Buffer pixels(engine, VkDeviceSize{kSize} * kSize * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    {
        const Shader shader(engine, bytes, forget);
        draw(engine, shader, turned, pixels);
    }
    write(arguments[2], pixels.bytes);
    std::printf("picture: %s (Skrymir %s)\n", arguments[2], skrymir_version());
    return 0;
}
