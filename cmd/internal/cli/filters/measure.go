package filters

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/suggest"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/cmd/internal/files/trial"
	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/filter"
)

const measureHelp = `Measure the false-positive rate, and compare it with the plan. Filters are filled with random
keys and queried for others. The goal is that of umbel plan. For each kind --filters filters
are made, and each is queried --queries times. All added keys are queried too, except for kinds
whose keys expire.`

const measureReference = `"Planned" is the rate of the formula for the goal's number of keys, "estimated" the filters'
own estimate, and "ratio" the measured rate divided by the planned one. The same --random gives the
same numbers.`

const measureExample = `  umbel measure -n 100000 --fpr 1%
  umbel measure -n 1000 --fpr 1% --kind scalable --load 100`

// measured is the result for one kind.
type measured struct {
	Kind        string    `json:"kind"`
	Keys        uint64    `json:"keys"`
	PlannedKeys uint64    `json:"plannedKeys"`
	BitsPerKey  cli.Float `json:"bitsPerKey"`
	Planned     cli.Float `json:"planned"`
	FPRate      cli.Float `json:"fpRate"`
	Sigma       cli.Float `json:"sigma"`
	Estimated   cli.Float `json:"estimated"`
	Queries     uint64    `json:"queries"`
	Error       *string   `json:"error,omitempty"` // of the plan
}

// MeasureCommand is umbel measure.
func MeasureCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "measure [-n NUMBER] [--fpr RATE] [--bytes SIZE]",
		Short:       "measure the false-positive rate",
		Long:        measureHelp,
		Annotations: cli.Reference(measureReference),
		Example:     measureExample,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if _, err := os.Stat(args[0]); err == nil {
					return cli.UsageError(fmt.Errorf("measure makes filters of its own; umbel info %s states the rate of a file's filter", args[0]))
				}
			}
			return cli.NoArguments(cmd, args)
		},

		DisableFlagsInUseLine: true,
	}
	o := &measureOptions{queries: 200_000}
	flags := cmd.Flags()
	o.wanted.AddGoal(flags)
	flags.StringVar(&o.kind, "kind", "", "`KIND` of filter (default all)")
	flags.Float64Var(&o.load, "load", 1, "keys to add, as a `FACTOR` of those in the goal")
	flags.IntVar(&o.filters, "filters", 5, "`NUMBER` of filters of each kind")
	flags.Var(&o.queries, "queries", "`NUMBER` of queries per filter")
	flags.Uint64Var(&o.seed, "random", 1, "`NUMBER` that determines what is random: the keys")
	o.wanted.AddParams(flags, filter.All)
	completeKinds(cmd)
	return cli.Verb(cmd, o.run)
}

// measureOptions are the flags of umbel measure.
type measureOptions struct {
	wanted  spec.Flags
	kind    string
	load    float64
	filters int
	queries quantity.Count
	seed    uint64
}

func (o *measureOptions) run(_ context.Context, streams *cli.Streams, _ []string) error {
	kinds, err := chosenKinds(o.kind)
	if err != nil {
		return err
	}
	if !(o.load > 0 && o.load <= 1e6) || o.filters < 1 || o.queries < 1 {
		return cli.UsageError(fmt.Errorf("load %v, %d filters, %v queries: want more than 0 of each, and a load of at most 1e6", o.load, o.filters, o.queries))
	}
	s := o.wanted.Spec()
	rows, err := measureAll(streams, kinds, trial.Order{
		Goal: s.Goal, Params: s.Params,
		Load: o.load, Filters: o.filters, Queries: uint64(o.queries), Seed: o.seed,
	})
	if err != nil {
		return cli.UsageError(err)
	}
	return printMeasured(streams, rows)
}

// chosenKinds returns the kind of a name, or all kinds for an empty name.
func chosenKinds(name string) (umbel.Kinds, error) {
	if name == "" {
		return filter.All, nil
	}
	v, err := findKind(name)
	return umbel.Kinds{v}, err
}

// findKind returns the kind of a name.
func findKind(name string) (umbel.Kind, error) {
	v, err := filter.All.Find(name)
	if err != nil {
		var names []string
		for _, k := range filter.All {
			names = append(names, k.Name)
		}
		if near := suggest.Nearest(name, names); len(near) > 0 {
			return v, fmt.Errorf("there is no kind %.40q; did you mean %s?", name, strings.Join(near, " or "))
		}
	}
	return v, err
}

// measureAll runs a trial of each kind. It returns an error if all trials fail.
func measureAll(streams *cli.Streams, kinds umbel.Kinds, order trial.Order) ([]measured, error) {
	var rows []measured
	var reasons []error
	goal := order.Goal
	for _, v := range kinds {
		order.Kind, order.Goal = v, spec.Complete(v, goal, order.Params)
		bar := streams.CountBar(v.Name+", keys and queries", -1)
		order.Done = func(n int) { bar.Add(int64(n)) }
		r, err := order.Run()
		bar.Stop()
		if err != nil {
			reasons = append(reasons, err)
			text := report.Text(err)
			rows = append(rows, measured{Kind: v.Name, Error: &text})
			continue
		}
		rows = append(rows, measured{
			Kind: v.Name, Keys: r.Keys, PlannedKeys: r.Forecast.Keys, BitsPerKey: cli.Float(r.Bytes * 8 / float64(r.Keys)), Planned: cli.Float(r.Forecast.FPRate),
			FPRate: cli.Float(r.FPRate), Sigma: cli.Float(r.Sigma), Estimated: cli.Float(r.Estimate), Queries: r.Queries,
		})
	}
	if len(reasons) == len(kinds) {
		return nil, reasons[0]
	}
	return rows, nil
}

func printMeasured(streams *cli.Streams, rows []measured) error {
	w := streams.Out
	if streams.JSON {
		return cli.JSONLines(w, rows)
	}
	t := table.New("Kind", " Keys", " Bits/key", " Planned", " Measured", " ± Sigma", " Estimate", " Ratio")
	for _, r := range rows {
		if r.Error == nil {
			t.Row(r.Kind, quantity.Count(r.Keys).String(), fmt.Sprintf("%.2f", r.BitsPerKey), cli.Percent(r.Planned),
				cli.Percent(r.FPRate), cli.Percent(r.Sigma), cli.Percent(r.Estimated), fmt.Sprintf("%.3f", r.FPRate/r.Planned))
		}
	}
	if _, err := t.WriteTo(w); err != nil {
		return err
	}
	return writeMisses(w, rows)
}

// writeMisses lists the kinds whose trial failed, and those whose rate is significantly above
// the planned one.
func writeMisses(w io.Writer, rows []measured) error {
	for _, r := range rows {
		text := ""
		switch over := float64(r.FPRate - r.Planned); {
		case r.Error != nil:
			text = reason(r.Kind, *r.Error)
		case r.Keys <= r.PlannedKeys && over > math.Max(3*float64(r.Sigma), 0.03*float64(r.Planned)):
			text = fmt.Sprintf("the rate is above the planned one by %.1f sigma", over/float64(r.Sigma))
		default:
			continue
		}
		cli.NewPage(w).Words("", "  ", r.Kind+": "+text)
	}
	return nil
}
