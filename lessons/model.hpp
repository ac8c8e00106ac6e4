#pragma once
// The model as the lessons ask it: a quantity of a scene by name, with its unit. Every number a learner sees or is
// asked for comes from here.

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lessons/expression.hpp"
#include "sim/report.hpp"

namespace lessons {

/// A number had by really running a kernel, as it should be or (not empty) with a planted fault: a count ("wavefronts",
/// "races"), bytes ("l2.read") or "time" in seconds; nothing where it cannot be had here. Lessons know the model only,
/// so whoever can run a kernel passes this in.
using Counted =
    std::function<std::optional<double>(const sim::Experiment&, std::string_view name, std::string_view fault)>;
/// Whether a name is a count: counted.NAME, or faulty.NAME of a kernel with a fault.
bool is_count(std::string_view name);

/// A quantity's name and what it is. Names of traffic are made: LEVEL[.OPERAND][.read|.write|.moved|.CAUSE].
struct QuantityInfo {
    std::string_view name, what;
};
/// Every name that a lesson may use, apart from traffic.
std::span<const QuantityInfo> quantities();

/// Named scenes of a lesson, used in brackets as @name.
using Scenes = std::map<std::string, std::string>;

class Model {
public:
    explicit Model(sim::Catalogue devices, Counted counted = {});

    const sim::Catalogue& devices() const { return devices_; }
    /// The report of a line, remembered. BadInput where it cannot be read.
    const sim::Report& report(const std::string& line);

    /// The value of an expression in a scene. BadInput where it has none.
    Value value(const Expression& e, const std::string& line, const Scenes& scenes = {});
    /// The value of one name, with words in brackets. BadInput where it has none.
    Value quantity(std::string_view name, std::string_view edit, const std::string& line, const Scenes& scenes = {});
    /// Whether every counted number of the expression can be had here.
    bool has_counts(const Expression& e, const std::string& line, const Scenes& scenes = {});

    /// The line that words in brackets make of a scene: "@name" begins with a named scene.
    std::string scene(std::string_view edit, const std::string& line, const Scenes& scenes) const;

private:
    Value of_report(std::string_view name, const std::string& line);
    std::optional<double> count(std::string_view name, std::string_view edit, const std::string& line,
                                const Scenes& scenes) const;

    sim::Catalogue devices_;
    Counted counted_;
    std::map<std::string, sim::Report> reports_;
};

}  // namespace lessons
