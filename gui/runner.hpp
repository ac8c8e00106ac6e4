#pragma once
// Runs the real CPU kernel of an experiment off the frame thread.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gui/latest.hpp"
#include "gui/measured.hpp"
#include "kernels/cpu/run.hpp"

namespace gui {

class Runner {
  public:
    explicit Runner(std::function<void()> wake) : work_(run, std::move(wake)) {}

    /// Checks and times the experiment's kernel here; one run at a time.
    void start(const sim::Experiment& experiment) { work_.ask({experiment, ++count_}); }
    void cancel() { work_.stop(); }
    bool running() const { return work_.busy(); }
    double progress() const { return work_.progress(); }
    void wait() const { work_.wait(); }

    /// What was measured since the last call, as rows like any others.
    std::vector<MeasuredRow> take();
    /// The last finished run, null before the first.
    const kernels::cpu::RunResult* result() const {
        return shown_ && shown_->error.empty() ? &shown_->answer : nullptr;
    }
    const sim::Experiment* experiment() const { return shown_ ? &shown_->question.experiment : nullptr; }
    /// Why the last run gave nothing; empty when it did.
    std::string problem() const;

    /// Why the experiment cannot run on this machine; empty when it can.
    static std::string why_not(const sim::Experiment& experiment, const sim::Device& device);

  private:
    struct Question {
        sim::Experiment experiment;
        int number;  // each start is a run of its own
        bool operator==(const Question&) const = default;
    };
    using Work = Latest<Question, kernels::cpu::RunResult>;
    static kernels::cpu::RunResult run(const Question&, const Job&);

    int count_ = 0;
    std::shared_ptr<const Work::Result> shown_;
    Work work_;
};

}  // namespace gui
