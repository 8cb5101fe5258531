package merging_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/merging"
	"github.com/umbel-filters/umbel/cmd/internal/files/part"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/wire"
)

// inMemory is a source of bytes.
func inMemory(name string, b []byte) merging.Source {
	return merging.Source{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }}
}

// join writes the result of a stream as a program does: again, if the layout is another one.
func join(s merging.Stream) (_ []byte, stats umbel.Stats, err error) {
	var layout wire.Layout
	for range 2 {
		var b bytes.Buffer
		if err := s.Write(&b, &layout); err != nil {
			return nil, stats, err
		}
		if stats, err = s.Stats(); err != nil || layout.Fits {
			return b.Bytes(), stats, err
		}
	}
	return nil, stats, errors.New("the layout never fits")
}

// near reports whether a is b up to a share of it.
func near(a, b, share float64) bool { return a == b || math.Abs(a-b) <= share*math.Abs(b) }

// A stream writes the bytes of the filter that was made of all keys at once: for all kinds that are joined cell by cell, packed or
// not, full or almost empty, in any order, with any number of lanes, and when joined parts are joined again. Its stats are those of
// that filter, up to what 64 blocks show.
func TestStreamIsOneFilter(t *testing.T) {
	rng := rand.New(rand.NewPCG(36, 2))
	sizes := []uint64{10, 30_000, 400_000, 6_000_000}
	if testing.Short() {
		sizes = sizes[:2]
	}
	kinds := 0
	for _, k := range filter.All {
		for _, size := range sizes {
			goal := umbel.Goal{Keys: size, FPRate: 0.01}
			one := fixture.Must(k.New(goal, nil))
			if part.CheckCellwise(one.State()) != nil {
				break
			}
			kinds++
			all := fixture.Digests(size, []int{1, int(min(size, 100_000))}[rng.IntN(2)])
			umbel.AddAll(one, nil, all)
			want := fixture.Must(wire.Append(nil, one.State()))
			n := 1 + rng.IntN(9)
			plain, parts := merging.Stream{Lanes: 1 + rng.IntN(4), Packed: rng.IntN(2) == 0}, merging.Stream{Lanes: 1 + rng.IntN(4)}
			for i, o := range rng.Perm(n) {
				f := fixture.Must(k.New(goal, nil))
				umbel.AddAll(f, nil, all[len(all)*o/n:len(all)*(o+1)/n])
				m := part.ManifestOf(part.Number{Part: uint64(o + 1), Of: uint64(n)}, 5, false, uint64(len(all)*(o+1)/n-len(all)*o/n))
				form := []func(umbel.State) []byte{
					func(s umbel.State) []byte { return fixture.Must(wire.Append(nil, s)) },
					func(s umbel.State) []byte { return fixture.Must(wire.Packer{}.Append(nil, s)) },
					func(s umbel.State) []byte { return fixture.Must(wire.Packer{Raw: true}.Append(nil, s)) },
				}[rng.IntN(3)]
				plain.Sources = append(plain.Sources, inMemory(fmt.Sprint(i), form(f.State())))
				parts.Sources = append(parts.Sources, inMemory(fmt.Sprint(i), form(m.State(f.State()))))
			}
			b, stats, err := join(plain)
			if plain.Packed {
				if packed := fixture.Must(wire.Packer{}.Append(nil, one.State())); err != nil || !bytes.Equal(b, packed) {
					t.Fatalf("%s, %d keys, %d filters: other bytes than those of the packed filter, %v", k.Name, size, n, err)
				}
			} else if err != nil || !bytes.Equal(b, want) {
				t.Fatalf("%s, %d keys, %d filters: other bytes than those of one filter, %v", k.Name, size, n, err)
			}
			exact := one.Stats()
			if exact.Fill != stats.Fill || exact.Cells != stats.Cells || exact.Bytes != stats.Bytes || exact.K != stats.K ||
				len(all) > 1 && !((near(stats.FPRate, exact.FPRate, 0.05) || max(stats.FPRate, exact.FPRate) < 1e-8) && near(stats.Keys, exact.Keys, 0.01)) {
				t.Errorf("%s, %d keys: stats %+v, of one filter %+v", k.Name, size, stats, exact)
			}
			if b, err := tree(rng, parts); err != nil || !bytes.Equal(b, want) {
				t.Fatalf("%s, %d keys, %d parts: other bytes than those of one filter, %v", k.Name, size, n, err)
			}
		}
	}
	if kinds < 9*len(sizes) {
		t.Errorf("%d kinds and sizes", kinds)
	}
}

// tree joins parts in a random tree.
func tree(rng *rand.Rand, s merging.Stream) ([]byte, error) {
	for {
		some := s
		n := 1 + rng.IntN(len(s.Sources))
		some.Sources, some.Manifest = s.Sources[:n], nil
		for i, source := range some.Sources {
			h, err := source.ReadHead()
			if err != nil {
				return nil, err
			}
			m := *h.Manifest
			some.Sources[i].Manifest = h.Manifest
			if some.Manifest != nil {
				if m, err = some.Manifest.Join(m); err != nil {
					return nil, err
				}
			}
			some.Manifest = &m
		}
		some.Part = n < len(s.Sources) || rng.IntN(3) == 0
		b, _, err := join(some)
		if err != nil || !some.Part {
			return b, err
		}
		s.Sources = append(s.Sources[n:len(s.Sources):len(s.Sources)], inMemory("joined", b))
	}
}

// A source that is damaged, cut, or changes while it is read is an error with its name, wherever that is.
func TestStreamDamaged(t *testing.T) {
	goal := umbel.Goal{Keys: 1_000_000, FPRate: 0.01}
	f := fixture.Must(filter.All[0].New(goal, nil))
	umbel.AddAll(f, nil, fixture.Digests(1, 50_000))
	good := fixture.Must(wire.Append(nil, f.State()))
	rng := rand.New(rand.NewPCG(36, 3))
	for range 40 {
		bad := bytes.Clone(good)
		if at := rng.IntN(len(bad)); rng.IntN(2) == 0 {
			bad = bad[:at]
		} else {
			bad[at] ^= 1 << rng.IntN(8)
		}
		s := merging.Stream{Sources: []merging.Source{inMemory("good", good), inMemory("bad", bad)}, Lanes: 2}
		if rng.IntN(2) == 0 {
			s.Sources[0], s.Sources[1] = s.Sources[1], s.Sources[0]
		}
		_, _, err := join(s)
		if err == nil || !bytes.Contains([]byte(err.Error()), []byte("bad")) {
			t.Errorf("error %v, want one about the source named bad", err)
		}
	}
}
