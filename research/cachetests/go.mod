// A runner for the HTTP caching tests of http-tests/cache-tests. A separate module, so that it can start
// other caches without becoming a part of umbel's program.
module github.com/umbel-filters/umbel/research/cachetests

go 1.26.0

require github.com/umbel-filters/umbel v0.0.0

replace github.com/umbel-filters/umbel => ../../
