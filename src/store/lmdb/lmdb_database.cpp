#include "store/lmdb/lmdb_database.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <exception>

#include "base/error.hpp"
#include "base/process/module_file.hpp"

namespace headrace::store {
namespace {

const LmdbTable* load() {
  const std::string path = module_beside("libheadrace_lmdb.so");
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw Error("the LMDB module cannot be loaded: " + std::string(dlerror()),
                ErrorKind::unsupported);
  auto* const function = reinterpret_cast<LmdbTableFunction*>(dlsym(handle, kLmdbTableSymbol));
  const LmdbTable* const table = function == nullptr ? nullptr : function();
  if (table == nullptr || table->version != kLmdbTableVersion)
    throw Error("the LMDB module " + path + " belongs to another version of Headrace",
                ErrorKind::unsupported);
  return table;
}

const LmdbTable& lmdb_module() {
  static const LmdbTable* const table = load();  // tried again when it has thrown
  return *table;
}

ErrorKind kind_of_code(int code) {
  // Of LMDB's: a page that is not there, damaged, no database, one of another version; a full map;
  // no place for one more reader. Its header is the module's alone.
  constexpr int kPageNotFound = -30797;
  constexpr int kInvalid = -30793;
  constexpr int kMapFull = -30792;
  constexpr int kReadersFull = -30790;
  if (code == kLmdbCutOff || (code >= kPageNotFound && code <= kInvalid)) return ErrorKind::corrupt;
  if (code == kMapFull) return ErrorKind::no_space;
  if (code == kReadersFull) return ErrorKind::busy;
  return code > 0 ? headrace::kind_of(code) : ErrorKind::failed;
}

Bytes bytes_of(LmdbBytes lent) { return {static_cast<const std::byte*>(lent.data), lent.size}; }
std::string_view text_of(LmdbBytes lent) {
  return {static_cast<const char*>(lent.data), lent.size};
}

// A function of C++ as the module calls it: what it throws is kept until the module has returned.
template <typename Function>
struct Call {
  const Function& function;
  std::exception_ptr error = nullptr;

  void finish() const {
    if (error != nullptr) std::rethrow_exception(error);
  }
  static bool visit(void* self, LmdbBytes key, LmdbBytes value, std::uint64_t version) {
    auto& call = *static_cast<Call*>(self);
    bool goes_on = false;
    call.error = error_of([&] { goes_on = call.function(text_of(key), bytes_of(value), version); });
    return goes_on;
  }
  static void replaced(void* self, LmdbBytes value) {
    auto& call = *static_cast<Call*>(self);
    if (call.error == nullptr) call.error = error_of([&] { call.function(bytes_of(value)); });
  }
};

}  // namespace

LmdbDatabase::LmdbDatabase(std::string folder) : folder_(std::move(folder)), table_(lmdb_module()) {
  require(table_.open(folder_.c_str(), &database_), "cannot be opened");
}

LmdbDatabase::~LmdbDatabase() { table_.close(database_); }

void LmdbDatabase::require(int code, const char* what) const {
  if (code == 0) return;
  const std::string text =
      "the database in " + folder_ + " " + what + ": " + table_.error_text(code);
  throw Error(text, kind_of_code(code));
}

void LmdbDatabase::read(std::string_view key, const Visit& visit) const {
  Call<Visit> call{visit};
  const int code = table_.read(database_, lent(key), &Call<Visit>::visit, &call);
  call.finish();
  require(code, "cannot be read");
}

void LmdbDatabase::scan(std::string_view from, const Visit& visit) const {
  Call<Visit> call{visit};
  const int code = table_.scan(database_, lent(from), &Call<Visit>::visit, &call);
  call.finish();
  require(code, "cannot be read");
}

Version LmdbDatabase::write(std::span<LmdbChange> changes, bool together, bool synced,
                            const std::function<void(Bytes)>& replaced) const {
  using Replaced = Call<std::function<void(Bytes)>>;
  Replaced call{replaced};
  Version made = kAbsent;
  const int code = table_.write(database_, changes.data(), changes.size(), together, synced,
                                &Replaced::replaced, &call, &made);
  require(code, "cannot be written");
  call.finish();
  return made;
}

}  // namespace headrace::store
