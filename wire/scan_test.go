package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
)

// scanned returns the state that consists of the blocks of a scan.
func scanned(b []byte, l wire.Limits) (umbel.State, error) {
	found := map[string][]wire.Block{}
	s, err := wire.Scan(bytes.NewReader(b), l, func(b wire.Block) error {
		at := fmt.Sprint(b.Part, len(b.State.Arrays)-1)
		b.Cells = b.Cells.Clone()
		found[at] = append(found[at], b)
		return nil
	})
	if err != nil {
		return s, err
	}
	return s, assemble(&s, []int{}, found)
}

func assemble(s *umbel.State, part []int, found map[string][]wire.Block) error {
	for i := range s.Arrays {
		p := &s.Arrays[i]
		full, err := cells.New(p.Len, p.Width)
		if err != nil {
			return err
		}
		for _, b := range found[fmt.Sprint(part, i)] {
			last := b.State.Arrays[len(b.State.Arrays)-1]
			if b.State.Kind != s.Kind || b.State.Hasher != s.Hasher || last.Len != p.Len || last.Width != p.Width || last.Words != nil {
				return fmt.Errorf("part %v, plane %d: a block of another state or plane: %v", part, i, b.State)
			}
			if err := b.Cells.Check(); err != nil {
				return err
			}
			copy(full.Words[b.First*uint64(p.Width)/64:], b.Cells.Words)
		}
		if p.Words != nil {
			return errors.New("a scan returned words")
		}
		*p = full
	}
	for i := range s.Parts {
		if err := assemble(&s.Parts[i], append(part[:len(part):len(part)], i), found); err != nil {
			return err
		}
	}
	return nil
}

// A scan of a large sparse array takes memory for a few blocks.
func TestScanMemory(t *testing.T) {
	a := wiretest.Array(t, 1<<29, 1, wiretest.Zeros) // 64 MiB
	for i := uint64(0); i < a.Len; i += 50_000_017 {
		a.SetBit(i)
	}
	b := mustPack(t, umbel.State{Kind: "x", Arrays: []cells.Array{a}})
	for _, c := range []struct {
		workers int
		most    uint64
	}{{0, 2 << 20}, {-1, 2 << 20}, {math.MaxInt, 10 << 20 * uint64(runtime.GOMAXPROCS(0))}} {
		blocks, ones := 0, uint64(0)
		n := wiretest.Allocated(func() {
			_, err := wire.Scan(bytes.NewReader(b), wire.Limits{Workers: c.workers}, func(b wire.Block) error {
				blocks++
				ones += b.Cells.Nonzero()
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		if blocks != 11 || ones != 11 {
			t.Errorf("%d workers: %d blocks with %d ones, want 11 of both", c.workers, blocks, ones)
		}
		if n > c.most {
			t.Errorf("%d workers: %d bytes allocated for a plane of 64 MiB, want %d at most", c.workers, n, c.most)
		}
	}
}

// TestScanStops: an error of the caller ends the scan and is returned with its position.
func TestScanStops(t *testing.T) {
	s := umbel.State{Kind: "x", Arrays: []cells.Array{wiretest.Array(t, 60<<19, 1, wiretest.Noise)}}
	enough := errors.New("enough")
	var texts []string
	for _, workers := range []int{0, 4} {
		calls := 0
		_, err := wire.Scan(bytes.NewReader(mustAppend(t, s)), wire.Limits{Workers: workers}, func(wire.Block) error {
			if calls++; calls == 20 {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) || calls != 20 {
			t.Errorf("%d workers: %d calls, %v, want 20 and %v", workers, calls, err, enough)
		}
		texts = append(texts, fmt.Sprint(err))
	}
	if texts[0] != texts[1] {
		t.Errorf("%s, with 4 workers %s", texts[0], texts[1])
	}
	wantNoGoroutines(t)
}
