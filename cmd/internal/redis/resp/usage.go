package resp

import (
	"maps"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// Every command adds to counters. A counter that several processors write would move between their caches for each
// command, so each event loop has counters of its own, its lane. Connections with a goroutine each share the lanes;
// there is at least one per processor. Readers add the lanes.

// lanesOf returns the number of lanes for a number of loops.
func lanesOf(loops int) int { return max(loops, runtime.GOMAXPROCS(0)) }

// traffic counts what the connections of a lane send and receive. It fills a cache line.
type traffic struct {
	errors, read, written atomic.Uint64
	_                     [40]byte
}

// Stats are totals since the server was made.
type Stats struct {
	Connections uint64 // accepted
	Rejected    uint64 // connections above Limits.Clients
	Handshakes  uint64 // TLS handshakes that failed
	Errors      uint64 // error replies
	Read        uint64 // bytes
	Written     uint64
}

// Stats returns the totals, in which all replies that were sent are counted. It is safe for concurrent use.
func (s *Server) Stats() Stats {
	n := Stats{Connections: s.connections.Load(), Rejected: s.rejected.Load(), Handshakes: s.handshakes.Load()}
	for i := range s.traffic {
		t := &s.traffic[i]
		n.Errors += t.errors.Load()
		n.Read += t.read.Load()
		n.Written += t.written.Load()
	}
	return n
}

// maxErrorNames bounds the number of beginnings of error replies that are counted apart, as in Redis.
const maxErrorNames = 128

// errorCounts counts error replies by their first word. The map is replaced to add a word, so that counting takes no lock.
type errorCounts struct {
	counts atomic.Pointer[map[string]*atomic.Uint64]
}

// add counts an error reply: by its first word if that is a code such as NOPERM, otherwise as ERR.
func (e *errorCounts) add(reply string) {
	name, _, _ := strings.Cut(reply, " ")
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r < 'A' || r > 'Z' }) {
		name = "ERR"
	}
	for {
		was := e.counts.Load()
		if was != nil {
			if n := (*was)[name]; n != nil {
				n.Add(1)
				return
			}
			if len(*was) >= maxErrorNames {
				return
			}
		}
		more := map[string]*atomic.Uint64{name: new(atomic.Uint64)}
		if was != nil {
			maps.Copy(more, *was)
		}
		e.counts.CompareAndSwap(was, &more)
	}
}

// Errors returns the numbers of error replies by their first word, since the server was made or ResetErrors.
func (s *Server) Errors() map[string]uint64 {
	all := map[string]uint64{}
	if counts := s.errors.counts.Load(); counts != nil {
		for name, n := range *counts {
			all[name] = n.Load()
		}
	}
	return all
}

// ResetErrors sets the numbers of Errors to zero.
func (s *Server) ResetErrors() { s.errors.counts.Store(nil) }

// Durations of runs are counted in buckets: the bucket i has those of at most LeastBound·4^i, the last one the longer
// ones.
const (
	LeastBound = 16 * time.Microsecond
	Buckets    = 12
)

// usage counts the calls of one command in one lane. It fills two cache lines.
type usage struct {
	calls, nanos atomic.Uint64
	runs         [Buckets]atomic.Uint64
	_            [16]byte
}

// count counts n consecutive calls.
func (u *usage) count(n int, took time.Duration) {
	took = max(took, 0)
	u.calls.Add(uint64(n))
	u.nanos.Add(uint64(took))
	u.runs[Bucket(took)].Add(1)
}

// Bucket returns the bucket of a duration, from 0 to Buckets-1.
func Bucket(took time.Duration) int {
	i, bound := 0, LeastBound
	for i < Buckets-1 && took > bound {
		i, bound = i+1, bound*4
	}
	return i
}

// Usage is how often clients called a command since the server was made, and how long that took, without waits for
// the disk.
type Usage struct {
	Calls uint64
	Took  time.Duration
	Runs  [Buckets]uint64 // consecutive calls that ran together, by duration
}

// Usage calls each with the commands that were called. A call is counted before its reply is sent. It is safe for
// concurrent use.
func (s *Server) Usage(each func(*Command, Usage)) {
	s.commands.walk(func(e *entry) {
		if u := e.sum(); u.Calls > 0 {
			each(e.Command, u)
		}
	})
}

// sum adds the lanes.
func (e *entry) sum() (sum Usage) {
	for i := range e.usage {
		u := &e.usage[i]
		sum.Calls += u.calls.Load()
		sum.Took += time.Duration(u.nanos.Load())
		for b := range u.runs {
			sum.Runs[b] += u.runs[b].Load()
		}
	}
	return sum
}
