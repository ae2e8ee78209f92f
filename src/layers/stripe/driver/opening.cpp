#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/report/log.hpp"
#include "base/report/printable.hpp"
#include "hdf5/report/summary.hpp"
#include "layers/stripe/driver/striped_file.hpp"
#include "layers/stripe/driver/subfile_driver.hpp"
#include "sidecar/striped/fusion.hpp"

// How a set is found or made when its file is opened, and removed with it.
namespace headrace::stripe {
namespace {

// H5F_ACC_RDWR, H5F_ACC_TRUNC, H5F_ACC_EXCL and H5F_ACC_CREAT, macros that call the library.
constexpr unsigned kForWriting = 0x01;
constexpr unsigned kTruncate = 0x02;
constexpr unsigned kExclusive = 0x04;
constexpr unsigned kCreate = 0x10;
// H5F_ACC_SWMR_WRITE and H5F_ACC_SWMR_READ.
constexpr unsigned kSwmr = 0x60;

void share(Communicator& ranks, std::uint64_t& number) {
  ranks.broadcast(std::as_writable_bytes(std::span(&number, 1)), 0);
}

// None has a null in it.
void share(Communicator& ranks, std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all.append(text).push_back('\0');
  share(ranks, all);
  texts.clear();
  for (std::size_t begin = 0; begin < all.size(); begin += texts.back().size() + 1)
    texts.emplace_back(all.c_str() + begin);
}

// Rank 0's set is everyone's.
void share(Communicator& ranks, sidecar::StripedSet& set) {
  std::uint64_t count = set.layout.count;
  share(ranks, count);
  share(ranks, set.layout.stripe);
  share(ranks, set.stub);
  set.layout.count = static_cast<std::uint32_t>(count);
  share(ranks, set.subfiles);
}

bool is_new(const std::string& path, unsigned flags) {
  if ((flags & (kTruncate | kExclusive)) != 0) return true;
  struct stat status{};
  return (flags & kCreate) != 0 && ::stat(path.c_str(), &status) == 0 && status.st_size == 0;
}

// Empty where there is no such file.
std::string real_path(const char* name) {
  const std::unique_ptr<char, void (*)(void*)> found(::realpath(name, nullptr), &std::free);
  return found == nullptr ? std::string() : std::string(found.get());
}

enum class There : std::uint64_t { nothing, everywhere, on_nodes };

// What becomes of a file on its way to being open; on rank 0 alone until it is told.
struct Opening {
  std::string path;
  bool made = false;  // the file is new
  bool changing = false;
  sidecar::StripedSet set;
  There there = There::nothing;
  std::uint64_t size = 0;
  std::uint64_t cut_at = 0;
  std::unique_ptr<Nodes> nodes;

  void note_sizes(const std::vector<std::uint64_t>& sizes) {
    size = set.layout.whole_size(sizes);
    if (!set.state || !set.state->closed) return;
    sidecar::check_sizes(set, sizes);
    size = cut_at = set.state->size;
  }
  void begin() {
    if (set.state && !set.state->closed && StripedFile::opening_of(set.stub).use_count() == 1)
      log(Level::warning, "stripe: " + set.stub +
                              " was not closed by who wrote it last, or is open still: it has what "
                              "was flushed");
    if (changing) sidecar::begin_changing(set);
  }
};

// Rank 0: the configuration of what a file that is new, or is truncated, has had before.
std::string config_of_older(const FoundBefore& before) {
  return before.set ? before.set->config
                    : sidecar::config_of_new(before.path, before.placement->folders.config);
}

// Rank 0: that of a stub which has been renamed since lies beside the new one.
void remove_older(const FoundBefore& before, const std::string& config) {
  if (before.set) sidecar::remove_older_set(*before.set, config);
}

// Rank 0. Where nodes have something to do first, the set is not made yet.
void look(Opening& opening, unsigned flags, const engine::StripeLayout& layout,
          FoundBefore& before) {
  const std::string& path = opening.path;
  const Placement& placement = *before.placement;
  opening.made = is_new(path, flags);
  opening.changing = opening.changing || opening.made;
  if (opening.made) {
    const auto older = sidecar::read_set_state(config_of_older(before));
    opening.there = There::on_nodes;
    if (placement.local || (older && !older->nodes.empty())) return;
    opening.set = sidecar::make_set(path, layout, placement.folders);
    remove_older(before, opening.set.config);
  } else {
    if (before.failed != nullptr) std::rethrow_exception(before.failed);
    if (!before.set) return;
    if ((flags & kSwmr) != 0) refuse_swmr(path);
    opening.set = *std::move(before.set);
  }
  opening.there = opening.set.nodes.empty() ? There::everywhere : There::on_nodes;
  if (opening.there == There::on_nodes) return;
  opening.note_sizes(opening.set.sizes);
  opening.begin();
}

// The log tells which nodes keep theirs, as no rank is there.
void tell_of_left(const Nodes& nodes, const std::string& config) {
  const auto older = sidecar::read_set_state(config);
  if (!older) return;
  const std::vector<std::string>& here = nodes.names();
  for (const std::string& name : std::set(older->nodes.begin(), older->nodes.end())) {
    if (std::ranges::find(here, name) != here.end()) continue;
    std::string text = "stripe: node ";
    text.append(name).append(" keeps its subfiles of ").append(config);
    log(Level::warning, text.append(", which is removed: no rank is there"));
  }
}

// Collective: what all nodes but that of rank 0 have of a set goes.
void remove_on_nodes(Communicator& ranks, const Nodes& nodes, const std::string& config) {
  do_together(ranks, [&] {
    if (ranks.rank() == 0)
      tell_of_left(nodes, config);
    else if (nodes.first())
      sidecar::remove_subfiles_here(config);
  });
}

// Rank 0: whether a new file is to be a whole one.
bool is_for_no_set(const std::string& path, unsigned flags, std::uint32_t count) {
  if (MakesWhole::current() != nullptr || (flags & kSwmr) != 0) {
    note_left_whole((flags & kSwmr) != 0 ? "left_for_swmr" : "left_for_user_block");
    return true;
  }
  const std::string why = sidecar::why_no_set(path, count);
  if (why.empty()) return false;
  log(Level::warning, "stripe: " + printable(path) + " stays one file: " + why);
  note_left_whole("left_for_place");
  return true;
}

// Collective: whether the file is new and is to be a whole one. What an older set has left goes.
bool stays_whole(unsigned flags, std::uint32_t count, const FoundBefore& before) {
  Communicator& ranks = *before.ranks;
  const std::string& path = before.path;
  std::string config;
  std::string on_nodes;
  std::uint64_t whole = 0;
  do_together(ranks, [&] {
    if (ranks.rank() != 0) return;
    if (!is_new(path, flags) || !is_for_no_set(path, flags, count)) return;
    whole = 1;
    config = config_of_older(before);
    const auto older = sidecar::read_set_state(config);
    if (older && !older->nodes.empty()) on_nodes = config;
  });
  share(ranks, whole);
  if (whole == 0) return false;
  share(ranks, on_nodes);
  if (!on_nodes.empty()) remove_on_nodes(ranks, Nodes(ranks), on_nodes);
  do_together(ranks, [&] {
    if (ranks.rank() == 0) sidecar::remove_set_of(path, config);
  });
  return true;
}

// Collective: what is left of an older set goes, and rank 0 makes a new one.
void make_on_nodes(Opening& opening, const engine::StripeLayout& layout,
                   const FoundBefore& before) {
  Communicator& ranks = *before.ranks;
  const Placement& placement = *before.placement;
  std::string config;
  do_together(ranks, [&] {
    if (ranks.rank() == 0) config = config_of_older(before);
  });
  share(ranks, config);
  remove_on_nodes(ranks, *opening.nodes, config);
  do_together(ranks, [&] {
    if (ranks.rank() != 0) return;
    sidecar::SetFolders folders = placement.folders;
    if (placement.local) folders.nodes = opening.nodes->names();
    opening.set = sidecar::make_set(opening.path, layout, folders);
    remove_older(before, opening.set.config);
    sidecar::mark_open(opening.set.config, folders.nodes);
  });
}

// Collective: each node looks for the subfiles that are its own, or makes them.
void open_on_nodes(Opening& opening, const engine::StripeLayout& layout,
                   const FoundBefore& before) {
  Communicator& ranks = *before.ranks;
  opening.nodes = std::make_unique<Nodes>(ranks);
  std::uint64_t made = opening.made ? 1 : 0;
  share(ranks, made);
  if (made != 0) make_on_nodes(opening, layout, before);
  sidecar::StripedSet& set = opening.set;
  share(ranks, set);
  share(ranks, set.config);
  share(ranks, set.nodes);
  const bool of_older = set.nodes.empty();
  do_together(ranks, [&] {
    if (of_older) return;
    opening.nodes->place(set);
    if (before.placement->fuse == Fuse::background && opening.nodes->names().size() > 1)
      throw Error("stripe: one process in the background does not reach the subfiles of " +
                  set.stub + ", which lie on several nodes: fuse=close does");
    if (made == 0) return;
    for (const std::uint32_t number : opening.nodes->mine())
      sidecar::make_subfile_here(set, number);
  });
  const std::vector<std::uint64_t> sizes = opening.nodes->sizes(ranks, set);
  if (of_older) opening.nodes.reset();
  do_together(ranks, [&] {
    if (ranks.rank() != 0) return;
    opening.note_sizes(sizes);
    opening.begin();
  });
}

// Rank 0: the set of a file, if it has one, when nobody makes one file of it any more.
void find(const char* name, FoundBefore& before) {
  const std::string& folder = before.placement->folders.config;
  before.path = real_path(name);
  before.set.reset();
  struct stat status{};
  before.inode = ::stat(before.path.c_str(), &status) == 0 ? status.st_ino : 0;
  if (before.inode == 0) return;
  before.failed = error_of([&] {
    while ((before.set = sidecar::find_set(before.path, folder)) && before.set->busy)
      sidecar::wait_for_fusion(*before.set);
  });
}

// Rank 0, when the stub has been opened: finds it anew where it was made or replaced meanwhile.
// Throws Error.
void find_again(const char* name, unsigned flags, FoundBefore& before) {
  struct stat status{};
  if (before.inode != 0 && ::stat(before.path.c_str(), &status) == 0 &&
      status.st_ino == before.inode)
    return;
  before.set.reset();
  before.path = real_path(name);
  if (before.path.empty()) throw Error("file " + std::string(name) + " is gone");
  if (!is_new(before.path, flags)) find(name, before);
}

}  // namespace

std::unique_ptr<StripedFile> StripedFile::open(const char* name, unsigned flags, hid_t fapl,
                                               const vfd::Layer& layer, FoundBefore before) {
  CommunicatorHandle& ranks = before.ranks;
  agree(*ranks, before.malformed);
  const std::unique_ptr<Placement>& placement = before.placement;
  const engine::StripeLayout layout = placement->layout(*ranks);
  do_together(*ranks, [&] {
    if (ranks->rank() == 0) find_again(name, flags, before);
  });
  if (stays_whole(flags, layout.count, before)) return nullptr;
  Opening opening;
  opening.path = before.path;
  // Ranks that open a file together have it for themselves. Where a process is alone, HDF5 may
  // close the file again at once, as another one has locked it, and nothing of it must have
  // changed.
  opening.changing = (flags & kForWriting) != 0 && ranks->size() > 1;
  do_together(*ranks, [&] {
    if (ranks->rank() == 0) look(opening, flags, layout, before);
  });
  auto there = static_cast<std::uint64_t>(opening.there);
  share(*ranks, there);
  opening.there = static_cast<There>(there);
  if (opening.there == There::nothing) return nullptr;
  if (opening.there == There::on_nodes) {
    open_on_nodes(opening, layout, before);
  } else {
    share(*ranks, opening.set);
  }
  share(*ranks, opening.size);
  share(*ranks, opening.cut_at);
  // Rank 0's word for all.
  share(*ranks, placement->aggregate);
  std::unique_ptr<NodePieces> node;
  if (placement->aggregate > 0 && ranks->size() > 1)
    node = NodePieces::make(*ranks, placement->aggregate);
  std::unique_ptr<StripedFile> file;
  do_together(*ranks, [&] {
    // Ranks work side by side as they are.
    if (ranks->size() > 1 && (node == nullptr || !node->writes()))
      placement->threads = 1;
    else if (placement->threads == 0)
      placement->threads = static_cast<unsigned>(opening.nodes ? opening.nodes->names().size()
                                                               : opening.set.devices);
    file.reset(new StripedFile(std::move(opening.set), flags, SubfileAccess(fapl, layer), nullptr,
                               *placement));
  });
  file->eof_ = opening.size;
  file->cut_at_ = opening.cut_at;
  file->changing_ = opening.changing;
  file->counted_ = opening.made && ranks->rank() == 0;
  if (file->counted_) ++share_of(kShare).taken;
  file->ranks_ = std::move(ranks);
  file->node_ = std::move(node);
  file->nodes_ = std::move(opening.nodes);
  file->over_mpi_ = layer.over == vfd::Over::mpio;
  if (file->over_mpi_) ++all_over_mpi_;
  if (file->nodes_ != nullptr && file->nodes_->names().size() > 1) file->serve();
  log(Level::info, "stripe: " + file->set_.stub + " is in " +
                       std::to_string(file->set_.layout.count) + " subfiles with stripes of " +
                       std::to_string(file->set_.layout.stripe) + " bytes");
  return file;
}

FoundBefore find_before(const char* name, hid_t fapl, const vfd::Layer& layer) {
  FoundBefore before;
  before.ranks = communicator_of(fapl);
  before.malformed = error_of(
      [&] { before.placement = std::make_unique<Placement>(vfd::options_of(fapl, layer)); });
  if (before.ranks->rank() == 0 && before.placement != nullptr) find(name, before);
  before.ranks->barrier();
  return before;
}

void refuse_swmr(const std::string& stub) {
  throw Error("stripe: file " + stub +
              " is in pieces, which no process can read while another one writes (SWMR): headrace "
              "fuse makes one file of it, and without the layer stripe new files are one");
}

void remove_pieces_of(const char* name, hid_t fapl, const vfd::Layer& layer) {
  const CommunicatorHandle ranks = communicator_of(fapl);
  std::optional<sidecar::StripedSet> set;
  std::string on_nodes;  // the configuration of such a set
  do_together(*ranks, [&] {
    const Placement placement(vfd::options_of(fapl, layer));
    if (ranks->rank() != 0) return;
    const std::string path = real_path(name);
    struct stat status{};
    // Under its other names the file stays.
    if (::stat(path.c_str(), &status) != 0 || status.st_nlink > 1) return;
    set = sidecar::find_set(path, placement.folders.config);
    if (set && !set->nodes.empty()) on_nodes = set->config;
  });
  share(*ranks, on_nodes);
  if (!on_nodes.empty()) remove_on_nodes(*ranks, Nodes(*ranks), on_nodes);
  do_together(*ranks, [&] {
    if (set) sidecar::remove_pieces(*set);
  });
}

}  // namespace headrace::stripe
