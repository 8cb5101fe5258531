package node

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// A node advances a window that follows the clock within half a second after a generation has ended.
func TestFollowClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &Node{engine: newEngine(engine.Options{})}
		n.working, n.stop = context.WithCancel(t.Context())
		n.tasks.Go(func() { n.every(houseEvery, n.followClock) })
		window := umbel.Params{{Name: "window", Value: umbel.Uint(10)}, {Name: "l", Value: umbel.Uint(10)}, {Name: "k", Value: umbel.Uint(1)}}
		f, _, err := n.engine.CreateWith("seen", "window", umbel.Goal{Keys: 100, FPRate: 0.01}, window, engine.CreateOptions{Tick: uint64(time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		d := umbel.Hasher{}.HashString("alice")
		if _, _, err := f.Add(nil, []umbel.Digest{d}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for has := []bool{true}; has[0]; time.Sleep(100 * time.Millisecond) {
			if err := f.Has(has, []umbel.Digest{d}); err != nil {
				t.Fatal(err)
			}
			if age := time.Since(began); has[0] && age > 11*time.Second+houseEvery || !has[0] && age < 10*time.Second {
				t.Fatalf("after %v: present %v, want 10 s to 11.5 s", age, has[0])
			}
		}
		n.stop()
		n.tasks.Wait()
	})
}
