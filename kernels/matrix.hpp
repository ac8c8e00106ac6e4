#pragma once
// Matrices in memory as kernels see them, and the set of operands of one operation.

#include <cstddef>
#include <memory>

#include "kernels/op.hpp"

namespace kernels {

using sim::Dtype;
using sim::i64;

/// A row-major matrix (rows, cols), `batch` times, that somebody else owns. Pitches count elements.
struct Matrix {
    void* data = nullptr;
    Dtype dtype = Dtype::f32;
    i64 rows = 0, cols = 0;
    i64 pitch = 0;        ///< elements from one row to the next
    i64 batch_pitch = 0;  ///< elements from one problem to the next

    explicit operator bool() const { return data != nullptr; }
    /// Address of element (i, j) of problem b.
    std::byte* at(i64 b, i64 i, i64 j) const {
        return static_cast<std::byte*>(data) + (b * batch_pitch + i * pitch + j) * sim::storage_bytes(dtype);
    }
    /// The value of element (i, j) of problem b.
    float get(i64 b, i64 i, i64 j) const;
    /// Stores `value` rounded to nearest even.
    void set(i64 b, i64 i, i64 j, float value) const;
};

/// One bit an element (1 where it is > 0), rows padded to 128 bits: bit j % 8 of byte j / 8 of its row, which is
/// cuBLASLt's RELU_AUX layout. Pitches count bytes.
struct BitMatrix {
    std::byte* data = nullptr;
    i64 rows = 0, cols = 0;
    i64 pitch = 0;
    i64 batch_pitch = 0;

    explicit operator bool() const { return data != nullptr; }
    std::byte* row(i64 b, i64 i) const { return data + b * batch_pitch + i * pitch; }
    bool get(i64 b, i64 i, i64 j) const { return (std::to_integer<int>(row(b, i)[j / 8]) >> (j % 8)) & 1; }
    void set(i64 b, i64 i, i64 j, bool value) const {
        const auto bit = std::byte{1} << static_cast<int>(j % 8);
        row(b, i)[j / 8] = value ? row(b, i)[j / 8] | bit : row(b, i)[j / 8] & ~bit;
    }
};

/// The operands by their names in the design; those an operation does not touch stay empty.
struct Operands {
    Matrix x, w, bias, z, y, dy, dz, dx, dw;
    BitMatrix mask;    ///< y > 0
    BitMatrix x_mask;  ///< x > 0, for drelu
};

struct FreePages {
    void operator()(std::byte* p) const;
};
using Pages = std::unique_ptr<std::byte, FreePages>;
/// At least `bytes` of memory from a page boundary, of large pages where there are such. Throws std::bad_alloc.
Pages allocate_pages(i64 bytes);

/// Memory for the operands of one operation, in one slab.
class OperandSet {
public:
    /// Operands of `op` with the pitches its layer asks for; zeroed. Throws std::bad_alloc.
    explicit OperandSet(const Op& op);

    const Op& op() const { return op_; }
    const Operands& operands() const { return operands_; }
    /// Bytes of the slab; a set of this operation needs this much.
    static i64 bytes(const Op& op);
    /// Normal values from `seed` in every input; the residual of a backward pass is that of a ReLU's output.
    void fill_normal(std::uint64_t seed);
    /// Takes another set's contents; both must be of the same operation.
    void copy_from(const OperandSet& other);

private:
    Op op_;
    i64 bytes_ = 0;
    Pages slab_;
    Operands operands_;
};

}  // namespace kernels
