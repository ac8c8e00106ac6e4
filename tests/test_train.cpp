// The fused layer against finite differences, and training through it against the unfused path.

#include <doctest/doctest.h>

#include <cmath>

#include "kernels/train.hpp"
#include "tests/fake_gpu.hpp"
#include "tests/random_experiment.hpp"
#include "tests/skips.hpp"

using namespace kernels;

namespace {

constexpr sim::i64 m = 5, n = 7, k = 6;

struct Case {
    const char* name;
    Execute execute;
};
std::vector<Case> backends() { return {{"cpu", on_cpu()}, {"glass", under_glass(tests::catalogue())}}; }

/// Sum of dy · relu(x·w) in double precision.
double weighted(const std::vector<float>& x, const std::vector<float>& w, const std::vector<float>& dy) {
    double sum = 0;
    for (sim::i64 i = 0; i < m; i++)
        for (sim::i64 j = 0; j < n; j++) {
            double z = 0;
            for (sim::i64 p = 0; p < k; p++)
                z += static_cast<double>(x[static_cast<std::size_t>(i * k + p)]) *
                     w[static_cast<std::size_t>(p * n + j)];
            sum += std::max(0.0, z) * dy[static_cast<std::size_t>(i * n + j)];
        }
    return sum;
}

std::vector<float> values(std::size_t count, int salt) {
    std::vector<float> v(count);
    for (std::size_t i = 0; i < count; i++)
        v[i] = std::sin(1.3f * static_cast<float>(i) + static_cast<float>(salt)) + 0.05f;
    return v;
}
Matrix over(std::vector<float>& v, sim::i64 rows, sim::i64 cols) {
    Matrix out;
    out.data = v.data();
    out.rows = rows, out.cols = out.pitch = cols;
    out.batch_pitch = rows * cols;
    return out;
}

}  // namespace

TEST_CASE("the layer's gradients are the finite differences of its output, whatever is fused and kept") {
    std::vector<float> x = values(m * k, 1), w = values(k * n, 2), dy = values(m * n, 3);
    for (const Case& backend : backends())
        for (const sim::Fusion fusion : {sim::Fusion::fused, sim::Fusion::unfused})
            for (const sim::Residual residual : {sim::Residual::y, sim::Residual::mask}) {
                CAPTURE(backend.name);
                CAPTURE(sim::to_string(fusion));
                CAPTURE(sim::to_string(residual));
                FusedDense layer(m, n, k, fusion, residual, backend.execute);
                layer.forward(over(x, m, k), over(w, k, n));
                layer.backward(over(dy, m, n));
                constexpr float h = 1e-3f;
                const auto check = [&](std::vector<float>& at, const Matrix& gradient, sim::i64 cols) {
                    for (std::size_t i = 0; i < at.size(); i++) {
                        const float was = at[i];
                        at[i] = was + h;
                        const double above = weighted(x, w, dy);
                        at[i] = was - h;
                        const double below = weighted(x, w, dy);
                        at[i] = was;
                        CHECK(gradient.get(0, static_cast<sim::i64>(i) / cols, static_cast<sim::i64>(i) % cols) ==
                              doctest::Approx((above - below) / (2 * h)).epsilon(0.01));
                    }
                };
                check(x, layer.dx(), k);
                check(w, layer.dw(), n);
            }
}

TEST_CASE("training: the loss falls, and fused and unfused agree step for step") {
    for (const Case& backend : backends()) {
        CAPTURE(backend.name);
        TrainOptions options;
        options.steps = std::string(backend.name) == "glass" ? 12 : 200;
        for (const sim::Residual residual : {sim::Residual::y, sim::Residual::mask}) {
            options.residual = residual;
            const auto steps = train(backend.execute, options);
            REQUIRE(static_cast<int>(steps.size()) == options.steps);
            for (const TrainStep& s : steps) CHECK(s.fused == doctest::Approx(s.unfused).epsilon(1e-3));
            CHECK(steps.back().fused < (options.steps == 12 ? 0.8 : 0.05) * steps.front().fused);
        }
    }
}

TEST_CASE("training on a GPU compiles and loads each operation once, not once a step") {
    SKIP_WITHOUT(skips::Need::nvrtc);
    const cuda::Runtime r = fake_gpu::install();  // it computes nothing: only what is loaded counts
    TrainOptions options;
    options.steps = 3;
    std::vector<int> loaded;
    train(on_gpu(tests::catalogue(), r), options, [&](double) { loaded.push_back(fake_gpu::state.live_libraries); });
    REQUIRE(loaded.size() == 3);
    CHECK(loaded[0] > 0);
    CHECK(loaded[2] == loaded[0]);
}
