#include "kernels/e3sm/netcdf.hpp"

#include <algorithm>
#include <optional>

#include "base/error.hpp"

namespace headrace::bench::e3sm {
namespace {

enum Tag : std::uint32_t { kAbsent = 0, kDimensions = 10, kVariables = 11, kAttributes = 12 };
enum NcType : std::uint32_t { kInt = 4, kLastOfClassic = 6, kInt64 = 10, kLast = 11 };

// Bytes of a value; `type` is valid.
std::uint64_t bytes_in(std::uint32_t type) {
  constexpr std::uint64_t kSizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
  return kSizes[type];
}

constexpr std::uint64_t padded(std::uint64_t bytes) { return (bytes + 3) / 4 * 4; }

// a * b, or nothing when it overflows.
std::optional<std::uint64_t> product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8U | static_cast<unsigned char>(byte);
  return number;
}

}  // namespace

// Walks through the header. What it returns lies within the file.
class NetcdfFile::Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {
    if (bytes.size() < 4 || !bytes.starts_with("CDF")) fail("not a netCDF classic file");
    version_ = static_cast<unsigned char>(bytes[3]);
    if (version_ != 1 && version_ != 2 && version_ != 5) fail("unknown version of the format");
    at_ = 4;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(what + " (at byte " + std::to_string(at_) + ')');
  }

  std::uint32_t word() { return static_cast<std::uint32_t>(big_endian(take(4))); }

  // A count, length or dimension's number: 4 bytes, in CDF-5 8.
  std::uint64_t number() {
    const bool wide = version_ == 5;
    const std::uint64_t value = big_endian(take(wide ? 8 : 4));
    if (value >> (wide ? 63U : 31U) != 0) fail("negative number");
    return value;
  }

  // Where a variable begins: 4 bytes in CDF-1, else 8.
  std::uint64_t offset() {
    const std::uint64_t value = big_endian(take(version_ == 1 ? 4 : 8));
    if (value > bytes_.size()) fail("a variable begins behind the end of the file");
    return value;
  }

  void skip_record_count() {
    const std::string_view count = take(version_ == 5 ? 8 : 4);
    const bool streaming = count.find_first_not_of('\xff') == std::string_view::npos;
    if (!streaming && (static_cast<unsigned char>(count[0]) & 0x80U) != 0)
      fail("negative number of records");
  }

  std::string name() {
    const std::uint64_t length = number();
    if (length == 0) fail("a name is empty");
    std::string text(block(length));
    if (text.find('\0') != std::string::npos) fail("a name has a null byte in it");
    return text;
  }

  std::uint32_t type() {
    const std::uint32_t type = word();
    if (type == 0 || type > (version_ == 5 ? kLast : kLastOfClassic)) fail("unknown data type");
    return type;
  }

  // The number of members of a list, 0 when it is absent. Each has at least 4 bytes.
  std::uint64_t members(Tag tag) {
    const std::uint32_t found = word();
    const std::uint64_t count = number();
    if (found == kAbsent && count == 0) return 0;
    if (found != tag) fail("expected the list with tag " + std::to_string(tag));
    if (count > rest() / 4) fail("a list has more members than the file can hold");
    return count;
  }

  // Bytes and what pads them to a multiple of four.
  std::string_view block(std::uint64_t length) {
    if (length > rest()) fail("the file ends here");
    const std::string_view all = take(std::min(padded(length), rest()));
    if (all.size() != padded(length)) fail("the file ends here");
    if (all.substr(length).find_first_not_of('\0') != std::string_view::npos)
      fail("padding is not zero");
    return all.substr(0, length);
  }

  [[nodiscard]] std::uint64_t at() const { return at_; }
  [[nodiscard]] std::uint64_t rest() const { return bytes_.size() - at_; }

 private:
  std::string_view take(std::uint64_t count) {
    if (count > rest()) fail("the file ends here");
    const std::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }

  std::string_view bytes_;
  std::uint64_t at_ = 0;
  unsigned version_ = 0;
};

NetcdfFile::NetcdfFile(std::string_view bytes) : bytes_(bytes) {
  Reader reader(bytes);
  reader.skip_record_count();
  read_dimensions(reader);
  attributes_ = read_attributes(reader);
  read_variables(reader);
}

void NetcdfFile::read_dimensions(Reader& reader) {
  for (std::uint64_t left = reader.members(kDimensions); left > 0; --left) {
    std::string name = reader.name();
    const std::uint64_t length = reader.number();
    for (const Dimension& other : dimensions_) {
      if (other.name == name) reader.fail("two dimensions " + name);
      if (other.length == 0 && length == 0) reader.fail("two record dimensions");
    }
    dimensions_.push_back({std::move(name), length});
  }
}

std::map<std::string, NetcdfFile::Values> NetcdfFile::read_attributes(Reader& reader) {
  std::map<std::string, Values> all;
  for (std::uint64_t left = reader.members(kAttributes); left > 0; --left) {
    const std::string name = reader.name();
    const std::uint32_t type = reader.type();
    const std::uint64_t count = reader.number();
    const auto size = product(count, bytes_in(type));
    if (!size) reader.fail("attribute " + name + " is too large");
    const std::uint64_t begin = reader.at();
    reader.block(*size);
    if (!all.emplace(name, Values{type, count, begin}).second)
      reader.fail("two attributes " + name);
  }
  return all;
}

void NetcdfFile::read_variables(Reader& reader) {
  for (std::uint64_t left = reader.members(kVariables); left > 0; --left) read_variable(reader);
}

void NetcdfFile::read_variable(Reader& reader) {
  const std::string name = reader.name();
  const std::uint64_t rank = reader.number();
  if (rank > reader.rest() / 4) reader.fail("variable " + name + " has too many dimensions");
  std::uint64_t count = 1;
  bool record = false;
  for (std::uint64_t i = 0; i < rank; ++i) {
    const std::uint64_t id = reader.number();
    if (id >= dimensions_.size()) reader.fail("variable " + name + " has an unknown dimension");
    record = record || dimensions_[id].length == 0;
    const auto more = product(count, record ? 1 : dimensions_[id].length);
    if (!more) reader.fail("variable " + name + " is too large");
    count = *more;
  }
  read_attributes(reader);
  const std::uint32_t type = reader.type();
  reader.number();  // its size, which follows from the above and is not reliable for large ones
  const std::uint64_t begin = reader.offset();
  if (!record && count > (bytes_.size() - begin) / bytes_in(type))
    reader.fail("variable " + name + " ends behind the end of the file");
  // Maps have none with records: such a one is as good as absent.
  if (record) return;
  if (!variables_.emplace(name, Values{type, count, begin}).second)
    reader.fail("two variables " + name);
}

std::vector<std::int64_t> NetcdfFile::integers(const std::string& name,
                                               const Values& values) const {
  if (values.type != kInt && values.type != kInt64)
    throw Error(name + " is not of type int or int64");
  const std::uint64_t size = bytes_in(values.type);
  std::vector<std::int64_t> all(values.count);
  for (std::uint64_t i = 0; i < values.count; ++i) {
    const std::uint64_t bits = big_endian(bytes_.substr(values.begin + i * size, size));
    all[i] = size == 4 ? static_cast<std::int32_t>(bits) : static_cast<std::int64_t>(bits);
  }
  return all;
}

std::uint64_t NetcdfFile::dimension(const std::string& name) const {
  for (const Dimension& each : dimensions_)
    if (each.name == name) return each.length;
  throw Error("no dimension " + name);
}

std::vector<std::int64_t> NetcdfFile::integers_of_attribute(const std::string& name) const {
  const auto found = attributes_.find(name);
  if (found == attributes_.end()) throw Error("no attribute " + name);
  return integers(name, found->second);
}

std::vector<std::int64_t> NetcdfFile::integers_of_variable(const std::string& name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end()) throw Error("no variable " + name);
  return integers(name, found->second);
}

}  // namespace headrace::bench::e3sm
