package filtertest

import (
	"strings"

	"github.com/umbel-filters/umbel"
)

// explains: whatever can be planned is explained, in lines a table can hold, each
// with letters and with numbers; what can't be planned is refused with the same
// words.
func explains(t tb, v umbel.Kind) {
	if v.Explain == nil {
		t.Fatalf("the kind has no Explain")
	}
	for _, g := range []umbel.Goal{
		{Keys: 1000, FPRate: 0.01}, {Keys: 1, FPRate: 0.5}, {Keys: 1 << 40, FPRate: 1e-4},
		{Keys: 1000, Bytes: 2000}, {FPRate: 0.01, Bytes: 2000}, {},
	} {
		var fs []umbel.Formula
		var err error
		if p := panicked(func() { fs, err = v.Explain(g, nil) }); p != nil {
			t.Fatalf("Explain(%+v) panics: %v", g, p)
		}
		_, refused := v.Plan(g, nil)
		if refused != nil || err != nil {
			if refused == nil || err == nil || err.Error() != refused.Error() {
				t.Errorf("%+v: Explain gives the error %v, Plan %v", g, err, refused)
			}
			continue
		}
		if len(fs) == 0 {
			t.Errorf("%+v: nothing is explained", g)
		}
		for _, f := range fs {
			for _, text := range []string{f.What, f.General, f.Numbers, f.Value} {
				if text == "" || strings.ContainsAny(text, "\n\r") {
					t.Errorf("%+v: %+v: want what, general, numbers and value, each one line", g, f)
				}
			}
			if !strings.ContainsAny(f.Numbers, "0123456789") || strings.Contains(f.Numbers+f.Value, "%!") {
				t.Errorf("%+v: %+v: want numbers in the place of letters", g, f)
			}
		}
	}
}
