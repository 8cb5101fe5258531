package inpacket

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
)

// TestChange: after receivers leave and join, the changed filter contains the tree and matches no
// other link, as a new one would. Most changes need no search, and a filter that is solved is
// hardly longer than one that is searched.
func TestChange(t *testing.T) {
	for _, form := range searched {
		t.Run(form.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, uint64(form.form)))
			n := randomNetwork(r, 120, 120)
			o := Options{Forms: []Form{form.form}, Seeds: 16}
			var count [Searched + 1]int
			receivers := 14
			task := n.task(rand.New(rand.NewPCG(9, 9)), receivers)
			f, err := Search(task, o)
			if err != nil {
				t.Fatal(err)
			}
			const changes = 60
			for range changes {
				// The same source, with the first receivers of the same order.
				receivers = max(1, min(40, receivers+[]int{-1, 1}[r.IntN(2)]))
				task = n.task(rand.New(rand.NewPCG(9, 9)), receivers)
				g, how, err := f.Change(task, o)
				if err != nil {
					t.Fatal(err)
				}
				checkFound(t, task, g)
				count[how]++
				if how != Searched && g.Seed != f.Seed || how == Kept && g.Bits != f.Bits {
					t.Errorf("changed without a search from %+v to %+v", f, g)
				}
				if (form.form == Single || form.form == Folded) && how != Searched && (g.Bits != f.Bits || g.K != f.K) {
					t.Errorf("changed from %+v to %+v", f, g)
				}
				if best, err := Search(task, o); err != nil || how == Solved && slices.Contains(sectioned, form.form) && g.Bits > best.Bits+best.Bits/8+20 {
					t.Errorf("solved in %d bits, and searched in %d, %v", g.Bits, best.Bits, err)
				}
				if again, how2, err := g.Change(task, o); err != nil || how2 != Kept && form.form != Staged || how2 == Kept && again.Bits != g.Bits {
					t.Errorf("the same task changed %+v to %+v (%d, %v)", g, again, how2, err)
				}
				f = g
			}
			t.Logf("kept, solved, searched: %v", count)
			switch {
			case form.form == Staged && count[Searched] < changes:
				t.Errorf("%v: stages are always searched", count)
			case form.form != Staged && count[Searched] > changes/2:
				t.Errorf("%d of %d changes were searched", count[Searched], changes)
			}
		})
	}
}

// TestChangeSearches: Change is Search where it can't keep the form, and has its errors.
func TestChangeSearches(t *testing.T) {
	task := oneHop(20, 30)
	f, err := Search(task, Options{Forms: []Form{Linear}, Seeds: 8})
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]Options{
		"another form": {Forms: []Form{Single}, Seeds: 8},
		"fewer bits":   {MaxBits: f.Bits - 1, Seeds: 256},
	} {
		want, wantErr := Search(task, o)
		got, how, err := f.Change(task, o)
		if how != Searched || !reflect.DeepEqual(got, want) || errors.Is(err, ErrTooLong) != errors.Is(wantErr, ErrTooLong) {
			t.Errorf("%s: %+v, %d, %v, want %+v, %v", name, got, how, err, want, wantErr)
		}
	}
	for _, most := range []float64{f.FalseMatch / 2, f.FalseMatch / 8} {
		if g, _, err := f.Change(task, Options{MaxFalseMatch: most, Seeds: 8}); err != nil || g.FalseMatch > most {
			t.Errorf("a false-match rate of at most %g: %+v, %v", most, g, err)
		} else {
			checkFound(t, task, g)
		}
	}
	if g, how, err := f.Change(Task{}, Options{}); err != nil || how != Searched || g.Bits != 1 {
		t.Errorf("the last receiver left: %+v, %d, %v", g, how, err)
	}
	if _, _, err := f.Change(Task{task.Tree, task.Tree}, Options{}); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("a link in both sets: %v", err)
	}
	if _, _, err := f.Change(task, Options{Seeds: -1}); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("seeds below 0: %v", err)
	}
	empty := Found{Form: Single, K: 1, Bits: 1, Filter: []byte{0}}
	if g, how, err := empty.Change(task, Options{Seeds: 8}); err != nil || how != Searched {
		t.Errorf("the first receivers joined: %+v, %d, %v", g, how, err)
	} else {
		checkFound(t, task, g)
	}
}
