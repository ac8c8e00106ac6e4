#pragma once
// The command line as a function, so that tests call it without a process.

#include <functional>
#include <string>
#include <vector>

#include "cli/verb.hpp"

namespace cli {

/// Runs one command. `words` are the arguments without the program's name; `lab` is what no verb at all opens.
/// Returns the exit code; an error is exactly one line on `terminal.err`. Throws nothing.
int main(const std::vector<std::string>& words, const Terminal& terminal, const std::function<int(Session&)>& lab);
/// The same, plain: no window, no progress, 80 columns.
int main(const std::vector<std::string>& words, std::ostream& out, std::ostream& err);

}  // namespace cli
