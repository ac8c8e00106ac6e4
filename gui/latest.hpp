#pragma once
// Work off the frame thread where only the newest question matters.

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

namespace gui {

/// What a job may look at and say while it runs.
struct Job {
    std::stop_token stop;
    std::function<void(double)> progress;  // 0..1
};

/// Answers the newest question on a thread of its own. A newer question stops the one in work and its answer is
/// dropped. An exception's text becomes `error` of the answer.
template <class Question, class Answer>
class Latest {
  public:
    struct Result {
        Question question;
        Answer answer{};
        std::string error;  // empty when answered
    };
    using Compute = std::function<Answer(const Question&, const Job&)>;

    /// `wake` is called from the worker when progress or an answer is there.
    Latest(Compute compute, std::function<void()> wake) : compute_(std::move(compute)), wake_(std::move(wake)) {}

    ~Latest() {
        stop();
        thread_.request_stop();
        changed_.notify_all();
    }

    /// Asks, unless exactly this was asked last.
    void ask(const Question& question) {
        const std::scoped_lock lock(mutex_);
        if (asked_ && *asked_ == question) return;
        asked_ = waiting_ = question;
        current_.request_stop();
        if (!thread_.joinable()) thread_ = std::jthread([this](std::stop_token end) { loop(end); });
        changed_.notify_all();
    }

    /// Stops the work in hand and forgets the question, so that the same one can be asked again.
    void stop() {
        const std::scoped_lock lock(mutex_);
        asked_.reset();
        waiting_.reset();
        current_.request_stop();
    }

    /// The newest finished answer, which may be to an older question than the one asked last; null before the first.
    std::shared_ptr<const Result> latest() const {
        const std::scoped_lock lock(mutex_);
        return result_;
    }

    bool busy() const {
        const std::scoped_lock lock(mutex_);
        return waiting_ || working_;
    }
    double progress() const { return progress_; }

    /// Blocks until nothing is left to answer.
    void wait() const {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !waiting_ && !working_; });
    }

  private:
    static constexpr double least_progress = 0.005;  // less than that is not worth a frame

    void loop(std::stop_token end) {
        std::unique_lock lock(mutex_);
        while (changed_.wait(lock, end, [&] { return waiting_.has_value(); })) {
            auto result = std::make_shared<Result>(Result{*std::exchange(waiting_, std::nullopt), {}, {}});
            current_ = std::stop_source();
            working_ = true;
            progress_ = 0;
            const Job job{current_.get_token(), [this](double share) {
                              if (share < progress_ + least_progress && share < 1) return;
                              progress_ = share;
                              wake_();
                          }};
            lock.unlock();
            try {
                result->answer = compute_(result->question, job);
            } catch (const std::exception& e) {
                result->error = e.what();
            }
            lock.lock();
            working_ = false;
            if (!job.stop.stop_requested()) result_ = std::move(result);
            changed_.notify_all();
            lock.unlock();
            wake_();
            lock.lock();
        }
    }

    Compute compute_;
    std::function<void()> wake_;
    mutable std::mutex mutex_;
    mutable std::condition_variable_any changed_;
    std::optional<Question> asked_, waiting_;
    std::shared_ptr<const Result> result_;
    std::stop_source current_;
    bool working_ = false;
    std::atomic<double> progress_ = 0;
    std::jthread thread_;  // last: it ends before what it uses
};

}  // namespace gui
