#pragma once
// Bugs planted in the rungs for people to find: a kernel whose source has one thing wrong, run under glass beside the
// sound one. kernels/glass/faults.cmake lists them; each is built into the program.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/glass/built.hpp"
#include "kernels/glass/run.hpp"
#include "sim/device.hpp"

namespace kernels::glass {

/// A source file of the kernels as it is with one thing wrong; it has as many lines as the sound one.
struct Fault {
    std::string_view id;    ///< "lost-barrier"
    std::string_view file;  ///< "kernels/device/03_shared_tile.cuh"
    std::string_view text;  ///< the file with the fault
    Built built;            ///< one instance of a rung's kernel with it
};
/// All, in the order of their table.
const std::vector<Fault>& faults();
/// The fault of that id, or null.
const Fault* find_fault(std::string_view id);

/// A line that a fault changes.
struct ChangedLine {
    int line;
    std::string_view was, becomes;
};
std::vector<ChangedLine> changed_lines(const Fault& fault);

/// The kernel of an instance with a fault: built in, or compiled by the host's compiler. Throws NotAvailable as
/// entry_for does.
Entry entry_with(const Fault& fault, const Instance& instance);

/// A sound run and a faulty one, side by side, as they are shown: "8,192", and where they differ "8,192 → 6,144".
struct Comparison {
    /// A number of the whole run.
    struct Total {
        std::string_view name;  ///< error races l2.read sram.read sectors wavefronts
        std::string sound, faulty;
    };
    /// A source line that ran.
    struct Line {
        std::string_view file;  ///< "kernels/device/03_shared_tile.cuh"
        int line;
        std::string_view source;                               ///< its text, without the spaces around it
        std::string instructions, bytes, sectors, wavefronts;  ///< the last two: each instruction's
        bool differs;
    };
    std::vector<Total> totals;
    std::vector<Line> lines;
    // What is to be found out.
    std::string_view file;
    std::vector<ChangedLine> changed;
    std::vector<std::string> findings;  ///< of the faulty run, a sentence each
    /// Whether either run has races, so that pairs of lines stand among the totals.
    bool races = false;
};

/// Runs under glass, sound and with faults, each remembered.
class Counts {
public:
    explicit Counts(sim::Catalogue devices) : devices_(std::move(devices)) {}

    /// The counts of a scene, with a fault or (empty) as it should be; BadInput where there is no such fault.
    const Counted& of(const sim::Experiment& e, std::string_view fault = {});
    /// Both, side by side; BadInput as `of`, and where the scene does not fit.
    Comparison compare(const sim::Experiment& e, const Fault& fault);
    /// One number of them: races (pairs of lines with no barrier between), early (pairs that read a copy not waited
    /// for), wrong (1 where rounding does not explain the error), error (share of the largest value), instructions,
    /// sectors, wavefronts, ideal_wavefronts, bank_conflicts, and bytes as LEVEL.read and LEVEL.write of l2 and
    /// sram. Nothing where there is no such number, or where the scene cannot be run here.
    std::optional<double> number(const sim::Experiment& e, std::string_view name, std::string_view fault = {});

private:
    sim::Catalogue devices_;
    std::mutex running_;                    ///< one run at a time
    std::map<std::string, Counted> known_;  ///< by scene and fault
};

/// What asks `counts` for its numbers, as lessons do; it keeps them alive.
std::function<std::optional<double>(const sim::Experiment&, std::string_view name, std::string_view fault)> counting(
    std::shared_ptr<Counts> counts);

}  // namespace kernels::glass
