package inpacket

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// solvable reports, by trying all values, whether n unknowns satisfy the rows. The unknowns are
// the low bits of a row, its right side is bit 63.
func solvable(rows []uint64, n int) bool {
	for x := range uint64(1) << n {
		if fulfils(rows, x) {
			return true
		}
	}
	return false
}

func fulfils(rows []uint64, x uint64) bool {
	for _, row := range rows {
		if uint64(bits.OnesCount64(row&x))&1 != row>>63 {
			return false
		}
	}
	return true
}

// TestEchelon: an echelon reports the unknowns that are needed, for rows of any width and in any
// order, and its solution satisfies the rows.
func TestEchelon(t *testing.T) {
	const unknowns = 10
	r := rand.New(rand.NewPCG(5, 6))
	some, none := 0, 0
	for range 400 {
		var rows []uint64
		for range r.IntN(13) {
			rows = append(rows, r.Uint64()&r.Uint64()&(1<<unknowns-1)|r.Uint64()&(1<<63))
		}
		need := 0
		for need <= unknowns && !solvable(rows, need) {
			need++
		}
		for wide := 1; wide <= 3; wide++ {
			var e echelon
			e.reset(wide)
			ok := true
			for _, i := range r.Perm(len(rows)) {
				long := make([]uint64, wide)
				long[0] = rows[i] & (1<<unknowns - 1)
				long[wide-1] |= rows[i] & (1 << 63)
				ok = e.add(long, 64*wide-1) && ok
			}
			if need > unknowns {
				none++
				if ok || e.need <= unknowns {
					t.Fatalf("%x: need %d of %d unknowns, want no solution", rows, e.need, unknowns)
				}
				continue
			}
			some++
			if !ok || e.need != need {
				t.Fatalf("%x: solved %v with %d unknowns, want %d", rows, ok, e.need, need)
			}
			x := make([]uint64, wide)
			e.complete(x, need, true)
			if !fulfils(rows, x[0]) || bitLen(x) > need {
				t.Fatalf("%x: %x is no solution in %d unknowns", rows, x, need)
			}
			row := make([]uint64, wide)
			row[0] = r.Uint64() & (1<<unknowns - 1)
			e.reduce(row)
			for w := range row {
				if row[w]&e.leads[w] != 0 {
					t.Fatalf("%x: reduced row %x has a lead of %x", rows, row, e.leads)
				}
			}
		}
	}
	if some < 100 || none < 100 {
		t.Errorf("%d systems with solutions, %d without: want many of both", some, none)
	}
}

// TestEchelonLimit: with a limit, only the unknowns below it count.
func TestEchelonLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for range 400 {
		const unknowns = 8
		limit := 1 + r.IntN(unknowns)
		var rows []uint64
		var e echelon
		e.reset(1)
		ok := true
		for range 1 + r.IntN(9) {
			row := r.Uint64()&(1<<unknowns-1) | r.Uint64()&(1<<63)
			rows = append(rows, row)
			ok = e.add([]uint64{row}, limit) && ok
		}
		if want := solvable(rows, limit); ok != want || want != (e.need <= limit) {
			t.Fatalf("%x: solved %v in %d unknowns, %d needed, want %v", rows, ok, limit, e.need, want)
		}
	}
}

func BenchmarkEchelon(b *testing.B) {
	for _, size := range []struct {
		name           string
		rows, unknowns int
	}{{"30", 30, 63}, {"65", 65, 127}, {"300", 300, 319}} {
		b.Run(size.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			wide := words(size.unknowns + 1)
			rows := make([]uint64, size.rows*wide)
			for i := range rows {
				rows[i] = r.Uint64()
			}
			var e echelon
			b.ReportAllocs()
			for b.Loop() {
				e.reset(wide)
				for at := 0; at < len(rows); at += wide {
					e.add(rows[at:at+wide], 64*wide-1)
				}
			}
		})
	}
}
