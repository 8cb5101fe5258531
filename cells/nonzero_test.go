package cells

import (
	"testing"

	"pgregory.net/rapid"
)

func TestNonzeroWord(t *testing.T) {
	forWidths(t, func(t *testing.T, width uint) {
		rapid.Check(t, func(rt *rapid.T) {
			n := rapid.IntRange(0, 300).Draw(rt, "n")
			model := drawCells(rt, "cells", width, n)
			a := packed(t, width, model)
			bits, err := New(a.Len, 1)
			if err != nil {
				rt.Fatal(err)
			}
			for j := range bits.Words {
				bits.Words[j] = a.NonzeroWord(j)
			}
			for i := range model {
				model[i] = min(model[i], 1)
			}
			wantCells(rt, bits, model)
		})
	})
}
