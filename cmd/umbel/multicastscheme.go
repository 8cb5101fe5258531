package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/multicast/scheme"
	"github.com/umbel-filters/umbel/inpacket/multicast/sim"
	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// schemeFlags say how trees are written into packets.
type schemeFlags struct {
	name          word
	forms, design string
	effort        int
	stray, drop   quantity.Rate
	dropTTL       uint8
	slack, window int
	repair        bool
	ordered       bool // routers take packets with a sequence only
}

func (f *schemeFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	choice(cmd, &f.name, "scheme", "`SCHEME` that writes trees into packets", wordsOf(scheme.Names())...)
	flags.StringVar(&f.forms, "forms", "", "`FORMS` that umbel may take, between commas: single, staged, folded, linear (default single,staged,linear)")
	flags.IntVar(&f.effort, "effort", inpacket.DefaultSeeds, "`NUMBER` of seeds that umbel tries, 1 to 65536")
	flags.Var(&f.stray, "max-stray", "highest `CHANCE` that a link which nobody knew of matches (default any, with --repair 1%)")
	flags.Var(&f.drop, "drop-stray", "`CHANCE` above which routers drop a header; umbel plans by it too (default any)")
	flags.Uint8Var(&f.dropTTL, "drop-ttl", 0, "`TTL` above which routers drop a packet (default any)")
	flags.IntVar(&f.slack, "ttl-slack", 0, "`HOPS` that a packet of umbel's may take more than the tree has")
	flags.BoolVar(&f.repair, "repair", false, "routers lead packets around links that are down; by forms that take links by OR, with --ttl-slack")
	flags.StringVar(&f.design, "design", "", "`FILE` of umbel multicast design, for adaptive (default the optimum for 1 in 100)")
	completeList(cmd, "forms", []string{"single", "staged", "folded", "linear"})
}

// addWindow adds the flag for packets with a sequence: others pass any window.
func (f *schemeFlags) addWindow(cmd *cobra.Command, which string) {
	cmd.Flags().IntVar(&f.window, "window-sources", 0, "`NUMBER` of sources of which routers remember sequences; "+which)
}

// schemesOf are the schemes that have what a flag sets.
var schemesOf = map[string][]word{
	"forms": {"umbel"}, "effort": {"umbel"}, "max-stray": {"umbel"}, "ttl-slack": {"umbel"},
	"design":     {"adaptive"},
	"drop-stray": {"umbel", "lipsin", "adaptive"}, "drop-ttl": {"umbel", "lipsin", "adaptive"},
	"repair": {"umbel", "lipsin", "adaptive"}, "window-sources": {"umbel", "lipsin", "adaptive"},
	"only-sequenced": {"umbel", "lipsin", "adaptive"},
}

// check refuses flags that the scheme would leave aside.
func (f *schemeFlags) check(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if of := schemesOf[flag.Name]; err == nil && of != nil && !slices.Contains(of, f.name) {
			err = fmt.Errorf("--%s is for %s, not for %s", flag.Name, choiceFlag[word]{all: of}.words(), f.name)
		}
	})
	if err == nil && f.ordered && f.window == 0 {
		err = errors.New("--only-sequenced needs --window-sources, the number of sources to remember")
	}
	if err == nil && (f.effort < 1 || f.effort > mostSeeds) {
		err = fmt.Errorf("--effort %d: want 1 to %d", f.effort, mostSeeds)
	}
	return err
}

// mostSeeds is how many a header can tell apart.
const mostSeeds = 1 << 16

// scheme returns the scheme that the flags ask for.
func (f *schemeFlags) scheme(cmd *cobra.Command) (scheme.Scheme, error) {
	if err := f.check(cmd); err != nil {
		return nil, usageError(cmd, err)
	}
	o := scheme.Options{Seeds: f.effort, MaxFalseMatch: float64(f.stray), Slack: f.slack, Routers: scheme.Routers{
		Repair: f.repair, Window: f.window, OnlySequenced: f.ordered, DropFalseMatch: float64(f.drop), DropTTL: f.dropTTL,
	}}
	if f.forms != "" {
		var err error
		if o.Forms, err = scheme.ParseForms(f.forms); err != nil {
			return nil, usageError(cmd, err)
		}
	}
	if f.design != "" {
		d, err := readDesign(f.design)
		if err != nil {
			return nil, err
		}
		o.Design = d
	}
	return scheme.ByName(f.name.String(), o)
}

// simOptions are those of carrying a scheme's packets.
func simOptions(s scheme.Scheme) sim.Options { return sim.Options{OwnPaths: sim.OwnPaths(s)} }

// largestHint says what to do with a network in parts.
const largestHint = "umbel multicast topo --largest -o FILE writes"

// find finds a tree as the flags say.
func (f *networkFlags) find(g *topology.Graph, source int, receivers []int) (*tree.Tree, error) {
	find := tree.ShortestPath
	if f.kind == sim.Steiner {
		find = tree.Steiner
	}
	t, err := find(g, source, receivers, f.metric)
	if errors.Is(err, tree.ErrDisconnected) {
		err = fmt.Errorf("%w, which %s", err, largestHint)
	}
	return t, err
}
