package advances

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/sample"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

var program = piece.Piece{
	Name:  "003/program",
	Title: "Figures 6 to 12: what the program prints",
	Note: `
We rewrote the program of section 5.1, with its mistakes, to compare what it prints with the
screens. Capacity 20, k = 3. The two agree if getSetArray is that of chapter 6; that of section
5.1 doubles k where the frequency is 50 or more, and would print six keys in Figure 6. Each
position is computed from the previous one, so 12, 15 and 16 form a cycle and have the same
cells; 13 is its own hash. umbel's positions are those of the elements as decimal strings.`,
	Make: makeProgram,
}

// screens contains the keys that the figures show.
var screens = []struct {
	figure  string
	element int32
	keys    []string
}{
	{"Figure 6", 12, []string{"15", "16", "12"}},
	{"Figure 7", 15, []string{"16", "12", "15"}},
	{"Figure 11", 13, []string{"13", "13"}},
}

func makeProgram(_ context.Context, r *piece.Run) error {
	const capacity, k = 20, 3
	j := newJava(capacity, k)
	for _, s := range screens {
		for i, key := range s.keys {
			r.Add(piece.Row{What: fmt.Sprintf("%s: key %d of %d", s.figure, i+1, s.element), Printed: key, Recomputed: float64(j.positions(s.element)[i])})
		}
	}
	listed := func(frequency, distinct int) int { return frequency / distinct * 100 } // section 5.1
	later := func(frequency, all int) int { return frequency * 100 / all }            // chapter 6
	r.Add(
		piece.Row{What: "Figure 6: freq of the first element", Printed: "100", Recomputed: float64(later(1, 1))},
		piece.Row{What: "keys printed with it", Printed: "3", Recomputed: k},
		piece.Row{What: "keys by the listing of section 5.1", Printed: "3", Recomputed: 2 * k},
		piece.Row{What: "Figure 11: freq of one of five elements", Printed: "20", Recomputed: float64(later(1, 5))},
		piece.Row{What: "freq by section 5.1, with integer division", Printed: "20", Measured: piece.Counted(listed(1, 5), 1), Mark: piece.Wrong},
	)
	found := fives(figure12)
	as := slices.DeleteFunc(slices.Clone(found), func(es []int) bool {
		return !slices.Contains(es, 12) || !slices.Contains(es, 13) || slices.Contains(es, 15)
	})
	f, err := counting.NewShape(counting.Shape{M: capacity, K: k})
	if err != nil {
		return err
	}
	var ours, theirs [][]int
	for e := range int32(20) {
		theirs = append(theirs, j.positions(e))
		var at []int
		for _, i := range f.Locate(nil, f.Hasher().HashString(fmt.Sprint(e))) {
			at = append(at, int(i))
		}
		ours = append(ours, at)
	}
	r.Add(
		piece.Row{What: "Figure 12: sets of five elements with its counters", Recomputed: float64(len(found))},
		piece.Row{What: fmt.Sprintf("those with 12 and 13 and without 15, as on the other screens: %v", as), Recomputed: float64(len(as))},
		piece.Row{What: "elements 0 to 19 with the same cells as another one", Recomputed: float64(ambiguous(theirs))},
		piece.Row{What: fmt.Sprintf("the same in umbel; it has 12 at %v, 15 at %v, 13 at %v", ours[12], ours[15], ours[13]),
			Measured: piece.Counted(ambiguous(ours), 1)},
	)
	return nil
}

// chains contains the filters whose rate is measured with the program's positions.
var chains = []struct{ m, n, k int }{{1024, 100, 3}, {1024, 100, 7}, {8192, 1000, 5}, {100_000, 10_000, 7}}

const (
	yes     = "yes"
	queries = 2000
)

var hashChain = piece.Piece{
	Name:  "003/hash-chain",
	Title: "The rate of the program's filter",
	Note: `
Elements are random integers. Elements with the same first position have all positions in
common, and other elements enter the same cycles. For any k, the rate is therefore at least the
share of queries whose first position is the first position of a key. umbel's counting filter
has the same shape.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		for _, c := range chains {
			got, err := r.Simulate(ctx, chain(c.m, c.n, c.k), max(5, r.Trials/20))
			if err != nil {
				return err
			}
			m := uint64(c.m)
			ours, err := sample.Rate{
				Name: fmt.Sprintf("003 counting m=%d k=%d n=%d", c.m, c.k, c.n), Keys: c.n,
				New: func() (sample.Filter, error) { return counting.NewShape(counting.Shape{M: m, K: c.k}) },
			}.Measure(ctx, r, max(5, r.Trials/20))
			if err != nil {
				return err
			}
			r.Add(
				piece.Row{What: fmt.Sprintf("m=%d, n=%d, k=%d: the program", c.m, c.n, c.k), Measured: piece.Scaled(got.Of(yes), 1./queries)},
				piece.Row{What: "queries with the first position of a key", Recomputed: -math.Expm1(-float64(c.n) / float64(c.m-1))},
				piece.Row{What: "umbel", Recomputed: plan.Filter{M: m, K: c.k}.FPRateExact(uint64(c.n)), Measured: ours},
			)
		}
		return nil
	},
}

// chain returns a simulation of the program's filter.
func chain(m, n, k int) trial.Simulation {
	return trial.Simulation{
		Name: fmt.Sprintf("003 program m=%d k=%d n=%d", m, k, n), Values: []string{yes},
		Worker: func() (trial.Trial, error) {
			j := newJava(m, k)
			return func(r *rand.ChaCha8, out []int64) error {
				clear(j.counts)
				for range n {
					j.add(int32(r.Uint64()))
				}
				out[0] = 0
				for range queries {
					if j.contains(int32(r.Uint64())) {
						out[0]++
					}
				}
				return nil
			}, nil
		},
	}
}

// The keys that a trial of deletions counts.
const (
	leftByProgram, leftByUmbel = "left, program", "left, umbel"
	lostByProgram, lostByUmbel = "lost, program", "lost, umbel"
	deletedKeys                = 50
)

var deletion = piece.Piece{
	Name:  "003/deletion",
	Title: "Deletion in the program",
	Note: `
The program clears positions whose count is 1. At a position with another count it prints
"cannot be deleted" and stops. So a key whose first count isn't 1 stays. It does not query the
key first, so deleting an absent key clears cells of other keys. 100 keys, 1024 cells, k = 3:
first, 50 of the keys are deleted, then 50 keys that were never added. Of these, umbel removes
only the false positives, at most 1.6 %, and these are the reason why it loses any keys.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		got, err := r.Simulate(ctx, deleting, max(5, r.Trials/20))
		if err != nil {
			return err
		}
		share := func(value string) piece.Measure { return piece.Scaled(got.Of(value), 1./deletedKeys) }
		r.Add(
			piece.Row{What: "deleted keys still present: the program", Measured: share(leftByProgram)},
			piece.Row{What: "umbel: its rate with 50 keys", Recomputed: plan.Filter{M: 1024, K: 3}.FPRateExact(deletedKeys), Measured: share(leftByUmbel)},
			piece.Row{What: "keys lost by other deletions: the program", Measured: share(lostByProgram)},
			piece.Row{What: "umbel", Measured: share(lostByUmbel)},
		)
		return nil
	},
}

// deleting is a simulation of deletions by the program and by umbel.
var deleting = trial.Simulation{
	Name: "003 deletion", Values: []string{leftByProgram, leftByUmbel, lostByProgram, lostByUmbel},
	Worker: func() (trial.Trial, error) {
		const m, k = 1024, 3
		j := newJava(m, k)
		f, err := counting.NewShape(counting.Shape{M: m, K: k})
		if err != nil {
			return nil, err
		}
		ds := make([]umbel.Digest, 3*deletedKeys)
		return func(r *rand.ChaCha8, out []int64) error {
			clear(j.counts)
			f.Clear()
			clear(out)
			sample.Digests(r, ds)
			kept, gone, others := ds[:deletedKeys], ds[deletedKeys:2*deletedKeys], ds[2*deletedKeys:]
			element := func(d umbel.Digest) int32 { return int32(d.H1) }
			remove := func(ds []umbel.Digest) {
				for _, d := range ds {
					j.remove(element(d))
					f.Remove(d)
				}
			}
			count := func(ds []umbel.Digest, present bool, program, ours *int64) {
				for _, d := range ds {
					if j.contains(element(d)) == present {
						*program++
					}
					if f.Has(d) == present {
						*ours++
					}
				}
			}
			for _, d := range ds[:2*deletedKeys] {
				j.add(element(d))
				f.Add(d)
			}
			remove(gone)
			count(gone, true, &out[0], &out[1])
			remove(others)
			count(kept, false, &out[2], &out[3])
			return nil
		}, nil
	},
}
