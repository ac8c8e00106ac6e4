#include "tests/gpu/journal.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <fstream>

namespace campaign {
namespace {

std::string now() {
    const std::time_t t = std::time(nullptr);
    std::tm parts{};
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &parts));
    return text;
}

std::string text_of(const Record& r, const char* key) {
    const auto at = r.find(key);
    return at != r.end() && at->is_string() ? at->get<std::string>() : std::string();
}

}  // namespace

std::string rung_of(const std::string& experiment) {
    const auto at = experiment.find(" rung ");
    if (at == std::string::npos) return "";
    return experiment.substr(at + 6, experiment.find(' ', at + 6) - at - 6);
}

Journal::Journal(const std::filesystem::path& folder) : file_(folder / "results.jsonl") {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    std::ifstream in(file_);
    Record begun;
    bool whole = true;
    for (std::string line; std::getline(in, line);) {
        whole = !in.eof();
        Record r = Record::parse(line, nullptr, false);
        if (!r.is_object()) continue;
        if (text_of(r, "status") == "begun") {
            begun = std::move(r);
            continue;
        }
        begun = nullptr;
        done_.insert({text_of(r, "step"), text_of(r, "id")});
        records_.push_back(std::move(r));
    }
    in.close();
    std::ofstream out(file_, std::ios::app);
    if (!whole) out << '\n';
    if (!out.flush()) throw sim::BadInput(fmt::format("{}: cannot be written", file_.string()));
    if (begun.is_object()) {
        begun["status"] = "failed";
        begun["why"] = "the process ended in it";
        begun["died"] = true;
        write(begun);
    }
}

void Journal::write(const Record& record) {
    const std::lock_guard lock(mutex_);
    if (text_of(record, "status") != "begun") {
        if (!done_.insert({text_of(record, "step"), text_of(record, "id")}).second) return;
        records_.push_back(record);
    }
    std::ofstream(file_, std::ios::app) << record.dump() << '\n' << std::flush;
}

void Journal::begin(const Case& c) {
    write({{"step", c.step}, {"id", c.id}, {"status", "begun"}, {"experiment", c.experiment}, {"at", now()}});
}

void Journal::end(const Case& c, Record record) {
    record["step"] = c.step;
    record["id"] = c.id;
    record["at"] = now();
    if (!c.experiment.empty()) record["experiment"] = c.experiment;
    if (c.frozen.time_us > 0)
        record["frozen"] = {{"time_us", c.frozen.time_us},
                            {"bound_us", c.frozen.bound_us},
                            {"read_bytes", c.frozen.read_bytes},
                            {"write_bytes", c.frozen.write_bytes},
                            {"git", c.frozen.git},
                            {"compulsory_read_bytes", c.frozen.compulsory_read_bytes}};
    write(record);
}

bool Journal::done(const Case& c) const {
    const std::lock_guard lock(mutex_);
    return done_.count({c.step, c.id}) > 0;
}

int Journal::deaths(const std::string& rung) const {
    const std::lock_guard lock(mutex_);
    int count = 0;
    for (const Record& r : records_) count += r.contains("died") && rung_of(text_of(r, "experiment")) == rung;
    return count;
}

}  // namespace campaign
