#include "model/workload.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace headrace::model {
namespace {

using Process = std::pair<std::string, std::uint32_t>;  // host and pid

// How ranks use a file that they opened together.
struct Sharing {
  // Whether more ranks than the first read its metadata. Otherwise that one reads for all: HDF5 has
  // rank 0 read the superblock, and what is read in collective metadata operations.
  bool others_read = true;
};

struct Timed {
  std::uint64_t time;
  Request request;
};

bool reads_metadata(const Record& record) {
  return record.kind == Kind::read && record.has(kMetadata);
}

class Collector {
 public:
  Collector(Workload& workload, std::map<std::string, Sharing> shared)
      : workload_(workload), shared_(std::move(shared)) {}

  void add(const Ledger& ledger) {
    const Header& header = ledger.header;
    const std::uint32_t file = file_of(header.file);
    const auto shared = shared_.find(header.file);
    const bool alone = shared != shared_.end() && header.ranks <= 1;
    const bool for_all = shared != shared_.end() && !shared->second.others_read;
    const Process process{header.host, header.pid};
    std::int32_t& rank = ranks_.try_emplace(process, -1).first->second;
    rank = std::max(rank, header.rank);
    const std::uint32_t opening = openings_[{process, file}]++;
    std::vector<Timed>& timed = processes_[process];
    for (const Record& record : ledger.records) {
      if (record.kind > Kind::write) continue;
      std::uint64_t& end = workload_.spans[file];
      end = std::max(end, record.offset + record.span);
      timed.push_back(
          {header.opened + record.begin,
           {record.offset, record.length, record.span, file,
            record.has(kCollective) ? collective({file, opening, record.call}) : 0, record.kind,
            record.has(kMetadata), alone || (for_all && record.has(kMetadata))}});
    }
  }

  void finish() {
    std::set<std::pair<std::int32_t, Process>> ordered;
    for (const auto& [process, rank] : ranks_) ordered.emplace(rank, process);
    for (const auto& [rank, process] : ordered) {
      std::vector<Timed>& timed = processes_[process];
      std::ranges::stable_sort(timed, {}, &Timed::time);
      Trace& trace = workload_.traces.emplace_back();
      trace.reserve(timed.size());
      for (const Timed& each : timed) trace.push_back(each.request);
    }
  }

 private:
  using Call = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

  std::uint32_t file_of(const std::string& name) {
    const auto [found, fresh] =
        files_.try_emplace(name, static_cast<std::uint32_t>(workload_.spans.size()));
    if (fresh) workload_.spans.push_back(0);
    return found->second;
  }

  // The same number for the same call in all ranks: of a file, opened for the n-th time.
  std::uint32_t collective(const Call& call) {
    const auto [found, fresh] = calls_.try_emplace(call, workload_.collectives + 1);
    if (fresh) ++workload_.collectives;
    return found->second;
  }

  Workload& workload_;
  std::map<std::string, Sharing> shared_;  // by the files that several ranks opened together
  std::map<std::string, std::uint32_t> files_;
  std::map<std::pair<Process, std::uint32_t>, std::uint32_t> openings_;
  std::map<Call, std::uint32_t> calls_;
  std::map<Process, std::vector<Timed>> processes_;
  std::map<Process, std::int32_t> ranks_;  // of those that opened a file over MPI
};

std::map<std::string, Sharing> sharing_of(const std::vector<Ledger>& ledgers) {
  std::map<std::string, Sharing> found;
  for (const Ledger& ledger : ledgers)
    if (ledger.header.ranks > 1) found[ledger.header.file].others_read = false;
  std::map<std::string, std::set<std::int32_t>> ranks;
  for (const Ledger& ledger : ledgers) {
    const auto shared = found.find(ledger.header.file);
    if (shared == found.end() || ledger.header.ranks <= 1) continue;
    ranks[ledger.header.file].insert(ledger.header.rank);
    if (ledger.header.rank > 0 && std::ranges::any_of(ledger.records, reads_metadata))
      shared->second.others_read = true;
  }
  // Of a program of which one rank was recorded, nothing is known of the others.
  for (auto& [file, sharing] : found)
    if (ranks[file].size() == 1) sharing.others_read = true;
  return found;
}

}  // namespace

Workload workload_of(const std::vector<Ledger>& ledgers) {
  std::vector<const Ledger*> ordered;
  ordered.reserve(ledgers.size());
  for (const Ledger& ledger : ledgers) ordered.push_back(&ledger);
  std::ranges::stable_sort(ordered, {}, [](const Ledger* one) { return one->header.opened; });
  Workload workload;
  Collector collector(workload, sharing_of(ledgers));
  for (const Ledger* ledger : ordered) collector.add(*ledger);
  collector.finish();
  return workload;
}

}  // namespace headrace::model
