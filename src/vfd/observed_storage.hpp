// The storage that worker threads use in place of an observing driver's callbacks
// (vfd/observing.hpp): its observer is told of the same.
#pragma once

#include <memory>
#include <utility>

#include "engine/io/file.hpp"
#include "vfd/requests.hpp"

namespace headrace::vfd {

template <typename Observer>
class ObservedStorage final : public engine::io::File {
 public:
  ObservedStorage(Observer& observer, std::unique_ptr<engine::io::File> under)
      : observer_(observer), under_(std::move(under)) {}

  void write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) override {
    transfer(RequestKind::write, offset, engine::io::total(pieces),
             [&] { under_->write(offset, pieces); });
  }

  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    transfer(RequestKind::read, offset, bytes.size(), [&] { under_->read(offset, bytes); });
  }

  void read_pieces(std::uint64_t offset, std::span<const std::span<std::byte>> pieces) override {
    transfer(RequestKind::read, offset, engine::io::total(pieces),
             [&] { under_->read_pieces(offset, pieces); });
  }

  void sync() override {
    Call call(observer_, RequestKind::flush, false);
    make(call, [&] { under_->sync(); });
  }

  void resize(std::uint64_t size) override {
    Call call(observer_, RequestKind::truncate, false);
    make(call, [&] { under_->resize(size); });
  }

 private:
  using Call = Observer::Call;

  // The pieces lie side by side in the file: they are one request there.
  template <typename Pass>
  void transfer(RequestKind kind, std::uint64_t offset, std::uint64_t length, Pass pass) {
    Call call(observer_, kind, false);
    call.piece(Piece::kUnknown, offset, length, length);
    make(call, pass);
  }

  template <typename Pass>
  static void make(Call& call, Pass pass) {
    call.start();
    try {
      pass();
    } catch (...) {
      call.end(false);
      throw;
    }
    call.end(true);
  }

  Observer& observer_;
  std::unique_ptr<engine::io::File> under_;
};

// Each function of `under` is one call to the observer, of data of unknown kind: a sync is a flush,
// a resize a truncation. Null if `under` is null. The observer must outlive it.
template <typename Observer>
std::unique_ptr<engine::io::File> observed(Observer& observer,
                                           std::unique_ptr<engine::io::File> under) {
  if (under == nullptr) return nullptr;
  return std::make_unique<ObservedStorage<Observer>>(observer, std::move(under));
}

}  // namespace headrace::vfd
