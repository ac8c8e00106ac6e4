#include "kernels/matrix.hpp"

#include <sys/mman.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "kernels/numeric.hpp"

namespace kernels {

using sim::Fusion;
using sim::Pass;
using sim::Residual;

float Matrix::get(i64 b, i64 i, i64 j) const {
    const std::byte* p = at(b, i, j);
    if (dtype == Dtype::f16 || dtype == Dtype::bf16) {
        std::uint16_t h;
        std::memcpy(&h, p, sizeof h);
        return dtype == Dtype::f16 ? f16_to_float(h) : bf16_to_float(h);
    }
    float f;
    std::memcpy(&f, p, sizeof f);
    return f;
}

void Matrix::set(i64 b, i64 i, i64 j, float value) const {
    std::byte* p = at(b, i, j);
    if (dtype == Dtype::f16 || dtype == Dtype::bf16) {
        const std::uint16_t h = dtype == Dtype::f16 ? float_to_f16(value) : float_to_bf16(value);
        std::memcpy(p, &h, sizeof h);
    } else {
        std::memcpy(p, &value, sizeof value);
    }
}

namespace {

/// Places matrices one after another in a slab; with a null base it only counts.
struct Layout {
    std::byte* base;
    const sim::Dense& dense;
    i64 used = 0;

    std::byte* take(i64 bytes) {
        std::byte* p = base ? base + used : nullptr;
        // Not a multiple of 4 KiB: equal rows of two matrices should not compete for the same cache sets.
        used += sim::round_up(bytes, 4096) + 1088;
        return p;
    }
    void matrix(Matrix& to, Dtype dtype, i64 rows, i64 cols) {
        const i64 size = sim::storage_bytes(dtype);
        const i64 pitch = dense.pitch == sim::Pitch::padded ? sim::round_up(cols * size, 16) / size : cols;
        to = {nullptr, dtype, rows, cols, pitch, rows * pitch};
        to.data = take(dense.batch * to.batch_pitch * size);
    }
    void bits(BitMatrix& to, i64 rows, i64 cols) {
        to = {nullptr, rows, cols, sim::round_up(cols, 128) / 8, 0};
        to.batch_pitch = rows * to.pitch;
        to.data = take(dense.batch * to.batch_pitch);
    }
};

/// Lays out what the operation touches; returns the bytes.
i64 lay_out(const Op& op, std::byte* base, Operands& o) {
    const sim::Dense& d = op.dense;
    Layout layout{base, d};
    const bool forward = op.runs(Pass::forward), dgrad = op.runs(Pass::dgrad), wgrad = op.runs(Pass::wgrad);
    const bool backward = dgrad || wgrad;
    const bool masks = backward && (op.fusion == Fusion::unfused || op.fusion == Fusion::fused);
    const bool by_bits = op.residual == Residual::mask;
    const bool by_x = dgrad && op.fusion == Fusion::upstream && op.drelu;

    if (forward || wgrad || (by_x && !by_bits)) layout.matrix(o.x, d.dtype, d.m, d.k);
    if (forward || dgrad) layout.matrix(o.w, d.dtype, d.k, d.n);
    if (forward && d.bias) layout.matrix(o.bias, d.out, 1, d.n);
    if (forward && (op.fusion == Fusion::none || op.fusion == Fusion::unfused)) layout.matrix(o.z, d.out, d.m, d.n);
    if ((forward && op.fusion != Fusion::none) || (masks && !by_bits)) {
        if (o.z && op.in_place)
            o.y = o.z;
        else
            layout.matrix(o.y, d.out, d.m, d.n);
    }
    if (by_bits && ((forward && op.fusion != Fusion::none) || masks)) layout.bits(o.mask, d.m, d.n);
    if (masks) layout.matrix(o.dy, d.out, d.m, d.n);
    if (backward && op.fusion != Fusion::fused) {
        if (masks && op.in_place)
            o.dz = o.dy;
        else
            layout.matrix(o.dz, d.out, d.m, d.n);
    }
    if (dgrad) layout.matrix(o.dx, d.dtype, d.m, d.k);
    if (wgrad) layout.matrix(o.dw, op.accumulate ? Dtype::f32 : d.dtype, d.k, d.n);
    if (by_x && by_bits) layout.bits(o.x_mask, d.m, d.k);
    return layout.used;
}

/// xorshift64*; `normal` adds four uniform 16-bit parts, which is normal out to 3.4 sigma and costs a nanosecond.
struct Random {
    std::uint64_t state;
    std::uint64_t next() {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        return state * 0x2545f4914f6cdd1d;
    }
    float normal() {
        const std::uint64_t u = next();
        const auto sum = static_cast<int>((u & 0xffff) + (u >> 16 & 0xffff) + (u >> 32 & 0xffff) + (u >> 48));
        return static_cast<float>(sum - 131070) * (1.0f / 37837.2f);
    }
};

}  // namespace

OperandSet::OperandSet(const Op& op) : op_(op), bytes_(bytes(op)) {
    slab_ = allocate_pages(bytes_);
    std::memset(slab_.get(), 0, static_cast<std::size_t>(bytes_));
    lay_out(op, slab_.get(), operands_);
}

i64 OperandSet::bytes(const Op& op) {
    Operands unused;
    return lay_out(op, nullptr, unused);
}

void OperandSet::fill_normal(std::uint64_t seed) {
    Random random{seed * 0x9e3779b97f4a7c15 | 1};
    const Operands& o = operands_;
    const auto fill = [&](const Matrix& to, float scale, bool relu = false) {
        if (!to) return;
        for (i64 b = 0; b < op_.dense.batch; b++)
            for (i64 i = 0; i < to.rows; i++)
                for (i64 j = 0; j < to.cols; j++) {
                    const float v = random.normal() * scale;
                    to.set(b, i, j, relu && !(v > 0) ? 0.0f : v);
                }
    };
    const auto fill_bits = [&](const BitMatrix& to, const Matrix& of) {
        if (!to) return;
        for (i64 b = 0; b < op_.dense.batch; b++)
            for (i64 i = 0; i < to.rows; i++)
                for (i64 j = 0; j < to.cols; j++) to.set(b, i, j, of ? of.get(b, i, j) > 0 : random.next() >> 63);
    };
    fill(o.x, 1);
    fill(o.w, 1 / std::sqrt(static_cast<float>(op_.dense.k)));
    fill(o.bias, 1);
    if (!op_.runs(Pass::forward)) {
        fill(o.y, 1, true);
        fill_bits(o.mask, o.y);
    }
    fill(o.dy, 1);
    if (op_.fusion != Fusion::unfused) fill(o.dz, 1);
    if (op_.accumulate) fill(o.dw, 1);
    fill_bits(o.x_mask, o.x);
}

void OperandSet::copy_from(const OperandSet& other) {
    std::memcpy(slab_.get(), other.slab_.get(), static_cast<std::size_t>(bytes_));
}

Pages allocate_pages(i64 bytes) {
    constexpr i64 small_page = 4096, large_page = i64{2} << 20;
    const i64 page = bytes >= large_page ? large_page : small_page;
    const auto size = static_cast<std::size_t>(sim::round_up(bytes, page));
    Pages pages(static_cast<std::byte*>(std::aligned_alloc(static_cast<std::size_t>(page), size)));
    if (!pages) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (page == large_page) madvise(pages.get(), size, MADV_HUGEPAGE);
#endif
    return pages;
}

void FreePages::operator()(std::byte* p) const { std::free(p); }

}  // namespace kernels
