#pragma once
// What has been done, line by line: each case writes one JSON object when it begins and one when it ends, so that
// whatever ends the process loses one case at most and the next process goes on.

#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/gpu/plan.hpp"

namespace campaign {

/// A record has "step", "id" and "status": ok, failed (a result was wrong, a call failed, the process ended), refused
/// (does not fit or is not there, with the reason under "why"). What was measured is under "row" (columns of the shared
/// schema) and "more".
using Record = nlohmann::json;

class Journal {
public:
    /// Opens FOLDER/results.jsonl, makes it where there is none. A case that began and did not end is written down as
    /// failed. Lines that were cut off are passed over. Throws sim::BadInput where nothing can be written.
    explicit Journal(const std::filesystem::path& folder);

    void begin(const Case& c);
    void end(const Case& c, Record record);
    bool done(const Case& c) const;
    /// How often a case of that rung ended its process.
    int deaths(const std::string& rung) const;
    /// The ended cases, in order.
    const std::vector<Record>& records() const { return records_; }

private:
    void write(const Record& record);

    std::filesystem::path file_;
    mutable std::mutex mutex_;
    std::vector<Record> records_;
    std::set<std::pair<std::string, std::string>> done_;
};

/// The "rung" word of an experiment; empty where there is none.
std::string rung_of(const std::string& experiment);

}  // namespace campaign
