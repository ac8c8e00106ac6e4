#pragma once
// What a person typed or a file said that cannot be used. One line: what, where, what was expected.

#include <stdexcept>
#include <string>

namespace sim {

/// Bad input from outside (text, file, number). `what()` is one line that names the offending text and
/// what was expected. The command line exits with 2 on it.
struct BadInput : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Whether an experiment can run on a device. `why` is empty exactly when it fits, else one sentence with
/// the need and the limit ("needs 260 KiB of shared memory; a CTA may use 227 KiB").
struct Fit {
    std::string why;
    bool ok() const { return why.empty(); }
    bool operator==(const Fit&) const = default;
};

}  // namespace sim
