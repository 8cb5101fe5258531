package siblings

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
	"github.com/umbel-filters/umbel/internal/event"
)

// SquidDigestPath is where a Squid looks for the cache digest of a sibling.
const SquidDigestPath = "/squid-internal-periodic/store_digest"

// squidDigestPeriod is the time between two cache digests. Squid fetches the next one five minutes after it expired.
const squidDigestPeriod = 10 * time.Second

// squidKeys has Squid's keys of what is held, by the hashes of Held: keys whose hash is absent there are not
// published. It is safe for concurrent use. The zero value keeps nothing.
type squidKeys struct {
	held *Held

	mu   sync.Mutex
	keys map[uint64]umbel.Digest

	making sync.Mutex
	digest []byte // nil if there is none yet
	made   time.Time
}

// noteSquid keeps Squid's keys of a response of key k and of its variant, which are held if they are published.
func (m *Mesh) noteSquid(k Key, vary []string, selected http.Header) {
	if m.squid.held == nil {
		return
	}
	m.squid.add(m.held.hash(k), k, nil, nil)
	if len(vary) > 0 {
		m.squid.add(m.held.hash(k.Variant(vary, selected)), k, vary, selected)
	}
}

// add keeps Squid's key of a response of key k, or of the variant of it that the selected fields have, by its hash.
func (s *squidKeys) add(hash uint64, k Key, vary []string, selected http.Header) {
	d, ok := squidKey(k, vary, selected)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys == nil {
		s.keys = map[uint64]umbel.Digest{}
	}
	if len(s.keys) >= 2*s.held.Len()+1024 { // nobody reads the digest
		s.sweep()
	}
	s.keys[hash] = d
}

// swept is the number of keys that one addition looks at: at least half of the keys are not held then, so that two to
// four of them go for one that comes.
const swept = 4

// sweep removes those of a few random keys that are not held. The cache may wait for it with a URL locked.
func (s *squidKeys) sweep() {
	n := 0
	for hash := range s.keys { // in a random order
		if !s.held.hasHash(hash) {
			delete(s.keys, hash)
		}
		if n++; n == swept {
			return
		}
	}
}

// locked is the number of keys that are looked at while additions wait.
const locked = 1024

// prune removes the keys of what is not held and returns the others. Keys may be added meanwhile, and need not be among them.
func (s *squidKeys) prune() (list []umbel.Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list = make([]umbel.Digest, 0, min(len(s.keys), s.held.Len()))
	n := 0
	for hash, d := range s.keys {
		if s.held.hasHash(hash) {
			list = append(list, d)
		} else {
			delete(s.keys, hash)
		}
		if n++; n%locked == 0 {
			s.mu.Unlock() // the language permits that the map changes between two steps of the loop
			s.mu.Lock()
		}
	}
	return list
}

// squidKey returns the key under which a Squid stores the response of key k, or the variant of it that a request selects. It
// returns false if a Squid has no key of this URL.
func squidKey(k Key, vary []string, selected http.Header) (umbel.Digest, bool) {
	uri, err := squid.CanonicalURI(string(k))
	if err != nil {
		return umbel.Digest{}, false
	}
	fields := make([]squid.Field, len(vary))
	for i, name := range vary {
		values := selected[http.CanonicalHeaderKey(name)]
		fields[i] = squid.Field{Name: name, Value: strings.Join(values, ", "), Absent: len(values) == 0}
	}
	return squid.Hasher.HashBytes(squid.AppendKey(nil, squid.MethodGet, uri, squid.VaryMark(fields...))), true
}

// current returns the cache digest of the keys that are held, and when it was made. It is in the tolerant form, since Squids up to version 7
// damage others.
func (s *squidKeys) current(now time.Time) ([]byte, time.Time, error) {
	s.making.Lock()
	defer s.making.Unlock()
	if s.digest != nil && now.Sub(s.made) < squidDigestPeriod {
		return s.digest, s.made, nil
	}
	list := s.prune()
	d, err := squid.TolerantOf(list, uint32(max(len(list), 1)))
	if err != nil {
		return nil, now, err
	}
	b, err := d.AppendBinary(nil)
	if err != nil {
		return nil, now, err
	}
	s.digest, s.made = b, now
	return b, now, nil
}

// hasHash reports whether a hash is present.
func (h *Held) hasHash(hash uint64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.set.until(hash) != 0
}

// OwnPath reports whether requests for a path are for Publication: it is below Path, or the one of the cache digest if
// Options.SquidDigest is set.
func (m *Mesh) OwnPath(path string) bool {
	return strings.HasPrefix(path, Path+"/") || m.o.SquidDigest && path == SquidDigestPath
}

// serveSquidDigest serves what the cache holds to Squids, which send no token.
func (m *Mesh) serveSquidDigest(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	b, made, err := m.squid.current(time.Now())
	if err != nil {
		m.noDigest.Failed(m.o.Log).Warn("there is no cache digest", event.DigestFailed, "error", err)
		http.Error(w, "there is no cache digest", http.StatusNotFound)
		return
	}
	m.noDigest.Succeeded(m.o.Log).Info("there is a cache digest again", event.DigestRecovered)
	h.Set("Content-Type", "application/cache-digest")
	h.Set("Content-Length", strconv.Itoa(len(b)))
	h.Set("Last-Modified", made.UTC().Format(http.TimeFormat))
	h.Set("Expires", made.Add(squidDigestPeriod).UTC().Format(http.TimeFormat))
	_, _ = w.Write(b)
}
