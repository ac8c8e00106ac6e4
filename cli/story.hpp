#pragma once
// The sentences of `memwall explain`: why the bytes move, what fusion can save, what a claim would break. Every number
// in them is one of the report's.

#include <string>
#include <vector>

#include "lessons/lesson.hpp"
#include "sim/report.hpp"

namespace cli {

/// Why the operand that moves most moves so often, and what would change that. One sentence each.
std::vector<std::string> diagnosis(const sim::Report& r, const sim::Device& d);

/// What a tile takes on chip: VMEM copies (TPU), occupancy and waves (GPU), the packed tile (CPU).
std::vector<std::string> on_chip(const sim::Report& r, const sim::Device& d,
                                 lessons::Language l = lessons::Language::en);

/// Every way of fusing with this tile: bytes, time, which wins, and what fusing can save at most. Empty for fusion
/// none.
std::string fusion_text(const sim::Experiment& e, const sim::Catalogue& devices, int width);

/// Judges a claimed time by the inequality it breaks: flops / peak, bytes / bandwidth, or none.
std::vector<std::string> judge_claim(const sim::Report& r, const sim::Device& d, double claim_us);

/// What the model of this kind of machine leaves out.
std::vector<std::string> not_modelled(const sim::Device& d);

}  // namespace cli
