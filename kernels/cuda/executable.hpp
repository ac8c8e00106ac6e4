#pragma once
// The launches of an operation, ready on the GPU: compiled, loaded, their parameters encoded.

#include <memory>
#include <vector>

#include "kernels/cuda/build.hpp"
#include "kernels/cuda/runtime.hpp"

namespace kernels::cuda {

/// A TMA descriptor of what `box` describes, or zeros for a box without data.
device::TensorMap encode(const Runtime& r, const TensorBox& box);

/// Launches bound to one set of operands: run() may be called any number of times.
class BoundLaunches {
public:
    std::size_t size() const { return launches_.size(); }
    /// Launches kernel i on the default stream.
    void launch(std::size_t i);
    void launch_all() {
        for (std::size_t i = 0; i < size(); i++) launch(i);
    }

private:
    friend class Executable;
    struct One {
        const void* kernel;
        LaunchShape shape;
        device::Params params;
        device::TensorMaps maps;
        bool has_maps;
    };
    const Runtime* r_ = nullptr;
    std::vector<One> launches_;
};

/// The kernels of one experiment for the GPU that is here.
class Executable {
public:
    /// Compiles and loads. Persistent kernels get as many CTAs as are resident at a time. Throws CompileError,
    /// CudaError.
    Executable(const Runtime& r, const Gpu& gpu, const sim::Experiment& e);

    const std::vector<DeviceKernel>& kernels() const { return kernels_; }
    const Build& build() const { return build_; }
    /// CTAs of kernel i that an SM holds at a time, as the driver has it.
    int resident_ctas(std::size_t i) const { return resident_.at(i); }
    /// The same launches on operands of GPU memory, also of another size of the layer (`e`'s), with `partial_bytes(e)`
    /// of memory for slices.
    BoundLaunches bind(const sim::Experiment& e, const Operands& operands, void* partial) const;
    /// Bytes that split-K slices of an experiment take.
    sim::i64 partial_bytes(const sim::Experiment& e) const;

private:
    std::vector<DeviceKernel> launches_of(const sim::Experiment& e) const;

    const Runtime* r_;
    sim::i64 slots_ = 0;  // CTAs of a persistent launch
    std::vector<DeviceKernel> kernels_;
    Build build_;
    std::vector<Module> modules_;
    std::vector<const void*> functions_;
    std::vector<int> resident_;
};

}  // namespace kernels::cuda
