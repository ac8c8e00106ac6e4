#include "sim/capacity.hpp"

#include <algorithm>
#include <map>

#include "sim/bound.hpp"
#include "sim/csv.hpp"
#include "sim/embedded.hpp"

namespace sim {

std::optional<Capacity> capacity(const Experiment& e, const Catalogue& devices, double most_requests) {
    const Device& d = devices.at(e.device);
    if (d.kind != DeviceKind::gpu) return std::nullopt;
    const std::vector<Kernel> kernels = plan(e);
    const auto k = std::find_if(kernels.begin(), kernels.end(), [](const Kernel& x) { return x.matmul; });
    if (k == kernels.end()) return std::nullopt;
    const double requests = static_cast<double>(k->row_tiles()) * static_cast<double>(k->col_tiles()) *
                            static_cast<double>(k->k_steps()) * static_cast<double>(k->left.size() + k->right.size());
    std::vector<Raster> rasters = {e.raster};
    for (const Raster r : {Raster{Raster::along_n, 0}, Raster{Raster::along_m, 0}, Raster{Raster::grouped, 8},
                           Raster{Raster::hilbert, 0}})
        if (r != e.raster) rasters.push_back(r);
    if (k->batch != 1 || requests * static_cast<double>(rasters.size()) > most_requests) return std::nullopt;

    Capacity out;
    out.kernel = k->name;
    const i64 slots = slots_of(e, d, kernels)[static_cast<std::size_t>(k - kernels.begin())];
    for (const Raster raster : rasters) {
        Experiment one = e;
        one.raster = raster;
        out.rasters.push_back({raster, miss_curve(one, d, *k, slots)});
    }
    struct Size {
        std::vector<std::string> ids;
        double whole = 0;  // of the largest L2 of which the tiles get this much: what its bound is of
    };
    std::map<i64, Size> sizes;
    for (const Device* other : devices.all()) {
        if (other->kind != DeviceKind::gpu) continue;
        Size& size = sizes[static_cast<i64>(other->l2.effective_bytes.or_else(other->l2.bytes.value))];
        size.ids.push_back(other->id);
        size.whole = std::max(size.whole, other->l2.bytes.value);
    }
    Experiment alone = e;
    alone.fusion = Fusion::none;
    alone.residual = Residual::y;
    for (auto& [bytes, size] : sizes) {
        Device with = d;
        with.l2.bytes.value = size.whole;
        with.l2.effective_bytes.value = static_cast<double>(bytes);
        out.bounds.push_back(bound(k->pass == e.pass ? alone : single_pass(alone, k->pass), with).dram_bytes);
        out.devices.push_back({bytes, std::move(size.ids)});
    }
    return out;
}

std::vector<MeasuredCapacity> measured_capacity(const Experiment& e) {
    std::vector<MeasuredCapacity> out;
    const Dense& l = e.dense;
    if (e.pass != Pass::forward || l.m != 4096 || l.n != 4096 || l.k != 4096 || l.batch != 1 ||
        storage_bytes(l.dtype) != 4)
        return out;
    for (const EmbeddedFile& file : embedded_measurements()) {
        if (file.name != "dram-bytes-by-l2-size.csv") continue;
        const std::vector<CsvRecord> records = parse_csv(file.text, file.name);
        for (std::size_t i = 1; i < records.size(); ++i) {
            const auto& cells = records[i].fields;
            out.push_back({cells.at(0), std::stoll(cells.at(1)), std::stoll(cells.at(2))});
        }
    }
    return out;
}

}  // namespace sim
