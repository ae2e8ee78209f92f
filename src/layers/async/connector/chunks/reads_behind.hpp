// Explicit asynchronous reads of chunks, which are decoded into the program's memory while it goes
// on. What is stored of them has been read when the call returns. The application's thread only.
#pragma once

#include <memory>

#include "layers/async/connector/dataset.hpp"

namespace headrace::async {

// Whether a read is large enough, and such that workers can do it.
bool may_read_behind(const Dataset& dataset, const Transfer& transfer);

// As read_parts(). `req` becomes the request where something is left to do; the memory is the
// program's until then. The transfer is one that may be read behind.
void read_parts_behind(const std::shared_ptr<Dataset>& dataset, const Transfer& transfer,
                       hid_t dxpl, std::byte* program, void** req);

// Ends the requests of what has been decoded; with `all`, after waiting for the rest.
void end_reads(bool all) noexcept;

}  // namespace headrace::async
