// From a driver's callback to the pieces that the recorder is told of.
#pragma once

#include "drivers/model/recorder.hpp"
#include "vfd/file.hpp"

namespace headrace::model {

struct OpenFile : vfd::File {
  std::unique_ptr<Recorder> recorder;
};

// The arguments of the callbacks that say which bytes of the file they are about.
struct Nothing {};
struct Block {
  H5FD_mem_t type;
  haddr_t address;
  std::size_t size;
};
struct Vector {
  std::uint32_t count;
  const H5FD_mem_t* types;
  const haddr_t* addresses;
  const std::size_t* sizes;
};
struct Selections {
  H5FD_mem_t type;
  std::size_t count;
  const hid_t* spaces;
  const haddr_t* offsets;
  const std::size_t* elements;
};

inline void tell(Recorder::Call& /*call*/, const Nothing& /*nothing*/, bool /*collective*/) {}
void tell(Recorder::Call& call, const Block& block, bool collective);
void tell(Recorder::Call& call, const Vector& vector, bool collective);
void tell(Recorder::Call& call, const Selections& selections, bool collective);

// Whether all ranks make the call in progress together.
bool made_together(Kind kind, vfd::Over over);

// Gives an open file its recorder. Throws when there is no memory.
void record(H5FD_t* file, Configuration configuration, const char* name);

// Calls `below` and records it. Over mpio what is known of a call is only known within it.
template <typename Arguments, typename Below>
herr_t observe(H5FD_t* file, Kind kind, const Arguments& arguments, vfd::Over over, Below below) {
  Recorder& recorder = *reinterpret_cast<OpenFile*>(file)->recorder;
  const bool together = made_together(kind, over);
  Recorder::Call call(recorder, kind, together);
  tell(call, arguments, together);
  call.start();
  const herr_t result = below();
  call.end(result >= 0);
  return result;
}

}  // namespace headrace::model
