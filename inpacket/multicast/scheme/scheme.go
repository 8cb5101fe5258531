package scheme

import (
	"time"

	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// Scheme is a way to write a tree into packets.
type Scheme interface {
	// Name is the scheme's in commands and tables: umbel, lipsin, adaptive, bier,
	// bier-te.
	Name() string
	// Domain sets the scheme up. Headers are planned for the network as it is known,
	// and meet routers of the network as it is at present, with the same nodes but
	// perhaps other links; the two are the same unless that is what is studied.
	Domain(known, present *multicast.Network) (Domain, error)
}

// Domain is a scheme set up over a network. It belongs to one goroutine.
type Domain interface {
	// Plan writes a tree of the known network into packets, in which a group is
	// named.
	Plan(t *tree.Tree, group uint32) (Plan, error)
	// Router returns the router of a node of the present network, always the same one.
	Router(node int) multicast.Router
	// Receive says which nodes take packets of a group from now on: receivers of
	// schemes whose packets hold links, and not receivers, are known to their routers
	// by group.
	Receive(group uint32, nodes []int)
}

// Plan is a tree, written.
type Plan struct {
	Headers [][]byte      // one packet each; most schemes need one
	Bits    int           // of all headers that a scheme spends on the tree: filter and seed, or bits of receivers
	Form    string        // of the filter, in a word
	Search  time.Duration // how long it took
}
