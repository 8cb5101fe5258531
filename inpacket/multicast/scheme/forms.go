package scheme

import (
	"fmt"
	"strings"

	"github.com/umbel-filters/umbel/inpacket"
)

var forms = [...]string{
	inpacket.Single: "single", inpacket.Staged: "staged", inpacket.Folded: "folded",
	inpacket.Linear: "linear", inpacket.Dense: "dense",
}

// FormName returns a form in a word, as in Plan.Form: single, staged, folded, linear
// or dense.
func FormName(f inpacket.Form) string {
	if int(f) < len(forms) {
		return forms[f]
	}
	return fmt.Sprintf("form %d", f)
}

// ParseForms returns the forms of a list of their names, with commas between: what
// Umbel may search among. Dense isn't one of them.
func ParseForms(list string) ([]inpacket.Form, error) {
	var fs []inpacket.Form
next:
	for name := range strings.SplitSeq(list, ",") {
		for f, n := range forms[:inpacket.Dense] {
			if n == name {
				fs = append(fs, inpacket.Form(f))
				continue next
			}
		}
		return nil, fmt.Errorf("scheme: form %q, want one of %s", name, strings.Join(forms[:inpacket.Dense], ", "))
	}
	return fs, nil
}

func formNames(fs []inpacket.Form) string {
	names := make([]string, len(fs))
	for i, f := range fs {
		names[i] = FormName(f)
	}
	return strings.Join(names, ", ")
}
