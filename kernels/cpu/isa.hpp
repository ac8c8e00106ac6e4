#pragma once
// The vector code: one source (kernel.inc) compiled once per instruction set, and a table of its functions.
// Only plain data here: an inline function would be compiled with one file's instructions and linked into another's.

#include <cstdint>

namespace kernels::cpu {

/// How elements lie in memory. The vector code knows these three; Dtype is mapped to them.
enum class Format : std::uint8_t { f32, f16, bf16 };
/// What decides whether an element passes or reads as 0: nothing, a matrix (passes where > 0) or its bits.
enum class Gate : std::uint8_t { none, values, bits };

/// A row-major matrix as it is read. A gate has the matrix's shape and, if of values, its format.
struct Source {
    const void* data = nullptr;
    std::int64_t pitch = 0;  // elements
    Format format = Format::f32;
    Gate gate = Gate::none;
    const void* gate_data = nullptr;
    std::int64_t gate_pitch = 0;  // elements of values, bytes of bits
};

/// A row-major matrix as it is written: acc + bias, through ReLU or a gate, rounded, with the bits of what was stored.
struct Sink {
    void* data = nullptr;
    std::int64_t pitch = 0;  // elements
    Format format = Format::f32;
    const void* bias = nullptr;  // a row in the same format, or none
    bool relu = false;
    Gate gate = Gate::none;
    const void* gate_data = nullptr;
    std::int64_t gate_pitch = 0;
    std::uint8_t* bits = nullptr;
    std::int64_t bits_pitch = 0;  // bytes
};

/// Functions of one instruction set. Rows and columns are those of the matrix in memory.
struct Isa {
    const char* name;
    std::int64_t vector_bytes;
    std::int64_t mr, nr;  ///< rows and columns of the register tile; nr is a multiple of 8

    /// to (mr,nr) = [from +] a·b over k rank-1 updates of packed panels a (k,mr) and b (k,nr), then ReLU if asked.
    void (*multiply)(std::int64_t k, const float* a, const float* b, const float* from, std::int64_t from_pitch,
                     float* to, std::int64_t to_pitch, bool relu);
    /// Panels of mr (or nr) columns, each (rows, mr), from the region at (row, col); ragged panels end in zeros. `to`
    /// has 8 floats more than the panels need.
    void (*pack_rows_of_a)(const Source&, std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols,
                           float* to);
    void (*pack_rows_of_b)(const Source&, std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols,
                           float* to);
    /// The same of the region's transpose: panels of mr (or nr) rows, each (cols, mr).
    void (*pack_columns_of_a)(const Source&, std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols,
                              float* to);
    void (*pack_columns_of_b)(const Source&, std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols,
                              float* to);

    /// n elements of a row as f32, gated.
    void (*read_row)(const Source&, std::int64_t row, std::int64_t col, std::int64_t n, float* to);
    /// n sums into a row. Bits are written in whole bytes where col is a multiple of 8.
    void (*write_row)(const Sink&, std::int64_t row, std::int64_t col, std::int64_t n, const float* sums);
    /// A whole row from source to sink: the ReLU and mask passes.
    void (*copy_row)(const Source&, const Sink&, std::int64_t row, std::int64_t n);

    /// `rounds` of independent fused multiply-adds; returns the operations done.
    double (*multiply_add)(std::int64_t rounds);
    /// Streams over n floats: a sum, a fill, and a[i] = b[i] + 3 c[i].
    float (*sum)(const float* a, std::int64_t n);
    void (*fill)(float* a, std::int64_t n);
    void (*triad)(float* a, const float* b, const float* c, std::int64_t n);
};

extern const Isa isa_generic;
#if defined(__x86_64__)
extern const Isa isa_avx2;
extern const Isa isa_avx512;
#endif

/// The widest instruction set that this processor runs.
const Isa& isa();
/// All that this processor runs, narrowest first; returns how many were put in `to` (at most 3).
int supported_isas(const Isa** to);

}  // namespace kernels::cpu
