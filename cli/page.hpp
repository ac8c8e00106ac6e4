#pragma once
// The parts that the verbs' pages share: bytes, times, and the table of bound, predicted and measured. Those that
// lessons show are in two languages.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/lesson.hpp"
#include "sim/plan.hpp"
#include "sim/report.hpp"

namespace cli {

/// "HBM", "VMEM": what the device calls a level.
std::string level_name(const sim::Device& d, sim::Level level);

/// What is computed and how it is cut: one or two lines under the experiment.
std::string subject_text(const sim::Report& r, const sim::Device& d, int width,
                         lessons::Language l = lessons::Language::en);

/// How the bytes were counted: "counted by replay", and whether that is an estimate.
std::string counted_by(const sim::Report& r);

/// A row per level, operand and direction: bytes, how many times the operand that is, and why.
std::string traffic_text(const sim::Report& r, const sim::Device& d, int width,
                         lessons::Language l = lessons::Language::en);

/// What a clock said, as a row of the table below.
struct MeasuredLine {
    std::string time, remark;
};
/// bound, predicted and measured, in this order and never blended.
std::string verdict_text(const sim::Report& r, const std::vector<MeasuredLine>& measured, int width,
                         lessons::Language l = lessons::Language::en);

/// The predicted time by kernel and term, and what twice as much of each resource would give.
std::string time_split_text(const sim::Report& r, int width, lessons::Language l = lessons::Language::en);

/// Energy by level and kernel, each a range with where its figures come from.
std::string energy_text(const sim::Report& r, const sim::Device& d, int width);

/// "1.10 TFLOP": operations, not a rate.
std::string operations_text(double flops);

/// Under a title, what one other word would gain; empty where none would.
std::string variations_text(std::string_view title, const sim::Experiment& e, const sim::Catalogue& devices);

/// Why no kernel of this tree launches a GPU experiment as it is said, the model's rules of fit apart; empty where one
/// does, and on other machines.
std::string no_kernel(const sim::Experiment& e, const sim::Device& d);

/// A heading with an empty line before it.
std::string heading(std::string_view title);

/// Bytes of one whole copy of an operand, all its tensors and the batch counted; 0 where the experiment has none.
sim::i64 whole_bytes(const sim::Experiment& e, sim::Operand operand);

}  // namespace cli
