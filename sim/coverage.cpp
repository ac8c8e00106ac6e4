#include "sim/coverage.hpp"

#include <set>

#include "sim/measurement.hpp"

namespace sim {

Corner corner_of(const Experiment& e) {
    return {std::string(to_string(e.pass)), std::string(to_string(e.fusion)), std::string(to_string(e.engine)),
            e.device};
}

bool is_covered(const Experiment& e) {
    static const std::set<Corner> covered = [] {
        std::set<Corner> out;
        std::string why;
        for (const Measurement& r : committed_rows())
            if (const auto x = experiment_of(r, Catalogue::builtin(), why); x && r.time_us) out.insert(corner_of(*x));
        return out;
    }();
    return covered.contains(corner_of(e));
}

}  // namespace sim
