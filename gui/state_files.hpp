#pragma once
// Small files of the lab's own: how they are written so that a crash leaves old or new, never half.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace gui {

/// Writes a temporary file beside `path`, flushes it to disk and renames it over; makes the folder if need be.
/// Returns an empty string, or one sentence on what failed.
std::string write_whole(const std::filesystem::path& path, std::string_view text);

/// The file's content, nothing when it can't be read.
std::optional<std::string> read_whole(const std::filesystem::path& path);

/// Renames an unusable file to NAME.bad, so that the next start is clean and nothing is lost. Returns a sentence for
/// the person.
std::string set_aside(const std::filesystem::path& path, std::string_view why);

}  // namespace gui
