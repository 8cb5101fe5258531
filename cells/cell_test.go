package cells

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestCellsMatchModel: Put, Get, Inc and Dec in any order have the same effect as on single
// numbers, and don't change other cells.
func TestCellsMatchModel(t *testing.T) {
	forWidths(t, func(t *testing.T, width uint) {
		limit := limitOf(width)
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.IntRange(1, 200).Draw(t, "n")
			model := make([]uint64, n)
			a, err := New(uint64(n), width)
			if err != nil {
				t.Fatal(err)
			}
			index := rapid.IntRange(0, n-1)
			put := func(t *rapid.T) {
				i, v := index.Draw(t, "i"), drawCell(width).Draw(t, "v")
				a.Put(uint64(i), v)
				model[i] = v
			}
			t.Repeat(map[string]func(*rapid.T){
				"Put": put,
				"Inc": func(t *rapid.T) {
					i := index.Draw(t, "i")
					if model[i] < limit {
						model[i]++
					}
					if got := a.Inc(uint64(i)); got != model[i] {
						t.Fatalf("Inc(%d) = %d, want %d", i, got, model[i])
					}
				},
				"Dec": func(t *rapid.T) {
					i := index.Draw(t, "i")
					if model[i] > 0 && model[i] < limit {
						model[i]--
					}
					if got := a.Dec(uint64(i)); got != model[i] {
						t.Fatalf("Dec(%d) = %d, want %d", i, got, model[i])
					}
				},
				"": func(t *rapid.T) { wantCells(t, a, model) },
			})
		})
	})
}

// TestSaturationAbsorbs: a saturated counter does not change.
func TestSaturationAbsorbs(t *testing.T) {
	forWidths(t, func(t *testing.T, width uint) {
		limit := limitOf(width)
		a := packed(t, width, []uint64{0, limit, 0})
		for range 3 {
			if up, down := a.Inc(1), a.Dec(1); up != limit || down != limit {
				t.Fatalf("a full cell went to %d, then %d, want %d", up, down, limit)
			}
		}
		if v := a.Dec(0); v != 0 {
			t.Fatalf("an empty cell went to %d", v)
		}
		if limit > 1 {
			a.Put(2, limit-1)
			if up, down := a.Inc(2), a.Dec(2); up != limit || down != limit {
				t.Fatalf("the cell below the maximum went to %d, then %d, want %d", up, down, limit)
			}
		}
	})
}

func TestBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "n")
		model := make([]uint64, n)
		a, _ := New(uint64(n), 1)
		for _, i := range rapid.SliceOf(rapid.IntRange(0, n-1)).Draw(t, "set") {
			if fresh := a.SetBit(uint64(i)); fresh != (model[i] == 0) {
				t.Fatalf("SetBit(%d) = %v, the cell was %d", i, fresh, model[i])
			}
			model[i] = 1
		}
		wantCells(t, a, model)
		for i, v := range model {
			if a.Bit(uint64(i)) != (v == 1) {
				t.Fatalf("Bit(%d) differs from cell %d", i, v)
			}
		}
	})
}

func TestIndexOutOfRangePanics(t *testing.T) {
	a := packed(t, 4, make([]uint64, 17))
	for name, f := range map[string]func(i uint64){
		"Get": func(i uint64) { a.Get(i) }, "Put": func(i uint64) { a.Put(i, 0) },
		"Inc": func(i uint64) { a.Inc(i) }, "Dec": func(i uint64) { a.Dec(i) },
		"Bit": func(i uint64) { a.Bit(i) }, "SetBit": func(i uint64) { a.SetBit(i) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, i := range []uint64{17, 31, ^uint64(0)} {
				wantPanic(t, fmt.Sprintf("cells: cell %d of 17", i), func() { f(i) })
			}
		})
	}
}

func TestPutBeyondLimitPanics(t *testing.T) {
	for _, width := range widths[:6] {
		a := packed(t, width, make([]uint64, 3))
		v := limitOf(width) + 1
		wantPanic(t, fmt.Sprintf("cells: %d in a cell of %d bits", v, width), func() { a.Put(1, v) })
		wantCells(t, a, make([]uint64, 3))
	}
}
