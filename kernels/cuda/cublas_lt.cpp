#include "kernels/cuda/cublas_lt.hpp"

#include <fmt/format.h>

#include <utility>

namespace kernels::cuda {
namespace {

// Values of cublasComputeType_t, cudaDataType, cublasLtMatmulDescAttributes_t, cublasLtMatrixLayoutAttribute_t,
// cublasLtMatmulPreferenceAttributes_t, cublasLtEpilogue_t and cublasOperation_t.
constexpr int compute_f32 = 68, compute_tf32 = 77;
constexpr int real_f32 = 0, real_f16 = 2, real_bf16 = 14;
constexpr int attribute_transa = 3, attribute_transb = 4, attribute_epilogue = 7, attribute_bias = 8,
              attribute_bias_batch_stride = 10, attribute_aux = 11, attribute_aux_ld = 12,
              attribute_aux_batch_stride = 13;
constexpr int layout_batch_count = 5, layout_batch_offset = 6;
constexpr int preference_workspace = 1;
constexpr std::uint32_t epilogue_default = 1, epilogue_relu = 2, epilogue_bias = 4, epilogue_relu_aux = 2 | 128,
                        epilogue_drelu = 8 | 128;
constexpr int transposed = 1;

CublasLt open() {
    CublasLt lt;
    lt.library = SharedLibrary::open("cublasLt");
    lt.why = lt.library.why();
    if (!lt.library) return lt;
    const auto get = [&](const char* symbol, auto*& function) {
        if (!lt.library.get(symbol, function) && lt.why.empty())
            lt.why = fmt::format("{} has no {}", lt.library.path(), symbol);
    };
    get("cublasLtGetVersion", lt.version);
    get("cublasLtGetStatusName", lt.status_name);
    get("cublasLtCreate", lt.create);
    get("cublasLtDestroy", lt.destroy);
    get("cublasLtMatmulDescCreate", lt.desc_create);
    get("cublasLtMatmulDescDestroy", lt.desc_destroy);
    get("cublasLtMatmulDescSetAttribute", lt.desc_set);
    get("cublasLtMatrixLayoutCreate", lt.layout_create);
    get("cublasLtMatrixLayoutDestroy", lt.layout_destroy);
    get("cublasLtMatrixLayoutSetAttribute", lt.layout_set);
    get("cublasLtMatmulPreferenceCreate", lt.preference_create);
    get("cublasLtMatmulPreferenceDestroy", lt.preference_destroy);
    get("cublasLtMatmulPreferenceSetAttribute", lt.preference_set);
    get("cublasLtMatmulAlgoGetHeuristic", lt.heuristic);
    get("cublasLtMatmul", lt.matmul);
    return lt;
}

int data_type(sim::Dtype t) { return t == sim::Dtype::f16 ? real_f16 : t == sim::Dtype::bf16 ? real_bf16 : real_f32; }

}  // namespace

const CublasLt& cublas_lt() {
    static const CublasLt opened = open();
    return opened;
}

sim::Fit LtMatmul::fits(const Op& op) {
    if (op.dense.dtype == sim::Dtype::e4m3) return {"cuBLASLt takes e4m3 only with W transposed and both scaled"};
    return {};
}

LtMatmul::LtMatmul(const CublasLt& lt, void* handle, const Op& op, sim::Pass pass, LtEpilogue epilogue,
                   const Operands& o)
    : lt_(&lt), handle_(handle) {
    const sim::i64 batch = op.dense.batch;
    check(lt.desc_create(&desc_, op.dense.dtype == sim::Dtype::tf32 ? compute_tf32 : compute_f32, real_f32),
          "cublasLtMatmulDescCreate");
    const Matrix *a = &o.w, *b = &o.x, *d = epilogue == LtEpilogue::plain ? &o.z : &o.y;
    if (pass == sim::Pass::dgrad) {
        b = &o.dz;
        d = &o.dx;
        set(attribute_transa, transposed);
    } else if (pass == sim::Pass::wgrad) {
        a = &o.dz;
        d = &o.dw;
        set(attribute_transb, transposed);
        if (op.accumulate) beta_ = 1;
    }

    std::uint32_t fused = epilogue == LtEpilogue::relu       ? epilogue_relu
                          : epilogue == LtEpilogue::relu_aux ? epilogue_relu_aux
                          : epilogue == LtEpilogue::drelu    ? epilogue_drelu
                                                             : epilogue_default;
    if (pass == sim::Pass::forward && o.bias) {
        fused = fused == epilogue_default ? epilogue_bias : fused | epilogue_bias;
        set(attribute_bias, static_cast<const void*>(o.bias.data));
        if (batch > 1) set(attribute_bias_batch_stride, std::int64_t{o.bias.batch_pitch});
    }
    set(attribute_epilogue, fused);
    if (epilogue == LtEpilogue::relu_aux || epilogue == LtEpilogue::drelu) {
        constexpr std::int64_t bits_a_byte = 8;
        const BitMatrix& mask = epilogue == LtEpilogue::drelu ? o.x_mask : o.mask;
        set(attribute_aux, static_cast<const void*>(mask.data));
        set(attribute_aux_ld, std::int64_t{mask.pitch * bits_a_byte});
        if (batch > 1) set(attribute_aux_batch_stride, std::int64_t{mask.batch_pitch * bits_a_byte});
    }
    a_layout_ = layout(*a, batch);
    b_layout_ = layout(*b, batch);
    d_layout_ = layout(*d, batch);
    a_ = a->data;
    b_ = b->data;
    d_ = d->data;
}

LtMatmul::LtMatmul(LtMatmul&& o) noexcept
    : lt_(o.lt_),
      handle_(o.handle_),
      desc_(std::exchange(o.desc_, nullptr)),
      a_layout_(std::exchange(o.a_layout_, nullptr)),
      b_layout_(std::exchange(o.b_layout_, nullptr)),
      d_layout_(std::exchange(o.d_layout_, nullptr)),
      a_(o.a_),
      b_(o.b_),
      d_(o.d_),
      beta_(o.beta_) {}

LtMatmul::~LtMatmul() {
    if (desc_) lt_->desc_destroy(desc_);
    for (void* l : {a_layout_, b_layout_, d_layout_})
        if (l) lt_->layout_destroy(l);
}

void LtMatmul::check(int result, const char* call) const {
    if (result != 0) throw CudaError(fmt::format("{} failed: {}", call, lt_->status_name(result)));
}

void* LtMatmul::layout(const Matrix& m, sim::i64 batch) const {
    void* made = nullptr;
    check(lt_->layout_create(&made, data_type(m.dtype), static_cast<std::uint64_t>(m.cols),
                             static_cast<std::uint64_t>(m.rows), m.pitch),
          "cublasLtMatrixLayoutCreate");
    if (batch > 1) {
        const auto count = static_cast<std::int32_t>(batch);
        const std::int64_t offset = m.batch_pitch;
        check(lt_->layout_set(made, layout_batch_count, &count, sizeof count), "cublasLtMatrixLayoutSetAttribute");
        check(lt_->layout_set(made, layout_batch_offset, &offset, sizeof offset), "cublasLtMatrixLayoutSetAttribute");
    }
    return made;
}

std::vector<LtChoice> LtMatmul::choices(int asked) const {
    void* preference = nullptr;
    check(lt_->preference_create(&preference), "cublasLtMatmulPreferenceCreate");
    const std::uint64_t bytes = workspace_bytes;
    int result = lt_->preference_set(preference, preference_workspace, &bytes, sizeof bytes), found = 0;
    std::vector<LtChoice> all(static_cast<std::size_t>(asked));
    if (result == 0)
        result = lt_->heuristic(handle_, desc_, a_layout_, b_layout_, d_layout_, d_layout_, preference, asked,
                                all.data(), &found);
    lt_->preference_destroy(preference);
    check(result, "cublasLtMatmulAlgoGetHeuristic");
    all.resize(static_cast<std::size_t>(found));
    std::erase_if(all, [](const LtChoice& c) { return c.status != 0; });
    return all;
}

void LtMatmul::run(const LtChoice& choice, void* workspace) const {
    const float alpha = 1;
    check(lt_->matmul(handle_, desc_, &alpha, a_, a_layout_, b_, b_layout_, &beta_, d_, d_layout_, d_, d_layout_,
                      choice.algorithm.data(), workspace, choice.workspace_bytes, nullptr),
          "cublasLtMatmul");
}

}  // namespace kernels::cuda
