// Package scheme contains methods of encoding a tree into a packet: [Umbel]'s, and
// [Adaptive], the truncated filters of Heszberger et al. [Dense] helps to make others with
// stored codewords.
//
// A [Scheme] returns a [Domain] for a network. The domain plans headers and has the
// routers that forward them.
package scheme

import (
	"math/bits"
	"time"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// Scheme is a method of encoding a tree into packets.
type Scheme interface {
	// Name returns the name in commands and tables, for example umbel or adaptive.
	Name() string
	// Domain returns a domain of the scheme. Headers are planned for the known network,
	// and routers forward over the present network, which has the same nodes but may have
	// other links. The two are the same unless their difference is what is studied.
	Domain(known, present *multicast.Network) (Domain, error)
}

// Domain is a scheme for a network. It is not safe for concurrent use.
type Domain interface {
	// Plan encodes a tree of the known network into packets for a group.
	Plan(t *tree.Tree, group uint32) (Plan, error)
	// Router returns the router of a node of the present network, always the same one. A
	// router is not safe for concurrent use, but different routers are. Those of schemes
	// with filters are *multicast.Node.
	Router(node int) multicast.Router
	// Receive sets the nodes that receive packets of a group. For schemes whose packets
	// contain links instead of receivers, routers identify receivers by group.
	Receive(group uint32, nodes []int)
}

// Plan is an encoded tree.
type Plan struct {
	Headers [][]byte // one packet each; most schemes need one

	// Bits is the number of bits that the scheme spends on the tree, in all headers. For
	// umbel these are the filter and the seed of 8 bits, or 16 above 255; with stored
	// codewords the filter and 8 bits for the set of codewords. Fields that all headers have
	// and padding are not counted.
	Bits int

	Form   string        // form of the filter, as a word
	Search time.Duration // duration of the search

	// False is the number of arcs next to the tree in the known network that match
	// falsely, for the TTL that their routers will see.
	False int
	// FalseMatch is the probability that the filter matches an arc that was unknown to
	// the planner, for example a new one; 0 for schemes without filters.
	FalseMatch float64
	// Trials is the number of filters tried.
	Trials uint64
}

// ListBits returns the bits of a plain list of a tree's receivers, as numbers of nodes. If
// routers have tables of all nodes, it is an alternative to an encoded tree, and shorter for
// few receivers.
func ListBits(t *tree.Tree) int { return len(t.Receivers) * bits.Len(uint(len(t.Graph.Nodes)-1)) }
