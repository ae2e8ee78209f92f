// The patterns on texts and on rows of a compound type.
#include <algorithm>

#include "base/error.hpp"
#include "kernels/h5py/pattern.hpp"
#include "kernels/particles/record.hpp"
#include "scratch.hpp"

namespace headrace::bench::h5py {
namespace {

constexpr const char* kTexts = "texts";
constexpr const char* kTable = "table";
constexpr std::size_t kFixedLength = 24;
constexpr std::uint64_t kLongest = 64;

// 1 to 24 letters; a fixed text ends with zeros, which HDF5 does not count to it.
std::string text_at(std::uint64_t row) {
  constexpr std::uint64_t kKey = key_of(kTexts);
  const std::size_t length = 1 + value<std::uint64_t>(kKey, row * kLongest) % kFixedLength;
  std::string text(length, ' ');
  for (std::size_t i = 0; i < length; ++i)
    text[i] = static_cast<char>('a' + value<std::uint8_t>(kKey, row * kLongest + 1 + i) % 26);
  return text;
}

std::uint64_t text_bytes(std::uint64_t first, std::uint64_t count) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) sum += text_at(first + i).size();
  return sum;
}

// h5py's types: UTF-8 of variable length, and bytes padded with zeros.
Handle text_type(bool variable) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "text type");
  check(H5Tset_size(type.get(), variable ? H5T_VARIABLE : kFixedLength), "text size");
  if (variable)
    check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "text encoding");
  else
    check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "text padding");
  return type;
}

// A block of texts in memory, as H5Dwrite takes it.
class TextBlock {
 public:
  TextBlock(bool variable, std::uint64_t rows)
      : variable_(variable), pointers_(rows), fixed_(variable ? 0 : rows * kFixedLength) {}

  void fill(std::uint64_t first, std::uint64_t count) {
    texts_.clear();
    for (std::uint64_t i = 0; i < count; ++i) texts_.push_back(text_at(first + i));
    std::ranges::fill(fixed_, '\0');
    for (std::uint64_t i = 0; i < count; ++i) {
      pointers_[i] = texts_[i].data();
      if (!variable_) std::ranges::copy(texts_[i], fixed_.data() + i * kFixedLength);
    }
  }
  void clear() {
    std::ranges::fill(pointers_, nullptr);
    std::ranges::fill(fixed_, '?');
  }
  void verify(std::uint64_t first, std::uint64_t count) const {
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string expected = text_at(first + i);
      if (const std::string found = text(i); found != expected)
        throw_mismatch(kTexts, first + i, expected, found);
    }
  }
  void* data() {
    return variable_ ? static_cast<void*>(pointers_.data()) : static_cast<void*>(fixed_.data());
  }
  // Frees what H5Dread has allocated.
  void reclaim(const Handle& type, hsize_t count) {
    if (!variable_) return;
    const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose, "dataspace");
    check(H5Treclaim(type.get(), space.get(), H5P_DEFAULT, data()), "free texts");
  }

 private:
  [[nodiscard]] std::string text(std::uint64_t i) const {
    if (variable_) return pointers_[i] == nullptr ? "" : pointers_[i];
    std::string whole(fixed_.data() + i * kFixedLength, kFixedLength);
    whole.erase(whole.find_last_not_of('\0') + 1);
    return whole;
  }

  bool variable_;
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
  std::vector<char> fixed_;
};

class Strings final : public Pattern {
 public:
  Strings(const Shape& shape, bool variable)
      : Pattern(variable ? "strings-variable" : "strings-fixed", shape,
                variable ? text_bytes(0, shape.rows) : shape.rows * kFixedLength),
        variable_(variable) {}

 protected:
  void fill(Run& run, hid_t file) override {
    const Handle type = text_type(variable_);
    RowDataset dataset = run.timed(Phase::create, [&] {
      return RowDataset::create(file, kTexts, type.get(), {0},
                                chunked(guessed_chunk({0}, H5Tget_size(type.get()))));
    });
    Scratch<TextBlock> texts(run, variable_, shape().block);
    each_block(run, shape().rows, shape().block, [&](std::uint64_t first, std::uint64_t count) {
      run.untimed([&] { texts->fill(first, count); });
      run.timed(Phase::write, [&] {
        dataset.grow(first + count);
        dataset.write(first, count, type.get(), texts->data());
      });
      run.wrote(payload(run, first, count));
      run.compute();
    });
    run.timed(Phase::close, [&] { dataset.close(); });
  }

  void drain(Run& run, hid_t file) override {
    const Handle type = text_type(variable_);
    RowDataset dataset = run.timed(
        Phase::open, [&] { return RowDataset::open(file, kTexts, type.get(), {shape().rows}); });
    Scratch<TextBlock> texts(run, variable_, shape().block);
    each_block(run, shape().rows, shape().block, [&](std::uint64_t first, std::uint64_t count) {
      run.untimed([&] { texts->clear(); });
      run.timed(Phase::read, [&] { dataset.read(first, count, type.get(), texts->data()); });
      run.untimed([&] { texts->verify(first, count); });
      run.timed(Phase::read, [&] { texts->reclaim(type, count); });
      run.has_read(payload(run, first, count));
      run.compute();
    });
    run.timed(Phase::close_read, [&] { dataset.close(); });
  }

 private:
  [[nodiscard]] std::uint64_t payload(Run& run, std::uint64_t first, std::uint64_t count) const {
    if (!variable_) return count * kFixedLength;
    return run.untimed([&] { return text_bytes(first, count); });
  }

  bool variable_;
};

const particles::Record& table_record() {
  using particles::Scalar;
  static const particles::Record kRecord({{"time", Scalar::i64},
                                          {"x", Scalar::f32},
                                          {"y", Scalar::f32},
                                          {"z", Scalar::f32},
                                          {"channel", Scalar::u16},
                                          {"count", Scalar::i32}});
  return kRecord;
}

class Table final : public Pattern {
 public:
  explicit Table(const Shape& shape)
      : Pattern("table-append", shape, shape.rows * table_record().packed_size()) {}

 protected:
  void fill(Run& run, hid_t file) override {
    const particles::Record& record = table_record();
    const Handle in_file = record.file_compound();
    const Handle in_memory = record.memory_compound();
    RowDataset dataset = run.timed(Phase::create, [&] {
      return RowDataset::create(file, kTable, in_file.get(), {0},
                                chunked(guessed_chunk({0}, record.packed_size())));
    });
    Scratch<std::vector<std::byte>> rows(run, shape().block * record.memory_size());
    each_block(run, shape().rows, shape().block, [&](std::uint64_t first, std::uint64_t count) {
      run.untimed([&] { each_member(*rows, first, count, particles::fill_values); });
      run.timed(Phase::write, [&] {
        dataset.grow(first + count);
        dataset.write(first, count, in_memory.get(), rows->data());
      });
      run.wrote(count * record.packed_size());
      run.compute();
    });
    run.timed(Phase::close, [&] { dataset.close(); });
  }

  void drain(Run& run, hid_t file) override {
    const particles::Record& record = table_record();
    const Handle in_file = record.file_compound();
    const Handle in_memory = record.memory_compound();
    RowDataset dataset = run.timed(
        Phase::open, [&] { return RowDataset::open(file, kTable, in_file.get(), {shape().rows}); });
    Scratch<std::vector<std::byte>> rows(run, shape().block * record.memory_size());
    each_block(run, shape().rows, shape().block, [&](std::uint64_t first, std::uint64_t count) {
      run.untimed([&] { std::ranges::fill(*rows, std::byte{0xff}); });
      run.timed(Phase::read, [&] { dataset.read(first, count, in_memory.get(), rows->data()); });
      run.untimed([&] {
        each_member(*rows, first, count,
                    [](const std::byte* from, std::size_t step, particles::Scalar scalar,
                       std::uint64_t key, const particles::Pick& pick) {
                      particles::verify_values(from, step, scalar, key, pick, kTable);
                    });
      });
      run.has_read(count * record.packed_size());
      run.compute();
    });
    run.timed(Phase::close_read, [&] { dataset.close(); });
  }

 private:
  // Calls action for each member of the rows.
  template <typename Action>
  static void each_member(std::vector<std::byte>& rows, std::uint64_t first, std::uint64_t count,
                          const Action& action) {
    const particles::Record& record = table_record();
    const particles::Pick pick = particles::Pick::slab(first, count);
    for (std::size_t i = 0; i < record.variables().size(); ++i) {
      const particles::Variable& member = record.variables()[i];
      action(rows.data() + record.memory_offset(i), record.memory_size(), member.scalar,
             key_of(member.name), pick);
    }
  }
};

}  // namespace

std::unique_ptr<Workload> strings(const Shape& shape, bool variable) {
  return std::make_unique<Strings>(shape, variable);
}
std::unique_ptr<Workload> table(const Shape& shape) { return std::make_unique<Table>(shape); }

}  // namespace headrace::bench::h5py
