#pragma once
// What this binary was built from and with. The body is written by CMake from cmake/build_info.cpp.in.

#include <string_view>

#include "sim/error.hpp"

namespace sim {

struct BuildInfo {
    std::string_view version;   // "0.1.0"
    std::string_view git;       // short commit at configure time; empty outside a checkout
    std::string_view compiler;  // "GNU 12.2.0"
    Fit window;                 // why the window is not in this binary
};

const BuildInfo& build_info();

}  // namespace sim
