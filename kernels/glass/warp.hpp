#pragma once
// Warps, CTAs and what watches them: a warp is a coroutine that runs until a barrier, a CTA owns its shared memory and
// a shadow of it that knows who read and wrote each word since the last barrier.

#include <coroutine>
#include <cstddef>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "kernels/glass/tally.hpp"

namespace kernels::glass {

/// Global memory of one operand. `address` is where a GPU would have it: 256 bytes aligned, the same in every run.
struct Buffer {
    std::string name;
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
    std::uint64_t address = 0;
};

/// Sees every 32 B sector that leaves an SM, in order.
struct SectorObserver {
    virtual ~SectorObserver() = default;
    /// `slot` is the resident CTA's; [address, address + bytes) lies in one sector.
    virtual void access(int slot, std::uint64_t address, int bytes, bool write) = 0;
    /// A wave of CTAs has ended; each stands for `times` of the full problem.
    virtual void settle(std::uint64_t times) = 0;
};

/// Something that would be wrong on a GPU too.
struct Finding {
    enum Kind { race, uninitialised, out_of_bounds, deadlock } kind = race;
    Place here, there;  ///< there: the other access of a race, the other barrier of a deadlock; line 0 = none
    std::string what;   ///< one sentence, of the first time it was seen
    std::uint64_t times = 1;
    bool unfilled = false;  ///< of a race: with an asynchronous copy that nobody waited for
};

/// Ends a kernel that cannot go on; its Finding has been noted.
struct Stopped : std::exception {
    const char* what() const noexcept override { return "the kernel was stopped"; }
};

/// Counters, findings and global memory of one run.
class Machine {
public:
    std::vector<Buffer> buffers;
    std::vector<Finding> findings;
    SectorObserver* observer = nullptr;
    bool checks_races = true;

    /// The number of a source line's tally.
    int site(Place at) {
        Cached& c =
            cache_[(static_cast<unsigned>(at.line) * 31 + (reinterpret_cast<std::uintptr_t>(at.file) >> 4)) % 256];
        if (c.file == at.file && c.line == at.line) return c.site;
        c = {at.file, at.line, find(at)};
        return c.site;
    }
    Tally& tally(int site) { return now_[static_cast<std::size_t>(site)]; }
    Place place(int site) const { return places_[static_cast<std::size_t>(site)]; }

    /// Adds what was counted since the last call, `times` over, to the totals.
    void settle(std::uint64_t times) {
        if (observer) observer->settle(times);
        for (std::size_t i = 0; i < now_.size(); ++i) {
            totals_[i].add(now_[i], times);
            now_[i] = {};
        }
    }
    std::size_t sites() const { return places_.size(); }
    const Tally& total(std::size_t site) const { return totals_[site]; }

    /// What the last shared access of a line looked like, for the next to compare with.
    template <class Pattern>
    Pattern& pattern(int site) {
        auto& slot = patterns_[static_cast<std::size_t>(site)];
        if (!slot) slot = std::make_shared<Pattern>();
        return *static_cast<Pattern*>(slot.get());
    }

    void note(Finding::Kind kind, Place here, Place there, const std::string& what, bool unfilled = false) {
        for (Finding& f : findings)
            if (f.kind == kind && f.here == here && f.there == there) {
                f.times++;
                return;
            }
        findings.push_back({kind, here, there, what, 1, unfilled});
    }
    /// The buffer that holds an address, or null.
    const Buffer* buffer_at(const void* p) const {
        const auto* byte = static_cast<const std::byte*>(p);
        for (const Buffer& b : buffers)
            if (byte >= b.data && byte < b.data + b.bytes) return &b;
        return nullptr;
    }

private:
    struct Cached {
        const char* file = nullptr;
        int line = 0, site = 0;
    };
    int find(Place at) {
        for (std::size_t i = 0; i < places_.size(); ++i)
            if (places_[i] == at) return static_cast<int>(i);
        places_.push_back(at);
        now_.emplace_back();
        totals_.emplace_back();
        patterns_.emplace_back();
        return static_cast<int>(places_.size()) - 1;
    }
    Cached cache_[256];
    std::vector<Place> places_;
    std::vector<Tally> now_, totals_;
    std::vector<std::shared_ptr<void>> patterns_;
};

struct Cta;

/// The body of a kernel as one warp runs it.
struct Task {
    struct promise_type {
        std::exception_ptr fault;
        Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { fault = std::current_exception(); }
        // g++ aligns frames to 16 bytes whatever they hold, and registers want more.
        static void* operator new(std::size_t n) { return ::operator new (n, std::align_val_t{128}); }
        static void operator delete(void* p) { ::operator delete (p, std::align_val_t{128}); }
    };
    std::coroutine_handle<promise_type> handle;
};

/// A word of shared memory that an asynchronous copy of this warp has yet to fill.
struct PendingCopy {
    int group = 0, site = 0;
    std::uint32_t row = 0, words = 0;
};

/// Rows of shared memory that a product of a warpgroup may still read.
struct MatrixRead {
    int group = 0;
    std::uint32_t first = 0, count = 0;
};

/// Some warps of a CTA that wait for each other.
struct Meeting {
    int first = 0, count = 0;
    bool joins = false;  ///< each then knows what all know
    bool operator==(const Meeting&) const = default;
};

struct Warp {
    Cta* cta = nullptr;
    int index = 0;
    std::uint32_t smem_used = 0;  ///< taken so far, bytes
    Task task;
    enum State { ready, at_barrier, at_phase, at_meeting, finished } state = ready;
    Place waits;                       ///< where, unless ready
    Meeting meeting;                   ///< at_meeting
    std::uint32_t phase_barrier = 0;   ///< at_phase: its offset in shared memory
    int parity = 0;                    ///< at_phase: of the phase whose end it waits for
    std::vector<std::uint32_t> knows;  ///< of each warp and of the copy unit: how far what it did is known to be done
    std::vector<MatrixRead> reads;     ///< by products that have not been waited for
    int product_group = 0;
    int copy_group = 0;
    std::vector<PendingCopy> copies;
    std::vector<std::uint32_t> unfenced;  ///< rows it wrote that no fence has shown to products yet
};

/// Who touched the words of a row of shared memory (32 banks) since the last barrier.
class Shadow {
public:
    void reset(int warps, std::size_t bytes) {
        warps_ = warps;
        rows_.assign(bytes / row_bytes + 1, {});
        marks_.assign(rows_.size() * static_cast<std::size_t>(warps), {});
        epoch_ = 1;
    }
    void barrier() { epoch_++; }

    void read(Machine& m, int warp, const BankRows& rows, int site) {
        for (int i = 0; i < rows.count; ++i) {
            Row& r = row(rows.index[i]);
            Mark& mine = mark(rows.index[i], warp);
            const std::uint32_t words = rows.bits[i];
            if ((words & ~r.filled) != 0) uninitialised(m, words & ~r.filled, rows.index[i], site);
            if (((r.written & ~mine.written) | r.pending) & words) race(m, warp, rows.index[i], words, site, false);
            r.read_by_many |= r.read & ~mine.read & words;
            r.read |= words;
            mine.read |= words;
            mine.read_site = site;
        }
    }
    void write(Machine& m, int warp, const BankRows& rows, int site) {
        for (int i = 0; i < rows.count; ++i) write(m, warp, rows.index[i], rows.bits[i], site, true);
    }
    void write(Machine& m, int warp, std::uint32_t index, std::uint32_t words, int site, bool checked) {
        Row& r = row(index);
        Mark& mine = mark(index, warp);
        const std::uint32_t others = (r.written & ~mine.written) | (r.read & ~mine.read) | r.read_by_many | r.pending;
        if (checked && (others & words) != 0) race(m, warp, index, words, site, true);
        r.filled |= words;
        r.written |= words;
        mine.written |= words;
        mine.write_site = site;
    }
    /// An asynchronous copy begins: until it has been waited for nobody may touch its words.
    void begin_copy(Machine& m, Warp& w, const BankRows& rows, int site) {
        write(m, w.index, rows, site);
        for (int i = 0; i < rows.count; ++i) {
            row(rows.index[i]).pending |= rows.bits[i];
            w.copies.push_back({w.copy_group, site, rows.index[i], rows.bits[i]});
        }
    }
    /// All but the newest `groups` groups of copies have arrived: from now on they are writes of this warp.
    void wait_copies(Machine& m, Warp& w, int groups) {
        std::size_t kept = 0;
        for (const PendingCopy& c : w.copies) {
            if (c.group >= w.copy_group - groups) {
                w.copies[kept++] = c;
                continue;
            }
            row(c.row).pending &= ~c.words;
            write(m, w.index, c.row, c.words, c.site, false);
        }
        w.copies.resize(kept);
    }

private:
    struct Row {
        std::uint32_t epoch = 0, written = 0, read = 0, read_by_many = 0, filled = 0, pending = 0;
    };
    struct Mark {
        std::uint32_t written = 0, read = 0;
        int write_site = -1, read_site = -1;
    };
    Row& row(std::uint32_t index) {
        Row& r = rows_[index];
        if (r.epoch != epoch_) {
            r.epoch = epoch_;
            r.written = r.read = r.read_by_many = 0;
            for (int w = 0; w < warps_; ++w) mark(index, w).written = mark(index, w).read = 0;
        }
        return r;
    }
    Mark& mark(std::uint32_t index, int warp) {
        return marks_[static_cast<std::size_t>(index) * static_cast<std::size_t>(warps_) +
                      static_cast<std::size_t>(warp)];
    }
    void race(Machine& m, int warp, std::uint32_t index, std::uint32_t words, int site, bool write);
    void uninitialised(Machine& m, std::uint32_t words, std::uint32_t index, int site);

    int warps_ = 0;
    std::uint32_t epoch_ = 1;
    std::vector<Row> rows_;
    std::vector<Mark> marks_;
};

/// A barrier in shared memory that counts arrivals and bytes: its phase ends when none is missing.
struct PhaseBarrier {
    int arrivals = 0, missing = 0;
    std::int64_t bytes = 0;            ///< announced and not yet there
    unsigned phases = 0;               ///< ended
    std::vector<std::uint32_t> knows;  ///< what those that arrived knew
    void settle() {
        if (missing > 0 || bytes > 0) return;
        phases++;
        missing = arrivals;
    }
};

/// A box on its way into shared memory.
struct BoxCopy {
    std::uint32_t barrier = 0, first_row = 0, rows = 0;
    std::int64_t bytes = 0;  ///< that count at the barrier
    int arrivals = 0;        ///< the same
    int site = 0;
    std::vector<std::byte> data;  ///< as it will lie there
};

/// Who read and wrote the rows of shared memory of a kernel that copies boxes, where barriers of phases say what came
/// before what: an access is a race unless the earlier one is known to be done. What warps write themselves a product
/// sees only behind a fence.
class AsyncShadow {
public:
    void reset(int warps, std::size_t bytes) {
        warps_ = warps;
        rows_.assign(bytes / row_bytes + 1, {});
        reads_.assign(rows_.size() * static_cast<std::size_t>(warps), {});
        time_ = 0;
    }
    bool watches() const { return !rows_.empty(); }
    void begin_copy(Machine& m, const Warp& w, std::uint32_t row, int site) {
        before_write(m, w, row, site);
        rows_[row].pending = true;
        rows_[row].site = site;
    }
    void land(std::uint32_t row) {
        Row& r = rows_[row];
        r.pending = false;
        r.writer = warps_;
        r.written = r.fenced = time_;
    }
    /// The copy unit has done one more copy.
    std::uint32_t tick() { return ++time_; }
    /// A product of warp `w` begins to read a row.
    void read(Machine& m, const Warp& w, std::uint32_t row, int site) {
        const Row& r = rows_[row];
        if (!known(w, r))
            note(m, site, r.site, row, "reads", " has not been waited for (warp " + std::to_string(w.index) + ")");
        else if (r.fenced > w.knows[static_cast<std::size_t>(r.writer)])
            note(m, site, r.site, row, "reads", " writes with no fence between (warp " + std::to_string(w.index) + ")");
        reads(row, w.index) = {~std::uint32_t{0}, site};
    }
    void end_read(const Warp& w, std::uint32_t row) {
        reads(row, w.index).time = w.knows[static_cast<std::size_t>(w.index)];
    }
    /// The threads of a warp read or write a row themselves.
    void access(Machine& m, Warp& w, std::uint32_t row, bool write, int site) {
        Row& r = rows_[row];
        if (!write) {
            if (!known(w, r))
                note(m, site, r.site, row, "reads", " has not been waited for (warp " + std::to_string(w.index) + ")");
            if (reads(row, w.index).time != ~std::uint32_t{0})
                reads(row, w.index) = {w.knows[static_cast<std::size_t>(w.index)], site};
            return;
        }
        before_write(m, w, row, site);
        r.writer = w.index;
        r.written = w.knows[static_cast<std::size_t>(w.index)];
        r.fenced = ~std::uint32_t{0};
        r.site = site;
        w.unfenced.push_back(row);
    }
    void fence(Warp& w) {
        for (const std::uint32_t row : w.unfenced)
            if (rows_[row].writer == w.index) rows_[row].fenced = w.knows[static_cast<std::size_t>(w.index)];
        w.unfenced.clear();
    }

private:
    struct Row {
        int writer = 0;                         ///< a warp, or the copy unit
        std::uint32_t written = 0, fenced = 0;  ///< when; never = 0
        int site = -1;
        bool pending = false;
    };
    struct Read {
        std::uint32_t time = 0;
        int site = -1;
    };
    Read& reads(std::uint32_t row, int warp) {
        return reads_[row * static_cast<std::size_t>(warps_) + static_cast<std::size_t>(warp)];
    }
    /// Whether a warp knows that a row has been written.
    static bool known(const Warp& w, const Row& r) {
        return !r.pending && r.written != 0 && r.written <= w.knows[static_cast<std::size_t>(r.writer)];
    }
    void before_write(Machine& m, const Warp& w, std::uint32_t row, int site) {
        const Row& r = rows_[row];
        for (int u = 0; u < warps_; ++u)
            if (const Read& read = reads(row, u); read.time > w.knows[static_cast<std::size_t>(u)])
                note(m, site, read.site, row, "overwrites", " may still read (warp " + std::to_string(u) + ")");
        if (r.pending || (r.written != 0 && !known(w, r)))
            note(m, site, r.site, row, "overwrites", " filled and nobody has waited for");
    }
    static void note(Machine& m, int here, int there, std::uint32_t row, const char* does, const std::string& other);

    int warps_ = 0;
    std::uint32_t time_ = 0;
    std::vector<Row> rows_;
    std::vector<Read> reads_;
};

/// What a CTA has loaded through its L1 from one array, so that L2 is asked for each element once.
struct Cached {
    const void* array = nullptr;
    std::vector<bool> seen;
    /// True the first time an element of `p` is asked for.
    bool first(const void* p, int element) {
        if (p != array) {
            array = p;
            seen.clear();
        }
        const auto i = static_cast<std::size_t>(element);
        if (i >= seen.size()) seen.resize(i + 1);
        const bool fresh = !seen[i];
        seen[i] = true;
        return fresh;
    }
};

/// A resident CTA.
struct Cta {
    Machine* machine = nullptr;
    std::int64_t index = 0, grid = 1;
    int slot = 0;
    std::vector<Warp> warps;
    std::byte* smem = nullptr;
    std::size_t smem_bytes = 0;
    Shadow shadow;
    Cached cached;
    std::map<std::uint32_t, PhaseBarrier> phase_barriers;  ///< by offset in shared memory
    std::vector<BoxCopy> boxes;                            ///< that have not come yet
    AsyncShadow async_shadow;

    /// Everything that one of these warps knows, all of them know.
    void join(std::size_t first, std::size_t count) {
        std::vector<std::uint32_t> all(warps.size() + 1);
        for (std::size_t w = first; w < first + count; ++w)
            for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], warps[w].knows[i]);
        for (std::size_t w = first; w < first + count; ++w) {
            warps[w].knows = all;
            warps[w].knows[w]++;
        }
    }
    /// Lets the boxes arrive. False where none was on its way.
    bool land_boxes() {
        for (const BoxCopy& box : boxes) {
            const std::uint32_t time = async_shadow.tick();
            std::memcpy(static_cast<void*>(smem + std::size_t{box.first_row} * row_bytes), box.data.data(),
                        box.data.size());
            for (std::uint32_t r = 0; r < box.rows; ++r) async_shadow.land(box.first_row + r);
            PhaseBarrier& b = phase_barriers[box.barrier];
            b.knows.resize(warps.size() + 1);
            b.knows[warps.size()] = time;
            b.bytes -= box.bytes;
            b.missing -= box.arrivals;
            b.settle();
        }
        const bool any = !boxes.empty();
        boxes.clear();
        return any;
    }
};

/// The warp that runs on this thread.
inline thread_local Warp* self = nullptr;

/// What SYNC() waits for.
struct Barrier {
    Place at;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const noexcept {
        self->state = Warp::at_barrier;
        self->waits = at;
    }
    void await_resume() const noexcept {}
};

inline std::string place_text(Place p) { return std::string(p.name()) + ":" + std::to_string(p.line); }

inline void Shadow::race(Machine& m, int warp, std::uint32_t index, std::uint32_t words, int site, bool write) {
    const Row& r = rows_[index];
    for (int other = 0; other < warps_; ++other) {
        if (other == warp) continue;
        const Mark& theirs = mark(index, other);
        const bool wrote = (theirs.written & words) != 0, read = write && (theirs.read & words) != 0;
        if (!wrote && !read) continue;
        const std::uint32_t word = (wrote ? theirs.written : theirs.read) & words;
        const Place there = m.place(wrote ? theirs.write_site : theirs.read_site), here = m.place(site);
        m.note(Finding::race, here, there,
               place_text(here) + " " + (write ? "writes" : "reads") + " shared byte " +
                   std::to_string(index * row_bytes + 4 * static_cast<unsigned>(std::countr_zero(word))) + " (warp " +
                   std::to_string(warp) + "), which " + place_text(there) + " " + (wrote ? "writes" : "reads") +
                   " (warp " + std::to_string(other) + ") with no barrier between");
        return;
    }
    if ((r.pending & words) == 0) return;
    // A copy in flight, begun before the last barrier or by this warp itself.
    const Place here = m.place(site);
    for (int other = 0; other < warps_; ++other) {
        const Mark& theirs = mark(index, other);
        if (theirs.write_site < 0) continue;
        const Place there = m.place(theirs.write_site);
        m.note(Finding::race, here, there,
               place_text(here) + " " + (write ? "writes" : "reads") + " shared byte " +
                   std::to_string(index * row_bytes + 4 * static_cast<unsigned>(std::countr_zero(r.pending & words))) +
                   " (warp " + std::to_string(warp) + "), which the asynchronous copy of " + place_text(there) +
                   " may not have filled yet",
               true);
        return;
    }
}

inline void AsyncShadow::note(Machine& m, int here, int there, std::uint32_t row, const char* does,
                              const std::string& other) {
    const Place a = m.place(here), b = there >= 0 ? m.place(there) : Place{};
    m.note(Finding::race, a, b,
           place_text(a) + " " + does + " shared byte " + std::to_string(row * row_bytes) + ", which " +
               (there >= 0 ? place_text(b) : std::string("nobody has written and")) + other);
}

inline void Shadow::uninitialised(Machine& m, std::uint32_t words, std::uint32_t index, int site) {
    const Place here = m.place(site);
    m.note(Finding::uninitialised, here, {},
           place_text(here) + " reads shared byte " +
               std::to_string(index * row_bytes + 4 * static_cast<unsigned>(std::countr_zero(words))) +
               ", which nobody has written");
}

}  // namespace kernels::glass
