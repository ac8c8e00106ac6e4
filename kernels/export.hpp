#pragma once
// An experiment as source to take home: the same tile in Pallas, Triton or CUDA.

#include <optional>
#include <string>
#include <string_view>

#include "sim/error.hpp"
#include "sim/experiment.hpp"

namespace kernels {

enum class ExportAs { pallas, triton, cuda };
std::string_view to_string(ExportAs);
std::optional<ExportAs> parse_export(std::string_view);

/// Source text, or why the language cannot say this experiment (a Triton tile is a power of two).
struct Exported {
    sim::Fit fit;
    std::string text;
};

/// Runnable source for exactly this tile; with `bench` it times itself beside the guide's tile and the framework's own
/// operation and prints rows of measured data. Tiles must not be "best".
Exported export_source(const sim::Experiment& e, ExportAs as, bool bench, const sim::Catalogue& devices);

}  // namespace kernels
