// The parts of a read.
#pragma once

#include "engine/threads/ordered.hpp"
#include "layers/async/connector/chunks/chunk_io.hpp"
#include "layers/async/connector/chunks/chunk_transfer.hpp"

namespace headrace::async {

// On any thread: decodes a chunk, and delivers the part of it unless it is to be converted.
// Returns the chunk, or nothing where it was decoded in the program's memory, never with `keep`.
// Throws Error.
engine::Buffer decode_part(const ChunkTransfer& transfer, const Part& part,
                           std::span<const std::byte> stored, std::uint32_t mask,
                           std::byte* program, bool keep);

// Whether the cache keeps the chunk of a part that was read.
bool is_kept(const ChunkTransfer& transfer, const Part& part);

// On the program's thread, after decode_part(): what is left to do with what it returned.
void finish_part(const ChunkTransfer& transfer, const Part& part, std::uint32_t mask,
                 engine::Buffer chunk, std::byte* program);

// Has a worker decode a chunk while the program waits for `ordered`; what is not read as a whole is
// kept in the cache.
void read_now(const ChunkTransfer& transfer, const Part& part, StoredChunk stored,
              std::byte* program, engine::Ordered& ordered);

// False when the chunk is not in the cache.
bool deliver_cached(const ChunkTransfer& transfer, const Part& part, std::byte* program);

}  // namespace headrace::async
