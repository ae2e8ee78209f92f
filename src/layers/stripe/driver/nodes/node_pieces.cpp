#include "layers/stripe/driver/nodes/node_pieces.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ranges>
#include <string>

#include "base/report/log.hpp"
#include "engine/memory/kind.hpp"

namespace headrace::stripe {
namespace {

constexpr std::uint64_t kHead = 4096;  // bytes before the shares: the token
constexpr std::uint64_t kAligned = 8;

std::uint64_t rounded_up(std::uint64_t size, std::uint64_t unit) {
  return (size + unit - 1) / unit * unit;
}

// Before a piece's bytes.
struct PieceHead {
  std::uint64_t address;
  std::uint64_t size;
};

// How the others of a node find the memory of the first.
struct MemoryInvitation {
  pid_t process = 0;
  int descriptor = -1;
  std::array<std::byte, 16> token{};
};

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

std::byte* map(int descriptor, std::uint64_t size) {
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

// Null when the system refuses.
std::byte* invite(int descriptor, std::uint64_t size, MemoryInvitation& invitation) {
  if (descriptor < 0 || ::ftruncate(descriptor, static_cast<off_t>(size)) != 0) return nullptr;
  std::byte* const memory = map(descriptor, size);
  if (memory == nullptr) return nullptr;
  auto& token = invitation.token;
  if (::getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size())) {
    ::munmap(memory, size);
    return nullptr;
  }
  std::ranges::copy(token, memory);
  invitation.process = ::getpid();
  invitation.descriptor = descriptor;
  return memory;
}

// Null where the memory is not to be had: ranks in containers may see other processes.
std::byte* accept(const MemoryInvitation& invitation, std::uint64_t size) {
  const std::string path = "/proc/" + std::to_string(invitation.process) + "/fd/" +
                           std::to_string(invitation.descriptor);
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<std::uint64_t>(status.st_size) != size)
    return nullptr;
  std::byte* const memory = map(file.number(), size);
  if (memory == nullptr || std::ranges::equal(invitation.token, std::span(memory, 16)))
    return memory;
  ::munmap(memory, size);
  return nullptr;
}

template <typename T>
T number_at(const std::byte* at) {
  T number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

}  // namespace

struct NodePieces::Piece {
  std::uint64_t address;
  std::span<const std::byte> bytes;
};

std::unique_ptr<NodePieces> NodePieces::make(Communicator& ranks, std::uint64_t share) {
  const std::vector<int> nodes = nodes_of(ranks);
  if (std::ranges::equal(nodes, std::views::iota(0, ranks.size()))) return nullptr;
  const auto rank = static_cast<std::size_t>(ranks.rank());
  const int first = nodes[rank];
  share = rounded_up(std::max<std::uint64_t>(share, kHead), kHead);
  const auto begin = nodes.begin();
  std::unique_ptr<NodePieces> made(
      new NodePieces(static_cast<std::size_t>(std::count(begin, begin + ranks.rank(), first)),
                     static_cast<std::size_t>(std::count(begin, nodes.end(), first)), share));
  const std::uint64_t size = kHead + made->ranks_ * share;
  const bool alone = made->ranks_ == 1;
  MemoryInvitation mine;
  const Descriptor memory(!alone && made->writes() ? ::memfd_create("headrace", MFD_CLOEXEC) : -1);
  if (!alone && made->writes()) made->memory_ = invite(memory.number(), size, mine);
  std::vector<MemoryInvitation> all(nodes.size());
  ranks.all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  if (!alone && !made->writes()) made->memory_ = accept(all[static_cast<std::size_t>(first)], size);
  const bool good = alone || made->memory_ != nullptr;
  if (ranks.reduce(good ? 1 : 0, Reduction::min) == 0) {
    log(Level::warning, "stripe: ranks of a node cannot share memory: each writes its own pieces");
    return nullptr;
  }
  return made;
}

NodePieces::~NodePieces() {
  if (memory_ != nullptr) ::munmap(memory_, kHead + ranks_ * share_);
}

std::byte* NodePieces::share_of(std::size_t place) const {
  return memory_ + kHead + place * share_;
}

bool NodePieces::put(std::uint64_t address, std::span<const std::byte> bytes) {
  if (memory_ == nullptr || engine::is_device_memory(bytes.data())) return false;
  std::byte* const share = share_of(place_);
  const auto used = number_at<std::uint64_t>(share);
  const std::uint64_t left = share_ - sizeof used - used;
  if (left < sizeof(PieceHead) || rounded_up(bytes.size(), kAligned) > left - sizeof(PieceHead))
    return false;
  const PieceHead head{address, bytes.size()};
  std::byte* const at = share + sizeof used + used;
  std::memcpy(at, &head, sizeof head);
  std::ranges::copy(bytes, at + sizeof head);
  const std::uint64_t now = used + sizeof head + rounded_up(bytes.size(), kAligned);
  std::memcpy(share, &now, sizeof now);
  return true;
}

void NodePieces::forget() {
  if (memory_ == nullptr) return;
  const std::uint64_t none = 0;
  std::memcpy(share_of(place_), &none, sizeof none);
}

void NodePieces::add(std::size_t place, std::vector<Piece>& pieces) const {
  const std::byte* const share = share_of(place);
  const auto used = number_at<std::uint64_t>(share);
  const std::byte* at = share + sizeof used;
  const std::byte* const end = at + used;
  while (at < end) {
    const auto head = number_at<PieceHead>(at);
    pieces.push_back({head.address, {at + sizeof head, head.size}});
    at += sizeof head + rounded_up(head.size, kAligned);
  }
}

std::vector<NodePieces::Run> NodePieces::joined(std::vector<Piece> pieces) {
  std::vector<Piece> sorted = pieces;
  std::ranges::stable_sort(sorted, {}, &Piece::address);
  const auto meets = [](const Piece& one, const Piece& next) {
    return one.address + one.bytes.size() > next.address;
  };
  // Where some overlap, one call may write bytes twice: the last are to stay.
  if (std::ranges::adjacent_find(sorted, meets) == sorted.end()) pieces = std::move(sorted);
  std::vector<Run> runs;
  std::uint64_t end = 0;
  for (const Piece& piece : pieces) {
    if (runs.empty() || piece.address != end) runs.push_back({piece.address, {}});
    runs.back().pieces.push_back(piece.bytes);
    end = piece.address + piece.bytes.size();
  }
  return runs;
}

std::vector<NodePieces::Run> NodePieces::mine() const {
  std::vector<Piece> pieces;
  if (memory_ != nullptr) add(place_, pieces);
  return joined(std::move(pieces));
}

std::vector<NodePieces::Run> NodePieces::all() const {
  std::vector<Piece> pieces;
  for (std::size_t place = 0; memory_ != nullptr && place < ranks_; ++place) add(place, pieces);
  return joined(std::move(pieces));
}

}  // namespace headrace::stripe
