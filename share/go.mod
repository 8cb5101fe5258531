module github.com/umbel-filters/umbel/share

go 1.26.0

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dchest/siphash v1.2.3 // indirect
	github.com/klauspost/cpuid/v2 v2.2.10 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	golang.org/x/mod v0.42.0
	golang.org/x/sys v0.47.0 // indirect
)

require github.com/umbel-filters/umbel v0.0.0

require github.com/gofrs/flock v0.13.1

replace github.com/umbel-filters/umbel => ../
