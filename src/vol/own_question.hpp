// What a connector asks of those below on its own account, by calls that a program makes, too.
#pragma once

namespace headrace::vol {

// While it lives the connectors below take calls for questions of the layer above, not of the
// program. The application's thread only.
class OwnQuestion {
 public:
  OwnQuestion() { ++asked_; }
  OwnQuestion(const OwnQuestion&) = delete;
  OwnQuestion& operator=(const OwnQuestion&) = delete;
  ~OwnQuestion() { --asked_; }

  static bool is_asked() { return asked_ > 0; }

 private:
  static inline thread_local int asked_ = 0;
};

}  // namespace headrace::vol
