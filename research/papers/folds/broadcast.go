package folds

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/sample"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// A base is folded to four sizes, one for each transmission. Each other form has as many bits as the mean of these folds.
const (
	castCells, castKeys, castK = 360_360, 1000, 4
	castQueries                = 20_000
)

var castFactors = []uint64{60, 63, 56, 55}

// castBits is the number of bits of a transmission.
const castBits = (castCells/60 + castCells/63 + castCells/56 + castCells/55) / 4

// castForm is what a sender can transmit: make fills the parts and returns whether the first caught parts have a key.
type castForm struct {
	name string
	make func(keys []umbel.Digest) (func(d umbel.Digest, caught int) bool, error)
	rate func(caught int) float64 // by a formula, or 0
}

var castForms = []castForm{
	{"the same fold again", castFolds([]uint64{60, 60, 60, 60}), func(int) float64 {
		return plan.Filter{M: castCells / 60, K: castK}.FPRate(castKeys)
	}},
	{"another fold, umbel's order", castFolds(castFactors), nil},
	{"another fold, order of equation (3)", castInOrder3, nil},
	{"pieces of the compressed base", castPieces, nil},
	{"slices of a partitioned filter", castHashed(1), func(caught int) float64 {
		return math.Pow(plan.Filter{M: castBits, K: 1}.FPRate(castKeys), float64(caught))
	}},
	{"filters with another seed", castHashed(castK), func(caught int) float64 {
		return math.Pow(plan.Filter{M: castBits, K: castK}.FPRate(castKeys), float64(caught))
	}},
}

var castBase = plan.Filter{M: castCells, K: castK}

var broadcast = piece.Piece{
	Name:  "000/broadcast",
	Title: "Section IV-C: a receiver that catches some of several transmissions",
	Note: fmt.Sprintf(`
A sender transmits a summary of one set again and again, and a receiver catches some of the transmissions: contacts by
chance, or a lossy broadcast. %d keys, %d bits per transmission on average, k = %d. A receiver of several answers yes if
all of them do. That never denies a key if all are of the same version of the set. The folds are those of a base of %d cells
by 60, 63, 56 and 55. The compressed base takes %.0f bits; a receiver that has a part of its cells answers as if the other cells
were set. Rates by the number of transmissions that a receiver has caught, by formula and measured.

A filter of the same size with another seed each time has the product of the rates, since its hashes are independent. It has a lower rate than
folds in either order after two transmissions or more, and the sender needs no base. So umbel has no kind that joins folds: a
receiver of several filters queries all of them.`,
		castKeys, castBits, castK, castCells, castBase.WireBits(castKeys).Mean),
	Make: makeBroadcast,
}

func makeBroadcast(ctx context.Context, r *piece.Run) error {
	got, err := r.Simulate(ctx, transmissions, max(5, r.Trials/20))
	if err != nil {
		return err
	}
	for _, f := range castForms {
		for caught := 1; caught <= len(castFactors); caught++ {
			row := piece.Row{What: castValue(f, caught), Measured: piece.Scaled(got.Of(castValue(f, caught)), 1./castQueries)}
			if f.rate != nil {
				row.Recomputed = f.rate(caught)
			}
			r.Add(row)
		}
	}
	return nil
}

func castValue(f castForm, caught int) string {
	return fmt.Sprintf("%s: rate after %d", f.name, caught)
}

// transmissions is the simulation of all forms.
var transmissions = trial.Simulation{
	Name: "000 broadcast",
	Values: func() (names []string) {
		for _, f := range castForms {
			for caught := range castFactors {
				names = append(names, castValue(f, caught+1))
			}
		}
		return names
	}(),
	Worker: func() (trial.Trial, error) {
		keys, queries := make([]umbel.Digest, castKeys), make([]umbel.Digest, castQueries)
		return func(r *rand.ChaCha8, out []int64) error {
			sample.Digests(r, keys)
			for i, f := range castForms {
				has, err := f.make(keys)
				if err != nil {
					return err
				}
				for caught := range castFactors {
					out[i*len(castFactors)+caught] = sample.FalsePositives(r, queries, castQueries,
						func(d umbel.Digest) bool { return has(d, caught+1) })
				}
			}
			return nil
		}, nil
	},
}

// castFolds folds the base by each of the factors.
func castFolds(factors []uint64) func([]umbel.Digest) (func(umbel.Digest, int) bool, error) {
	return func(keys []umbel.Digest) (func(umbel.Digest, int) bool, error) {
		base, err := castBloom(castCells, castK, keys)
		if err != nil {
			return nil, err
		}
		folds := make([]*bloom.Filter, len(factors))
		for i, by := range factors {
			folds[i] = base.Clone()
			if err := folds[i].Fold(by); err != nil {
				return nil, err
			}
		}
		return allHave(folds, func(d umbel.Digest, _ int) umbel.Digest { return d }), nil
	}
}

// castHashed makes a filter for each transmission with k cells per key, each with hashes of its own.
func castHashed(k int) func([]umbel.Digest) (func(umbel.Digest, int) bool, error) {
	return func(keys []umbel.Digest) (func(umbel.Digest, int) bool, error) {
		filters := make([]*bloom.Filter, len(castFactors))
		for i := range filters {
			own := make([]umbel.Digest, len(keys))
			for j, d := range keys {
				own[j] = rehash(d, i)
			}
			var err error
			if filters[i], err = castBloom(castBits, k, own); err != nil {
				return nil, err
			}
		}
		return allHave(filters, rehash), nil
	}
}

// castInOrder3 folds cells together that are as far apart as the fold has cells, as in equation (3).
func castInOrder3(keys []umbel.Digest) (func(umbel.Digest, int) bool, error) {
	folds := make([][]bool, len(castFactors))
	for i, by := range castFactors {
		folds[i] = make([]bool, castCells/by)
	}
	for _, d := range keys {
		for h := range castK {
			cell := rehash(d, h).H1 % castCells
			for i, by := range castFactors {
				folds[i][cell%(castCells/by)] = true
			}
		}
	}
	return func(d umbel.Digest, caught int) bool {
		for h := range castK {
			cell := rehash(d, h).H1 % castCells
			for i, by := range castFactors[:caught] {
				if !folds[i][cell%(castCells/by)] {
					return false
				}
			}
		}
		return true
	}, nil
}

// castPieces divides the base into pieces that take as many bits as a transmission when they are compressed.
func castPieces(keys []umbel.Digest) (func(umbel.Digest, int) bool, error) {
	base, err := castBloom(castCells, castK, keys)
	if err != nil {
		return nil, err
	}
	piece := castBits / castBase.WireBits(castKeys).Mean * castCells
	cells := base.State().Arrays[0]
	return func(d umbel.Digest, caught int) bool {
		var buffer [castK]uint64
		for _, cell := range base.Locate(buffer[:0], d) {
			if float64(cell) < float64(caught)*piece && !cells.Bit(cell) {
				return false
			}
		}
		return true
	}, nil
}

func castBloom(m uint64, k int, keys []umbel.Digest) (*bloom.Filter, error) {
	f, err := bloom.NewShape(bloom.Shape{M: m, K: k})
	if err != nil {
		return nil, err
	}
	f.AddAll(nil, keys)
	return f, nil
}

// allHave returns a function that queries the first filters, each for the digest that hash returns.
func allHave(filters []*bloom.Filter, hash func(umbel.Digest, int) umbel.Digest) func(umbel.Digest, int) bool {
	return func(d umbel.Digest, caught int) bool {
		for i, f := range filters[:caught] {
			if !f.Has(hash(d, i)) {
				return false
			}
		}
		return true
	}
}

// rehash returns hash i of the key with digest d: the finalizer of SplitMix64 (Steele, Lea and Flood 2014).
func rehash(d umbel.Digest, i int) umbel.Digest {
	mix := func(x uint64) uint64 {
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		return x ^ x>>31
	}
	step := uint64(i+1) * 0x9e3779b97f4a7c15
	return umbel.Digest{H1: mix(d.H1 + step), H2: mix(d.H2 + step)}
}
