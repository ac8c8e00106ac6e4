#pragma once
// Every JSON document the program prints. Their keys are a contract: they are written in json.cpp and nowhere else.

#include <optional>
#include <string>
#include <vector>

#include "cli/steps.hpp"
#include "sim/report.hpp"
#include "sim/validate.hpp"

namespace cli {

/// A real kernel of the ladder, as `memwall kernels` lists it.
struct KernelRow {
    std::string rung, idea, engine, pipeline;
    std::vector<std::string> passes, fusions, dtypes;
    std::string arch_min;  ///< empty: any
    sim::Fit available;
};

/// What a clock said of an experiment that was run here.
struct Measured {
    double median_us = 0, min_us = 0, max_us = 0;
    int samples = 0;
    double max_error = 0;
    std::string machine;
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
/// predict's object with "measured" added.
std::string run_document(const sim::Report& report, const Measured& measured, const sim::Catalogue& devices);
std::string compare_document(const sim::Report& a, const sim::Report& b, const std::vector<TimeStep>& steps,
                             const sim::Catalogue& devices);
std::string sweep_document(const std::vector<RankedReport>& rows, const sim::Catalogue& devices);
std::string validate_document(const sim::Validation& validation);
std::string devices_document(const std::vector<const sim::Device*>& devices);
std::string kernels_document(const std::vector<KernelRow>& kernels);

}  // namespace cli
