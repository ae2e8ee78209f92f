// Whether a container is what docs/formats/container.md says. No program may change it meanwhile.
#pragma once

#include <string>

#include "objects/check/finding.hpp"
#include "objects/check/survey.hpp"
#include "store/store.hpp"

namespace headrace::objects {

// How much is read of chunks and heaps: how they begin and end, or all of them.
enum class Depth { ends, all };

// How much there is of what a container has.
struct Amounts {
  std::uint64_t groups = 0;
  std::uint64_t datasets = 0;
  std::uint64_t types = 0;
  std::uint64_t maps = 0;
  std::uint64_t links = 0;
  std::uint64_t chunks = 0;
  std::uint64_t chunk_bytes = 0;
  std::uint64_t heaps = 0;
  std::uint64_t heap_bytes = 0;
  std::uint64_t garbage = 0;        // objects, tables and chunks
  std::uint64_t garbage_bytes = 0;  // of chunks
};

// What tables say of objects and links.
void check_tables(Survey& survey);
// Chunks and heaps, and what values of maps say of these.
void check_blobs(store::Store& store, Survey& survey, Depth depth, Amounts& amounts);

// All of it. Throws Error where the store cannot be read.
Amounts check(store::Store& store, const std::string& container, Depth depth, const Tell& tell);

}  // namespace headrace::objects
