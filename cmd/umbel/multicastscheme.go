package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/multicast/scheme"
	"github.com/umbel-filters/umbel/inpacket/multicast/sim"
	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// schemeFlags say how trees are written into packets.
type schemeFlags struct {
	name, forms, design string
	effort              int
	stray, drop         float64
	dropTTL             uint8
	slack, window       int
	repair              bool
}

func (f *schemeFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.name, "scheme", "umbel", "`umbel, lipsin, adaptive, bier or bier-te`")
	flags.StringVar(&f.forms, "forms", "", "forms that umbel may take, between commas: `single, folded, staged, linear` (default single,staged,linear)")
	flags.IntVar(&f.effort, "effort", inpacket.DefaultSeeds, "`NUMBER` of seeds that umbel tries, 1 to 65536")
	flags.Float64Var(&f.stray, "max-stray", 0, "highest `CHANCE` that a link which nobody knew of matches (default any)")
	flags.Float64Var(&f.drop, "drop-stray", 0, "`CHANCE` above which routers drop a header; umbel plans by it too (default any)")
	flags.Uint8Var(&f.dropTTL, "drop-ttl", 0, "`TTL` above which routers drop a packet (default any)")
	flags.IntVar(&f.slack, "ttl-slack", 0, "`HOPS` that a packet may take more than the tree has")
	flags.BoolVar(&f.repair, "repair", false, "routers lead packets around links that are down; forms that take links by OR only")
	flags.StringVar(&f.design, "design", "", "`FILE` with the design of adaptive, of umbel multicast design (default the optimum for 1 in 100)")
	_ = cmd.RegisterFlagCompletionFunc("scheme", cobra.FixedCompletions(scheme.Names(), cobra.ShellCompDirectiveNoFileComp))
}

// addWindow adds the flag for packets with a sequence: others pass any window.
func (f *schemeFlags) addWindow(cmd *cobra.Command, which string) {
	cmd.Flags().IntVar(&f.window, "window-sources", 0, "`NUMBER` of sources of which routers remember sequences; "+which)
}

// scheme returns the scheme that the flags ask for.
func (f *schemeFlags) scheme() (scheme.Scheme, error) {
	o := scheme.Options{Seeds: f.effort, MaxStray: f.stray, Slack: f.slack, Routers: scheme.Routers{
		Repair: f.repair, Window: f.window, DropStray: f.drop, DropTTL: f.dropTTL,
	}}
	if f.forms != "" {
		var err error
		if o.Forms, err = scheme.ParseForms(f.forms); err != nil {
			return nil, err
		}
	}
	if f.design != "" {
		d, err := readDesign(f.design)
		if err != nil {
			return nil, err
		}
		o.Design = d
	}
	return scheme.ByName(f.name, o)
}

// simOptions are those of carrying a scheme's packets.
func simOptions(s scheme.Scheme) sim.Options { return sim.Options{OwnPaths: sim.OwnPaths(s)} }

// kinds are how trees are found.
func (f *networkFlags) kinds() (kind sim.Kind, metric tree.Metric, err error) {
	switch f.metric {
	case tree.Hops.String():
	case tree.Weights.String():
		metric = tree.Weights
	default:
		return 0, 0, fmt.Errorf("--metric %q: want hops or weights", f.metric)
	}
	switch f.tree {
	case sim.Shortest.String():
	case sim.Steiner.String():
		kind = sim.Steiner
	default:
		return 0, 0, fmt.Errorf("--tree %q: want shortest or steiner", f.tree)
	}
	return kind, metric, nil
}

// find finds a tree as the flags say.
func (f *networkFlags) find(cmd *cobra.Command, g *topology.Graph, source int, receivers []int) (*tree.Tree, error) {
	kind, metric, err := f.kinds()
	if err != nil {
		return nil, usageError(cmd, err)
	}
	if kind == sim.Steiner {
		return tree.Steiner(g, source, receivers, metric)
	}
	return tree.ShortestPath(g, source, receivers, metric)
}
