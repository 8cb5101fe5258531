package parquetfile

import (
	"cmp"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// The footer and the header of a filter state the place of the filter several times. A wrong place would lead to wrong
// answers, since the position of a key depends on the length. So a filter is used only if all that the file states agrees:
//
//   - header and bitset have the length that the footer has for the filter. If it has none, which is so in files
//     of older writers, the filter ends where another part of the file begins;
//   - no other part of the file has a byte of the filter. Parts are the pages of columns, their indexes, the other
//     filters and the footer.

// part is the bytes of a file from start to end, without end.
type part struct{ start, end int64 }

// take notes a part of the file that isn't a filter. It ignores impossible ones, which may be true of a column that nobody reads.
// Parts that follow one another are noted as one.
func (f *File) take(p part) {
	p.end = min(p.end, f.size)
	if p.start <= 0 || p.start >= p.end {
		return
	}
	if n := len(f.parts); n > 0 && f.parts[n-1].end == p.start {
		f.parts[n-1].end = p.end
		return
	}
	f.parts = append(f.parts, p)
}

// checkPlaces sets the error of each filter that has no place of its own. It frees the parts.
func (f *File) checkPlaces() {
	type claim struct {
		part
		chunk int // the index of the filter's chunk, or -1
	}
	claims := make([]claim, 0, len(f.parts)+len(f.chunks))
	starts := make([]int64, 0, cap(claims))
	for _, p := range f.parts {
		claims, starts = append(claims, claim{p, -1}), append(starts, p.start)
	}
	for i, c := range f.chunks {
		if c.start > 0 {
			starts = append(starts, c.start)
		}
		if c.Err == nil {
			claims = append(claims, claim{part{c.start, c.end()}, i})
		}
	}
	f.parts = nil
	slices.Sort(starts)
	slices.SortFunc(claims, func(a, b claim) int { return cmp.Compare(a.start, b.start) })
	widest := claim{part{0, math.MinInt64}, -1} // of those before, the one that ends last
	for _, c := range claims {
		if c.start < widest.end {
			f.misplace(c.chunk, widest.part)
			f.misplace(widest.chunk, c.part)
		}
		if c.end > widest.end {
			widest = c
		}
	}
	for i := range f.chunks {
		c := &f.chunks[i]
		if c.Err != nil || c.length >= 0 {
			continue
		}
		if _, ok := slices.BinarySearch(starts, c.end()); !ok {
			c.Err = sentinel.Errorf(umbel.ErrCorrupt, "no part of the file begins at %d, where it ends, and the footer has no length for it", c.end())
		}
	}
}

// misplace sets the error of a filter that overlaps another part of the file, unless it has one.
func (f *File) misplace(chunk int, other part) {
	if chunk < 0 || f.chunks[chunk].Err != nil {
		return
	}
	c := &f.chunks[chunk]
	c.Err = sentinel.Errorf(umbel.ErrCorrupt, "its bytes %d to %d overlap those of another part of the file, %d to %d", c.start, c.end(), other.start, other.end)
}
