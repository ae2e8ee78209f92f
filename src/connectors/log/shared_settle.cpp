// Where the ranks of a file write what all of them have logged, each its share.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "connectors/log/logged.hpp"
#include "connectors/log/opened.hpp"
#include "connectors/log/replay.hpp"
#include "connectors/log/shared_file.hpp"
#include "connectors/log/sidecar.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::log_layout {
namespace {

using engine::log::Layers;
using engine::log::LoggedDataset;
using engine::log::Reader;

// What a rank says of its log.
struct Told {
  std::uint64_t writes = 0;
  std::uint64_t end = 0;
  std::uint64_t failed = 0;
};

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& caught) {
    return caught.what();
  } catch (...) {
    return "unknown error";
  }
}

template <typename Action>
std::exception_ptr error_of(const Action& action) {
  try {
    action();
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

// The log of one rank.
class RankLog {
 public:
  RankLog(const std::string& file, const Owner& owner, int rank, const Told& told)
      : descriptor_(open_rank_log(file, owner, rank)) {
    const std::string path = rank_log_path(file, owner, rank);
    const auto error = error_of([&] {
      reader_ = std::make_unique<Reader>(engine::posix_device(descriptor_, path.c_str()),
                                         size_of(descriptor_));
      if (reader_->owner() != owner || reader_->end() != told.end ||
          reader_->index().writes.size() != told.writes)
        throw Error("log " + path + " is not what its rank has written");
    });
    if (error == nullptr) return;
    ::close(descriptor_);
    std::rethrow_exception(error);
  }
  RankLog(const RankLog&) = delete;
  RankLog& operator=(const RankLog&) = delete;
  RankLog(RankLog&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), reader_(std::move(other.reader_)) {}
  RankLog& operator=(RankLog&&) = delete;
  ~RankLog() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] const Reader& reader() const { return *reader_; }

 private:
  int descriptor_;
  std::unique_ptr<Reader> reader_;
};

// A dataset in the logs, in the order of the ranks.
struct Part {
  const Reader* reader;
  std::uint32_t place;
  [[nodiscard]] const LoggedDataset& logged() const { return reader->index().datasets[place]; }
};
using Token = std::array<std::byte, 16>;
using Parts = std::map<Token, std::vector<Part>>;

Parts parts_of(const std::vector<RankLog>& logs) {
  Parts parts;
  for (const RankLog& log : logs) {
    const auto& datasets = log.reader().index().datasets;
    for (std::uint32_t i = 0; i < datasets.size(); ++i)
      parts[datasets[i].token].push_back({&log.reader(), i});
  }
  return parts;
}

H5VL_loc_params_t place_of(const Token& token, H5O_token_t& own) {
  static_assert(sizeof own == sizeof token);
  std::memcpy(&own, token.data(), sizeof own);
  H5VL_loc_params_t where{H5I_FILE, H5VL_OBJECT_BY_TOKEN, {}};
  where.loc_data.loc_by_token.token = &own;
  return where;
}

bool filtered(const vol::Object& dataset) {
  const Id<Kind::plist> dcpl(vol::get(dataset, H5VL_DATASET_GET_DCPL).args.get_dcpl.dcpl_id);
  return h5.Pget_nfilters(dcpl.get()) != 0;
}

// One dataset that the ranks write together.
class Target {
 public:
  Target(const Place& place, const vol::UnderRef& connector, const std::vector<Part>& parts)
      : name_(parts.front().logged().name + " of file " + place.path),
        where_(place_of(parts.front().logged().token, token_)),
        opened_(place.below, where_),
        object_(opened_.under(), connector) {
    if (opened_.under() == nullptr || opened_.type() != H5I_DATASET)
      throw Error("dataset " + name_ + " is not there any more");
    dataset_ = examine(object_);
    if (dataset_ == nullptr || !vol::update_dims(*dataset_, object_))
      throw Error("dataset " + name_ + " is none that is logged");
    for (const Part& part : parts) {
      layers_.add(*part.reader, part.place);
      require_fit(*dataset_, part.logged(), layers_, place.path);
    }
    dataset_->handle = &object_;
  }

  // The same on all ranks.
  void plan(const SharedFile& file, const Communicator& ranks, hid_t together) {
    share_.rank = static_cast<std::uint64_t>(ranks.rank());
    share_.ranks = static_cast<std::uint64_t>(ranks.size());
    if (filtered(object_)) share_.together = together;
    share_.boxes = count_boxes(*dataset_, layers_, share_, file.has_read(dataset_->identity));
  }
  void write() {
    const auto error = error_of([&] { replay_share(*dataset_, layers_, share_); });
    if (!opened_.close() && error == nullptr)
      throw Error("dataset " + name_ + " could not be closed, and misses data: " + root_cause());
    if (error != nullptr) throw Error("writing dataset " + name_ + " failed: " + text_of(error));
  }

 private:
  std::string name_;
  H5O_token_t token_{};
  H5VL_loc_params_t where_;
  Opened opened_;
  vol::Object object_;
  std::shared_ptr<Dataset> dataset_;
  Layers layers_;
  Share share_;
};

// A transfer list for calls that all ranks make together.
Id<Kind::plist> collective_list() {
  Id<Kind::plist> list(h5.Pcopy(h5.transfer_list.get()));
  const int collective = 1;  // H5FD_MPIO_COLLECTIVE, which serial headers do not have
  h5.Pset(list.get(), "io_xfer_mode", &collective);
  return list;
}

}  // namespace

// Collective. Throws on all ranks the error of the first that has one.
void SharedFile::agree(const std::exception_ptr& error) {
  const int none = ranks_->size();
  const auto first =
      static_cast<int>(ranks_->reduce(error != nullptr ? ranks_->rank() : none, Reduction::min));
  if (first == none) return;
  std::array<char, 1024> text{};
  if (first == ranks_->rank()) text_of(error).copy(text.data(), text.size() - 1);
  ranks_->broadcast(std::as_writable_bytes(std::span(text)), first);
  throw Error("rank " + std::to_string(first) + ": " + text.data());
}

void SharedFile::settle() {
  if (!logs_) return;
  if (broken_ != nullptr) require_whole();
  if (process_ != ::getpid())
    throw Error("file " + place_.path + " is its parent's, who has it open together with others");
  const Id<Kind::plist> together = collective_list();  // outlives the context that knows it
  const LibraryContext apart;
  const Aside aside;
  try {
    settle_all(together.get());
  } catch (...) {
    broken_ = std::current_exception();
    require_whole();
  }
}

void SharedFile::settle_all(hid_t together) {
  Told mine;
  auto error = failed_;
  if (error == nullptr && log_ != nullptr) error = error_of([&] { log_->publish(false); });
  if (error != nullptr)
    mine.failed = 1;
  else if (log_ != nullptr)
    mine = {log_->writes(), log_->end(), 0};
  std::vector<Told> told(static_cast<std::size_t>(ranks_->size()));
  ranks_->all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(told)));
  if (std::ranges::all_of(told, [](const Told& one) { return one.writes + one.failed == 0; }))
    return;
  agree(error);

  std::vector<RankLog> logs;
  Parts parts;
  agree(error_of([&] {
    for (std::size_t rank = 0; rank < told.size(); ++rank)
      if (told[rank].writes > 0)
        logs.emplace_back(place_.path, owner_, static_cast<int>(rank), told[rank]);
    parts = parts_of(logs);
  }));
  std::exception_ptr error_of_writes;
  for (const auto& [token, of] : parts) {
    std::unique_ptr<Target> target;
    agree(error_of([&] {
      target = std::make_unique<Target>(place_, connector_->shared_from_this(), of);
      target->plan(*this, *ranks_, together);
    }));
    const auto failed = error_of([&] { target->write(); });
    if (error_of_writes == nullptr) error_of_writes = failed;
  }
  agree(error_of_writes);
  // What a rank has written for another is to be seen by that one.
  agree(error_of([&] {
    flush(place_.below);
    empty();
  }));
}

void SharedFile::empty() {
  reader_.reset();
  log_.reset();
  for (const auto& [identity, one] : datasets_) {
    one->pending = false;
    one->layers.reset();
  }
  if (::ftruncate(descriptor_, 0) != 0) throw Error("a log cannot be cut off", errno);
}

void SharedFile::settle_at_flush() noexcept {
  if (broken_ != nullptr) return;  // which it was told
  try {
    settle();
  } catch (...) {
    connector_->defer(std::current_exception());
  }
}

void SharedFile::stop() {
  settle();
  end();
}

void SharedFile::stop_at_close() noexcept {
  settle_at_flush();
  end();
}

}  // namespace headrace::log_layout
