module github.com/umbel-filters/umbel/siblings

go 1.26.0

require (
	github.com/umbel-filters/umbel v0.0.0
	github.com/umbel-filters/umbel/share v0.0.0
	go.uber.org/goleak v1.3.0
	golang.org/x/mod v0.42.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dchest/siphash v1.2.3 // indirect
	github.com/klauspost/cpuid/v2 v2.2.10 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
)

replace github.com/umbel-filters/umbel => ../

replace github.com/umbel-filters/umbel/share => ../share
