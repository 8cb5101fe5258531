package faults

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"
)

// TestPowerCut cuts the power of a node's disk at random moments while clients add: what the
// system hasn't written to the disk yet is lost. What was acknowledged must be there when the
// power is back.
func TestPowerCut(t *testing.T) {
	if testing.Short() {
		t.Skip("makes file systems")
	}
	for _, policy := range []struct {
		name string
		late time.Duration
	}{{"always", 0}, {"everysec", time.Second}} {
		t.Run(policy.name, func(t *testing.T) {
			t.Parallel()
			disk := newImage(t)
			flags := []string{"--durability", policy.name, "--snapshot-interval", "300ms", "--snapshot-bytes", "256KiB"}
			var kept acknowledged
			for round := range *cuts {
				p := start(t, filepath.Join(disk.at, "data"), flags...)
				c := dial(t, p)
				if round == 0 {
					makeFilters(t, c)
				}
				kept.check(t, c, round)
				kept.keep(addUntil(t, p, round, func() {
					time.Sleep(policy.late + rand.N(time.Second))
					disk.cut()
					// The node lives on for a while without its disk, and must say so.
					time.Sleep(rand.N(200 * time.Millisecond))
					p.Kill()
				}), policy.late)
				disk.back()
			}
			kept.checkAll(t, dial(t, start(t, filepath.Join(disk.at, "data"), flags...)), *cuts)
			t.Logf("%d power cuts, %d additions acknowledged, all there", *cuts, kept.n())
		})
	}
}
