// One file that holds the logs of several ranks, in blocks that they have by turns. So each rank
// knows where its own are, and asks nobody; blocks that nothing is in yet are holes.
// docs/formats/log.md has it to the byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/io/file.hpp"
#include "engine/log/format.hpp"

namespace headrace::engine::log {

// What the file says of itself.
struct NodeFile {
  Owner owner{};
  std::uint32_t node = 0;
  std::uint32_t nodes = 1;           // that have such a file
  std::uint64_t block = 1 << 20;     // bytes
  std::vector<std::uint32_t> ranks;  // the places of their logs are those in here

  // Where the blocks begin in the file.
  [[nodiscard]] std::uint64_t begin() const;
  // Where a byte of a log is in the file.
  [[nodiscard]] std::uint64_t at(std::size_t place, std::uint64_t offset) const;

  bool operator==(const NodeFile&) const = default;
};

// `file`: an empty one. The logs are empty, too.
void make_node_file(io::File& file, const NodeFile& node);
// Throws Error when it is none.
NodeFile node_file_of(io::File& file);
bool is_node_file(io::File& file);
// Empties all logs, none of which anybody reads or writes meanwhile.
void empty_node_file(io::File& file, const NodeFile& node);

// The bytes of a log, which is not being written, in a file that has so many. Throws Error.
std::uint64_t length_of(io::File& file, const NodeFile& node, std::size_t place,
                        std::uint64_t bytes);

// A log, to be read, or written from its beginning: then it was empty, and the file tells its
// length whenever a write is done. What was never written are zeros.
std::unique_ptr<io::File> log_in(std::unique_ptr<io::File> file, const NodeFile& node,
                                 std::size_t place);

}  // namespace headrace::engine::log
