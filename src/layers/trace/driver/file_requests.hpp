// Records the requests that are made of one open file.
#pragma once

#include <vector>

#include "hdf5/report/events.hpp"
#include "layers/trace/recorder/current_call.hpp"
#include "layers/trace/recorder/recorder.hpp"
#include "vfd/requests.hpp"

namespace headrace::trace {

class FileRequests {
 public:
  // `level`: how many drivers of this layer are above.
  FileRequests(const char* name, const Rank& place, unsigned level);

  class Call {
   public:
    Call(FileRequests& file, vfd::RequestKind kind, bool together) noexcept;
    void piece(int type, std::uint64_t offset, std::uint64_t length, std::uint64_t span) noexcept;
    void start() noexcept { row_.begin = Recorder::now(); }
    void end(bool good) noexcept;

   private:
    void add(const vfd::Piece& piece) noexcept;

    Request row_;
    bool any_ = false;
    vfd::Piece first_{};
    std::vector<vfd::Piece> more_;
  };

 private:
  std::uint32_t file_;
};

}  // namespace headrace::trace
