#pragma once
// Ctrl-C as a stop_token: what runs ends in its own time and leaves nothing half done.

#include <atomic>
#include <stop_token>
#include <string_view>
#include <thread>

#include "cli/verb.hpp"

namespace cli {

/// While it lives, Ctrl-C (and SIGTERM) asks for a stop instead of ending the process; a second one ends it at once.
/// Threads started meanwhile inherit that. Does nothing where `active` is false.
class Interrupt {
public:
    explicit Interrupt(bool active);
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    std::stop_token token() const { return source_.get_token(); }
    bool stopped() const { return source_.stop_requested(); }

private:
    std::stop_source source_;
    std::atomic<bool> over_{false};
    std::thread listener_;
};

/// Says on stderr what was stopped and returns the exit code for it.
int stopped(Session& session, std::string_view what);

}  // namespace cli
