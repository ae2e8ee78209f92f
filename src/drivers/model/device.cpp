#include "drivers/model/device.hpp"

#include <utility>

namespace headrace::model {
namespace {

class RecordedDevice final : public engine::Device {
 public:
  RecordedDevice(Recorder& recorder, std::unique_ptr<engine::Device> under)
      : recorder_(recorder), under_(std::move(under)) {}

  void write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) override {
    std::uint64_t length = 0;
    for (const auto piece : pieces) length += piece.size();
    transfer(Kind::write, offset, length, [&] { under_->write(offset, pieces); });
  }

  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    transfer(Kind::read, offset, bytes.size(), [&] { under_->read(offset, bytes); });
  }

  void sync() override {
    Recorder::Call call(recorder_, Kind::flush, false);
    make(call, [&] { under_->sync(); });
  }

  void resize(std::uint64_t size) override {
    Recorder::Call call(recorder_, Kind::truncate, false);
    make(call, [&] { under_->resize(size); });
  }

 private:
  // The pieces lie side by side in the file: they are one request there.
  template <typename Below>
  void transfer(Kind kind, std::uint64_t offset, std::uint64_t length, Below below) {
    Recorder::Call call(recorder_, kind, false);
    call.piece(Recorder::Call::kUnknown, offset, length, length);
    make(call, below);
  }

  template <typename Below>
  static void make(Recorder::Call& call, Below below) {
    call.start();
    try {
      below();
    } catch (...) {
      call.end(false);
      throw;
    }
    call.end(true);
  }

  Recorder& recorder_;
  std::unique_ptr<engine::Device> under_;
};

}  // namespace

std::unique_ptr<engine::Device> recorded(Recorder& recorder,
                                         std::unique_ptr<engine::Device> under) {
  if (under == nullptr) return nullptr;
  return std::make_unique<RecordedDevice>(recorder, std::move(under));
}

}  // namespace headrace::model
