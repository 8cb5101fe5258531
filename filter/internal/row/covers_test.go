package row

import (
	"testing"

	"github.com/umbel-filters/umbel/cells"
)

func TestCovers(t *testing.T) {
	bits := func(at ...uint64) cells.Array {
		a, err := cells.New(200, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range at {
			a.Put(i, 1)
		}
		return a
	}
	for _, c := range []struct {
		a, b cells.Array
		want bool
	}{
		{bits(), bits(), true},
		{bits(1, 70, 199), bits(1, 199), true},
		{bits(1, 70), bits(1, 70), true},
		{bits(1, 70), bits(1, 70, 199), false},
		{bits(), bits(0), false},
	} {
		if got := Covers(c.a, c.b); got != c.want {
			t.Errorf("Covers is %v, want %v: %b and %b", got, c.want, c.a.Words, c.b.Words)
		}
	}
}
