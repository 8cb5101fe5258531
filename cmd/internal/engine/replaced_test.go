package engine_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter"
)

// asking is a slow journal: meanwhile keys are queried.
type asking struct {
	journal
	meanwhile func(engine.Change)
}

func (j *asking) Append(c engine.Change) engine.Position {
	if j.meanwhile != nil {
		j.meanwhile(c)
	}
	return j.journal.Append(c)
}

// replacements are all ways in which a filter takes the place of "a". All of them have the keys.
var replacements = map[string]func(e *engine.Engine, keys []umbel.Digest) error{
	"rename": func(e *engine.Engine, keys []umbel.Digest) error {
		f, _, err := e.Create("b", "bloom", goal, nil)
		if err == nil {
			_, _, err = f.Add(nil, keys)
		}
		if err == nil {
			_, err = e.Rename([]byte("b"), []byte("a"), true)
		}
		return err
	},
	"copy": func(e *engine.Engine, keys []umbel.Digest) error {
		if _, err := e.Copy([]byte("a"), []byte("c"), true); err != nil {
			return err
		}
		_, err := e.Copy([]byte("c"), []byte("a"), true)
		return err
	},
	"put": func(e *engine.Engine, keys []umbel.Digest) error {
		v, err := filter.All.Find("bloom")
		if err != nil {
			return err
		}
		g, err := v.New(goal, nil)
		if err != nil {
			return err
		}
		umbel.AddAll(g, nil, keys)
		_, _, err = e.Put("a", g, engine.PutOptions{Replace: true})
		return err
	},
}

// A key that is in a filter and in the one that replaces it is present at all times, also while the change is passed to
// the journal.
func TestQuestionsWhileFiltersAreReplaced(t *testing.T) {
	keys := digests(1, 20)
	for name, replace := range replacements {
		t.Run(name, func(t *testing.T) {
			j := new(asking)
			e := engine.New(engine.Options{Kinds: filter.All})
			e.SetJournal(j)
			add(t, create(t, e, "a", "bloom", goal, nil), keys)
			had := e.Get([]byte("a"))
			asked := 0
			ask := func() {
				wantAll(t, e.Get([]byte("a")), keys)
				wantAll(t, had, keys) // who had it before asks now
				asked++
			}
			j.meanwhile = func(engine.Change) { ask() }
			if err := replace(e, keys); err != nil {
				t.Fatal(err)
			}
			ask()
			if asked < 2 {
				t.Error("the journal was told nothing")
			}
			j.meanwhile = nil

			var stop atomic.Bool
			var group sync.WaitGroup
			for range 2 {
				group.Go(func() {
					has := make([]bool, len(keys))
					for !stop.Load() {
						f := e.Get([]byte("a"))
						if f == nil {
							t.Error("it isn't there")
							return
						}
						if f.Has(has, keys); slices.Contains(has, false) {
							t.Error("a key isn't there")
							return
						}
					}
				})
			}
			for range 300 {
				if err := replace(e, keys); err != nil {
					t.Error(err)
				}
			}
			stop.Store(true)
			group.Wait()
		})
	}
}
