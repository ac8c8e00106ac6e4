// Our kernel and cuBLASLt's, timed a little at a time when another process asks, so that all rivals take turns.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "kernels/cpu/reference.hpp"
#include "kernels/cuda/sample.hpp"
#include "kernels/ladder.hpp"
#include "tests/gpu/campaign.hpp"
#include "tests/gpu/library.hpp"

namespace campaign {
namespace {

using namespace kernels;
using namespace kernels::cuda;

constexpr int algorithms = 8;
constexpr double check_work = 1 << 26;

/// cuBLASLt with ReLU in its epilogue, by the algorithm that ran fastest of those it proposes.
class LibraryRelu {
public:
    LibraryRelu(Context& context, const sim::Experiment& e)
        : r_(context.machine.runtime), library_(r_, context.machine.lt), op_(op_of(e)) {
        OperandSet values(op_);
        values.fill_normal(1);
        const sim::i64 set_bytes = DeviceOperands::bytes(values);
        turn_ = rotation(set_bytes, context.gpu.l2_bytes, gpu(r_).free_bytes * 8 / 10, {});
        for (int i = 0; i < turn_.sets; i++) {
            sets_.emplace_back(r_, values);
            matmuls_.push_back(library_.matmul(op_, LtEpilogue::relu, sets_.back().operands()));
        }
        double best = std::numeric_limits<double>::infinity();
        for (const LtChoice& choice : matmuls_[0].choices(algorithms)) {
            RunOptions few;
            few.seconds = 0;
            RunResult tried;
            sample(
                r_, turn_.sets, [&](std::size_t i) { matmuls_[i].run(choice, library_.workspace()); }, few, {}, {},
                tried);
            if (tried.median_us < best) best = tried.median_us, choice_ = choice;
        }
        if (best == std::numeric_limits<double>::infinity()) throw CudaError("cuBLASLt proposes no algorithm");
        sets_[0].poison();
        matmuls_[0].run(choice_, library_.workspace());
        check(r_, r_.synchronize(), "cudaDeviceSynchronize");
        sets_[0].download(values);
        const cpu::Comparison c = cpu::compare(op_, values.operands(), {}, check_work);
        if (!c.ok()) throw std::runtime_error("cuBLASLt: " + c.first_wrong);
        error_ = c.max_error;
    }
    RunResult time(const RunOptions& options) {
        RunResult result;
        sample(
            r_, turn_.sets, [&](std::size_t i) { matmuls_[i].run(choice_, library_.workspace()); }, options, {}, {},
            result);
        result.cold = turn_.cold;
        result.max_error = error_;
        return result;
    }

private:
    const Runtime& r_;
    Library library_;
    Op op_;
    Rotation turn_;
    std::vector<DeviceOperands> sets_;
    std::vector<LtMatmul> matmuls_;
    LtChoice choice_;
    double error_ = 0;
};

Record timed(const RunResult& r) {
    return {{"samples_us", r.samples_us},
            {"clock_mhz", r.clocks.clock_mhz},
            {"power_w", r.clocks.power_w},
            {"cache", r.cold ? "cold" : "warm"},
            {"max_error", r.max_error}};
}

class Server {
public:
    explicit Server(const Machine& machine) : context_(machine) {}

    Record answer(const std::string& line) {
        const std::string verb = line.substr(0, line.find(' ')),
                          rest = line.substr(std::min(line.size(), verb.size() + 1));
        if (verb == "ready") return ready(rest);
        if (verb != "time") throw sim::BadInput("expected ready EXPERIMENT or time ours|cublaslt SECONDS");
        RunOptions options;
        options.seconds = std::stod(rest.substr(rest.find(' ')));
        options.most_seconds = 0.5;
        const bool ours = rest.starts_with("ours ");
        if (ours ? !ready_ : !library_) throw sim::BadInput("time: nothing is ready");
        return timed(ours ? ready_->time(options) : library_->time(options));
    }

private:
    Record ready(const std::string& text) {
        library_.reset();
        ready_.reset();
        const sim::Experiment e = sim::parse_experiment(text, sim::Catalogue::builtin());
        Record said;
        try {
            ready_.emplace(context_.ready(e));
            said["ours"] =
                ready_->checked.fit.ok() ? record_of(e, ready_->checked) : Record{{"why", ready_->checked.fit.why}};
            if (!ready_->checked.fit.ok()) ready_.reset();
        } catch (const std::runtime_error& error) {
            said["ours"] = {{"why", error.what()}};
        }
        try {
            library_.emplace(context_, e);
            said["cublaslt"] = Record::object();
        } catch (const std::runtime_error& error) {
            said["cublaslt"] = {{"why", error.what()}};
        }
        return said;
    }

    Context context_;
    std::optional<Bench::Ready> ready_;
    std::optional<LibraryRelu> library_;
};

}  // namespace

void serve(const Machine& machine, std::FILE* in, std::FILE* out) {
    Server server(machine);
    std::string line;
    for (int c = std::fgetc(in); c != EOF; c = std::fgetc(in)) {
        if (c != '\n') {
            line += static_cast<char>(c);
            continue;
        }
        Record answer;
        try {
            answer = server.answer(line);
        } catch (const std::exception& e) {
            answer = {{"why", e.what()}};
        }
        fmt::print(out, "{}\n", answer.dump());
        std::fflush(out);
        line.clear();
    }
}

}  // namespace campaign
