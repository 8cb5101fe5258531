package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/explain"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/table"
	"github.com/umbel-filters/umbel/filter"
)

const planHelp = `Say what a filter would cost, without making it: give two of the number of keys, the
rate and the size, and the third follows, for each kind. With the number of keys
alone the rate is 1%.

With --explain the formulas behind the numbers are printed, in letters and with the
numbers in them, and where they come from.

--memory is the same as --bytes: the size of the cells in memory. A container that
isn't packed is as large, and a few bytes more.

How a filter is best sent to others is planned if any of --sent, --churn, --peers,
--per-hour, --tail and --ask-only is given: the kind, the cells and k with the least
traffic at the rate, or with the least rate for --sent, with --memory what a receiver
has for it. With --churn an update is a delta, and --sent is its limit; the first
message is the whole filter. --curve draws which rates --sent gives over k. See
docs/messages.md.

With --json there is an object for each kind, or way to send it.`

const planExample = `  umbel plan -n 1e8 --fpr 1%
  umbel plan -n 1e6 --bytes 1MiB
  umbel plan --fpr 1/1000 --bytes 64KiB --kind blocked
  umbel plan -n 1e6 --fpr 1% --kind bloom --explain
  umbel plan -n 10000 --fpr 1% --churn 5% --memory 64KiB
  umbel plan -n 1000 --sent 1400B --ask-only
  umbel plan -n 10000 --sent 10000B --curve -`

// offer is what one kind makes of a goal.
type offer struct {
	Kind       string  `json:"kind"`
	Keys       uint64  `json:"keys"`
	FPRate     float   `json:"fpRate"`
	Bytes      uint64  `json:"bytes"`
	Cells      uint64  `json:"cells"`
	K          float   `json:"k"`
	BitsPerKey float   `json:"bitsPerKey"`
	Error      *string `json:"error,omitempty"` // why the kind can't

	Explain []explain.Formula `json:"explain,omitempty"`
}

func planCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "plan [-n NUMBER] [--fpr RATE] [--bytes SIZE | --sent SIZE]",
		Short:   "say what a filter would cost",
		Long:    planHelp,
		Example: planExample,
		Args:    noArguments,

		DisableFlagsInUseLine: true,
	}
	var goal goalFlags
	goal.add(cmd)
	flags := cmd.Flags()
	flags.Var(&goal.bytes, "memory", "`SIZE` of the filter's cells, or those of a receiver")
	flags.Lookup("memory").DefValue = ""
	cmd.MarkFlagsMutuallyExclusive("bytes", "memory")
	kind := flags.String("kind", "", "only this `KIND`")
	explained := flags.Bool("explain", false, "print the formulas behind the numbers")
	params := addParamFlags(flags, filter.All)
	var message messageFlags
	message.add(cmd)
	completeKinds(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if message.given(flags) {
			if len(params.given(flags)) > 0 {
				return usageError(cmd, errors.New("cells and k of what is sent follow from the plan; parameters are for kinds"))
			}
			return planMessage(cmd, goal, message)
		}
		kinds, err := chosenKinds(*kind)
		if err != nil {
			return err
		}
		g, given := goal.goal(umbel.Hasher{}), params.given(flags)
		offers, err := offersOf(kinds, g, given)
		if err != nil {
			return usageError(cmd, err)
		}
		if *explained {
			if err := explainOffers(kinds, g, given, offers); err != nil {
				return err
			}
			if !wantsJSON(cmd) {
				return writeExplained(cmd.OutOrStdout(), offers)
			}
		}
		return printOffers(cmd, g, offers)
	}
	return cmd
}

// offersOf asks all kinds. The error is theirs if none can.
func offersOf(kinds umbel.Kinds, g umbel.Goal, ps umbel.Params) ([]offer, error) {
	var offers []offer
	var reasons []error
	for _, v := range kinds {
		f, err := v.Plan(completed(v, g, ps), ps)
		if err != nil {
			reasons = append(reasons, err)
			text := err.Error()
			offers = append(offers, offer{Kind: v.Name, Error: &text})
			continue
		}
		offers = append(offers, offer{
			Kind: v.Name, Keys: f.Keys, FPRate: float(f.FPRate), Bytes: f.Bytes, Cells: f.Cells, K: float(f.K),
			BitsPerKey: float(float64(f.Bytes) * 8 / float64(f.Keys)),
		})
	}
	if len(reasons) == len(kinds) {
		return nil, reasons[0]
	}
	return offers, nil
}

func printOffers(cmd *cobra.Command, g umbel.Goal, offers []offer) error {
	w := cmd.OutOrStdout()
	if wantsJSON(cmd) {
		for _, o := range offers {
			if err := jsonLine(w, o); err != nil {
				return err
			}
		}
		return nil
	}
	first := slices.IndexFunc(offers, func(o offer) bool { return o.Error == nil })
	best := offers[first] // there is one
	open, ratio := measureOf(g)
	t := table.New("Kind", " Size", " Bits per key", " K", " Keys", "False-positive rate", " Difference")
	for _, o := range offers {
		if o.Error == nil {
			t.Row(o.Kind, quantity.Size(o.Bytes).String(), fmt.Sprintf("%.2f", o.BitsPerKey), fmt.Sprintf("%.4g", o.K),
				quantity.Count(o.Keys).String(), rateOf(float64(o.FPRate)), differs(ratio(o)/ratio(best)))
		}
	}
	if _, err := t.WriteTo(w); err != nil {
		return err
	}
	if err := writeReasons(w, offers); err != nil {
		return err
	}
	words := fmt.Sprintf("%s: %v keys in %v, and %s other keys are taken for one of them.",
		best.Kind, quantity.Count(best.Keys), quantity.Size(best.Bytes), inWords(float64(best.FPRate)))
	if len(offers) > first+1 {
		words += fmt.Sprintf("\nDifferences are those in %s. What the kinds are for: umbel kinds.", open)
	}
	_, err := fmt.Fprintf(w, "\n%s\n", words)
	return err
}

// writeReasons says why kinds can't.
func writeReasons(w io.Writer, offers []offer) error {
	for _, o := range offers {
		if o.Error == nil {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s: %s\n", o.Kind, reason(o.Kind, *o.Error)); err != nil {
			return err
		}
	}
	return nil
}

// reason returns what an error says of a goal, after the kind's name.
func reason(kind, text string) string {
	text = strings.TrimPrefix(strings.TrimPrefix(message(text), kind+": "), "a filter of kind "+kind+" ")
	return strings.TrimSuffix(text, ": "+umbel.ErrGoal.Error())
}

// measureOf returns what a goal leaves open, by which offers differ.
func measureOf(g umbel.Goal) (string, func(offer) float64) {
	switch {
	case g.Bytes == 0:
		return "memory", func(o offer) float64 { return float64(o.Bytes) }
	case g.Keys == 0:
		return "keys", func(o offer) float64 { return float64(o.Keys) }
	}
	return "the rate", func(o offer) float64 { return float64(o.FPRate) }
}

// differs writes a ratio as a difference, and a large one as it is.
func differs(ratio float64) string {
	switch {
	case math.Abs(ratio-1) < 0.0005:
		return "same"
	case ratio >= 1.995:
		return fmt.Sprintf("× %.3g", ratio)
	}
	return fmt.Sprintf("%+.1f%%", 100*(ratio-1))
}

// inWords writes a rate as a share of many.
func inWords(p float64) string {
	if p > 0.5 {
		return "most"
	}
	return "one in " + quantity.Count(math.Round(1/p)).String()
}
