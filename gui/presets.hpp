#pragma once
// Layers that a person recognises: the first MLP projection of well-known models, at any number of tokens.

#include <span>
#include <string_view>

#include "sim/workload.hpp"

namespace gui {

/// X (tokens, hidden) · W (hidden, inner), then the activation. ReLU stands in for any elementwise one.
struct Preset {
    const char* name;
    sim::i64 hidden, inner;
    const char* activation;  // the model's own
    const char* source;      // where the sizes are published
    bool gated() const { return std::string_view(activation).ends_with("GLU"); }
};
std::span<const Preset> presets();
/// The preset with the sizes of this layer, null where there is none.
const Preset* preset_of(const sim::Dense& layer);

}  // namespace gui
