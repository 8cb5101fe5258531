// Multicast by filters in packets. It is a module of its own so that the library
// needs neither graphs nor sockets.
module github.com/umbel-filters/umbel/inpacket/multicast

go 1.26.0

require (
	github.com/umbel-filters/umbel v0.0.0
	gonum.org/v1/gonum v0.17.0
)

require github.com/dchest/siphash v1.2.3 // indirect

replace github.com/umbel-filters/umbel => ../../
