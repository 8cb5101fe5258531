package node

import (
	"errors"
	goflag "flag"
	"fmt"
	"math/rand/v2"
	"runtime/metrics"
	"slices"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
)

var latencySize = goflag.String("latency-size", "", "measure latencies during operations on a filter of this size, such as 1GiB")

// TestLatency prints how long queries take during operations on a large filter, with a log that
// takes 20 ms for each batch:
//
//	go test ./internal/node -run 'TestLatency$' -latency-size 1GiB -v -timeout 30m
func TestLatency(t *testing.T) {
	c, size := latencyConfig(t)
	n, l := startedFaulty(t, c)
	large := newLargeClient(t, n, size)
	for _, op := range largeOperations {
		if op.name == "patch" {
			large.makePatch()
		}
		l.setAppend(func() error { time.Sleep(20 * time.Millisecond); return nil })
		done := make(chan error, 1)
		go func() {
			err := op.run(large)
			if err == nil {
				err = large.export("large")
			}
			done <- err
		}()
		latencies(t, n, op.name, done)
		l.set(nil)
	}
	if err := endsWithin(t.Context(), t, n, 5*time.Minute); err != nil {
		t.Error(err)
	}
}

// TestLatencyOfPublications prints how long queries take while a large filter is published, for the first time
// and again after a change:
//
//	go test ./internal/node -run TestLatencyOfPublications -latency-size 256MiB -v
func TestLatencyOfPublications(t *testing.T) {
	c, size := latencyConfig(t)
	key, _ := newKey(t, "example.org/large")
	c.Publications = Publications{{Filter: "large", Key: key, Period: time.Hour}}
	n := started(t, c)
	f := newLargeFilter(t, size, 0)
	for _, words := range f.State().Arrays {
		source := rand.New(rand.NewPCG(1, 2))
		for i := range words.Words[:len(words.Words)-1] {
			words.Words[i] = source.Uint64() & source.Uint64() // a quarter of the cells
		}
	}
	if _, _, err := n.engine.Put("large", f, engine.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	r := dial(t, n, nil).WithoutDeadline()
	r.Want("BF.ADD other a", ":1")
	r.Want("UM.ADD large a", "*1[")
	if err := n.store.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	idle := make(chan error, 1)
	time.AfterFunc(3*time.Second, func() { idle <- nil })
	latencies(t, n, "nothing", idle)
	for version := range 3 {
		for i := range 1000 {
			r.Want(fmt.Sprintf("UM.ADD large %d-%d", version, i), "*1[")
		}
		done := make(chan error, 1)
		go func() {
			if got := r.Line("UM.PUBLISH large"); got[0] != ':' {
				done <- errors.New(got)
			}
			close(done)
		}()
		latencies(t, n, fmt.Sprint("version ", version+1), done)
	}
}

// latencyConfig returns settings for the size of -latency-size, and the size.
func latencyConfig(t *testing.T) (Config, uint64) {
	t.Helper()
	if *latencySize == "" {
		t.Skip("-latency-size is not set")
	}
	size, err := quantity.ParseSize(*latencySize)
	if err != nil {
		t.Fatal(err)
	}
	c := testConfig(t)
	c.MaxMemory = Memory{Bytes: 8 * size}
	return c, uint64(size)
}

// latencies measures queries, and transactions of another client, until done.
func latencies(t *testing.T, n *Node, name string, done chan error) {
	t.Helper()
	took := map[string][]time.Duration{}
	conn, exec := dial(t, n, nil).WithoutDeadline(), dial(t, n, nil).WithoutDeadline()
	begin, before := time.Now(), readPauses()
	for due := begin; ; due = time.Now().Add(2 * time.Millisecond) {
		time.Sleep(time.Until(due)) // a sleep that is too long counts, too
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for what, ds := range took {
				slices.Sort(ds)
				t.Logf("%s, %v: %s: p50 %v, p99 %v, max %v of %d", name, time.Since(begin).Round(time.Millisecond), what,
					ds[len(ds)/2], ds[len(ds)*99/100], ds[len(ds)-1], len(ds))
			}
			for i, p := range readPauses() {
				t.Logf("%s: %s: max %v", name, p.Name, longest(before[i], p))
			}
			return
		default:
		}
		for _, line := range []string{"PING", "BF.EXISTS other a"} {
			at := time.Now()
			conn.Line(line)
			took[line] = append(took[line], time.Since(at))
		}
		at := time.Now()
		exec.Line("MULTI")
		exec.Line("BF.EXISTS other a")
		exec.Line("EXEC")
		took["MULTI … EXEC"] = append(took["MULTI … EXEC"], time.Since(at))
		took["all of these, 2 ms after the last time"] = append(took["all of these, 2 ms after the last time"], time.Since(due))
	}
}

// readPauses reads the distributions of the times that the runtime makes goroutines wait: until all goroutines
// have stopped for the collector, while they are stopped, and until a goroutine that can run does.
func readPauses() []metrics.Sample {
	samples := []metrics.Sample{{Name: "/sched/pauses/stopping/gc:seconds"}, {Name: "/sched/pauses/total/gc:seconds"}, {Name: "/sched/latencies:seconds"}}
	metrics.Read(samples)
	return samples
}

// longest returns the upper bound of the longest time in a distribution that was not in it before.
func longest(before, after metrics.Sample) (d time.Duration) {
	was, is := before.Value.Float64Histogram(), after.Value.Float64Histogram()
	for i, n := range is.Counts {
		if n > was.Counts[i] {
			d = time.Duration(is.Buckets[i+1] * float64(time.Second))
		}
	}
	return d
}
