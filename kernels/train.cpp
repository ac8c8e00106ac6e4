#include "kernels/train.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <random>

#include "kernels/cpu/rung.hpp"
#include "kernels/cuda/device_operands.hpp"
#include "kernels/cuda/executable.hpp"
#include "kernels/glass/run.hpp"

namespace kernels {

namespace {

using Values = std::vector<float>;

/// A matrix of its own, rows one after another.
struct Owned {
    Owned(i64 rows, i64 cols) : values(static_cast<std::size_t>(rows * cols)) {
        matrix.rows = rows, matrix.cols = matrix.pitch = cols;
        matrix.batch_pitch = rows * cols;
        matrix.data = values.data();
    }
    Owned(Owned&& other) noexcept : values(std::move(other.values)), matrix(other.matrix) {
        matrix.data = values.data();
    }
    Values values;
    Matrix matrix;
};

Owned normal(i64 rows, i64 cols, double scale, std::mt19937_64& random) {
    Owned m(rows, cols);
    std::normal_distribution<double> draw(0, scale);
    for (float& v : m.values) v = static_cast<float>(draw(random));
    return m;
}

/// Kingma and Ba, "Adam", 2015: its usual constants.
class Adam {
public:
    explicit Adam(std::size_t size, double rate) : rate_(rate), mean_(size), square_(size) {}
    void step(Values& weights, const Matrix& gradient) {
        constexpr double keep_mean = 0.9, keep_square = 0.999, least = 1e-8;
        ++steps_;
        for (std::size_t i = 0; i < weights.size(); i++) {
            const double g = gradient.get(0, static_cast<i64>(i) / gradient.cols, static_cast<i64>(i) % gradient.cols);
            mean_[i] = keep_mean * mean_[i] + (1 - keep_mean) * g;
            square_[i] = keep_square * square_[i] + (1 - keep_square) * g * g;
            const double m = mean_[i] / (1 - std::pow(keep_mean, steps_));
            const double s = square_[i] / (1 - std::pow(keep_square, steps_));
            weights[i] -= static_cast<float>(rate_ * m / (std::sqrt(s) + least));
        }
    }

private:
    double rate_;
    int steps_ = 0;
    std::vector<double> mean_, square_;
};

/// relu(X·W1)·W2 and its training.
class Net {
public:
    Net(const TrainOptions& o, sim::Fusion fusion, std::uint64_t seed, const Execute& execute)
        : random_(seed),
          w1_(normal(o.inputs + 1, o.hidden, 1 / std::sqrt(o.inputs), random_)),
          w2_(normal(o.hidden, 1, 1 / std::sqrt(o.hidden), random_)),
          hidden_(o.samples, o.hidden, o.inputs + 1, fusion, o.residual, execute),
          output_(o.samples, 1, o.hidden, sim::Fusion::none, o.residual, execute),
          gradient_(o.samples, 1),
          adam1_(w1_.values.size(), o.rate),
          adam2_(w2_.values.size(), o.rate) {}

    const Matrix& predict(const Matrix& x) {
        hidden_.forward(x, w1_.matrix);
        output_.forward(hidden_.y(), w2_.matrix);
        return output_.y();
    }
    /// The loss before the update.
    double step(const Matrix& x, const Matrix& target) {
        const Matrix& y = predict(x);
        double loss = 0;
        const auto samples = static_cast<double>(y.rows);
        for (i64 i = 0; i < y.rows; i++) {
            const double off = static_cast<double>(y.get(0, i, 0)) - target.get(0, i, 0);
            loss += off * off / samples;
            gradient_.matrix.set(0, i, 0, static_cast<float>(2 * off / samples));
        }
        output_.backward(gradient_.matrix);
        hidden_.backward(output_.dx());
        adam2_.step(w2_.values, output_.dw());
        adam1_.step(w1_.values, hidden_.dw());
        return loss;
    }

private:
    std::mt19937_64 random_;
    Owned w1_, w2_;
    FusedDense hidden_, output_;
    Owned gradient_;
    Adam adam1_, adam2_;
};

/// The experiment of an operation on a GPU's rung 04, whose 64x64x16 tile is built in under glass.
sim::Experiment experiment_of(const Op& op, const sim::Device& d) {
    sim::Experiment e = sim::usual_experiment(d, op.dense, op.pass, op.fusion);
    e.rung = "04_register_tile";
    e.engine = sim::Engine::simt;
    e.pipeline = sim::Pipeline::none;
    e.stages = 1;
    e.tile = {64, 64, 16};
    e.residual = op.residual;
    return e;
}

}  // namespace

std::vector<TrainStep> train(const Execute& execute, const TrainOptions& o, const std::function<void(double)>& progress,
                             std::stop_token stop) {
    std::mt19937_64 random(o.seed);
    Owned x = normal(o.samples, o.inputs + 1, 1, random);
    for (i64 i = 0; i < o.samples; i++) x.matrix.set(0, i, o.inputs, 1);  // the constant that stands in for a bias
    Net teacher(o, sim::Fusion::fused, o.seed + 1, on_cpu());
    Owned target(o.samples, 1);
    copy(teacher.predict(x.matrix), target.matrix);

    Net fused(o, sim::Fusion::fused, o.seed + 2, execute), unfused(o, sim::Fusion::unfused, o.seed + 2, execute);
    std::vector<TrainStep> steps;
    for (int s = 0; s < o.steps && !stop.stop_requested(); s++) {
        steps.push_back({fused.step(x.matrix, target.matrix), unfused.step(x.matrix, target.matrix)});
        if (progress) progress(static_cast<double>(s + 1) / o.steps);
    }
    return steps;
}

Execute on_cpu() {
    return [](const Op& op, OperandSet& set) {
        cpu::Control control;
        cpu::Config config;
        config.threads = 1;  // these layers are small
        cpu::execute(op, set.operands(), config, control);
    };
}

Execute under_glass(const sim::Catalogue& devices) {
    return [&device = devices.at("rtx-a6000")](const Op& op, OperandSet& set) {
        const std::vector<glass::Finding> findings = glass::execute(experiment_of(op, device), set.operands());
        if (!findings.empty()) throw std::runtime_error("under glass: " + findings.front().what);
    };
}

Execute on_gpu(const sim::Catalogue& devices, const cuda::Runtime& r) {
    if (const sim::Fit here = cuda::available(r); !here.ok()) throw NotAvailable(here.why);
    struct Loaded {
        Op op;
        cuda::Executable executable;
    };
    const auto loaded = std::make_shared<std::deque<Loaded>>();  // each operation is compiled and loaded once
    return [&r, loaded, &device = devices.at("rtx-a6000"), gpu = cuda::gpu(r)](const Op& op, OperandSet& set) {
        const sim::Experiment e = resolved(experiment_of(op, device));
        auto at = std::find_if(loaded->begin(), loaded->end(), [&](const Loaded& l) { return l.op == op; });
        if (at == loaded->end()) at = loaded->insert(at, {op, cuda::Executable(r, gpu, e)});
        const cuda::Executable& executable = at->executable;
        const cuda::DeviceOperands operands(r, set);
        const cuda::DeviceMemory partial(r, std::max<i64>(executable.partial_bytes(e), 1));
        executable.bind(e, operands.operands(), partial.data()).launch_all();
        operands.download(set);
    };
}

}  // namespace kernels
