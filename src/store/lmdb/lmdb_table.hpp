// What the core and the LMDB module (lmdb_module.cpp) agree on: a table of C functions. LMDB must
// not open a database twice in a process, and the process may hold several copies of the core, so
// the module is there once and is shared by all.
//
// Functions return 0, an errno, or one of LMDB's codes, which are negative. None throws, aborts or
// prints. Any thread. A child after fork() opens the database anew, on its first call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace::store {

// Grows with every change to this file.
inline constexpr std::uint32_t kLmdbTableVersion = 1;
inline constexpr const char* kLmdbTableSymbol = "headrace_lmdb_table";

// A code of the module's own: what the database's file should hold lies beyond its end.
inline constexpr int kLmdbCutOff = -1;

struct LmdbBytes {
  const void* data;
  std::size_t size;
};

struct LmdbChange {
  LmdbBytes key;   // 1 to 511 bytes
  LmdbBytes head;  // of the value, and what follows it
  LmdbBytes body;
  bool erases;             // and has no value
  bool is_conditional;     // made only where the entry is of
  std::uint64_t expected;  // this version; 0: where there is none
  bool refused;            // set: the entry was not
};

// Values are lent for the call. False ends a scan.
using LmdbVisit = bool(void* context, LmdbBytes key, LmdbBytes value, std::uint64_t version);
// What a change replaces or erases; it may still come to nothing.
using LmdbReplaced = void(void* context, LmdbBytes value);

struct LmdbTable {
  std::uint32_t version;
  // Opens or makes the database of a folder. Another open of it, by any name, gives the same.
  int (*open)(const char* folder, void** database);
  void (*close)(void* database);
  // Shows the value of a key, if there is one.
  int (*read)(void* database, LmdbBytes key, LmdbVisit* visit, void* context);
  // Shows values from a key on, in the order of keys, as they were at one moment.
  int (*scan)(void* database, LmdbBytes from, LmdbVisit* visit, void* context);
  // One transaction. `together`: where one change is refused none is made. `synced`: it survives
  // a power cut. `made`: the version of all that it puts.
  int (*write)(void* database, LmdbChange* changes, std::size_t count, bool together, bool synced,
               LmdbReplaced* replaced, void* context, std::uint64_t* made);
  const char* (*error_text)(int code);
};

// What the module exports as headrace_lmdb_table.
using LmdbTableFunction = const LmdbTable*();

}  // namespace headrace::store
