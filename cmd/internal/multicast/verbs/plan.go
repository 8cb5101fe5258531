package verbs

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/multicast/draw"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/multicast/tree"
)

const multicastPlanHelp = `Find a tree from --sender to --receivers and encode it into a packet's header. The header
is printed in hexadecimal; -o also writes its bytes to a file. The command then sends the
packet through the network in memory and prints the result. The bits of a header are those
of the filter and 8 or 16 bits of seed.

--scheme umbel searches for the shortest filter that contains the tree and none of the
links next to it. --forms restricts the forms: linear, deep and complement are the shortest,
and routers can add links to single and folded. --effort is the number of seeds to try. --max-false-match
limits the probability that a link unknown to the planner matches.

For few receivers, a plain list of their numbers is shorter than a tree. The command says so
if it is: such packets need routers with unicast tables. See docs/multicast.md.`

func multicastPlanCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan --topology FILE --sender NODE --receivers NODES",
		Short: "encode a tree into a packet's header",
		Long:  multicastPlanHelp,
		Example: `  umbel-multicast plan --topology grid:6x6 --sender 0-0 --receivers 5-5,0-5
  umbel-multicast plan --topology grid:6x6 --sender 0-0 --receivers 5-5,0-5 --forms single --svg tree.svg`,
		Args: cli.NoArguments,

		DisableFlagsInUseLine: true,
	}
	o := new(planOptions)
	o.add(cmd)
	flags := cmd.Flags()
	flags.Uint32Var(&o.group, "group", 1, "`NUMBER` of the group")
	flags.StringVarP(&o.output, "output", "o", "", "`FILE` to write: the bytes of the header")
	flags.StringVar(&o.svg, "svg", "", "write a drawing to `FILE`: the tree")
	// Headers begin with the version.
	cli.GuardOutputs(cmd, cli.OutputFlag{Heads: []string{"\x10"}, Inputs: treeInputs},
		cli.OutputFlag{Name: "svg", Heads: []string{cli.SVGHead}, Inputs: treeInputs})
	return cli.Verb(cmd, o.run)
}

// planOptions are the flags of umbel-multicast plan.
type planOptions struct {
	treeFlags
	group       uint32
	output, svg string
}

func (o *planOptions) run(_ context.Context, streams *cli.Streams, _ []string) error {
	on, err := o.plan(streams, o.group)
	if err != nil {
		return err
	}
	fabric := sim.NewFabric(on.network)
	record := fabric.Send(on.domain, on.tree, on.plan, sim.Options{})
	if o.output != "" {
		headers := on.plan.Headers
		if len(headers) > 1 {
			return fmt.Errorf("%s encodes this tree into %d packets, but -o writes one", on.scheme.Name(), len(headers))
		}
		if _, err := streams.WriteFile(o.output, -1, func(w io.Writer) error { _, err := w.Write(headers[0]); return err }); err != nil {
			return err
		}
	}
	if o.svg != "" {
		trace := fabric.Trace(on.domain, on.tree, on.plan, sim.Options{})
		if err := drawTree(streams, o.svg, on.tree, &trace); err != nil {
			return err
		}
	}
	info := newPlanInfo(on.scheme, on.tree, on.plan, record)
	return summarizeWritten(streams, o.output, info, info.Write)
}

// planInfo is the output of umbel-multicast plan.
type planInfo struct {
	Scheme     string   `json:"scheme"`
	Form       string   `json:"form"`
	Bits       int      `json:"bits"`
	Headers    []string `json:"headers"` // in hexadecimal
	Bytes      int      `json:"bytes"`
	FalseMatch float64  `json:"falseMatch"` // probability that a link unknown to the planner matches
	Trials     uint64   `json:"trials"`     // number of filters tried
	SearchMS   float64  `json:"searchMs"`
	ListBits   int      `json:"listBits"` // of a plain list of the receivers
	Source     string   `json:"source"`
	Receivers  []string `json:"receivers"`
	Links      []string `json:"links"` // of the tree, as FROM>TO
	Hops       int      `json:"hops"`

	Copies        int     `json:"copies"`
	FalseForwards int     `json:"falseForwards"`
	Efficiency    float64 `json:"efficiency"`
	Loops         int     `json:"loops"`
	Reached       int     `json:"reached"`
}

func newPlanInfo(s scheme.Scheme, t *tree.Tree, p scheme.Plan, r sim.Record) planInfo {
	nodes := t.Graph.Nodes
	in := planInfo{
		Scheme: s.Name(), Form: p.Form, Bits: p.Bits, SearchMS: float64(p.Search) / float64(time.Millisecond),
		Source: nodes[t.Source].Name, Links: []string{}, Hops: t.Depth(),
		FalseMatch: p.FalseMatch, Trials: p.Trials, ListBits: scheme.ListBits(t),
		Copies: r.Copies, FalseForwards: r.FalseForwards(), Efficiency: r.Efficiency(), Loops: r.Loops, Reached: r.Reached,
	}
	for _, h := range p.Headers {
		in.Headers = append(in.Headers, hex.EncodeToString(h))
		in.Bytes += len(h)
	}
	for _, n := range t.Receivers {
		in.Receivers = append(in.Receivers, nodes[n].Name)
	}
	for _, step := range t.Steps {
		from, to := t.Graph.Ends(step.Arc)
		in.Links = append(in.Links, nodes[from].Name+">"+nodes[to].Name)
	}
	return in
}

func (in planInfo) Write(w io.Writer) error {
	fmt.Fprintf(w, "%s to %s: %d links, at most %d hops\n", in.Source, strings.Join(in.Receivers, ", "), len(in.Links), in.Hops)
	fmt.Fprintf(w, "%s, %s: %d bits, a header of %d bytes, found in %.2f ms\n", in.Scheme, in.Form, in.Bits, in.Bytes, in.SearchMS)
	if in.FalseMatch > 0 {
		fmt.Fprintf(w, "a link unknown to the planner matches with probability %.3g\n", in.FalseMatch)
	}
	if in.ListBits < in.Bits {
		fmt.Fprintf(w, "a list of the receivers is shorter, %d bits, if routers have unicast tables\n", in.ListBits)
	}
	fmt.Fprintf(w, "simulated: %d copies, %d of them false, efficiency %.1f%%, %d of %d receivers reached\n",
		in.Copies, in.FalseForwards, 100*in.Efficiency, in.Reached, len(in.Receivers))
	for _, h := range in.Headers {
		if _, err := fmt.Fprintln(w, h); err != nil {
			return err
		}
	}
	return nil
}

// drawTree draws a tree with the false forwards that a trace found.
func drawTree(streams *cli.Streams, file string, t *tree.Tree, trace *sim.Trace) error {
	o := draw.Options{Tree: t, False: trace.False}
	_, err := streams.WriteFile(file, -1, func(w io.Writer) error { return draw.SVG(w, t.Graph, o) })
	return err
}
