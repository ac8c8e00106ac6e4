#pragma once
// What a verb is: a row of the table in cli.cpp, with its options as data and one function that does it.

#include <iosfwd>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/not_available.hpp"
#include "sim/device.hpp"

namespace cli {

/// Exit codes: a contract of the command line.
enum Exit : int { done = 0, our_fault = 1, bad_input = 2, does_not_fit = 3, not_available = 4, interrupted = 130 };

/// A backend, a part of this build or a machine that is not here.
using kernels::NotAvailable;

/// One option of a verb; `value` names what follows it ("N"), or is empty for a switch.
struct Option {
    std::string_view name;  ///< "--top", "-o"
    std::string_view value;
    std::string_view what;
};

/// What was typed after the verb.
struct Arguments {
    std::vector<std::string> words;              ///< operands, in order
    std::map<std::string, std::string> options;  ///< by Option::name; a switch has ""

    bool has(std::string_view option) const { return options.count(std::string(option)) != 0; }
    /// The option's text, or null where it was not given.
    const std::string* value(std::string_view option) const;
    /// The option's text as a whole number of at least 1; BadInput names option and text.
    std::optional<int> count(std::string_view option) const;
};

/// Where a verb writes and what it may ask of the terminal.
struct Terminal {
    std::ostream& out;
    std::ostream& err;
    int width = 80;              ///< columns that prose is wrapped to
    bool progress = false;       ///< err is a terminal: progress may be drawn on it
    bool interactive = false;    ///< a person may be asked to wait: Ctrl-C stops cleanly
    std::istream* in = nullptr;  ///< where answers come from; null = the standard input
};

/// One run of the program: its terminal and the devices it knows.
class Session {
public:
    Session(Terminal terminal, const std::vector<std::string>& device_folders);

    std::ostream& out() { return terminal_.out; }
    std::ostream& err() { return terminal_.err; }
    std::istream& in();
    const Terminal& terminal() const { return terminal_; }

    /// The devices built in, those of ~/.config/memwall/devices and of --device-dir.
    const sim::Catalogue& devices() const { return devices_; }
    /// The same, and `cpu` where one of the texts names it.
    const sim::Catalogue& devices_for(std::span<const std::string> texts);
    /// Adds `cpu` if it was calibrated before. Never calibrates.
    void add_calibrated_cpu();
    /// Adds `cpu`: as it was stored, or measured now with a line on stderr where there is none or `anew` asks for it.
    void calibrate_cpu(bool anew);

    /// Draws a progress line on a terminal, over itself; 1 clears it. Does nothing elsewhere.
    void progress(std::string_view what, double fraction);

private:
    Terminal terminal_;
    sim::Catalogue devices_;
    int drawn_ = -1;  // per cent on the progress line; -1 = there is none
};

struct Verb {
    std::string_view name;
    std::string_view operands;        ///< as in the usage line: "\"EXPERIMENT\""
    std::string_view what;            ///< one line of --help
    std::size_t least = 0, most = 0;  ///< operands
    bool joins = false;               ///< its one operand is a sentence: words typed without quotes are joined
    std::vector<Option> options;
    int (*run)(const Arguments&, Session&) = nullptr;
};

// One file each; the table in cli.cpp lists them in the order of --help.
extern const Verb train_verb, explain_verb, predict_verb, compare_verb, sweep_verb, run_verb, validate_verb,
    devices_verb, kernels_verb, export_verb, lint_verb, screenshot_verb, lessons_verb, lesson_verb, drill_verb,
    quiz_verb, glossary_verb;

/// The experiment that `memwall explain` shows when none is given: the published kernel that began the project.
extern const std::string_view default_experiment;
/// Explains it.
int explain_default(Session& session);

}  // namespace cli
