// Package competitors contains other methods of encoding a tree into a packet than those of the library:
// LIPSIN's, BIER and BIER-TE. They have the interface of package scheme, so that the same simulation and the
// same routers carry the packets of all. See [ByName] and [All].
package competitors

import (
	"fmt"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/multicast/adaptive"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/tree"
	"github.com/umbel-filters/umbel/research/competitors/bier"
	"github.com/umbel-filters/umbel/research/competitors/lipsin"
)

// Options are the options of all schemes. Each scheme uses its own; the zero Options are
// valid for all.
type Options struct {
	scheme.Routers // umbel, lipsin, adaptive

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
var with = []func(o Options) scheme.Scheme{
	func(o Options) scheme.Scheme {
		return scheme.Umbel{Forms: o.Forms, Seeds: o.Seeds, MaxFalseMatch: o.MaxFalseMatch, Slack: o.Slack, Routers: o.Routers}
	},
	func(o Options) scheme.Scheme {
		return Lipsin{Design: o.Lipsin, ByRate: o.ByRate, TTL: o.TTL, Routers: o.Routers}
	},
	func(o Options) scheme.Scheme {
		return &scheme.Adaptive{Design: o.Design, Links: o.Links, Rate: o.Rate, TTL: o.TTL, Routers: o.Routers}
	},
	func(o Options) scheme.Scheme { return BIER{bier.Options{MaxBSL: o.MaxBSL, Metric: o.Metric}} },
	func(o Options) scheme.Scheme { return BIERTE{bier.Options{MaxBSL: o.MaxBSL, Metric: o.Metric}} },
}

// All returns all schemes, those of the library and the others, with default options.
func All() []scheme.Scheme {
	var all []scheme.Scheme
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
func ByName(name string, o Options) (scheme.Scheme, error) {
	names := Names()
	if i := slices.Index(names, name); i >= 0 {
		return with[i](o), nil
	}
	return nil, fmt.Errorf("competitors: unknown scheme %q, want one of %s", name, strings.Join(names, ", "))
}
