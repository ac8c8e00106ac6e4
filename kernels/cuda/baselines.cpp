#include "kernels/cuda/baselines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "kernels/cpu/reference.hpp"
#include "kernels/cuda/executable.hpp"
#include "kernels/cuda/sample.hpp"
#include "kernels/special_values.hpp"

namespace kernels::cuda {
namespace {

using sim::Fusion;
using sim::Pass;

constexpr int algorithms = 8, tries = 5;
constexpr double check_work = 1 << 27;

struct Part {
    Pass pass;
    LtEpilogue epilogue;
};
/// A baseline as data: its matmuls, and whether the ladder's mask kernel comes first.
struct Recipe {
    std::string_view name, what;
    Pass of;  ///< of an operation with this pass
    std::vector<Part> parts;
    bool mask_first = false;
};
const std::vector<Recipe>& recipes() {
    static const std::vector<Recipe> all = {
        {"cublaslt", "the matmul alone, which writes Z", Pass::forward, {{Pass::forward, LtEpilogue::plain}}},
        {"cublaslt RELU", "ReLU in the epilogue", Pass::forward, {{Pass::forward, LtEpilogue::relu}}},
        {"cublaslt RELU_AUX",
         "ReLU in the epilogue, which also writes one bit an element",
         Pass::forward,
         {{Pass::forward, LtEpilogue::relu_aux}}},
        {"cublaslt", "the matmul alone, on a dZ that is given", Pass::dgrad, {{Pass::dgrad, LtEpilogue::plain}}},
        {"cublaslt DRELU",
         "dX masked by the bits of X > 0 for the layer below",
         Pass::dgrad,
         {{Pass::dgrad, LtEpilogue::drelu}}},
        {"cublaslt", "the matmul alone, on a dZ that is given", Pass::wgrad, {{Pass::wgrad, LtEpilogue::plain}}},
        {"mask + cublaslt",
         "a mask kernel writes dZ, then two plain matmuls read it",
         Pass::train,
         {{Pass::dgrad, LtEpilogue::plain}, {Pass::wgrad, LtEpilogue::plain}},
         true},
        {"cublaslt DRELU chain",
         "dgrad masks dX for the layer below, so dZ arrives masked; then a plain wgrad",
         Pass::train,
         {{Pass::dgrad, LtEpilogue::drelu}, {Pass::wgrad, LtEpilogue::plain}}},
        {"cublaslt ceiling",
         "two plain matmuls on a dZ that is given free",
         Pass::train,
         {{Pass::dgrad, LtEpilogue::plain}, {Pass::wgrad, LtEpilogue::plain}}},
    };
    return all;
}

/// The operation whose operands a recipe needs and whose outputs can be checked part by part.
Op op_for(const sim::Experiment& e, const Recipe& recipe, Pass pass) {
    Op op = op_of(e);
    op.pass = pass;
    op.in_place = false;
    const LtEpilogue first = recipe.parts.front().epilogue;
    op.drelu = first == LtEpilogue::drelu;
    op.residual = first == LtEpilogue::relu_aux || op.drelu ? sim::Residual::mask : sim::Residual::y;
    op.fusion = recipe.mask_first            ? Fusion::unfused
                : op.drelu                   ? Fusion::upstream
                : first == LtEpilogue::plain ? Fusion::none
                                             : Fusion::fused;
    return op;
}

class Handle {
public:
    explicit Handle(const CublasLt& lt) : lt_(&lt) {
        if (const int result = lt.create(&handle_); result != 0)
            throw CudaError(fmt::format("cublasLtCreate failed: {}", lt.status_name(result)));
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() { lt_->destroy(handle_); }
    void* get() const { return handle_; }

private:
    const CublasLt* lt_;
    void* handle_ = nullptr;
};

/// The algorithm that ran fastest of those the library proposes.
LtChoice fastest(const Runtime& r, const LtMatmul& matmul, void* workspace) {
    LtChoice best;
    double best_us = std::numeric_limits<double>::infinity();
    const Event first(r), last(r);
    for (const LtChoice& choice : matmul.choices(algorithms)) {
        matmul.run(choice, workspace);  // loads its code
        first.record();
        for (int i = 0; i < tries; i++) matmul.run(choice, workspace);
        last.record();
        last.wait();
        if (const double us = last.us_since(first); us < best_us) {
            best_us = us;
            best = choice;
        }
    }
    if (best_us == std::numeric_limits<double>::infinity())
        throw CudaError("cuBLASLt proposes no algorithm for this matmul");
    return best;
}

/// The library's matmuls answer what the reference does, on operands of their own. Returns the largest error.
double check_part(const Runtime& r, const CublasLt& lt, void* handle, const Op& op, const Part& part,
                  const LtChoice& choice, void* workspace, std::uint64_t seed) {
    OperandSet before(op), after(op);
    before.fill_normal(seed);
    after.copy_from(before);
    poison_outputs(after);
    const DeviceOperands on_device(r, after);
    LtMatmul(lt, handle, op, part.pass, part.epilogue, on_device.operands()).run(choice, workspace);
    check(r, r.synchronize(), "cudaDeviceSynchronize");
    on_device.download(after);
    const cpu::Comparison c = cpu::compare(op, after.operands(), before.operands().dw, check_work);
    if (!c.ok()) throw std::runtime_error(fmt::format("cuBLASLt: {}", c.first_wrong));
    return c.max_error;
}

}  // namespace

std::vector<Baseline> baselines(const sim::Experiment& e, const RunOptions& options, std::stop_token stop,
                                const Runtime& r, const CublasLt& lt) {
    if (const sim::Fit here = available(r); !here.ok()) throw NotAvailable(here.why);
    const Gpu here = gpu(r);
    std::vector<Baseline> all;
    for (const Recipe& recipe : recipes()) {
        if (recipe.of != e.pass || stop.stop_requested()) continue;
        Baseline& baseline = all.emplace_back();
        baseline.name = recipe.name;
        baseline.what = recipe.what;
        baseline.of = recipe.of;
        RunResult& result = baseline.result;
        result.machine = here.name;
        result.driver = "CUDA " + here.driver;
        const Op op = op_for(e, recipe, e.pass);
        result.fit = lt.why.empty() ? LtMatmul::fits(op) : sim::Fit{"no cuBLASLt: " + lt.why};
        if (!result.fit.ok()) continue;

        OperandSet values(op);
        values.fill_normal(options.seed);
        const sim::i64 set_bytes = DeviceOperands::bytes(values);
        const sim::i64 room = here.free_bytes * 9 / 10 - static_cast<sim::i64>(LtMatmul::workspace_bytes);
        if (set_bytes > room) {
            result.fit.why = fmt::format("needs {} for its operands; the GPU has {} free",
                                         sim::format_bytes(static_cast<double>(set_bytes)),
                                         sim::format_bytes(static_cast<double>(here.free_bytes)));
            continue;
        }
        const Rotation turn = rotation(set_bytes, here.l2_bytes, room, options);
        result.sets = turn.sets;
        result.cold = turn.cold;
        const Handle handle(lt);
        const DeviceMemory workspace(r, static_cast<sim::i64>(LtMatmul::workspace_bytes));

        // The ladder's own mask kernel, where one comes first: the first launch of an unfused dgrad.
        std::unique_ptr<Executable> mask;
        sim::Experiment mask_of = e;
        if (recipe.mask_first) {
            mask_of = sim::single_pass(e, Pass::dgrad);
            mask_of.fusion = Fusion::unfused;
            mask_of.residual = op.residual;
            mask_of.in_place = false;
            mask = std::make_unique<Executable>(r, here, mask_of);
        }

        struct Set {
            DeviceOperands operands;
            std::vector<LtMatmul> matmuls;
            BoundLaunches mask;
        };
        std::vector<Set> sets;
        for (int i = 0; i < turn.sets; i++) {
            sets.push_back({DeviceOperands(r, values), {}, {}});
            Set& set = sets.back();
            for (const Part& part : recipe.parts)
                set.matmuls.emplace_back(lt, handle.get(), op, part.pass, part.epilogue, set.operands.operands());
            if (mask) set.mask = mask->bind(mask_of, set.operands.operands(), nullptr);
        }
        std::vector<LtChoice> choices;
        for (std::size_t p = 0; p < recipe.parts.size(); p++) {
            const Part& part = recipe.parts[p];
            choices.push_back(fastest(r, sets[0].matmuls[p], workspace.data()));
            Op single = op_for(e, recipe, part.pass);
            if (recipe.mask_first) single.fusion = Fusion::none;
            if (single.pass == Pass::wgrad) single.drelu = false;
            result.max_error = std::max(result.max_error, check_part(r, lt, handle.get(), single, part, choices.back(),
                                                                     workspace.data(), options.seed));
        }
        result.checked = "at full size";
        sample(
            r, turn.sets,
            [&](std::size_t set) {
                if (mask) sets[set].mask.launch(0);
                for (std::size_t p = 0; p < choices.size(); p++) sets[set].matmuls[p].run(choices[p], workspace.data());
            },
            options, {}, stop, result);
    }
    return all;
}

}  // namespace kernels::cuda
