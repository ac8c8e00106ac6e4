#include "kernels/cpu/pool.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <vector>

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

namespace {

/// What the process was allowed when first asked, and the first of those CPUs of every core. Empty: not known.
struct Affinity {
    cpu_set_t mask;
    std::vector<int> cpus;

    Affinity() {
        CPU_ZERO(&mask);
        if (sched_getaffinity(getpid(), sizeof mask, &mask) != 0) return;
        std::set<std::string> cores;
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
            if (!CPU_ISSET(cpu, &mask)) continue;
            std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
            std::string siblings;
            if (!std::getline(file, siblings)) siblings = "cpu " + std::to_string(cpu);
            if (cores.insert(siblings).second) cpus.push_back(cpu);
        }
    }
};

const Affinity& affinity() {
    static const Affinity at_start;
    return at_start;
}

/// CPUs' worth of time that a container grants; many where it does not say.
int quota() {
    std::ifstream file("/sys/fs/cgroup/cpu.max");
    double microseconds = 0, period = 0;
    if (file >> microseconds >> period && period > 0)
        return std::max(1, static_cast<int>(std::ceil(microseconds / period)));
    return CPU_SETSIZE;
}

}  // namespace

int usable_cores() {
    static const int cores = [] {
        const int known = static_cast<int>(affinity().cpus.size());
        const int all = known > 0 ? known : static_cast<int>(std::thread::hardware_concurrency());
        return std::clamp(all, 1, quota());
    }();
    return cores;
}

Pinned::Pinned(int threads) : threads_(threads) {
    const std::vector<int>& cpus = affinity().cpus;
    if (cpus.empty()) return;
    pool().run(threads_, [&](int thread) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpus[static_cast<std::size_t>(thread) % cpus.size()], &one);
        sched_setaffinity(0, sizeof one, &one);
    });
}

Pinned::~Pinned() {
    if (affinity().cpus.empty()) return;
    pool().run(threads_, [](int) { sched_setaffinity(0, sizeof affinity().mask, &affinity().mask); });
}

}  // namespace kernels::cpu
