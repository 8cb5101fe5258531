package main

import (
	"fmt"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
)

// formula is umbel.Formula in JSON.
type formula struct {
	What    string `json:"what"`
	General string `json:"general"`
	Numbers string `json:"numbers"`
	Value   string `json:"value"`
	Source  string `json:"source,omitempty"`
}

// explainOffers adds to each offer the formulas behind it. A kind may have none.
func explainOffers(kinds umbel.Kinds, g umbel.Goal, ps umbel.Params, offers []offer) error {
	for i, v := range kinds {
		if offers[i].Error != nil || v.Explain == nil {
			continue
		}
		fs, err := v.Explain(completed(v, g, ps), ps)
		if err != nil {
			return err
		}
		for _, f := range fs {
			offers[i].Explain = append(offers[i].Explain, formula(f))
		}
	}
	return nil
}

// writeExplained writes, for each kind, what the plan is in words, and then the
// formulas.
func writeExplained(w io.Writer, offers []offer) error {
	for i, o := range offers {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if o.Error != nil {
			fmt.Fprintf(w, "%s: %s\n", o.Kind, reason(o.Kind, *o.Error))
			continue
		}
		fmt.Fprintf(w, "%s: %v keys in %v, %.2f bits a key, %.4g cells set for each key;\n%s other keys are taken for one of them.\n",
			o.Kind, quantity.Count(o.Keys), quantity.Size(o.Bytes), o.BitsPerKey, o.K, inWords(float64(o.FPRate)))
		if len(o.Explain) == 0 {
			fmt.Fprintln(w, "The kind explains no formulas.")
		}
		for _, f := range o.Explain {
			if err := f.write(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes the steps of a formula, a line each.
func (f formula) write(w io.Writer) error {
	fmt.Fprintf(w, "\n  %s\n", f.What)
	lead := "    "
	for _, step := range []string{f.General, f.Numbers, f.Value} {
		if step == "" {
			continue
		}
		fmt.Fprintf(w, "%s%s\n", lead, step)
		lead = "  = "
	}
	if f.Source == "" {
		return nil
	}
	_, err := fmt.Fprintf(w, "    (%s)\n", f.Source)
	return err
}
