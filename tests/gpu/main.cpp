// memwall_gpu: the measuring campaign's program. run.sh starts it; by hand:
//   memwall_gpu plan                         steps, cases, guessed seconds
//   memwall_gpu rehearse [--compile]         what can be checked without a GPU
//   memwall_gpu freeze                       predict the drawn cases and write them to the folder of cases
//   memwall_gpu run FOLDER [--seconds S] [--of S] [--steps a,b] [--ids a,b] [--most N] [--no-shares]
//   memwall_gpu here | serve | report FOLDER | validate FILE
// Before them: --cases DIR (tests/gpu/cases). Exit codes: 0 done, 1 our own fault, 2 bad input, 4 no GPU here, 75 run
// again.

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <sstream>

#include "kernels/not_available.hpp"
#include "sim/measurement.hpp"
#include "sim/validate.hpp"
#include "tests/gpu/campaign.hpp"
#include "tests/gpu/rehearse.hpp"

namespace {

using namespace campaign;

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> parts;
    std::stringstream in(list);
    for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
    return parts;
}

void validate(const std::string& file) {
    const sim::Validation v = sim::validate(sim::read_measurements(file), sim::Catalogue::builtin());
    int predicted = 0;
    for (const sim::ValidatedRow& r : v.rows) predicted += r.why_skipped.empty();
    fmt::print("{} rows, {} with a prediction\n", v.rows.size(), predicted);
}

int run_main(int argc, char** argv) {
    const auto words = std::vector<std::string>(argv + 1, argv + argc);
    std::vector<std::string> plain;
    Machine machine;
    machine.program = argv[0];
    machine.cases = "tests/gpu/cases";
    Plan plan;
    bool compile = false;
    for (std::size_t i = 0; i < words.size(); i++) {
        const auto value = [&]() -> const std::string& {
            if (i + 1 == words.size()) throw sim::BadInput(words[i] + " needs a value");
            return words[++i];
        };
        if (words[i] == "--cases")
            machine.cases = value();
        else if (words[i] == "--seconds")
            plan.seconds = std::atof(value().c_str());
        else if (words[i] == "--of")
            plan.campaign_seconds = std::atof(value().c_str());
        else if (words[i] == "--steps")
            plan.only = split(value());
        else if (words[i] == "--ids")
            plan.ids = split(value());
        else if (words[i] == "--most")
            plan.most_cases = std::atoi(value().c_str());
        else if (words[i] == "--no-shares")
            plan.shares = false;
        else if (words[i] == "--compile")
            compile = true;
        else
            plain.push_back(words[i]);
    }
    for (const std::string& name : plan.only) step_of(name);
    const std::string verb = plain.empty() ? "" : plain[0], operand = plain.size() > 1 ? plain[1] : "";
    if (verb == "plan") return print_plan(machine.cases), 0;
    if (verb == "rehearse") return rehearse(machine.cases, compile, plan.seconds) ? 0 : 1;
    if (verb == "freeze") {
        for (const Step& s : steps())
            if (s.frozen) freeze(drawn(s), machine.cases / fmt::format("{}.csv", s.name));
        return 0;
    }
    if (verb == "report" && !operand.empty()) return report(Journal(operand), operand), 0;
    if (verb == "validate" && !operand.empty()) return validate(operand), 0;
    if (verb == "sanitized" && !operand.empty()) return run_sanitized(machine, operand);
    if (verb != "run" && verb != "serve" && verb != "here")
        throw sim::BadInput(
            fmt::format("\"{}\": expected plan, rehearse, freeze, here, run, serve, report or validate", verb));
    if (const sim::Fit here = kernels::cuda::available(machine.runtime); !here.ok())
        throw kernels::NotAvailable(here.why);
    if (verb == "here") {
        const sim::Fit same = kernels::cuda::same_gpu(sim::Catalogue::builtin().at(std::string(device_id)),
                                                      kernels::cuda::gpu(machine.runtime));
        if (!same.ok()) throw kernels::NotAvailable(same.why);
        return 0;
    }
    if (verb == "serve") return serve(machine, stdin, stdout), 0;
    if (operand.empty()) throw sim::BadInput("run needs a folder for its results");
    Journal journal(operand);
    return run(machine, plan, journal) == Ending::again ? 75 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run_main(argc, argv);
    } catch (const sim::BadInput& e) {
        fmt::print(stderr, "memwall_gpu: {}\n", e.what());
        return 2;
    } catch (const kernels::NotAvailable& e) {
        fmt::print(stderr, "memwall_gpu: {}\n", e.what());
        return 4;
    } catch (const std::exception& e) {
        fmt::print(stderr, "memwall_gpu: {}\n", e.what());
        return 1;
    }
}
