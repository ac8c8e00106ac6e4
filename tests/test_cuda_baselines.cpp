// NVIDIA's matmul as it is asked for, on a library that is not there: what it is told decides what is computed, and the
// reference judges the answer. So a wrong transpose, pitch, epilogue or bit mask is found without a GPU.

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/baselines.hpp"
#include "cli/json.hpp"
#include "kernels/ladder.hpp"
#include "tests/fake_gpu.hpp"
#include "tests/skips.hpp"

using namespace kernels;
using namespace kernels::cuda;
using sim::Dtype;

namespace {

/// Column-major matrices and an operation, as the library keeps them.
struct Layout {
    int type;
    std::uint64_t rows, cols;
    std::int64_t ld;
    std::int32_t batch = 1;
    std::int64_t offset = 0;
};
struct Desc {
    int compute;
    std::map<int, std::uint64_t> set;
    std::uint64_t get(int attribute, std::uint64_t usual = 0) const {
        const auto at = set.find(attribute);
        return at == set.end() ? usual : at->second;
    }
};
Dtype type_of(int t) { return t == 14 ? Dtype::bf16 : t == 2 ? Dtype::f16 : Dtype::f32; }
/// Element (row, col) of problem b of a column-major matrix.
Matrix view(const void* data, const Layout& l) {
    return {const_cast<void*>(data),
            type_of(l.type),
            static_cast<sim::i64>(l.cols),
            static_cast<sim::i64>(l.rows),
            l.ld,
            l.offset};
}

struct Counts {
    int handles = 0, objects = 0, matmuls = 0;
    bool refuse = false;
    std::vector<std::uint64_t> epilogues;
};
Counts counts;

int multiply(void*, void* desc, const void* alpha, const void* a, void* a_layout, const void* b, void* b_layout,
             const void* beta, const void* c, void* c_layout, void* d, void* d_layout, const void*, void*, std::size_t,
             void*) {
    const Desc& op = *static_cast<Desc*>(desc);
    const Layout &la = *static_cast<Layout*>(a_layout), &lb = *static_cast<Layout*>(b_layout),
                 &ld = *static_cast<Layout*>(d_layout);
    if (c != d || c_layout != d_layout || *static_cast<const float*>(alpha) != 1) return 7;
    const bool ta = op.get(3) == 1, tb = op.get(4) == 1;
    const std::uint64_t k = ta ? la.rows : la.cols;
    if ((ta ? la.cols : la.rows) != ld.rows || (tb ? lb.rows : lb.cols) != ld.cols || (tb ? lb.cols : lb.rows) != k)
        return 7;  // CUBLAS_STATUS_INVALID_VALUE
    const Matrix ma = view(a, la), mb = view(b, lb), md = view(d, ld);
    const std::uint64_t epilogue = op.get(7, 1);
    const auto bits = reinterpret_cast<std::byte*>(op.get(11));
    const auto bits_ld = static_cast<sim::i64>(op.get(12));
    if ((epilogue & 128) && (bits_ld % 128 != 0 || bits_ld < static_cast<sim::i64>(ld.rows))) return 7;
    for (int p = 0; p < ld.batch; p++)
        for (std::uint64_t col = 0; col < ld.cols; col++)
            for (std::uint64_t row = 0; row < ld.rows; row++) {
                const auto r = static_cast<sim::i64>(row), q = static_cast<sim::i64>(col);
                double sum = 0;
                for (sim::i64 i = 0; i < static_cast<sim::i64>(k); i++)  // a Matrix is read (line, element): (col, row)
                    sum += static_cast<double>(ta ? ma.get(p, r, i) : ma.get(p, i, r)) *
                           (tb ? mb.get(p, i, q) : mb.get(p, q, i));
                float v = static_cast<float>(sum);
                if (const float factor = *static_cast<const float*>(beta); factor != 0) v += factor * md.get(p, q, r);
                if (epilogue & 4)
                    v +=
                        Matrix{reinterpret_cast<void*>(op.get(8)), md.dtype, 1, 1, 0, static_cast<sim::i64>(op.get(10))}
                            .get(p, 0, r);
                BitMatrix mask{bits, q + 1, r + 1, bits_ld / 8, static_cast<sim::i64>(op.get(13)) / 8};
                if (epilogue & 2) v = v > 0 ? v : 0.0f;
                if (epilogue & 8 && !mask.get(p, q, r)) v = 0;
                md.set(p, q, r, v);
                if ((epilogue & 130) == 130) mask.set(p, q, r, md.get(p, q, r) > 0);
            }
    counts.matmuls++;
    counts.epilogues.push_back(epilogue);
    fake_gpu::state.clock_us += 20;
    return 0;
}

template <class T>
int destroy(void* object) {
    delete static_cast<T*>(object);
    counts.objects--;
    return 0;
}
int set_desc(void* desc, int attribute, const void* value, std::size_t size) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, value, size);
    static_cast<Desc*>(desc)->set[attribute] = bits;
    return 0;
}
int set_layout(void* layout, int attribute, const void* value, std::size_t) {
    if (attribute == 5) std::memcpy(&static_cast<Layout*>(layout)->batch, value, 4);
    if (attribute == 6) std::memcpy(&static_cast<Layout*>(layout)->offset, value, 8);
    return attribute == 5 || attribute == 6 ? 0 : 7;
}

CublasLt fake_lt() {
    counts = {};
    CublasLt lt;
    lt.version = [] { return std::size_t{130000}; };
    lt.status_name = [](int) { return "CUBLAS_STATUS_FAKE"; };
    lt.create = [](void** h) { return *h = &counts, counts.handles++, 0; };
    lt.destroy = [](void*) { return counts.handles--, 0; };
    lt.desc_create = [](void** d, int compute, int) { return *d = new Desc{compute, {}}, counts.objects++, 0; };
    lt.desc_destroy = destroy<Desc>;
    lt.desc_set = set_desc;
    lt.layout_create = [](void** l, int type, std::uint64_t rows, std::uint64_t cols, std::int64_t ld) {
        return *l = new Layout{type, rows, cols, ld}, counts.objects++, 0;
    };
    lt.layout_destroy = destroy<Layout>;
    lt.layout_set = set_layout;
    lt.preference_create = [](void** p) { return *p = new int, counts.objects++, 0; };
    lt.preference_destroy = destroy<int>;
    lt.preference_set = [](void*, int attribute, const void*, std::size_t) { return attribute == 1 ? 0 : 7; };
    lt.heuristic = [](void*, void*, void*, void*, void*, void*, void*, int asked, LtChoice* choices, int* found) {
        *found = counts.refuse ? 0 : std::min(asked, 3);
        for (int i = 0; i < *found; i++) choices[i].status = i == 1 ? 15 : 0;
        return 0;
    };
    lt.matmul = multiply;
    return lt;
}

sim::Experiment parse(const std::string& text) {
    return sim::parse_experiment("h200-sxm " + text, sim::Catalogue::builtin());
}
constexpr RunOptions quick = {.seconds = 0, .most_bytes = 1 << 20};

}  // namespace

TEST_CASE("cuda baselines: each library matmul answers what the reference does") {
    const Runtime r = fake_gpu::install();
    const CublasLt lt = fake_lt();
    fake_gpu::state.l2_bytes = 100 << 10;
    const auto names = [&](const std::string& text) {
        std::string all;
        CAPTURE(text);
        for (const Baseline& b : baselines(parse(text), quick, {}, r, lt)) {
            REQUIRE_MESSAGE(b.result.fit.ok(), b.result.fit.why);
            CHECK(b.result.samples_us.size() == 7);
            CHECK(b.result.median_us == doctest::Approx(20).epsilon(1e-3));
            CHECK(b.result.max_error < 0.01);
            all += (all.empty() ? "" : ", ") + b.name;
        }
        return all;
    };
    CHECK(names("37x45x29 bf16 forward fused tile 64x64x32") == "cublaslt, cublaslt RELU, cublaslt RELU_AUX");
    CHECK(counts.epilogues.front() == 1);
    CHECK(counts.epilogues.back() == 130);
    CHECK(names("batch 3 37x45x29 f32 forward fused bias yes tile 64x64x8 rung 04_register_tile") ==
          "cublaslt, cublaslt RELU, cublaslt RELU_AUX");
    CHECK(names("37x45x29 f16 dgrad fused tile 64x64x32") == "cublaslt, cublaslt DRELU");
    CHECK(names("batch 2 37x45x29 bf16 dgrad unfused tile 64x64x32 pitch tight") == "cublaslt, cublaslt DRELU");
    CHECK(names("37x45x29 bf16 wgrad fused tile 64x64x32") == "cublaslt");
    CHECK(names("37x45x29 bf16 wgrad fused accumulate yes tile 64x64x32") == "cublaslt");
    CHECK(counts.handles == 0);
    CHECK(counts.objects == 0);
    CHECK(fake_gpu::state.allocated.empty());
}

TEST_CASE("cuda baselines: the backward pass of a training step has its three rivals") {
    SKIP_WITHOUT(skips::Need::nvrtc);
    const Runtime r = fake_gpu::install();
    const CublasLt lt = fake_lt();
    fake_gpu::state.l2_bytes = 100 << 10;
    const auto all = baselines(parse("40x48x56 bf16 train fused tile 32x32x16 tile.dgrad 32x32x16 tile.wgrad 32x32x16 "
                                     "rung 07_tensor_core"),
                               quick, {}, r, lt);
    REQUIRE(all.size() == 3);
    CHECK(all[0].name == "mask + cublaslt");
    CHECK(all[1].name == "cublaslt DRELU chain");
    CHECK(all[2].name == "cublaslt ceiling");
    CHECK(all[0].result.median_us == doctest::Approx(50).epsilon(1e-3));  // 10 for the mask, 20 for each matmul
    CHECK(all[1].result.median_us == doctest::Approx(40).epsilon(1e-3));
    CHECK(all[2].result.median_us == doctest::Approx(40).epsilon(1e-3));
    for (const fake_gpu::Launch& l : fake_gpu::state.launches) CHECK(l.kernel.find("mask_pass") != std::string::npos);
}

TEST_CASE("cuda baselines: a run prints them beside the part of a training step they stand for, as text and as JSON") {
    SKIP_WITHOUT(skips::Need::nvrtc);
    const Runtime r = fake_gpu::install();
    CublasLt lt = fake_lt();
    fake_gpu::state.l2_bytes = 100 << 10;
    const sim::Experiment e =
        parse("40x48x56 bf16 train fused tile 32x32x16 tile.dgrad 32x32x16 tile.wgrad 32x32x16 rung 07_tensor_core");
    const sim::Report report = sim::predict(e, sim::Catalogue::builtin());
    RunResult own;
    own.samples_us = {90};
    own.summarise();
    own.kernels = {{"matmul", 10}, {"dgrad", 35}, {"wgrad", 40}, {"reduce", 5}};
    const auto all = cli::baselines_of(e, quick, {}, r, lt);
    const auto document =
        nlohmann::json::parse(cli::run_document(report, own, sim::Catalogue::builtin(), &all)).at("baselines");
    std::string names;
    for (const auto& b : document)
        names += b.at("pass").get<std::string>() + " " + b.at("name").get<std::string>() + "; ";
    CHECK(names ==
          "forward cublaslt; forward cublaslt RELU; forward cublaslt RELU_AUX; backward mask + cublaslt; backward "
          "cublaslt DRELU chain; backward cublaslt ceiling; ");
    CHECK(document[3].at("measured").at("median_us").get<double>() == doctest::Approx(50).epsilon(1e-3));
    CHECK(document[3].at("why") == "");
    const std::string text = cli::baselines_text(own, all, 100);
    CAPTURE(text);
    CHECK(text.find("cublaslt RELU_AUX     forward   ") != std::string::npos);
    CHECK(text.find("2.00x") != std::string::npos);   // 20 us forward beside ours of 10
    CHECK(text.find("0.625x") != std::string::npos);  // 50 us backward beside ours of 80

    lt.why = "libcublasLt.so was not found";
    const auto none = cli::baselines_of(e, quick, {}, r, lt);
    const auto why = nlohmann::json::parse(cli::run_document(report, own, sim::Catalogue::builtin(), &none));
    CHECK(why.at("baselines")[0].at("measured").is_null());
    CHECK(why.at("baselines")[0].at("why") == "no cuBLASLt: libcublasLt.so was not found");
    CHECK(cli::baselines_text(own, none, 100).find("libcublasLt.so was not found") != std::string::npos);
    CHECK_FALSE(nlohmann::json::parse(cli::run_document(report, own, sim::Catalogue::builtin())).contains("baselines"));
}

TEST_CASE("cuda baselines: what the library lacks, or its absence, is a reason; no algorithm is an error") {
    const Runtime r = fake_gpu::install();
    CublasLt lt = fake_lt();
    const sim::Experiment e = parse("37x45x29 bf16 forward fused tile 64x64x32");
    counts.refuse = true;
    CHECK_THROWS_WITH(baselines(e, quick, {}, r, lt), "cuBLASLt proposes no algorithm for this matmul");
    lt.why = "libcublasLt.so was not found";
    CHECK(baselines(e, quick, {}, r, lt).at(0).result.fit.why == "no cuBLASLt: libcublasLt.so was not found");
    fake_gpu::state.devices = 0;
    CHECK_THROWS_AS(baselines(e, quick, {}, r, lt), NotAvailable);
}
