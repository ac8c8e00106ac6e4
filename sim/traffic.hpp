#pragma once
// Bytes by memory level and operand, requested and moved, and why they moved. What design's counting rules produce.

#include <array>
#include <string_view>

#include "sim/units.hpp"

namespace sim {

enum class Operand { x, w, bias, z, y, mask, dy, dz, dx, dw, partial };
inline constexpr int operand_count = 11;
enum class Level { registers, sram, l1, l2, dram };
inline constexpr int level_count = 5;

std::string_view to_string(Operand);
std::string_view to_string(Level);

/// Bytes of one operand at one level. Requested bytes are of tiles clipped to the matrix; moved bytes add whole sectors
/// and padded tiles. The causes add up to moved_read + moved_write.
struct Flow {
    i64 read_bytes = 0, write_bytes = 0;
    i64 moved_read_bytes = 0, moved_write_bytes = 0;
    struct {
        i64 compulsory = 0;  ///< first read of an operand of the operation
        i64 capacity = 0;    ///< read again, or an intermediate read back, because it was not kept
        i64 order = 0;       ///< read again, or partial sums written and read, because of the loop order
        i64 padding = 0;     ///< moved beyond what was requested
        i64 write = 0;       ///< results written
    } causes;
    bool any() const { return read_bytes || write_bytes || moved_read_bytes || moved_write_bytes; }
    i64 bytes() const { return read_bytes + write_bytes; }
    Flow& operator+=(const Flow&);
};

struct LevelTraffic {
    bool present = false;  ///< the level takes part on this machine
    std::array<Flow, operand_count> operands{};
    i64 dirty_at_end_bytes = 0;  ///< written, counted, and still in the L2 when the last kernel ends
    Flow& of(Operand o) { return operands[static_cast<int>(o)]; }
    const Flow& of(Operand o) const { return operands[static_cast<int>(o)]; }
    /// Sum over operands.
    Flow total() const;
};

struct Traffic {
    std::array<LevelTraffic, level_count> levels{};
    LevelTraffic& at(Level l) { return levels[static_cast<int>(l)]; }
    const LevelTraffic& at(Level l) const { return levels[static_cast<int>(l)]; }
    /// Adds each flow; dirty bytes are not added (they are of the end of the last kernel).
    Traffic& operator+=(const Traffic&);
};

}  // namespace sim
