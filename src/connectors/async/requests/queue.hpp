// Small explicit asynchronous reads and writes of one box. They wait until the program waits for
// one of them, or makes a call that could see whether they are done; those of one dataset that lie
// side by side, or within one another, are then carried out as one. Where reads turn out to be as
// fast as memory, a request would cost more than it saves: then they are made in the program's
// call, as natively. The application's thread only.
#pragma once

#include <cstddef>

#include "vol/object.hpp"

namespace headrace::async {

struct Request;

// Whether it is a small asynchronous read that is to be made at once.
bool better_at_once(vol::Object& object, hid_t mem_type, hid_t mem_space, void* const* req);
// Makes it.
herr_t read_at_once(vol::Object& object, hid_t mem_type, hid_t mem_space, hid_t file_space,
                    hid_t dxpl, void* buffer);

// Takes over a read or write; the buffer is the program's until then. False when it is not one for
// the queue: then the call is to be made at once, after carry_out_queue().
bool queue_read(vol::Object& object, hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl,
                void* buffer, void** req);
bool queue_write(vol::Object& object, hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl,
                 const void* buffer, void** req);

// Carries out all that waits, in the order of the calls as far as it matters. Errors are those of
// the requests. Costs nothing when none waits.
void carry_out_queue() noexcept;

// The request will not be carried out.
void remove_from_queue(Request& request);

}  // namespace headrace::async
