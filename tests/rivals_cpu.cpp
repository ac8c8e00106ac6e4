// The packed CPU kernel beside OpenBLAS followed by a ReLU pass and oneDNN's matmul with a fused ReLU: in one process,
// taken in turn, on the same operands. Says where fusing the ReLU pays. Built where both libraries are installed.
//
//   memwall_rivals [SECONDS_PER_ROW] [SIZE...]

#include <cblas.h>
#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <dnnl.hpp>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/reference.hpp"
#include "kernels/cpu/run.hpp"
#include "kernels/cpu/rung.hpp"

using namespace kernels;
using sim::Fusion;
using sim::Pass;

namespace {

/// Settings that must be there before the libraries start. A preset core type would hold OpenBLAS back, and threads
/// that spin after their work would slow down whoever is next.
void set_environment(char** arguments) {
    if (std::getenv("MEMWALL_RIVALS")) return;
    for (const char* name : {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"})
        unsetenv(name);
    setenv("OMP_WAIT_POLICY", "passive", 1);
    setenv("OPENBLAS_THREAD_TIMEOUT", "4", 1);
    setenv("MEMWALL_RIVALS", "1", 1);
    execv("/proc/self/exe", arguments);
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double quantile(std::vector<double> v, double q) {
    std::sort(v.begin(), v.end());
    return v[static_cast<std::size_t>(q * static_cast<double>(v.size() - 1) + 0.5)];
}

struct Contender {
    std::string name;
    std::function<void()> run;
    std::vector<double> seconds{};

    double median() const { return quantile(seconds, 0.5); }
    /// Half of the runs lie within this share of the median.
    double spread() const { return (quantile(seconds, 0.75) - quantile(seconds, 0.25)) / median(); }
    /// How much longer it takes than `other`: the median over rounds, in which both ran within moments.
    double relative_to(const Contender& other) const {
        std::vector<double> ratios;
        for (std::size_t i = 0; i < seconds.size(); i++) ratios.push_back(seconds[i] / other.seconds[i]);
        return quantile(ratios, 0.5);
    }
};

/// Rounds of every contender once, for about `seconds`, at least 7. Each round has an order of its own, so that nobody
/// always starts from what the same other one left in caches and on cores.
void take_turns(std::vector<Contender>& contenders, double seconds) {
    for (Contender& c : contenders) c.run();
    std::vector<Contender*> order;
    for (Contender& c : contenders) order.push_back(&c);
    std::mt19937 random(1);
    const double start = now();
    for (int round = 0; round < 7 || now() - start < seconds; round++) {
        std::shuffle(order.begin(), order.end(), random);
        for (Contender* c : order) {
            const double begin = now();
            c->run();
            c->seconds.push_back(now() - begin);
        }
    }
}

/// One layer with its operands, and everybody who computes it.
class Match {
public:
    Match(i64 m, i64 n, i64 k, int threads)
        : op_{{.m = m, .n = n, .k = k}, Pass::forward, Fusion::unfused}, set_(op_), threads_(threads) {
        set_.fill_normal(1);
    }

    Contender fused() {
        return {"fused", [this] { execute(Fusion::fused); }};
    }
    Contender unfused() {
        return {"unfused", [this] { execute(Fusion::unfused); }};
    }
    Contender openblas() {
        return {"OpenBLAS + ReLU", [this] {
                    const Operands& o = set_.operands();
                    const sim::Dense& d = op_.dense;
                    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, int(d.m), int(d.n), int(d.k), 1.0f,
                                floats(o.x), int(o.x.pitch), floats(o.w), int(o.w.pitch), 0.0f, floats(o.z),
                                int(o.z.pitch));
                    relu_pass();
                }};
    }
    Contender onednn() {
        using memory = dnnl::memory;
        const Operands& o = set_.operands();
        const auto matrix = [](const Matrix& m) {
            return memory::desc({m.rows, m.cols}, memory::data_type::f32, memory::dims{m.pitch, 1});
        };
        dnnl::post_ops relu;
        relu.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0, 0);
        dnnl::primitive_attr attributes;
        attributes.set_post_ops(relu);
        const dnnl::matmul::desc layer(matrix(o.x), matrix(o.w), matrix(o.y));
        const dnnl::matmul primitive(dnnl::matmul::primitive_desc(layer, attributes, engine_));
        const std::unordered_map<int, memory> arguments = {{DNNL_ARG_SRC, memory(matrix(o.x), engine_, o.x.data)},
                                                           {DNNL_ARG_WEIGHTS, memory(matrix(o.w), engine_, o.w.data)},
                                                           {DNNL_ARG_DST, memory(matrix(o.y), engine_, o.y.data)}};
        return {"oneDNN fused", [this, primitive, arguments] {
                    primitive.execute(stream_, arguments);
                    stream_.wait();
                }};
    }

    /// Whether what the last contender left in Y is right.
    void check(const Contender& c) {
        c.run();
        const cpu::Comparison result = cpu::compare(op_, set_.operands(), {}, 1 << 25);
        if (!result.ok()) {
            fmt::print("{} is wrong: {}\n", c.name, result.first_wrong);
            std::exit(1);
        }
    }

private:
    static float* floats(const Matrix& m) { return static_cast<float*>(m.data); }

    void execute(Fusion fusion) {
        Op op = op_;
        op.fusion = fusion;
        cpu::Control control;
        cpu::execute(op, set_.operands(), {.threads = threads_}, control);
    }

    /// Z to Y on the threads of our own pool: starting threads for it would make a rival look slow.
    void relu_pass() {
        const Matrix &z = set_.operands().z, &y = set_.operands().y;
        cpu::Sink to{y.data, y.pitch};
        to.relu = true;
        cpu::pool().run(threads_, [&](int thread) {
            for (i64 i = z.rows * thread / threads_; i < z.rows * (thread + 1) / threads_; i++)
                cpu::isa().copy_row({z.data, z.pitch}, to, i, z.cols);
        });
    }

    Op op_;
    OperandSet set_;
    int threads_;
    dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream_{engine_};
};

void use_threads(int threads) {
    openblas_set_num_threads(threads);
    omp_set_num_threads(threads);
}

/// Cubes against both libraries; prints the geometric means over the sizes.
void race(const std::vector<i64>& sizes, int threads, double seconds) {
    use_threads(threads);
    fmt::print(
        "\n{} thread{}: GFLOP/s, median (middle half of the runs within); ratio = time of the other / time of fused\n",
        threads, threads == 1 ? "" : "s");
    fmt::print("{:>6}  {:>16}  {:>16}  {:>24}  {:>24}\n", "n", "fused", "unfused", "OpenBLAS + ReLU", "oneDNN fused");
    double openblas = 0, onednn = 0;
    for (const i64 n : sizes) {
        Match match(n, n, n, threads);
        std::vector<Contender> all = {match.fused(), match.unfused(), match.openblas(), match.onednn()};
        for (const Contender& c : all) match.check(c);
        take_turns(all, seconds);
        const double flops = 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
        const auto cell = [&](const Contender& c) {
            return fmt::format("{:.1f} ({:.0f} %)", flops / c.median() / 1e9, 100 * c.spread());
        };
        const auto rival = [&](const Contender& c) {
            return fmt::format("{}  x {:.2f}", cell(c), c.relative_to(all[0]));
        };
        fmt::print("{:>6}  {:>16}  {:>16}  {:>24}  {:>24}\n", n, cell(all[0]), cell(all[1]), rival(all[2]),
                   rival(all[3]));
        std::fflush(stdout);
        openblas += std::log(all[2].relative_to(all[0])) / static_cast<double>(sizes.size());
        onednn += std::log(all[3].relative_to(all[0])) / static_cast<double>(sizes.size());
    }
    fmt::print("geometric mean: {:.2f} of OpenBLAS + ReLU, {:.2f} of oneDNN fused\n", std::exp(openblas),
               std::exp(onednn));
}

/// A fixed output and a growing reduction: the ReLU pass costs the same, the matmul more and more.
void show_where_fusion_pays(int threads, double seconds) {
    use_threads(threads);
    fmt::print("\nWhere fusion pays: M = N = 4096, {} thread{}. The pass it saves moves {} whatever K is.\n", threads,
               threads == 1 ? "" : "s", sim::format_bytes(8.0 * 4096 * 4096));
    fmt::print("{:>6}  {:>10}  {:>10}  {:>8}  {}\n", "K", "fused", "unfused", "ratio", "");
    for (const i64 k : {16, 32, 64, 128, 256, 512, 1024}) {
        Match match(4096, 4096, k, threads);
        std::vector<Contender> both = {match.fused(), match.unfused()};
        for (const Contender& c : both) match.check(c);
        take_turns(both, seconds);
        const double ratio = both[1].relative_to(both[0]);
        const char* verdict = ratio >= 1.05 ? "pays" : ratio > 0.97 ? "does not matter" : "costs";
        fmt::print("{:>6}  {:>10}  {:>10}  {:>8.2f}  {}\n", k, sim::format_us(both[0].median() * 1e6),
                   sim::format_us(both[1].median() * 1e6), ratio, verdict);
        std::fflush(stdout);
    }
}

}  // namespace

int main(int count, char** arguments) {
    set_environment(arguments);
    const double seconds = count > 1 ? std::atof(arguments[1]) : 3;
    std::vector<i64> sizes;
    for (int i = 2; i < count; i++) sizes.push_back(std::atoll(arguments[i]));
    if (sizes.empty()) sizes = {512, 1024, 2048, 4096};

    fmt::print(
        "{}: {}, {} cores; OpenBLAS {} ({}); oneDNN {}.{}.{}. Operands stay the same (warm where they fit), f32.\n",
        cpu::processor_name(), cpu::isa().name, cpu::usable_cores(), OPENBLAS_VERSION, openblas_get_corename(),
        dnnl::version()->major, dnnl::version()->minor, dnnl::version()->patch);
    for (int threads = 1; threads <= std::min(2, cpu::usable_cores()); threads++) race(sizes, threads, seconds);
    show_where_fusion_pays(1, seconds / 3);
}
