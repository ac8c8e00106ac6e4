#include "gui/runner.hpp"

#include <fmt/format.h>

#include <ctime>

namespace gui {
namespace {

std::string today() {
    const std::time_t now = std::time(nullptr);
    char text[16];
    std::tm parts{};
    std::strftime(text, sizeof text, "%Y-%m-%d", gmtime_r(&now, &parts));
    return text;
}

}  // namespace

kernels::cpu::RunResult Runner::run(const Question& q, const Job& job) {
    return kernels::cpu::run(kernels::op_of(q.experiment), kernels::cpu::config_of(q.experiment), {}, job.progress,
                             job.stop);
}

std::vector<MeasuredRow> Runner::take() {
    const auto newest = work_.latest();
    if (newest == shown_) return {};
    shown_ = newest;
    if (!result() || !result()->fit.ok() || result()->samples_us.empty()) return {};
    const kernels::cpu::RunResult& r = *result();
    const sim::Experiment& e = newest->question.experiment;
    MeasuredRow row;
    row.experiment = e;
    row.row.device = e.device;
    row.row.pass = e.pass;
    row.row.dtype = e.dense.dtype;
    row.row.batch = e.dense.batch;
    row.row.m = e.dense.m;
    row.row.n = e.dense.n;
    row.row.k = e.dense.k;
    row.row.bm = e.tile.bm;
    row.row.bn = e.tile.bn;
    row.row.bk = e.tile.bk;
    row.row.time_us = r.median_us;
    row.row.min_us = r.min_us;
    row.row.max_us = r.max_us;
    row.row.samples = static_cast<sim::i64>(r.samples_us.size());
    row.row.max_error = r.max_error;
    row.row.machine = r.machine;
    row.row.date = today();
    return {std::move(row)};
}

std::string Runner::problem() const {
    if (!shown_) return {};
    if (!shown_->error.empty()) return shown_->error;
    return shown_->answer.fit.why;
}

std::string Runner::why_not(const sim::Experiment& experiment, const sim::Device& device) {
    if (device.kind != sim::DeviceKind::cpu)
        return fmt::format("only a cpu can be run on this machine; this is a {}", sim::to_string(device.kind));
    return kernels::cpu::fits(kernels::op_of(experiment), kernels::cpu::config_of(experiment)).why;
}

}  // namespace gui
