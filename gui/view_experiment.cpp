// Device, layer, pass, fusion and tile; says why the tile cannot run.

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/formulas.hpp"
#include "gui/lab.hpp"
#include "gui/presets.hpp"
#include "gui/views.hpp"
#include "sim/onset.hpp"

namespace gui {
namespace {

using sim::DeviceKind;
using sim::i64;

/// A label in the left column; the control goes to the right one and fills it.
void row(const char* name, std::string_view about = {}) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(name);
    if (!about.empty()) tip(about);
    ImGui::TableNextColumn();
    ImGui::SetNextItemWidth(-1);
}

/// A form as wide as the window, but no wider than the eye follows from a name to its value.
float form_width() { return std::min(ImGui::GetContentRegionAvail().x, em(46)); }

bool begin_form(const char* id) {
    if (!ImGui::BeginTable(id, 2, ImGuiTableFlags_SizingFixedFit, {form_width(), 0})) return false;
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed, em(5.6f));
    ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
    return true;
}

/// A slider that stops only at `stops` (ascending), ticks under it (long where the stop divides `whole`), and a field
/// for any other value. True when the value was changed.
bool snap(const char* id, i64& value, const std::vector<i64>& stops, i64 whole) {
    ImGui::PushID(id);
    const float field_width = em(4.6f), gap = ImGui::GetStyle().ItemInnerSpacing.x;
    bool changed = false;
    if (!stops.empty()) {
        const auto after = std::upper_bound(stops.begin(), stops.end(), value);
        int at = std::max(0, static_cast<int>(after - stops.begin()) - 1);
        const int last = static_cast<int>(stops.size()) - 1;
        ImGui::SetNextItemWidth(std::max(em(3), ImGui::GetContentRegionAvail().x - field_width - gap));
        if (ImGui::SliderInt("##slider", &at, 0, last, "", ImGuiSliderFlags_NoInput | ImGuiSliderFlags_AlwaysClamp)) {
            value = stops[static_cast<std::size_t>(std::clamp(at, 0, last))];
            changed = true;
        }
        const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
        const float grab = std::max(ImGui::GetStyle().GrabMinSize, (high.x - low.x - 4) / static_cast<float>(last + 1));
        const float from = low.x + 2 + grab / 2, to = high.x - 2 - grab / 2;
        for (int i = 0; i <= last; ++i) {
            const float x =
                last == 0 ? (from + to) / 2 : from + (to - from) * static_cast<float>(i) / static_cast<float>(last);
            const bool divides = whole % stops[static_cast<std::size_t>(i)] == 0;
            ImGui::GetWindowDrawList()->AddLine({x, high.y - em(divides ? 0.32f : 0.15f)}, {x, high.y - 1},
                                                colours().dim);
        }
        ImGui::SameLine(0, gap);
    }
    ImGui::SetNextItemWidth(stops.empty() ? -1 : field_width);
    i64 typed = value;
    ImGui::InputScalar("##value", ImGuiDataType_S64, &typed, nullptr, nullptr, "%lld");
    if (ImGui::IsItemDeactivatedAfterEdit() && typed != value && typed >= 1) {
        value = typed;
        changed = true;
    }
    ImGui::PopID();
    return changed;
}

void device_row(Lab& lab) {
    const sim::Device& now = lab.document.device();
    row(tr(Str::device));
    if (!ImGui::BeginCombo("##device", now.name.c_str(), ImGuiComboFlags_HeightLarge)) return;
    DeviceKind kind = DeviceKind::scratchpad;
    bool first = true;
    for (const sim::Device* d : lab.document.devices()->all()) {
        if (first || d->kind != kind)
            ImGui::SeparatorText(tr(static_cast<Str>(static_cast<int>(Str::kind_gpu) + static_cast<int>(d->kind))));
        first = false;
        kind = d->kind;
        if (ImGui::Selectable((d->name + "##" + d->id).c_str(), d->id == now.id)) lab.change({{"device", d->id}});
        if (d->id == now.id) ImGui::SetItemDefaultFocus();
    }
    ImGui::EndCombo();
}

template <class Enum>
void choice_row(Lab& lab, Str name, std::string_view word, std::span<const Enum> values, Enum now) {
    row(tr(name));
    if (!ImGui::BeginCombo((std::string("##") + std::string(word)).c_str(), std::string(sim::to_string(now)).c_str()))
        return;
    for (Enum v : values)
        if (ImGui::Selectable(std::string(sim::to_string(v)).c_str(), v == now))
            lab.change({{word, std::string(sim::to_string(v))}});
    ImGui::EndCombo();
}

/// A model's layer at the tokens that are set: decode has few, prefill and training many.
void preset_row(Lab& lab) {
    const sim::Dense& layer = lab.document.experiment().dense;
    const Preset* now = preset_of(layer);
    row(tr(Str::preset), tr(Str::preset_tip));
    if (ImGui::BeginCombo("##preset", now ? now->name : "-", ImGuiComboFlags_HeightLarge)) {
        for (const Preset& p : presets()) {
            const std::string text = fmt::format("{}  {} → {}", p.name, p.hidden, p.inner);
            if (ImGui::Selectable(text.c_str(), &p == now))
                lab.change({{"shape", fmt::format("{}x{}x{}", layer.m, p.inner, p.hidden)}});
            tip(p.source);
        }
        ImGui::EndCombo();
    }
    if (now) tip(std::string(now->source) + "\n" + say(Str::preset_note, now->activation));
}

std::vector<sim::OnsetRow> onset(const Computations::Question& q, const Job& job) {
    return sim::onset(q.experiment, *q.devices, job.stop, job.progress);
}

/// For a known model: at how many tokens fusing, tile and raster matter, and what its own activation changes.
void onset_rows(Lab& lab) {
    const Preset* now = preset_of(lab.document.experiment().dense);
    if (!now) return;
    Computations::Question q = lab.question();
    sim::Dense any_tokens = q.experiment.dense;  // the answer hangs on device and layer alone
    any_tokens.m = 1;
    q.experiment = sim::usual_experiment(lab.document.device(), any_tokens, sim::Pass::forward, sim::Fusion::fused);
    const auto reply = lab.computed.ask(onset, q);
    if (!reply.answer || !reply.current) return hint(tr(Str::computing));
    struct {
        Str what;
        double sim::OnsetRow::*share;
        double least;
    } const kinds[] = {{Str::onset_fusing, &sim::OnsetRow::fusing, sim::fusing_matters},
                       {Str::onset_tile, &sim::OnsetRow::tile, sim::tile_matters},
                       {Str::onset_raster, &sim::OnsetRow::raster, sim::raster_matters}};
    for (const auto& k : kinds) {
        const sim::OnsetRange at = sim::where(*reply.answer, k.share, k.least);
        hint(at.first == 0 ? say(Str::onset_nowhere, tr(k.what))
                           : say(Str::onset_matters, tr(k.what), at.first, at.last, at.at,
                                 fmt::format("{:.0f} %", 100 * at.most)));
        tip(tr(Str::onset_tip));
    }
    if (std::string_view(now->activation) != "ReLU")
        hint(say(now->gated() ? Str::onset_gated : Str::onset_plain, now->activation));
}

void layer_rows(Lab& lab) {
    const sim::Experiment& e = lab.document.experiment();
    static const std::vector<i64> sizes = [] {
        std::vector<i64> s;
        for (i64 v = 1; v <= 65536; v *= 2) s.push_back(v);
        return s;
    }();
    sim::Dense dense = e.dense;
    const auto size = [&](const char* letter, i64& value, Str about) {
        row(letter, tr(about));
        if (snap(letter, value, sizes, value))
            lab.change({{"shape", fmt::format("{}x{}x{}", dense.m, dense.n, dense.k)}}, ImGui::GetItemID());
    };
    preset_row(lab);
    size("m", dense.m, Str::about_m);
    size("n", dense.n, Str::about_n);
    size("k", dense.k, Str::about_k);
    static constexpr std::array dtypes = {sim::Dtype::f32, sim::Dtype::tf32, sim::Dtype::f16, sim::Dtype::bf16,
                                          sim::Dtype::e4m3};
    static constexpr std::array passes = {sim::Pass::forward, sim::Pass::dgrad, sim::Pass::wgrad, sim::Pass::train};
    static constexpr std::array fusions = {sim::Fusion::none, sim::Fusion::unfused, sim::Fusion::fused,
                                           sim::Fusion::upstream};
    choice_row<sim::Dtype>(lab, Str::dtype, "dtype", dtypes, e.dense.dtype);
    choice_row<sim::Pass>(lab, Str::pass, "pass", passes, e.pass);
    const bool forward = e.pass == sim::Pass::forward, train = e.pass == sim::Pass::train;
    choice_row<sim::Fusion>(lab, Str::fusion, "fusion",
                            std::span(fusions).subspan(train ? 1 : 0, 4u - (train ? 1 : 0) - (forward ? 1 : 0)),
                            e.fusion);
}

void tile_rows(Lab& lab) {
    const sim::Experiment& e = lab.document.experiment();
    const Analysis* a = lab.analysis();
    sim::Tile tile = e.tile.is_best() && a && lab.is_current() ? a->report.experiment.tile : e.tile;
    const sim::Extent whole = sim::extent(e.dense, e.pass == sim::Pass::train ? sim::Pass::forward : e.pass);
    static const std::vector<i64> none;
    const Sweep* sweep = lab.sweep();
    const auto edge = [&](const char* letter, i64& value, const std::vector<i64>& stops, i64 extent, Str about) {
        row(letter, tr(about));
        if (snap(letter, value, stops, extent)) lab.take_tile(tile, ImGui::GetItemID());
        if (extent % value != 0) tip(say(Str::ragged_tip, extent % value, value));
    };
    edge("bm", tile.bm, sweep ? sweep->space.bm : none, whole.rows, Str::about_bm);
    edge("bn", tile.bn, sweep ? sweep->space.bn : none, whole.cols, Str::about_bn);
    edge("bk", tile.bk, sweep ? sweep->space.bk : none, whole.red, Str::about_bk);
}

/// A word of the schedule: what it says now and what it may say.
struct ScheduleWord {
    Str name;
    std::string_view word;
    bool (*applies)(const sim::Experiment&, const sim::Device&);
    std::string (*now)(const sim::Experiment&);
    std::vector<std::string> (*choices)(const sim::Experiment&, const sim::Device&);
    std::vector<std::string_view> frees = {};  // words that hang on this one and start anew with it
};

bool on_gpu(const sim::Experiment&, const sim::Device& d) { return d.kind == DeviceKind::gpu; }
bool on_gpu_or_cpu(const sim::Experiment&, const sim::Device& d) {
    return d.kind == DeviceKind::gpu || d.kind == DeviceKind::cpu;
}
bool not_on_gpu(const sim::Experiment&, const sim::Device& d) { return d.kind != DeviceKind::gpu; }
bool on_tpu(const sim::Experiment&, const sim::Device& d) { return d.kind == DeviceKind::tpu; }
bool on_cpu(const sim::Experiment&, const sim::Device& d) { return d.kind == DeviceKind::cpu; }

const std::vector<ScheduleWord>& schedule_words() {
    using Choices = std::vector<std::string>;
    static const std::vector<ScheduleWord> table = {
        {Str::residual, "residual",
         [](const sim::Experiment& e, const sim::Device&) {
             return e.fusion != sim::Fusion::none && (e.pass != sim::Pass::forward || e.fusion == sim::Fusion::fused);
         },
         [](const sim::Experiment& e) { return std::string(sim::to_string(e.residual)); },
         [](const sim::Experiment&, const sim::Device&) {
             return Choices{"y", "mask"};
         }},
        {Str::rung,
         "rung",
         on_gpu_or_cpu,
         [](const sim::Experiment& e) { return e.rung.empty() ? std::string("-") : e.rung; },
         [](const sim::Experiment&, const sim::Device& d) {
             Choices c = {"-"};
             for (const sim::Rung& r : sim::rungs())
                 if (r.device == d.kind) c.emplace_back(r.id);
             return c;
         },
         {"engine", "pipeline", "stages", "warp", "thread", "warps", "consumers"}},
        {Str::engine,
         "engine",
         [](const sim::Experiment& e, const sim::Device& d) { return on_gpu(e, d) && e.rung.empty(); },
         [](const sim::Experiment& e) { return std::string(sim::to_string(e.engine)); },
         [](const sim::Experiment&, const sim::Device&) {
             return Choices{"simt", "mma", "wgmma", "tcgen05"};
         },
         {"pipeline", "stages", "warp", "thread", "warps", "consumers"}},
        {Str::pipeline,
         "pipeline",
         [](const sim::Experiment& e, const sim::Device& d) { return on_gpu(e, d) && e.rung.empty(); },
         [](const sim::Experiment& e) { return std::string(sim::to_string(e.pipeline)); },
         [](const sim::Experiment&, const sim::Device&) {
             Choices c;
             for (auto p : {sim::Pipeline::none, sim::Pipeline::double_buffered, sim::Pipeline::multistage,
                            sim::Pipeline::warp_specialized})
                 c.emplace_back(sim::to_string(p));
             return c;
         },
         {"stages"}},
        {Str::stages, "stages", on_gpu, [](const sim::Experiment& e) { return std::to_string(e.stages); },
         [](const sim::Experiment&, const sim::Device&) { return Choices{"1", "2", "3", "4", "5", "6", "8"}; }},
        {Str::raster, "raster", on_gpu, [](const sim::Experiment& e) { return sim::to_string(e.raster); },
         [](const sim::Experiment&, const sim::Device&) {
             return Choices{"along_n",   "along_m",    "grouped:2",  "grouped:4",
                            "grouped:8", "grouped:16", "grouped:32", "hilbert"};
         }},
        {Str::cluster, "cluster", on_gpu,
         [](const sim::Experiment& e) { return fmt::format("{}x{}", e.cluster.rows, e.cluster.cols); },
         [](const sim::Experiment&, const sim::Device&) { return Choices{"1x1", "2x1", "1x2", "2x2", "4x1", "1x4"}; }},
        {Str::schedule, "schedule", on_gpu,
         [](const sim::Experiment& e) {
             switch (e.schedule.kind) {
                 case sim::Schedule::persistent: return std::string("persistent");
                 case sim::Schedule::stream_k: return std::string("stream_k");
                 case sim::Schedule::split_k: return fmt::format("split_k:{}", e.schedule.splits);
                 default: return std::string("data_parallel");
             }
         },
         [](const sim::Experiment&, const sim::Device&) {
             return Choices{"data_parallel", "persistent", "split_k:2", "split_k:4", "split_k:8", "stream_k"};
         }},
        {Str::order, "order", not_on_gpu, [](const sim::Experiment& e) { return std::string(sim::to_string(e.order)); },
         [](const sim::Experiment&, const sim::Device&) { return Choices{"mnk", "nmk", "kmn", "mkn", "knm", "nkm"}; }},
        {Str::buffers, "buffers", on_tpu,
         [](const sim::Experiment& e) { return e.buffers ? std::to_string(e.buffers) : std::string("auto"); },
         [](const sim::Experiment&, const sim::Device&) {
             return Choices{"auto", "1", "2", "3"};
         }},
        {Str::vmem, "vmem", on_tpu,
         [](const sim::Experiment& e) { return e.vmem ? fmt::format("{}MiB", e.vmem >> 20) : std::string("16MiB"); },
         [](const sim::Experiment&, const sim::Device&) {
             return Choices{"16MiB", "32MiB", "64MiB", "96MiB"};
         }},
        {Str::threads, "threads", on_cpu,
         [](const sim::Experiment& e) { return e.threads ? std::to_string(e.threads) : std::string("-"); },
         [](const sim::Experiment&, const sim::Device& d) {
             Choices c = {"-"};
             for (int n = 1; n <= static_cast<int>(d.sm_count.or_else(1)); n *= 2) c.push_back(std::to_string(n));
             return c;
         }},
    };
    return table;
}

void schedule_rows(Lab& lab) {
    const sim::Experiment& e = lab.document.experiment();
    const sim::Device& d = lab.document.device();
    for (const ScheduleWord& w : schedule_words()) {
        if (!w.applies(e, d)) continue;
        row(tr(w.name));
        const std::string now = w.now(e);
        ImGui::PushID(w.word.data());
        if (ImGui::BeginCombo("##choice", now == "-" ? tr(Str::usual) : now.c_str())) {
            for (const std::string& c : w.choices(e, d)) {
                std::vector<Word> words = {{w.word, c == "-" ? "" : c}};
                for (std::string_view freed : w.frees) words.emplace_back(freed, "");
                const std::string line = with_words(sim::to_string(e, *lab.document.devices()), words);
                const std::string why = translated(lab.document.refuses(line));
                ImGui::BeginDisabled(!why.empty());
                if (ImGui::Selectable(c == "-" ? tr(Str::usual) : c.c_str(), c == now)) lab.change(words);
                ImGui::EndDisabled();
                if (!why.empty()) tip(why);
            }
            ImGui::EndCombo();
        }
        ImGui::PopID();
    }
}

/// "fits" and what it occupies, or the reason why not, in a box that cannot be missed.
void verdict(Lab& lab) {
    const Analysis* a = lab.analysis();
    if (!a) return;
    const sim::Report& r = a->report;
    const Palette& p = colours();
    const std::string& error = lab.analysis_error();
    const bool ok = error.empty() && r.fit.ok();
    std::string text = translated(!error.empty() ? error : r.fit.why);
    if (ok) {
        text = tr(Str::fits);
        if (r.predicted && r.predicted->occupancy)
            text = say(Str::fits_gpu, *r.predicted->occupancy, r.predicted->slots.value_or(0),
                       r.predicted->waves.value_or(0));
        else if (r.predicted && !r.predicted->pipelined)
            text = tr(Str::fits_serial);
        if (r.idealised) text += std::string(" ") + tr(Str::idealised);
    }
    const ImU32 ink = ok ? p.text : p.error;
    const float width = form_width(), pad = em(0.5f);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const std::string shown = in_lines(text, width - 2 * pad - em(1.4f));
    const ImVec2 size = ImGui::CalcTextSize(shown.c_str(), nullptr, false, width - 2 * pad - em(1.4f));
    const ImVec2 high{at.x + width, at.y + size.y + 2 * pad};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(at, high, mix(p.panel, ok ? p.green : p.error, 0.12f), em(0.25f));
    list.AddRectFilled(at, {at.x + em(0.25f), high.y}, ok ? p.green : p.error, em(0.12f));
    list.AddText({at.x + pad + em(0.2f), at.y + pad}, ok ? p.green : p.error, ok ? "✓" : "✗");
    list.AddText(nullptr, 0, {at.x + pad + em(1.4f), at.y + pad}, ink, shown.c_str(), nullptr,
                 width - 2 * pad - em(1.4f));
    ImGui::Dummy({width, size.y + 2 * pad});
    if (ImGui::IsItemHovered() && !ok) copyable(text, "##verdict");
    if (ok && r.predicted && r.predicted->waves) asks_formula(lab, sim::Formula::waves);
}

}  // namespace

void draw_experiment(Lab& lab) {
    verdict(lab);
    ImGui::SeparatorText(tr(Str::tile));
    if (begin_form("tile")) {
        tile_rows(lab);
        ImGui::EndTable();
    }
    ImGui::SeparatorText(tr(Str::layer));
    if (begin_form("layer")) {
        device_row(lab);
        layer_rows(lab);
        ImGui::EndTable();
    }
    onset_rows(lab);
    ImGui::SeparatorText(tr(Str::schedule));
    if (begin_form("schedule")) {
        schedule_rows(lab);
        ImGui::EndTable();
    }
}

}  // namespace gui
