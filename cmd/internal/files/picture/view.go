// Package picture draws charts and the cells of a filter, for a terminal or as SVG.
package picture

import "github.com/umbel-filters/umbel/cells"

// View is a range of cells.
type View struct {
	Array cells.Array
	From  uint64 // first cell
	Cells uint64 // number of cells; From+Cells is at most the array's length
}

// Fill returns the share of nonzero cells, between 0 and 1.
func (v View) Fill() float64 {
	var nonzero uint64
	v.runs(func(a cells.Array) { nonzero += a.Nonzero() })
	return float64(nonzero) / float64(max(v.Cells, 1))
}

// Histogram returns the number of cells of the view with each value, like cells.Array.Histogram.
func (v View) Histogram(last int) []uint64 {
	counts := make([]uint64, last+1)
	v.runs(func(a cells.Array) {
		for value, n := range a.Histogram(last) {
			counts[value] += n
		}
	})
	return counts
}

// runs yields the cells of the view as arrays: complete words as one array, which shares the
// memory, and the cells before and after them one by one.
func (v View) runs(yield func(cells.Array)) {
	width := v.Array.Width
	perWord := 64 / uint64(width)
	for j, end := v.From, v.From+v.Cells; j < end; {
		if words := (end - j) / perWord; j%perWord == 0 && words > 0 {
			yield(cells.Array{Len: words * perWord, Width: width, Words: v.Array.Words[j/perWord:][:words]})
			j += words * perWord
			continue
		}
		yield(cells.Array{Len: 1, Width: width, Words: []uint64{v.Array.Get(j)}})
		j++
	}
}
