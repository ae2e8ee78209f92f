// The servers of the modelled file system: who waits for whom, and for how long.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/parameters.hpp"

namespace headrace::model {

// The part of a request that lies in one stripe.
struct Piece {
  std::uint64_t file;
  std::uint64_t stripe;
  std::uint64_t bytes;
};

// The first piece of a request; `length` must not be 0.
Piece first_piece(const Parameters& parameters, std::uint64_t file, std::uint64_t offset,
                  std::uint64_t length);

class Machine {
 public:
  explicit Machine(const Parameters& parameters)
      : parameters_(parameters), free_(parameters.servers), busy_(parameters.servers) {}

  // Queues a piece that reaches its server at `arrival`; calls come in the order of arrival.
  // Returns when the server has done it. All times are seconds from the start.
  double serve(std::uint32_t client, Kind kind, const Piece& piece, double arrival);

  [[nodiscard]] const Parameters& parameters() const { return parameters_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t revocations() const { return revocations_; }
  // Times that the locks were too many to remember; see kMaxLocks.
  [[nodiscard]] std::uint64_t forgotten() const { return forgotten_; }
  [[nodiscard]] double busiest() const;  // seconds that the busiest server worked

 private:
  struct Lock {
    std::uint32_t holder;
    bool written;
  };
  struct Key {
    std::uint64_t file;
    std::uint64_t stripe;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t mixed = (key.stripe + key.file * 0x9e3779b97f4a7c15U) * 0xbf58476d1ce4e5b9U;
      return mixed ^ (mixed >> 31U);
    }
  };

  // Takes the lock; whether another client had it.
  bool take(std::uint32_t client, Kind kind, const Key& key);

  Parameters parameters_;
  std::vector<double> free_;  // when each server has done all it was given
  std::vector<double> busy_;
  std::unordered_map<Key, Lock, Hash> locks_;
  std::uint64_t bytes_ = 0;
  std::uint64_t revocations_ = 0;
  std::uint64_t forgotten_ = 0;
};

// One client that makes one request after the other, as `mode=predict` needs it.
class SingleClient {
 public:
  explicit SingleClient(Parameters parameters) : machine_(without_locks(parameters)) {}
  void request(Kind kind, std::uint64_t offset, std::uint64_t length);
  [[nodiscard]] double seconds() const { return now_; }

 private:
  // Nobody takes one from a lone client, and there may be many.
  static Parameters& without_locks(Parameters& parameters) {
    parameters.revocation = 0;
    return parameters;
  }

  Machine machine_;
  double now_ = 0;
};

}  // namespace headrace::model
