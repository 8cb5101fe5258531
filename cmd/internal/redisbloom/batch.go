package redisbloom

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

// batch is the items of calls in a row, for one key, with what is answered to each. It
// belongs to a connection, which keeps its memory in between.
type batch struct {
	calls    [][][]byte
	from     int // index of the first item in each call
	digests  []umbel.Digest
	answers  []bool
	failures []failure // in order of at, one for a call at most
	next     int       // items that are answered
	call     int       // the call whose item comes next
	end      int       // items up to the end of that call
	alone    [1][][]byte
}

// failure is an item that wasn't taken. Those behind it in its call weren't tried.
type failure struct {
	at   int
	text string
	// listed: it is an element of the call's answer even where it is the first.
	listed bool
}

// kept is the number of items up to which a connection keeps a batch's memory.
const kept = 1 << 14

// slotOf returns the connection's batch.
func slotOf(c *resp.Conn) *batch {
	b, ok := c.Slot.(*batch)
	if !ok {
		b = new(batch)
		c.Slot = b
	}
	return b
}

// alone returns a call as calls in a row, in memory of the connection.
func alone(c *resp.Conn, args [][]byte) [][][]byte {
	b := slotOf(c)
	b.alone[0] = args
	return b.alone[:]
}

// batchOf returns the connection's batch, with these calls and no answers.
func batchOf(c *resp.Conn, calls [][][]byte, from int) *batch {
	b := slotOf(c)
	b.calls, b.from = calls, from
	b.digests, b.answers, b.failures = b.digests[:0], b.answers[:0], b.failures[:0]
	b.next, b.call, b.end = 0, 0, len(calls[0])-from
	return b
}

// release lets go of what the connection isn't to keep.
func (b *batch) release() {
	b.calls, b.alone[0] = nil, nil
	if max(cap(b.digests), cap(b.answers)) > kept {
		*b = batch{}
	}
}

// hash makes the items' digests, once for all of them.
func (b *batch) hash(h umbel.Hasher) {
	b.digests = b.digests[:0]
	for _, call := range b.calls {
		for _, item := range call[b.from:] {
			b.digests = append(b.digests, h.HashBytes(item))
		}
	}
	if n := len(b.digests); cap(b.answers) < n {
		answers := make([]bool, n, cap(b.digests))
		copy(answers, b.answers[:b.next])
		b.answers = answers
	} else {
		b.answers = b.answers[:n]
	}
}

// taken says that n items more are answered.
func (b *batch) taken(n int) {
	b.next += n
	for b.next >= b.end && b.call < len(b.calls)-1 {
		b.call++
		b.end += len(b.calls[b.call]) - b.from
	}
}

// fail says that the next item wasn't taken: its call ends there.
func (b *batch) fail(text string, listed bool) {
	b.failures = append(b.failures, failure{b.next, text, listed})
	b.taken(b.end - b.next)
}

// failAll says that none of the items to come can be taken.
func (b *batch) failAll(text string) {
	for last := false; !last; {
		last = b.call == len(b.calls)-1
		b.fail(text, false)
	}
}

// reply answers every call: with one value if it has one item by its nature, or with an
// array, cut short behind an item that failed.
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
			c.Bool(b.answers[i])
		case failed != nil && (single || upTo == i && !failed.listed):
			c.Error(failed.text)
		default:
			b.array(c, b.answers[i:upTo], failed)
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

// deny answers no to all.
func (b *batch) deny() {
	for _, call := range b.calls {
		for range call[b.from:] {
			b.answers = append(b.answers, false)
		}
	}
}
