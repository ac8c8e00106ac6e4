#include "sim/workload.hpp"

#include <utility>

namespace sim {
namespace {

template <class T>
using Word = std::pair<T, std::string_view>;

constexpr Word<Dtype> dtypes[] = {
    {Dtype::f32, "f32"}, {Dtype::tf32, "tf32"}, {Dtype::f16, "f16"}, {Dtype::bf16, "bf16"}, {Dtype::e4m3, "e4m3"}};
constexpr Word<Pass> passes[] = {
    {Pass::forward, "forward"}, {Pass::dgrad, "dgrad"}, {Pass::wgrad, "wgrad"}, {Pass::train, "train"}};
constexpr Word<Fusion> fusions[] = {
    {Fusion::none, "none"}, {Fusion::unfused, "unfused"}, {Fusion::fused, "fused"}, {Fusion::upstream, "upstream"}};
constexpr Word<Residual> residuals[] = {{Residual::y, "y"}, {Residual::mask, "mask"}};

template <class T, std::size_t N>
std::string_view name_of(const Word<T> (&words)[N], T value) {
    for (const auto& [each, name] : words) {
        if (each == value) {
            return name;
        }
    }
    return "?";
}

template <class T, std::size_t N>
std::optional<T> value_of(const Word<T> (&words)[N], std::string_view text) {
    for (const auto& [value, name] : words) {
        if (name == text) {
            return value;
        }
    }
    return std::nullopt;
}

}  // namespace

std::string_view to_string(Dtype t) { return name_of(dtypes, t); }
std::string_view to_string(Pass p) { return name_of(passes, p); }
std::string_view to_string(Fusion f) { return name_of(fusions, f); }
std::string_view to_string(Residual r) { return name_of(residuals, r); }

std::optional<Dtype> parse_dtype(std::string_view text) { return value_of(dtypes, text); }
std::optional<Pass> parse_pass(std::string_view text) { return value_of(passes, text); }
std::optional<Fusion> parse_fusion(std::string_view text) { return value_of(fusions, text); }

}  // namespace sim
