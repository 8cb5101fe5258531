package verbs

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// schemeFlags are the flags of the scheme that encodes trees into packets.
type schemeFlags struct {
	name          word
	forms, design string
	effort        int
	falseMatch    quantity.Rate // the largest of headers
	dropMatch     quantity.Rate // the largest that routers accept
	dropTTL       uint8
	slack, window int
	repair        bool
	given         cli.Given
	ordered       bool // routers accept only packets with a sequence number
}

func (f *schemeFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	choice(cmd, &f.name, "scheme", "`SCHEME` that encodes trees into packets", "umbel", "adaptive")
	flags.StringVar(&f.forms, "forms", "", "comma-separated `FORMS` that umbel searches: "+strings.Join(scheme.FormNames(), ", ")+" (default all but folded)")
	flags.IntVar(&f.effort, "effort", inpacket.DefaultSeeds, "`NUMBER` of seeds that umbel tries, 1 to 65536")
	flags.Var(&f.falseMatch, "max-false-match", "largest `PROBABILITY` that a link unknown to the planner matches (default no limit, with --repair 1%)")
	flags.Var(&f.dropMatch, "drop-false-match", "`PROBABILITY` of a false match above which routers drop a packet; umbel plans within it (default no limit)")
	flags.Uint8Var(&f.dropTTL, "drop-ttl", 0, "`TTL` above which routers drop a packet (default no limit)")
	flags.IntVar(&f.slack, "ttl-slack", 0, "`HOPS` added to the TTL of umbel's packets")
	flags.BoolVar(&f.repair, "repair", false, "routers send packets around links that are down; needs --ttl-slack and, for umbel, the form single or folded")
	flags.StringVar(&f.design, "design", "", "`FILE` of umbel-multicast design, for adaptive (default the optimum for a rate of 1%)")
	f.given = cli.GivenFlags(cmd)
	spec.Group(flags, schemeGroup, "forms", "effort", "max-false-match", "drop-false-match", "drop-ttl", "ttl-slack", "repair", "design")
	completeList(cmd, "forms", scheme.FormNames())
}

// schemeGroup is the title of flags in the help.
const schemeGroup = "Schemes and routers"

// addWindow adds the flag for packets with a sequence number. Windows ignore other packets.
func (f *schemeFlags) addWindow(cmd *cobra.Command, which string) {
	cmd.Flags().IntVar(&f.window, "window-sources", 0, "`NUMBER` of sources whose sequence numbers routers remember; "+which)
	spec.Group(cmd.Flags(), schemeGroup, "window-sources")
}

// schemeOf is the scheme that uses a flag, if the other ignores it.
var schemeOf = map[string]word{
	"forms": "umbel", "effort": "umbel", "max-false-match": "umbel", "ttl-slack": "umbel", "design": "adaptive",
}

// check returns an error if the scheme ignores a flag that is set.
func (f *schemeFlags) check() (err error) {
	for _, name := range slices.Sorted(maps.Keys(f.given)) {
		if of := schemeOf[name]; of != "" && of != f.name {
			return fmt.Errorf("--%s is for %s, not for %s", name, of, f.name)
		}
	}
	if err == nil && f.ordered && f.window == 0 {
		err = errors.New("--only-sequenced needs --window-sources")
	}
	if err == nil && f.repair && f.slack == 0 && f.name == "umbel" {
		err = errors.New("--repair needs --ttl-slack, such as 4: packets around a link take more hops")
	}
	if err == nil && (f.effort < 1 || f.effort > mostSeeds) {
		err = fmt.Errorf("--effort %d: want 1 to %d", f.effort, mostSeeds)
	}
	return err
}

// mostSeeds is the number of seeds that a header can contain.
const mostSeeds = 1 << 16

// scheme returns the scheme of the flags.
func (f *schemeFlags) scheme() (scheme.Scheme, error) {
	if err := f.check(); err != nil {
		return nil, cli.UsageError(err)
	}
	routers := scheme.Routers{
		Repair: f.repair, Window: f.window, OnlySequenced: f.ordered, DropFalseMatch: float64(f.dropMatch), DropTTL: f.dropTTL,
	}
	if f.name == "adaptive" {
		s := &scheme.Adaptive{Routers: routers}
		if f.design != "" {
			d, err := readDesign(f.design)
			if err != nil {
				return nil, err
			}
			s.Design = d
		}
		return s, nil
	}
	s := scheme.Umbel{Seeds: f.effort, MaxFalseMatch: float64(f.falseMatch), Slack: f.slack, Routers: routers}
	if f.forms != "" {
		var err error
		if s.Forms, err = scheme.ParseForms(f.forms); err != nil {
			return nil, cli.UsageError(err)
		}
	}
	return s, nil
}

// largestHint is the remedy for a network that is not connected.
const largestHint = "umbel-multicast topo --largest -o FILE writes"

// find finds a tree with the metric and kind of the flags.
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

// treeInputs are the flags of treeFlags that name files.
var treeInputs = []string{"topology", "design", "key-file"}

// treeFlags are the flags of a tree and of the scheme that encodes it.
type treeFlags struct {
	net  networkFlags
	ends endFlags
	how  schemeFlags
}

func (f *treeFlags) add(cmd *cobra.Command) {
	f.net.add(cmd)
	f.ends.add(cmd)
	f.how.add(cmd)
}

// plannedTree is a tree that a scheme has encoded.
type plannedTree struct {
	network *multicast.Network
	tree    *tree.Tree
	scheme  scheme.Scheme
	domain  scheme.Domain // the tree's receivers have joined the group
	plan    scheme.Plan
}

// plan finds and encodes the tree.
func (f *treeFlags) plan(streams *cli.Streams, group uint32) (p plannedTree, err error) {
	if p.network, err = f.net.network(streams); err != nil {
		return p, err
	}
	source, receivers, err := f.ends.ends(p.network.Graph)
	if err != nil {
		return p, err
	}
	if p.tree, err = f.net.find(p.network.Graph, source, receivers); err != nil {
		return p, err
	}
	if p.scheme, err = f.how.scheme(); err != nil {
		return p, err
	}
	if p.domain, err = p.scheme.Domain(p.network, p.network); err != nil {
		return p, err
	}
	if p.plan, err = p.domain.Plan(p.tree, group); err != nil {
		return p, err
	}
	p.domain.Receive(group, p.tree.Receivers)
	return p, nil
}
