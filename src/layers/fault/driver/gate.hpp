// Changes that are being made, and power cuts, which wait for them: what a cut leaves of a file
// must not be written over by a thread that had begun before.
#pragma once

namespace headrace::fault {

// As long as it lives, from before a change is noted until it has been made or refused, no power is
// cut but by this thread. Waits for a cut in progress. May be nested. `matters`: false does
// nothing.
class UnderWay {
 public:
  explicit UnderWay(bool matters);
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
  ~UnderWay();

 private:
  bool matters_;
};

// As long as it lives no other thread makes a change. Waits for those that are under way, and for
// other cuts.
class Standstill {
 public:
  Standstill();
  Standstill(const Standstill&) = delete;
  Standstill& operator=(const Standstill&) = delete;
  ~Standstill();
  // False when a change did not end in a minute: it may wait for the caller.
  [[nodiscard]] bool reached() const { return reached_; }

 private:
  bool reached_;
};

}  // namespace headrace::fault
