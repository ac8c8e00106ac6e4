#!/usr/bin/env python3
"""Times rivals of one fused layer in turn, Y = relu(X W) in bf16: our kernel and cuBLASLt (memwall_gpu serve), torch,
torch.compile, Triton, JAX and Pallas. Each is checked first, then all take turns, a little at a time, on normal data and
operands that exceed the L2 twice. One JSON record a shape goes to OUT/results.jsonl, as memwall_gpu writes them.

    rivals.py --program memwall_gpu --cases tests/gpu/cases --out FOLDER [--seconds S]
    rivals.py --rehearse      what can be checked without a GPU: JAX and Pallas on small sizes, interpreted
"""

import argparse
import csv
import datetime
import functools
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # others use the GPU's memory too

ROUNDS, SLICE_S = 5, 0.06
WHOLE_K = (128, 128, None)  # the guide's tile


def one_line(error):
    lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return f"{type(error).__name__}: {lines[0]}"[:300]


class Journal:
    """FOLDER/results.jsonl: a line when a case begins, one when it ends."""

    def __init__(self, folder):
        self.path = pathlib.Path(folder) / "results.jsonl"
        self.done = set()
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                try:
                    record = json.loads(line)
                except ValueError:
                    continue
                if record.get("status") != "begun":
                    self.done.add((record.get("step"), record.get("id")))

    def write(self, record):
        record["at"] = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        with self.path.open("a") as out:
            out.write(json.dumps(record) + "\n")


class Served:
    """memwall_gpu serve: a line there, a JSON object back."""

    def __init__(self, program, cases):
        self.process = subprocess.Popen([program, "--cases", cases, "serve"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError("memwall_gpu serve has ended")
        return json.loads(answer)

    def sampler(self, name):
        def sample(seconds):
            answer = self.ask(f"time {name} {seconds}")
            if "why" in answer:
                raise RuntimeError(answer["why"])
            return answer
        return sample


# ---- torch and Triton -----------------------------------------------------------------------------------------------

def torch_sampler(torch, f, sets):
    """Samples of f on sets of operands in turn, by events of one stream."""
    def sample(seconds):
        f(*sets[0])
        once = timed(torch, f, sets, 3)
        count = max(5, min(200, int(seconds * 1e6 / max(statistics.median(once), 1))))
        return {"samples_us": timed(torch, f, sets, count)}
    return sample


def timed(torch, f, sets, count):
    events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
    events[0].record()
    for i in range(count):
        f(*sets[i % len(sets)])
        events[i + 1].record()
    events[-1].synchronize()
    return [a.elapsed_time(b) * 1e3 for a, b in zip(events, events[1:])]


def triton_matmul(torch):
    """A tiled matmul + ReLU in Triton, its tiles walked in groups of rows; the fastest of a few tiles, timed."""
    import triton
    import triton.language as tl

    @triton.jit
    def kernel(x, w, y, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
        number = tl.program_id(0)
        rows_of_tiles, cols_of_tiles = tl.cdiv(m, BM), tl.cdiv(n, BN)
        band = number // (GROUP * cols_of_tiles)
        height = min(rows_of_tiles - band * GROUP, GROUP)
        inside = number % (GROUP * cols_of_tiles)
        row = (band * GROUP + inside % height) * BM + tl.arange(0, BM)
        col = (inside // height) * BN + tl.arange(0, BN)
        red = tl.arange(0, BK)
        # Rows and columns beyond the edge read what lies at its start, and are not stored.
        x_at = x + (row % m)[:, None].to(tl.int64) * k + red[None, :]
        w_at = w + red[:, None].to(tl.int64) * n + (col % n)[None, :]
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for step in range(0, tl.cdiv(k, BK)):
            rest = k - step * BK
            total = tl.dot(tl.load(x_at, mask=red[None, :] < rest, other=0.0),
                           tl.load(w_at, mask=red[:, None] < rest, other=0.0), total)
            x_at += BK
            w_at += BK * n
        total = tl.where(total <= 0.0, 0.0, total)
        tl.store(y + row[:, None].to(tl.int64) * n + col[None, :], total.to(tl.bfloat16),
                 mask=(row[:, None] < m) & (col[None, :] < n))

    tiles = [(128, 256, 64, 8, 3), (128, 128, 64, 4, 4), (128, 128, 32, 4, 4), (64, 256, 32, 4, 4), (128, 64, 32, 4, 4),
             (64, 128, 64, 4, 4), (64, 64, 64, 4, 4)]

    def with_tile(tile, x, w):
        bm, bn, bk, warps, stages = tile
        m, k = x.shape
        n = w.shape[1]
        y = torch.empty((m, n), device=x.device, dtype=torch.bfloat16)
        kernel[(triton.cdiv(m, bm) * triton.cdiv(n, bn),)](x, w, y, m, n, k, BM=bm, BN=bn, BK=bk, GROUP=8,
                                                          num_warps=warps, num_stages=stages)
        return y

    def best(sets):
        found = {}
        for tile in tiles:
            try:
                with_tile(tile, *sets[0])
                found[tile] = statistics.median(timed(torch, functools.partial(with_tile, tile), sets, 7))
            except Exception:  # a tile that the compiler or the GPU refuses
                continue
        if not found:
            raise RuntimeError("no tile of the list runs")
        tile = min(found, key=found.get)
        return functools.partial(with_tile, tile), "x".join(map(str, tile[:3]))
    return best


# ---- JAX and Pallas -------------------------------------------------------------------------------------------------

def pallas_matmul(jax, tile, interpret=False):
    """relu(X W) as one pallas_call with tile BM x BN. Whole K: the guide's form, one product a tile. Else K is cut."""
    import jax.numpy as jnp
    from jax.experimental import pallas as pl
    bm, bn, bk = tile

    def kernel(x, w, y):
        if bk is None:
            total = jnp.dot(x[...], w[...], preferred_element_type=jnp.float32)
        else:
            def step(i, total):
                at = pl.ds(i * bk, bk)
                return total + jnp.dot(x[:, at], w[at, :], preferred_element_type=jnp.float32)
            total = jax.lax.fori_loop(0, x.shape[1] // bk, step, jnp.zeros((bm, bn), jnp.float32))
        y[...] = jnp.where(total <= 0, 0, total).astype(y.dtype)

    def call(x, w):
        m, k = x.shape
        n = w.shape[1]
        if m % bm or n % bn or (bk and k % bk):
            raise ValueError(f"{m}x{n}x{k} is not a multiple of the tile {tile}")
        extra = {}
        if not interpret:
            from jax.experimental.pallas import triton as plgpu
            params = getattr(plgpu, "CompilerParams", None) or plgpu.TritonCompilerParams
            extra["compiler_params"] = params(num_warps=8, num_stages=4 if bk else 1)
        return pl.pallas_call(
            kernel, grid=(m // bm, n // bn), interpret=interpret,
            in_specs=[pl.BlockSpec((bm, k), lambda i, j: (i, 0)), pl.BlockSpec((k, bn), lambda i, j: (0, j))],
            out_specs=pl.BlockSpec((bm, bn), lambda i, j: (i, j)),
            out_shape=jax.ShapeDtypeStruct((m, n), jnp.bfloat16), **extra)(x, w)
    return call


def jax_two_ops(x, w):
    import jax.numpy as jnp
    return jnp.maximum(jnp.dot(x, w, preferred_element_type=jnp.float32).astype(x.dtype), 0)


def jax_sampler(jax, f, sets):
    """Samples of f by the host's clock, each a batch of calls that are waited for together."""
    def batch(calls):
        start = time.perf_counter()
        jax.block_until_ready([f(*sets[i % len(sets)]) for i in range(calls)])
        return (time.perf_counter() - start) * 1e6 / calls

    def sample(seconds):
        batch(1)
        once = batch(3)
        calls = max(1, min(20, int(seconds * 1e6 / 7 / max(once, 1))))
        return {"samples_us": [batch(calls) for _ in range(7)]}
    return sample


# ---- a shape --------------------------------------------------------------------------------------------------------

def clocks():
    try:
        import pynvml
        pynvml.nvmlInit()
        gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
        return {"clock_mhz": pynvml.nvmlDeviceGetClockInfo(gpu, pynvml.NVML_CLOCK_SM),
                "power_w": pynvml.nvmlDeviceGetPowerUsage(gpu) / 1e3}
    except Exception:
        return {}


def check(torch, y, x, w):
    """Largest error of some rows against f64, as a share of the largest value; an exception where it is too large."""
    rows = torch.tensor(sorted({0, x.shape[0] // 3, x.shape[0] // 2, x.shape[0] - 1}), device=x.device)
    expected = torch.relu(x[rows].double() @ w.double())
    error = ((y[rows].double() - expected).abs().max() / expected.abs().max()).item()
    if not error < 0.01:
        raise RuntimeError(f"its result is off by {error:.3g} of the largest value")
    return error


def one_shape(case, served, torch, jax):
    m, n, k = map(int, re.search(r" (\d+)x(\d+)x(\d+) ", case["experiment"]).groups())
    record = {"step": "rivals", "id": case["id"], "experiment": case["experiment"], "status": "ok", "rivals": {},
              "frozen": {"time_us": float(case["predicted_us"]), "bound_us": float(case["bound_us"])}}
    rivals, samplers = record["rivals"], {}

    def rival(name, make, **facts):
        """make() checks a rival and gives its sampler and its error."""
        rivals[name] = dict(facts)
        try:
            samplers[name], rivals[name]["max_error"] = make()
        except Exception as error:
            rivals[name] = {"why": one_line(error)}

    answer = served.ask("ready " + case["experiment"])
    if "row" in answer.get("ours", {}):
        record["ours"] = answer["ours"]["row"]
    for name in ("ours", "cublaslt"):
        why = answer.get(name, answer).get("why")
        if why:
            rivals[name] = {"why": why}
        else:
            rivals[name], samplers[name] = {}, served.sampler(name)

    if torch:
        l2 = torch.cuda.get_device_properties(0).L2_cache_size
        count = min(64, 2 * l2 // (2 * (m * k + k * n + m * n)) + 1)
        torch.manual_seed(1)
        sets = [(torch.randn((m, k), device="cuda").bfloat16(), (torch.randn((k, n), device="cuda") / k**0.5).bfloat16())
                for _ in range(count)]
        x, w = sets[0]
        if not record.get("ours"):
            record["ours"] = {"m": str(m), "n": str(n), "k": str(k), "dtype": "bf16", "data": "normal",
                              "machine": torch.cuda.get_device_name(0)}

        def of_torch(f):
            return torch_sampler(torch, f, sets), check(torch, f(x, w), x, w)

        def eager(a, b):
            return torch.relu(a @ b)
        rival("torch", lambda: of_torch(eager), cache="cold")
        torch._dynamo.reset()
        rival("torch.compile", lambda: of_torch(torch.compile(eager, dynamic=False)), cache="cold")

        def triton_best():
            if "best" not in TRITON:
                TRITON["best"] = triton_matmul(torch)
            f, rivals["triton"]["tile"] = TRITON["best"](sets)
            return of_torch(f)
        rival("triton", triton_best, cache="cold")
        if jax:
            theirs = [tuple(jax.dlpack.from_dlpack(t) for t in s) for s in sets]

            def of_jax(f):
                f = jax.jit(f)
                y = torch.utils.dlpack.from_dlpack(jax.block_until_ready(f(*theirs[0])))
                return jax_sampler(jax, f, theirs), check(torch, y, x, w)
            rival("jax two ops", lambda: of_jax(jax_two_ops), cache="cold",
                  timed_by="host, calls in batches")
            rival("pallas 128x128 whole K", lambda: of_jax(pallas_matmul(jax, WHOLE_K)), cache="cold",
                  timed_by="host, calls in batches")
            rival("pallas our tile", lambda: of_jax(pallas_matmul(jax, (128, 128, 64))), cache="cold",
                  timed_by="host, calls in batches")

    all_samples = {name: [] for name in samplers}
    for _ in range(ROUNDS):  # A B C … A B C …
        for name, sample in samplers.items():
            if "why" in rivals[name]:
                continue
            try:
                if torch and name not in ("ours", "cublaslt"):
                    answer = {**sample(SLICE_S), **clocks()}
                    torch.cuda.synchronize()
                else:
                    answer = sample(SLICE_S)
                all_samples[name] += answer["samples_us"]
                rivals[name].setdefault("median_by_round", []).append(statistics.median(answer["samples_us"]))
                for key in ("clock_mhz", "power_w", "cache", "max_error"):
                    if key in answer:
                        rivals[name][key] = answer[key]
            except Exception as error:
                rivals[name] = {"why": one_line(error)}
    for name, samples in all_samples.items():
        if samples and "why" not in rivals[name]:
            rivals[name].update(us=statistics.median(samples), min_us=min(samples), max_us=max(samples),
                                samples=len(samples))
    return record


TRITON = {}  # its kernel, once compiled


def load(name):
    try:
        return __import__(name)
    except Exception as error:
        print(f"rivals: no {name}: {one_line(error)}", file=sys.stderr)
        return None


def run(arguments):
    start = time.monotonic()
    journal = Journal(arguments.out)
    torch, jax = load("torch"), load("jax")
    if torch and not torch.cuda.is_available():
        torch = None
    served = None
    longest = 10.0
    with open(pathlib.Path(arguments.cases) / "rivals.csv", newline="") as file:
        cases = list(csv.DictReader(file))
    for case in cases:
        if ("rivals", case["id"]) in journal.done:
            continue
        case_start = time.monotonic()
        if case_start - start + longest > arguments.seconds:
            print(f"rivals: {len(cases)} shapes, stopped before {case['id']}: out of time", file=sys.stderr)
            break
        journal.write({"step": "rivals", "id": case["id"], "experiment": case["experiment"], "status": "begun"})
        try:
            if served is None or served.process.poll() is not None:
                served = Served(arguments.program, arguments.cases)
            record = one_shape(case, served, torch, jax)
        except Exception as error:
            record = {"step": "rivals", "id": case["id"], "experiment": case["experiment"], "status": "failed",
                      "why": one_line(error)}
        journal.write(record)
        longest = max(longest if longest > 10 else 0, time.monotonic() - case_start)
        print(f"rivals: {case['id']}: " + ", ".join(f"{name} {r['us']:.1f} us" if "us" in r else f"{name}: {r['why']}"
                                                  for name, r in record.get("rivals", {}).items()), file=sys.stderr)


def rehearse():
    """JAX and Pallas on small sizes: the answer is right, and what a tile does not divide is refused."""
    import jax
    import jax.numpy as jnp
    keys = jax.random.split(jax.random.PRNGKey(0), 2)
    x = jax.random.normal(keys[0], (256, 128), jnp.float32).astype(jnp.bfloat16)
    w = (jax.random.normal(keys[1], (128, 384), jnp.float32) / 128**0.5).astype(jnp.bfloat16)
    expected = jnp.maximum(x.astype(jnp.float32) @ w.astype(jnp.float32), 0)
    for name, f in (("two ops", jax_two_ops), ("whole K", pallas_matmul(jax, WHOLE_K, True)),
                    ("K cut", pallas_matmul(jax, (128, 128, 64), True))):
        error = float(jnp.abs(f(x, w).astype(jnp.float32) - expected).max() / expected.max())
        assert error < 0.01, f"{name}: off by {error}"
        samples = jax_sampler(jax, jax.jit(f), [(x, w)])(0.01)["samples_us"]
        assert len(samples) == 7 and min(samples) > 0
        print(f"{name}: right, error {error:.2g}")
    try:
        pallas_matmul(jax, WHOLE_K, True)(x[:100], w)
    except ValueError:
        print("a ragged size: refused")
    else:
        raise AssertionError("a ragged size was taken")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program")
    parser.add_argument("--cases", default="tests/gpu/cases")
    parser.add_argument("--out")
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("--rehearse", action="store_true")
    chosen = parser.parse_args()
    if chosen.rehearse:
        rehearse()
    else:
        run(chosen)
