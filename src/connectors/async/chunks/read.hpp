// The parts of a read.
#pragma once

#include "connectors/async/chunks/chunk_io.hpp"
#include "connectors/async/chunks/chunk_transfer.hpp"
#include "engine/threads/ordered.hpp"

namespace headrace::async {

// On any thread: decodes a chunk, and delivers the part of it unless it is to be converted.
// Returns the chunk, or nothing where it was decoded in the program's memory, never with `keep`.
// Throws Error.
engine::Buffer decode_part(const ChunkTransfer& transfer, const Part& part,
                           const StoredChunk& stored, std::byte* program, bool keep);

// Has a worker decode a chunk while the program waits for `ordered`; what is not read as a whole is
// kept in the cache.
void read_now(const ChunkTransfer& transfer, const Part& part, StoredChunk stored,
              std::byte* program, engine::Ordered& ordered);

// False when the chunk is not in the cache.
bool deliver_cached(const ChunkTransfer& transfer, const Part& part, std::byte* program);

}  // namespace headrace::async
