#include "lessons/figures.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace lessons {
namespace {

constexpr std::array rows = {
    Figure{"headline", Phrase::figure_headline}, Figure{"traffic", Phrase::figure_traffic},
    Figure{"tiles", Phrase::figure_tiles},       Figure{"roofline", Phrase::figure_roofline},
    Figure{"time", Phrase::figure_time},         Figure{"sweep", Phrase::figure_sweep},
    Figure{"measure", Phrase::figure_measure},   Figure{"experiment", Phrase::figure_experiment},
    Figure{"counters", Phrase::figure_counters}, Figure{"fault", Phrase::figure_fault},
};

}  // namespace

std::span<const Figure> figures() { return rows; }

const char* counter_name(std::string_view name, Language l) {
    static constexpr std::pair<std::string_view, Phrase> names[] = {
        {"error", Phrase::counter_error},     {"races", Phrase::counter_races},
        {"l2.read", Phrase::counter_l2_read}, {"sram.read", Phrase::counter_sram_read},
        {"sectors", Phrase::counter_sectors}, {"wavefronts", Phrase::counter_wavefronts},
    };
    for (const auto& [id, words] : names)
        if (id == name) return phrase(words, l);
    return "";
}

const Figure* find_figure(std::string_view id) {
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const Figure& f) { return f.id == id; });
    return at == rows.end() ? nullptr : &*at;
}

}  // namespace lessons
