package filters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/color"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/explain"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/ribbon"
	"github.com/umbel-filters/umbel/filter/union"
)

const planHelp = `Print what a filter would cost, without making it. Give two of the number of keys, the rate and
the size; the third follows, for each kind. With all three, kinds that take more than the size are
listed below the others. With the number of keys alone the rate is 1%.

Any of --sent, --churn, --peers, --per-hour, --tail, --query-only and --power-of-two plans a filter that is
sent: the kind, the cells and k with the least traffic at the rate, or with the lowest rate for
--sent; with --sent and --fpr alone, for as many keys as fit. --bytes is then the memory of a
receiver. With --churn an update is a delta, and --sent
is its limit; the first message is the whole filter. --kind counting plans a filter from which receivers
remove keys. --curve draws the rates that --sent allows, over k. See docs/messages.md.`

const planReference = `--explain prints the formulas of the numbers, in letters and with numbers, and their sources.

--bytes is the size of the cells in memory. An unpacked container is a few bytes larger.

--added plans for keys that grow from --keys on, by a share or a number per time: the base of kind folding, when its
fold changes, and what is sent. One message is sent each time, or --per-hour. See docs/folding.md.

--machines plans how several machines make the filter: in parts with different keys, or with different cells if the filter
is larger than the memory of a machine. See docs/scale.md.

--number M shows how well a filter of M groups of cells folds, and which numbers near M are better. It folds to each
divisor of M, so a good size has many divisors, close to each other. A fold keeps the cells of a group together: 1 cell
in a small filter, 64 in a large one. So for 64,000 cells in a large filter, give 1000.

With --json one object is printed per kind, or per way to send it.`

const planExample = `  umbel plan -n 1e8 --fpr 1%
  umbel plan -n 1e6 --bytes 1MiB
  umbel plan --fpr 1/1000 --bytes 64KiB --kind blocked
  umbel plan -n 1e6 --fpr 1% --kind bloom --explain
  umbel plan -n 10000 --fpr 1% --churn 5% --bytes 64KiB
  umbel plan -n 1000 --sent 1400B --query-only
  umbel plan -n 10000 --fpr 1% --kind counting --peers 20
  umbel plan -n 10000 --sent 10000B --curve -
  umbel plan -n 10000 --fpr 1% --added 5%/day --for 30d
  umbel plan -n 1e11 --machines 8 --memory 32GiB
  umbel plan --number 1e6 --within 5%`

// kindPlan is the plan of one kind for a goal.
type kindPlan struct {
	Kind       string    `json:"kind"`
	Keys       uint64    `json:"keys,omitempty"` // this and the other numbers are missing with an error
	FPRate     cli.Float `json:"fpRate,omitempty"`
	Bytes      uint64    `json:"bytes,omitempty"`
	Cells      uint64    `json:"cells,omitempty"`
	K          cli.Float `json:"k,omitempty"`
	BitsPerKey cli.Float `json:"bitsPerKey,omitempty"`
	Error      *string   `json:"error,omitempty"` // the goal is impossible for the kind

	Explain []explain.Formula `json:"explain,omitempty"`
}

// planRun is one run of umbel plan.
type planRun struct {
	*cli.Streams
	wanted    spec.Flags
	kind      string
	explained bool
	message   messageFlags
	growth    growthFlags
	machines  machinesFlags
	size      numberFlags
	given     cli.Given
}

// PlanCommand is umbel plan.
func PlanCommand() *cobra.Command {
	r := new(planRun)
	cmd := &cobra.Command{
		Use:         "plan [-n NUMBER] [--fpr RATE] [--bytes SIZE] [--sent SIZE]",
		Short:       "print what a filter would cost",
		Long:        planHelp,
		Annotations: cli.Reference(planReference),
		Example:     planExample,
		Args:        cli.NoArguments,

		DisableFlagsInUseLine: true,
	}
	flags := cmd.Flags()
	r.wanted.AddGoal(flags)
	flags.StringVar(&r.kind, "kind", "", "`KIND` of filter (default all)")
	flags.BoolVar(&r.explained, "explain", false, "print the reasons: the formulas behind the numbers")
	r.wanted.AddParams(flags, filter.All)
	r.message.add(cmd)
	r.growth.add(cmd)
	r.size.add(cmd)
	r.machines.add(cmd)
	completeKinds(cmd)
	r.given = cli.GivenFlags(cmd)
	return cli.Verb(cmd, r.run)
}

func (r *planRun) run(_ context.Context, streams *cli.Streams, _ []string) error {
	r.Streams = streams
	if r.given["number"] {
		return r.size.print(streams)
	}
	if r.given["bytes"] && r.wanted.Bytes == 0 {
		return cli.UsageError(errors.New("--bytes is 0, want a size above 0; without the flag it is planned"))
	}
	s := r.wanted.Spec()
	if r.given["machines"] {
		return r.machines.print(streams, r.kind, s)
	}
	if r.given["added"] {
		if err := r.message.check(r.given); err != nil {
			return cli.UsageError(err)
		}
		return r.growth.print(streams, r.given, &r.wanted, r.message)
	}
	if r.given["for"] {
		return cli.UsageError(errors.New("--for needs --added"))
	}
	if r.message.given(r.given) {
		if len(s.Params) > 0 {
			return cli.UsageError(errors.New("the plan chooses the parameters of a filter that is sent; leave them out"))
		}
		return planMessage(streams, r.given, &r.wanted, r.message, r.kind)
	}
	kinds, err := r.kinds(s)
	if err != nil {
		return err
	}
	if s.Goal.Keys == 0 && (s.Goal.FPRate == 0 || s.Goal.Bytes == 0) {
		return cli.UsageError(errors.New("give --keys, the number of keys (the rate is 1% unless given), or both --fpr and --bytes"))
	}
	offers, err := kindPlansOf(kinds, s)
	if err != nil {
		return cli.UsageError(err)
	}
	if r.explained {
		if err := explainPlans(kinds, s, offers); err != nil {
			return err
		}
		if !r.JSON {
			return writeExplained(r.Out, offers)
		}
	}
	return printKindPlans(streams, s.Goal, offers)
}

// kinds returns the kinds to plan: those that the flags name, or that have the parameters which they set.
func (r *planRun) kinds(s spec.Spec) (umbel.Kinds, error) {
	kinds, err := chosenKinds(r.kind)
	if err != nil {
		return nil, err
	}
	if err := r.wanted.Check(); err != nil {
		return nil, cli.UsageError(err)
	}
	if r.kind != "" {
		return kinds, nil
	}
	// A union of one filter is planned as that filter.
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(k umbel.Kind) bool { return k.Name == union.Name })
	for _, p := range s.Params {
		if having := spec.HavingParam(kinds, p.Name); len(having) > 0 {
			kinds = having
		}
	}
	return kinds, nil
}

// kindPlansOf plans all kinds. It returns an error if the goal is impossible for all.
func kindPlansOf(kinds umbel.Kinds, s spec.Spec) ([]kindPlan, error) {
	limit := uint64(math.MaxUint64)
	if s.Goal.Keys != 0 && s.Goal.FPRate != 0 && s.Goal.Bytes != 0 {
		limit, s.Goal.Bytes = s.Goal.Bytes, 0
	}
	var offers []kindPlan
	var reasons []error
	for _, v := range kinds {
		f, err := v.Plan(spec.Complete(v, s.Goal, s.Params), s.Params)
		switch {
		case err != nil:
		case f.Bytes > limit:
			err = fmt.Errorf("takes %v", quantity.Size(f.Bytes))
		case f.FPRate > fullRate && s.Goal.FPRate == 0:
			err = fmt.Errorf("%v are too few: most other keys would be false positives", quantity.Size(s.Goal.Bytes))
		}
		if err != nil {
			reasons = append(reasons, err)
			text := report.Text(err)
			offers = append(offers, kindPlan{Kind: v.Name, Error: &text})
			continue
		}
		offers = append(offers, kindPlan{
			Kind: v.Name, Keys: f.Keys, FPRate: cli.Float(f.FPRate), Bytes: f.Bytes, Cells: f.Cells, K: cli.Float(f.K),
			BitsPerKey: cli.Float(float64(f.Bytes) * 8 / float64(f.Keys)),
		})
	}
	if len(reasons) < len(kinds) {
		return offers, nil
	}
	if limit < math.MaxUint64 && len(kinds) > 1 {
		return nil, fmt.Errorf("no kind has %v keys at a rate of %s in %v; omit one of the three to see what is possible",
			quantity.Count(s.Goal.Keys), cli.Percent(cli.Float(s.Goal.FPRate)), quantity.Size(limit))
	}
	return nil, reasons[0]
}

func printKindPlans(streams *cli.Streams, g umbel.Goal, offers []kindPlan) error {
	w := streams.Out
	if streams.JSON {
		return cli.JSONLines(w, offers)
	}
	first := slices.IndexFunc(offers, func(o kindPlan) bool { return o.Error == nil })
	best := offers[first] // there is one
	open, ratio := measureOf(g)
	header := []string{"Kind", " Size", " Bits/key", " K", "False-positive rate", " Difference"}
	if g.Keys == 0 {
		header = []string{"Kind", " Size", " Bits/key", " K", " Keys", "Rate", " Difference"}
	}
	t := table.New(header...)
	for _, o := range offers {
		if o.Error != nil {
			continue
		}
		row := []string{o.Kind, quantity.Size(o.Bytes).String(), fmt.Sprintf("%.2f", o.BitsPerKey), fmt.Sprintf("%.4g", o.K),
			cli.RateOf(float64(o.FPRate)), paintDifference(ratio(o)/ratio(best), g.Keys == 0)}
		if g.Keys == 0 { // the lines stay below 80 columns
			row[4] = cli.Percent(o.FPRate)
			row = slices.Insert(row, 4, quantity.Count(o.Keys).String())
		}
		t.Row(row...)
	}
	if _, err := t.WriteTo(w); err != nil {
		return err
	}
	writeNotes(w, offers)
	words := fmt.Sprintf("%s: %v keys in %v; %s.",
		best.Kind, quantity.Count(best.Keys), quantity.Size(best.Bytes), inWords(float64(best.FPRate)))
	if len(offers) > first+1 {
		words += fmt.Sprintf("\n\"Difference\" compares the %s with that of %s. umbel kinds describes the kinds.", open, best.Kind)
	}
	if g.Keys != 0 && g.Bytes != 0 && best.Keys > g.Keys {
		words += fmt.Sprintf("\nMemory for a lower rate than %s is room for more keys unless --fpr is given. For %v keys at this "+
			"rate, see:\numbel plan -n %d --fpr %g",
			cli.Percent(spec.LeastRate), quantity.Count(g.Keys), g.Keys, spec.LeastRate)
	}
	p := cli.NewPage(w)
	fmt.Fprintln(w)
	for line := range strings.SplitSeq(words, "\n") {
		p.Words("", "", line)
	}
	return nil
}

// writeNotes says for which kinds the goal is impossible, and which need much more memory until they are sealed.
func writeNotes(w io.Writer, offers []kindPlan) {
	p := cli.NewPage(w)
	for _, o := range offers {
		switch needed := uint64(ribbonMaking * float64(o.Keys)); {
		case o.Error != nil:
			p.Words("", "  ", o.Kind+": "+reason(o.Kind, *o.Error))
		case o.Kind == ribbon.Name && needed > 1<<30:
			p.Words("", "  ", fmt.Sprintf("%s: made from all keys at once, which takes about %v of memory", o.Kind, quantity.Size(needed)))
		}
	}
}

// ribbonMaking is the memory in bytes per key that umbel make takes for kind ribbon.
const ribbonMaking = 100

// reason returns a message without the kind's name.
func reason(kind, text string) string {
	return strings.TrimPrefix(strings.TrimPrefix(text, kind+": "), "a filter of kind "+kind+" ")
}

// measureOf returns the number that a goal leaves open, in which plans differ.
func measureOf(g umbel.Goal) (string, func(kindPlan) float64) {
	switch {
	case g.Bytes == 0, g.Keys != 0 && g.FPRate != 0:
		return "size", func(o kindPlan) float64 { return float64(o.Bytes) }
	case g.Keys == 0:
		return "number of keys", func(o kindPlan) float64 { return float64(o.Keys) }
	}
	return "rate", func(o kindPlan) float64 { return float64(o.FPRate) }
}

// differs formats a ratio as a difference, and a large one as a factor.
func differs(ratio float64) string {
	switch {
	case math.Abs(ratio-1) < 0.0005:
		return "same"
	case ratio >= 1.995:
		return fmt.Sprintf("× %.3g", ratio)
	}
	return fmt.Sprintf("%+.1f%%", 100*(ratio-1))
}

// paintDifference is [differs] in green for a ratio that is better than 1, and in red for one that is much
// worse. more states that more is better.
func paintDifference(ratio float64, more bool) string {
	text, cost := differs(ratio), ratio
	if more {
		cost = 1 / ratio
	}
	switch {
	case text == "same":
		return text
	case cost < 1:
		return cli.Paint(color.Green, text)
	case cost >= 1.995:
		return cli.Paint(color.Red, text)
	}
	return text
}

// inWords describes a rate.
func inWords(p float64) string {
	if p > 0.5 {
		return "most other keys are false positives"
	}
	if p < 1e-18 {
		return "the false-positive rate is " + cli.RateOf(p)
	}
	return "one in " + quantity.Count(math.Round(1/p)).String() + " other keys is a false positive"
}

// explainPlans adds to each offer the formulas of its plan.
func explainPlans(kinds umbel.Kinds, s spec.Spec, offers []kindPlan) error {
	for i, k := range kinds {
		if offers[i].Error != nil {
			continue
		}
		var err error
		if offers[i].Explain, err = explain.Plan(k, spec.Complete(k, s.Goal, s.Params), s.Params); err != nil {
			return err
		}
	}
	return nil
}

// writeExplained writes the plan of each kind in words, then its formulas.
func writeExplained(w io.Writer, offers []kindPlan) error {
	for i, o := range offers {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if o.Error != nil {
			fmt.Fprintf(w, "%s: %s\n", o.Kind, reason(o.Kind, *o.Error))
			continue
		}
		fmt.Fprintf(w, "%s: %v keys in %v, %.2f bits per key, %.4g cells set per key;\n%s.\n",
			o.Kind, quantity.Count(o.Keys), quantity.Size(o.Bytes), o.BitsPerKey, o.K, inWords(float64(o.FPRate)))
		for _, f := range o.Explain {
			if err := writeFormula(w, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeFormula writes the steps of a formula, one per line.
func writeFormula(w io.Writer, f explain.Formula) error {
	source := ""
	if f.Source != "" {
		source = "    (" + f.Source + ")\n"
	}
	_, err := fmt.Fprintf(w, "\n  %s\n    %s\n  = %s\n  = %s\n%s", f.What, f.General, f.Numbers, f.Value, source)
	return err
}
