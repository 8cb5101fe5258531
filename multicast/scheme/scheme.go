// Package scheme contains the methods of encoding a tree into a packet: umbel's,
// LIPSIN's, the truncated filters of Heszberger et al., BIER and BIER-TE. All have the
// same interface, so that they can be compared.
//
// A [Scheme] returns a [Domain] for a network. The domain plans headers and has the
// routers that forward them. See [ByName] and [All].
package scheme

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/adaptive"
	"github.com/umbel-filters/umbel/multicast/bier"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/lipsin"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// Scheme is a method of encoding a tree into packets.
type Scheme interface {
	// Name returns the name in commands and tables: umbel, lipsin, adaptive, bier or
	// bier-te.
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
	// umbel these are the filter and the seed of 8 bits, or 16 above 255; for LIPSIN and
	// the adaptive filters the filter and 8 bits for the set of codewords; for BIER and
	// BIER-TE the bit strings. Fields that all headers have and padding are not counted.
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

// Options are the options of all schemes. Each scheme uses its own; the zero Options are
// valid for all.
type Options struct {
	Routers // umbel, lipsin, adaptive

	Forms         []inpacket.Form // umbel
	Seeds         int             // umbel
	MaxFalseMatch float64         // umbel
	Slack         int             // umbel

	TTL    int               // lipsin, adaptive
	Lipsin lipsin.Parameters // lipsin
	ByRate bool              // lipsin
	Design *adaptive.Design  // adaptive
	Links  int               // adaptive
	Rate   float64           // adaptive

	MaxBSL int         // bier, bier-te
	Metric tree.Metric // bier: the metric of its paths
}

// with are constructors of the schemes, in the order of tables.
var with = []func(o Options) Scheme{
	func(o Options) Scheme {
		return Umbel{Forms: o.Forms, Seeds: o.Seeds, MaxFalseMatch: o.MaxFalseMatch, Slack: o.Slack, Routers: o.Routers}
	},
	func(o Options) Scheme {
		return Lipsin{Design: o.Lipsin, ByRate: o.ByRate, TTL: o.TTL, Routers: o.Routers}
	},
	func(o Options) Scheme {
		return &Adaptive{Design: o.Design, Links: o.Links, Rate: o.Rate, TTL: o.TTL, Routers: o.Routers}
	},
	func(o Options) Scheme { return BIER{bier.Options{MaxBSL: o.MaxBSL, Metric: o.Metric}} },
	func(o Options) Scheme { return BIERTE{bier.Options{MaxBSL: o.MaxBSL, Metric: o.Metric}} },
}

// All returns all schemes with default options.
func All() []Scheme {
	var all []Scheme
	for _, s := range with {
		all = append(all, s(Options{}))
	}
	return all
}

// Names returns the names of all schemes, in the order of All.
func Names() []string {
	var names []string
	for _, s := range All() {
		names = append(names, s.Name())
	}
	return names
}

// ByName returns the scheme of a name with options. Its Domain method returns an error if
// options are not valid.
func ByName(name string, o Options) (Scheme, error) {
	names := Names()
	if i := slices.Index(names, name); i >= 0 {
		return with[i](o), nil
	}
	return nil, fmt.Errorf("scheme: unknown scheme %q, want one of %s", name, strings.Join(names, ", "))
}
