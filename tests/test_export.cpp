// Sources to take home: they say the tile they were asked for, compile, and, where there is JAX, compute.

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kernels/cuda/compile.hpp"
#include "kernels/export.hpp"
#include "kernels/export_template.hpp"
#include "tests/skips.hpp"

using namespace kernels;
namespace fs = std::filesystem;

namespace {

const sim::Catalogue& devices = sim::Catalogue::builtin();

Exported exported(const std::string& experiment, ExportAs as, bool bench = false) {
    return export_source(sim::parse_experiment(experiment, devices), as, bench, devices);
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Folder {
    fs::path path = fs::temp_directory_path() / ("memwall-export-" + std::to_string(getpid()));
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(path / name) << text;
        return (path / name).string();
    }
};

const std::string pallas_experiments[] = {
    "tpu-v5e 1000x700x600 f32 forward fused tile 128x128x256",
    "tpu-v5e 1000x700x600 f32 forward fused bias yes tile 32x128x128 precision highest",
    "tpu-v5e 1000x700x600 bf16 forward unfused bias yes tile 32x128x128 order nmk buffers 2 vmem 32MiB",
    "tpu-v5e 1000x700x600 f32 train fused tile 128x128x600 tile.dgrad 16x128x128 tile.wgrad 64x128x16 precision "
    "highest",
};
const std::string triton_experiments[] = {
    "h200-sxm 1000x700x600 bf16 train fused tile 128x128x64 tile.dgrad 64x128x32 tile.wgrad 128x64x32 raster grouped:8",
    "rtx-4090 1000x700x600 f32 forward unfused bias yes tile 64x64x16 raster along_m",
};

}  // namespace

TEST_CASE("export: a template's holes are filled, its conditions kept or dropped, and nothing is left open") {
    const Values v = {{"A", "1"}, {"ON", "yes"}, {"OFF", ""}};
    CHECK(fill_template("x = @A@ + @A@\n", v) == "x = 1 + 1\n");
    CHECK(fill_template("@jax.jit\na @ b, c @ d\n", v) == "@jax.jit\na @ b, c @ d\n");
    CHECK(fill_template("%if ON\na\n%end\n%if OFF\nb\n%end\n%if not OFF\nc\n%end\n", v) == "a\nc\n");
    CHECK(fill_template("%if OFF\n%if ON\na\n%end\nb\n%end\nc\n", v) == "c\n");
    CHECK_THROWS_AS(fill_template("@B@\n", v), std::logic_error);
    CHECK_THROWS_AS(fill_template("%if B\n%end\n", v), std::logic_error);
    CHECK_THROWS_AS(fill_template("%if ON\n", v), std::logic_error);
    CHECK_THROWS_AS(fill_template("%end\n", v), std::logic_error);
}

TEST_CASE("export: Python sources are Python, and say their tiles") {
    const Folder folder;
    std::string files;
    for (const bool bench : {false, true}) {
        for (const std::string& e : pallas_experiments) {
            const Exported x = exported(e, ExportAs::pallas, bench);
            REQUIRE_MESSAGE(x.fit.ok(), x.fit.why);
            CHECK(has(x.text, e));
            CHECK(has(x.text, "COLUMNS") == bench);
            files += ' ' + folder.write("p" + std::to_string(files.size()) + ".py", x.text);
        }
        for (const std::string& e : triton_experiments) {
            const Exported x = exported(e, ExportAs::triton, bench);
            REQUIRE_MESSAGE(x.fit.ok(), x.fit.why);
            CHECK(has(x.text, "COLUMNS") == bench);
            files += ' ' + folder.write("t" + std::to_string(files.size()) + ".py", x.text);
        }
    }
    const Exported nmk = exported(pallas_experiments[2], ExportAs::pallas);
    CHECK(has(nmk.text, "grid=(*tiles[::-1], steps)"));
    CHECK(has(nmk.text, "pl.Buffered(2)"));
    CHECK(has(nmk.text, "vmem_limit_bytes=33554432"));
    CHECK(has(nmk.text, "optimization_barrier(z)"));
    CHECK(has(exported(pallas_experiments[3], ExportAs::pallas).text,
              "FORWARD, DGRAD, WGRAD = (128, 128, 600), (16, 128, 128), (64, 128, 16)"));
    const Exported grouped = exported(triton_experiments[0], ExportAs::triton);
    CHECK(has(grouped.text, "FORWARD, DGRAD, WGRAD = (128, 128, 64), (64, 128, 32), (128, 64, 32)"));
    CHECK(has(grouped.text, "GROUP = 8  # raster grouped:8"));
    CHECK(has(exported(triton_experiments[1], ExportAs::triton).text, "GROUP = 1073741824  # raster along_m"));
    if (std::system("python3 -c 'import ast' >/dev/null 2>&1") == 0)
        CHECK(std::system(("python3 -m py_compile" + files).c_str()) == 0);
}

TEST_CASE("export: what a language cannot say is a reason") {
    const auto why = [](const std::string& e, ExportAs as) { return exported(e, as).fit.why; };
    CHECK(why("h200-sxm 64x64x64 bf16 forward fused tile 64x64x64", ExportAs::pallas).find("h200-sxm is a gpu") == 0);
    CHECK(why("tpu-v5e 256x256x256 f32 forward fused tile 128x128x128", ExportAs::triton).find("tpu-v5e is a tpu") ==
          0);
    CHECK(why("tpu-v5e 256x256x256 f32 forward fused tile 128x128x128", ExportAs::cuda) == "tpu-v5e runs no CUDA");
    CHECK(why("scratchpad 256x256x256 f32 forward fused tile 128x128x128 order kmn", ExportAs::pallas)
              .find("order kmn: ") == 0);
    CHECK(why("tpu-v5e 256x256x256 f32 forward none tile 128x128x128", ExportAs::pallas).find("fusion none") == 0);
    CHECK(why("h200-sxm 64x64x64 bf16 forward fused tile 64x96x64", ExportAs::triton).find("tile 64x96x64: ") == 0);
    CHECK(why("h200-sxm 64x64x64 bf16 forward fused tile 64x64x64 raster hilbert", ExportAs::triton)
              .find("raster hilbert") == 0);
    CHECK(why("rtx-4090 64x64x64 bf16 forward fused tile 64x64x64 rung 07_tensor_core stages 12", ExportAs::cuda)
              .find("shared memory") != std::string::npos);
}

TEST_SUITE("slow") {
    TEST_CASE("export: the CUDA program is whole: its device code compiles from the one file") {
        SKIP_WITHOUT(skips::Need::nvrtc);
        struct {
            const char *experiment, *kernel, *arch;
        } const cases[] = {
            {"h200-sxm 1000x704x600 f32 train unfused residual mask tile 64x64x8 tile.dgrad 64x64x8 tile.wgrad 64x64x8 "
             "rung 04_register_tile",
             "register_tile", "sm_90a"},
            {"rtx-4090 1000x704x600 bf16 forward fused tile 64x64x32 rung 07_tensor_core", "tensor_core", "sm_89"},
            {"h200-sxm 1000x704x600 bf16 forward fused tile 128x128x64 rung 09_tma_wgmma cluster 2x1", "tma_wgmma",
             "sm_90a"},
        };
        for (const auto& c : cases) {
            CAPTURE(c.experiment);
            const Exported x = exported(c.experiment, ExportAs::cuda);
            REQUIRE_MESSAGE(x.fit.ok(), x.fit.why);
            CHECK(!has(x.text, "#include \"kernels/"));
            CHECK(has(x.text, "int main() {"));
            // The kernel that main() launches, by the name it is launched by.
            const std::size_t at = x.text.find("const auto kernel = &") + 21;
            const std::string name = x.text.substr(at, x.text.find(';', at) - at);
            CHECK(has(name, c.kernel));
            const cuda::Program p = cuda::compile({"fused_dense.cu", x.text, {}}, {&name, 1}, c.arch);
            CHECK(p.kernels.at(0).resources.registers > 0);
        }
    }
}

TEST_SUITE("slow") {
    TEST_CASE("export: the CUDA program compiles and links with nvcc, host and device") {
        if (std::system("nvcc --version >/dev/null 2>&1") != 0) {
            MESSAGE("nvcc is not here");
            return;
        }
        const Folder folder;
        for (const std::string e : {"h200-sxm 1000x704x600 f16 wgrad fused tile 64x64x32 stages 3 rung 07_tensor_core "
                                    "schedule split_k:4",
                                    "h200-sxm 1000x704x600 bf16 forward fused tile 128x128x64 rung 09_tma_wgmma"}) {
            const std::string file = folder.write("fused_dense.cu", exported(e, ExportAs::cuda, true).text);
            CHECK(std::system(("cd " + folder.path.string() +
                               " && nvcc -std=c++20 -gencode arch=compute_90a,code=sm_90a -o fused_dense " + file)
                                  .c_str()) == 0);
        }
    }

    TEST_CASE("export: the Pallas layer and its gradients are right in JAX's interpreter, at ragged sizes") {
        SKIP_WITHOUT(skips::Need::jax);
        const Folder folder;
        const std::string check = folder.write("check.py", R"(
import importlib.util, sys
import numpy as np, jax, jax.numpy as jnp
spec = importlib.util.spec_from_file_location("layer", sys.argv[1])
layer = importlib.util.module_from_spec(spec)
spec.loader.exec_module(layer)
for shape in ((70, 45, 83), (33, 257, 129)):  # the interpreter fills what lies outside with NaN
    arguments = layer.inputs(*shape, seed=3)
    x, w = (np.asarray(a, np.float64) for a in arguments[:2])
    b = np.asarray(arguments[2], np.float64) if len(arguments) > 2 else 0
    y, backward = jax.vjp(layer.fused_dense, *arguments)
    dy = jax.random.normal(jax.random.PRNGKey(1), y.shape, jnp.float32).astype(y.dtype)
    dz = np.where(np.asarray(y, np.float64) > 0, np.asarray(dy, np.float64), 0)
    got = (y, *backward(dy))
    want = (np.maximum(x @ w + b, 0), dz @ w.T, x.T @ dz, dz.sum(0))
    bound = 1e-5 if layer.DTYPE == jnp.float32 else 2e-2
    for g, r in zip(got, want):
        assert np.isfinite(np.asarray(g, np.float64)).all()
        assert np.abs(np.asarray(g, np.float64) - r).max() <= bound * max(1, np.abs(r).max()), (shape, g.shape)
assert np.isnan(np.asarray(layer.relu(jnp.array([jnp.nan])))).all()
)");
        for (const std::string& e : pallas_experiments) {
            const std::string file = folder.write("layer.py", exported(e, ExportAs::pallas).text);
            CHECK_MESSAGE(std::system(("python3 " + check + " " + file).c_str()) == 0, e);
        }
    }
}
