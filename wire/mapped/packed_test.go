package mapped_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/internal/race"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
	"github.com/umbel-filters/umbel/wire/mapped"
)

// packedBytes returns the packed container of a filter.
func packedBytes(t testing.TB, f umbel.Filter) []byte {
	t.Helper()
	return fixture.Must(wire.Packer{Workers: 2}.Append(nil, f.State()))
}

// ofSize returns a bloom filter of m cells and its digests.
func ofSize(t testing.TB, m uint64, k, n int) (umbel.Filter, []umbel.Digest) {
	t.Helper()
	f, err := bloom.NewShape(bloom.Shape{M: m, K: k})
	if err != nil {
		t.Fatal(err)
	}
	ds := fixture.Digests(9, n)
	f.AddAll(nil, ds)
	return f, ds
}

// sameAnswers fails unless x answers as f, one by one and in a batch.
func sameAnswers(t *testing.T, x *mapped.Filter, f umbel.Filter, ds []umbel.Digest) {
	t.Helper()
	got, want := make([]bool, len(ds)), make([]bool, len(ds))
	umbel.HasAll(f, want, ds)
	for i, d := range ds[:min(len(ds), 500)] {
		if has, err := x.Has(d); err != nil || has != want[i] {
			t.Fatalf("digest %d: %v, %v, want %v", i, has, err, want[i])
		}
	}
	if err := x.HasAll(got, ds); err != nil || !slices.Equal(got, want) {
		t.Fatalf("a batch: %v, or other answers", err)
	}
}

// A packed filter gives the answers of the filter in memory, in a file and in bytes, for all kinds. It answers where it is if its kind
// has a Locator.
func TestPackedAnswers(t *testing.T) {
	for _, kind := range filter.All {
		t.Run(kind.Name, func(t *testing.T) {
			f, added := large(t, kind)
			b := packedBytes(t, f)
			path := filepath.Join(t.TempDir(), "packed.umb")
			if err := os.WriteFile(path, b, 0o666); err != nil {
				t.Fatal(err)
			}
			ds := append(fixture.Digests(8, 3000), added[:3000]...)
			for name, x := range map[string]*mapped.Filter{
				"file": open(t, path), "bytes": fixture.Must(mapped.OpenBytes(b, filter.All, wire.Limits{})),
			} {
				if want := kind.Locator != nil && f.State().Arrays[0].Bytes() > 4<<20; x.Packed() != want || want && !x.InPlace() {
					t.Errorf("%s: packed %v, in place %v", name, x.Packed(), x.InPlace())
				}
				sameAnswers(t, x, f, ds)
				if f.Hasher().Alg != umbel.Caller {
					if has, err := x.HasString("x"); err != nil || has != f.Has(f.Hasher().HashString("x")) {
						t.Errorf("%s: a string: %v, %v", name, has, err)
					}
				}
				if err := x.Verify(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if err := x.Query(1, func(g umbel.Filter) { sameQueries(t, f, g, ds) }); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				sameAnswers(t, x, f, ds)
			}
		})
	}
}

// Few keys of a large packed filter take little memory, which does not depend on the size of the array.
func TestPackedMemory(t *testing.T) {
	const most = 1 << 20
	f, ds := ofSize(t, 1<<30, 1, 10_000)
	b := packedBytes(t, f)
	n := wiretest.Allocated(func() { sameAnswers(t, fixture.Must(mapped.OpenBytes(b, filter.All, wire.Limits{})), f, ds[:100]) })
	if n > most && !race.Enabled {
		t.Errorf("%d keys: %d bytes for a container of %d, want %d at most", 100, n, len(b), most)
	}
}

// runs returns the container, of version 1, of an empty bloom filter of runs of 2^31 cells, with the bytes of the runs, or with those
// of empty runs.
func runs(n uint64, body string) []byte {
	m := n << 31
	f := fixture.Must(bloom.NewShape(bloom.Shape{M: 64, K: 3}))
	b := fixture.Must(wire.Append(nil, f.State()))
	at := len(b) - 4 - 2 - 1 - 8 // the number of cells, then a block
	b = binary.LittleEndian.AppendUint64(b[:at:at], m)
	if body == "" {
		body = strings.Repeat("\x06\x80\x20\x01\x00", int(n))
	}
	return summed(append(b, body+"\x00\x00"...))
}

// summed appends the checksum.
func summed(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// A container may claim 10^15 cells: that takes no memory for them.
func TestPackedHostile(t *testing.T) {
	const n = 1_000_000_000_000_000 >> 31
	b := runs(n, "")
	if _, err := wire.Parse(b, wire.Limits{}); !errors.Is(err, umbel.ErrLimit) {
		t.Errorf("all of it: %v", err)
	}
	allocated := wiretest.Allocated(func() {
		x, err := mapped.OpenBytes(b, filter.All, wire.Limits{})
		if err != nil || !x.Packed() {
			t.Fatal(err)
		}
		got := make([]bool, 1000)
		if err := x.HasAll(got, fixture.Digests(1, len(got))); err != nil || slices.Contains(got, true) {
			t.Errorf("an empty filter: %v", err)
		}
		if err := x.Query(1, func(umbel.Filter) {}); !errors.Is(err, umbel.ErrLimit) {
			t.Errorf("the whole filter: %v", err)
		}
	})
	if allocated > 1<<20 && !race.Enabled { // the race detector allocates too
		t.Errorf("%d bytes for a container of %d", allocated, len(b))
	}
	for name, body := range map[string]string{
		"nothing": "\x00", "a run of no blocks": "\x06\x00\x01\x00", "a run that ends early": "\x06\x80\x20\x05\x00",
		"a long run": "\x06\x81\x20\x01\x00", "no more runs": "\x06\x80\x20\x01\x00", "contiguous in the middle": "\x01\x05\x00",
	} {
		if _, err := mapped.OpenBytes(runs(n, body), filter.All, wire.Limits{}); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Damage is found when a packed filter is opened. If its checksum is right, it is found by the query that needs what is damaged.
func TestPackedDamage(t *testing.T) {
	race.Skip(t, "damages a container again and again in one goroutine")
	f, ds := ofSize(t, 1<<26, 2, 3000)
	b := packedBytes(t, f)
	for _, size := range []int{0, 7, 60, len(b) / 2, len(b) - 5, len(b) - 1} {
		if _, err := mapped.OpenBytes(b[:size], filter.All, wire.Limits{}); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%d of %d bytes: %v", size, len(b), err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 200 {
		bad := bytes.Clone(b)
		bad[80+rng.IntN(len(b)-80)] ^= 1 << rng.IntN(8)
		if _, err := mapped.OpenBytes(bad, filter.All, wire.Limits{}); !errors.Is(err, umbel.ErrCorrupt) {
			t.Fatalf("opened a damaged container: %v", err)
		}
		found += agree(t, summed(bad[:len(bad)-4]), ds[:300])
	}
	if found == 0 {
		t.Error("no query found damage")
	}
}

// agree compares the answers of a packed container with those of the filter that is read from it, and returns the number of
// queries that found damage.
func agree(t testing.TB, b []byte, ds []umbel.Digest) (found int) {
	x, err := mapped.OpenBytes(b, filter.All, wire.Limits{Bytes: 1 << 26})
	s, readErr := wire.Parse(b, wire.Limits{Bytes: 1 << 26})
	var f umbel.Filter
	if readErr == nil {
		f, readErr = filter.All.Open(s)
	}
	if err != nil {
		if readErr == nil {
			t.Fatalf("read, and not opened: %v", err)
		}
		return 0
	}
	for _, d := range ds {
		has, err := x.Has(d)
		switch {
		case err != nil && !errors.Is(err, umbel.ErrCorrupt):
			t.Fatal(err)
		case err != nil && readErr == nil:
			t.Fatalf("%v, in a filter that can be read", err)
		case err != nil:
			found++
		case readErr == nil && has != f.Has(d):
			t.Fatal("another answer")
		}
	}
	if verified := x.Verify(); readErr != nil && !errors.Is(readErr, umbel.ErrLimit) && verified == nil {
		t.Fatalf("verified, and not read: %v", readErr)
	}
	return found
}

// Many keys decode at most an eighth of the array twice if the limits permit the whole filter, which is in memory at the end.
// Otherwise the cache stays within its bounds. Few keys never take more.
func TestPackedManyKeys(t *testing.T) {
	f, ds := ofSize(t, 20<<23, 2, 800_000)
	b := packedBytes(t, f)
	absent := fixture.Digests(10, 20_000)
	for name, limit := range map[string]uint64{"whole": 1 << 30, "cache": 1 << 20} {
		x := fixture.Must(mapped.OpenBytes(b, filter.All, wire.Limits{Bytes: limit}))
		for i := range 20 {
			sameAnswers(t, x, f, absent[1000*i:][:1000])
			decoded, coded, cached, words, whole := x.Decoded()
			if cached > mapped.CacheBytes {
				t.Fatalf("%s: %d bytes in the cache", name, cached)
			}
			if name == "whole" && decoded > coded+coded/8 {
				t.Fatalf("%s: %d blocks were decoded, of %d", name, decoded, coded)
			}
			if words && (name == "cache" || decoded < coded/8) {
				t.Fatalf("%s: %d of %d blocks were decoded, and the array has words", name, decoded, coded)
			}
			if i == 19 && whole != (name == "whole") {
				t.Errorf("%s: in memory %v", name, whole)
			}
		}
		sameAnswers(t, x, f, ds[:3000])
	}
}

// Many keys of an array of runs never need the words of the array.
func TestPackedRunsStay(t *testing.T) {
	f, ds := ofSize(t, 1<<30, 1, 50_000)
	x := fixture.Must(mapped.OpenBytes(packedBytes(t, f), filter.All, wire.Limits{}))
	sameAnswers(t, x, f, append(fixture.Digests(11, 20_000), ds...))
	if decoded, coded, _, words, whole := x.Decoded(); decoded != coded || words || whole {
		t.Errorf("%d runs were decoded, of %d; words %v, whole %v", decoded, coded, words, whole)
	}
}

// Queries run concurrently, also while the whole filter is read.
func TestPackedConcurrently(t *testing.T) {
	f, ds := ofSize(t, 20<<23, 2, 800_000)
	x := fixture.Must(mapped.OpenBytes(packedBytes(t, f), filter.All, wire.Limits{}))
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() { sameAnswers(t, x, f, append(fixture.Digests(uint64(20+i), 700), ds[700*i:][:700]...)) })
	}
	group.Wait()
}

func FuzzPacked(f *testing.F) {
	few, _ := ofSize(f, 1<<26, 1, 500)
	f.Add(packedBytes(f, few), uint64(1))
	f.Add(runs(1, ""), uint64(2))
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		ds := fixture.Digests(seed, 50)
		agree(t, b, ds)
		if len(b) > 4 {
			agree(t, summed(bytes.Clone(b[:len(b)-4])), ds)
		}
	})
}

func BenchmarkPacked(b *testing.B) {
	for _, c := range []struct {
		name string
		m    uint64
		k, n int
	}{{"runs", 1 << 30, 1, 100_000}, {"blocks", 1 << 28, 2, 4_000_000}} {
		f, _ := ofSize(b, c.m, c.k, c.n)
		container := packedBytes(b, f)
		ds := fixture.Digests(10, 1<<16)
		b.Run("open/"+c.name, func(b *testing.B) {
			for b.Loop() {
				fixture.Must(mapped.OpenBytes(container, filter.All, wire.Limits{}))
			}
		})
		b.Run("first key/"+c.name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				x := fixture.Must(mapped.OpenBytes(container, filter.All, wire.Limits{}))
				x.Has(ds[i%len(ds)])
			}
		})
		x := fixture.Must(mapped.OpenBytes(container, filter.All, wire.Limits{Bytes: 1 << 20}))
		b.Run("key/"+c.name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				x.Has(ds[i%len(ds)])
			}
		})
		b.Run("read/"+c.name, func(b *testing.B) {
			for b.Loop() {
				fixture.Must(wire.Parse(container, wire.NoLimits))
			}
		})
	}
}

// ManyKeys compares the two ways to answer: in the packed container, and with a filter that is read at once.
func BenchmarkManyKeys(b *testing.B) {
	for _, c := range []struct {
		name string
		m    uint64
		k, n int
	}{{"one run", 1e9, 1, 10_000}, {"runs", 1e9, 1, 1_000_000}, {"blocks", 1e9, 2, 20_000_000}, {"few blocks", 1 << 27, 2, 2_000_000}} {
		f, _ := ofSize(b, c.m, c.k, c.n)
		container := packedBytes(b, f)
		for _, n := range []int{100, 1000, 10_000, 3_000_000} {
			ds := fixture.Digests(10, n)
			dst := make([]bool, n)
			inBatches := func(hasAll func(dst []bool, ds []umbel.Digest) error) {
				for at := 0; at < n; at += 1024 {
					if end := min(at+1024, n); hasAll(dst[at:end], ds[at:end]) != nil {
						b.Fatal("no answers")
					}
				}
			}
			b.Run(fmt.Sprintf("packed/%s/keys=%d", c.name, n), func(b *testing.B) {
				for b.Loop() {
					inBatches(fixture.Must(mapped.OpenBytes(container, filter.All, wire.Limits{Bytes: 1 << 30})).HasAll)
				}
			})
			b.Run(fmt.Sprintf("read/%s/keys=%d", c.name, n), func(b *testing.B) {
				for b.Loop() {
					g := fixture.Must(filter.All.Open(fixture.Must(wire.Parse(container, wire.Limits{Bytes: 1 << 30}))))
					inBatches(func(dst []bool, ds []umbel.Digest) error { umbel.HasAll(g, dst, ds); return nil })
				}
			})
		}
	}
}
