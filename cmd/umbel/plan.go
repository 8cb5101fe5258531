package main

import (
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/build"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/table"
	"github.com/umbel-filters/umbel/filter"
)

const planHelp = `Say what a filter would cost, without making it: give two of the number of keys, the
rate and the size, and the third follows, for each kind. With the number of keys
alone the rate is 1%.

--memory is the same as --bytes: a container is as large as the cells, and a few
bytes more. With --json there is an object for each kind.`

const planExample = `  umbel plan -n 1e8 --fpr 1%
  umbel plan -n 1e6 --bytes 1MiB
  umbel plan --fpr 1/1000 --bytes 64KiB --kind blocked`

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
}

func planCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "plan [-n NUMBER] [--fpr RATE] [--bytes SIZE]",
		Short:   "say what a filter would cost",
		Long:    planHelp,
		Example: planExample,
		Args:    noArguments,

		DisableFlagsInUseLine: true,
	}
	var goal goalFlags
	goal.add(cmd)
	flags := cmd.Flags()
	flags.Var(&goal.bytes, "memory", "`SIZE` of the filter's cells")
	flags.Lookup("memory").DefValue = ""
	cmd.MarkFlagsMutuallyExclusive("bytes", "memory")
	kind := flags.String("kind", "", "only this `KIND`")
	params := addParamFlags(flags, filter.All)
	completeKinds(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		kinds := filter.All
		if *kind != "" {
			v, err := filter.All.Find(*kind)
			if err != nil {
				return err
			}
			kinds = umbel.Variants{v}
		}
		g, given := goal.goal(umbel.Hasher{}), params.given(flags)
		if g.Keys != 0 && g.FPRate == 0 && g.Bytes == 0 && len(given) == 0 {
			g.FPRate = build.DefaultRate
		}
		offers, err := offersOf(kinds, g, given)
		if err != nil {
			return usageError(cmd, err)
		}
		return printOffers(cmd, g, offers)
	}
	return cmd
}

// offersOf asks all kinds. The error is theirs if none can.
func offersOf(kinds umbel.Variants, g umbel.Goal, ps umbel.Params) ([]offer, error) {
	var offers []offer
	var reasons []error
	for _, v := range kinds {
		f, err := v.Plan(g, ps)
		if err != nil {
			reasons = append(reasons, err)
			text := err.Error()
			offers = append(offers, offer{Kind: v.Kind, Error: &text})
			continue
		}
		offers = append(offers, offer{
			Kind: v.Kind, Keys: f.Keys, FPRate: float(f.FPRate), Bytes: f.Bytes, Cells: f.Cells, K: float(f.K),
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
	t := table.New("Kind", " Size", " Bits per key", " K", " Keys", "False-positive rate")
	for _, o := range offers {
		if o.Error == nil {
			t.Row(o.Kind, quantity.Size(o.Bytes).String(), fmt.Sprintf("%.2f", o.BitsPerKey), fmt.Sprint(o.K), quantity.Count(o.Keys).String(), rateOf(float64(o.FPRate)))
		}
	}
	if _, err := t.WriteTo(w); err != nil {
		return err
	}
	for _, o := range offers {
		if o.Error != nil {
			fmt.Fprintf(w, "%s: %s\n", o.Kind, message(*o.Error))
		}
	}
	return writeVerdict(w, g, offers)
}

// writeVerdict says in words how the kinds compare with the first that can.
func writeVerdict(w io.Writer, g umbel.Goal, offers []offer) error {
	var first *offer
	for i := range offers {
		o := &offers[i]
		switch {
		case o.Error != nil:
			continue
		case first == nil:
			first = o
			fmt.Fprintf(w, "\n%s: %v keys in %v, and %s other keys are taken for one of them.\n", o.Kind, quantity.Count(o.Keys), quantity.Size(o.Bytes), inWords(float64(o.FPRate)))
			continue
		}
		if _, err := fmt.Fprintf(w, "%s: %s.\n", o.Kind, compare(g, *first, *o)); err != nil {
			return err
		}
	}
	return nil
}

// inWords writes a rate as a share of many.
func inWords(p float64) string {
	if p > 0.5 {
		return "most"
	}
	return "one in " + quantity.Count(math.Round(1/p)).String()
}

// compare says by how much b differs from a in what the goal leaves open.
func compare(g umbel.Goal, a, b offer) string {
	what, less, ratio := "false positives", "fewer", float64(b.FPRate/a.FPRate)
	switch {
	case g.Bytes == 0:
		what, less, ratio = "memory", "less", float64(b.Bytes)/float64(a.Bytes)
	case g.Keys == 0:
		what, ratio = "keys", float64(b.Keys)/float64(a.Keys)
	}
	switch {
	case math.Abs(ratio-1) < 0.005:
		return "as much as " + a.Kind
	case ratio < 1:
		return fmt.Sprintf("%.3g%% %s %s than %s", 100*(1-ratio), less, what, a.Kind)
	}
	return fmt.Sprintf("%.3g%% more %s than %s", 100*(ratio-1), what, a.Kind)
}
