#include "layers/fault/driver/faulty_file.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "layers/fault/driver/gate.hpp"

namespace headrace::fault {
namespace {

using Bytes = std::span<const std::byte>;

// The leading bytes of the pieces.
std::vector<Bytes> first(std::span<const Bytes> pieces, std::uint64_t bytes) {
  std::vector<Bytes> result;
  for (const Bytes piece : pieces) {
    if (bytes == 0) break;
    result.push_back(piece.first(std::min<std::uint64_t>(piece.size(), bytes)));
    bytes -= result.back().size();
  }
  return result;
}

class FaultyFile final : public engine::io::File {
 public:
  FaultyFile(fault::File& file, std::unique_ptr<engine::io::File> under)
      : file_(file), under_(std::move(under)) {}

  void write(std::uint64_t offset, std::span<const Bytes> pieces) override {
    const UnderWay under_way(file_.disk != nullptr);
    note_write(file_, offset, pieces);
    const Verdict verdict =
        inject(*file_.plan, request(Op::write, offset, engine::io::total(pieces)));
    if (verdict.ok())
      under_->write(offset, pieces);
    else if (verdict.bytes > 0)
      under_->write(offset, first(pieces, verdict.bytes));
    verdict.raise();
  }

  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    const Verdict verdict = inject(*file_.plan, request(Op::read, offset, bytes.size()));
    if (verdict.ok() || verdict.bytes > 0) under_->read(offset, bytes.first(verdict.bytes));
    verdict.raise();
  }

  void sync() override {
    const UnderWay under_way(file_.disk != nullptr);
    const std::uint64_t before = noted(file_);
    inject(*file_.plan, file_.operation(Op::flush)).raise();
    under_->sync();
    note_flush(file_, false, before);
  }

  void resize(std::uint64_t size) override {
    const UnderWay under_way(file_.disk != nullptr);
    note_resize(file_, size);
    inject(*file_.plan, file_.operation(Op::truncate)).raise();
    under_->resize(size);
  }

 private:
  [[nodiscard]] Operation request(Op op, std::uint64_t offset, std::uint64_t length) const {
    return {op, file_.path, file_.rank, Data::any, offset, length};
  }

  fault::File& file_;
  std::unique_ptr<engine::io::File> under_;
};

}  // namespace

std::unique_ptr<engine::io::File> faulty(fault::File& file,
                                         std::unique_ptr<engine::io::File> under) {
  if (under == nullptr) return nullptr;
  return std::make_unique<FaultyFile>(file, std::move(under));
}

}  // namespace headrace::fault
