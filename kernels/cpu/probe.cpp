#include "kernels/cpu/probe.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/cpu/isa.hpp"
#include "kernels/cpu/machine.hpp"
#include "kernels/cpu/pool.hpp"
#include "kernels/matrix.hpp"

namespace kernels::cpu {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Highest of what `rate` returns in about `seconds`, at least 3 calls.
template <class Rate>
double best_of(double seconds, Rate rate) {
    double best = 0;
    const double start = now();
    for (int tries = 0; tries < 3 || now() - start < seconds; tries++) best = std::max(best, rate());
    return best;
}

/// Keeps the compiler from dropping a sum nobody asks for.
void keep(float value) { asm volatile("" ::"m"(value)); }

}  // namespace

struct Probe::Buffer {
    explicit Buffer(i64 bytes) : pages(allocate_pages(bytes)), size(bytes) {
        std::memset(pages.get(), 0, static_cast<std::size_t>(bytes));  // so that every page is there
    }
    float* at(i64 byte) const { return reinterpret_cast<float*>(pages.get() + byte); }
    Pages pages;
    i64 size;
    // On a busy machine two threads may else share a core for as long as a probe takes.
    Pinned pinned{usable_cores()};
};

double StreamRates::best() const { return std::max({read, write, triad}); }

Probe::Probe() {
    const i64 bytes = std::clamp<i64>(memory_bytes() / 8, i64{32} << 20, i64{256} << 20);
    buffer_ = new Buffer(bytes / (3 << 16) * (3 << 16));
}

Probe::~Probe() { delete buffer_; }

double Probe::clock() {
#if defined(__x86_64__)
    return best_of(0.01, [] {
        constexpr int chain = 30000, latency = 3;  // imul r64, since 2008 on every x86
        const double start = now();
        std::uint64_t x = 3;
        for (int i = 0; i < chain / 10; i++)
            asm volatile(
                "imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0\n"
                "imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0\n"
                : "+r"(x));
        return chain * latency / (now() - start);
    });
#else
    return std::numeric_limits<double>::quiet_NaN();
#endif
}

double Probe::multiply_add_rate(int threads) {
    std::vector<double> best(static_cast<std::size_t>(threads));
    Barrier barrier(threads);
    pool().run(threads, [&](int thread) {
        barrier.arrive_and_wait();
        // Bursts far shorter than a time slice: one of them runs undisturbed even on a busy machine.
        best[static_cast<std::size_t>(thread)] = best_of(0.06, [] {
            const double start = now();
            const double operations = isa().multiply_add(4000);
            return operations / (now() - start);
        });
    });
    double sum = 0;
    for (const double rate : best) sum += rate;
    return sum;
}

namespace {

constexpr i64 probe_row = 2048;  // two rows are 16 KiB: half of the smallest first-level cache

/// As naive.cpp sums: without leave to reorder, each addition waits for the one before.
[[gnu::noinline]] float dot(const float* a, const float* b) {
    float sum = 0;
    for (i64 k = 0; k < probe_row; k++) sum += a[k] * b[k];
    return sum;
}

/// As loop_order.cpp builds up a row of C.
[[gnu::noinline]] void add_multiple(float* sums, const float* b, float a) {
    for (i64 q = 0; q < probe_row; q++) sums[q] += a * b[q];
}

/// Operations a second of work() on two rows, in bursts shorter than a time slice.
template <class Work>
double row_operations(Work work) {
    constexpr int bursts = 40;
    return best_of(0.03, [&] {
        const double start = now();
        for (int i = 0; i < bursts; i++) work();
        return 2.0 * probe_row * bursts / (now() - start);
    });
}

}  // namespace

double Probe::dependent_rate() {
    return row_operations([&] { keep(dot(buffer_->at(0), buffer_->at(4 * probe_row))); });
}

double Probe::row_rate() {
    return row_operations([&] { add_multiple(buffer_->at(0), buffer_->at(4 * probe_row), 0.5f); });
}

std::vector<SweepPoint> Probe::read_sweep() {
    std::vector<SweepPoint> sweep;
    const auto rate = [&](i64 bytes) {
        return best_of(0.008, [&] {
            const double start = now();
            i64 done = 0;
            do {
                keep(isa().sum(buffer_->at(0), bytes / 4));
                done += bytes;
            } while (now() - start < 1e-4);
            return static_cast<double>(done) / (now() - start);
        });
    };
    for (i64 octave = 16 << 10; octave <= buffer_->size; octave *= 2)
        for (const i64 bytes : {octave, octave + octave / 2})
            if (bytes <= buffer_->size) sweep.push_back({bytes, rate(bytes)});
    return sweep;
}

namespace {

/// Shortest time of `steps` in which `threads` threads did work(thread, step) side by side. On a busy machine most
/// steps miss a thread; the best one had them all.
template <class Work>
double best_step(int threads, int steps, Work work) {
    double best = std::numeric_limits<double>::infinity();
    Barrier barrier(threads);
    pool().run(threads, [&](int thread) {
        for (int step = 0; step < steps; step++) {
            barrier.arrive_and_wait();
            const double start = now();
            work(thread, step);
            barrier.arrive_and_wait();
            if (thread == 0) best = std::min(best, now() - start);
        }
    });
    return best;
}

}  // namespace

StreamRates Probe::stream_rates(int threads) {
    // The threads go through the whole buffer together, a piece after another, so that each piece has left the caches
    // when they come back to it. A triad cuts its piece in three.
    const i64 piece = (i64{24} << 20) / threads / (3 << 12) * (3 << 12), third = piece / 3;
    const i64 pieces = buffer_->size / (piece * threads);
    const auto rate = [&](auto stream) {
        return static_cast<double>(piece * threads) /
               best_step(threads, static_cast<int>(3 * pieces), [&](int thread, int step) {
                   stream(buffer_->at((step % pieces * threads + thread) * piece));
               });
    };
    StreamRates rates;
    rates.read = rate([&](float* p) { keep(isa().sum(p, piece / 4)); });
    rates.write = rate([&](float* p) { isa().fill(p, piece / 4); });
    rates.triad = rate([&](float* p) { isa().triad(p, p + third / 4, p + third / 2, third / 4); });
    return rates;
}

double Probe::read_rate(int threads, i64 bytes) {
    const i64 part = std::min(bytes, buffer_->size / threads) / 256 * 256;
    const int rounds = static_cast<int>(std::max<i64>(1, (i64{4} << 20) / part));
    const double seconds = best_step(threads, 40, [&](int thread, int) {
        for (int i = 0; i < rounds; i++) keep(isa().sum(buffer_->at(part * thread), part / 4));
    });
    return static_cast<double>(part) * rounds * threads / seconds;
}

double Probe::start_seconds(int threads) {
    return 1 / best_of(0.05, [&] {
               const double start = now();
               pool().run(threads, [](int) {});
               return 1 / (now() - start);
           });
}

double Probe::meet_seconds(int threads) {
    constexpr int meetings = 10;
    Barrier barrier(threads);
    const auto meet = [&](int, int) {
        for (int i = 1; i < meetings; i++) barrier.arrive_and_wait();
    };
    return best_step(threads, 100, meet) / meetings;  // the last meeting is the step's own
}

CacheEdges find_edges(std::vector<SweepPoint> sweep) {
    CacheEdges edges;
    if (sweep.size() < 8) return edges;
    // A larger buffer never streams faster: what is below a later point was disturbed.
    for (std::size_t i = sweep.size() - 1; i-- > 0;)
        sweep[i].bandwidth = std::max(sweep[i].bandwidth, sweep[i + 1].bandwidth);

    // The private cache ends at the first octave that costs much, past any first-level cache and below what no core
    // has alone.
    constexpr i64 least_private = 128 << 10, most_private = 4 << 20;
    const auto fall = [&](std::size_t i) { return sweep[i].bandwidth / sweep[i + 2].bandwidth; };
    for (std::size_t i = 0; i + 3 < sweep.size() && edges.private_bytes == 0; i++)
        if (sweep[i].bytes >= least_private && sweep[i].bytes <= most_private && fall(i) > 1.25 &&
            fall(i) > fall(i + 1))
            edges.private_bytes = sweep[i].bytes;
    // Beyond it lies a shared cache, if memory is slower still than what comes right after the edge.
    const i64 shared_from = 2 * std::max(edges.private_bytes, least_private);
    const auto first =
        std::find_if(sweep.begin(), sweep.end(), [&](const SweepPoint& p) { return p.bytes >= shared_from; });
    const double memory = sweep.back().bandwidth;
    if (first == sweep.end() || first->bandwidth < 1.25 * memory) return edges;
    const double half_way = std::sqrt(first->bandwidth * memory);
    for (auto p = first; p != sweep.end(); ++p)
        if (p->bandwidth >= half_way) edges.last_level_bytes = p->bytes;
    return edges;
}

}  // namespace kernels::cpu
