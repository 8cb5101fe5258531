package probe

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

func drawDigest(t *rapid.T) umbel.Digest {
	return umbel.Digest{H1: rapid.Uint64().Draw(t, "h1"), H2: rapid.Uint64().Draw(t, "h2")}
}

// The values of the stream agree with its definition, in arithmetic of big numbers.
func TestStreamDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDigest(t)
		mod := new(big.Int).Lsh(big.NewInt(1), 64)
		factor := func(h, step uint64, i int64) *big.Int {
			x := new(big.Int).SetUint64(step)
			x.Mul(x, big.NewInt(i)).Add(x, new(big.Int).SetUint64(h))
			return x.Mod(x, mod)
		}
		s := Start(d)
		var got uint64
		for i := range int64(40) {
			got, s = s.Next()
			p := new(big.Int).Mul(factor(d.H1, 0x9e3779b97f4a7c15, i), factor(d.H2, 0xd6e8feb86659fd93, i))
			hi, lo := new(big.Int).DivMod(p, mod, new(big.Int))
			if want := hi.Uint64() ^ lo.Uint64(); got != want {
				t.Fatalf("value %d of %v is %#x, want %#x", i, d, got, want)
			}
		}
	})
}

// TestStreamGolden: the values never change, since every kind that uses the stream depends on
// them.
func TestStreamGolden(t *testing.T) {
	for _, c := range []struct {
		d    umbel.Digest
		want [4]uint64
	}{
		{umbel.Digest{}, [4]uint64{0, 0xc9d874ca57d9e055, 0x1d20221568ae9625, 0xc4060d3aa5be0372}},
		{umbel.Digest{H1: 1}, [4]uint64{0, 0xa7217502fe661ff9, 0xc8f220841d1d6d7b, 0x4b4b014c50ac08b6}},
		{umbel.Digest{H1: 1, H2: 1}, [4]uint64{1, 0x46f8fb44793d9be3, 0x376113311c766597, 0x65e17790d2cd7c77}},
		{
			umbel.Digest{H1: 0x0123456789abcdef, H2: 0xfedcba9876543210},
			[4]uint64{0x2317228f48165bb2, 0xf89f13d9d1a608f2, 0x5b72cf1317704149, 0x72809d65c65081d0},
		},
		{
			umbel.Digest{H1: ^uint64(0), H2: ^uint64(0)},
			[4]uint64{0xffffffffffffffff, 0x533bec3832646630, 0x60ef32f8b5e182f5, 0x24a7a4cf74a89664},
		},
	} {
		s := Start(c.d)
		for i, want := range c.want {
			var got uint64
			if got, s = s.Next(); got != want {
				t.Errorf("value %d of %v is %#016x, want %#016x", i, c.d, got, want)
			}
		}
	}
}

// A digest plus an offset begins after the skipped values.
func TestOffset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, n := drawDigest(t), rapid.Uint64().Draw(t, "n")
		o := Offset(n)
		if got, want := Start(umbel.Digest{H1: d.H1 + o.H1, H2: d.H2 + o.H2}), Start(d).Skip(n); got != want {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// Reduce(v, m) is ⌊v·m / 2^64⌋.
func TestReduceDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, m := rapid.Uint64().Draw(t, "v"), rapid.Uint64Min(1).Draw(t, "m")
		p := new(big.Int).Mul(new(big.Int).SetUint64(v), new(big.Int).SetUint64(m))
		if got, want := Reduce(v, m), p.Rsh(p, 64).Uint64(); got != want || got >= m {
			t.Fatalf("Reduce(%d, %d) is %d, want %d", v, m, got, want)
		}
	})
}

// The fold identity: for r that divides m, Reduce(v, m/r) = ⌊Reduce(v, m)/r⌋.
func TestFoldIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.Uint64Range(1, 1<<32).Draw(t, "r")
		m := r * rapid.Uint64Range(1, ^uint64(0)/r).Draw(t, "m/r")
		v := rapid.Uint64().Draw(t, "v")
		if small, large := Reduce(v, m/r), Reduce(v, m); small != large/r {
			t.Fatalf("Reduce(%d, %d/%d) is %d, and Reduce(%d, %d)/%d is %d", v, m, r, small, v, m, r, large/r)
		}
	})
}

// The same with groups: the cell keeps its place in the group, and the group is the one to which
// cells.Array.Fold adds it.
func TestFoldIdentityOfGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := rapid.Uint8Range(0, 12).Draw(t, "log")
		r := rapid.Uint64Range(1, 64).Draw(t, "r")
		groups := rapid.Uint64Range(1, 40).Draw(t, "groups")
		d := drawDigest(t)
		large := Mapping{Groups: groups * r, Log: log}
		small := Mapping{Groups: groups, Log: log}

		const k = 5
		a, err := cells.New(large.Groups<<log, 1)
		if err != nil {
			t.Fatal(err)
		}
		from, to := large.Append(nil, d, k), small.Append(nil, d, k)
		for i := range k {
			if want := from[i]>>log/r<<log | from[i]&(1<<log-1); to[i] != want {
				t.Fatalf("cell %d of %d falls into %d, want %d", from[i], a.Len, to[i], want)
			}
			a.SetBit(from[i])
		}
		folded, err := a.Fold(r, 1<<log)
		if err != nil {
			t.Fatal(err)
		}
		built, err := cells.New(small.Groups<<log, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range to {
			built.SetBit(i)
		}
		if !folded.Equal(built) {
			t.Fatalf("folded by %d has the bits %x, built small %x", r, folded.Words, built.Words)
		}
	})
}

// The smallest and the largest value map to the first and the last cell.
func TestMappingEnds(t *testing.T) {
	for _, m := range []Mapping{{1, 0}, {7, 0}, {1, 6}, {5, 6}, {1 << 50, 6}, {1<<56 - 1, 0}} {
		if got := m.At(0); got != 0 {
			t.Errorf("%+v: the least value is at %d, want 0", m, got)
		}
		if got, want := m.At(^uint64(0)), m.Groups<<m.Log-1; got != want {
			t.Errorf("%+v: the largest value is at %d, want %d", m, got, want)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, m := range []Mapping{{9593, 0}, {150000, WordLog}} {
		b.Run(map[uint8]string{0: "cells", WordLog: "words"}[m.Log]+"/k=7", func(b *testing.B) {
			var at []uint64
			var d umbel.Digest
			for b.Loop() {
				at = m.Append(at[:0], d, 7)
				d.H1 += step1
				d.H2 += at[0]
			}
		})
	}
}
