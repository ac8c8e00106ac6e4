// Every CPU rung against the double-precision reference and against each other.

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "kernels/cpu/reference.hpp"
#include "kernels/cpu/run.hpp"
#include "kernels/cpu/rung.hpp"
#include "kernels/numeric.hpp"

using namespace kernels;
using cpu::Config;
using cpu::Isa;
using sim::Fusion;
using sim::Pass;
using sim::Pitch;
using sim::Residual;

namespace {

std::vector<const Isa*> isas() {
    const Isa* all[3];
    const int count = cpu::supported_isas(all);
    return {all, all + count};
}

std::string describe(const Op& op, const Config& config) {
    const sim::Dense& d = op.dense;
    return std::string(config.rung->id) + " " + config.instructions->name + " " + std::to_string(d.m) + "x" +
           std::to_string(d.n) + "x" + std::to_string(d.k) + " " + std::string(to_string(d.dtype)) + " out " +
           std::string(to_string(d.out)) + " " + std::string(to_string(op.pass)) + " " +
           std::string(to_string(op.fusion)) + " residual " + std::string(to_string(op.residual)) +
           (op.in_place ? " in_place" : "") + (op.accumulate ? " accumulate" : "") + (op.drelu ? " drelu" : "");
}

/// Every operation that means something: pass x fusion x residual x what else applies.
std::vector<Op> all_ops(const sim::Dense& dense) {
    std::vector<Op> ops;
    for (const Pass pass : {Pass::forward, Pass::dgrad, Pass::wgrad, Pass::train})
        for (const Fusion fusion : {Fusion::none, Fusion::unfused, Fusion::fused, Fusion::upstream})
            for (const Residual residual : {Residual::y, Residual::mask})
                for (int extras = 0; extras < 8; extras++) {
                    Op op{dense, pass, fusion, residual, (extras & 1) != 0, (extras & 2) != 0, (extras & 4) != 0};
                    if (pass == Pass::forward && fusion == Fusion::upstream) continue;
                    if (op.accumulate && !op.runs(Pass::wgrad)) continue;
                    if (op.in_place && fusion != Fusion::unfused) continue;
                    if (op.drelu && !(op.runs(Pass::dgrad) && fusion == Fusion::upstream)) continue;
                    ops.push_back(op);
                }
    return ops;
}

/// Small whole numbers everywhere: every sum is exact in f32 whatever its order, so results must be equal.
void fill_integers(const Op& op, OperandSet& set) {
    set.fill_normal(7);
    const Operands& o = set.operands();
    for (const Matrix* m : {&o.x, &o.w, &o.bias, &o.dy, &o.dz, &o.dw})
        if (*m)
            for (i64 b = 0; b < op.dense.batch; b++)
                for (i64 i = 0; i < m->rows; i++)
                    for (i64 j = 0; j < m->cols; j++) m->set(b, i, j, static_cast<float>((i * 7 + j * 5 + b) % 9 - 4));
}

std::vector<float> values(const Matrix& m, i64 batch) {
    std::vector<float> all;
    for (i64 b = 0; m && b < batch; b++)
        for (i64 i = 0; i < m.rows; i++)
            for (i64 j = 0; j < m.cols; j++) all.push_back(m.get(b, i, j));
    return all;
}

void execute(const Op& op, const Operands& operands, const Config& config) {
    cpu::Control control;
    cpu::execute(op, operands, config, control);
}

constexpr double everything = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("every rung, operation and instruction set agrees with the reference on ragged sizes and special values") {
    const sim::Dense dense{.m = 53, .n = 61, .k = 37, .batch = 2, .bias = true};
    for (const cpu::Rung& rung : cpu::rungs())
        for (const Isa* isa : isas())
            for (const Op& op : all_ops(dense)) {
                const Config config{
                    .rung = &rung, .tile = {20, 24, 16}, .threads = rung.threaded ? 2 : 1, .instructions = isa};
                CAPTURE(describe(op, config));
                CHECK_NOTHROW(cpu::check_ragged(op, config, 3));
            }
}

TEST_CASE("narrow types are rounded once, from f32 sums") {
    for (const Dtype dtype : {Dtype::bf16, Dtype::f16})
        for (const Dtype out : {dtype, Dtype::f32})
            for (const cpu::Rung& rung : cpu::rungs())
                for (const Isa* isa : isas())
                    for (const Op& op : all_ops({.m = 29, .n = 43, .k = 40, .dtype = dtype, .out = out})) {
                        const Config config{.rung = &rung, .tile = {12, 16, 16}, .threads = 1, .instructions = isa};
                        CAPTURE(describe(op, config));
                        CHECK_NOTHROW(cpu::check_ragged(op, config, 5));
                    }
}

TEST_CASE("any tile gives exactly the same sums of whole numbers") {
    const sim::Tile tiles[] = {{1, 1, 1}, {6, 16, 8}, {7, 17, 3}, {13, 50, 31}, {1000, 1000, 1000}};
    for (const Op& op : all_ops({.m = 31, .n = 50, .k = 45, .bias = true, .pitch = Pitch::tight})) {
        OperandSet want(op), inputs(op);
        fill_integers(op, inputs);
        want.copy_from(inputs);
        execute(op, want.operands(), {.rung = cpu::find_rung("01_naive")});
        for (const cpu::Rung& rung : cpu::rungs())
            for (const sim::Tile& tile : tiles) {
                const Config config{.rung = &rung, .tile = tile, .tile_dgrad = tile, .tile_wgrad = tile, .threads = 1};
                CAPTURE(describe(op, config));
                CAPTURE(tile.bm);
                OperandSet got(op);
                got.copy_from(inputs);
                execute(op, got.operands(), config);
                for (const auto member : {&Operands::z, &Operands::y, &Operands::dz, &Operands::dx, &Operands::dw})
                    CHECK(values(got.operands().*member, 1) == values(want.operands().*member, 1));
            }
    }
}

TEST_CASE("threads that overtake one another between steps give the same sums") {
    const Op op{{.m = 70, .n = 200, .k = 300}, Pass::forward, Fusion::fused};
    OperandSet want(op), got(op);
    fill_integers(op, want);
    got.copy_from(want);
    execute(op, want.operands(), {.rung = cpu::find_rung("01_naive")});
    const std::vector<float> sums = values(want.operands().y, 1);
    int wrong = 0;
    for (int repeat = 0; repeat < 60; repeat++) {
        execute(op, got.operands(), {.tile = {6, 48, 4}, .threads = 4});
        wrong += values(got.operands().y, 1) != sums;
    }
    CHECK(wrong == 0);
}

TEST_CASE("fused and unfused give the same bits, and so do both residuals") {
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16})
        for (const cpu::Rung& rung : cpu::rungs()) {
            const sim::Dense dense{.m = 40, .n = 53, .k = 66, .dtype = dtype, .out = dtype, .bias = true};
            const Config config{.rung = &rung,
                                .tile = {18, 32, 24},
                                .tile_dgrad = sim::Tile{18, 32, 24},
                                .tile_wgrad = sim::Tile{18, 32, 24},
                                .threads = 1};
            std::vector<std::vector<float>> y, dx, dw;
            for (const Fusion fusion : {Fusion::unfused, Fusion::fused})
                for (const Residual residual : {Residual::y, Residual::mask}) {
                    const Op op{dense, Pass::train, fusion, residual};
                    OperandSet set(op);
                    set.fill_normal(11);
                    for (const Matrix* m : {&set.operands().x, &set.operands().w, &set.operands().dy})
                        for (i64 i = 0; i < m->rows; i++)
                            for (i64 j = 0; j < m->cols; j++)
                                m->set(0, i, j, static_cast<float>((i * 37 + j * 101) % 199 - 99) / 64);
                    execute(op, set.operands(), config);
                    y.push_back(values(set.operands().y, 1));
                    dx.push_back(values(set.operands().dx, 1));
                    dw.push_back(values(set.operands().dw, 1));
                }
            for (std::size_t i = 1; i < y.size(); i++) {
                CHECK(y[i] == y[0]);
                CHECK(dx[i] == dx[0]);
                CHECK(dw[i] == dw[0]);
            }
        }
}

TEST_CASE("ReLU keeps NaN, makes both zeros +0, and a gradient is selected, never multiplied") {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    // X is the unit matrix row by row: Z = W row, so that each case below is one element.
    const float z[] = {nan, -0.0f, 0.0f, -1.0f, 2.0f, 1e-40f, -1e-40f, inf, -inf};
    constexpr i64 n = std::size(z);
    for (const cpu::Rung& rung : cpu::rungs())
        for (const Fusion fusion : {Fusion::unfused, Fusion::fused})
            for (const Residual residual : {Residual::y, Residual::mask}) {
                const Op op{{.m = 1, .n = n, .k = 1}, Pass::train, fusion, residual};
                OperandSet set(op);
                const Operands& o = set.operands();
                o.x.set(0, 0, 0, 1.0f);
                for (i64 j = 0; j < n; j++) o.w.set(0, 0, j, z[j]), o.dy.set(0, 0, j, nan);
                o.dy.set(0, 0, 4, 3.0f);
                const Config config{.rung = &rung, .threads = 1};
                CAPTURE(describe(op, config));
                execute(op, o, config);
                CHECK(std::isnan(o.y.get(0, 0, 0)));
                for (const i64 zero : {1, 2, 3, 6, 8}) {
                    CHECK(o.y.get(0, 0, zero) == 0);
                    CHECK(!std::signbit(o.y.get(0, 0, zero)));
                    CHECK(o.dw.get(0, 0, zero) == 0);  // dY is NaN there
                }
                CHECK(o.dw.get(0, 0, 0) == 0);  // Y is NaN: not > 0
                CHECK(o.y.get(0, 0, 4) == 2);
                CHECK(o.dw.get(0, 0, 4) == 3);
                CHECK(o.y.get(0, 0, 5) == 1e-40f);
                CHECK(std::isnan(o.dw.get(0, 0, 5)));  // a subnormal Y is > 0
                CHECK(std::isnan(o.dw.get(0, 0, 7)));
                if (residual == Residual::mask) {
                    const int bits[] = {0, 0, 0, 0, 1, 1, 0, 1, 0};
                    for (i64 j = 0; j < n; j++) CHECK(o.mask.get(0, 0, j) == (bits[j] != 0));
                    CHECK(o.mask.pitch == 16);
                    CHECK(std::to_integer<int>(o.mask.data[0]) == 0b10110000);  // bit j % 8 of byte j / 8
                }
            }
}

TEST_CASE("a sum too small for the stored type is zero to the backward pass") {
    for (const Residual residual : {Residual::y, Residual::mask}) {
        const Op op{
            {.m = 1, .n = 1, .k = 1, .dtype = Dtype::f16, .out = Dtype::f16}, Pass::train, Fusion::fused, residual};
        OperandSet set(op);
        const Operands& o = set.operands();
        o.x.set(0, 0, 0, 0x1p-14f);
        o.dy.set(0, 0, 0, 1.0f);
        o.w.set(0, 0, 0, 0x1p-10f);  // 2^-24: the least f16
        execute(op, o, {.threads = 1});
        CHECK(o.dw.get(0, 0, 0) == 0x1p-14f);
        o.w.set(0, 0, 0, 0x1p-11f);  // 2^-25 rounds to even, which is 0
        execute(op, o, {.threads = 1});
        CHECK(o.y.get(0, 0, 0) == 0);
        CHECK(o.dw.get(0, 0, 0) == 0);
    }
}

TEST_CASE("nothing is written outside the matrices' elements") {
    const Op op{{.m = 23, .n = 21, .k = 19, .batch = 2}, Pass::train, Fusion::fused, Residual::mask};
    for (const cpu::Rung& rung : cpu::rungs())
        for (const Isa* isa : isas()) {
            OperandSet set(op);
            set.fill_normal(1);
            const Operands& o = set.operands();
            for (const Matrix* m : {&o.y, &o.dx, &o.dw}) {
                CHECK(m->pitch > m->cols);
                for (i64 b = 0; b < 2; b++)
                    for (i64 i = 0; i < m->rows; i++)
                        for (i64 j = m->cols; j < m->pitch; j++) m->set(b, i, j, 12345);
            }
            execute(op, o, {.rung = &rung, .tile = {12, 16, 7}, .threads = 1, .instructions = isa});
            for (const Matrix* m : {&o.y, &o.dx, &o.dw})
                for (i64 b = 0; b < 2; b++)
                    for (i64 i = 0; i < m->rows; i++)
                        for (i64 j = m->cols; j < m->pitch; j++) CHECK(m->get(b, i, j) == 12345);
            for (i64 b = 0; b < 2; b++)
                for (i64 i = 0; i < 23; i++)
                    for (i64 j = 21; j < 128; j++) CHECK(!o.mask.get(b, i, j));
        }
}

TEST_CASE("rows are padded to 16 bytes unless the layer is tight") {
    Op op{{.m = 3, .n = 5, .k = 7, .dtype = Dtype::bf16, .out = Dtype::f32}, Pass::forward, Fusion::fused};
    CHECK(OperandSet(op).operands().x.pitch == 8);
    CHECK(OperandSet(op).operands().y.pitch == 8);
    op.dense.pitch = Pitch::tight;
    CHECK(OperandSet(op).operands().x.pitch == 7);
    CHECK(OperandSet(op).operands().y.pitch == 5);
}

TEST_CASE("the comparison with the reference finds one wrong element and one wrong bit") {
    const Op op{{.m = 30, .n = 20, .k = 40}, Pass::forward, Fusion::fused, Residual::mask};
    OperandSet set(op);
    set.fill_normal(2);
    const Operands& o = set.operands();
    execute(op, o, {.threads = 1});
    CHECK(cpu::compare(op, o, {}, everything).ok());
    const float right = o.y.get(0, 17, 3);
    o.y.set(0, 17, 3, right + 1e-4f);
    CHECK(cpu::compare(op, o, {}, everything).first_wrong.starts_with("y(17, 3) of problem 0"));
    o.y.set(0, 17, 3, right);
    o.mask.set(0, 29, 19, !o.mask.get(0, 29, 19));
    CHECK(cpu::compare(op, o, {}, everything).first_wrong.starts_with("y(29, 19)"));
    o.mask.set(0, 29, 19, !o.mask.get(0, 29, 19));
    CHECK(cpu::compare(op, o, {}, everything).checked() == "every element");
    CHECK(cpu::compare(op, o, {}, 20 * 40 * 5).checked() == "5 of 30 rows");
}

TEST_CASE("a float rounds to the nearest narrow value, ties to even") {
    CHECK(float_to_bf16(1.0f) == 0x3f80);
    CHECK(float_to_bf16(0x1.01p0f) == 0x3f80);  // half way to 0x3f81: even
    CHECK(float_to_bf16(0x1.010002p0f) == 0x3f81);
    CHECK(float_to_bf16(0x1.03p0f) == 0x3f82);  // half way between 0x3f81 and 0x3f82
    CHECK(float_to_bf16(0x1.fffffep127f) == 0x7f80);
    CHECK(float_to_f16(65519.0f) == 0x7bff);
    CHECK(float_to_f16(65520.0f) == 0x7c00);
    CHECK(float_to_f16(0x1p-25f) == 0);
    CHECK(float_to_f16(0x1.8p-24f) == 2);
    CHECK(float_to_f16(-0.0f) == 0x8000);
    for (int h = 0; h < 0x10000; h++) {
        const auto u = static_cast<std::uint16_t>(h);
        const float f = f16_to_float(u);
        if (f == f) CHECK(float_to_f16(f) == u);
        const float g = bf16_to_float(u);
        if (g == g) CHECK(float_to_bf16(g) == u);
    }
}

TEST_CASE("a NaN whose payload is lost in rounding stays a NaN") {
    const std::vector<float> sums(9, std::bit_cast<float>(0xff800001u));  // a whole vector and a rest
    for (const Isa* isa : isas())
        for (const auto format : {cpu::Format::f16, cpu::Format::bf16}) {
            std::vector<std::uint16_t> stored(9);
            isa->write_row({stored.data(), 9, format}, 0, 0, 9, sums.data());
            for (const std::uint16_t h : stored)
                CHECK(std::isnan(format == cpu::Format::f16 ? f16_to_float(h) : bf16_to_float(h)));
        }
    CHECK(std::isnan(bf16_to_float(float_to_bf16(sums[0]))));
    CHECK(std::isnan(f16_to_float(float_to_f16(sums[0]))));
}

TEST_CASE("the vector code converts every narrow value and rounds as the scalar code does") {
    for (const Isa* isa : isas())
        for (const auto& [format, dtype] :
             {std::pair{cpu::Format::f16, Dtype::f16}, {cpu::Format::bf16, Dtype::bf16}}) {
            std::vector<std::uint16_t> halves(0x10000);
            for (std::size_t i = 0; i < halves.size(); i++) halves[i] = static_cast<std::uint16_t>(i);
            const Matrix m{halves.data(), dtype, 1, 0x10000, 0x10000, 0x10000};
            std::vector<float> wide(0x10000);
            isa->read_row({halves.data(), 0x10000, format}, 0, 0, 0x10000, wide.data());
            int wrong = 0;
            for (i64 i = 0; i < 0x10000; i++) {
                const float f = m.get(0, 0, i), g = wide[static_cast<std::size_t>(i)];
                wrong += !(std::memcmp(&f, &g, sizeof f) == 0 || (f != f && g != g));
            }
            CHECK(wrong == 0);
            // Around every value: itself, a bit more, half way to the next.
            for (const float nudge : {1.0f, 0x1.000002p0f, 1.00048828125f, 1.00390625f, 0.999f}) {
                std::vector<float> sums = wide;
                for (float& f : sums) f *= nudge;
                std::vector<std::uint16_t> stored(0x10000), scalar(0x10000);
                isa->write_row({stored.data(), 0x10000, format}, 0, 0, 0x10000, sums.data());
                for (std::size_t i = 0; i < sums.size(); i++) {
                    const Matrix one{&scalar[i], dtype, 1, 1, 1, 1};
                    one.set(0, 0, 0, sums[i]);
                    if (sums[i] != sums[i])
                        wrong += !((stored[i] & 0x7fff) > (dtype == Dtype::f16 ? 0x7c00 : 0x7f80));
                    else
                        wrong += stored[i] != scalar[i];
                }
                CHECK(wrong == 0);
            }
        }
}

TEST_CASE("the model and the kernels name the same rungs") {
    std::size_t known = 0;
    for (const sim::Rung& rung : sim::rungs()) {
        if (rung.device != sim::DeviceKind::cpu) continue;
        known++;
        REQUIRE(cpu::find_rung(rung.id));
        CHECK(cpu::find_rung(rung.id)->idea == rung.idea);
    }
    CHECK(known == cpu::rungs().size());
}

TEST_CASE("rungs say what they cannot do") {
    const Op op{{.m = 8, .n = 8, .k = 8}, Pass::forward, Fusion::fused};
    CHECK(cpu::fits(op, {}).ok());
    Op narrow = op;
    narrow.dense.dtype = Dtype::e4m3;
    CHECK(cpu::fits(narrow, {}).why == "04_packed has no e4m3; it takes f32, f16, bf16");
    CHECK(cpu::fits(op, {.rung = cpu::find_rung("02_loop_order"), .threads = 2}).why ==
          "02_loop_order runs on 1 thread");
    CHECK(cpu::fits(op, {.threads = cpu::usable_cores()}).ok());
    CHECK(!cpu::fits(op, {.threads = cpu::usable_cores() + 1}).ok());
    CHECK(cpu::find_rung("05") == nullptr);
}
