#pragma once
// Text with holes. `@NAME@` is replaced by a value; the lines from `%if NAME` (`%if not NAME`) to `%end` stay where
// NAME is set to something (nothing). A name that no value is given for is an error, so that no hole is left open.

#include <map>
#include <string>
#include <string_view>

namespace kernels {

using Values = std::map<std::string, std::string, std::less<>>;

/// Throws std::logic_error for a template that names a value which is not there or whose %if and %end do not match.
std::string fill_template(std::string_view text, const Values& values);

}  // namespace kernels
