// The pieces of a read.
#pragma once

#include "connectors/async/chunks/call.hpp"
#include "connectors/async/chunks/chunk_io.hpp"
#include "engine/ordered.hpp"

namespace headrace::async {

// On any thread: decodes a chunk, and delivers the piece of it unless it is to be converted.
// Returns the chunk, or nothing where it was decoded in its place, never with `keep`. Throws Error.
engine::Buffer decode_piece(const Call& call, const engine::Piece& piece, const StoredChunk& stored,
                            std::byte* program, bool keep);

// The same by a worker while the program waits for `ordered`; what is not read as a whole is kept
// in the cache.
void read_now(const Call& call, const engine::Piece& piece, StoredChunk stored, std::byte* program,
              engine::Ordered& ordered);

// False when the chunk is not in the cache.
bool deliver_cached(const Call& call, const engine::Piece& piece, std::byte* program);

}  // namespace headrace::async
