#pragma once
// What single views want computed of the scene, off the frame thread: a worker for each, made when its view first asks,
// so that a view nobody looks at costs nothing.

#include <map>
#include <memory>

#include "gui/document.hpp"
#include "gui/latest.hpp"

namespace gui {

class Computations {
public:
    struct Question {
        sim::Experiment experiment;
        sim::i64 step = 0;  // 0 where the answer does not hang on it
        Devices devices;
        bool operator==(const Question&) const = default;
    };
    /// The newest answer; `current` where it is to the question just asked.
    template <class Answer>
    struct Reply {
        const Answer* answer = nullptr;
        bool current = false;
        std::string error;  // why there is none
    };

    explicit Computations(std::function<void()> wake) : wake_(std::move(wake)) {}

    /// Asks `compute`'s worker. The answer lives until the next call with the same function.
    template <class Answer>
    Reply<Answer> ask(Answer (*compute)(const Question&, const Job&), const Question& question) {
        auto& slot = workers_[reinterpret_cast<Key>(compute)];
        if (!slot) slot = std::make_unique<Of<Answer>>(compute, wake_);
        auto& worker = static_cast<Of<Answer>&>(*slot);
        worker.latest.ask(question);
        worker.shown = worker.latest.latest();
        if (!worker.shown) return {};
        const bool current = worker.shown->question == question;
        if (!worker.shown->error.empty()) return {nullptr, current, current ? worker.shown->error : std::string()};
        return {&worker.shown->answer, current, {}};
    }
    /// Blocks until nothing is left to answer.
    void wait() const {
        for (const auto& [key, worker] : workers_) worker->wait();
    }

private:
    using Key = void (*)();
    struct Worker {
        virtual ~Worker() = default;
        virtual void wait() const = 0;
    };
    template <class Answer>
    struct Of : Worker {
        Of(Answer (*compute)(const Question&, const Job&), const std::function<void()>& wake) : latest(compute, wake) {}
        void wait() const override { latest.wait(); }
        Latest<Question, Answer> latest;
        std::shared_ptr<const typename Latest<Question, Answer>::Result> shown;
    };

    std::function<void()> wake_;
    std::map<Key, std::unique_ptr<Worker>> workers_;
};

}  // namespace gui
