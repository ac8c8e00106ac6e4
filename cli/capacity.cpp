#include "cli/capacity.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/page.hpp"
#include "cli/text.hpp"
#include "sim/capacity.hpp"

namespace cli {

namespace {

std::string bytes(sim::i64 n) { return sim::format_bytes(static_cast<double>(n)); }

/// "a100-sxm4-40gb and 1 more", the device that is asked about first.
std::string owners(const sim::DeviceL2& l2, const std::string& here) {
    const bool is_here = std::find(l2.devices.begin(), l2.devices.end(), here) != l2.devices.end();
    const std::string& name = is_here ? here : l2.devices.front();
    return l2.devices.size() == 1 ? name : fmt::format("{} +{}", name, l2.devices.size() - 1);
}

}  // namespace

std::string capacity_text(const sim::Experiment& e, const sim::Catalogue& devices, int width) {
    const auto c = sim::capacity(e, devices);
    if (!c) return "";
    const sim::MissCurve& own = c->rasters.front().curve;
    std::vector<sim::Operand> reread;  // what an L2 can help with
    for (int o = 0; o < sim::operand_count; ++o)
        if (own.read_bytes(static_cast<sim::Operand>(o), 0) > 0) reread.push_back(static_cast<sim::Operand>(o));

    Table table(std::string("rl") + std::string(reread.size() + 2, 'r'));
    std::vector<std::string> head = {"L2", "of", "bound", "all"};
    for (const sim::Operand o : reread) head.emplace_back(to_string(o));
    table.row(head);
    for (std::size_t i = 0; i < c->devices.size(); ++i) {
        const sim::DeviceL2& l2 = c->devices[i];
        std::vector<std::string> row = {sim::format_kib(static_cast<double>(l2.bytes)), owners(l2, e.device),
                                        bytes(c->bounds[i]), bytes(own.dram_bytes(l2.bytes))};
        for (const sim::Operand o : reread) row.push_back(bytes(own.read_bytes(o, l2.bytes)));
        table.row(std::move(row));
    }
    std::string out =
        heading(fmt::format("{} with the L2 of other GPUs, same slots, SMs in step (predicted)", c->kernel)) +
        table.text(2);

    Table rasters("lrr");
    const auto here = std::find_if(c->devices.begin(), c->devices.end(), [&](const sim::DeviceL2& l2) {
        return std::find(l2.devices.begin(), l2.devices.end(), e.device) != l2.devices.end();
    });
    rasters.row({"raster", here != c->devices.end() ? "this L2" : "least L2", "all fits from"});
    const sim::i64 size = here != c->devices.end() ? here->bytes : c->devices.front().bytes;
    for (const sim::RasterCurve& r : c->rasters) {
        const std::vector<sim::i64> steps = r.curve.steps();
        rasters.row({to_string(r.raster), bytes(r.curve.dram_bytes(size)),
                     steps.empty() ? "-" : sim::format_kib(static_cast<double>(steps.back()))});
    }
    out += '\n' + rasters.text(2);

    const std::vector<sim::MeasuredCapacity> points = sim::measured_capacity(e);
    if (!points.empty()) {
        Table measured("rrl");
        for (const sim::MeasuredCapacity& p : points)
            measured.row({sim::format_kib(static_cast<double>(p.l2_bytes)), bytes(p.dram_bytes),
                          p.kind + " kernel, tile not stated"});
        out += heading("Measured of this shape on GA100 parts by L2 size (NVlabs/timeloop, orojenesis)") +
               measured.text(2, width);
    }
    return out;
}

}  // namespace cli
