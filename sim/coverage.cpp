#include "sim/coverage.hpp"

#include <set>

#include "sim/embedded.hpp"
#include "sim/measurement.hpp"

namespace sim {

Corner corner_of(const Experiment& e) {
    return {std::string(to_string(e.pass)), std::string(to_string(e.fusion)), std::string(to_string(e.engine)),
            e.device};
}

bool is_covered(const Experiment& e) {
    static const std::set<Corner> covered = [] {
        std::set<Corner> out;
        for (const EmbeddedFile& file : embedded_measurements()) {
            if (file.name == "impossible.csv") continue;  // rows that no machine ran
            const MeasurementFile rows = parse_measurements(file.text, file.name);
            std::string why;
            for (const Measurement& r : rows.rows)
                if (const auto x = experiment_of(r, Catalogue::builtin(), why); x && r.time_us)
                    out.insert(corner_of(*x));
        }
        return out;
    }();
    return covered.contains(corner_of(e));
}

}  // namespace sim
