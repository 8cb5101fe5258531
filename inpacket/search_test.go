package inpacket

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
)

var searched = []struct {
	name string
	form Form
}{{"single", Single}, {"staged", Staged}, {"folded", Folded}, {"linear", Linear}}

// checkFound fails the test unless routers take f for what the task says.
func checkFound(t *testing.T, task Task, f Found) {
	t.Helper()
	h := Header{Form: f.Form, K: f.K, Seed: f.Seed, Bits: f.Bits, Filter: f.Filter}
	if _, err := h.AppendBinary(nil); err != nil {
		t.Fatalf("%+v: %v", f, err)
	}
	if h.Overfull() {
		t.Errorf("%+v is overfull", f)
	}
	for hop := range max(len(task.Tree), len(task.Others)) {
		h.TTL = uint8(task.hops() - min(hop, task.hops()))
		for i, want := range []uint64{1, 0} {
			hops := [][][]Codeword{task.Tree, task.Others}[i]
			if hop >= len(hops) || len(hops[hop]) == 0 {
				continue
			}
			dst := make([]uint64, words(len(hops[hop])))
			NewTable(hops[hop]).Match(dst, &h)
			for link := range hops[hop] {
				if got := dst[link>>6] >> (link & 63) & 1; got != want {
					t.Errorf("form %d, K %d, seed %d, %d bits: link %d of hop %d: match %d, want %d", f.Form, f.K, f.Seed, f.Bits, link, hop, got, want)
				}
			}
		}
	}
}

// tasks calls f with random tasks of many sizes.
func tasks(t *testing.T, f func(t *testing.T, task Task)) {
	r := rand.New(rand.NewPCG(7, 1))
	for i := range 60 {
		nodes := 2 + r.IntN(1<<(1+i%7))
		n := randomNetwork(r, nodes, r.IntN(3*nodes))
		task := n.task(r, 1+r.IntN(nodes))
		tree, others := task.count()
		t.Run(fmt.Sprintf("%d-%d-%d", i, tree, others), func(t *testing.T) { f(t, task) })
	}
}

func TestSearchHasNoFalseMatch(t *testing.T) {
	tasks(t, func(t *testing.T, task Task) {
		least := MaxBits + 16
		for _, form := range searched {
			f, err := Search(task, Options{Forms: []Form{form.form}, Seeds: 16})
			if err != nil {
				t.Fatal(form.name, err)
			}
			if f.Form != form.form || f.Trials == 0 {
				t.Errorf("form %d after %d trials, want %s", f.Form, f.Trials, form.name)
			}
			checkFound(t, task, f)
			least = min(least, f.Cost())
		}
		forms := []Form{Single, Staged, Folded, Linear}
		f, err := Search(task, Options{Forms: forms, Seeds: 16})
		if err != nil {
			t.Fatal(err)
		}
		checkFound(t, task, f)
		if f.Cost() != least {
			t.Errorf("of all forms %d bits, want those of the best, %d", f.Cost(), least)
		}
		slices.Reverse(forms)
		again, err := Search(task, Options{Forms: forms, Seeds: 16})
		if err != nil || !reflect.DeepEqual(f, again) {
			t.Errorf("searched again %+v, %v, want %+v", again, err, f)
		}
	})
}

var _ = errors.Is
var _ = umbel.ErrGoal
