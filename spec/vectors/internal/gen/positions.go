package main

import (
	"fmt"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/probe"
)

// positions returns digests with the values of their streams and with their cells in filters of
// the kinds that implement umbel.Locator.
func positions() ([]file, error) {
	files := []file{stream(), ranges()}
	for _, v := range filter.All {
		// Without and with groups of a word: a size, and one that folds to it.
		for _, z := range []size{
			sized("", 64, 4, 8, 1, 5), sized("", 960, 4, 8, 1, 75), sized("", 5<<16, 5, 5, 2, 30_000), sized("", 15<<16, 5, 5, 2, 90_000),
		} {
			f, err := z.make(v, umbel.Hasher{Alg: umbel.Caller})
			if err != nil {
				return nil, err
			}
			s := f.State()
			if l, ok := f.(umbel.Locator); ok && len(s.Arrays) > 0 {
				files = append(files, located(l, s))
			}
		}
	}
	return files, nil
}

func digests() []umbel.Digest {
	top := ^uint64(0)
	ds := []umbel.Digest{{}, {H1: 1}, {H2: 1}, {H1: 1, H2: 1}, {H1: top}, {H2: top}, {H1: top, H2: top}, {H1: 1 << 63, H2: 1 << 63}}
	for i := range uint64(24) {
		ds = append(ds, umbel.Digest{H1: umbel.DigestFromHash64(2 * i).H2, H2: umbel.DigestFromHash64(2*i + 1).H2})
	}
	return ds
}

// located returns the cells of digests in a filter with state s.
func located(l umbel.Locator, s umbel.State) file {
	m := s.Arrays[0].Len
	header := []field{
		{"comment", fmt.Sprintf("cells of digests in %s filter", withArticle(s.Kind))},
		{"kind", s.Kind},
		{"cells", fmt.Sprint(m)},
	}
	for _, p := range s.Params {
		header = append(header, field{"param", fmt.Sprintf("%s %v", p.Name, p.Value)})
	}
	header = append(header, field{"row", "digest, cells in the order of the stream"})
	var b strings.Builder
	for _, d := range digests() {
		b.WriteString(d.String())
		for _, i := range l.Locate(nil, d) {
			fmt.Fprintf(&b, " %d", i)
		}
		b.WriteByte('\n')
	}
	return file{Path: fmt.Sprintf("positions/%s-%d.txt", s.Kind, m), Header: header, Body: b.String()}
}

// stream returns the first values of the streams of digests.
func stream() file {
	var b strings.Builder
	for _, d := range digests() {
		b.WriteString(d.String())
		s := probe.Start(d)
		var v uint64
		for range 8 {
			v, s = s.Next()
			fmt.Fprintf(&b, " %016x", v)
		}
		b.WriteByte('\n')
	}
	return file{Path: "positions/stream.txt", Header: []field{
		{"comment", "the first values of the stream"},
		{"row", "digest, values 0 to 7"},
	}, Body: b.String()}
}

// ranges returns values mapped to sizes.
func ranges() file {
	var b strings.Builder
	for _, m := range []uint64{1, 2, 3, 64, 1000, 1 << 32, 1<<56 - 1} {
		for _, v := range []uint64{0, 1, 1 << 32, 1<<63 - 1, 1 << 63, ^uint64(0), 0x0123456789abcdef} {
			fmt.Fprintf(&b, "%016x %d %d\n", v, m, probe.Reduce(v, m))
		}
	}
	return file{Path: "positions/range.txt", Header: []field{
		{"comment", "Range(v, m)"},
		{"row", "v, m, position"},
	}, Body: b.String()}
}
