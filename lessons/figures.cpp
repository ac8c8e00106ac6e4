#include "lessons/figures.hpp"

#include <algorithm>
#include <array>

namespace lessons {
namespace {

constexpr std::array rows = {
    Figure{"headline", Phrase::figure_headline}, Figure{"traffic", Phrase::figure_traffic},
    Figure{"tiles", Phrase::figure_tiles},       Figure{"roofline", Phrase::figure_roofline},
    Figure{"time", Phrase::figure_time},         Figure{"sweep", Phrase::figure_sweep},
    Figure{"measure", Phrase::figure_measure},   Figure{"experiment", Phrase::figure_experiment},
};

}  // namespace

std::span<const Figure> figures() { return rows; }

const Figure* find_figure(std::string_view id) {
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const Figure& f) { return f.id == id; });
    return at == rows.end() ? nullptr : &*at;
}

}  // namespace lessons
