package main

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/share"
)

const (
	presentQueries = 500  // per subscriber and round
	absentQueries  = 2000 // per subscriber and round
	// fade is the weight that the answers of a round have one round later, so that the shown rate is
	// that of about the last ten rounds.
	fade = 0.9
	// lateTimer is how late the end of a head's validity may be noticed on a busy machine.
	lateTimer = time.Second
)

// answers counts the answers of a subscriber that were given as exact.
type answers struct {
	mu        sync.Mutex
	present   uint64  // queries for keys that it must find
	wrong     uint64  // that were answered with no
	absent    uint64  // queries for keys that are not in the set
	positive  uint64  // that were answered with yes
	fold      uint64  // of the recent queries
	recent    float64 // queries for absent keys
	positives float64 // of the recent ones
}

// querier queries subscribers for random keys. It is not safe for concurrent use.
type querier struct {
	set      *set
	versions *versions
	rand     *rand.Rand
	members  [presentQueries]member
}

// query adds a round of queries to the version that answers. Nothing is counted if the subscriber has none that
// is valid until the end of the round.
//
// The queries are those of Subscriber.HasString, but all to one version, even if another arrives meanwhile.
func (q *querier) query(s *share.Subscriber, a *answers) {
	if s == nil {
		return
	}
	view := s.View()
	if view == nil || !view.Exact() {
		return
	}
	version, f := view.Head().Version, view.Filter()
	hasher := f.Hasher()
	present, wrong, positive := uint64(0), uint64(0), uint64(0)
	// The keys are taken after the version, and are in the set since their own version without a break.
	for _, m := range q.set.sample(q.members[:], q.rand) {
		if m.version > version && !q.tooLate(m.version) {
			continue
		}
		present++
		if !f.Has(hasher.HashString(m.key)) {
			wrong++
		}
	}
	var key [32]byte
	for range absentQueries {
		b := strconv.AppendUint(append(key[:0], "absent "...), q.rand.Uint64(), 16)
		if f.Has(hasher.HashBytes(b)) {
			positive++
		}
	}
	if view.Exact() {
		a.add(view.Head().Fold, present, wrong, absentQueries, positive)
	}
}

// tooLate reports whether an exact answer must know a version: whether it was published longer ago than
// a head is valid.
func (q *querier) tooLate(version uint64) bool {
	at, ok := q.versions.at(version)
	return ok && time.Since(at) > valid+lateTimer
}

// add adds a round of answers from a fold class.
func (a *answers) add(fold, present, wrong, absent, positive uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if fold != a.fold {
		a.fold, a.recent, a.positives = fold, 0, 0
	}
	a.present += present
	a.wrong += wrong
	a.absent += absent
	a.positive += positive
	a.recent = fade*a.recent + float64(absent)
	a.positives = fade*a.positives + float64(positive)
}
