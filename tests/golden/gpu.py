"""GPUs: tiles through one L2 in lock step and staggered, checked by stack distances and by laws."""
import itertools
import math
import random
from collections import Counter, OrderedDict, namedtuple

from counting import BITS, SHAPES, Case, Pass, extent, kernels, tile_at, to_bytes, trips


class L2:
    """A fully associative LRU over tiles, cold at the start; weights are clipped bits."""

    def __init__(self):
        self.tiles, self.used = OrderedDict(), 0  # least recent first
        self.read, self.written, self.requested, self.outputs = Counter(), Counter(), Counter(), {}

    def request(self, tile, weight, capacity):
        operand = tile[0].operand
        self.requested[operand] += weight
        if tile in self.tiles:
            self.tiles.move_to_end(tile)
        else:
            self.read[operand] += weight
            self.keep(tile, weight, capacity)

    def write(self, tile, weight, capacity):
        """Costs its bytes of DRAM write once, and occupies L2."""
        self.written[tile[0].operand] += weight
        self.outputs[tile] = weight
        self.keep(tile, weight, capacity)

    def keep(self, tile, weight, capacity):
        """A tile larger than the L2 is not kept; else tiles are dropped from the back until the rest fits."""
        if weight > capacity:
            return
        self.tiles[tile] = weight
        self.used += weight
        while self.used > capacity:
            dropped, bits = self.tiles.popitem(last=False)
            self.used -= bits
            self.outputs.pop(dropped, None)  # written back; clean if it ever returns

    def dirty(self):
        """Bits written and never dropped since."""
        return sum(weight for tile, weight in self.outputs.items() if tile in self.tiles)


def elementwise_trace(kernel, batch, reverse):
    """Tile by tile along_n (or in reverse): request the inputs in order, then write the outputs."""
    grid = [trips(s, t) for s, t in zip(kernel.dims, kernel.tile)]
    tiles = list(itertools.product(range(batch), range(grid[0]), range(grid[1])))
    for b, row, col in reversed(tiles) if reverse else tiles:
        area = extent(kernel.dims[0], kernel.tile[0], row) * extent(kernel.dims[1], kernel.tile[1], col)
        for way, tensors in (("read", kernel.reads), ("write", kernel.writes)):
            for tensor in tensors:
                yield way, (tensor, b, row, col), area * tensor.bits


def matmul_trace(kernel, batch, raster, schedule):
    """Requests and writes; `schedule` yields (tile number, k-step or None to write the output)."""
    size, tile = dict(zip("mnk", kernel.dims)), dict(zip("mnk", kernel.tile))
    tm, tn, nk = (trips(size[a], tile[a]) for a in "mnk")

    def touch(way, tensor, axes, b, at):
        area = math.prod(extent(size[a], tile[a], at[a]) for a in axes)
        return way, (tensor, b, at[axes[0]], at[axes[1]]), area * tensor.bits

    for number, step in schedule(batch * tm * tn, nk):
        b, i = divmod(number, tm * tn)  # tile index batch-major
        at = dict(zip("mn", tile_at(raster, tm, tn, i)), k=step)
        if step is not None:
            yield from (touch("read", tensor, axes, b, at) for tensor, axes in kernel.loads)
        else:
            yield from (touch("read", tensor, "mn", b, at) for tensor in kernel.epilogue)
            yield from (touch("write", tensor, "mn", b, at) for tensor in kernel.writes)


def lockstep(slots):
    """All CTAs of a wave take k-step 0, then 1, ...; after the last the outputs are written, CTA by CTA."""
    def schedule(tiles, nk):
        for first in range(0, tiles, slots):
            for step in [*range(nk), None]:
                for number in range(first, min(first + slots, tiles)):
                    yield number, step
    return schedule


def staggered(slots):
    """Slot j starts floor(j nk / slots) ticks late; a slot that ends a tile writes it and goes on to tile + slots."""
    def schedule(tiles, nk):
        work = [[j * nk // slots, j, 0] for j in range(min(slots, tiles))]  # start tick, tile, next k-step
        tick, left = 0, tiles
        while left:
            for slot in work:
                start, number, step = slot
                if tick < start or number >= tiles:
                    continue
                yield number, step
                slot[2] += 1
                if slot[2] == nk:
                    yield number, None
                    slot[1:] = number + slots, 0
                    left -= 1
            tick += 1
    return schedule


def staggered_sorted(slots):
    """The same by sorting the k-steps by tick and slot: the check on staggered."""
    def schedule(tiles, nk):
        steps = sorted((i % slots * nk // slots + i // slots * nk + step, i % slots, i, step)
                       for i in range(tiles) for step in range(nk))
        for _, _, i, step in steps:
            yield i, step
            if step == nk - 1:
                yield i, None
    return schedule


def replay(case, machine, schedule):
    """The kernels of an experiment through one L2; returns it and the whole trace with the capacity at each touch."""
    l2, whole = L2(), []
    for kernel in kernels(case):
        if isinstance(kernel, Pass):  # the full bytes for elementwise passes; nothing is dropped at the switch
            trace, capacity = elementwise_trace(kernel, case.batch, machine.elementwise == "reverse"), machine.l2_bytes
        else:
            trace, capacity = matmul_trace(kernel, case.batch, machine.raster, schedule(machine.slots)), \
                machine.l2_effective
        for way, tile, weight in trace:
            whole.append((way, tile, weight))
            (l2.request if way == "read" else l2.write)(tile, weight, capacity * 8)
    return l2, whole


def stack_distance_reads(trace, capacity):
    """DRAM reads with one fixed capacity: a tile hits if it and all distinct tiles since its last use fit together."""
    read, stack = Counter(), []  # most recent first; a tile that does not fit is not kept
    for way, tile, weight in trace:
        above, hit = weight, False
        for other, its in stack:
            if other == tile:
                hit = above <= capacity
                stack.remove((tile, weight))
                break
            above += its
        if way == "read" and not hit:
            read[tile[0].operand] += weight
        if weight <= capacity:
            stack.insert(0, (tile, weight))
    return read


Machine = namedtuple("Machine", "slots l2_effective l2_bytes raster elementwise")
OPERANDS = "x w z y mask dy dz dx dw".split()


def gpu_cases():
    runs = [("forward", "none", "", False), ("forward", "unfused", "", False), ("forward", "fused", "", False),
            ("forward", "fused", "mask", False),
            ("dgrad", "none", "", False), ("dgrad", "unfused", "y", False), ("dgrad", "unfused", "mask", False),
            ("dgrad", "fused", "y", False), ("dgrad", "fused", "mask", False), ("dgrad", "upstream", "y", True),
            ("dgrad", "upstream", "mask", True),
            ("wgrad", "none", "", False), ("wgrad", "unfused", "y", False), ("wgrad", "unfused", "mask", False),
            ("wgrad", "fused", "y", False), ("wgrad", "fused", "mask", False)]
    shapes = [((96, 80, 64), (16, 16, 16)), ((100, 91, 70), (16, 24, 8)), ((64, 200, 40), (32, 16, 8)),
              ((130, 33, 51), (24, 40, 16)), ((20, 16, 48), (32, 32, 32)), ((160, 152, 32), (8, 4, 16)),
              ((72, 72, 200), (24, 8, 40))]
    types = [("bf16", "bf16"), ("f32", "f32"), ("bf16", "f32"), ("e4m3", "bf16"), ("f16", "f16")]
    rasters = ["along_n", "along_m", "grouped:2", "grouped:3", "grouped:8"]
    dice = random.Random(1)  # its random() is the same on every version of Python

    def pick(options):
        return options[int(dice.random() * len(options))]

    def case_of(pass_, fusion, residual, drelu, batch, size, tile):
        dtype, out = pick(types)
        case = Case(pass_, fusion, residual, drelu, batch, *size, dtype, out, dict.fromkeys(SHAPES, tile))
        m, n, k = size
        share = pick((3, 10, 20, 35, 50, 75, 120, 300))  # per cent of the bytes that X, W and Y take
        effective = ((m * k + k * n) * BITS[dtype] + m * n * BITS[out]) // 8 * share // 100
        return case, Machine(pick((1, 3, 4, 7, 16, 61)), effective, effective * pick((1, 2, 3)), pick(rasters),
                             pick(("along_n", "along_n", "reverse")))

    for i, run in enumerate(runs):
        for j in range(8 if "unfused" in run else 7):
            yield case_of(*run, 1, *shapes[(i + j) % len(shapes)])
    for run in [("forward", "unfused", "", False), ("forward", "fused", "mask", False), ("wgrad", "fused", "y", False),
                ("dgrad", "unfused", "mask", False)]:
        yield case_of(*run, 2, *shapes[0])
        yield case_of(*run, 3, *shapes[2])
    # train with a cubic tile, so that every kernel cuts a tensor into the same tiles
    for fusion, residual, drelu in [("unfused", "y", False), ("unfused", "mask", False), ("fused", "y", False),
                                    ("fused", "mask", False), ("upstream", "", False), ("upstream", "y", True),
                                    ("upstream", "mask", True)]:
        for size in [(96, 80, 64), (96, 80, 64), (100, 90, 70), (64, 160, 48)]:
            yield case_of("train", fusion, residual, drelu, 1, size, (16, 16, 16))


def check_replay(case, machine, l2, trace):
    """Laws that need no second replay, and the stack distance where the capacity is one."""
    loads = Counter()
    for kernel in kernels(case):
        if isinstance(kernel, Pass):
            loads += Counter({t.operand: kernel.dims[0] * kernel.dims[1] * t.bits for t in kernel.reads})
        else:  # each CTA loads a strip of either operand: the matrix, as often as there are tiles across it
            size, tile = dict(zip("mnk", kernel.dims)), dict(zip("mnk", kernel.tile))
            for tensor, axes in kernel.loads + [(t, "mn") for t in kernel.epilogue]:
                across = [a for a in "mn" if a not in axes]
                again = trips(size[across[0]], tile[across[0]]) if across else 1
                loads[tensor.operand] += size[axes[0]] * size[axes[1]] * again * tensor.bits
    assert l2.requested == Counter({operand: case.batch * bits for operand, bits in loads.items()})
    once = Counter()
    for way, (tensor, *_), weight in dict.fromkeys(trace):
        once[tensor.operand, way] += weight
    for operand, bits in l2.read.items():
        assert bits <= l2.requested[operand]
    assert l2.written == Counter({operand: bits for (operand, way), bits in once.items() if way == "write"})
    if machine.l2_effective == machine.l2_bytes or not any(isinstance(k, Pass) for k in kernels(case)):
        assert l2.read == stack_distance_reads(trace, machine.l2_effective * 8)
    everything = machine._replace(l2_effective=1 << 40, l2_bytes=1 << 40)
    fits, _ = replay(case, everything, lockstep)
    written = {tile for way, tile, _ in trace if way == "write"}
    assert sum(fits.read.values()) == sum(w for way, tile, w in dict.fromkeys(trace)
                                          if way == "read" and tile not in written)
    assert fits.dirty() == sum(fits.written.values())
    bare, _ = replay(case, machine._replace(l2_effective=0, l2_bytes=0), lockstep)
    assert bare.read == bare.requested and bare.dirty() == 0
    assert sum(fits.read.values()) <= sum(l2.read.values()) <= sum(bare.read.values())


def gpu():
    fields = "pass fusion residual drelu batch m n k dtype out bm bn bk raster elementwise slots l2_effective l2_bytes"
    yield fields.split() + [f"{operand}_{what}" for operand in OPERANDS for what in ("read", "write", "l2_read")] + \
        ["dirty_at_end", "staggered_read", "staggered_write"]
    for case, machine in gpu_cases():
        l2, trace = replay(case, machine, lockstep)
        drifted, drifted_trace = replay(case, machine, staggered)
        assert drifted_trace == replay(case, machine, staggered_sorted)[1]
        check_replay(case, machine, l2, trace)
        assert drifted.requested == l2.requested and drifted.written == l2.written
        yield [case.pass_, case.fusion, case.residual or "-", "yes" if case.drelu else "no", case.batch, case.m, case.n,
               case.k, case.dtype, case.out, *case.tiles["forward"], machine.raster, machine.elementwise,
               machine.slots, machine.l2_effective, machine.l2_bytes] + \
            [to_bytes(count[operand]) for operand in OPERANDS for count in (l2.read, l2.written, l2.requested)] + \
            [to_bytes(l2.dirty()), sum(map(to_bytes, drifted.read.values())),
             sum(map(to_bytes, drifted.written.values()))]
