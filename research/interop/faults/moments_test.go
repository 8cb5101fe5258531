package faults

import (
	"math/rand/v2"
	"os/exec"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

// TestKillDuringSave kills a node while it copies what changed, and clients change it.
func TestKillDuringSave(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var kept acknowledged
	rounds := few()
	for round := range rounds {
		p := start(t, dir)
		c := dial(t, p)
		if round == 0 {
			makeFilters(t, c)
		}
		kept.check(t, c, round)
		kept.keep(addUntil(t, p, round, func() {
			time.Sleep(rand.N(50 * time.Millisecond))
			saved := make(chan struct{})
			go func() {
				defer close(saved)
				for {
					if _, err := c.Do("SAVE"); err != nil {
						return
					}
				}
			}()
			time.Sleep(rand.N(100 * time.Millisecond))
			p.Kill()
			<-saved
		}), 0)
	}
	kept.checkAll(t, dial(t, start(t, dir)), rounds)
	t.Logf("%d kills, %d additions acknowledged, all there", rounds, kept.n())
}

// TestKillAtStart kills a node again and again before it is ready, and right after.
func TestKillAtStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	flags := []string{"--snapshot-interval", "300ms", "--snapshot-bytes", "64KiB"}
	p := start(t, dir, flags...)
	makeFilters(t, dial(t, p))
	var kept acknowledged
	kept.keep(addUntilKilled(t, p, 0, 500*time.Millisecond), 0)
	for range 10 * few() {
		resp, http := freeAddr(t), freeAddr(t)
		cmd := exec.Command(umbel, append([]string{"serve", "--data", dir, "--resp", resp, "--http", http}, flags...)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(150 * time.Millisecond))
		cmd.Process.Kill()
		cmd.Wait()
	}
	kept.checkAll(t, dial(t, start(t, dir, flags...)), 1)
}

// few is how often one thing is tried in the short and in the default form of a test.
func few() int {
	if testing.Short() {
		return 1
	}
	return max(3, *kills/4)
}

func freeAddr(t *testing.T) string {
	t.Helper()
	addr, err := proc.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	return addr
}
