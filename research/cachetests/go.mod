// A runner for the HTTP caching tests of http-tests/cache-tests. A separate module, so that it can start
// other caches without becoming a part of umbel's program.
module github.com/umbel-filters/umbel/research/cachetests

go 1.26.0
