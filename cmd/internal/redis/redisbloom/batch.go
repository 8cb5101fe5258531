package redisbloom

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// batch is the items of consecutive calls with one key, and their answers. It belongs to a
// connection, which reuses its memory.
type batch struct {
	engine.Batch
	calls    [][][]byte
	from     int       // index of the first item in each call
	failures []failure // by increasing at, at most one per call
	next     int       // number of answered items
	call     int       // the call of the next item
	end      int       // end of that call
}

// failure is an item that was not added. The items after it in its call were not tried.
type failure struct {
	at   int
	text string
	// listed means that it is an element of the reply even if it is the first item.
	listed bool
}

// maxKeptBatch is the number of items up to which a connection keeps a batch's memory.
const maxKeptBatch = 1 << 14

// slotOf returns the connection's batch.
func slotOf(c *resp.Conn) *batch {
	b, ok := c.Slot.(*batch)
	if !ok {
		b = new(batch)
		c.Slot = b
	}
	return b
}

// batchOf returns the connection's batch with these calls and no answers.
func batchOf(c *resp.Conn, calls [][][]byte, from int) *batch {
	b := slotOf(c)
	b.calls, b.from = calls, from
	b.Digests, b.Answers, b.failures = b.Digests[:0], b.Answers[:0], b.failures[:0]
	b.next, b.call, b.end = 0, 0, len(calls[0])-from
	return b
}

// release frees memory that the connection should not keep.
func (b *batch) release() {
	b.calls = nil
	if max(cap(b.Digests), cap(b.Answers)) > maxKeptBatch {
		*b = batch{}
	}
}

// hash hashes all items.
func (b *batch) hash(h umbel.Hasher) {
	b.Digests = b.Digests[:0]
	for _, call := range b.calls {
		b.Hash(h, call[b.from:])
	}
	if n := len(b.Digests); cap(b.Answers) < n {
		answers := make([]bool, n, cap(b.Digests))
		copy(answers, b.Answers[:b.next])
		b.Answers = answers
	} else {
		b.Answers = b.Answers[:n]
	}
}

// taken records answers to the next n items.
func (b *batch) taken(n int) {
	b.next += n
	for b.next >= b.end && b.call < len(b.calls)-1 {
		b.call++
		b.end += len(b.calls[b.call]) - b.from
	}
}

// fail records that the next item failed, which ends its call.
func (b *batch) fail(text string, listed bool) {
	b.failures = append(b.failures, failure{b.next, text, listed})
	b.taken(b.end - b.next)
}

// failAll records that all remaining items fail.
func (b *batch) failAll(text string) {
	for last := false; !last; {
		last = b.call == len(b.calls)-1
		b.fail(text, false)
	}
}

// reply replies to every call: with one value if single, otherwise with an array that ends after
// an item that failed.
func (b *batch) reply(c *resp.Conn, single bool) {
	i, failures := 0, b.failures
	for _, call := range b.calls {
		end := i + len(call) - b.from
		var failed *failure
		upTo := end
		if len(failures) > 0 && failures[0].at < end {
			failed, failures = &failures[0], failures[1:]
			upTo = failed.at
		}
		switch {
		case single && failed == nil:
			c.Bool(b.Answers[i])
		case failed != nil && (single || upTo == i && !failed.listed):
			c.Error(failed.text)
		default:
			b.array(c, b.Answers[i:upTo], failed)
		}
		i = end
	}
}

func (b *batch) array(c *resp.Conn, answers []bool, failed *failure) {
	n := len(answers)
	if failed != nil {
		n++
	}
	c.Array(n)
	for _, yes := range answers {
		c.Bool(yes)
	}
	if failed != nil {
		c.Error(failed.text)
	}
}

// deny answers false for all items.
func (b *batch) deny() {
	for _, call := range b.calls {
		for range call[b.from:] {
			b.Answers = append(b.Answers, false)
		}
	}
}
