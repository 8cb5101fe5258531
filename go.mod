// The library needs the hash libraries and nothing else; rapid is for tests.
module github.com/umbel-filters/umbel

go 1.26

require (
	github.com/cespare/xxhash/v2 v2.3.0
	github.com/dchest/siphash v1.2.3
	github.com/klauspost/cpuid/v2 v2.2.10
	github.com/zeebo/xxh3 v1.1.0
	pgregory.net/rapid v1.3.0
)

require golang.org/x/sys v0.30.0 // indirect
