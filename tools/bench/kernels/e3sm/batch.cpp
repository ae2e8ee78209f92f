#include "kernels/e3sm/batch.hpp"

#include <headrace/log.h>

namespace headrace::bench::e3sm {
namespace {

template <typename Action>
void with_type(Type type, const Action& action) {
  switch (type) {
    case Type::character:
      return action(char{});
    case Type::integer:
      return action(std::int32_t{});
    case Type::real:
      return action(float{});
    case Type::double_real:
      return action(double{});
  }
}

}  // namespace

Batch::Batch(const Plan& plan, std::size_t rank, hsize_t record, bool takes_part, bool collective)
    : plan_(plan), rank_(rank), record_(record) {
  constexpr std::size_t kAlignment = 8;
  std::size_t size = 0;
  for (std::size_t i = 0; i < plan.fields.size(); ++i) {
    const Field& field = plan.fields[i];
    if (!field.record && record > 0) continue;
    Request request{i, false, {}, size};
    if (takes_part) request.pieces = field.pieces(rank);
    request.owned = !request.pieces.empty();
    if (!request.owned && !collective) continue;
    for (const Piece& piece : request.pieces) size += piece.count * size_of(field.type);
    size = (size + kAlignment - 1) / kAlignment * kAlignment;
    requests_.push_back(std::move(request));
  }
  buffer_.resize(size + kAlignment);  // never empty: some HDF5 calls refuse a null pointer
}

template <typename Action>
std::uint64_t Batch::each_piece(const Action& action) {
  std::uint64_t bytes = 0;
  for (const Request& request : requests_) {
    const Field& field = plan_.fields[request.field];
    with_type(field.type, [&]<typename T>(T) {
      T* next = reinterpret_cast<T*>(buffer_.data() + request.begin);
      for (const Piece& piece : request.pieces) {
        action(std::span<T>(next, piece.count), field.name,
               record_ * field.elements() + piece.first);
        next += piece.count;
        bytes += piece.count * sizeof(T);
      }
    });
  }
  return bytes;
}

std::uint64_t Batch::fill() {
  return each_piece([]<typename T>(std::span<T> part, const std::string& name, hsize_t first) {
    bench::fill<T>(part, key_of(name), first);
  });
}

std::uint64_t Batch::verify() {
  return each_piece([]<typename T>(std::span<T> part, const std::string& name, hsize_t first) {
    bench::verify<T>(part, key_of(name), first, name);
  });
}

void Batch::select(const HistoryFile& file, Calls calls, Building building, hsize_t records) {
  Selections selections(building, rank_, record_, records);
  arguments_ = {};
  boxes_.clear();
  for (const Request& request : requests_) {
    const Field& field = plan_.fields[request.field];
    if (calls == Calls::boxes) {
      boxes_.push_back(field.extents(records).empty() ? nullptr : selections.boxes_of(field));
      continue;
    }
    arguments_.spaces.push_back(selections.of(field, request.owned));
    arguments_.datasets.push_back(file.datasets[request.field].get());
    arguments_.types.push_back(file.types[request.field].get());
    arguments_.memory.push_back(arguments_.spaces.back()->memory.get());
    arguments_.files.push_back(arguments_.spaces.back()->file.get());
    arguments_.buffers.push_back(buffer_.data() + request.begin);
  }
}

void Batch::write_boxes(const HistoryFile& file, hid_t dxpl) {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const Request& request = requests_[i];
    const std::string& name = plan_.fields[request.field].name;
    const hid_t dataset = file.datasets[request.field].get();
    const hid_t type = file.types[request.field].get();
    const std::byte* buffer = buffer_.data() + request.begin;
    const auto& boxes = boxes_[i];
    if (boxes == nullptr)
      check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, dxpl, buffer), "write " + name);
    else
      check(headrace_write_n(dataset, type, boxes->n, boxes->start.data(), boxes->count.data(),
                             buffer),
            "write " + name);
  }
}

void Batch::write(Run& run, const HistoryFile& file, Calls calls, hid_t dxpl) {
  if (calls == Calls::boxes) {
    write_boxes(file, dxpl);
    return;
  }
  Arguments& all = arguments_;
  if (calls == Calls::multi) {
    std::vector<const void*> buffers(all.buffers.begin(), all.buffers.end());
    check(H5Dwrite_multi(all.datasets.size(), all.datasets.data(), all.types.data(),
                         all.memory.data(), all.files.data(), dxpl, buffers.data()),
          "write all variables");
    run.transferred(dxpl);
    return;
  }
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    check(
        H5Dwrite(all.datasets[i], all.types[i], all.memory[i], all.files[i], dxpl, all.buffers[i]),
        "write " + plan_.fields[requests_[i].field].name);
    run.transferred(dxpl);
  }
}

void Batch::read(Run& run, Calls calls, hid_t dxpl) {
  Arguments& all = arguments_;
  if (calls == Calls::multi) {
    check(H5Dread_multi(all.datasets.size(), all.datasets.data(), all.types.data(),
                        all.memory.data(), all.files.data(), dxpl, all.buffers.data()),
          "read all variables");
    run.transferred(dxpl);
    return;
  }
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    check(H5Dread(all.datasets[i], all.types[i], all.memory[i], all.files[i], dxpl, all.buffers[i]),
          "read " + plan_.fields[requests_[i].field].name);
    run.transferred(dxpl);
  }
}

}  // namespace headrace::bench::e3sm
