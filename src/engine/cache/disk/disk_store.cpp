#include "engine/cache/disk/disk_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/process/machine.hpp"
#include "base/process/size_signal.hpp"
#include "engine/checksum.hpp"

namespace headrace::engine::cache {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::uint32_t kMinute = 60;
constexpr std::uint32_t kStays = 10 * kMinute;  // after its last use
constexpr std::int64_t kAgain = kSecond / 10;

// Bytes that stand for what is locked: who gives slabs to classes, and each way of each slab.
constexpr off_t kGrowing = off_t{1} << 59U;
constexpr off_t kWays = off_t{1} << 60U;

constexpr std::uint64_t kGenerationAt = offsetof(Header, left);  // this file's use of that word
constexpr std::size_t kTableAt = sizeof(Header);

std::uint32_t now() { return static_cast<std::uint32_t>(since_1970() / kSecond); }

std::uint32_t checksum_of(const std::array<std::uint64_t, Way::kKeyWords>& key) {
  return checksum(std::as_bytes(std::span(key)));
}

bool read_at(int descriptor, std::uint64_t at, std::span<std::byte> to) {
  while (!to.empty()) {
    const ssize_t done = ::pread(descriptor, to.data(), to.size(), static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    to = to.subspan(static_cast<std::size_t>(done));
    at += static_cast<std::uint64_t>(done);
  }
  return true;
}

bool write_at(int descriptor, std::uint64_t at, std::span<const std::byte> from) {
  while (!from.empty()) {
    const ssize_t done = ::pwrite(descriptor, from.data(), from.size(), static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    from = from.subspan(static_cast<std::size_t>(done));
    at += static_cast<std::uint64_t>(done);
  }
  return true;
}

template <typename T>
std::span<std::byte> bytes_of(T& value) {
  return {reinterpret_cast<std::byte*>(&value), sizeof value};
}

// A quarter of what the disk has left.
std::uint64_t usual_size(int descriptor) {
  struct statvfs status{};
  if (::fstatvfs(descriptor, &status) != 0) return 0;
  return std::uint64_t{status.f_bavail} * status.f_frsize / 4;
}

void make(int descriptor, const std::string& folder, std::uint64_t size) {
  const Layout layout = Layout::for_disk(size > 0 ? size : usual_size(descriptor));
  if (!layout.is_sound(kLargestOnDisk))
    throw Error("too little room for chunks in " + folder, ErrorKind::no_space);
  const NoSizeSignal no_signal;
  if (::ftruncate(descriptor, static_cast<off_t>(layout.bytes())) != 0)
    throw Error("cannot make the file of chunks in " + folder, errno);
  reserve(descriptor, 0, sizeof(Fixed));
  const std::array<std::uint64_t, 4> begin{kDiskMagic, layout.slab_bytes, layout.slabs, 0};
  if (!write_at(descriptor, 0, std::as_bytes(std::span(begin))))
    throw Error("cannot write to the file of chunks in " + folder, errno);
  ::fsync(descriptor);  // a power cut is to leave no file that says nothing
}

Layout layout_of(int descriptor, const std::string& folder) {
  std::array<std::uint64_t, 3> begin{};
  struct stat status{};
  const bool read = read_at(descriptor, 0, std::as_writable_bytes(std::span(begin))) &&
                    ::fstat(descriptor, &status) == 0;
  const Layout layout{begin[1], begin[2]};
  if (!read || begin[0] != kDiskMagic || !layout.is_sound(kLargestOnDisk) ||
      static_cast<std::size_t>(status.st_size) != layout.bytes())
    throw Error(folder + "/" + kDiskFile + " is damaged", ErrorKind::corrupt);
  return layout;
}

bool is_filled(const DiskWay& way) { return way.state % 2 == 0 && way.tag != 0; }

bool has(const DiskWay& way, const Key& key) {
  return is_filled(way) && way.tag == hash_of(key) && way.key == words_of(key);
}

}  // namespace

DiskStore::DiskStore(std::string folder, std::uint64_t size) : folder_(std::move(folder)) {
  open(size);
}

void DiskStore::open(std::uint64_t size) {
  file_ =
      open_private(folder_, kDiskFile, [&](int descriptor) { make(descriptor, folder_, size); });
  file_.note_file();
  layout_ = layout_of(file_.get(), folder_);
  table_ = std::make_shared<Fixed>();
}

// Another thread may have had the mutexes.
void DiskStore::begin_child() {
  file_.reopen();
  new (&mutex_) std::mutex;
  new (&keeping_) std::mutex;
}

// While another process changes it, as it was before.
DiskStore::Table DiskStore::table() {
  const auto generation = [this] {
    std::uint64_t word = 1;
    return read_at(file_.get(), kGenerationAt, bytes_of(word)) ? word : 1;
  };
  const std::lock_guard lock(mutex_);
  const std::uint64_t is = generation();
  if (is == generation_ || is % 2 != 0) return table_;
  auto read = std::make_shared<Fixed>();
  const auto all = bytes_of(*read);
  if (!read_at(file_.get(), kTableAt, all.subspan(kTableAt)) || generation() != is) return table_;
  generation_ = is;
  table_ = std::move(read);
  return table_;
}

std::uint64_t DiskStore::at_way(const Found& found) const {
  return layout_.ways_of(found.places.slab) + found.way * sizeof(DiskWay);
}

std::uint64_t DiskStore::at_data(const Found& found) const {
  return layout_.data_of(found.places.slab) + found.way * bytes_of_class(found.places.of_class);
}

bool DiskStore::read_way(const Found& found, DiskWay& way) const {
  return read_at(file_.get(), at_way(found), bytes_of(way));
}

std::vector<DiskStore::Found> DiskStore::ways_of(const Places& places) const {
  std::array<DiskWay, kSet> ways{};
  const auto read = std::span(ways).first(places.count);
  std::vector<Found> found;
  if (!read_at(file_.get(), at_way({places, places.first, {}}), std::as_writable_bytes(read)))
    return found;
  for (std::size_t i = 0; i < read.size(); ++i)
    found.push_back({places, places.first + i, read[i]});
  return found;
}

bool DiskStore::load(const Key& key, std::span<std::byte> chunk) {
  const std::size_t of_class = class_of(chunk.size());
  if (of_class == kClasses || !file_.has_noted_file()) return false;
  const Table table = this->table();
  const SlabTable slabs(*table, layout_);
  SlabTable::Walk walk(slabs, of_class, hash_of(key));
  for (Places places; walk.next(places);)
    for (const Found& found : ways_of(places))
      if (has(found.is, key)) return load_from(found, key, chunk);
  return false;
}

bool DiskStore::load_from(const Found& found, const Key& key, std::span<std::byte> chunk) {
  DiskWay after;
  if (found.is.length != chunk.size() || !read_at(file_.get(), at_data(found), chunk) ||
      !read_way(found, after) || after.state != found.is.state || !has(after, key))
    return false;
  if (checksum(chunk, checksum_of(found.is.key)) != found.is.checksum) {
    const Table table = this->table();
    if (!SlabTable(*table, layout_).has(found.places)) return false;  // another class's by now
    ++damaged_;
    drop(found);
    return false;
  }
  if (now() > found.is.used + kMinute) touch(found);
  return true;
}

// Whoever fills the place meanwhile writes all of its way once more.
void DiskStore::touch(const Found& found) const {
  const NoSizeSignal no_signal;
  const std::uint32_t used = now();
  const auto at = at_way(found) + offsetof(DiskWay, used);
  write_at(file_.get(), at, std::as_bytes(std::span(&used, 1)));
}

void DiskStore::drop(const Found& found) const {
  const NoSizeSignal no_signal;
  const std::uint64_t nothing = 0;
  const auto at = at_way(found) + offsetof(DiskWay, tag);
  write_at(file_.get(), at, std::as_bytes(std::span(&nothing, 1)));
}

// A way that is empty, or was filled by who is gone; a further slab for the class; a way that has
// not been used for long. None where the chunk is kept already.
std::optional<DiskStore::Found> DiskStore::place_for(const Key& key, std::size_t of_class) {
  for (bool grown = true; grown;) {
    const Table table = this->table();
    const SlabTable slabs(*table, layout_);
    SlabTable::Walk walk(slabs, of_class, hash_of(key));
    std::vector<Found> first;
    for (Places places; walk.next(places);) {
      std::vector<Found> found = ways_of(places);
      if (std::ranges::any_of(found, [&](const Found& one) { return has(one.is, key); })) return {};
      if (first.empty()) first = std::move(found);
    }
    const auto free =
        std::ranges::find_if(first, [](const Found& one) { return !is_filled(one.is); });
    if (free != first.end()) return *free;
    grown = grow(of_class);
    if (grown || first.empty()) continue;
    const auto by_use = [](const Found& one) { return one.is.used; };
    const auto oldest = std::ranges::min_element(first, {}, by_use);
    if (now() > oldest->is.used + kStays) return *oldest;
  }
  return std::nullopt;
}

void DiskStore::keep(const Key& key, std::size_t bytes, const Source& source) {
  const std::size_t of_class = class_of(bytes);
  const std::lock_guard keeping(keeping_);
  const NoSizeSignal no_signal;
  if (failure() != nullptr || of_class == kClasses || layout_.places(of_class) == 0 ||
      !file_.has_noted_file())
    return;
  const auto found = place_for(key, of_class);
  if (!found) return;
  const off_t at =
      kWays + static_cast<off_t>(found->places.slab * (layout_.slab_bytes / kPage) + found->way);
  if (!lock_byte(file_.get(), at, F_WRLCK)) return;
  // The class may have lost the slab before that.
  const Table table = this->table();
  if (SlabTable(*table, layout_).has(found->places)) fill(*found, key, bytes, source);
  lock_byte(file_.get(), at, F_UNLCK);
}

void DiskStore::fill(const Found& found, const Key& key, std::size_t bytes, const Source& source) {
  DiskWay way;
  const auto fail = [this](const char* what) { failure_ = what; };
  if (!read_way(found, way)) return fail("it cannot be read");
  way.state = way.state | 1U;
  way.tag = 0;
  const auto write_way = [&] {
    return write_at(file_.get(), at_way(found), std::as_bytes(std::span(&way, 1)));
  };
  if (!write_way()) return fail("it cannot be written to");
  way.key = words_of(key);
  way.length = bytes;
  way.used = now();
  bool written = false;
  const bool shown = source([&](std::span<const std::byte> chunk) {
    if (chunk.size() != bytes) return;
    way.checksum = checksum(chunk, checksum_of(way.key));
    written = write_at(file_.get(), at_data(found), chunk);
    if (!written) fail("it cannot be written to");
  });
  ++way.state;
  if (shown && written) way.tag = hash_of(key);
  if (!write_way()) fail("it cannot be written to");
}

bool DiskStore::grow(std::size_t of_class) {
  if (since_1970() < again_ || !lock_byte(file_.get(), kGrowing, F_WRLCK)) return false;
  bool grown = false;
  // No room: what there is goes on being used.
  error_of([&] { grown = try_grow(of_class); });
  lock_byte(file_.get(), kGrowing, F_UNLCK);
  if (!grown) again_ = since_1970() + kAgain;
  return grown;
}

bool DiskStore::try_grow(std::size_t of_class) {
  std::uint64_t generation = 0;
  if (!read_at(file_.get(), kGenerationAt, bytes_of(generation))) return false;
  const auto changed = std::make_unique<Fixed>();
  const bool torn =
      generation % 2 != 0;  // who changed it last was killed: nothing is kept any more
  const auto all = bytes_of(*changed);
  if (!torn && !read_at(file_.get(), kTableAt, all.subspan(kTableAt))) return false;
  const SlabTable slabs(*changed, layout_);
  const std::size_t slab = slabs.take_for(of_class);
  if (slab == layout_.slabs || !lock_slab(slab, F_WRLCK)) return false;
  bool given = false;
  const auto error = error_of([&] {
    reserve(file_.get(), static_cast<off_t>(layout_.data_of(slab)),
            static_cast<off_t>(layout_.slab_bytes));
    slabs.give(of_class, slab);
    given = clear(slab) && write_table(*changed, generation | 1U);
  });
  given = lock_slab(slab, F_UNLCK) && given;
  if (error != nullptr) std::rethrow_exception(error);
  return given;
}

// Has no chunk in any way of the slab, whatever class one believes it to be of.
bool DiskStore::clear(std::size_t slab) const {
  const std::vector<std::byte> nothing(layout_.ways_bytes());
  return write_at(file_.get(), layout_.ways_of(slab), nothing);
}

// All of its ways: nobody fills one meanwhile.
bool DiskStore::lock_slab(std::size_t slab, short kind) const {
  const auto ways = static_cast<off_t>(layout_.slab_bytes / kPage);
  return lock_byte(file_.get(), kWays + static_cast<off_t>(slab) * ways, kind, ways);
}

// `generation`: an odd one, which says that it is being changed.
bool DiskStore::write_table(Fixed& changed, std::uint64_t generation) const {
  const auto tell = [&](std::uint64_t word) {
    return write_at(file_.get(), kGenerationAt, std::as_bytes(std::span(&word, 1)));
  };
  const auto all = bytes_of(changed);
  return tell(generation) && write_at(file_.get(), kTableAt, all.subspan(kTableAt)) &&
         tell(generation + 1);
}

}  // namespace headrace::engine::cache
