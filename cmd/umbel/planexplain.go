package main

import (
	"fmt"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/explain"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
)

// explainOffers adds to each offer the formulas of its plan.
func explainOffers(kinds umbel.Kinds, g umbel.Goal, ps umbel.Params, offers []offer) error {
	for i, k := range kinds {
		if offers[i].Error != nil {
			continue
		}
		var err error
		if offers[i].Explain, err = explain.Plan(k, completed(k, g, ps), ps); err != nil {
			return err
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
