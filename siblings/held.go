package siblings

import (
	crand "crypto/rand"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/probe"
)

// Held is the exact set of what a cache holds: a hash of 8 bytes per key, and the end of its freshness. The filter that
// is published follows from it, so the filter cannot drift: a new version of a response is no second addition, and a
// removal clears a cell only if no other key needs it. Two keys have equal hashes with a probability of 2^-64; then removing one
// removes both, which costs a hit. It is safe for concurrent use.
//
// A cache removes more than it reports. If the set is full, a random key makes room for a new one.
type Held struct {
	hasher umbel.Hasher
	max    int // number of keys

	mu      sync.Mutex
	set     table
	wheel   wheel
	changed []uint64 // hashes that were added or removed since the last summary
	all     bool     // more have changed than are worth listing
}

// NewHeld returns an empty set of at most max keys, which is at least 1. Its keys are hashed with SipHash and a
// random seed: clients choose the URLs, and must not find some that share a cell or a slot.
func NewHeld(max int) *Held {
	var seed [16]byte
	crand.Read(seed[:])
	h := &Held{max: max, hasher: umbel.Hasher{Alg: umbel.SipHash, Seed: umbel.SeedFrom(seed)}, set: newTable(leastSlots)}
	h.wheel.next = time.Now().Unix()
	return h
}

// hash returns the first value of the key's stream, from which its cell follows in a filter of any size with k = 1.
func (h *Held) hash(k Key) uint64 {
	v, _ := probe.Start(h.hasher.HashString(string(k))).Next()
	return v
}

// Added notes that the cache has stored a response of key k that is fresh until a time. If the key is present, its time
// is replaced.
func (h *Held) Added(k Key, until time.Time) {
	hash, end := h.hash(k), max(until.UnixMilli(), 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.set.until(hash)
	if before == 0 && h.set.n >= h.max {
		victim := h.set.from(rand.Uint64())
		h.set.remove(victim)
		h.note(victim)
	}
	if h.set.put(hash, end) {
		h.note(hash)
	}
	if before == 0 || end < before { // otherwise its turn comes too early, and it is listed again then
		h.list(hash, end)
	}
}

// Removed notes that the cache no longer holds key k, and reports whether it was present.
func (h *Held) Removed(k Key) bool {
	hash := h.hash(k)
	h.mu.Lock()
	defer h.mu.Unlock()
	had := h.set.remove(hash)
	if had {
		h.note(hash)
	}
	return had
}

// Has reports whether key k is present.
func (h *Held) Has(k Key) bool {
	hash := h.hash(k)
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.set.until(hash) != 0
}

// Len returns the number of keys.
func (h *Held) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.set.n
}

// Clear removes all keys.
func (h *Held) Clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.set, h.wheel, h.changed, h.all = newTable(leastSlots), wheel{next: h.wheel.next}, nil, true
}

// Expire removes the keys that are fresh until now at most, and returns their number. Keys are removed with a resolution of a
// second, none too late.
func (h *Held) Expire(now time.Time) (expired int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	end := now.UnixMilli()
	h.wheel.advance(now.Unix(), func(hash uint64) {
		switch until := h.set.until(hash); {
		case until == 0:
		case until < end+1000:
			h.set.remove(hash)
			h.note(hash)
			expired++
		default:
			h.list(hash, until)
		}
	})
	return expired
}

// list puts a hash into the wheel, in the second in which it expires. Hashes that were removed stay there; before they
// outnumber the others, the wheel is made again.
func (h *Held) list(hash uint64, end int64) {
	if h.wheel.n > 2*h.set.n+wheelSlots {
		h.wheel = wheel{next: h.wheel.next}
		for _, e := range h.set.entries {
			if e.until != 0 {
				h.wheel.add(e.hash, e.until/1000)
			}
		}
		return // the hash is in the set
	}
	h.wheel.add(hash, end/1000)
}

// note lists a hash whose cell may have changed.
func (h *Held) note(hash uint64) {
	switch {
	case h.all:
	case len(h.changed) > max(1<<16, h.set.n):
		h.changed, h.all = nil, true
	default:
		h.changed = append(h.changed, hash)
	}
}
