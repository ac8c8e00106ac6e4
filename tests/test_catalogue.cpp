#include <fstream>
#include <sstream>

#include "tests/random_experiment.hpp"

namespace tests {

const sim::Catalogue& catalogue() {
    static const sim::Catalogue all = [] {
        sim::Catalogue c = sim::Catalogue::builtin();
        std::ifstream in(std::string(MEMWALL_SOURCE_DIR) + "/tests/data/cpu.toml");
        std::stringstream text;
        text << in.rdbuf();
        c.add(sim::parse_device(text.str(), "tests/data/cpu.toml"));
        return c;
    }();
    return all;
}

}  // namespace tests
