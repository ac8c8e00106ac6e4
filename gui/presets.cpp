#include "gui/presets.hpp"

#include <algorithm>
#include <array>

namespace gui {
namespace {

constexpr std::array table = {
    Preset{"GPT-2 124M", 768, 3072, "GELU", "openai-community/gpt2, config.json: n_embd, 4 n_embd"},
    Preset{"GPT-2 XL 1.5B", 1600, 6400, "GELU", "openai-community/gpt2-xl, config.json: n_embd, 4 n_embd"},
    Preset{"T5 11B", 1024, 65536, "ReLU", "google-t5/t5-11b, config.json: d_model, d_ff"},
    Preset{"OPT 6.7B", 4096, 16384, "ReLU", "facebook/opt-6.7b, config.json: hidden_size, ffn_dim"},
    Preset{"OPT 66B", 9216, 36864, "ReLU", "facebook/opt-66b, config.json: hidden_size, ffn_dim"},
    Preset{"GPT-3 175B", 12288, 49152, "GELU", "Brown et al. 2020, table 2.1: d_model; d_ff = 4 d_model"},
    Preset{"Mistral 7B", 4096, 14336, "SwiGLU",
           "mistralai/Mistral-7B-v0.1, config.json: hidden_size, intermediate_size"},
    Preset{"Llama 2 7B", 4096, 11008, "SwiGLU", "meta-llama/Llama-2-7b, config.json: hidden_size, intermediate_size"},
    Preset{"Llama 3.1 70B", 8192, 28672, "SwiGLU",
           "meta-llama/Llama-3.1-70B, config.json: hidden_size, intermediate_size"},
    Preset{"Llama 3.1 405B", 16384, 53248, "SwiGLU",
           "meta-llama/Llama-3.1-405B, config.json: hidden_size, intermediate_size"},
    Preset{"Qwen2.5 7B", 3584, 18944, "SwiGLU", "Qwen/Qwen2.5-7B, config.json: hidden_size, intermediate_size"},
    Preset{"Qwen2.5 72B", 8192, 29568, "SwiGLU", "Qwen/Qwen2.5-72B, config.json: hidden_size, intermediate_size"},
    Preset{"Qwen3 8B", 4096, 12288, "SwiGLU", "Qwen/Qwen3-8B, config.json: hidden_size, intermediate_size"},
    Preset{"Gemma 2 9B", 3584, 14336, "GeGLU", "google/gemma-2-9b, config.json: hidden_size, intermediate_size"},
};

}  // namespace

std::span<const Preset> presets() { return table; }

const Preset* preset_of(const sim::Dense& layer) {
    const auto at = std::find_if(table.begin(), table.end(),
                                 [&](const Preset& p) { return p.hidden == layer.k && p.inner == layer.n; });
    return at == table.end() ? nullptr : &*at;
}

}  // namespace gui
