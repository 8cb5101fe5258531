package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/inpacket/multicast/scheme"
	"github.com/umbel-filters/umbel/inpacket/multicast/sim"
)

const multicastTraceHelp = `Follow a packet through a network in memory, router by router: on which links it went
out and why, where it was delivered, which copies are false, and why it was dropped.

The packet is that of a tree, as umbel multicast plan makes it, or the one in --header,
in hexadecimal, given to the router of --source; anything may be in it. With a tree's
packet --svg draws the tree, false forwards in another colour and dashed.`

func multicastTraceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trace --topology FILE --source NODE (--receivers NODES | --header HEX)",
		Short: "follow a packet from router to router",
		Long:  multicastTraceHelp,
		Example: `  umbel multicast trace --topology grid:6x6 --source 0-0 --receivers 5-5,0-5
  umbel multicast trace --topology grid:6x6 --source 0-0 --header 10ff40…`,
		Args: noArguments,

		DisableFlagsInUseLine: true,
	}
	var net networkFlags
	net.add(cmd)
	var ends endFlags
	ends.add(cmd)
	var how schemeFlags
	how.add(cmd)
	how.addWindow(cmd, "for --header, of a packet that has one")
	flags := cmd.Flags()
	header := flags.String("header", "", "a packet in `HEX`")
	svg := flags.String("svg", "", "draw the tree to `FILE`")
	cmd.MarkFlagsMutuallyExclusive("header", "receivers")
	cmd.MarkFlagsMutuallyExclusive("header", "svg")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, err := how.scheme()
		if err != nil {
			return usageError(cmd, err)
		}
		var trace sim.Trace
		if *header != "" {
			if trace, err = traceHeader(cmd, &net, &ends, s, *header); err != nil {
				return err
			}
			return answer(cmd, trace, func(w io.Writer) error { _, err := io.WriteString(w, trace.String()); return err })
		}
		t, n, err := planTree(cmd, &net, &ends)
		if err != nil {
			return err
		}
		domain, err := s.Domain(n, n)
		if err != nil {
			return err
		}
		p, err := domain.Plan(t, traceGroup)
		if err != nil {
			return err
		}
		domain.Receive(traceGroup, t.Receivers)
		trace = sim.NewWires(n).Trace(domain, t, p, simOptions(s))
		if *svg != "" {
			if err := drawTree(cmd, *svg, t, &trace); err != nil {
				return err
			}
		}
		return answer(cmd, trace, func(w io.Writer) error { _, err := io.WriteString(w, trace.String()); return err })
	}
	return cmd
}

// traceGroup is the group of trees that are traced.
const traceGroup = 1

// traceHeader follows a packet of any bytes.
func traceHeader(cmd *cobra.Command, net *networkFlags, ends *endFlags, s scheme.Scheme, header string) (sim.Trace, error) {
	packet, err := hex.DecodeString(strings.Join(strings.Fields(header), ""))
	if err != nil {
		return sim.Trace{}, usageError(cmd, fmt.Errorf("--header: %w", err))
	}
	if ends.source == "" {
		return sim.Trace{}, usageError(cmd, errors.New("--header needs --source, where the packet comes from"))
	}
	n, err := net.network(cmd)
	if err != nil {
		return sim.Trace{}, err
	}
	source, err := nodeNamed(n.Graph, ends.source)
	if err != nil {
		return sim.Trace{}, err
	}
	domain, err := s.Domain(n, n)
	if err != nil {
		return sim.Trace{}, err
	}
	return sim.NewWires(n).TraceHeader(domain, source, packet, simOptions(s)), nil
}
