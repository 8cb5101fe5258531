// The library. Filters, their plans and their messages need the hash libraries and cpuid only; publications (share) need
// x/mod for signed notes and flock, and multicast needs x/sys for sockets. goleak and rapid are for tests.
module github.com/umbel-filters/umbel

go 1.25.0

require (
	github.com/cespare/xxhash/v2 v2.3.0
	github.com/dchest/siphash v1.2.3
	github.com/gofrs/flock v0.13.1
	github.com/klauspost/cpuid/v2 v2.2.10
	github.com/zeebo/xxh3 v1.1.0
	go.uber.org/goleak v1.3.0
	golang.org/x/mod v0.40.0
	golang.org/x/sys v0.47.0
	pgregory.net/rapid v1.3.0
)
