package faults

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

// TestSlowDisk has the disk hang for a while. Nothing may be acknowledged that isn't on it,
// under everysec no more than a second's, and questions go on.
func TestSlowDisk(t *testing.T) {
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
			dir := filepath.Join(disk.at, "data")
			p := start(t, dir, "--durability", policy.name, "--snapshot-interval", "300ms", "--snapshot-bytes", "256KiB")
			adding, asking := dial(t, p), dial(t, p)
			do(t, adding, "BF.ADD", "k", "first")
			var begin, stuck time.Time
			var lasted time.Duration
			acknowledged := make(chan int)
			disk.hang()
			begin = time.Now()
			go func() {
				n := 0
				for ; lasted < 500*time.Millisecond; n++ {
					stuck = time.Now()
					if _, err := redis.Int(adding.Do("BF.ADD", "k", n)); err != nil {
						t.Errorf("addition %d: %v", n, err)
						break
					}
					lasted = time.Since(stuck)
					time.Sleep(10 * time.Millisecond)
				}
				acknowledged <- n
			}()
			for time.Since(begin) < policy.late+2*time.Second {
				if yes, err := redis.Int(asking.Do("BF.EXISTS", "k", "first")); yes != 1 {
					t.Errorf("BF.EXISTS while the disk hangs: %d, %v", yes, err)
				}
				time.Sleep(50 * time.Millisecond)
			}
			disk.goOn()
			n := <-acknowledged
			if after := stuck.Sub(begin); after > policy.late+500*time.Millisecond {
				t.Errorf("the disk hung, and %d additions were acknowledged, the last of them after %v", n, after)
			}
			t.Logf("%d additions acknowledged, one of them after %v", n, lasted)
			time.Sleep(2 * policy.late)
			p.Kill()
			c := dial(t, start(t, dir))
			for i := range n {
				if yes, err := redis.Int(c.Do("BF.EXISTS", "k", i)); yes != 1 {
					t.Fatalf("%d was acknowledged and is gone: %v", i, err)
				}
			}
		})
	}
}
