#include "layers/trace/recorder/native_callers.hpp"

#include <link.h>
#include <unwind.h>

#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>

#include "base/report/json.hpp"
#include "hdf5/api.hpp"
#include "layers/trace/recorder/recorder.hpp"

namespace headrace::trace {
namespace {

enum class Owner { passed_over, library, program };

// Where a return address is.
struct Module {
  std::uintptr_t address = 0;  // what is looked for
  std::string path;            // empty: the program itself
  std::uintptr_t offset = 0;
  bool found = false;
};

int look_into(dl_phdr_info* module, std::size_t /*size*/, void* into) {
  auto& wanted = *static_cast<Module*>(into);
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = module->dlpi_phdr[i];
    const std::uintptr_t begin = module->dlpi_addr + part.p_vaddr;
    if (part.p_type != PT_LOAD || wanted.address < begin || wanted.address - begin >= part.p_memsz)
      continue;
    wanted.path = module->dlpi_name;
    wanted.offset = wanted.address - module->dlpi_addr;
    wanted.found = true;
    return 1;
  }
  return 0;
}

Module module_of(std::uintptr_t address) {
  Module module{address, {}, 0, false};
  ::dl_iterate_phdr(&look_into, &module);
  return module;
}

struct Place {
  Owner owner = Owner::passed_over;
  std::uint32_t line = 0;  // the id of its fact, once it was told
};

Owner owner_of(const Module& module) {
  static const std::string own = module_of(reinterpret_cast<std::uintptr_t>(&module_of)).path;
  static const std::string hdf5 =
      module_of(reinterpret_cast<std::uintptr_t>(h5.Sget_select_type)).path;
  if (!module.found || module.path == own || module.path == hdf5) return Owner::passed_over;
  return module.path.empty() ? Owner::program : Owner::library;
}

Place& place_at(std::uintptr_t address) {
  static auto& known = *new std::unordered_map<std::uintptr_t, Place>;
  constexpr std::size_t kMost = 65536;
  if (known.size() > kMost) known.clear();
  const auto [entry, is_new] = known.try_emplace(address);
  if (is_new) entry->second.owner = owner_of(module_of(address));
  return entry->second;
}

std::string name_of(const Module& module) {
  std::error_code error;
  return module.path.empty() ? std::filesystem::read_symlink("/proc/self/exe", error).string()
                             : module.path;
}

std::uint32_t line_at(std::uintptr_t address) {
  Place& place = place_at(address);
  if (place.line != 0) return place.line;
  const Module module = module_of(address);
  Recorder& recorder = Recorder::get();
  place.line = recorder.next_id();
  recorder.add_fact(JsonObject()
                        .number("line", place.line)
                        .text("module", recorder.told(name_of(module)))
                        .number("offset", static_cast<long long>(module.offset))
                        .str());
  return place.line;
}

struct Search {
  std::uintptr_t library = 0;  // the innermost frame of one
  std::uintptr_t program = 0;
  int frames = 0;
};

_Unwind_Reason_Code look_at(_Unwind_Context* frame, void* into) {
  constexpr int kMostFrames = 64;
  auto& search = *static_cast<Search*>(into);
  const std::uintptr_t address = _Unwind_GetIP(frame) - 1;  // in the call, not after it
  try {
    const Owner owner = place_at(address).owner;
    if (owner == Owner::library && search.library == 0) search.library = address;
    if (owner == Owner::program) search.program = address;
  } catch (const std::exception&) {
    return _URC_END_OF_STACK;
  }
  return search.program != 0 || ++search.frames == kMostFrames ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

std::uint32_t native_caller() noexcept {
  Search search;
  _Unwind_Backtrace(&look_at, &search);
  const std::uintptr_t address = search.program != 0 ? search.program : search.library;
  try {
    return address == 0 ? 0 : line_at(address);
  } catch (const std::exception&) {
    return 0;
  }
}

}  // namespace headrace::trace
