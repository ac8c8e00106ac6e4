#pragma once
// Runs the steps on the GPU that is here, within the time that is given.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/cublas_lt.hpp"
#include "kernels/cuda/run.hpp"
#include "tests/gpu/journal.hpp"

namespace campaign {

/// What cases run on.
struct Machine {
    const kernels::cuda::Runtime& runtime = kernels::cuda::runtime();
    const kernels::cuda::CublasLt& lt = kernels::cuda::cublas_lt();
    std::string program;          ///< this program's file, for the tools that run it
    std::filesystem::path cases;  ///< the folder of frozen cases
};

struct Plan {
    double seconds = 840;           ///< for the steps of this process
    double campaign_seconds = 0;    ///< which shares are of; 0 = those
    bool shares = true;             ///< hold each step to its share of them
    std::vector<std::string> only;  ///< steps; empty = all but those of others
    int most_cases = 0;             ///< of a step; 0 = all
    std::vector<std::string> ids;   ///< of a step's cases; empty = all
};

/// Why a campaign ended.
enum class Ending { finished, out_of_time, again };

/// A case failed and the GPU's context with it: only a new process can go on.
struct ContextLost : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What the cases of a campaign share: the GPU, and the operands of the operation that ran last.
class Context {
public:
    explicit Context(const Machine& on) : machine(on), gpu(kernels::cuda::gpu(on.runtime)) {}

    /// Compiles, checks, and makes ready to be timed, on operands that stay for the next case of the same operation.
    kernels::cuda::Bench::Ready ready(const sim::Experiment& e, const kernels::RunOptions& options = {});

    const Machine& machine;
    kernels::cuda::Gpu gpu;

private:
    std::optional<kernels::cuda::Bench> bench_;
};

/// A record of what was measured for an experiment.
Record record_of(const sim::Experiment& e, const kernels::RunResult& r);

/// Runs one case. Its failures are exceptions.
Record run_case(Context& context, const Case& c);

/// Runs every case that is not done, step by step, each written down at once.
Ending run(const Machine& machine, const Plan& plan, Journal& journal);

// ---- the steps that are more than a run (a file each) -----------------------------------------------------------------

Record sanitize(Context& context, const Case& c);
Record measure_constant(Context& context, const Case& c);
Record count_copy(Context& context, const Case& c);
Record swap_masks(Context& context, const Case& c);
Record log_tiles(Context& context, const Case& c);
Record run_train(Context& context, const Case& c);

/// Answers lines of standard input until it ends: "ready EXPERIMENT" checks it and cuBLASLt's RELU beside it, "time
/// ours|cublaslt SECONDS" takes samples; each answer is one JSON object a line.
void serve(const Machine& machine, std::FILE* in, std::FILE* out);

/// Writes h200.csv, failures.csv, h200-sxm.proposed.toml and numbers.md beside the journal.
void report(const Journal& journal, const std::filesystem::path& folder);

}  // namespace campaign
