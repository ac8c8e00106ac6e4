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
/// A part of the predicted time, as sim::time_terms() names it; what it is in English is the model's to say.
struct Term {
    std::string_view term;
    const char *en, *zh, *meaning;
};
constexpr Term terms[] = {
    {"math", "math", "运算", "以峰值速率做乘加，按整块计"},
    {"smem", "shared memory", "共享内存", "共享内存与读写单元；在 TPU 上是把 f32 操作数转成 bf16"},
    {"l2", "L2", "L2", "从 L2 到 SM：全部合计，以及进入单个 SM"},
    {"dram", "DRAM", "DRAM", "DRAM 字节，取同步与错开两种计数之间的预期值"},
    {"latency", "latency", "延迟", "等待读取：在途字节除以延迟（Little 定律），以及屏障"},
    {"waves", "waves", "波次", "整波的 CTA，以及让部分 SM 空闲的最后一波"},
    {"fill", "fill", "填充", "CTA 或网格最初的读取，此时没有别的在运行"},
    {"epilogue", "epilogue", "收尾", "存输出，此时没有乘法在运行"},
    {"power", "power", "功耗", "机器在长时间矩阵乘下能维持的水平"},
    {"launch", "launch", "启动", "启动一个内核"},
    {"dispatch", "dispatch", "派发", "主机时钟看到的一次框架调用"},
    {"step_overhead", "step overhead", "步开销", "顺序执行的机器启动一个网格步"},
};

const Term* find(std::string_view term) {
    for (const Term& t : terms)
        if (t.term == term) return &t;
    return nullptr;
}

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

const char* term_name(std::string_view term, Language l) {
    const Term* t = find(term);
    return !t ? nullptr : l == Language::en ? t->en : t->zh;
}

std::string term_meaning(std::string_view term, Language l) {
    const Term* t = find(term);
    if (!t) return {};
    if (l == Language::zh) return t->meaning;
    for (const sim::TimeTermInfo& of : sim::time_terms())
        if (of.name == term) return std::string(of.what);
    return {};
}

}  // namespace lessons
