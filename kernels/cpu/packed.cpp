// Rung 04: both operands are packed into the order in which a register tile reads them, so that the inner loop only
// runs forward through memory; 12 or 24 vectors of C stay in registers; threads share B and take panels of A in turn.
//
//   for jc in cols by NC                                    NC = tile.bn
//     for pc in red by KC            a step                 KC = tile.bk
//       pack b (KC,NC)                                      last-level cache, all threads
//       for ic in rows by MC         a panel, one thread    MC = tile.bm
//         pack a (MC,KC)                                    its own L2
//         for jr in NC by nr
//           for ir in MC by mr
//             c (mr,nr) += a (mr,KC) · b (KC,nr)            registers; b stays in L1
//
// The mask of a backward pass is applied while packing, the ReLU of a forward pass when the last KC is done.
//
// b has two buffers, so that a thread that is done with a step goes on to the next while another finishes its panel: on
// a busy machine one that lost its core would else hold up all. A panel waits for itself in the step before, and b for
// the panels that read its buffer.

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/cpu/matmul.hpp"

namespace kernels::cpu {

namespace {

/// Where c's sums live until the last step of the reduction: in c itself if it is f32.
struct Sums {
    float* data;
    i64 pitch;
    i64 first_col;  // the column of data[0]
    float* at(i64 i, i64 j) const { return data + i * pitch + (j - first_col); }
};

/// One register tile of c at (i, j), m x n of it inside the matrix.
struct RegisterTile {
    const Matmul& mm;
    const Isa& isa;
    Sums sums;
    bool load, last, plain;  // add to what is there; finish; finishing is at most a ReLU on f32

    void run(i64 i, i64 j, i64 m, i64 n, i64 k, const float* a, const float* b, float* edge) const {
        float* const c = sums.at(i, j);
        const bool whole = m == isa.mr && n == isa.nr;
        if (whole && (!last || plain)) {
            isa.multiply(k, a, b, load ? c : nullptr, sums.pitch, c, sums.pitch, last && mm.c.relu);
            return;
        }
        if (load && !whole)
            for (i64 r = 0; r < m; r++) std::memcpy(edge + r * isa.nr, c + r * sums.pitch, n * sizeof(float));
        isa.multiply(k, a, b, !load ? nullptr : whole ? c : edge, whole ? sums.pitch : isa.nr, edge, isa.nr, false);
        for (i64 r = 0; r < m; r++) {
            if (last)
                isa.write_row(mm.c, i + r, j, n, edge + r * isa.nr);
            else
                std::memcpy(c + r * sums.pitch, edge + r * isa.nr, n * sizeof(float));
        }
    }
};

void pack_a(const Matmul& mm, const Isa& isa, i64 i, i64 k, i64 rows, i64 red, float* to) {
    if (mm.a.transposed)
        isa.pack_rows_of_a(mm.a.source, k, i, red, rows, to);
    else
        isa.pack_columns_of_a(mm.a.source, i, k, rows, red, to);
}

void pack_b(const Matmul& mm, const Isa& isa, i64 k, i64 j, i64 red, i64 cols, float* to) {
    if (mm.b.transposed)
        isa.pack_columns_of_b(mm.b.source, j, k, cols, red, to);
    else
        isa.pack_rows_of_b(mm.b.source, k, j, red, cols, to);
}

}  // namespace

void packed(const Matmul& mm, const Context& context) {
    const Isa& isa = context.isa;
    const int threads = context.threads;
    // The register tile is the unit of rows and columns.
    const i64 nc_most = std::min(sim::round_up(context.tile.bn, isa.nr), sim::round_up(mm.cols, isa.nr));
    const i64 kc_most = std::min(context.tile.bk, mm.red);
    // Panels as even as they come, a multiple of the threads of them.
    const i64 mc =
        sim::round_up(sim::ceil_div(mm.rows, threads * sim::ceil_div(mm.rows, threads * context.tile.bm)), isa.mr);
    const auto panels = static_cast<std::size_t>(sim::ceil_div(mm.rows, mc));
    const i64 steps_of_red = sim::ceil_div(mm.red, kc_most), steps = steps_of_red * sim::ceil_div(mm.cols, nc_most);

    thread_local Scratch b_scratch[2], sum_scratch;  // the caller's; workers get pointers
    float* const pb[2] = {b_scratch[0].floats(kc_most * nc_most),
                          steps > 1 ? b_scratch[1].floats(kc_most * nc_most) : nullptr};
    const bool in_c = mm.c.format == Format::f32;
    float* const partial = in_c || kc_most == mm.red ? nullptr : sum_scratch.floats(mm.rows * nc_most);
    const bool plain = in_c && !mm.c.bias && !mm.c.bits && mm.c.gate == Gate::none;

    struct Step {
        std::atomic<i64> next_b{0};
        std::atomic<std::size_t> next_panel{0};
        std::atomic<unsigned> b_packed{0};
    };
    std::vector<Step> all(static_cast<std::size_t>(steps));
    std::vector<std::atomic<unsigned>> done(panels);  // steps of each panel

    pool().run(threads, [&](int thread) {
        thread_local Scratch a_scratch;
        float* const pa = a_scratch.floats(mc * kc_most + 8);
        alignas(64) float edge[16 * 64];
        for (i64 s = 0; s < steps; s++) {
            Step& step = all[static_cast<std::size_t>(s)];
            const i64 jc = s / steps_of_red * nc_most, pc = s % steps_of_red * kc_most;
            const i64 nc = std::min(nc_most, mm.cols - jc), kc = std::min(kc_most, mm.red - pc);
            float* const b = pb[s % 2];
            const Sums sums = in_c ? Sums{static_cast<float*>(mm.c.data), mm.c.pitch, 0} : Sums{partial, nc_most, jc};
            const RegisterTile tile{mm, isa, sums, pc > 0 || mm.accumulate, pc + kc == mm.red, plain};

            for (const std::atomic<unsigned>& panel : done) wait_until_at_least(panel, s - 1);
            const auto parts = static_cast<unsigned>(sim::ceil_div(nc, isa.nr));
            for (i64 j; (j = isa.nr * step.next_b.fetch_add(1)) < nc;) {
                if (!context.control.stopped()) pack_b(mm, isa, pc, jc + j, kc, std::min(isa.nr, nc - j), b + j * kc);
                if (step.b_packed.fetch_add(1, std::memory_order_acq_rel) + 1 == parts) step.b_packed.notify_all();
            }
            wait_until_at_least(step.b_packed, parts);

            for (std::size_t panel; (panel = step.next_panel.fetch_add(1)) < panels;) {
                wait_until_at_least(done[panel], s);
                if (!context.control.stopped()) {
                    const i64 i = static_cast<i64>(panel) * mc, rows = std::min(mc, mm.rows - i);
                    pack_a(mm, isa, i, pc, rows, kc, pa);
                    for (i64 jr = 0; jr < nc; jr += isa.nr)
                        for (i64 ir = 0; ir < rows; ir += isa.mr)
                            tile.run(i + ir, jc + jr, std::min(isa.mr, rows - ir), std::min(isa.nr, nc - jr), kc,
                                     pa + ir * kc, b + jr * kc, edge);
                    context.control.advance(thread, static_cast<double>(rows) * static_cast<double>(nc * kc));
                }
                done[panel].store(static_cast<unsigned>(s + 1), std::memory_order_release);
                done[panel].notify_all();
            }
        }
    });
}

}  // namespace kernels::cpu
