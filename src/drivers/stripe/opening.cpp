#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "base/summary.hpp"
#include "drivers/stripe/striped_file.hpp"
#include "drivers/stripe/subfile_driver.hpp"
#include "sidecar/striped/fusion.hpp"

// How a set is found or made when its file is opened, and removed with it.
namespace headrace::stripe {
namespace {

// H5F_ACC_RDWR, H5F_ACC_TRUNC, H5F_ACC_EXCL and H5F_ACC_CREAT, macros that call the library.
constexpr unsigned kForWriting = 0x01;
constexpr unsigned kTruncate = 0x02;
constexpr unsigned kExclusive = 0x04;
constexpr unsigned kCreate = 0x10;

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
    const bool opened = StripedFile::opening_of(set.stub).use_count() > 1;
    if (set.state && !set.state->closed && !opened)
      log(Level::warning, "stripe: " + set.stub +
                              " was not closed by who wrote it last, or is open still: it has what "
                              "was flushed");
    if (changing) sidecar::begin_changing(set);
  }
};

// Rank 0. Where nodes have something to do first, the set is not made yet.
void look(Opening& opening, const std::string& path, unsigned flags, const Placement& placement,
          const engine::StripeLayout& layout) {
  opening.path = path;
  opening.made = is_new(path, flags);
  opening.changing = opening.changing || opening.made;
  if (opening.made) {
    const auto older =
        sidecar::read_set_state(sidecar::config_of_new(path, placement.folders.config));
    opening.there = There::on_nodes;
    if (placement.local || (older && !older->nodes.empty())) return;
    opening.set = sidecar::make_set(path, layout, placement.folders);
  } else {
    auto found = sidecar::find_set(path, placement.folders.config);
    if (!found) return;
    opening.set = *std::move(found);
  }
  opening.there = opening.set.nodes.empty() ? There::everywhere : There::on_nodes;
  if (opening.there == There::on_nodes) return;
  opening.note_sizes(sidecar::subfile_sizes(opening.set));
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
bool is_for_no_set(const std::string& path, std::uint32_t count) {
  if (MakesWhole::current() != nullptr) {
    note_left_whole("left_for_user_block");
    return true;
  }
  const std::string why = sidecar::why_no_set(path, count);
  if (why.empty()) return false;
  log(Level::warning, "stripe: " + printable(path) + " stays one file: " + why);
  note_left_whole("left_for_place");
  return true;
}

// Collective: whether the file is new and is to be a whole one. What an older set has left goes.
bool stays_whole(Communicator& ranks, const char* name, unsigned flags, const Placement& placement,
                 std::uint32_t count) {
  std::string path;
  std::string config;
  std::string on_nodes;
  std::uint64_t whole = 0;
  do_together(ranks, [&] {
    if (ranks.rank() != 0) return;
    path = std::filesystem::canonical(name);
    if (!is_new(path, flags) || !is_for_no_set(path, count)) return;
    whole = 1;
    config = sidecar::config_of_new(path, placement.folders.config);
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
void make_on_nodes(Communicator& ranks, Opening& opening, const Placement& placement,
                   const engine::StripeLayout& layout) {
  std::string config;
  do_together(ranks, [&] {
    if (ranks.rank() == 0) config = sidecar::config_of_new(opening.path, placement.folders.config);
  });
  share(ranks, config);
  remove_on_nodes(ranks, *opening.nodes, config);
  do_together(ranks, [&] {
    if (ranks.rank() != 0) return;
    sidecar::SetFolders folders = placement.folders;
    if (placement.local) folders.nodes = opening.nodes->names();
    opening.set = sidecar::make_set(opening.path, layout, folders);
    sidecar::mark_open(opening.set.config, folders.nodes);
  });
}

// Collective: each node looks for the subfiles that are its own, or makes them.
void open_on_nodes(Communicator& ranks, Opening& opening, const Placement& placement,
                   const engine::StripeLayout& layout) {
  opening.nodes = std::make_unique<Nodes>(ranks);
  std::uint64_t made = opening.made ? 1 : 0;
  share(ranks, made);
  if (made != 0) make_on_nodes(ranks, opening, placement, layout);
  sidecar::StripedSet& set = opening.set;
  share(ranks, set);
  share(ranks, set.config);
  share(ranks, set.nodes);
  const bool of_older = set.nodes.empty();
  do_together(ranks, [&] {
    if (of_older) return;
    opening.nodes->place(set);
    if (placement.fuse == Fuse::background && opening.nodes->names().size() > 1)
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

}  // namespace

std::unique_ptr<StripedFile> StripedFile::open(const char* name, unsigned flags, hid_t fapl,
                                               const vfd::Layer& layer) {
  CommunicatorHandle ranks = communicator_of(fapl);
  std::unique_ptr<Placement> placement;
  do_together(*ranks,
              [&] { placement = std::make_unique<Placement>(vfd::options_of(fapl, layer)); });
  const engine::StripeLayout layout = placement->layout(*ranks);
  if (stays_whole(*ranks, name, flags, *placement, layout.count)) return nullptr;
  Opening opening;
  // Ranks that open a file together have it for themselves. Where a process is alone, HDF5 may
  // close the file again at once, as another one has locked it, and nothing of it must have
  // changed.
  opening.changing = (flags & kForWriting) != 0 && ranks->size() > 1;
  do_together(*ranks, [&] {
    if (ranks->rank() == 0)
      look(opening, std::filesystem::canonical(name), flags, *placement, layout);
  });
  auto there = static_cast<std::uint64_t>(opening.there);
  share(*ranks, there);
  opening.there = static_cast<There>(there);
  if (opening.there == There::nothing) return nullptr;
  if (opening.there == There::on_nodes) {
    open_on_nodes(*ranks, opening, *placement, layout);
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
    Id<Kind::plist> access = subfile_access(fapl, layer);
    // Ranks work side by side as they are.
    if (ranks->size() > 1 && (node == nullptr || !node->writes()))
      placement->threads = 1;
    else if (placement->threads == 0)
      placement->threads = static_cast<unsigned>(opening.nodes ? opening.nodes->names().size()
                                                               : sidecar::devices_of(opening.set));
    file.reset(
        new StripedFile(std::move(opening.set), flags, std::move(access), nullptr, *placement));
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

void wait_for_background(const char* name, hid_t fapl, const vfd::Layer& layer) {
  const CommunicatorHandle ranks = communicator_of(fapl);
  do_together(*ranks, [&] {
    if (ranks->rank() != 0) return;
    try {
      const Placement placement(vfd::options_of(fapl, layer));
      sidecar::wait_for_fusion(name, placement.folders.config);
    } catch (const Error&) {
      // Opening the set tells of malformed options.
    }
  });
}

void remove_pieces_of(const char* name, hid_t fapl, const vfd::Layer& layer) {
  const CommunicatorHandle ranks = communicator_of(fapl);
  std::optional<sidecar::StripedSet> set;
  std::string on_nodes;  // the configuration of such a set
  do_together(*ranks, [&] {
    const Placement placement(vfd::options_of(fapl, layer));
    if (ranks->rank() != 0) return;
    std::error_code failure;
    const std::string path = std::filesystem::canonical(name, failure);
    if (!failure) set = sidecar::find_set(path, placement.folders.config);
    if (set && !set->nodes.empty()) on_nodes = set->config;
  });
  share(*ranks, on_nodes);
  if (!on_nodes.empty()) remove_on_nodes(*ranks, Nodes(*ranks), on_nodes);
  do_together(*ranks, [&] {
    if (set) sidecar::remove_pieces(*set);
  });
}

}  // namespace headrace::stripe
