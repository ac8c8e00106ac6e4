#pragma once
// What is kept between runs and can be made again.

#include <filesystem>
#include <string_view>

namespace kernels {

/// A folder of that name in the user's cache ($XDG_CACHE_HOME/memwall, else ~/.cache/memwall); empty where neither
/// variable says where. It may not exist yet.
std::filesystem::path user_cache(std::string_view folder);

/// Writes a file whole or not at all, with the folders above it. False where that cannot be done.
bool write_whole(const std::filesystem::path& file, std::string_view bytes);

}  // namespace kernels
