#include "cli/json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/counted.hpp"
#include "sim/energy.hpp"

namespace cli {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no NaN and no infinity: what is not known is null.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json number(const sim::Quantity& q, double unit = 1) { return number(q.value / unit); }
template <class T>
Json number(const std::optional<T>& value) {
    return value ? number(static_cast<double>(*value)) : Json(nullptr);
}
template <class T>
Json text(T value) {
    return std::string(to_string(value));
}

Json flow_json(const sim::Flow& f) {
    return {{"read_bytes", f.read_bytes},
            {"write_bytes", f.write_bytes},
            {"causes",
             {{"compulsory", f.causes.compulsory},
              {"capacity", f.causes.capacity},
              {"order", f.causes.order},
              {"padding", f.causes.padding},
              {"write", f.causes.write}}}};
}

Json level_json(const sim::LevelTraffic& level) {
    const sim::Flow all = level.total();
    Json operands = Json::object();
    for (int i = 0; i < sim::operand_count; ++i) {
        const auto operand = static_cast<sim::Operand>(i);
        if (level.of(operand).any()) operands[std::string(to_string(operand))] = flow_json(level.of(operand));
    }
    return {{"read_bytes", all.read_bytes},
            {"write_bytes", all.write_bytes},
            {"moved_read_bytes", all.moved_read_bytes},
            {"moved_write_bytes", all.moved_write_bytes},
            {"dirty_at_end_bytes", level.dirty_at_end_bytes},
            {"operands", operands}};
}

constexpr sim::Level shown_levels[] = {sim::Level::dram, sim::Level::l1, sim::Level::l2, sim::Level::sram};

Json traffic_json(const sim::Traffic& traffic) {
    Json levels = Json::object();
    for (const sim::Level level : shown_levels)
        if (traffic.at(level).present) levels[std::string(to_string(level))] = level_json(traffic.at(level));
    return levels;
}

Json fits_json(const sim::Fit& fit) { return {{"ok", fit.ok()}, {"why", fit.why}}; }

Json prediction_json(const sim::Prediction& p) {
    Json twice = Json::object();
    for (const auto& [what, time] : p.if_twice) twice[what] = number(time);
    Json kernels = Json::array();
    for (const sim::KernelReport& k : p.kernels)
        kernels.push_back({{"name", k.name},
                           {"time_us", number(k.time_us)},
                           {"flops", k.flops},
                           {"traffic", traffic_json(k.traffic)}});
    return {{"time_us", number(p.time_us)},
            {"interval_us", {number(p.interval_us[0]), number(p.interval_us[1])}},
            {"validated", p.validated},
            {"limiter", text(p.limiter)},
            {"if_twice", twice},
            {"occupancy", p.occupancy ? Json(*p.occupancy) : Json(nullptr)},
            {"slots", p.slots ? Json(*p.slots) : Json(nullptr)},
            {"waves", number(p.waves)},
            {"pipelined", p.pipelined},
            {"kernels", kernels}};
}

Json energy_json(const sim::Energy& e) {
    const auto range = [](const sim::Span& s, double unit) {
        return Json{number(s.low / unit), number(s.high / unit)};
    };
    const auto part_json = [&](const sim::EnergyPart& p) {
        Json terms = Json::object();
        for (const sim::EnergyTerm& t : p.terms) terms[std::string(t.name)] = range(t.joules(), 1);
        return Json{{"joules", range(p.joules, 1)}, {"capped", p.capped}, {"terms", terms}};
    };
    Json out = part_json(e.all), sources = Json::object(), kernels = Json::array();
    for (const sim::EnergyTerm& t : e.all.terms)
        sources[std::string(t.name)] = {{t.name == "math" ? "pj_per_flop" : "pj_per_bit", range(t.each, 1e-12)},
                                        {"kind", "assumed"},
                                        {"source", t.source}};
    for (const sim::EnergyPart& k : e.kernels) {
        Json kernel = {{"name", k.name}};
        kernel.update(part_json(k));
        kernels.push_back(std::move(kernel));
    }
    out["limit_watts"] = number(e.limit_watts);
    out["sources"] = sources;
    out["kernels"] = kernels;
    return out;
}

Json report_json(const sim::Report& r, const sim::Catalogue& devices) {
    return {{"experiment", sim::to_string(r.experiment, devices)},
            {"fits", fits_json(r.fit)},
            {"engine", r.replayed ? "replay" : "closed_form"},
            {"exact", r.exact},
            {"flops", r.flops},
            {"traffic", traffic_json(r.traffic)},
            {"dram_range",
             {{"lockstep_bytes", r.dram_range.lockstep_bytes},
              {"staggered_bytes", r.dram_range.staggered_bytes},
              {"expected_bytes", r.dram_range.expected_bytes}}},
            {"bound",
             {{"dram_bytes", r.bound.dram_bytes},
              {"time_us", number(r.bound.time_us)},
              {"ceiling", text(r.bound.ceiling)}}},
            {"predicted", r.predicted ? prediction_json(*r.predicted) : Json(nullptr)},
            {"energy", r.predicted ? energy_json(sim::energy(r, devices.at(r.experiment.device))) : Json(nullptr)}};
}

/// Every number of `b` minus that of `a`, where both have it: the shape of a report, numbers only.
Json difference(const Json& a, const Json& b) {
    Json out = Json::object();
    for (const auto& [key, value] : b.items()) {
        if (!a.contains(key)) continue;
        const Json& before = a.at(key);
        if (value.is_object() && before.is_object()) {
            if (Json inner = difference(before, value); !inner.empty()) out[key] = inner;
        } else if (value.is_number_integer() && before.is_number_integer()) {
            out[key] = value.get<sim::i64>() - before.get<sim::i64>();
        } else if (value.is_number() && before.is_number()) {
            out[key] = value.get<double>() - before.get<double>();
        }
    }
    return out;
}

/// Names come from files: bytes that are no UTF-8 are replaced rather than refused.
std::string dump(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n'; }

Json device_json(const sim::Device& d) {
    constexpr double giga = 1e9, mega = 1e6, tera = 1e12;
    Json peaks = Json::object();
    for (const auto& [dtype, peak] : d.peak)
        if (peak.known()) peaks[std::string(to_string(dtype))] = number(peak, tera);
    return {{"id", d.id},
            {"name", d.name},
            {"kind", text(d.kind)},
            {"sm_count", number(d.sm_count)},
            {"clock_mhz", number(d.clock.boost, mega)},
            {"levels",
             {{"dram",
               {{"display", d.dram.display},
                {"bytes", number(d.dram.bytes)},
                {"gbps", number(d.dram.bandwidth, giga)},
                {"gbps_spec", number(d.dram.bandwidth_spec, giga)}}},
              {"l2",
               {{"display", d.l2.display},
                {"bytes", number(d.l2.bytes)},
                {"effective_bytes", number(d.l2.effective_bytes)},
                {"gbps", number(d.l2.bandwidth, giga)}}},
              {"sram",
               {{"display", d.sram.display},
                {"bytes_per_sm", number(d.sram.bytes_per_sm)},
                {"bytes_per_cta", number(d.sram.bytes_per_cta)}}}}},
            {"peak_tflops", peaks}};
}

Json error_json(const sim::ErrorSummary& e) {
    return {{"mape", number(e.mape)},
            {"median_ape", number(e.median_ape)},
            {"p95_ape", number(e.p95_ape)},
            {"bias", number(e.bias)}};
}

Json chooser_json(const sim::Chooser& c) {
    return {{"efficiency", number(c.mean)},
            {"worst_efficiency", number(c.worst)},
            {"spearman", number(c.spearman)},
            {"kendall", number(c.kendall)}};
}

Json summary_json(const sim::Summary& s) {
    const auto of_choice = [&](auto get) { return s.choice ? number(get(*s.choice)) : Json(nullptr); };
    Json out = error_json(s.time);
    out["rows"] = s.rows;
    out["spearman"] = of_choice([](const auto& c) { return c.model.spearman; });
    out["kendall"] = of_choice([](const auto& c) { return c.model.kendall; });
    out["top1_efficiency"] = of_choice([](const auto& c) { return c.model.mean; });
    out["worst_efficiency"] = of_choice([](const auto& c) { return c.model.worst; });
    out["fixed_tile_efficiency"] =
        of_choice([](const auto& c) { return c.fixed ? std::optional(c.fixed->mean) : std::nullopt; });
    out["dram_mape"] = s.dram ? number(s.dram->mape) : Json(nullptr);
    out["dram_median_ape"] = s.dram ? number(s.dram->median_ape) : Json(nullptr);
    out["dram_excess_error"] = number(s.dram_excess_error);
    out["null"] = {{"roofline", error_json(s.roofline)},
                   {"compulsory_bytes", s.dram_compulsory ? error_json(*s.dram_compulsory) : Json(nullptr)},
                   {"waves_x_tile", s.choice ? chooser_json(s.choice->null) : Json(nullptr)},
                   {"fixed_tile", s.choice && s.choice->fixed ? chooser_json(*s.choice->fixed) : Json(nullptr)},
                   {"random_tile", s.choice ? chooser_json(s.choice->random) : Json(nullptr)}};
    return out;
}

}  // namespace

std::string predict_document(const sim::Report& report, const sim::Catalogue& devices) {
    return dump(report_json(report, devices));
}

std::string run_document(const sim::Report& report, const kernels::RunResult& r, const sim::Catalogue& devices,
                         const std::vector<kernels::cuda::Baseline>* baselines) {
    const auto times = [](const kernels::RunResult& of) {
        return Json{{"median_us", number(of.median_us)}, {"min_us", number(of.min_us)},
                    {"max_us", number(of.max_us)},       {"samples", of.samples_us.size()},
                    {"max_error", number(of.max_error)}, {"machine", of.machine}};
    };
    Json document = report_json(report, devices);
    document["measured"] = times(r);
    document["measured"]["counters"] = nullptr;
    if (r.counters)
        document["measured"]["counters"] = {
            {"dram", {{"read_bytes", r.counters->dram_read_bytes}, {"write_bytes", r.counters->dram_write_bytes}}},
            {"l2", {{"read_bytes", r.counters->l2_read_bytes}, {"write_bytes", r.counters->l2_write_bytes}}},
            {"smem", {{"wavefronts", r.counters->smem_wavefronts}, {"conflicts", r.counters->smem_conflicts}}}};
    if (baselines) {
        document["baselines"] = Json::array();
        for (const kernels::cuda::Baseline& b : *baselines) {
            const bool ran = b.result.fit.ok() && !b.result.samples_us.empty();
            document["baselines"].push_back({{"name", b.name},
                                             {"pass", b.of == sim::Pass::train ? "backward" : to_string(b.of)},
                                             {"what", b.what},
                                             {"measured", ran ? times(b.result) : Json(nullptr)},
                                             {"why", b.result.fit.why}});
        }
    }
    return dump(document);
}

std::string counted_document(const sim::Report& report, const kernels::glass::Counted& c,
                             const sim::Catalogue& devices) {
    Json document = report_json(report, devices);
    const auto level = [](const kernels::glass::LevelBytes& b) {
        return Json{{"read_bytes", b.read_bytes}, {"write_bytes", b.write_bytes}};
    };
    Json lines = Json::array(), races = Json::array();
    for (const kernels::glass::LineCount& l : c.lines)
        lines.push_back({{"file", l.file},
                         {"line", l.line},
                         {"instructions", l.instructions},
                         {"active_lanes", l.active_lanes},
                         {"bytes", l.bytes},
                         {"sectors", l.sectors},
                         {"ideal_sectors", l.ideal_sectors},
                         {"wavefronts", l.wavefronts},
                         {"ideal_wavefronts", l.ideal_wavefronts}});
    for (const kernels::glass::Finding& f : c.findings) races.push_back(finding_text(f));
    document["counted"] = {{"max_error", number(c.max_error)},
                           {"dram", c.dram ? level(*c.dram) : Json(nullptr)},
                           {"l2", level(c.l2)},
                           {"sram", level(c.sram)},
                           {"sectors", c.sectors},
                           {"wavefronts", c.wavefronts},
                           {"ideal_wavefronts", c.ideal_wavefronts},
                           {"bank_conflicts", c.bank_conflicts()},
                           {"lines", lines},
                           {"races", races},
                           {"sampled", c.sampled}};
    return dump(document);
}

std::string compare_document(const sim::Report& a, const sim::Report& b, const std::vector<sim::TimeStep>& steps,
                             const sim::Catalogue& devices) {
    Json document = {{"a", report_json(a, devices)}, {"b", report_json(b, devices)}};
    document["delta"] = difference(document["a"], document["b"]);
    if (!a.fit.ok() || !b.fit.ok())
        for (const char* counted : {"traffic", "dram_range"}) document["delta"].erase(counted);
    document["steps"] = Json::array();
    for (const sim::TimeStep& s : steps)
        document["steps"].push_back({{"name", s.name}, {"time_us", number(s.time_us)}});
    return dump(document);
}

std::string sweep_document(const std::vector<RankedReport>& rows, const sim::Catalogue& devices) {
    Json document = Json::array();
    for (const RankedReport& row : rows) {
        Json object = report_json(row.report, devices);
        object["rank"] = row.rank > 0 ? Json(row.rank) : Json(nullptr);
        object["tie"] = row.tie;
        object["pareto"] = row.pareto;
        if (row.rank == 0) object["reason"] = row.reason;
        document.push_back(std::move(object));
    }
    return dump(document);
}

std::string validate_document(const sim::Validation& v, const std::vector<sim::Trial>& trials, bool ablate, bool loso) {
    Json rows = Json::array(), summary = Json::object(), coverage = Json::array();
    for (const sim::ValidatedRow& r : v.rows) {
        const bool measured = r.measured_us > 0, predicted = r.predicted_us > 0;  // 0: a row of bytes only, or skipped
        rows.push_back({{"id", r.id},
                        {"measured_us", measured ? number(r.measured_us) : Json(nullptr)},
                        {"predicted_us", predicted ? number(r.predicted_us) : Json(nullptr)},
                        {"error", measured && predicted ? number(r.error) : Json(nullptr)},
                        {"constants", predicted ? Json(r.constants.size()) : Json(nullptr)},
                        {"unread", r.unread},
                        {"why_skipped", r.why_skipped}});
    }
    for (const auto& [group, s] : v.summary) summary[group] = summary_json(s);
    for (const sim::CoverageRow& c : v.coverage)
        coverage.push_back({{"pass", c.corner.pass},
                            {"fusion", c.corner.fusion},
                            {"engine", c.corner.engine},
                            {"device", c.corner.device},
                            {"rows_time", c.rows_time},
                            {"rows_bytes", c.rows_bytes}});
    Json document = {{"rows", rows}, {"summary", summary}, {"coverage", coverage}};
    if (ablate)
        for (const sim::TimeTermInfo& term : sim::time_terms())
            document["ablate"][std::string(term.name)] =
                number(sim::tile_mape(trials, sim::TimeModel::without({std::string(term.name)})));
    if (loso)
        for (const auto& [part, what] : {std::pair("source", sim::HeldOut::source), {"device", sim::HeldOut::device}})
            for (const sim::EngineError& e : sim::leave_one_out(trials, what))
                document["loso"][part][std::string(to_string(e.engine))] = {{"rows", e.rows},
                                                                            {"parts", e.parts},
                                                                            {"mape_fitted", number(e.mape_fitted)},
                                                                            {"mape_held_out", number(e.mape_held_out)},
                                                                            {"low", number(e.band.low)},
                                                                            {"high", number(e.band.high)}};
    return dump(document);
}

std::string devices_document(const std::vector<const sim::Device*>& devices) {
    Json document = Json::array();
    for (const sim::Device* d : devices) document.push_back(device_json(*d));
    return dump(document);
}

namespace {

Json progress(const lessons::Lesson& lesson, const lessons::Journal& journal, lessons::Model& model) {
    if (!journal.knows(lesson)) return nullptr;
    const lessons::Walk walk(lesson, model, journal.state(lesson));
    return {{"step", walk.state().step + 1},
            {"finished", walk.state().finished},
            {"first_right", walk.first_right()},
            {"questions", walk.questions()}};
}

}  // namespace

std::string lessons_document(const lessons::Course& course, const lessons::Journal& journal, lessons::Model& model) {
    Json document = Json::array();
    for (const lessons::Lesson* en : course.listed(lessons::Language::en)) {
        const lessons::Lesson* zh = course.find(en->id, lessons::Language::zh);
        Json titles = {{"en", en->title}}, langs = {"en"};
        if (zh) {
            titles["zh"] = zh->title;
            langs.push_back("zh");
        }
        document.push_back({{"id", en->id},
                            {"title", titles},
                            {"langs", langs},
                            {"minutes", en->minutes},
                            {"steps", en->steps.size()},
                            {"progress", progress(*en, journal, model)}});
    }
    return dump(document);
}

std::string kernels_document(const std::vector<KernelRow>& kernels, bool with_resources) {
    Json document = Json::array();
    for (const KernelRow& k : kernels) {
        Json row = {{"rung", k.rung},
                    {"idea", k.idea},
                    {"engine", k.engine},
                    {"pipeline", k.pipeline},
                    {"passes", k.passes},
                    {"fusions", k.fusions},
                    {"dtypes", k.dtypes},
                    {"arch_min", k.arch_min.empty() ? Json(nullptr) : Json(k.arch_min)},
                    {"available", fits_json(k.available)}};
        if (with_resources)
            for (const char* key : {"tile", "registers", "smem_bytes", "spill_bytes", "compile_ms"}) row[key] = nullptr;
        if (const auto& c = k.compiled) {
            row["tile"] = fmt::format("{}x{}x{}", c->tile.bm, c->tile.bn, c->tile.bk);
            row["registers"] = c->registers;
            row["smem_bytes"] = c->smem_bytes;
            row["spill_bytes"] = c->spill_bytes;
            row["compile_ms"] = c->compile_ms;
        }
        document.push_back(row);
    }
    return dump(document);
}

}  // namespace cli
