#pragma once
// Threads that stay alive between calls, and a barrier for those that work together.

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace kernels::cpu {

/// Waits until `value` differs from `old`: spins for some microseconds, then sleeps. Spinning on would take the core
/// from whoever is to change it.
void wait_while(const std::atomic<unsigned>& value, unsigned old);
/// Waits until `value`, which only rises, is at least `least`.
void wait_until_at_least(const std::atomic<unsigned>& value, std::int64_t least);

/// Where `count` threads wait for one another. What each did before is seen by all after.
class Barrier {
public:
    explicit Barrier(int count) : count_(count) {}
    void arrive_and_wait();

private:
    const unsigned count_;
    std::atomic<unsigned> arrived_{0}, phase_{0};
};

/// Runs a function on n threads, the caller's among them.
class Pool {
public:
    Pool() = default;
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    /// Calls f(0) here and f(1) … f(threads - 1) on other threads; returns when all have. f must not throw and must
    /// not call run. Callers of several threads take turns.
    template <class F>
    void run(int threads, F&& f) {
        using Function = std::remove_reference_t<F>;
        run_erased(
            threads, [](void* function, int thread) { (*static_cast<Function*>(function))(thread); }, &f);
    }

private:
    struct Worker {
        std::atomic<unsigned> calls{0};  // raised for each call this worker takes part in
        std::thread thread;
    };

    void run_erased(int threads, void (*call)(void*, int), void* f);
    void work(int thread, const std::atomic<unsigned>& calls);

    std::mutex turn_;
    std::deque<Worker> workers_;
    std::atomic<unsigned> running_{0};
    void (*call_)(void*, int) = nullptr;  // null tells the workers to end
    void* f_ = nullptr;
};

/// The pool of this process.
Pool& pool();

/// Ties the first `threads` threads of pool() to a core each while it lives, the calling thread to the first.
class Pinned {
public:
    explicit Pinned(int threads);
    ~Pinned();
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;

private:
    std::vector<cpu_set_t> before_;  // of each thread
};

}  // namespace kernels::cpu
