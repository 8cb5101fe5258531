// Package verbs has the verbs of umbel-multicast: plans, designs, simulations and runs over UDP.
package verbs

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/suggest"
	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

const multicastHelp = `Send packets along trees that are encoded in the packets, as filters of links, so that
routers keep no state of groups. The verbs plan such headers, simulate them in networks,
run routers over UDP, and trace the decisions of routers.

A --topology is a file (GML, GraphML, edges in TSV, or Rocketfuel's weights) or is
generated: grid:6x6, ring:20, line:9, star:9, fat-tree:4, waxman:100, barabasi-albert:100x2.
Edges in TSV are lines of fields that tabs separate: first a line for each node, with n, an ID and a
name, then one for each link, with e, two IDs and optionally a weight:

  n	a	Vienna
  n	b	Graz
  e	a	b	2.5

The keys of links derive from the network's key, 32 hexadecimal digits in --key-file, and
from the names of nodes. The default key is all zeros, which is suitable for studies only:
anyone who knows the key can make headers. See docs/multicast.md.

Exit codes: 0 success; 1 packets are missing (umbel-multicast run); 2 error; 130 ended by ^C, and 143 by SIGTERM.`

// Program returns the program umbel-multicast.
func Program() cli.Program {
	return cli.Program{
		Name: "umbel-multicast", Short: "send packets along trees that are encoded in the packets", Long: multicastHelp,
		Example: `  umbel-multicast plan --topology grid:6x6 --sender 0-0 --receivers 5-5,0-5
  umbel-multicast sim --topology waxman:100 --receivers-per-tree 16 --trees 300
  umbel-multicast run --topology grid:5x4 --sender 0-0 --receivers 4-3,0-3 --packets 10000`,
		Groups: []cli.Group{{Title: "Verbs", Verbs: []*cobra.Command{
			multicastTopoCommand(), multicastPlanCommand(), multicastSimCommand(), multicastRunCommand(), multicastTraceCommand(),
			multicastDesignCommand(),
		}}},
	}
}

// networkFlags are the flags of the network and of finding trees in it.
type networkFlags struct {
	topology, keyFile string
	made              uint64
	epoch             uint16
	metric            tree.Metric
	kind              sim.TreeKind
}

// addTopology adds the flags of the graph.
func (f *networkFlags) addTopology(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.topology, "topology", "", "`FILE` of a network, or a generated one such as grid:6x6")
	flags.Uint64Var(&f.made, "topology-seed", 1, "`NUMBER` that determines generated networks")
	cli.Required(cmd, "topology", "give the network: --topology FILE, or a generated one such as --topology grid:6x6")
}

// add adds all flags.
func (f *networkFlags) add(cmd *cobra.Command) {
	f.addTopology(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.keyFile, "key-file", "", "`FILE` with the network's key, 32 hexadecimal digits")
	flags.Uint16Var(&f.epoch, "epoch", 1, "`NUMBER` of the epoch")
	choice(cmd, &f.metric, "metric", "`COST` of paths", tree.Hops, tree.Weights)
	choice(cmd, &f.kind, "tree", "`KIND` of tree", sim.Shortest, sim.Steiner)
}

// graph reads or generates the network's graph. It prints changes to a graph that was read
// on standard error.
func (f *networkFlags) graph(streams *cli.Streams) (*topology.Graph, error) {
	if _, err := os.Stat(f.topology); errors.Is(err, fs.ErrNotExist) {
		g, err := topology.Make(f.topology, f.made)
		if errors.Is(err, topology.ErrRule) {
			name, numbers, colon := strings.Cut(f.topology, ":")
			if near := suggest.Nearest(name, topology.RuleNames()); colon && near != nil && near[0] != name {
				return nil, fmt.Errorf("--topology %s: no such file or rule; did you mean %s:%s?", f.topology, near[0], numbers)
			}
			err = fmt.Errorf("no such file, and %w", err)
		}
		if err != nil {
			return nil, cli.UsageError(fmt.Errorf("--topology %s: %w", f.topology, err))
		}
		return g, nil
	}
	file, err := os.Open(f.topology)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	g, notes, err := topology.Read(file, f.topology)
	if err != nil {
		return nil, err
	}
	if notes != (topology.Notes{}) {
		streams.Remark("%s: %v", f.topology, notes)
	}
	return g, nil
}

// key reads the network's key.
func (f *networkFlags) key() (key inpacket.Key, err error) {
	if f.keyFile == "" {
		return key, nil
	}
	file, err := os.Open(f.keyFile)
	if err != nil {
		return key, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, 1024))
	if err != nil {
		return key, err
	}
	b, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(b) != len(key) {
		return key, fmt.Errorf("%s: want a key of %d hexadecimal digits and a newline", f.keyFile, 2*len(key))
	}
	copy(key[:], b)
	return key, nil
}

// network returns the graph with keys.
func (f *networkFlags) network(streams *cli.Streams) (*multicast.Network, error) {
	g, err := f.graph(streams)
	if err != nil {
		return nil, err
	}
	key, err := f.key()
	if err != nil {
		return nil, err
	}
	return multicast.NewNetwork(g, key, f.epoch), nil
}

// summarizeWritten prints the result, as cli.Report does, of verbs that can write a file. With -q nothing is printed, except with --json,
// because that is the result.
func summarizeWritten(streams *cli.Streams, file string, v any, text func(io.Writer) error) error {
	switch {
	case streams.Quiet && !streams.JSON:
		return nil
	case cli.IsStdout(file):
		streams = streams.ToErr()
	}
	return streams.Answer(v, text)
}

// endFlags are the flags of a tree's source and receivers.
type endFlags struct {
	source    string
	receivers []string
}

func (f *endFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.source, "sender", "", "sending `NODE`: its name, its ID in a file in TSV, or # and its number")
	cmd.Flags().StringArrayVar(&f.receivers, "receivers", nil, "comma-separated receiver `NODES`; repeat the flag for names with commas")
}

// ends returns the nodes of the flags.
func (f *endFlags) ends(g *topology.Graph) (source int, receivers []int, err error) {
	if f.source == "" || len(f.receivers) == 0 {
		return 0, nil, cli.UsageError(errors.New("a tree needs --sender and --receivers"))
	}
	if source, err = nodeNamed(g, f.source); err != nil {
		return 0, nil, err
	}
	for _, given := range f.receivers {
		names := []string{given}
		if _, ok := g.Find(given); !ok {
			names = strings.Split(given, ",")
		}
		for _, name := range names {
			r, err := nodeNamed(g, strings.TrimSpace(name))
			if err != nil {
				return 0, nil, err
			}
			receivers = append(receivers, r)
		}
	}
	return source, receivers, nil
}

// nodeNamed finds a node by its name, its ID, or # and its number. The ID of a node without one is its number.
func nodeNamed(g *topology.Graph, name string) (int, error) {
	if n, ok := g.Find(name); ok {
		return n, nil
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 0 && n < len(g.Nodes) && g.Nodes[n].ID == "" {
		return n, nil
	}
	if rest, ok := strings.CutPrefix(name, "#"); ok {
		if n, err := strconv.Atoi(rest); err == nil && n >= 0 && n < len(g.Nodes) {
			return n, nil
		}
		return 0, fmt.Errorf("no node %s, want #0 to #%d", name, len(g.Nodes)-1)
	}
	return 0, fmt.Errorf("no node %q in %s; umbel-multicast topo --nodes lists the names, and the numbers are #0 to #%d", name, g.Name, len(g.Nodes)-1)
}
