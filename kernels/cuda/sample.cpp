#include "kernels/cuda/sample.hpp"

#include <algorithm>

#include "kernels/cuda/clocks.hpp"

namespace kernels::cuda {
namespace {

constexpr double group_us = 50e3;                    // of work that is queued before the host looks up
constexpr sim::i64 usual_bytes = sim::i64{8} << 30;  // of operands to rotate through

}  // namespace

void sample(const Runtime& r, int sets, const std::function<void(std::size_t)>& queue, const RunOptions& options,
            const std::function<void(double)>& progress, std::stop_token stop, RunResult& result) {
    const auto set_of = [&](int run) { return static_cast<std::size_t>(run) % static_cast<std::size_t>(sets); };
    const auto timed = [&](int runs) {
        const Event first(r), last(r);
        first.record();
        for (int i = 0; i < runs; i++) queue(set_of(i));
        last.record();
        last.wait();
        return std::max(last.us_since(first) / runs, 0.1);
    };
    timed(sets);  // warm-up; the next says how many samples there will be, and how many are queued at a time
    const double once_us = timed(3);
    const auto samples_in = [&](double seconds) {
        return static_cast<int>(std::min<double>(seconds * 1e6 / once_us, options.most_samples));
    };
    const int planned =
        std::max({std::min(options.least_samples, samples_in(options.most_seconds)), samples_in(options.seconds), 1});
    const int group = static_cast<int>(std::clamp(group_us / once_us, 1.0, static_cast<double>(planned)));

    std::vector<Event> events;
    for (int i = 0; i <= group; i++) events.emplace_back(r);
    for (int taken = 0; taken < planned && !stop.stop_requested();) {
        const int now = std::min(group, planned - taken);
        events[0].record();
        for (int i = 0; i < now; i++) {
            queue(set_of(taken + i));
            events[static_cast<std::size_t>(i) + 1].record();
        }
        result.clocks = clock_state();  // while they run
        events[static_cast<std::size_t>(now)].wait();
        for (std::size_t i = 0; i < static_cast<std::size_t>(now); i++)
            result.samples_us.push_back(events[i + 1].us_since(events[i]));
        taken += now;
        if (progress) progress(static_cast<double>(taken) / planned);
    }
    result.cancelled = result.samples_us.empty();
    result.summarise();
}

std::vector<double> sample_parts(const Runtime& r, std::size_t parts, int runs,
                                 const std::function<void(std::size_t, std::size_t)>& queue) {
    std::vector<Event> between;
    for (std::size_t p = 0; p <= parts; p++) between.emplace_back(r);
    std::vector<std::vector<double>> us(parts);
    for (std::size_t i = 0; i < static_cast<std::size_t>(runs); i++) {
        between[0].record();
        for (std::size_t p = 0; p < parts; p++) {
            queue(i, p);
            between[p + 1].record();
        }
        between[parts].wait();
        for (std::size_t p = 0; p < parts; p++) us[p].push_back(between[p + 1].us_since(between[p]));
    }
    std::vector<double> medians;
    for (const auto& samples : us) medians.push_back(samples.empty() ? 0 : median(samples));
    return medians;
}

Rotation rotation(sim::i64 set_bytes, sim::i64 l2_bytes, sim::i64 most_bytes, const RunOptions& options) {
    const sim::i64 cache = options.cache_bytes > 0 ? options.cache_bytes : l2_bytes;
    const sim::i64 wanted = options.warm ? 1 : sim::ceil_div(2 * cache + 1, set_bytes);
    const sim::i64 most = std::min(options.most_bytes > 0 ? options.most_bytes : usual_bytes, most_bytes);
    const sim::i64 sets = std::clamp<sim::i64>(most / set_bytes, 1, wanted);
    return {static_cast<int>(sets), sets * set_bytes > 2 * cache};
}

}  // namespace kernels::cuda
