#pragma once
// cuBLASLt as cases call it: a handle with its workspace.

#include <optional>
#include <string>

#include "kernels/cuda/cublas_lt.hpp"
#include "kernels/cuda/runtime.hpp"
#include "kernels/not_available.hpp"

namespace campaign {

class Library {
public:
    Library(const kernels::cuda::Runtime& r, const kernels::cuda::CublasLt& lt) : lt_(lt) {
        if (!lt.why.empty()) throw kernels::NotAvailable("no cuBLASLt: " + lt.why);
        workspace_.emplace(r, static_cast<sim::i64>(kernels::cuda::LtMatmul::workspace_bytes));
        if (const int result = lt.create(&handle_); result != 0)
            throw kernels::cuda::CudaError(std::string("cublasLtCreate failed: ") + lt.status_name(result));
    }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
    ~Library() { lt_.destroy(handle_); }

    kernels::cuda::LtMatmul matmul(const kernels::Op& op, kernels::cuda::LtEpilogue epilogue,
                                   const kernels::Operands& o) const {
        return {lt_, handle_, op, op.pass, epilogue, o};
    }
    void* workspace() const { return workspace_->data(); }

private:
    const kernels::cuda::CublasLt& lt_;
    std::optional<kernels::cuda::DeviceMemory> workspace_;
    void* handle_ = nullptr;
};

}  // namespace campaign
