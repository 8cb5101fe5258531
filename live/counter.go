package live

import (
	"math/bits"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// counter counts the changes of a filter by many goroutines. A single number would be a cache line that all processors take
// from each other, which takes longer than the addition to a filter that it counts.
type counter struct {
	shards []shard
	weight uint64 // changes that a count stands for
	mask   uint64 // mask+1 counts of a shard are a reason to look at the total
}

type shard struct {
	n atomic.Uint64
	_ [120]byte // to the end of two cache lines, since processors load them in pairs
}

const (
	// maxShards bounds the memory of a counter to 8 KiB.
	maxShards = 64
	// logWeight is the logarithm of the weight in large filters. An atomic count takes a third as long as an addition to
	// a blocked filter, so one change of 16 is counted, which the key's digest chooses.
	logWeight = 4
	// sampleFrom is the number of planned keys from which a filter is large. The standard deviation of the keys that are counted
	// since the last measurement, at most an eighth, is then below √(15/8·2^16), half a percent.
	sampleFrom = 1 << 16

	golden = 0x9e3779b97f4a7c15
)

// newCounter returns a counter for a filter that has room for a number of keys. It has a shard if only one goroutine counts at
// a time. The total is looked at before more than about half of the changes in which the caller is interested are new.
func newCounter(shared bool, keys, interest uint64) counter {
	c := counter{weight: 1}
	n := 1
	if shared {
		n = min(maxShards, 1<<bits.Len(uint(4*runtime.GOMAXPROCS(0)-1)))
		if keys >= sampleFrom && interest >= 1<<(2*logWeight) {
			c.weight = 1 << logWeight
		}
	}
	c.shards = make([]shard, n)
	if n == 1 {
		return c // a look takes no time
	}
	c.mask = 1<<(bits.Len64(max(interest/c.weight/uint64(2*n), 1))-1) - 1
	return c
}

// sampled returns the bits of a digest times golden that are zero if its change is counted.
func (c *counter) sampled() uint64 {
	if c.weight == 1 {
		return 0
	}
	return (c.weight - 1) << (64 - logWeight)
}

// add counts an event and returns the number of those in its shard. The stack of a goroutine chooses the shard: it is
// different for goroutines that run at the same time, and usually the same for calls that follow each other.
func (c *counter) add() uint64 {
	var here byte
	i := uint64(uintptr(unsafe.Pointer(&here))) >> 11 * golden >> 32
	return c.shards[i&uint64(len(c.shards)-1)].n.Add(1)
}

// total returns the number of changes whose add returned before the call, and perhaps of later ones.
func (c *counter) total() (n uint64) {
	for i := range c.shards {
		n += c.shards[i].n.Load()
	}
	return n * c.weight
}
