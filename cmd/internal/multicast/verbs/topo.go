package verbs

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/multicast/draw"
	"github.com/umbel-filters/umbel/multicast/topology"
)

const multicastTopoHelp = `Describe a network: the numbers of nodes and links, the lengths of shortest paths, and
whether it is connected. Parallel links are merged, links from a node to itself are
dropped, and names are made unique in the order of the file; the command reports these
changes on standard error.

--largest keeps the largest part of a network that isn't connected. -o writes the network
as edges in TSV, which all verbs read; --svg draws it.`

func multicastTopoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "topo --topology FILE",
		Short: "describe a network",
		Long:  multicastTopoHelp,
		Example: `  umbel-multicast topo --topology fat-tree:4
  umbel-multicast topo --topology Cogentco.gml --largest -o cogentco.tsv --svg cogentco.svg`,
		Args: cli.NoArguments,

		DisableFlagsInUseLine: true,
	}
	o := new(topoOptions)
	o.net.addTopology(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&o.largest, "largest", false, "keep the largest connected part")
	flags.BoolVar(&o.nodes, "nodes", false, "list the nodes with their neighbors")
	flags.StringVarP(&o.output, "output", "o", "", "`FILE` to write: the network as edges in TSV")
	flags.StringVar(&o.svg, "svg", "", "write a drawing to `FILE`: the network")
	cli.GuardOutputs(cmd, cli.OutputFlag{Heads: []string{"# "}, Inputs: []string{"topology"}},
		cli.OutputFlag{Name: "svg", Heads: []string{cli.SVGHead}, Inputs: []string{"topology"}})
	return cli.Verb(cmd, o.run)
}

// topoOptions are the flags of umbel-multicast topo.
type topoOptions struct {
	net            networkFlags
	largest, nodes bool
	output, svg    string
}

func (o *topoOptions) run(_ context.Context, streams *cli.Streams, _ []string) error {
	g, err := o.net.graph(streams)
	if err != nil {
		return err
	}
	if o.largest {
		g = g.LargestComponent()
	}
	if o.output != "" {
		if _, err := streams.WriteFile(o.output, -1, func(w io.Writer) error { return topology.WriteTSV(w, g) }); err != nil {
			return err
		}
	}
	if o.svg != "" {
		draws := func(w io.Writer) error { return draw.SVG(w, g, draw.Options{}) }
		if _, err := streams.WriteFile(o.svg, -1, draws); err != nil {
			return err
		}
	}
	t := describeTopology(g, o.nodes)
	return summarizeWritten(streams, o.output, t, t.Write)
}

// topologyInfo is the output of umbel-multicast topo.
type topologyInfo struct {
	Name       string     `json:"name"`
	Nodes      int        `json:"nodes"`
	Links      int        `json:"links"`
	Parts      int        `json:"parts"` // connected parts
	MaxDegree  int        `json:"maxDegree"`
	MeanDegree float64    `json:"meanDegree"`
	Diameter   int        `json:"diameter"` // of the largest part, in links
	MeanHops   float64    `json:"meanHops"` // between two nodes of a part
	List       []nodeInfo `json:"nodeList,omitempty"`
}

type nodeInfo struct {
	Number     int      `json:"number"`
	Name       string   `json:"name"`
	Neighbours []string `json:"neighbors"`
}

func describeTopology(g *topology.Graph, list bool) topologyInfo {
	ports := g.Ports()
	d := g.Distances()
	_, parts := g.Components()
	t := topologyInfo{
		Name: g.Name, Nodes: len(g.Nodes), Links: len(g.Links), Parts: len(parts),
		Diameter: d.Diameter, MeanHops: d.Mean, MeanDegree: 2 * float64(len(g.Links)) / float64(max(1, len(g.Nodes))),
	}
	for i, ps := range ports {
		t.MaxDegree = max(t.MaxDegree, len(ps))
		if list {
			n := nodeInfo{Number: i, Name: g.Nodes[i].Name, Neighbours: []string{}}
			for _, p := range ps {
				n.Neighbours = append(n.Neighbours, g.Nodes[p.Neighbor].Name)
			}
			t.List = append(t.List, n)
		}
	}
	return t
}

func (t topologyInfo) Write(w io.Writer) error {
	connected := "connected"
	if t.Parts != 1 {
		connected = fmt.Sprintf("in %d parts that are not connected; --largest keeps one", t.Parts)
	}
	fmt.Fprintf(w, "%s: %d nodes, %d links, %s\n", t.Name, t.Nodes, t.Links, connected)
	fmt.Fprintf(w, "degree %.2f on average, at most %d; shortest paths of %.2f links on average, at most %d\n", t.MeanDegree, t.MaxDegree, t.MeanHops, t.Diameter)
	if len(t.List) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	rows := table.New(" Number", "Node", "Neighbours")
	for _, n := range t.List {
		rows.Row(fmt.Sprint(n.Number), n.Name, strings.Join(n.Neighbours, ", "))
	}
	_, err := rows.WriteTo(w)
	return err
}
