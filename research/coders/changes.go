package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/wire/delta"
)

const changesText = `
## Changes

A share of the keys is replaced. The bound is the entropy of the cells that change, given the filter before: log2 C(zeros, set) +
log2 C(ones, cleared). umbel's delta has the check of base and result. Golomb is two lists, of the zeros that are set and of the ones that are cleared.
zstd --patch-from has the words before as its dictionary; zstd, brotli and xz compress the exclusive or of both.

`

var changeColumns = []string{"keys", "filter", "changed", "bound", "delta", "Golomb", "patch-from", "zstd", "brotli", "xz"}

// design is a filter by cells per key and k.
type design struct {
	name   string
	perKey float64
	k      int
}

var designs = []design{
	{name: "9.6 cells, k = 7", perKey: 9.6, k: 7},
	{name: "32 cells, k = 2", perKey: 32, k: 2},
	{name: "99.5 cells, k = 1", perKey: 99.5, k: 1},
}

// changeRow returns the sizes of the forms of a change, in the order of changeColumns.
func changeRow(ctx context.Context, tools programs, n uint64, d design, share float64) ([]uint64, error) {
	replaced := uint64(math.Round(share * float64(n)))
	ds := digests(n, n+replaced)
	before, err := d.filter(n, ds[:n])
	if err != nil {
		return nil, err
	}
	after, err := d.filter(n, ds[replaced:])
	if err != nil {
		return nil, err
	}
	b, err := delta.Append(nil, before, after)
	if err != nil {
		return nil, err
	}
	x, y := before.Arrays[0], after.Arrays[0]
	set, cleared := gaps(x, y)
	zeros, ones := x.Len-x.Nonzero(), x.Nonzero()
	bits := choices(zeros, uint64(len(set))) + choices(ones, uint64(len(cleared)))
	row := []uint64{uint64(math.Ceil(bits / 8)), uint64(len(b)), (golomb(set, zeros) + golomb(cleared, ones) + 7) / 8}
	patch, err := tools.patch(ctx, x.Words, y.Words)
	if err != nil {
		return nil, err
	}
	difference := slices.Clone(x.Words)
	for i, w := range y.Words {
		difference[i] ^= w
	}
	sizes, err := tools.compressed(ctx, difference)
	return append(append(row, patch), sizes...), err
}

// filter returns the state of a filter for n keys with the given keys.
func (d design) filter(n uint64, ds []umbel.Digest) (umbel.State, error) {
	f, err := bloom.NewShape(bloom.Shape{M: uint64(math.Ceil(d.perKey * float64(n))), K: d.k})
	if err != nil {
		return umbel.State{}, fmt.Errorf("%s: %w", d.name, err)
	}
	f.AddAll(nil, ds)
	return f.State(), nil
}

// gaps returns the cells that are set, as their numbers among the zeros of x, and those that are cleared, among its ones.
func gaps(x, y cells.Array) (set, cleared []uint64) {
	var zeros, ones uint64
	for i := range x.Len {
		was, is := x.Bit(i), y.Bit(i)
		if was {
			if !is {
				cleared = append(cleared, ones)
			}
			ones++
		} else {
			if is {
				set = append(set, zeros)
			}
			zeros++
		}
	}
	return set, cleared
}

// choices returns the binary logarithm of the number of ways to choose k of n.
func choices(n, k uint64) float64 {
	of := func(n uint64) float64 { l, _ := math.Lgamma(float64(n) + 1); return l }
	return (of(n) - of(k) - of(n-k)) / math.Ln2
}
