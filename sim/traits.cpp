#include "sim/traits.hpp"

#include <algorithm>

namespace sim {

std::span<const Trait> known_traits() {
    static const std::vector<Trait> table = {
        {"access", {"coalesced", "uncoalesced"}, "no tile in shared memory: every thread loads its own through L1"},
        {"vector", {"1", "2", "4"}, "elements a thread's load brings; 1 makes narrow types as slow as f32"},
        {"swizzle", {"0", "1"}, "0: fragments are read from shared memory with bank conflicts"},
        {"reg_prefetch", {"1"}, "the next fragments are fetched while these multiply"},
        {"epilogue_serial", {"1"}, "a persistent kernel that does not overlap its epilogue"},
        {"inputs", {"easy", "zeros"}, "few bits toggle: no power limit"},
        {"relu", {"reverse"}, "the elementwise pass walks Z from its end"},
        {"dispatch", {"0"}, "timed on the device: the host's call is not in it"},
    };
    return table;
}

bool has_trait(const Experiment& e, std::string_view key, std::string_view value) {
    if (e.traits.empty()) return false;
    const auto it = e.traits.find(std::string(key));
    return it != e.traits.end() && it->second == value;
}

std::vector<std::string> unread_traits(const Experiment& e) {
    std::vector<std::string> unread;
    for (const auto& [key, value] : e.traits) {
        const bool read = std::any_of(known_traits().begin(), known_traits().end(), [&](const Trait& t) {
            return t.key == key && std::find(t.values.begin(), t.values.end(), value) != t.values.end();
        });
        if (!read) unread.push_back(key + "=" + value);
    }
    return unread;
}

}  // namespace sim
