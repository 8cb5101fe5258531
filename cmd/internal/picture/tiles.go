// Package picture draws charts and the cells of a filter, for a terminal or as SVG.
package picture

import "github.com/umbel-filters/umbel/cells"

// View is a range of cells.
type View struct {
	Array cells.Array
	From  uint64 // first cell
	Cells uint64 // number of cells; From+Cells is at most the array's length
}

// tile returns the number of cells per square, for at most places squares.
func (v View) tile(places uint64) uint64 {
	return max((v.Cells+places-1)/places, 1)
}

// fill returns the share of nonzero cells among size cells from i on, counted from
// the view's first; fewer at its end.
func (v View) fill(i, size uint64) float64 {
	end := min(i+size, v.Cells)
	var nonzero uint64
	v.runs(i, end, func(a cells.Array) { nonzero += a.Nonzero() })
	return float64(nonzero) / float64(end-i)
}

// Histogram returns the number of cells of the view with each value, like cells.Array.Histogram.
func (v View) Histogram(last int) []uint64 {
	counts := make([]uint64, last+1)
	v.runs(0, v.Cells, func(a cells.Array) {
		for value, n := range a.Histogram(last) {
			counts[value] += n
		}
	})
	return counts
}

// runs yields the cells of the view from i to before end as arrays: complete words as one array,
// which shares the memory, and the cells before and after them one by one.
func (v View) runs(i, end uint64, yield func(cells.Array)) {
	width := max(v.Array.Width, 1)
	perWord := 64 / uint64(width)
	for j, end := v.From+i, v.From+end; j < end; {
		if words := (end - j) / perWord; j%perWord == 0 && words > 0 {
			yield(cells.Array{Len: words * perWord, Width: width, Words: v.Array.Words[j/perWord:][:words]})
			j += words * perWord
			continue
		}
		yield(cells.Array{Len: 1, Width: width, Words: []uint64{v.Array.Get(j)}})
		j++
	}
}
