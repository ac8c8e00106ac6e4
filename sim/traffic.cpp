#include "sim/traffic.hpp"

namespace sim {

std::string_view to_string(Operand o) {
    constexpr std::string_view names[] = {"x", "w", "bias", "z", "y", "mask", "dy", "dz", "dx", "dw", "partial"};
    return names[static_cast<int>(o)];
}
std::string_view to_string(Level l) {
    constexpr std::string_view names[] = {"registers", "sram", "l1", "l2", "dram"};
    return names[static_cast<int>(l)];
}

Flow& Flow::operator+=(const Flow& o) {
    read_bytes += o.read_bytes;
    write_bytes += o.write_bytes;
    moved_read_bytes += o.moved_read_bytes;
    moved_write_bytes += o.moved_write_bytes;
    causes.compulsory += o.causes.compulsory;
    causes.capacity += o.causes.capacity;
    causes.order += o.causes.order;
    causes.padding += o.causes.padding;
    causes.write += o.causes.write;
    return *this;
}

Flow LevelTraffic::total() const {
    Flow sum;
    for (const Flow& f : operands) sum += f;
    return sum;
}

Traffic& Traffic::operator+=(const Traffic& o) {
    for (int l = 0; l < level_count; ++l) {
        levels[l].present |= o.levels[l].present;
        for (int i = 0; i < operand_count; ++i) levels[l].operands[i] += o.levels[l].operands[i];
    }
    return *this;
}

}  // namespace sim
