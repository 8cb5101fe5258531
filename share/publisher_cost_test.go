//go:build unix

package share_test

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

var (
	publishMiB = flag.Uint64("mib", 64, "size of the filter of BenchmarkPublish")
	publishK   = flag.Uint64("k", 7, "cells that a key sets in the filter of BenchmarkPublish")
)

// BenchmarkPublish compares the processor time of a version after 10,000 additions with that of a snapshot:
// to identify the state, to pack it, and to hash the object. Versions are published with a list of the changed words, and by
// comparing the states. It also reports the memory of the publisher in relation to that of the filter.
// Numbers of versions that are multiples of 6 have more deltas than others, so run multiples of 6, for
// example with -benchtime 36x.
func BenchmarkPublish(b *testing.B) {
	const additions = 10_000
	f := large(b, *publishMiB, *publishK)
	key := uint64(0)
	for _, listed := range []bool{true, false} {
		b.Run(fmt.Sprintf("MiB=%d/k=%d/listed=%v", *publishMiB, *publishK, listed), func(b *testing.B) {
			before := heap()
			p := newCostPublisher(b)
			p.publish(f.State(), nil)
			snapshot, total := time.Duration(0), time.Duration(0)
			for b.Loop() {
				var changed func(int) iter.Seq[uint64]
				words := add(f, &key, additions)
				if listed {
					changed = func(int) iter.Seq[uint64] { return slices.Values(words) }
				}
				total += cpuTime(b, func() { p.publish(f.State(), changed) })
			}
			b.ReportMetric((float64(heap())-float64(before))/float64(*publishMiB<<20), "memory/filter")
			runtime.KeepAlive(p)
			for range 3 {
				snapshot += cpuTime(b, func() { writeSnapshot(b, f.State()) }) / 3
			}
			version := total / time.Duration(b.N)
			b.ReportMetric(version.Seconds()*1000, "version-ms")
			b.ReportMetric(snapshot.Seconds()*1000, "snapshot-ms")
			b.ReportMetric(version.Seconds()/snapshot.Seconds(), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// add adds keys, and returns the words of the cells that they set, in ascending order.
func add(f *bloom.Filter, key *uint64, n int) (words []uint64) {
	var at []uint64
	for range n {
		*key++
		d := f.Hasher().HashUint64(*key)
		f.Add(d)
		at = f.Locate(at[:0], d)
		for _, i := range at {
			words = append(words, i/64)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// writeSnapshot does what a publisher does for a snapshot of s.
func writeSnapshot(b *testing.B, s umbel.State) {
	hashtree.New(s, 1)
	if err := (wire.Packer{}).Write(sha256.New(), s); err != nil {
		b.Fatal(err)
	}
}

// costPublisher is a publisher whose store has no objects.
type costPublisher struct {
	*share.Publisher
	b *testing.B
}

func newCostPublisher(b *testing.B) costPublisher {
	key, _, err := share.NewKey("example.org/set")
	if err != nil {
		b.Fatal(err)
	}
	p, err := share.NewPublisher(b.Context(), share.PublisherOptions{Store: new(sink), Key: key})
	if err != nil {
		b.Fatal(err)
	}
	return costPublisher{p, b}
}

func (p costPublisher) publish(s umbel.State, changed func(int) iter.Seq[uint64]) {
	if _, err := p.PublishChanged(p.b.Context(), s, changed); err != nil {
		p.b.Fatal(err)
	}
}

// sink is a store that keeps records only.
type sink struct{ share.Memory }

func (*sink) NewObject(context.Context) (share.Upload, error) { return dropped{}, nil }

type dropped struct{}

func (dropped) Write(b []byte) (int, error)          { return len(b), nil }
func (dropped) Commit(context.Context, string) error { return nil }
func (dropped) Close() error                         { return nil }

// cpuTime returns the processor time that do takes.
func cpuTime(b *testing.B, do func()) time.Duration {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	do()
	return used() - before
}
