#pragma once
// What a backend says where it cannot run.

#include <stdexcept>

namespace kernels {

/// A kernel, a backend or a part of this build cannot run here, and why: no compiler, no GPU, no toolkit, no window. One
/// line; the command line exits with 4 on it.
struct NotAvailable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace kernels
