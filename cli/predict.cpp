// memwall predict: bound and prediction as numbers.

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/json.hpp"
#include "cli/page.hpp"
#include "cli/published.hpp"
#include "cli/text.hpp"
#include "cli/verb.hpp"
#include "sim/report.hpp"
#include "sim/text.hpp"
#include "sim/time.hpp"

namespace cli {
namespace {

sim::PredictOptions options_of(const Arguments& arguments) {
    sim::PredictOptions options;
    if (const std::string* engine = arguments.value("--engine")) {
        if (*engine == "replay") {
            options.count = sim::Count::replay;
        } else if (*engine == "closed_form") {
            options.count = sim::Count::closed_form;
        } else {
            throw sim::BadInput(
                fmt::format("--engine {} is no engine; expected replay or closed_form", sim::quote(*engine)));
        }
    }
    if (const std::string* terms = arguments.value("--without"))
        for (std::size_t at = 0; at <= terms->size();) {
            const std::size_t end = std::min(terms->find(',', at), terms->size());
            const std::string term = terms->substr(at, end - at);
            std::vector<std::string_view> names;
            for (const sim::TimeTermInfo& t : sim::time_terms()) names.push_back(t.name);
            if (std::find(names.begin(), names.end(), term) == names.end())
                throw sim::BadInput(fmt::format("--without {} is no term of the time; expected one of {}",
                                                sim::quote(term), sim::listed(names)));
            options.without.insert(term);
            at = end + 1;
        }
    return options;
}

int predict(const Arguments& arguments, Session& session) {
    const sim::PredictOptions options = options_of(arguments);
    const sim::Catalogue& devices = session.devices_for({arguments.words.data(), 1});
    const sim::Report r = sim::predict(sim::parse_scene(arguments.words[0], devices).experiment, devices, options);
    if (arguments.has("--json")) {
        session.out() << predict_document(r, devices);
        return r.fit.ok() ? done : does_not_fit;
    }
    const int width = session.terminal().width;
    std::string page = sim::to_string(r.experiment, devices) + '\n';
    if (!r.fit.ok()) page += wrap("does not fit: " + r.fit.why, width);
    page += verdict_text(r, measured_lines(published(r.experiment, devices)), width);
    if (r.fit.ok()) {
        page += heading("Bytes, " + counted_by(r)) + traffic_text(r, devices.at(r.experiment.device), width);
        page += heading("Where the predicted time goes") + time_split_text(r, width);
    }
    session.out() << page;
    return r.fit.ok() ? done : does_not_fit;
}

}  // namespace

const Verb predict_verb = {
    .name = "predict",
    .operands = "\"EXPERIMENT\"",
    .what = "bound and prediction: bytes by level and operand, time by kernel and term",
    .least = 1,
    .most = 1,
    .joins = true,
    .options = {{"--json", "", "one JSON object"},
                {"--engine", "replay|closed_form", "how bytes are counted (default: replay where it is quick)"},
                {"--without", "TERM[,TERM]", "leave terms of the time out: waves, fill, …"}},
    .run = predict,
};

}  // namespace cli
