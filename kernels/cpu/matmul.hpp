#pragma once
// The matmul that every pass comes down to, and what the rungs that compute it are given.

#include <atomic>
#include <functional>
#include <stop_token>

#include "kernels/cpu/isa.hpp"
#include "kernels/cpu/pool.hpp"
#include "kernels/matrix.hpp"
#include "sim/tiling.hpp"

namespace kernels::cpu {

/// A logical matrix: the source, or its transpose.
struct Factor {
    Source source;
    bool transposed = false;
};

/// c (rows,cols) = a (rows,red) · b (red,cols), finished as the sink says.
struct Matmul {
    i64 rows = 0, cols = 0, red = 0;
    Factor a, b;
    Sink c;
    bool accumulate = false;  ///< c, an f32 matrix, is added to
};

/// Cancellation and progress of a run, shared by its threads. Work is counted in multiply-adds.
class Control {
public:
    explicit Control(std::stop_token stop = {}, std::function<void(double)> report = {}, double total = 0)
        : stop_(std::move(stop)), report_(std::move(report)), total_(total) {}

    bool stopped() const { return stop_.stop_requested(); }
    /// Adds finished work. Thread 0, the caller's, passes the share done on to `report`.
    void advance(int thread, double work) {
        if (!report_) return;
        const double done = done_.fetch_add(work, std::memory_order_relaxed) + work;
        if (thread == 0) report_(done / total_);
    }

private:
    std::stop_token stop_;
    std::function<void(double)> report_;
    const double total_;
    std::atomic<double> done_{0};
};

/// Memory that grows as asked and stays: page faults cost more than a small matmul.
class Scratch {
public:
    /// At least n floats, aligned to a page; what was there before is gone if it grows.
    float* floats(i64 n);

private:
    Pages pages_;
    i64 size_ = 0;
};

/// How to run: the tile in the letters of the matmul, threads, and who may stop it.
struct Context {
    const Isa& isa;
    sim::Tile tile;
    int threads = 1;
    Control& control;
};

/// Elements (i, k) … (i, k + n - 1) of a factor, gated.
void factor_row(const Factor&, const Isa&, i64 i, i64 k, i64 n, float* to);
/// n elements of a source's row: where they lie if they are plain f32, else gated and converted into `buffer`.
const float* row_segment(const Source&, const Isa&, i64 row, i64 col, i64 n, float* buffer);
/// Stores a row's finished sums, adding what is there if the matmul accumulates.
void finish_row(const Matmul&, const Isa&, i64 i, i64 j, i64 n, float* sums);
/// sums (cols) += row i of a · b over red steps from k, columns from j. `buffer` holds red + max(cols, red) floats.
void add_product(const Matmul&, const Isa&, i64 i, i64 j, i64 k, i64 cols, i64 red, float* sums, float* buffer);

// The rungs. Each checks for a stop between rows or tiles of its output and returns early, leaving it unfinished.
void naive(const Matmul&, const Context&);
void loop_order(const Matmul&, const Context&);
void cache_tile(const Matmul&, const Context&);
void packed(const Matmul&, const Context&);

}  // namespace kernels::cpu
