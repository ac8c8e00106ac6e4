#include "cli/interrupt.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <ostream>

namespace cli {
namespace {

sigset_t stop_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

}  // namespace

Interrupt::Interrupt(bool active) {
    if (!active) return;
    const sigset_t set = stop_signals();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    listener_ = std::thread([this, set] {
        const timespec look_again{0, 50'000'000};  // s, ns: how soon a finished verb is noticed
        while (!over_) {
            if (sigtimedwait(&set, nullptr, &look_again) < 0) continue;
            if (!source_.request_stop()) _exit(interrupted);
        }
    });
}

Interrupt::~Interrupt() {
    if (!listener_.joinable()) return;
    over_ = true;
    listener_.join();
    const sigset_t set = stop_signals();
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

int stopped(Session& session, std::string_view what) {
    session.err() << fmt::format("memwall: {}\n", what);
    return interrupted;
}

}  // namespace cli
