package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/multicast/sim"
)

const multicastSimHelp = `Send packets of a scheme along many random trees through a network in memory, byte for
byte, and count the bits of headers, false forwards, loops, duplicates and lost
receivers. The same --random gives the same trees to all schemes.

--fail links fail and --add links are added after the headers are made. With several
comma-separated numbers the output has a row for each. --failure-knowledge determines
which routers know: "rebuilt", all routers, which have new tables; "at-ends", the routers
at both ends of the link, which send packets around it if --repair is set, and then the
default; "unnoticed", none.

"Efficiency" is the number of the tree's links divided by the number of copies.`

func multicastSimCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sim --topology FILE [--receivers-per-tree NUMBER] [--trees NUMBER] [--scheme SCHEME]",
		Short: "simulate packets along many trees",
		Long:  multicastSimHelp,
		Example: `  umbel-multicast sim --topology waxman:100 --receivers-per-tree 16 --trees 300
  umbel-multicast sim --topology waxman:100 --receivers-per-tree 16 --scheme adaptive --json
  umbel-multicast sim --topology waxman:100 --receivers-per-tree 16 --fail 0,1,2,5,10`,
		Args: cli.NoArguments,

		DisableFlagsInUseLine: true,
	}
	o := new(simOptions)
	o.net.add(cmd)
	o.how.add(cmd)
	o.how.addWindow(cmd, "adds sequence numbers to headers with filters")
	flags := cmd.Flags()
	e := &o.Experiment
	flags.IntVar(&e.Receivers, "receivers-per-tree", 16, "`NUMBER` of receivers of each tree")
	flags.IntVar(&e.Trees, "trees", 300, "`NUMBER` of trees")
	flags.Uint64Var(&e.Seed, "random", 1, "`NUMBER` that determines what is random: trees and changes")
	flags.BoolVar(&e.Clustered, "clustered", false, "receivers are close to each other")
	flags.StringVar(&o.fail, "fail", "0", "comma-separated `NUMBERS` of links that fail")
	flags.StringVar(&o.add, "add", "0", "comma-separated `NUMBERS` of links that are added")
	flags.BoolVar(&e.Together, "together", false, "failures keep paths between all nodes")
	choice(cmd, &e.Knowledge, "failure-knowledge", "`ROUTERS` that know of failed links", sim.Rebuilt, sim.AtEnds, sim.Unnoticed)
	flags.BoolVar(&e.Flood, "flood", false, "set all bits of headers, as an attacker would")
	flags.IntVar(&e.MaxCopies, "max-copies", sim.MaxCopies, "largest `NUMBER` of copies of a tree; more are a storm")
	flags.IntVar(&e.Workers, "workers", 0, "`NUMBER` of threads (default one per processor)")
	o.given = cli.GivenFlags(cmd)
	return cli.Verb(cmd, o.run)
}

// simOptions are the flags of umbel-multicast sim.
type simOptions struct {
	sim.Experiment
	net       networkFlags
	how       schemeFlags
	fail, add string
	given     cli.Given
}

func (o *simOptions) run(ctx context.Context, streams *cli.Streams, _ []string) error {
	e, net, how := &o.Experiment, &o.net, &o.how
	changes, err := changesOf(o.fail, o.add)
	if err != nil {
		return cli.UsageError(err)
	}
	if e.Workers < 0 || e.MaxCopies < 1 {
		return cli.UsageError(fmt.Errorf("--workers %d and --max-copies %d, want at least 0 and at least 1", e.Workers, e.MaxCopies))
	}
	if how.repair && !o.given["failure-knowledge"] {
		e.Knowledge = sim.AtEnds
	}
	if how.repair && e.Knowledge != sim.AtEnds {
		return cli.UsageError(fmt.Errorf("--repair needs --failure-knowledge at-ends, not %v: routers repair what they know of", e.Knowledge))
	}
	e.Kind, e.Metric = net.kind, net.metric
	if e.Graph, err = net.graph(streams); err != nil {
		return err
	}
	if _, parts := e.Graph.Components(); len(parts) > 1 {
		return fmt.Errorf("%s: %d parts that are not connected; %s the largest", net.topology, len(parts), largestHint)
	}
	if e.Key, err = net.key(); err != nil {
		return err
	}
	if e.Scheme, err = how.scheme(); err != nil {
		return err
	}
	e.Sequenced = how.window > 0
	results, err := simulate(ctx, streams, *e, changes)
	if err != nil {
		return err
	}
	return printSimulated(streams, results)
}

// changesOf parses the numbers of links that fail and that are added.
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
		return nil, errors.New("--fail and --add can't both have several numbers")
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
			return nil, fmt.Errorf("%s %q, want comma-separated whole numbers, such as 0,1,2,5", flag, list)
		}
		all = append(all, n)
	}
	return all, nil
}

// simulate runs the experiment for each change. ^C interrupts it.
func simulate(ctx context.Context, streams *cli.Streams, e sim.Experiment, changes []sim.Change) ([]sim.Result, error) {
	ctx, stop := streams.SignalContext(ctx)
	defer stop()
	bar := streams.CountBar("trees", int64(e.Trees*len(changes)))
	defer bar.Stop()
	shown := 0
	results, err := e.Stale(ctx, changes, func(done, _ int) {
		bar.Add(int64(done - shown))
		shown = done
	})
	if errors.Is(err, context.Canceled) {
		return nil, cli.Interrupted(ctx, "nothing was written")
	}
	return results, err
}

func printSimulated(streams *cli.Streams, results []sim.Result) error {
	w := streams.Out
	switch {
	case streams.JSON && len(results) == 1:
		return cli.JSONLine(w, results[0])
	case streams.JSON:
		return cli.JSONLine(w, map[string][]sim.Result{"curve": results})
	case len(results) == 1:
		return writeSimulated(w, results[0])
	}
	return writeCurve(w, results)
}

func writeSimulated(w io.Writer, r sim.Result) error {
	fmt.Fprintf(w, "%s, %s: %d trees to %d receivers, of %.1f links on average\n\n", r.Graph, r.Scheme, r.Trees, r.Receivers, r.TreeLinks)
	t := table.New("", "")
	t.Row("bits per tree", fmt.Sprintf("%.1f on average, 95th percentile %.0f", r.MeanBits, r.P95Bits))
	t.Row("bytes of all headers", fmt.Sprintf("%.1f", r.MeanBytes))
	t.Row("forms", formsOf(r))
	t.Row("search", fmt.Sprintf("%.2f ms on average, 95th percentile %.2f", r.SearchMS, r.P95Search))
	t.Row("efficiency", fmt.Sprintf("%.2f%%", 100*r.Efficiency))
	t.Row("copies per tree", fmt.Sprintf("%.2f", r.Copies))
	t.Row("false forwards per tree", fmt.Sprintf("%.2f", r.FalseForwards))
	t.Row("trees with a loop", shareOf(r.Loops))
	t.Row("duplicates per tree", fmt.Sprintf("%.2f", r.Duplicates))
	t.Row("trees with a storm", shareOf(r.Storms))
	t.Row("receivers lost", shareOf(r.LostReceivers))
	if r.CutOff > 0 {
		t.Row("of them cut off", shareOf(r.CutOff))
	}
	if r.Unplanned > 0 {
		t.Row("trees not encoded", fmt.Sprintf("%s: %s", shareOf(r.Unplanned), r.UnplannedWhy))
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
