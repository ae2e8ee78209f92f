// SIGINT and SIGTERM end a run between two operations, so that it can say what it leaves behind.
#pragma once

namespace headrace::bench {

void catch_signals();

}  // namespace headrace::bench
