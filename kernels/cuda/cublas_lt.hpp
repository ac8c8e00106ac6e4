#pragma once
// NVIDIA's own matmul, opened where it is: one of a layer's three matmuls with what cuBLASLt can fuse into it.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cuda/device_operands.hpp"
#include "kernels/cuda/runtime.hpp"

namespace kernels::cuda {

/// cublasLtMatmulHeuristicResult_t.
struct LtChoice {
    std::array<std::uint64_t, 8> algorithm{};
    std::size_t workspace_bytes = 0;
    int status = 0;
    float waves = 0;
    std::array<int, 4> reserved{};
};

/// The functions of cuBLASLt that are called here, by their documented C interface; 0 is success.
struct CublasLt {
    SharedLibrary library;
    std::string why;  ///< empty exactly when every function is here

    std::size_t (*version)() = nullptr;
    const char* (*status_name)(int) = nullptr;
    int (*create)(void** handle) = nullptr;
    int (*destroy)(void* handle) = nullptr;
    int (*desc_create)(void**, int compute, int scale_type) = nullptr;
    int (*desc_destroy)(void*) = nullptr;
    int (*desc_set)(void*, int attribute, const void* value, std::size_t) = nullptr;
    int (*layout_create)(void**, int type, std::uint64_t rows, std::uint64_t cols, std::int64_t ld) = nullptr;
    int (*layout_destroy)(void*) = nullptr;
    int (*layout_set)(void*, int attribute, const void* value, std::size_t) = nullptr;
    int (*preference_create)(void**) = nullptr;
    int (*preference_destroy)(void*) = nullptr;
    int (*preference_set)(void*, int attribute, const void* value, std::size_t) = nullptr;
    int (*heuristic)(void* handle, void* desc, void* a, void* b, void* c, void* d, void* preference, int asked,
                     LtChoice* choices, int* found) = nullptr;
    int (*matmul)(void* handle, void* desc, const void* alpha, const void* a, void* a_layout, const void* b,
                  void* b_layout, const void* beta, const void* c, void* c_layout, void* d, void* d_layout,
                  const void* algorithm, void* workspace, std::size_t workspace_bytes, void* stream) = nullptr;
};

/// The library of this machine, opened when first asked for.
const CublasLt& cublas_lt();

/// What is fused into a matmul: nothing, ReLU (forward), ReLU that also writes its bits, or the mask of the layer below
/// (dgrad).
enum class LtEpilogue { plain, relu, relu_aux, drelu };

/// One matmul of a layer on one set of operands. Row-major matrices are column-major ones turned round, so the library
/// computes the transpose of what is meant: Yᵀ = Wᵀ·Xᵀ, dXᵀ = W·dZᵀ, dWᵀ = dZᵀ·X.
class LtMatmul {
public:
    static constexpr std::size_t workspace_bytes = 64 << 20;

    /// Why the library has no such matmul, or fits.
    static sim::Fit fits(const Op& op);

    /// Describes the matmul of `pass`. Forward writes z, or y with a ReLU. Throws CudaError.
    LtMatmul(const CublasLt& lt, void* handle, const Op& op, sim::Pass pass, LtEpilogue epilogue, const Operands& o);
    LtMatmul(LtMatmul&& other) noexcept;
    LtMatmul& operator=(LtMatmul&&) = delete;
    ~LtMatmul();

    /// Up to `asked` algorithms, those that the library thinks best first.
    std::vector<LtChoice> choices(int asked) const;
    /// Queues it. The workspace holds workspace_bytes.
    void run(const LtChoice& choice, void* workspace) const;

private:
    void check(int result, const char* call) const;
    void* layout(const Matrix& m, sim::i64 batch) const;
    template <class T>
    void set(int attribute, T value) const {
        check(lt_->desc_set(desc_, attribute, &value, sizeof value), "cublasLtMatmulDescSetAttribute");
    }

    const CublasLt* lt_;
    void* handle_ = nullptr;
    void* desc_ = nullptr;
    void *a_layout_ = nullptr, *b_layout_ = nullptr, *d_layout_ = nullptr;
    const void *a_ = nullptr, *b_ = nullptr;
    void* d_ = nullptr;
    float beta_ = 0;
};

}  // namespace kernels::cuda
