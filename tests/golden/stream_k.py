"""Stream-K: tiles shared among CTAs that stay, their partial sums, in lock step and staggered."""
import math
import random
from collections import Counter

from counting import BITS, F32, SHAPES, Case, extent, kernels, tile_at, to_bytes, trips
from gpu import L2, matmul_trace, lockstep, staggered


def ranges(tiles, nk, slots):
    """Slot -> its k-steps of the shared tiles, as (tile, step); and how many tiles are shared."""
    whole, rest = divmod(tiles, slots)
    shared = 0 if rest == 0 else rest + slots if whole else tiles
    units = [(tile, step) for tile in range(shared) for step in range(nk)]
    cuts = [j * len(units) // slots for j in range(slots + 1)]
    return [units[a:b] for a, b in zip(cuts, cuts[1:])], shared


def trace_of(kernel, batch, raster, slots, drift):
    """Requests and writes in turn. `drift`: slot j starts floor(j nk / slots) ticks late, else all start together and
    whole waves wait for each other."""
    size, tile = dict(zip("mnk", kernel.dims)), dict(zip("mnk", kernel.tile))
    tm, tn, nk = (trips(size[a], tile[a]) for a in "mnk")
    tiles = batch * tm * tn
    shares, shared = ranges(tiles, nk, slots)
    slices = {}  # tile -> slots that left a partial sum of it, in order of their k-steps
    for j, share in enumerate(shares):
        if share and share[0][1] > 0:
            slices.setdefault(share[0][0], []).append(j)
    left = Counter(tile for share in shares for tile, _ in share)

    def at(number):
        b, i = divmod(number, tm * tn)
        return b, dict(zip("mn", tile_at(raster, tm, tn, i)))

    def touch(way, tensor, axes, number, step):
        b, where = at(number)
        where["k"] = step
        area = math.prod(extent(size[a], tile[a], where[a]) for a in axes)
        return way, (tensor, b, where[axes[0]], where[axes[1]]), area * tensor.bits

    def slice_of(way, j, number):
        _, where = at(number)
        return way, (PARTIAL, j), math.prod(extent(size[a], tile[a], where[a]) for a in "mn") * F32

    def load(number, step):
        return [touch("read", tensor, axes, number, step) for tensor, axes in kernel.loads]

    def output(number):
        return [touch("read", t, "mn", number, None) for t in kernel.epilogue] + \
            [touch("write", t, "mn", number, None) for t in kernel.writes]

    def leave(j, number, step):
        """Slot j has done this step: is it the end of its piece of a tile it did not begin?"""
        share = shares[j]
        mine = [s for t, s in share if t == number]
        return [slice_of("write", j, number)] if step == mine[-1] and mine[0] > 0 else []

    def close(number):
        """One k-step of a shared tile less to do; after the last, the slices and the output."""
        left[number] -= 1
        if left[number]:
            return []
        return [slice_of("read", j, number) for j in slices.get(number, [])] + output(number)

    if not drift:
        for tick in range(max(map(len, shares))):
            turn = [(j, *share[tick]) for j, share in enumerate(shares) if tick < len(share)]
            for _, number, step in turn:
                yield from load(number, step)
            for j, number, step in turn:
                yield from leave(j, number, step)
            for _, number, _ in turn:
                yield from close(number)
        for first in range(shared, tiles, slots):
            wave = range(first, first + slots)
            for step in range(nk):
                for number in wave:
                    yield from load(number, step)
            for number in wave:
                yield from output(number)
        return
    turns = []
    for j, share in enumerate(shares):
        later = [(number, step) for number in range(shared + j, tiles, slots) for step in range(nk)]
        turns += [(j * nk // slots + i, j, number, step) for i, (number, step) in enumerate(share + later)]
    for _, j, number, step in sorted(turns):
        yield from load(number, step)
        if number < shared:
            yield from leave(j, number, step)
            yield from close(number)
        elif step == nk - 1:
            yield from output(number)


class Named:
    operand, bits = "partial", F32


PARTIAL = Named()
OPERANDS = "x w z y mask dy dz dx dw partial".split()


def cases():
    runs = [("forward", "none", "", False), ("forward", "fused", "mask", False), ("dgrad", "fused", "y", False),
            ("dgrad", "upstream", "mask", True), ("wgrad", "fused", "mask", False)]
    shapes = [((96, 80, 64), (16, 16, 16)), ((100, 91, 70), (16, 24, 8)), ((64, 200, 40), (32, 16, 8)),
              ((130, 33, 51), (24, 40, 16)), ((20, 16, 480), (32, 32, 32)), ((72, 72, 200), (24, 8, 40))]
    dice = random.Random(2)

    def pick(options):
        return options[int(dice.random() * len(options))]

    for i, (pass_, fusion, residual, drelu) in enumerate(runs):
        for j, (size, tile) in enumerate(shapes):
            for slots in pick([(1, 4, 61), (3, 7, 16), (2, 5, 30)]):
                m, n, k = size
                case = Case(pass_, fusion, residual, drelu, pick((1, 1, 2)), *size, "bf16", "bf16",
                            dict.fromkeys(SHAPES, tile))
                share = pick((3, 10, 35, 75, 300))
                capacity = ((m * k + k * n) * BITS["bf16"] + m * n * BITS["bf16"]) // 8 * share // 100
                yield case, slots, capacity, pick("along_n along_m grouped:2 grouped:3".split())


def walk(trace, capacity):
    l2 = L2()
    for way, tile, weight in trace:
        (l2.request if way == "read" else l2.write)(tile, weight, capacity * 8)
    return l2


def stream_k():
    yield "pass fusion residual drelu batch m n k bm bn bk raster slots l2".split() + \
        [f"{operand}_{what}" for operand in OPERANDS for what in ("read", "write", "l2_read")] + \
        ["dirty_at_end", "staggered_read", "staggered_write"]
    for case, slots, capacity, raster in cases():
        kernel, = kernels(case)
        trace = list(trace_of(kernel, case.batch, raster, slots, drift=False))
        drifted = list(trace_of(kernel, case.batch, raster, slots, drift=True))
        l2, apart = walk(trace, capacity), walk(drifted, capacity)
        # Every k-step once, every output once; each slice read as often as written.
        plain = Counter(touch for touch in matmul_trace(kernel, case.batch, raster, lockstep(slots)))
        assert Counter(t for t in trace if t[1][0] is not PARTIAL) == plain == \
            Counter(t for t in drifted if t[1][0] is not PARTIAL)
        assert l2.requested["partial"] == l2.written["partial"] == apart.written["partial"]
        size, tile = dict(zip("mnk", kernel.dims)), dict(zip("mnk", kernel.tile))
        tm, tn, nk = (trips(size[a], tile[a]) for a in "mnk")
        shares, shared = ranges(case.batch * tm * tn, nk, slots)
        assert max(map(len, shares)) - min(map(len, shares)) <= 1
        if shared == 0:  # whole waves only: a persistent kernel
            assert trace == list(matmul_trace(kernel, case.batch, raster, lockstep(slots)))
            assert drifted == list(matmul_trace(kernel, case.batch, raster, staggered(slots)))
        yield [case.pass_, case.fusion, case.residual or "-", "yes" if case.drelu else "no", case.batch, case.m, case.n,
               case.k, *case.tiles["forward"], raster, slots, capacity] + \
            [to_bytes(count[operand]) for operand in OPERANDS for count in (l2.read, l2.written, l2.requested)] + \
            [to_bytes(l2.dirty()), sum(map(to_bytes, apart.read.values())), sum(map(to_bytes, apart.written.values()))]
