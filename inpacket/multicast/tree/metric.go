package tree

import "github.com/umbel-filters/umbel/inpacket/multicast/topology"

// Metric is what makes a way short.
type Metric uint8

const (
	Hops    Metric = iota // the number of links
	Weights               // the sum of the links' weights
)

// String returns the metric in a word.
func (m Metric) String() string {
	if m == Hops {
		return "hops"
	}
	return "weights"
}

// of returns what a link adds to a way.
func (m Metric) of(l topology.Link) float64 {
	if m == Hops {
		return 1
	}
	return l.Weight
}
