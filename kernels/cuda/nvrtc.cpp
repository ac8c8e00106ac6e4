#include "kernels/cuda/nvrtc.hpp"

namespace kernels::cuda {
namespace {

Nvrtc open() {
    Nvrtc n;
    n.library = SharedLibrary::open("nvrtc");
    n.why = n.library.why();
    if (!n.library) return n;
    const auto get = [&](const char* symbol, auto*& function) {
        if (!n.library.get(symbol, function) && n.why.empty())
            n.why = n.library.path() + " is too old: it has no " + symbol;
    };
    get("nvrtcVersion", n.version);
    get("nvrtcGetErrorString", n.error_string);
    get("nvrtcGetNumSupportedArchs", n.supported_arch_count);
    get("nvrtcGetSupportedArchs", n.supported_archs);
    get("nvrtcCreateProgram", n.create);
    get("nvrtcDestroyProgram", n.destroy);
    get("nvrtcAddNameExpression", n.add_name);
    get("nvrtcGetLoweredName", n.lowered_name);
    get("nvrtcCompileProgram", n.compile);
    get("nvrtcGetProgramLogSize", n.log_size);
    get("nvrtcGetProgramLog", n.log);
    get("nvrtcGetCUBINSize", n.cubin_size);
    get("nvrtcGetCUBIN", n.cubin);
    if (n.why.empty()) n.version(&n.major, &n.minor);
    return n;
}

}  // namespace

const Nvrtc& nvrtc() {
    static const Nvrtc opened = open();
    return opened;
}

}  // namespace kernels::cuda
