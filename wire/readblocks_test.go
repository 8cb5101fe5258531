package wire_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"runtime"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
)

// readBlocks reads a container with ReadBlocks.
func readBlocks(r io.Reader, l wire.Limits) error {
	for _, err := range wire.ReadBlocks(r, l, nil) {
		if err != nil {
			return err
		}
	}
	return nil
}

// assembled returns the state that consists of the blocks that ReadBlocks yields.
func assembled(b []byte, l wire.Limits) (s umbel.State, err error) {
	var arrays []cells.Array
	make := func() error {
		for _, a := range s.AllArrays()[len(arrays):] {
			full, err := cells.New(a.Len, a.Width)
			if err != nil || a.Words != nil {
				return fmt.Errorf("array of %d words, %w", len(a.Words), err)
			}
			arrays = append(arrays, full)
		}
		return nil
	}
	last := -1
	for b, err := range wire.ReadBlocks(bytes.NewReader(b), l, &s) {
		if err == nil {
			err = make()
		}
		if err == nil {
			err = b.Cells.Check()
		}
		if err != nil {
			return s, err
		}
		if b.Array != len(arrays)-1 || b.Array < last || b.Cells.Nonzero() == 0 || s.Kind == "" {
			return s, fmt.Errorf("a block of array %d after one of %d, when %d are known", b.Array, last, len(arrays))
		}
		last = b.Array
		copy(arrays[b.Array].Words[b.First*uint64(b.Cells.Width)/64:], b.Cells.Words)
	}
	if err := make(); err != nil {
		return s, err
	}
	return s.WithArrays(arrays), nil
}

// ReadBlocks of a large sparse array takes memory for a few blocks.
func TestReadBlocksMemory(t *testing.T) {
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
			for b, err := range wire.ReadBlocks(bytes.NewReader(b), wire.Limits{Workers: c.workers}, nil) {
				if err != nil {
					t.Error(err)
					continue
				}
				blocks++
				ones += b.Cells.Nonzero()
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

// A loop over blocks may end early, with workers too.
func TestReadBlocksStops(t *testing.T) {
	s := umbel.State{Kind: "x", Arrays: []cells.Array{wiretest.Array(t, 60<<19, 1, wiretest.Noise)}}
	for _, workers := range []int{0, 4} {
		n := 0
		for b, err := range wire.ReadBlocks(bytes.NewReader(mustAppend(t, s)), wire.Limits{Workers: workers}, nil) {
			if err != nil || b.First != uint64(n)<<19 {
				t.Fatalf("%d workers: a block from %d on, %v, want %d", workers, b.First, err, n<<19)
			}
			if n++; n == 20 {
				break
			}
		}
		if n != 20 {
			t.Errorf("%d workers: %d blocks, want 20", workers, n)
		}
	}
	wantNoGoroutines(t)
}
