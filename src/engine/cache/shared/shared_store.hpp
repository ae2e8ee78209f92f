// Decoded chunks that all processes of a user on a node share, in memory. No process is in charge,
// and any may be killed at any moment. See docs/decisions/0024.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "engine/cache/shared/slabs.hpp"
#include "engine/cache/store.hpp"

namespace headrace::engine::cache {

// A visitor may be shown bytes that change meanwhile; then read() returns false.
class SharedStore final : public Store {
 public:
  // Joins those that have the store already, whose bounds hold; or makes it, for at most so many
  // bytes. What nobody has used for as long as `linger` is made anew. Throws Error.
  SharedStore(std::size_t memory, std::chrono::nanoseconds linger);
  // That of the process, or of the copy of the library in it, which goes on in children; never
  // ends. The first call's bounds hold. Throws Error.
  static SharedStore& of_process(std::size_t memory, std::chrono::nanoseconds linger);
  static SharedStore* made();  // null where nobody has asked for it
  // Whether chunks would be there only as long as a process has the store: it has no name where the
  // shared folder is too small for so many bytes. A process whose children read is to have it then.
  static bool needs_holders(std::size_t memory);

  // This process needs nothing of it for the time being: `linger` begins.
  void leave();

  // A chunk is filled by the first that claims it; others may wait for it, but not long. True when
  // the store has it then.
  bool wait_for(const Key& key, std::size_t bytes);
  // Of what is larger no chunk is kept.
  [[nodiscard]] std::size_t largest() const;

  bool read(const Key& key, Visitor visitor) override;
  // The same of who does not need the chunk: it goes as early as if nobody had looked.
  bool peek(const Key& key, Visitor visitor);
  void forget(const Key& key) override;
  void forget(const DatasetKey& dataset) override;
  void forget(const io::FileIdentity& file) override;
  [[nodiscard]] std::size_t count(const DatasetKey& dataset) const override;

  // After a fork: the child fills nothing that its parent does.
  void begin_child();

 private:
  struct Filling {
    WaySet set;
    std::size_t way = 0;
    WayState state;
    Buffer chunk;  // as it is to be there
    std::chrono::steady_clock::time_point since;
  };
  enum class Found { no, filled, claimed };

  std::span<std::byte> begin(const Key& key, std::size_t bytes) override;
  void publish(const Key& key) override;
  void abandon(const Key& key) noexcept override;
  std::optional<Filling> taken(const Key& key);

  void open(std::size_t memory, std::chrono::nanoseconds linger);
  [[nodiscard]] Found find(const Key& key, std::size_t of_class) const;
  bool show_if_there(const Key& key, const Visitor& visitor, bool uses) const;
  bool show(Way& way, const std::byte* data, std::size_t of_class, const Key& key,
            const Visitor& visitor) const;
  [[nodiscard]] std::optional<Filling> claim_way(const WaySet& set, std::size_t i,
                                                 const Key& key) const;
  [[nodiscard]] std::optional<Filling> claim_in(const WaySet& set, const Key& key) const;
  [[nodiscard]] std::optional<WayState> try_claim(Way& way) const;
  std::optional<Filling> take(const Key& key, std::size_t of_class);
  static void end(const Filling& filling, std::size_t length);
  [[nodiscard]] bool write(const Filling& filling) const;
  template <typename Condition>
  void forget_if(const Condition& condition) const;

  OwnedDescriptor file_;
  bool held_ = false;  // it has no name
  std::unique_ptr<Slabs> slabs_;
  std::unique_ptr<Owners> owners_;  // none in a child that could take no slot: it only reads
  std::mutex mutex_;
  std::unordered_map<Key, Filling, Hash> filling_;
};

}  // namespace headrace::engine::cache
