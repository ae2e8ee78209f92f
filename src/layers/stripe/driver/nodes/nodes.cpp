#include "layers/stripe/driver/nodes/nodes.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/report/printable.hpp"
#include "comm/agreement.hpp"

namespace headrace::stripe {
namespace {

std::string own_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "?";
  return printable(name.data());
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::vector<std::uint64_t> of_all_subfiles(Communicator& ranks, std::uint32_t count,
                                           std::span<const std::uint32_t> mine,
                                           const std::function<std::uint64_t(std::uint32_t)>& of) {
  std::vector<std::uint64_t> told;  // numbers and what is said of them, by turns
  told.reserve(2 * mine.size());
  do_together(ranks, [&] {
    for (const std::uint32_t number : mine) {
      told.push_back(number);
      told.push_back(of(number));
    }
  });
  std::vector<std::uint64_t> all(count);
  for (const std::vector<std::byte>& bytes : ranks.all_gather_any(std::as_bytes(std::span(told)))) {
    std::array<std::uint64_t, 2> pair{};
    for (std::size_t at = 0; at + sizeof pair <= bytes.size(); at += sizeof pair) {
      std::memcpy(pair.data(), &bytes[at], sizeof pair);
      all.at(pair[0]) = pair[1];
    }
  }
  return all;
}

Nodes::Nodes(Communicator& ranks) {
  const std::vector<int> first_of = nodes_of(ranks);
  const std::string name = own_name();
  const auto all = ranks.all_gather_any(std::as_bytes(std::span(name)));
  for (int rank = 0; std::cmp_less(rank, first_of.size()); ++rank) {
    const bool of_mine = first_of[rank] == first_of[ranks.rank()];
    if (of_mine && rank < ranks.rank()) ++place_;
    if (of_mine) ++ranks_;
    if (first_of[rank] != rank) continue;
    if (of_mine) node_ = names_.size();
    names_.push_back(text_of(all[rank]));
  }
}

void Nodes::place(const sidecar::StripedSet& set) {
  node_of_.clear();
  node_of_.reserve(set.layout.count);
  for (std::uint32_t number = 0; number < set.layout.count; ++number) {
    const std::string& name = set.nodes[number % set.nodes.size()];
    const auto found = std::ranges::find(names_, name);
    if (std::ranges::count(names_, name) > 1)
      throw Error(set.stub + ": two nodes have the name " + name +
                  ", so nobody can tell which subfiles are theirs");
    if (found == names_.end())
      throw Error(set.subfiles[number] + ": this subfile lies on node " + name +
                  ", where the program has no rank");
    node_of_.push_back(static_cast<std::size_t>(found - names_.begin()));
  }
}

std::vector<std::uint32_t> Nodes::here() const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t number = 0; number < node_of_.size(); ++number)
    if (node_of_[number] == node_) found.push_back(number);
  return found;
}

std::vector<std::uint32_t> Nodes::mine() const {
  const std::vector<std::uint32_t> all = here();
  std::vector<std::uint32_t> found;
  for (std::size_t i = place_; i < all.size(); i += ranks_) found.push_back(all[i]);
  return found;
}

std::vector<std::uint64_t> Nodes::sizes(Communicator& ranks, const sidecar::StripedSet& set) const {
  return of_all_subfiles(ranks, set.layout.count, mine(),
                         [&](std::uint32_t number) { return sidecar::subfile_size(set, number); });
}

void Nodes::serve(Communicator& ranks, std::map<std::uint32_t, engine::io::File*> pieces) {
  std::vector<std::byte> mine;
  do_together(ranks, [&] {
    if (!first()) return;
    server_ = std::make_unique<PieceServer>(std::move(pieces));
    mine = bytes_of(server_->invitation());
  });
  for (const std::vector<std::byte>& invitation : ranks.all_gather_any(mine)) {
    if (invitation.empty()) continue;
    const std::size_t node = far_.size();
    far_.push_back(node == node_
                       ? nullptr
                       : std::make_unique<FarNode>(names_[node], invitation_in(invitation)));
  }
}

std::unique_ptr<engine::io::File> Nodes::far_piece(std::uint32_t number, const std::string& path) {
  const std::size_t node = node_of_[number];
  return node == node_ ? nullptr : far_.at(node)->piece(number, path);
}

}  // namespace headrace::stripe
