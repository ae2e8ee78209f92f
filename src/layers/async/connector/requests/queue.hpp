// Small explicit asynchronous reads and writes of one block. They wait until the program waits for
// one of them, or makes a call that could see whether they are done; those of one dataset that lie
// side by side, or within one another, are then carried out as one. Where reads turn out to be as
// fast as memory, a request would cost more than it saves: then they are made in the program's
// call, as natively. The program's thread only.
#pragma once

#include "layers/async/connector/dataset.hpp"

namespace headrace::async {

struct Request;

[[nodiscard]] bool queue_is_empty();

// Takes over a read or write of a plain block. `buffer`: the program's, which is not touched again
// once `req`, which becomes the request, is complete; a write leaves its bytes as they are.
void enqueue(vol::Object& object, Elements& elements, const Transfer& transfer, bool writes,
             std::byte* buffer, void** req);

// Carries out all that waits, in the order of the calls as far as it matters. Errors are those of
// the requests. Costs nothing when none waits.
void carry_out_queue() noexcept;

// The request will not be carried out.
void remove_from_queue(Request& request);

}  // namespace headrace::async
