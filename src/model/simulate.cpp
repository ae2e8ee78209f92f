#include "model/simulate.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <vector>

#include "base/error.hpp"
#include "model/machine.hpp"
#include "model/two_phase.hpp"

namespace headrace::model {
namespace {

struct Client {
  const Trace* trace = nullptr;
  std::uint32_t group = 0;
  std::size_t next = 0;    // in the trace
  std::uint64_t sent = 0;  // bytes of the request at `next`
  double link = 0;         // when the network link is free
  double done = 0;         // when what was sent so far is done
};

struct Event {
  double time;
  std::uint32_t client;
  // The earliest first; at the same time the lowest client.
  bool operator<(const Event& other) const {
    return time != other.time ? time > other.time : client > other.client;
  }
};

class Simulation {
 public:
  Simulation(const Workload& workload, const Parameters& parameters, const Run& run)
      : workload_(workload), run_(run), machine_(parameters), clients_(run.clients) {
    const auto recorded = static_cast<std::uint32_t>(workload.traces.size());
    groups_ = (run.clients + recorded - 1) / recorded;
    for (std::uint32_t i = 0; i < run.clients; ++i) {
      clients_[i].trace = &workload.traces[i % recorded];
      clients_[i].group = i / recorded;
    }
    if (run.merge_collectives) count_members();
  }

  Result run() {
    for (std::uint32_t i = 0; i < run_.clients; ++i) advance(i, 0);
    while (true) {
      if (!complete_.empty()) {
        const std::uint32_t collective = complete_.back();
        complete_.pop_back();
        run_collective(collective);
      } else if (!events_.empty()) {
        send_piece();
      } else if (!waiting_.empty()) {
        // Ranks that did not all make the same collective calls: those who wait go on.
        run_collective(waiting_.begin()->first);
      } else {
        return result();
      }
    }
  }

 private:
  struct Waiting {
    std::vector<std::uint32_t> clients;
    double ready = 0;
  };

  // How many clients make each collective call.
  void count_members() {
    members_.resize(workload_.collectives + 1);
    const auto recorded = workload_.traces.size();
    for (std::size_t i = 0; i < recorded; ++i) {
      const auto players = (run_.clients + recorded - 1 - i) / recorded;
      std::uint32_t last = 0;
      for (const Request& request : workload_.traces[i]) {
        if (request.collective != last && request.collective != 0)
          members_[request.collective] += static_cast<std::uint32_t>(players);
        last = request.collective;
      }
    }
  }

  [[nodiscard]] std::uint64_t place(const Client& client, const Request& request) const {
    const std::uint64_t group = request.metadata ? 0 : client.group;
    if (run_.placement == Placement::interleave)
      return request.offset * groups_ + request.span * group;
    return request.offset + workload_.spans[request.file] * group;
  }

  // Metadata is written once, and one rank is alone once; every client reads metadata. Nothing to
  // move is nothing to do.
  static bool skipped(const Client& client, const Request& request) {
    const bool once = request.alone || (request.metadata && request.kind == Kind::write);
    return request.length == 0 || (once && client.group > 0);
  }

  // Starts the client's next request at `now`, or lets it wait for the others of a collective one.
  void advance(std::uint32_t number, double now) {
    Client& client = clients_[number];
    const Trace& trace = *client.trace;
    for (; client.next < trace.size(); ++client.next) {
      const Request& request = trace[client.next];
      if (run_.merge_collectives && request.collective != 0) {
        wait(number, request.collective, now);
        return;
      }
      if (skipped(client, request)) continue;
      ++requests_;
      client.sent = 0;
      client.link = std::max(client.link, now);
      client.done = now;
      events_.push({client.link, number});
      return;
    }
    seconds_ = std::max(seconds_, now);
  }

  // Takes the next event: a piece that reaches its server.
  void send_piece() {
    const auto [now, number] = events_.top();
    events_.pop();
    Client& client = clients_[number];
    const Request& request = (*client.trace)[client.next];
    const Piece piece =
        first_piece(machine_.parameters(), request.file, place(client, request) + client.sent,
                    request.length - client.sent);
    client.done = std::max(client.done, machine_.serve(number, request.kind, piece, now));
    client.link = now + machine_.parameters().sending(piece.bytes);
    client.sent += piece.bytes;
    if (client.sent < request.length) {
      events_.push({client.link, number});
      return;
    }
    ++client.next;
    advance(number, std::max(client.done, client.link));
  }

  void wait(std::uint32_t number, std::uint32_t collective, double now) {
    Waiting& waiting = waiting_[collective];
    waiting.clients.push_back(number);
    waiting.ready = std::max(waiting.ready, now);
    if (waiting.clients.size() == members_[collective]) complete_.push_back(collective);
  }

  void run_collective(std::uint32_t collective) {
    const Waiting waiting = std::move(waiting_.extract(collective).mapped());
    TwoPhase merged;
    for (const std::uint32_t number : waiting.clients) {
      Client& client = clients_[number];
      const Trace& trace = *client.trace;
      merged.next_client();
      for (; client.next < trace.size() && trace[client.next].collective == collective;
           ++client.next) {
        const Request& request = trace[client.next];
        if (skipped(client, request)) continue;
        ++requests_;
        merged.add(request.kind, request.file, place(client, request), request.length,
                   request.span);
      }
    }
    const double end = merged.run(machine_, run_.clients, waiting.ready);
    for (const std::uint32_t number : waiting.clients) advance(number, end);
  }

  [[nodiscard]] Result result() const {
    const Parameters& parameters = machine_.parameters();
    const double aggregate = parameters.servers * parameters.bandwidth;
    const auto bytes = static_cast<double>(machine_.bytes());
    return {run_.clients,       seconds_,
            machine_.bytes(),   aggregate > 0 && seconds_ > 0 ? bytes / (aggregate * seconds_) : 0,
            requests_,          machine_.revocations(),
            machine_.busiest(), machine_.forgotten()};
  }

  const Workload& workload_;
  Run run_;
  Machine machine_;
  std::vector<Client> clients_;
  std::uint32_t groups_ = 1;
  std::priority_queue<Event> events_;
  std::map<std::uint32_t, Waiting> waiting_;  // by collective call
  std::vector<std::uint32_t> complete_;       // those that all are waiting in
  std::vector<std::uint32_t> members_;
  double seconds_ = 0;
  std::uint64_t requests_ = 0;
};

}  // namespace

Result simulate(const Workload& workload, const Parameters& parameters, const Run& run) {
  check(parameters);
  if (workload.traces.empty()) throw Error("there is no ledger to play");
  if (run.clients == 0) throw Error("ranks: there is at least one");
  return Simulation(workload, parameters, run).run();
}

}  // namespace headrace::model
