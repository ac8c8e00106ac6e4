#include "gui/measured.hpp"

#include <algorithm>

#include "sim/embedded.hpp"

namespace gui {

void MeasuredRows::add(std::string_view csv, std::string_view file_name, const sim::Catalogue& devices) {
    sim::MeasurementFile file = sim::parse_measurements(csv, file_name);
    for (sim::Measurement& row : file.rows) {
        std::string why;
        auto experiment = row.time_us ? sim::experiment_of(row, devices, why) : std::nullopt;
        if (experiment)
            rows_.push_back({std::move(row), std::move(*experiment), std::string(file_name)});
        else
            ++left_out_;
    }
}

void MeasuredRows::add_embedded(const sim::Catalogue& devices) {
    for (const sim::EmbeddedFile& file : sim::embedded_measurements())
        if (file.text.starts_with("id,")) add(file.text, file.name, devices);
}

std::vector<std::size_t> MeasuredRows::like(const sim::Experiment& e) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const sim::Experiment& r = rows_[i].experiment;
        const bool same = r.device == e.device && r.pass == e.pass && r.fusion == e.fusion && r.dense.m == e.dense.m &&
                          r.dense.n == e.dense.n && r.dense.k == e.dense.k && r.dense.batch == e.dense.batch &&
                          r.dense.dtype == e.dense.dtype;
        if (same) found.push_back(i);
    }
    return found;
}

const MeasuredRow* MeasuredRows::of(const sim::Experiment& e) const {
    std::vector<const MeasuredRow*> same;
    for (std::size_t i : like(e))
        if (sim::same_experiment(rows_[i].experiment, e)) same.push_back(&rows_[i]);
    std::sort(same.begin(), same.end(), [](const auto* a, const auto* b) { return *a->row.time_us < *b->row.time_us; });
    return same.empty() ? nullptr : same[same.size() / 2];
}

}  // namespace gui
