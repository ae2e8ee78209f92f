#include "vol/dataset/told_addresses.hpp"

#include <sys/stat.h>

#include <optional>
#include <set>
#include <tuple>

#include "hdf5/quiet_errors.hpp"
#include "vol/dataset/elements.hpp"

namespace headrace::vol {
namespace {

// HDF5 numbers a file anew when it is opened again; the file system does not.
struct Lasting {
  dev_t device;
  ino_t inode;
  H5O_token_t token;
  bool operator<(const Lasting& other) const {
    const auto place = [](const Lasting& one) { return std::tie(one.device, one.inode); };
    if (place(*this) != place(other)) return place(*this) < place(other);
    return Identity{0, token} < Identity{0, other.token};
  }
};

struct ToldAddresses {
  std::uint64_t times = 0;
  std::set<Identity> datasets;
  std::set<Lasting> lasting;
};

// Leaked: HDF5 closes what is open while the process exits.
ToldAddresses& all_told() {
  static auto& told = *new ToldAddresses;
  return told;
}

std::optional<Lasting> lasting(const Object& dataset, const Identity& identity) {
  struct stat status{};
  if (::stat(file_name_of(dataset).c_str(), &status) < 0) return std::nullopt;
  return Lasting{status.st_dev, status.st_ino, identity.token};
}

}  // namespace

void note_addresses_told(const Object& dataset) {
  const PrivateErrors own;
  Identity identity{};
  if (!read_identity(dataset, identity)) return;
  ToldAddresses& told = all_told();
  const bool first = told.datasets.insert(identity).second;
  if (const auto place = lasting(dataset, identity)) told.lasting.insert(*place);
  if (first) ++told.times;
}

bool AddressesTold::operator()(const Object& dataset) {
  const ToldAddresses& told = all_told();
  if (told_ || asked_ == told.times) return told_;
  asked_ = told.times;
  const PrivateErrors own;
  Identity identity{};
  if (!read_identity(dataset, identity)) return false;
  const auto place = lasting(dataset, identity);
  told_ = told.datasets.contains(identity) || (place && told.lasting.contains(*place));
  return told_;
}

}  // namespace headrace::vol
