package main

import (
	"fmt"
	"io"
	"math"
	"os"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/progress"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/table"
	"github.com/umbel-filters/umbel/cmd/internal/trial"
	"github.com/umbel-filters/umbel/filter"
)

const measureHelp = `Fill filters with random keys and ask them for others: how often do they answer
wrongly, and does the plan say so? The goal is that of umbel plan. Of each kind there
are --filters filters, each is asked --questions times, and all keys that were added
are asked for as well, but for kinds that forget what is old.

"Planned" is the formula's rate for the number of keys in the goal, "estimated" what
the filters say of themselves. The same --seed gives the same figures.`

const measureExample = `  umbel measure -n 100000 --fpr 1%
  umbel measure -n 1000 --fpr 1% --kind scalable --load 100`

// measured is what a trial of one kind gave.
type measured struct {
	Kind        string  `json:"kind"`
	Keys        uint64  `json:"keys"`
	PlannedKeys uint64  `json:"plannedKeys"`
	BitsPerKey  float   `json:"bitsPerKey"`
	Planned     float   `json:"planned"`
	FPRate      float   `json:"fpRate"`
	Sigma       float   `json:"sigma"`
	Estimated   float   `json:"estimated"`
	Questions   uint64  `json:"questions"`
	Error       *string `json:"error,omitempty"` // why the kind can't
}

func measureCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "measure [-n NUMBER] [--fpr RATE] [--bytes SIZE]",
		Short:   "measure how often filters answer wrongly",
		Long:    measureHelp,
		Example: measureExample,
		Args:    noArguments,

		DisableFlagsInUseLine: true,
	}
	var goal goalFlags
	goal.add(cmd)
	flags := cmd.Flags()
	kind := flags.String("kind", "", "only this `KIND`")
	load := flags.Float64("load", 1, "keys to add, in `TIMES` of those in the goal")
	filters := flags.Int("filters", 5, "`NUMBER` of filters of each kind")
	questions := quantity.Count(200_000)
	flags.Var(&questions, "questions", "`NUMBER` of questions to each filter")
	seed := flags.Uint64("seed", 1, "`NUMBER` that the keys follow from")
	params := addParamFlags(flags, filter.All)
	completeKinds(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		kinds, err := chosenKinds(*kind)
		if err != nil {
			return err
		}
		if !(*load > 0 && *load <= 1e6) || *filters < 1 || questions < 1 {
			return usageError(cmd, fmt.Errorf("load %v, %d filters, %v questions: want more than 0 of each, and a load of at most a million", *load, *filters, questions))
		}
		order := trial.Order{
			Goal: goal.goal(umbel.Hasher{}), Params: params.given(flags),
			Load: *load, Filters: *filters, Questions: uint64(questions), Seed: *seed,
		}
		rows, err := measureAll(cmd, kinds, order)
		if err != nil {
			return usageError(cmd, err)
		}
		return printMeasured(cmd, rows)
	}
	return cmd
}

// chosenKinds returns the kind of that name, or all if there is none.
func chosenKinds(name string) (umbel.Kinds, error) {
	if name == "" {
		return filter.All, nil
	}
	v, err := filter.All.Find(name)
	return umbel.Kinds{v}, err
}

// measureAll runs a trial of each kind. The error is theirs if none can.
func measureAll(cmd *cobra.Command, kinds umbel.Kinds, order trial.Order) ([]measured, error) {
	var rows []measured
	var reasons []error
	goal := order.Goal
	for _, v := range kinds {
		order.Kind, order.Goal = v, completed(v, goal, order.Params)
		var bar *progress.Bar
		if f, ok := cmd.ErrOrStderr().(*os.File); ok && !isQuiet(cmd) {
			bar = progress.Start(f, v.Name, -1)
		}
		order.Done = func(n int) { bar.Add(int64(n)) }
		r, err := order.Run()
		bar.Stop()
		if err != nil {
			reasons = append(reasons, err)
			text := err.Error()
			rows = append(rows, measured{Kind: v.Name, Error: &text})
			continue
		}
		rows = append(rows, measured{
			Kind: v.Name, Keys: r.Keys, PlannedKeys: r.Forecast.Keys, BitsPerKey: float(r.Bytes * 8 / float64(r.Keys)), Planned: float(r.Forecast.FPRate),
			FPRate: float(r.FPRate), Sigma: float(r.Sigma), Estimated: float(r.Estimate), Questions: r.Questions,
		})
	}
	if len(reasons) == len(kinds) {
		return nil, reasons[0]
	}
	return rows, nil
}

func printMeasured(cmd *cobra.Command, rows []measured) error {
	w := cmd.OutOrStdout()
	if wantsJSON(cmd) {
		for _, r := range rows {
			if err := jsonLine(w, r); err != nil {
				return err
			}
		}
		return nil
	}
	t := table.New("Kind", " Keys", " Bits per key", " Planned", " Measured", " Sigma", " Estimated", " Measured / planned")
	for _, r := range rows {
		if r.Error == nil {
			t.Row(r.Kind, quantity.Count(r.Keys).String(), fmt.Sprintf("%.2f", r.BitsPerKey), rateOf(float64(r.Planned)),
				rateOf(float64(r.FPRate)), fmt.Sprintf("%.2g", r.Sigma), rateOf(float64(r.Estimated)), fmt.Sprintf("%.3f", r.FPRate/r.Planned))
		}
	}
	if _, err := t.WriteTo(w); err != nil {
		return err
	}
	return writeMisses(w, rows)
}

// writeMisses names the kinds that couldn't be tried, and those that answer wrongly
// more often than planned for so many keys, beyond luck.
func writeMisses(w io.Writer, rows []measured) error {
	for _, r := range rows {
		text := ""
		switch over := float64(r.FPRate - r.Planned); {
		case r.Error != nil:
			text = reason(r.Kind, *r.Error)
		case r.Keys <= r.PlannedKeys && over > math.Max(3*float64(r.Sigma), 0.03*float64(r.Planned)):
			text = fmt.Sprintf("answers wrongly more often than planned, by %.1f sigma", over/float64(r.Sigma))
		default:
			continue
		}
		if _, err := fmt.Fprintf(w, "%s: %s\n", r.Kind, text); err != nil {
			return err
		}
	}
	return nil
}
