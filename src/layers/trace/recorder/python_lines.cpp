#include "layers/trace/recorder/python_lines.hpp"

#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/report/json.hpp"
#include "layers/trace/recorder/recorder.hpp"

namespace headrace::trace {
namespace {

// Where CPython keeps what is needed, in bytes (of its headers Include/cpython and
// Include/internal). All of a release are alike, and those between releases.
struct Offsets {
  std::string_view version;  // how that of the interpreter begins
  std::size_t state_frame;   // in a thread's state: the innermost frame, or what leads to it
  std::optional<std::size_t> through;  // in what leads to it
  std::size_t code, previous, last;    // in a frame; `last`: the instruction it is at
  std::optional<std::size_t> owner;
  std::size_t filename, first_line;         // in a code object
  std::optional<std::size_t> instructions;  // its first one; none where `last` counts itself
  std::size_t text;                         // in an ASCII string
  int unit = 1;                             // bytes of what `last` counts
};
constexpr std::array kKnown{
    Offsets{"3.9.", 24, {}, 32, 24, 104, {}, 104, 40, {}, 48},
    Offsets{"3.10.", 24, {}, 32, 24, 96, {}, 104, 40, {}, 48, 2},
    Offsets{"3.11.", 56, 8, 32, 48, 56, 69, 112, 72, 184, 48},
    Offsets{"3.12.", 56, 0, 0, 8, 56, 70, 112, 68, 192, 40},
    Offsets{"3.13.", 72, {}, 0, 8, 56, 70, 112, 68, 200, 40},
};
constexpr std::size_t kTypeAt = 8;    // in each object
constexpr std::size_t kStateAt = 32;  // in a string: how it is kept
constexpr std::uint32_t kAscii = 0x60;
constexpr unsigned char kOwnedByC = 3;  // a frame that is none of a function
constexpr int kMostFrames = 64;

template <typename T>
T at(const void* base, std::size_t offset) {
  T value;
  std::memcpy(static_cast<void*>(&value), static_cast<const std::byte*>(base) + offset,
              sizeof value);
  return value;
}

// A part of the interpreter's memory. What the calling thread has keeps still.
class Own {
 public:
  explicit Own(const void* base) : base_(base) {}
  template <typename T>
  [[nodiscard]] T get(std::size_t offset) const {
    return at<T>(base_, offset);
  }

 private:
  const void* base_;
};

// What another thread has may go at any moment: the system copies it, or says that it is gone, of
// which nothing is left but zeros.
class Others {
 public:
  explicit Others(const void* base) {
    const iovec to{bytes_.data(), bytes_.size()};
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): it is only read
    const iovec from{const_cast<void*>(base), bytes_.size()};
    if (::process_vm_readv(::getpid(), &to, 1, &from, 1, 0) != kSize) bytes_ = {};
  }
  template <typename T>
  [[nodiscard]] T get(std::size_t offset) const {
    return at<T>(bytes_.data(), offset);
  }

 private:
  static constexpr ssize_t kSize = 128;  // more than any offset above
  std::array<std::byte, kSize> bytes_{};
};

struct Interpreter {
  const Offsets* offsets = nullptr;
  void* (*thread_state)() = nullptr;
  int (*line_of)(void* code, int instruction) = nullptr;
  int (*is_ending)() = nullptr;
  const void* code_type = nullptr;
  const void* text_type = nullptr;

  Interpreter() {
    const auto version = symbol<const char* (*)()>("Py_GetVersion");
    thread_state = symbol<void* (*)()>("PyGILState_GetThisThreadState");
    line_of = symbol<int (*)(void*, int)>("PyCode_Addr2Line");
    is_ending = symbol<int (*)()>("Py_IsFinalizing");
    if (is_ending == nullptr) is_ending = symbol<int (*)()>("_Py_IsFinalizing");
    code_type = ::dlsym(RTLD_DEFAULT, "PyCode_Type");
    text_type = ::dlsym(RTLD_DEFAULT, "PyUnicode_Type");
    if (version == nullptr || thread_state == nullptr || line_of == nullptr ||
        is_ending == nullptr || code_type == nullptr || text_type == nullptr)
      return;
    const std::string_view text = version();
    // Builds whose objects are others: without the lock, for debugging, and before a release.
    const std::string_view number = text.substr(0, text.find(' '));
    if (text.find("free-threading") != std::string_view::npos ||
        ::dlsym(RTLD_DEFAULT, "_Py_NegativeRefcount") != nullptr ||
        number.find_first_of("abc") != std::string_view::npos)
      return;
    for (const Offsets& known : kKnown)
      if (text.starts_with(known.version)) offsets = &known;
  }

  template <typename Function>
  static Function symbol(const char* name) {
    return reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
  }
};

const Interpreter* interpreter() {
  static const Interpreter found;
  return found.offsets == nullptr ? nullptr : &found;
}

struct Frame {
  void* code;
  int instruction;  // bytes from the first one
  bool operator==(const Frame&) const = default;
};

template <typename Memory>
std::optional<Frame> frame_at(const Interpreter& python, const Memory& frame) {
  const Offsets& offsets = *python.offsets;
  if (offsets.owner && frame.template get<unsigned char>(*offsets.owner) >= kOwnedByC)
    return std::nullopt;
  auto* const code = frame.template get<void*>(offsets.code);
  if (code == nullptr || Memory(code).template get<const void*>(kTypeAt) != python.code_type)
    return std::nullopt;
  if (offsets.instructions) {
    const auto last = frame.template get<std::uintptr_t>(offsets.last);
    const auto first = reinterpret_cast<std::uintptr_t>(code) + *offsets.instructions;
    return Frame{code, static_cast<int>(last - first)};
  }
  const int last = frame.template get<int>(offsets.last);
  return Frame{code, offsets.unit * last};
}

// None where it is not in ASCII.
std::optional<std::string_view> filename_of(const Interpreter& python, const void* code) {
  const auto* const text = at<const void*>(code, python.offsets->filename);
  if (text == nullptr || at<const void*>(text, kTypeAt) != python.text_type ||
      (at<std::uint32_t>(text, kStateAt) & kAscii) != kAscii)
    return std::nullopt;
  return static_cast<const char*>(text) + python.offsets->text;
}

// Neither a package that was installed nor a part of Python.
bool is_the_programs(std::string_view file) {
  return !file.empty() && !file.starts_with('<') &&
         file.find("/site-packages/") == std::string_view::npos &&
         file.find("/dist-packages/") == std::string_view::npos &&
         file.find("/lib/python3") == std::string_view::npos;
}

// What is known of a place in code. Code objects go, and others come where they were.
struct CodePlace {
  const void* filename;
  int first_line;
  std::uint32_t line;  // the id of its fact; 0: not known
  bool programs;
};
struct Key {
  const void* code;
  int instruction;
  bool operator==(const Key&) const = default;
};
struct Hash {
  std::size_t operator()(const Key& key) const {
    return reinterpret_cast<std::size_t>(key.code) * 31 + static_cast<std::size_t>(key.instruction);
  }
};

const CodePlace& place_of(const Interpreter& python, const Frame& frame) {
  static auto& known = *new std::unordered_map<Key, CodePlace, Hash>;
  constexpr std::size_t kMost = 16384;
  if (known.size() > kMost) known.clear();
  const auto* const filename = at<const void*>(frame.code, python.offsets->filename);
  const int first_line = at<int>(frame.code, python.offsets->first_line);
  CodePlace& place = known[{frame.code, frame.instruction}];
  if (place.filename == filename && place.first_line == first_line) return place;
  Recorder& recorder = Recorder::get();
  const std::optional<std::string_view> name = filename_of(python, frame.code);
  place = {filename, first_line, 0, true};
  if (!name) return place;
  place.line = recorder.next_id();
  place.programs = is_the_programs(*name);
  recorder.add_fact(JsonObject()
                        .number("line", place.line)
                        .text("source", recorder.told(*name))
                        .number("at", python.line_of(frame.code, frame.instruction))
                        .str());
  return place;
}

template <typename Memory>
const void* innermost(const Interpreter& python, const void* state) {
  const auto* const frame = Memory(state).template get<const void*>(python.offsets->state_frame);
  if (frame == nullptr || !python.offsets->through) return frame;
  return Memory(frame).template get<const void*>(*python.offsets->through);
}

// A thread's frames of functions, the innermost first, until `stop` wants no more.
template <typename Memory, typename Stop>
void each_frame(const Interpreter& python, const void* state, const Stop& stop) {
  const void* at = innermost<Memory>(python, state);
  for (int i = 0; at != nullptr && i < kMostFrames; ++i) {
    const Memory frame(at);
    if (const auto found = frame_at(python, frame); found && stop(*found)) return;
    at = frame.template get<const void*>(python.offsets->previous);
  }
}

// Where the main thread is: it waits for a pool's work, or has just handed it out.
class MainThread {
 public:
  static MainThread& get() {
    static auto& main = *new MainThread;
    return main;
  }

  // Of each call: the main thread's state is known by its own calls. A child of a fork has a
  // recorder of its own, and as its main thread the one that forked.
  void note(const void* state) {
    thread_local const Recorder* noted = nullptr;
    if (noted == &Recorder::get()) return;
    noted = &Recorder::get();
    if (::gettid() != ::getpid()) return;
    of_ = noted;
    state_ = state;
  }

  // The line of the program, 0 where none is known: the thread may go on meanwhile, so that its
  // frames count only where they are the same afterwards.
  std::uint32_t line(const Interpreter& python, const void* own_state) {
    constexpr int kMostLooks = 4;
    if (of_ != &Recorder::get() || state_ == own_state) return 0;
    std::vector<Frame> frames = frames_of(python);
    for (int i = 0; frames != last_; ++i) {
      if (i == kMostLooks) return 0;
      last_ = std::exchange(frames, frames_of(python));
    }
    for (const Frame& each : frames) {
      const CodePlace& place = place_of(python, each);
      if (place.programs) return place.line;
    }
    return 0;
  }

 private:
  std::vector<Frame> frames_of(const Interpreter& python) const {
    std::vector<Frame> found;
    each_frame<Others>(python, state_, [&](const Frame& frame) {
      found.push_back(frame);
      return false;
    });
    return found;
  }

  const Recorder* of_ = nullptr;
  const void* state_ = nullptr;
  std::vector<Frame> last_;  // as they were when they were looked at last
};

// Of the calling thread: its line, and else that of the main one.
std::uint32_t line_of(const Interpreter& python, const void* state) {
  std::uint32_t line = 0;
  std::uint32_t fallback = 0;
  each_frame<Own>(python, state, [&](const Frame& frame) {
    const CodePlace& place = place_of(python, frame);
    if (fallback == 0) fallback = place.line;
    if (place.programs) line = place.line;
    return place.programs;
  });
  if (line == 0) line = MainThread::get().line(python, state);
  return line != 0 ? line : fallback;
}

}  // namespace

std::uint32_t python_line() noexcept {
  const Interpreter* const python = interpreter();
  if (python == nullptr) return 0;
  // Threads that the interpreter does not wait for may call while it takes itself apart.
  const void* const state = python->is_ending() != 0 ? nullptr : python->thread_state();
  if (state == nullptr) return 0;
  try {
    MainThread::get().note(state);
    return line_of(*python, state);
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

}  // namespace headrace::trace
