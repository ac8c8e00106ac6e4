#pragma once
// What no kernel can beat. Closed forms of the operation and the machine only: this file shares no code with the
// counts, because it is their oracle.

#include "sim/device.hpp"
#include "sim/experiment.hpp"
#include "sim/report.hpp"

namespace sim {

/// Lower bounds of bytes and time from cold caches. DRAM bytes >= compulsory and >= the I/O bound
/// 2·rows·cols·red/sqrt(S) + rows·cols elements with S elements of fast memory below that level (Kwasniewski et al.,
/// "Red-blue pebbling revisited", SC'19); time >= flops at the highest clock and bytes at datasheet bandwidth.
Bound bound(const Experiment& e, const Device& d);

/// 2·rows·cols·red/sqrt(S) + rows·cols, in elements.
double io_bound_elements(const Extent& extent, double fast_elements);

}  // namespace sim
