// memwall devices: the machines one may ask about.

#include <fmt/format.h>

#include <ostream>

#include "cli/json.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "cli/verb.hpp"

namespace cli {
namespace {

/// A constant in a unit, three digits; "-" where it is not known.
std::string in(const sim::Quantity& q, double unit) {
    if (!q.known() || q.value == 0) return "-";
    const double value = q.value / unit;
    return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string peak(const sim::Device& d, sim::Dtype dtype) {
    const auto at = d.peak.find(dtype);
    return at == d.peak.end() ? "-" : in(at->second, 1e12);
}

std::string page(const std::vector<const sim::Device*>& devices, bool has_cpu, int width) {
    struct {
        sim::DeviceKind kind;
        std::string_view title, cores, sram;
    } const kinds[] = {{sim::DeviceKind::gpu, "GPUs", "SMs", "SMEM"},
                       {sim::DeviceKind::tpu, "TPUs (one TensorCore is modelled)", "cores", "VMEM"},
                       {sim::DeviceKind::cpu, "Processors", "cores", "L2"},
                       {sim::DeviceKind::scratchpad, "An ideal: DRAM and one SRAM", "", "SRAM"}};
    std::string out;
    for (const auto& kind : kinds) {
        const bool cpu = kind.kind == sim::DeviceKind::cpu;
        Table table("lrrrrrrr");
        table.row(
            {"", std::string(kind.cores), "DRAM", "rate", cpu ? "L3" : "L2", std::string(kind.sram), "f32", "bf16"});
        table.row({"id", "", "GB", "GB/s", "MiB", "KiB", "TFLOP/s", "TFLOP/s"});
        bool any = false;
        for (const sim::Device* d : devices) {
            if (d->kind != kind.kind) continue;
            any = true;
            table.row({d->id, kind.cores.empty() ? "" : in(d->sm_count, 1), in(d->dram.bytes, 1e9),
                       in(d->dram.bandwidth, 1e9), in(d->l2.bytes, 0x1p20), in(d->sram.bytes_per_sm, 0x1p10),
                       peak(*d, sim::Dtype::f32), peak(*d, sim::Dtype::bf16)});
        }
        if (any) out += heading(kind.title) + table.text(2);
        if (cpu && !has_cpu)
            out +=
                heading("This machine") + "  cpu: not measured yet; `memwall devices --calibrate` does it in seconds\n";
    }
    out.erase(0, 1);
    return out + '\n' +
           wrap(
               "DRAM rate is what a streaming kernel gets; f32 and bf16 are peak rates. Each number's source and kind "
               "(spec, "
               "measured, assumed) is in its file; --device-dir adds files of your own.",
               width);
}

int devices(const Arguments& arguments, Session& session) {
    if (arguments.has("--calibrate")) {
        session.calibrate_cpu(true);
    } else {
        session.add_calibrated_cpu();
    }
    const sim::Catalogue& catalogue = session.devices();
    session.out() << (arguments.has("--json")
                          ? devices_document(catalogue.all())
                          : page(catalogue.all(), catalogue.find("cpu") != nullptr, session.terminal().width));
    return done;
}

}  // namespace

const Verb devices_verb = {
    .name = "devices",
    .operands = "",
    .what = "the machines one may ask about",
    .options = {{"--json", "", "a list of objects"},
                {"--calibrate", "", "measure this machine anew (device `cpu`) and keep the result"}},
    .run = devices,
};

}  // namespace cli
