#pragma once
// Check, then time: the one way a CUDA kernel gets a number.

#include <functional>
#include <memory>
#include <stop_token>

#include "kernels/cuda/runtime.hpp"
#include "kernels/run.hpp"
#include "sim/experiment.hpp"

namespace kernels::cuda {

/// Whether the GPU that is here is the device of that file: its model, form, number of SMs and memory.
sim::Fit same_gpu(const sim::Device& device, const Gpu& gpu);

/// Checks the experiment's kernels against the double-precision reference, at ragged sizes with NaN, infinities,
/// negative zeros and subnormals and at full size, with poisoned outputs and guarded inputs; then times them with
/// events, back to back, on sets of operands that exceed the L2 twice. Its tiles must not be "best". `progress` gets
/// the share done; `stop` ends the run between groups of samples. Throws std::runtime_error when a result is wrong or a
/// call fails, CompileError when a kernel does not compile.
RunResult run(const sim::Experiment& e, const RunOptions& options = {},
              const std::function<void(double)>& progress = {}, std::stop_token stop = {},
              const Runtime& r = runtime());

/// The operands of one operation on the GPU, on which experiments that differ in their kernels only are checked and
/// timed one after another, or in turn.
class Bench {
public:
    /// Takes the memory; fit() says where it does not suffice. Throws NotAvailable, CudaError.
    explicit Bench(const sim::Experiment& e, const RunOptions& options = {}, const Runtime& r = runtime());
    Bench(Bench&&) noexcept;
    ~Bench();

    const sim::Fit& fit() const;
    /// Whether the experiment computes what the operands are for, from the caches they are set up for.
    bool takes(const sim::Experiment& e) const;

    /// An experiment that was compiled and checked, bound to the operands of its bench.
    class Ready {
    public:
        Ready(Ready&&) noexcept;
        ~Ready();
        /// What is known before the clock runs; `fit` says why it does not.
        RunResult checked;
        /// Adds to what is known: samples, clocks, the parts of a run and, where asked for, counters.
        RunResult time(const RunOptions& options, const std::function<void(double)>& progress = {},
                       std::stop_token stop = {});

    private:
        friend class Bench;
        struct State;
        explicit Ready(std::unique_ptr<State> state);
        std::unique_ptr<State> state_;
    };
    /// Compiles and checks as run() does. Throws as run() does.
    Ready ready(const sim::Experiment& e, const std::function<void(double)>& progress = {}, std::stop_token stop = {});

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace kernels::cuda
