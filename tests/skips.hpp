#pragma once
// What a test may need that a machine may lack. Each need has one row in skips.cpp with the number of test cases that
// ask for it; a full run fails where another number asked, so that no test is skipped unnoticed.

#include <doctest/doctest.h>

#include <string>

namespace skips {

/// nvrtc = its library; gpu = an NVIDIA GPU with driver and runtime; display = an X or Wayland display; jax = Python
/// with JAX.
enum class Need { nvrtc, gpu, display, jax };

/// Notes that the test at this place asks for `need`: empty where it is here, else one phrase that says what is
/// missing.
std::string missing(Need need, const char* file, int line);
/// Test cases skipped so far.
int skipped();
/// After a full run: empty where the numbers that asked are those of the table, else one line for each that is not.
std::string disagreement();

}  // namespace skips

/// Ends the test case where `need` is missing, and prints why. One need a test case, at its top.
#define SKIP_WITHOUT(need)                                                                                  \
    if (const std::string missing_here = skips::missing(need, __FILE__, __LINE__); !missing_here.empty()) { \
        MESSAGE("skipped: " << missing_here);                                                               \
        return;                                                                                             \
    }                                                                                                       \
    static_assert(true)
