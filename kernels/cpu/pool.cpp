#include "kernels/cpu/pool.hpp"

#include "kernels/cpu/machine.hpp"

namespace kernels::cpu {

namespace {

void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

constexpr int spins = 2000;  // 20-100 µs: longer than a balanced wait between two steps, shorter than a time slice

}  // namespace

void wait_while(const std::atomic<unsigned>& value, unsigned old) {
    for (int spin = 0; spin < spins; spin++) {
        if (value.load(std::memory_order_acquire) != old) return;
        relax();
    }
    while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
}

void wait_until_at_least(const std::atomic<unsigned>& value, std::int64_t least) {
    for (unsigned seen; static_cast<std::int64_t>(seen = value.load(std::memory_order_acquire)) < least;)
        wait_while(value, seen);
}

void Barrier::arrive_and_wait() {
    if (count_ == 1) return;
    const unsigned phase = phase_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == count_) {
        arrived_.store(0, std::memory_order_relaxed);
        phase_.store(phase + 1, std::memory_order_release);
        phase_.notify_all();
    } else {
        wait_while(phase_, phase);
    }
}

void Pool::run_erased(int threads, void (*call)(void*, int), void* f) {
    if (threads <= 1) return call(f, 0);
    const std::lock_guard lock(turn_);
    while (static_cast<int>(workers_.size()) < threads - 1) {
        const int thread = static_cast<int>(workers_.size()) + 1;
        Worker& worker = workers_.emplace_back();
        worker.thread = std::thread([this, thread, &worker] { work(thread, worker.calls); });
    }
    call_ = call;
    f_ = f;
    running_.store(static_cast<unsigned>(threads - 1), std::memory_order_relaxed);
    for (int i = 0; i < threads - 1; i++) {
        workers_[i].calls.fetch_add(1, std::memory_order_release);
        workers_[i].calls.notify_one();
    }
    call(f, 0);
    for (unsigned left; (left = running_.load(std::memory_order_acquire)) != 0;) wait_while(running_, left);
}

void Pool::work(int thread, const std::atomic<unsigned>& calls) {
    for (unsigned seen = 0;; seen++) {
        wait_while(calls, seen);
        if (!call_) return;
        call_(f_, thread);
        if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) running_.notify_one();
    }
}

Pool::~Pool() {
    call_ = nullptr;
    for (Worker& worker : workers_) {
        worker.calls.fetch_add(1, std::memory_order_release);
        worker.calls.notify_one();
    }
    for (Worker& worker : workers_) worker.thread.join();
}

Pool& pool() {
    static Pool the_pool;
    return the_pool;
}

Pinned::Pinned(int threads) : before_(static_cast<std::size_t>(threads)) {
    const std::vector<int>& cpus = core_cpus();
    if (cpus.empty()) return;
    pool().run(threads, [&](int thread) {
        const auto i = static_cast<std::size_t>(thread);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpus[i % cpus.size()], &one);
        if (sched_getaffinity(0, sizeof(cpu_set_t), &before_[i]) == 0) sched_setaffinity(0, sizeof one, &one);
    });
}

Pinned::~Pinned() {
    if (core_cpus().empty()) return;
    pool().run(static_cast<int>(before_.size()), [&](int thread) {
        sched_setaffinity(0, sizeof(cpu_set_t), &before_[static_cast<std::size_t>(thread)]);
    });
}

}  // namespace kernels::cpu
