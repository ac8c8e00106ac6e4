#pragma once
// What a clock can find out about the processor at hand. Every probe takes the best of several tries: whatever else
// runs here can only make it slower.

#include <vector>

#include "sim/units.hpp"

namespace kernels::cpu {

using sim::i64;

/// Rate at which one core reads a buffer over and over.
struct SweepPoint {
    i64 bytes = 0;
    double bandwidth = 0;  ///< B/s
};

/// Where a sweep falls. 0 = it does not fall there.
struct CacheEdges {
    i64 private_bytes = 0;     ///< largest size that streams from a core's own cache
    i64 last_level_bytes = 0;  ///< size at which reads are half way (in logarithm) from the last cache to DRAM
};

/// Rates of DRAM by what is done with it, in B/s of what the program reads and writes.
struct StreamRates {
    double read = 0, write = 0, triad = 0;
    double best() const;
};

/// Buffers for the probes below: 256 MiB, or an eighth of the memory here if that is less.
class Probe {
public:
    Probe();
    ~Probe();
    Probe(const Probe&) = delete;
    Probe& operator=(const Probe&) = delete;

    /// Core clock in Hz from a chain of multiplications of known latency; NaN where that is not known.
    double clock();
    /// f32 operations per second of fused multiply-adds, `threads` cores at once.
    double multiply_add_rate(int threads);
    /// f32 operations per second of one core in loops of plain C++: a dot product, whose additions wait for each other,
    /// and a row to which a multiple of another is added, all of it in the first-level cache.
    double dependent_rate();
    double row_rate();
    /// Reads of 16 KiB up to the whole buffer, two sizes an octave. One core.
    std::vector<SweepPoint> read_sweep();
    /// `threads` cores streaming through the buffer at once.
    StreamRates stream_rates(int threads);
    /// Rate at which `threads` cores together read, each from `bytes` of its own.
    double read_rate(int threads, i64 bytes);
    /// Seconds to start work on `threads` threads and see it done, and for them to meet once while they are at work.
    double start_seconds(int threads);
    double meet_seconds(int threads);

private:
    struct Buffer;
    Buffer* buffer_;
};

/// Finds the falls of a sweep. Noise that only lowers single points is ignored.
CacheEdges find_edges(std::vector<SweepPoint> sweep);

}  // namespace kernels::cpu
