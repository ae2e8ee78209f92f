#include "layers/trace/driver/file_requests.hpp"

#include "base/report/json.hpp"

namespace headrace::trace {

FileRequests::FileRequests(const char* name, const Rank& place, unsigned level)
    : file_(Recorder::get().next_id()) {
  Recorder& recorder = Recorder::get();
  recorder.add_fact(JsonObject()
                        .number("storage", file_)
                        .text("name", recorder.told(name))
                        .number("level", level)
                        .number("rank", place.rank)
                        .number("ranks", place.ranks)
                        .number("call", static_cast<long long>(current_number()))
                        .str());
}

FileRequests::Call::Call(FileRequests& file, vfd::RequestKind kind, bool together) noexcept {
  row_.call = current_number();
  row_.kind = static_cast<std::uint32_t>(kind);
  row_.file = file.file_;
  row_.collective = together;
}

void FileRequests::Call::piece(int type, std::uint64_t offset, std::uint64_t length,
                               std::uint64_t span) noexcept {
  constexpr std::size_t kMost = 65536;  // what follows is told as one
  const vfd::Piece piece{type, offset, length, span};
  if (!std::exchange(any_, true)) {
    first_ = piece;
    return;
  }
  if (more_.size() == kMost) {
    more_.back().length += length;
    more_.back().span = offset + span - more_.back().offset;
    return;
  }
  try {
    more_.push_back(piece);
  } catch (const std::bad_alloc&) {  // the request is made nevertheless
  }
}

void FileRequests::Call::end(bool good) noexcept {
  Recorder& recorder = Recorder::get();
  if (!recorder.on()) return;
  row_.duration = Recorder::now() - row_.begin;
  row_.failed = !good;
  row_.thread = recorder.thread();
  add(first_);
  row_.duration = 0;
  for (const vfd::Piece& piece : more_) add(piece);
}

void FileRequests::Call::add(const vfd::Piece& piece) noexcept {
  row_.type = any_ && piece.type != vfd::Piece::kUnknown ? static_cast<std::uint32_t>(piece.type)
                                                         : kUnknownType;
  row_.offset = piece.offset;
  row_.length = piece.length;
  row_.span = piece.span;
  CurrentCall* const call = CurrentCall::current();
  if (Recorder::get().choices().sums && row_.call != 0)
    call->add_up(row_);
  else
    Recorder::get().add(row_);
}

}  // namespace headrace::trace
