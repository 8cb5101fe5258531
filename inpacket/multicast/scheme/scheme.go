// Package scheme lists the ways to write a tree into a packet: umbel's, LIPSIN's,
// the truncated filters of Heszberger et al., BIER and BIER-TE. All have the same
// face, so that they can be compared.
//
// A [Scheme], set up over a network, is a [Domain], which plans headers and has the
// routers that they meet; see [ByName] and [All].
package scheme

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/adaptive"
	"github.com/umbel-filters/umbel/inpacket/lipsin"
	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/bier"
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
	// Each router belongs to one goroutine, which may be another one than the domain's.
	// Those of schemes with filters are *multicast.Node.
	Router(node int) multicast.Router
	// Receive says which nodes take packets of a group from now on: receivers of
	// schemes whose packets hold links, and not receivers, are known to their routers
	// by group.
	Receive(group uint32, nodes []int)
}

// Plan is a tree, written.
type Plan struct {
	Headers [][]byte // one packet each; most schemes need one

	// Bits is what the scheme spends on the tree, of all headers: of umbel the filter
	// and 8 bits of seed, 16 if it is above 255; of LIPSIN and the adaptive filters the
	// filter and 8 bits that say which set of codewords; of BIER and BIER-TE the bit
	// strings. Fields that all headers have aren't counted, nor is padding.
	Bits int

	Form   string        // of the filter, in a word
	Search time.Duration // how long it took

	// False is how many arcs of the known network next to the tree match though they
	// shouldn't, asked with the TTL that routers there will see.
	False int
	// Stray is the chance that the filter holds an arc which the planner didn't look at,
	// a new one for example; 0 of schemes without filters.
	Stray float64
	// Trials is how many filters were looked at.
	Trials uint64
}

// Options are those of all schemes; each takes what it has. The zero Options are
// good for all.
type Options struct {
	Routers // umbel, lipsin, adaptive

	Forms    []inpacket.Form // umbel
	Seeds    int             // umbel
	MaxStray float64         // umbel
	Slack    int             // umbel

	TTL    int              // lipsin, adaptive
	Lipsin lipsin.Design    // lipsin
	ByRate bool             // lipsin
	Design *adaptive.Design // adaptive
	Links  int              // adaptive
	Rate   float64          // adaptive

	MaxBSL int         // bier, bier-te
	Metric tree.Metric // bier: by what its paths are short
}

// with are the schemes by name, in the order of tables.
var with = []func(o Options) Scheme{
	func(o Options) Scheme {
		return Umbel{Forms: o.Forms, Seeds: o.Seeds, MaxStray: o.MaxStray, Slack: o.Slack, Routers: o.Routers}
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

// All returns all schemes, as they are without options.
func All() []Scheme {
	var all []Scheme
	for _, s := range with {
		all = append(all, s(Options{}))
	}
	return all
}

// Names returns the names of all schemes, in All's order.
func Names() []string {
	var names []string
	for _, s := range All() {
		names = append(names, s.Name())
	}
	return names
}

// ByName returns the scheme of a name with options. Options that can't be are found
// by its Domain.
func ByName(name string, o Options) (Scheme, error) {
	names := Names()
	if i := slices.Index(names, name); i >= 0 {
		return with[i](o), nil
	}
	return nil, fmt.Errorf("scheme: no scheme %q, want one of %s", name, strings.Join(names, ", "))
}
