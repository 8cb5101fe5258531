package piece

import (
	"slices"
	"testing"
)

func TestMark(t *testing.T) {
	for _, c := range []struct {
		name string
		row  Row
		want string
	}{
		{"rounds down", Row{Printed: "0.0177", Recomputed: 0.017721}, Agrees},
		{"rounds up", Row{Printed: "0.0216", Recomputed: 0.021577}, Agrees},
		{"half", Row{Printed: "2", Recomputed: 2.5}, Agrees},
		{"rounded the other way", Row{Printed: "0.0216", Recomputed: 0.021542}, LastUnit},
		{"another number", Row{Printed: "1.6607", Recomputed: 1.6532}, Wrong},
		{"zeros at the end count", Row{Printed: "45.00", Recomputed: 45.006}, LastUnit},
		{"whole", Row{Printed: "19787", Recomputed: 19786.23}, LastUnit},
		{"nothing printed", Row{Recomputed: 1}, ""},
		{"nothing recomputed", Row{Printed: "1"}, ""},
		{"marked", Row{Printed: "1", Recomputed: 2, Mark: "theirs"}, "theirs"},
	} {
		if got := c.row.mark(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCells(t *testing.T) {
	for _, c := range []struct {
		name string
		row  Row
		want []string
	}{
		{"by formula", Row{What: "f", Printed: "0.02", Recomputed: 1. / 48},
			[]string{"f", "0.02", "0.02083333", "", "", "", "", Agrees}},
		{"in sigmas", Row{What: "f", Recomputed: 0.5, Measured: Measure{0.5123, 0.0123, 100}},
			[]string{"f", "", "0.5", "0.512", "0.012", "+1.0 σ", "100", ""}},
		{"in bytes", Row{What: "z", Recomputed: 9905, Measured: Measure{9904.75, 0.25, 2000}, Unit: "bytes"},
			[]string{"z", "", "9905", "9904.75", "0.25", "-0.25 bytes", "2000", ""}},
		{"a count", Row{What: "most", Measured: Measure{9971, 0, 2000}},
			[]string{"most", "", "", "9971", "", "", "2000", ""}},
	} {
		if got := c.row.cells(); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
