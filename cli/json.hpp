#pragma once
// Every JSON document the program prints. Their keys are a contract: they are written in json.cpp and nowhere else.

#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/baselines.hpp"
#include "kernels/glass/run.hpp"
#include "kernels/run.hpp"
#include "lessons/course.hpp"
#include "lessons/journal.hpp"
#include "sim/report.hpp"
#include "sim/time_steps.hpp"
#include "sim/validate.hpp"

namespace cli {

/// A real kernel of the ladder, as `memwall kernels` lists it.
struct KernelRow {
    std::string rung, idea, engine, pipeline;
    std::vector<std::string> passes, fusions, dtypes;
    std::string arch_min;  ///< empty: any
    sim::Fit available;
    /// What the compiler says of it for an architecture that was named.
    struct Compiled {
        sim::Tile tile;
        int registers = 0;
        sim::i64 smem_bytes = 0, spill_bytes = 0;
        double compile_ms = 0;
    };
    std::optional<Compiled> compiled = {};
};

/// A row of a sweep as a report; `reason` says why it was rejected, else rank >= 1.
struct RankedReport {
    sim::Report report;
    int rank = 0;
    bool tie = false;
    bool pareto = false;
    std::string reason;
};

std::string predict_document(const sim::Report& report, const sim::Catalogue& devices);
/// predict's object with "measured" added, and "baselines" where they were asked for.
std::string run_document(const sim::Report& report, const kernels::RunResult& result, const sim::Catalogue& devices,
                         const std::vector<kernels::cuda::Baseline>* baselines = nullptr);
/// predict's object with "counted" added.
std::string counted_document(const sim::Report& report, const kernels::glass::Counted& counted,
                             const sim::Catalogue& devices);
std::string compare_document(const sim::Report& a, const sim::Report& b, const std::vector<sim::TimeStep>& steps,
                             const sim::Catalogue& devices);
std::string sweep_document(const std::vector<RankedReport>& rows, const sim::Catalogue& devices);
/// With "ablate" (mean error with each term left out) and "loso" (by source and device) where asked.
std::string validate_document(const sim::Validation& validation, const std::vector<sim::Trial>& trials, bool ablate,
                              bool loso);
std::string devices_document(const std::vector<const sim::Device*>& devices);
/// With what the learner has done so far: "progress", null where a lesson was not begun.
std::string lessons_document(const lessons::Course& course, const lessons::Journal& journal, lessons::Model& model);
/// `with_resources`: for an architecture that was named, so that each row has the keys of Compiled, null where it does
/// not compile for it.
std::string kernels_document(const std::vector<KernelRow>& kernels, bool with_resources = false);

}  // namespace cli
