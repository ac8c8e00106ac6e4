#include "kernels/cuda/device_operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace kernels::cuda {
namespace {

constexpr sim::i64 alignment = 256, guard_bytes = 256;
constexpr int guard_value = 0xa5;

/// Calls use(name, matrix) for each operand; a BitMatrix counts as one.
template <class O, class F>
void each_operand(O& o, F&& use) {
    use("x", o.x);
    use("w", o.w);
    use("bias", o.bias);
    use("z", o.z);
    use("y", o.y);
    use("dy", o.dy);
    use("dz", o.dz);
    use("dx", o.dx);
    use("dw", o.dw);
    use("mask", o.mask);
    use("x_mask", o.x_mask);
}

sim::i64 bytes_of(const Matrix& m, sim::i64 batch) { return batch * m.batch_pitch * sim::storage_bytes(m.dtype); }
sim::i64 bytes_of(const BitMatrix& m, sim::i64 batch) { return batch * m.batch_pitch; }
const std::byte* address(const Matrix& m) { return static_cast<const std::byte*>(m.data); }
const std::byte* address(const BitMatrix& m) { return m.data; }

/// Whether the operation computes the operand of that name.
bool is_output(const Op& op, std::string_view name) {
    const bool forward = op.runs(sim::Pass::forward), masks = op.fusion == sim::Fusion::unfused;
    if (name == "z" || name == "y" || name == "mask") return forward;
    // dz is computed by the mask kernel of an unfused pass, over dy where that is asked for, and given to all others.
    if (name == "dz") return masks;
    if (name == "dy") return masks && op.in_place;
    return name == "dx" || name == "dw";
}

constexpr int poison_value = 0xff;  // a NaN in every type
/// Whether the operand of that name is computed without a look at what it held.
bool is_written_only(const Op& op, std::string_view name) {
    const bool read_first = (name == "dw" && op.accumulate) || ((name == "dy" || name == "dz") && op.in_place);
    return is_output(op, name) && !read_first;
}

}  // namespace

std::vector<DeviceOperands::Region> DeviceOperands::regions(const Operands& like, sim::i64 batch) {
    std::vector<Region> regions;
    sim::i64 offset = 0;
    each_operand(like, [&](const char* name, const auto& m) {
        if (!m) return;
        const auto same = [&](const Region& r) { return r.host == address(m); };
        if (std::any_of(regions.begin(), regions.end(), same)) return;  // z and y of an in-place pass
        const sim::i64 bytes = bytes_of(m, batch);
        regions.push_back({name, address(m), offset, bytes});
        offset += sim::round_up(bytes + guard_bytes, alignment);
    });
    return regions;
}

sim::i64 DeviceOperands::bytes(const OperandSet& like) {
    const auto all = regions(like.operands(), like.op().dense.batch);
    return all.empty() ? 0 : all.back().offset + sim::round_up(all.back().bytes + guard_bytes, alignment);
}

DeviceOperands::DeviceOperands(const Runtime& r, const OperandSet& like)
    : op_(like.op()),
      regions_(regions(like.operands(), like.op().dense.batch)),
      memory_(r, bytes(like)),
      operands_(like.operands()) {
    each_operand(operands_, [&](const char*, auto& m) {
        if (!m) return;
        const auto region =
            std::find_if(regions_.begin(), regions_.end(), [&](const Region& g) { return g.host == address(m); });
        m.data = memory_.data() + region->offset;
    });
    memory_.fill(guard_value);
    upload(like);
}

void DeviceOperands::upload(const OperandSet& from) const {
    const auto there = regions(from.operands(), from.op().dense.batch);
    for (std::size_t i = 0; i < regions_.size(); i++)
        memory_.copy_from_host(there[i].host, regions_[i].bytes, regions_[i].offset);
}

void DeviceOperands::poison() const {
    for (const Region& region : regions_)
        if (is_written_only(op_, region.name)) memory_.fill(poison_value, region.offset, region.bytes);
}

std::string DeviceOperands::unwritten(const OperandSet& downloaded) const {
    std::string found;
    const auto look = [&]<class Bits>(const char* name, const Matrix& m, Bits) {
        for (sim::i64 line = 0; line < op_.dense.batch * m.rows; line++) {
            const std::byte* row = m.at(line / m.rows, line % m.rows, 0);
            for (sim::i64 j = 0; j < m.cols; j++) {
                Bits bits;
                std::memcpy(&bits, row + j * sim::i64{sizeof bits}, sizeof bits);
                if (bits == static_cast<Bits>(~Bits{0})) return void(found = fmt::format("{}({}, {})", name, line, j));
            }
        }
    };
    each_operand(downloaded.operands(), [&](const char* name, const auto& m) {
        if constexpr (std::is_same_v<std::decay_t<decltype(m)>, Matrix>) {
            if (!m || !found.empty() || !is_written_only(op_, name)) return;
            if (sim::storage_bytes(m.dtype) == 2)
                look(name, m, std::uint16_t{});
            else
                look(name, m, std::uint32_t{});
        }
    });
    return found;
}

void DeviceOperands::download(OperandSet& to) const {
    const auto there = regions(to.operands(), to.op().dense.batch);
    for (std::size_t i = 0; i < regions_.size(); i++)
        if (is_output(to.op(), regions_[i].name))
            memory_.copy_to_host(const_cast<std::byte*>(there[i].host), regions_[i].bytes, regions_[i].offset);
}

std::string DeviceOperands::overwritten(const OperandSet& uploaded) const {
    const auto there = regions(uploaded.operands(), uploaded.op().dense.batch);
    std::vector<std::byte> now;
    for (std::size_t i = 0; i < regions_.size(); i++) {
        const Region& region = regions_[i];
        now.resize(guard_bytes);
        memory_.copy_to_host(now.data(), guard_bytes, region.offset + region.bytes);
        if (std::any_of(now.begin(), now.end(), [](std::byte b) { return b != std::byte{guard_value}; }))
            return std::string("beyond ") + region.name;
        if (is_output(uploaded.op(), region.name)) continue;
        now.resize(static_cast<std::size_t>(region.bytes));
        memory_.copy_to_host(now.data(), region.bytes, region.offset);
        if (std::memcmp(now.data(), there[i].host, now.size()) != 0) return region.name;
    }
    return "";
}

void poison_outputs(OperandSet& set) {
    const Op& op = set.op();
    each_operand(set.operands(), [&](std::string_view name, const auto& m) {
        if (m && is_written_only(op, name))
            std::memset(const_cast<std::byte*>(address(m)), poison_value,
                        static_cast<std::size_t>(bytes_of(m, op.dense.batch)));
    });
}

}  // namespace kernels::cuda
