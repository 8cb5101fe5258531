package resp

import (
	"fmt"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// Counters of different lanes are in different cache lines.
func TestLanesFillCacheLines(t *testing.T) {
	const line = 64
	if a, b := unsafe.Sizeof(traffic{}), unsafe.Sizeof(usage{}); a%line != 0 || b%line != 0 {
		t.Errorf("%d and %d bytes", a, b)
	}
	s := NewServer(Options{Loops: 3})
	s.commands.walk(func(e *entry) {
		if uintptr(unsafe.Pointer(&e.usage[0]))%line != 0 {
			t.Errorf("counters of %s begin within a line", e.Name)
		}
	})
}

// Runs are counted by their duration, calls one by one.
func TestUsageOfDurations(t *testing.T) {
	e := entry{usage: make([]usage, 2)}
	u := &e.usage[1]
	u.count(64, LeastBound)
	u.count(1, LeastBound+1)
	u.count(2, -1)
	u.count(1, time.Hour)
	want := Usage{Calls: 68, Took: time.Hour + 2*LeastBound + 1, Runs: [Buckets]uint64{0: 2, 1: 1, Buckets - 1: 1}}
	if got := e.sum(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// What a client has a reply to is counted, and no counter ever decreases, while many connections count in several
// lanes.
func TestUsageIsExact(t *testing.T) { overBoth(t, checkUsageIsExact) }

func checkUsageIsExact(t *testing.T, loops int) {
	const clients, rounds, pipeline = 8, 50, 7
	table, _ := addTo()
	s := NewServer(Options{Loops: loops, Commands: table})
	calls := func() (add, get uint64) {
		s.Usage(func(cmd *Command, u Usage) {
			switch cmd.Name {
			case "add":
				add = u.Calls
			case "get":
				get = u.Calls
			}
		})
		return add, get
	}
	var all sync.WaitGroup
	for i := range clients {
		nc := connect(t, s)
		lines := make([]string, pipeline, pipeline+2)
		for l := range lines {
			lines[l] = fmt.Sprintf("add %d %d", i, l)
		}
		lines = append(lines, "get x", "nosuch")
		all.Go(func() {
			lastAdd, lastRead := uint64(0), uint64(0)
			for round := range uint64(rounds) {
				ask(t, nc, lines...)
				add, get := calls()
				read := s.Stats().Read
				if own := round + 1; add < own*pipeline || get < own || read < own*uint64(len(say(lines...))) {
					t.Errorf("%d additions, %d gets and %d bytes after %d rounds of one client", add, get, read, own)
				}
				if add < lastAdd || read < lastRead {
					t.Errorf("%d additions after %d, or %d bytes after %d", add, lastAdd, read, lastRead)
				}
				lastAdd, lastRead = add, read
			}
		})
	}
	all.Wait()
	if add, get := calls(); add != clients*rounds*pipeline || get != clients*rounds {
		t.Errorf("%d additions and %d gets", add, get)
	}
	if errors := s.Stats().Errors; errors != clients*rounds {
		t.Errorf("%d errors, want %d", errors, clients*rounds)
	}
}

// Processors that count the same command, in a lane of each and in one lane.
func BenchmarkCount(b *testing.B) {
	for _, lanes := range []int{1, lanesOf(0)} {
		b.Run(fmt.Sprintf("lanes=%d", lanes), func(b *testing.B) {
			counters := make([]usage, lanes)
			var mu sync.Mutex
			next := 0
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				mu.Lock()
				u := &counters[next%lanes]
				next++
				mu.Unlock()
				for pb.Next() {
					u.count(64, 20*time.Microsecond)
				}
			})
		})
	}
}
