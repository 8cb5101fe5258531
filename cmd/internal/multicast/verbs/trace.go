package verbs

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/sim"
)

const multicastTraceHelp = `Follow a packet through a network in memory, router by router: the links on which it was
sent, where it was delivered, which copies are false, and why it was dropped.

The packet is that of a tree, as made by umbel-multicast plan, or the one in --header, in
hexadecimal, which is given to the router of --sender. A header that cannot be parsed is an error. The
TTL is that of the arriving packet. For a tree's packet --svg draws the tree, with false
forwards dashed and in another color.`

func multicastTraceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trace --topology FILE --sender NODE (--receivers NODES | --header HEX)",
		Short: "follow a packet from router to router",
		Long:  multicastTraceHelp,
		Example: `  umbel-multicast trace --topology grid:6x6 --sender 0-0 --receivers 5-5,0-5
  umbel-multicast trace --topology grid:6x6 --sender 0-0 --header 100a2075000c000100000001f6030000`,
		Args: cli.NoArguments,

		DisableFlagsInUseLine: true,
	}
	o := new(traceOptions)
	from := &o.treeFlags
	from.add(cmd)
	from.how.addWindow(cmd, "for --header with a sequence number")
	flags := cmd.Flags()
	flags.StringVar(&o.header, "header", "", "a packet in `HEX`")
	flags.StringVar(&o.svg, "svg", "", "write a drawing to `FILE`: the tree")
	cli.OutputFlag{Name: "svg", Heads: []string{cli.SVGHead}, Inputs: treeInputs}.Guard(cmd)
	cli.Exclusive(cmd, "header", "receivers")
	cli.Exclusive(cmd, "header", "svg")
	return cli.Verb(cmd, o.run)
}

// traceOptions are the flags of umbel-multicast trace.
type traceOptions struct {
	treeFlags
	header, svg string
}

func (o *traceOptions) run(_ context.Context, streams *cli.Streams, _ []string) error {
	if o.header != "" {
		return traceHeader(streams, &o.treeFlags, o.header)
	}
	on, err := o.plan(streams, traceGroup)
	if err != nil {
		return err
	}
	trace := sim.NewFabric(on.network).Trace(on.domain, on.tree, on.plan, sim.Options{})
	if o.svg != "" {
		if err := drawTree(streams, o.svg, on.tree, &trace); err != nil {
			return err
		}
	}
	return streams.Answer(trace, func(w io.Writer) error { _, err := io.WriteString(w, trace.String()); return err })
}

// traceGroup is the group of traced packets.
const traceGroup = 1

// traceHeader follows the packet of --header.
func traceHeader(streams *cli.Streams, from *treeFlags, header string) error {
	packet, err := hex.DecodeString(strings.Join(strings.Fields(header), ""))
	if err != nil {
		return cli.UsageError(fmt.Errorf("--header %q, want two hexadecimal digits per byte", header))
	}
	if from.ends.source == "" {
		return cli.UsageError(errors.New("--header needs --sender"))
	}
	n, err := from.net.network(streams)
	if err != nil {
		return err
	}
	source, err := nodeNamed(n.Graph, from.ends.source)
	if err != nil {
		return err
	}
	s, err := from.how.scheme()
	if err != nil {
		return err
	}
	domain, err := s.Domain(n, n)
	if err != nil {
		return err
	}
	info := headerTrace{}
	if info.Header, err = newHeaderInfo(packet); err != nil {
		return fmt.Errorf("--header: %w", err)
	}
	info.Trace = sim.NewFabric(n).TraceHeader(domain, source, packet, sim.Options{})
	return streams.Answer(info, info.Write)
}

// headerTrace is the output of umbel-multicast trace for --header.
type headerTrace struct {
	Header *headerInfo `json:"header"`
	sim.Trace
}

// headerInfo describes a header with a filter.
type headerInfo struct {
	Form  string `json:"form"`
	Bits  int    `json:"bits"`
	Ones  int    `json:"ones"`
	K     uint8  `json:"k"`
	Seed  uint16 `json:"seed"`
	TTL   uint8  `json:"ttl"`
	Epoch uint16 `json:"epoch"`
	Group uint32 `json:"group"`
}

func newHeaderInfo(packet []byte) (*headerInfo, error) {
	var h inpacket.Header
	if _, err := h.Parse(packet); err != nil {
		return nil, err
	}
	return &headerInfo{
		Form: scheme.FormName(h.Form), Bits: h.Bits, Ones: h.Ones(), K: h.K, Seed: h.Seed,
		TTL: h.TTL, Epoch: h.Epoch, Group: h.Group,
	}, nil
}

func (in headerTrace) Write(w io.Writer) error {
	h := in.Header
	fmt.Fprintf(w, "%s: %d of %d bits are ones, K %d, seed %d; TTL %d, epoch %d, group %d\n",
		h.Form, h.Ones, h.Bits, h.K, h.Seed, h.TTL, h.Epoch, h.Group)
	_, err := io.WriteString(w, in.Trace.String())
	return err
}
