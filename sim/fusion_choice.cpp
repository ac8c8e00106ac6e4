#include "sim/fusion_choice.hpp"

#include <fmt/format.h>

namespace sim {

std::vector<FusionChoice> fusion_choices(const Experiment& e, const Catalogue& devices) {
    std::vector<FusionChoice> out;
    if (e.fusion == Fusion::none) return out;
    const bool backward = e.pass != Pass::forward;
    const auto add = [&](Fusion fusion, Residual residual) {
        FusionChoice c;
        Experiment one = e;
        one.fusion = fusion;
        const bool keeps = fusion == Fusion::upstream ? e.pass != Pass::wgrad : backward || fusion == Fusion::fused;
        one.residual = keeps ? residual : Residual::y;
        one.in_place = e.in_place && fusion == Fusion::unfused;
        one.drelu = fusion == Fusion::upstream && e.pass == Pass::train;
        c.asked = e.fusion == fusion && (e.residual == residual || !backward);
        if (c.asked) one = e;
        c.words = to_string(fusion);
        if (backward && fusion != Fusion::upstream) c.words += fmt::format(" residual {}", to_string(residual));
        c.same_work = fusion != Fusion::upstream || e.pass == Pass::train;
        c.report = predict(one, devices);
        out.push_back(std::move(c));
    };
    for (const Fusion fusion : {Fusion::unfused, Fusion::fused}) {
        if (!backward) {
            add(fusion, e.residual);
            continue;
        }
        for (const Residual residual : {Residual::y, Residual::mask}) add(fusion, residual);
    }
    if (backward) add(Fusion::upstream, e.residual);

    FusionChoice* best = nullptr;
    for (FusionChoice& c : out)
        if (c.same_work && c.report.predicted &&
            (!best || c.report.predicted->time_us < best->report.predicted->time_us))
            best = &c;
    if (best) best->wins = true;
    return out;
}

}  // namespace sim
