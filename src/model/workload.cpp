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

struct Timed {
  std::uint64_t time;
  Request request;
};

class Collector {
 public:
  // `shared`: the files that several ranks opened together.
  Collector(Workload& workload, std::set<std::string> shared)
      : workload_(workload), shared_(std::move(shared)) {}

  void add(const Ledger& ledger) {
    const Header& header = ledger.header;
    const std::uint32_t file = file_of(header.file);
    const bool alone = header.ranks <= 1 && shared_.contains(header.file);
    const Process process{header.host, header.pid};
    std::int32_t& rank = ranks_.try_emplace(process, -1).first->second;
    rank = std::max(rank, header.rank);
    const std::uint32_t opening = openings_[{process, file}]++;
    std::vector<Timed>& timed = processes_[process];
    for (const Record& record : ledger.records) {
      if (record.kind > Kind::write) continue;
      std::uint64_t& end = workload_.spans[file];
      end = std::max(end, record.offset + record.span);
      timed.push_back({header.opened + record.begin,
                       {record.offset, record.length, record.span, file,
                        record.has(kCollective) ? collective({file, opening, record.call}) : 0,
                        record.kind, record.has(kMetadata), alone}});
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
  std::set<std::string> shared_;
  std::map<std::string, std::uint32_t> files_;
  std::map<std::pair<Process, std::uint32_t>, std::uint32_t> openings_;
  std::map<Call, std::uint32_t> calls_;
  std::map<Process, std::vector<Timed>> processes_;
  std::map<Process, std::int32_t> ranks_;  // of those that opened a file over MPI
};

}  // namespace

Workload workload_of(const std::vector<Ledger>& ledgers) {
  std::vector<const Ledger*> ordered;
  ordered.reserve(ledgers.size());
  for (const Ledger& ledger : ledgers) ordered.push_back(&ledger);
  std::ranges::stable_sort(ordered, {}, [](const Ledger* one) { return one->header.opened; });
  Workload workload;
  std::set<std::string> shared;
  for (const Ledger& ledger : ledgers)
    if (ledger.header.ranks > 1) shared.insert(ledger.header.file);
  Collector collector(workload, std::move(shared));
  for (const Ledger* ledger : ordered) collector.add(*ledger);
  collector.finish();
  return workload;
}

}  // namespace headrace::model
