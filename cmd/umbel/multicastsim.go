package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/atomicfile"
	"github.com/umbel-filters/umbel/cmd/internal/table"
	"github.com/umbel-filters/umbel/inpacket/multicast/sim"
)

const multicastSimHelp = `Carry packets of a scheme along many random trees through a network in memory, byte
for byte, and count: bits of the headers, copies that went where they shouldn't, loops,
duplicates, receivers that got nothing. The same --seed gives the same trees to all
schemes.

--fail links are down, and --add links have come, after the headers were made. With
several numbers between commas there is a row for each. --notice says who knows:
"rebuilt", all routers, whose tables are made anew; "at-ends", the routers at both ends
of the link, which then lead packets around it if --repair says so; "unnoticed", nobody.

"Efficiency" is the tree's links as a share of all copies; of BIER, whose packets
find their own ways, the tree is the links by which receivers were first reached.`

func multicastSimCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sim --topology FILE [--receivers NUMBER] [--trees NUMBER] [--scheme SCHEME]",
		Short: "count what becomes of packets along many trees",
		Long:  multicastSimHelp,
		Example: `  umbel multicast sim --topology waxman:100 --receivers 16 --trees 300
  umbel multicast sim --topology waxman:100 --receivers 16 --scheme lipsin --json
  umbel multicast sim --topology waxman:100 --receivers 16 --fail 0,1,2,5,10`,
		Args: noArguments,

		DisableFlagsInUseLine: true,
	}
	var net networkFlags
	net.add(cmd)
	var how schemeFlags
	how.add(cmd)
	how.addWindow(cmd, "headers with filters have one then")
	flags := cmd.Flags()
	var e sim.Experiment
	flags.IntVar(&e.Receivers, "receivers", 16, "`NUMBER` of receivers of each tree")
	flags.IntVar(&e.Trees, "trees", 300, "`NUMBER` of trees")
	flags.Uint64Var(&e.Seed, "seed", 1, "`NUMBER` that trees and changes follow from")
	flags.BoolVar(&e.Clustered, "clustered", false, "receivers are near each other")
	fail := flags.String("fail", "0", "`NUMBERS` of links that are down, between commas")
	add := flags.String("add", "0", "`NUMBERS` of links that are new, between commas")
	flags.BoolVar(&e.Together, "together", false, "links only fail that leave a way between all nodes")
	choice(cmd, &e.Knowledge, "notice", "`WHO` knows of links that are down", sim.Rebuilt, sim.AtEnds, sim.Unnoticed)
	flags.BoolVar(&e.Flood, "flood", false, "headers have all bits set, as an attacker's")
	flags.IntVar(&e.MaxCopies, "max-copies", sim.MaxCopies, "`NUMBER` of copies of a tree that are a storm, and cut off")
	flags.IntVar(&e.Workers, "workers", 0, "`NUMBER` of threads (default one a processor)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		changes, err := changesOf(*fail, *add)
		if err != nil {
			return usageError(cmd, err)
		}
		if e.Workers < 0 || e.MaxCopies < 1 {
			return usageError(cmd, fmt.Errorf("--workers %d and --max-copies %d: want 0 or more, and 1 or more", e.Workers, e.MaxCopies))
		}
		e.Kind, e.Metric = net.kind, net.metric
		if e.Graph, err = net.graph(cmd); err != nil {
			return err
		}
		if _, parts := e.Graph.Components(); len(parts) > 1 {
			return fmt.Errorf("%s: %d parts that don't reach each other; %s the largest", net.topology, len(parts), largestHint)
		}
		if e.Key, err = net.key(); err != nil {
			return err
		}
		if e.Scheme, err = how.scheme(cmd); err != nil {
			return err
		}
		e.Sequenced = how.window > 0
		results, err := simulate(cmd, e, changes)
		if err != nil {
			return err
		}
		return printSimulated(cmd, results)
	}
	return cmd
}

// changesOf reads the numbers of links that fail and come.
func changesOf(fail, add string) ([]sim.Change, error) {
	fails, err := wholeNumbers("--fail", fail)
	if err != nil {
		return nil, err
	}
	adds, err := wholeNumbers("--add", add)
	if err != nil {
		return nil, err
	}
	if len(fails) > 1 && len(adds) > 1 {
		return nil, errors.New("--fail and --add don't both take several numbers")
	}
	var changes []sim.Change
	for _, f := range fails {
		for _, a := range adds {
			changes = append(changes, sim.Change{Fail: f, Add: a})
		}
	}
	return changes, nil
}

func wholeNumbers(flag, list string) ([]int, error) {
	var all []int
	for part := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%s %q: want whole numbers between commas, such as 0,1,2,5", flag, list)
		}
		all = append(all, n)
	}
	return all, nil
}

// simulate runs the experiment for each change, until ^C.
func simulate(cmd *cobra.Command, e sim.Experiment, changes []sim.Change) ([]sim.Result, error) {
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	bar := countBar(cmd, "trees", int64(e.Trees*len(changes)))
	defer bar.Stop()
	shown := 0
	results, err := e.Stale(ctx, changes, func(done, _ int) {
		bar.Add(int64(done - shown))
		shown = done
	})
	if errors.Is(err, context.Canceled) {
		return nil, atomicfile.ErrInterrupted
	}
	return results, err
}

func printSimulated(cmd *cobra.Command, results []sim.Result) error {
	w := cmd.OutOrStdout()
	switch {
	case wantsJSON(cmd) && len(results) == 1:
		return jsonLine(w, results[0])
	case wantsJSON(cmd):
		return jsonLine(w, map[string][]sim.Result{"curve": results})
	case len(results) == 1:
		return writeSimulated(w, results[0])
	}
	return writeCurve(w, results)
}

func writeSimulated(w io.Writer, r sim.Result) error {
	fmt.Fprintf(w, "%s, %s: %d trees to %d receivers, of %.1f links in the mean\n\n", r.Graph, r.Scheme, r.Trees, r.Receivers, r.TreeLinks)
	t := table.New("", "")
	t.Row("bits of a header", fmt.Sprintf("%.1f in the mean, up to %.0f in 95 of 100", r.MeanBits, r.P95Bits))
	t.Row("bytes of all headers", fmt.Sprintf("%.1f", r.MeanBytes))
	t.Row("forms", formsOf(r))
	t.Row("search", fmt.Sprintf("%.2f ms in the mean, up to %.2f in 95 of 100", r.SearchMS, r.P95Search))
	t.Row("efficiency", fmt.Sprintf("%.2f%%", 100*r.Efficiency))
	t.Row("copies of a tree", fmt.Sprintf("%.2f", r.Copies))
	t.Row("false forwards of a tree", fmt.Sprintf("%.2f", r.FalseForwards))
	t.Row("trees with a loop", shareOf(r.Loops))
	t.Row("duplicates of a tree", fmt.Sprintf("%.2f", r.Duplicates))
	t.Row("trees with a storm", shareOf(r.Storms))
	t.Row("receivers lost", shareOf(r.LostReceivers))
	if r.CutOff > 0 {
		t.Row("of them cut off", shareOf(r.CutOff))
	}
	if r.Unplanned > 0 {
		t.Row("trees not written", fmt.Sprintf("%s: %s", shareOf(r.Unplanned), r.UnplannedWhy))
	}
	if len(r.Drops) > 0 {
		t.Row("packets dropped", dropsOf(r))
	}
	_, err := t.WriteTo(w)
	return err
}

func shareOf(share float64) string { return fmt.Sprintf("%.2f%%", 100*share) }

func formsOf(r sim.Result) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(r.Forms)) {
		all = append(all, fmt.Sprintf("%s %.0f%%", name, 100*r.Forms[name]))
	}
	return strings.Join(all, ", ")
}

func dropsOf(r sim.Result) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(r.Drops)) {
		all = append(all, fmt.Sprintf("%d %s", r.Drops[name], name))
	}
	return strings.Join(all, ", ")
}

func writeCurve(w io.Writer, results []sim.Result) error {
	fmt.Fprintf(w, "%s, %s: %d trees to %d receivers\n\n", results[0].Graph, results[0].Scheme, results[0].Trees, results[0].Receivers)
	t := table.New(" Failed", " Added", " Receivers lost", " Cut off", " False forwards", " Efficiency", " Loops", " Storms")
	for _, r := range results {
		t.Row(strconv.Itoa(r.Fail), strconv.Itoa(r.Add), shareOf(r.LostReceivers), shareOf(r.CutOff),
			fmt.Sprintf("%.3f", r.FalseForwards), shareOf(r.Efficiency), shareOf(r.Loops), shareOf(r.Storms))
	}
	_, err := t.WriteTo(w)
	return err
}
