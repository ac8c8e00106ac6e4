#include "lessons/terms.hpp"

#include "sim/time.hpp"

namespace lessons {
namespace {

struct Row {
    const char *en, *zh;
};
constexpr Row limiters[] = {
    // by sim::Limiter
    {"math", "运算"},       {"on-chip memory", "片上存储"}, {"L2", "L2"},      {"DRAM", "DRAM"}, {"latency", "延迟"},
    {"launch", "启动开销"}, {"step overhead", "步开销"},    {"power", "功耗"},
};
/// Of sim::time_terms(), whose English is the model's.
constexpr std::pair<std::string_view, const char*> terms[] = {
    {"math", "以峰值速率做乘加，按整块计"},
    {"smem", "共享内存与读写单元；在 TPU 上是把 f32 操作数转成 bf16"},
    {"l2", "从 L2 到 SM：全部合计，以及进入单个 SM"},
    {"dram", "DRAM 字节，取同步与错开两种计数之间的预期值"},
    {"latency", "等待读取：在途字节除以延迟（Little 定律），以及屏障"},
    {"waves", "整波的 CTA，以及让部分 SM 空闲的最后一波"},
    {"fill", "CTA 或网格最初的读取，此时没有别的在运行"},
    {"epilogue", "存输出，此时没有乘法在运行"},
    {"power", "机器在长时间矩阵乘下能维持的水平"},
    {"launch", "启动一个内核"},
    {"dispatch", "主机时钟看到的一次框架调用"},
    {"step_overhead", "顺序执行的机器启动一个网格步"},
};

}  // namespace

const char* limiter_name(sim::Limiter limiter, Language l) {
    const Row& row = limiters[static_cast<int>(limiter)];
    return l == Language::en ? row.en : row.zh;
}

const char* roof_name(sim::Bound::Ceiling roof, Language l) {
    return limiter_name(roof == sim::Bound::Ceiling::math ? sim::Limiter::math
                        : roof == sim::Bound::Ceiling::l2 ? sim::Limiter::l2
                                                          : sim::Limiter::dram,
                        l);
}

std::string term_meaning(std::string_view term, Language l) {
    for (const sim::TimeTermInfo& t : sim::time_terms()) {
        if (t.name != term) continue;
        if (l == Language::en) return std::string(t.what);
        for (const auto& [name, zh] : terms)
            if (name == term) return zh;
    }
    return {};
}

}  // namespace lessons
