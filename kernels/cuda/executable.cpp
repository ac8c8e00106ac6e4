#include "kernels/cuda/executable.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kernels::cuda {
namespace {

LaunchShape shape_of(const Launch& l) {
    const auto ctas = static_cast<unsigned>(l.cluster.rows * l.cluster.cols);
    return {{static_cast<unsigned>(l.grid)}, {static_cast<unsigned>(l.block)}, {ctas}, l.smem_bytes};
}

/// The driver's number of a type (CUtensorMapDataType).
int tensor_type(sim::Dtype t) {
    switch (t) {
        case sim::Dtype::f16: return 6;
        case sim::Dtype::bf16: return 9;
        case sim::Dtype::e4m3: return 0;  // bytes
        default: return 7;
    }
}

/// CUtensorMapSwizzle.
int swizzle_mode(int bytes) { return bytes == 128 ? 3 : bytes == 64 ? 2 : bytes == 32 ? 1 : 0; }

}  // namespace

device::TensorMap encode(const Runtime& r, const TensorBox& box) {
    device::TensorMap map{};
    if (!box.data) return map;
    using Encode = int (*)(void* map, int type, unsigned rank, void* address, const unsigned long long* dims,
                           const unsigned long long* strides, const unsigned* box, const unsigned* element_strides,
                           int interleave, int swizzle, int l2_promotion, int out_of_bounds);
    const auto encode_tiled = reinterpret_cast<Encode>(driver_function(r, "cuTensorMapEncodeTiled", 12000));
    const auto size = [](sim::i64 v) { return static_cast<unsigned long long>(v); };
    const unsigned long long dims[] = {size(box.length), size(box.lines), size(box.batch)};
    const unsigned long long strides[] = {size(box.pitch_bytes), size(sim::round_up(box.batch_pitch_bytes, 16))};
    const unsigned lengths[] = {static_cast<unsigned>(box.box_length), static_cast<unsigned>(box.box_lines), 1};
    constexpr unsigned every_element[] = {1, 1, 1};
    constexpr int no_interleave = 0, promote_128_bytes = 2, zeros_outside = 0;
    const int result = encode_tiled(&map, tensor_type(box.dtype), 3, box.data, dims, strides, lengths, every_element,
                                    no_interleave, swizzle_mode(box.swizzle_bytes), promote_128_bytes, zeros_outside);
    if (result != 0)
        throw CudaError(fmt::format("cuTensorMapEncodeTiled of {}x{} by {}x{}, pitch {} B, failed with {}", box.lines,
                                    box.length, box.box_lines, box.box_length, box.pitch_bytes, result));
    return map;
}

void BoundLaunches::launch(std::size_t i) {
    One& l = launches_[i];
    void* arguments[] = {&l.params, l.has_maps ? &l.maps : nullptr};
    cuda::launch(*r_, l.kernel, l.shape, arguments);
}

Executable::Executable(const Runtime& r, const Gpu& gpu, const sim::Experiment& e)
    : r_(&r), kernels_(kernels_of(e)), build_(cuda::build(kernels_, arch_name(gpu.capability))) {
    for (const Program& p : build_.programs) modules_.emplace_back(r, p.cubin);
    for (const BuiltKernel& k : build_.kernels) functions_.push_back(modules_[k.program].kernel(k.lowered));

    for (std::size_t i = 0; i < kernels_.size(); i++) {
        const Launch& l = build_.kernels[i].launch;
        const auto smem = static_cast<std::size_t>(l.smem_bytes);
        const LaunchShape shape = shape_of(l);
        prepare(r, functions_[i], shape);
        int ctas = 0;
        check(r, r.occupancy(&ctas, functions_[i], l.block, smem), "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
        resident_.push_back(ctas);
        if (!kernels_[i].persistent) continue;
        const sim::i64 sms = e.sms > 0 ? std::min(e.sms, gpu.sm_count) : gpu.sm_count;
        sim::i64 slots = sms * (e.ctas > 0 ? std::min(e.ctas, ctas) : ctas);
        if (shape.cluster.x > 1) {
            LaunchAttribute cluster{cluster_dimension, 0, {shape.cluster.x, 1, 1}};
            const LaunchConfig config{shape.grid, shape.block, smem, nullptr, &cluster, 1};
            int clusters = 0;
            check(r, r.max_clusters(&clusters, functions_[i], &config), "cudaOccupancyMaxActiveClusters");
            slots = std::min<sim::i64>(slots / shape.cluster.x, clusters) * shape.cluster.x;
        }
        slots_ = slots_ == 0 ? slots : std::min(slots_, slots);
    }
    if (slots_ > 0) kernels_ = launches_of(e);
}

std::vector<DeviceKernel> Executable::launches_of(const sim::Experiment& e) const { return kernels_of(e, slots_); }

sim::i64 Executable::partial_bytes(const sim::Experiment& e) const {
    sim::i64 most = 0;
    for (const DeviceKernel& k : launches_of(e)) most = std::max(most, k.partial_bytes());
    return most;
}

BoundLaunches Executable::bind(const sim::Experiment& e, const Operands& operands, void* partial) const {
    BoundLaunches bound;
    bound.r_ = r_;
    const std::vector<DeviceKernel> kernels = launches_of(e);
    for (std::size_t i = 0; i < kernels.size(); i++) {
        const Launch l = launch_of(kernels[i]);
        if (i >= build_.kernels.size() || l.name_expression != build_.kernels[i].launch.name_expression)
            throw std::logic_error(fmt::format("kernel {} of another size is other code: {}", i, l.name_expression));
        BoundLaunches::One one{functions_[i], shape_of(l), params_of(kernels[i], operands, partial), {}, l.tensor_maps};
        if (l.tensor_maps) {
            const TensorBoxes boxes = tensor_boxes(kernels[i], operands);
            one.maps = {encode(*r_, boxes.left), encode(*r_, boxes.right), encode(*r_, boxes.gate)};
        }
        bound.launches_.push_back(one);
    }
    return bound;
}

}  // namespace kernels::cuda
