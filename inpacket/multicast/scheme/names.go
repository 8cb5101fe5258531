package scheme

import (
	"fmt"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/adaptive"
	"github.com/umbel-filters/umbel/inpacket/lipsin"
	"github.com/umbel-filters/umbel/inpacket/multicast/bier"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

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
