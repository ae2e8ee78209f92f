// The connector's cache of decoded chunks, and what is done with the chunks in it. The program's
// thread only.
#pragma once

#include "engine/cache/write_back.hpp"
#include "layers/async/connector/dataset.hpp"
#include "vol/dataset/touched.hpp"

namespace headrace::async {

// One for all datasets of the process; each file has a share.
engine::cache::WriteBack& cache();
// That of its chunks.
engine::cache::Room& cache_room();

// Whether no chunk is to be stored, and no dataset to be closed after that.
[[nodiscard]] bool nothing_waits();

// Stores what has been encoded behind the program; waits for nothing.
void store_encoded() noexcept;

// Stores the dirty chunks that are touched, and those of datasets that were opened through the
// connector; then closes datasets that the program has closed before. Chunks that cannot be stored
// are dropped; the next flush or close of their file tells of it. Costs nothing when none is dirty.
void store_chunks(const vol::Touched& touched = {},
                  const vol::UnderConnector* through = nullptr) noexcept;

// Bytes of dirty chunks that are stored through the connector, that is of its file.
[[nodiscard]] std::size_t unstored_bytes(const vol::UnderConnector& connector);

}  // namespace headrace::async
