#pragma once
// A sweep as predicted time against on-chip bytes: what a bigger tile buys.

#include <functional>
#include <string>

#include "gui/analysis.hpp"

namespace gui {

/// Every choice that fits is a point; those that nothing beats on both are joined. The point under the mouse shows
/// `describe`, a click on it calls `take`.
void draw_front(const Sweep& sweep, const sim::Experiment& now, bool validated,
                const std::function<std::string(const sim::SweepRow&)>& describe,
                const std::function<void(const sim::SweepRow&)>& take);

}  // namespace gui
