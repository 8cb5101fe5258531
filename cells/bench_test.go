package cells

import (
	"fmt"
	"testing"
)

// BenchmarkArray measures operations on whole arrays of 1 MiB (in cache) and, without -short, of
// 1 GiB. copy and foldWords write into existing memory, Clone, Fold and Unfold into a new array.
func BenchmarkArray(b *testing.B) {
	for _, size := range []struct {
		name  string
		bytes uint64
	}{{"1MiB", 1 << 20}, {"1GiB", 1 << 30}} {
		if size.bytes > 1<<20 && testing.Short() {
			continue
		}
		words := benchWords(size.bytes / 8)
		dst := Array{Len: uint64(len(words)) * 64, Words: words}.Clone().Words
		for _, width := range []uint{1, 4} {
			cells := uint64(len(words)) * 64 / uint64(width)
			a, to := Array{cells, width, words}, Array{cells, width, dst}
			run := func(op, variant string, do func() error) {
				b.Run(fmt.Sprintf("%s/width=%d%s/n=%s", op, width, variant, size.name), func(b *testing.B) {
					b.SetBytes(int64(a.Bytes()))
					for b.Loop() {
						if err := do(); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
			run("copy", "", func() error { copy(dst, words); return nil })
			run("Clone", "", func() error { a.Clone(); return nil })
			run("Nonzero", "", func() error { a.Nonzero(); return nil })
			run("Sum", "", func() error { return to.Sum(a) })
			run("Max", "", func() error { return to.Max(a) })
			for _, r := range []int{2, 3} {
				run("foldWords", fmt.Sprintf(",r=%d", r), func() error {
					newLanes(width).foldWords(dst[:len(words)/r], words, r)
					return nil
				})
			}
			for _, groupWords := range []uint64{1, 8} {
				group := groupWords * 64 / uint64(width)
				for _, r := range []uint64{2, 3, 7, 60} {
					run("Fold", fmt.Sprintf(",words=%d,r=%d", groupWords, r), func() error { _, err := a.Fold(r, group); return err })
				}
			}
			half := Array{cells / 2, width, words[:len(words)/2]}
			run("Unfold", ",words=1,u=2", func() error { _, err := half.Unfold(2, 64/uint64(width)); return err })
			run("FoldPart", ",cells=105,r=2", func() error { _, err := a.Fold(2, 105); return err })
		}
	}
}

// benchWords returns about n words, a multiple of the factors of the folds. Three of four are
// zero.
func benchWords(n uint64) []uint64 {
	a, err := New(n/(8*420)*(8*420), 64)
	if err != nil {
		panic(err)
	}
	x := uint64(1)
	for i := range a.Words {
		x = x*6364136223846793005 + 1442695040888963407
		if i%4 == 0 {
			a.Words[i] = x & (x >> 7)
		}
	}
	return a.Words
}

func BenchmarkCell(b *testing.B) {
	for _, width := range []uint{1, 4, 64} {
		a, err := New(1<<16, width)
		if err != nil {
			b.Fatal(err)
		}
		run := func(op string, do func(i uint64)) {
			b.Run(fmt.Sprintf("%s/width=%d/n=%d", op, width, a.Len), func(b *testing.B) {
				b.ReportAllocs()
				i := uint64(0)
				for b.Loop() {
					do(i & (1<<16 - 1))
					i += 40503
				}
			})
		}
		if width == 1 {
			run("SetBit", func(i uint64) { a.SetBit(i) })
		}
		run("Get", func(i uint64) { a.Get(i) })
		run("Inc", func(i uint64) { a.Inc(i) })
		run("Dec", func(i uint64) { a.Dec(i) })
	}
}
