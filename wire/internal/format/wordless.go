package format

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire/internal/block"
)

// SetBlock returns block i of array a, in slot k of n, as set fills it.
func SetBlock(s *block.Scratch, a cells.Array, array int, i uint64, k, n int, set func(int, uint64, cells.Array) error) (cells.Array, error) {
	b := s.Block(a, i, k, n)
	err := set(array, i*block.Cells(a), b)
	if err == nil {
		if err = block.CheckEnd(b); err != nil {
			err = fmt.Errorf("array %d: block %d: %w", array, i, err)
		}
	}
	return b, err
}

// CheckWordless returns an error unless a state whose arrays have no words can be written.
func CheckWordless(s umbel.State) error {
	arrays := s.AllArrays()
	for i, a := range arrays {
		if _, err := cells.WordsFor(a.Len, a.Width); err != nil || len(a.Words) > 0 {
			return sentinel.Errorf(umbel.ErrCorrupt, "array %d: %d cells of %d bits in %d words, want no words", i, a.Len, a.Width, len(a.Words))
		}
		arrays[i] = cells.Array{Width: 1}
	}
	return s.WithArrays(arrays).Check()
}
