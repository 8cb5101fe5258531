package substituter

import (
	"context"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/nix/nixcache"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
	"github.com/umbel-filters/umbel/share"
)

// Path is a store path.
type Path struct {
	Text string // its hash in Nix' base 32
	Hash nixbloom.Hash
}

// parsePath returns the path with a hash as text.
func parsePath(text string) (Path, error) {
	h, err := nixbloom.ParseHash(text)
	return Path{text, h}, err
}

// Answer is what a summary returns for a path.
type Answer uint8

const (
	// Unknown: the summary is not current, or has not arrived yet. The cache may have the path.
	Unknown Answer = iota
	// Maybe: the cache may have the path.
	Maybe
	// Absent: the cache did not have the path when the summary was made, and the summary is current.
	Absent
)

// Summary says which paths a cache may have. Its methods are safe for concurrent use.
type Summary interface {
	Has(Path) Answer
	// Run keeps the summary current until ctx ends.
	Run(ctx context.Context)
	// Status describes the summary.
	Status() SummaryStatus
}

// SummaryStatus describes a summary.
type SummaryStatus struct {
	Kind    string    `json:"kind"` // publication or nixbloom
	Source  string    `json:"source"`
	Current bool      `json:"current"`
	Version uint64    `json:"version,omitempty"` // of a publication
	Bytes   uint64    `json:"bytes,omitempty"`   // received
	Until   time.Time `json:"until,omitzero"`    // when it is no longer current
	Error   string    `json:"error,omitempty"`   // of the last update
}

// Publication is the summary in a publication of umbel. It is verified with the key of the publication, and current
// while its head is valid.
type Publication struct {
	source     string
	subscriber *share.Subscriber
}

// PublicationPeriod is the time between two requests for the head of a server that does not report changes, such as
// a plain web server. A path that was added is absent for as long, and Nix remembers that, so it is short.
const PublicationPeriod = time.Second

// NewPublication returns the summary of a subscriber, which must answer with errors while it is stale
// (share.StaleError). source is its name in the status. Run runs the subscriber and closes it.
func NewPublication(source string, s *share.Subscriber) *Publication { return &Publication{source, s} }

// Has returns Absent only while the head is valid by the system's clock as well: the subscriber's timer does not
// run while the machine is suspended. A filter without nixcache.Marker has other keys, and says nothing.
func (p *Publication) Has(q Path) Answer {
	has, err := p.subscriber.HasString(q.Text)
	if err != nil {
		return Unknown
	}
	if has {
		return Maybe
	}
	if marked, err := p.subscriber.HasString(nixcache.Marker); err != nil || !marked {
		return Unknown
	}
	if v := p.subscriber.View(); v == nil || !v.Exact() {
		return Unknown
	}
	return Absent
}

// Run follows the publication until ctx ends.
func (p *Publication) Run(ctx context.Context) {
	_ = p.subscriber.Run(ctx, PublicationPeriod) // the error is that of ctx
	p.subscriber.Close()
}

// Status describes the summary.
func (p *Publication) Status() SummaryStatus {
	c := p.subscriber.Counters()
	st := SummaryStatus{Kind: "publication", Source: p.source, Bytes: c.Received}
	if c.Err != nil {
		st.Error = c.Err.Error()
	}
	v := p.subscriber.View()
	if v == nil {
		return st
	}
	h := v.Head()
	st.Version, st.Until = h.Version, h.Expires()
	marked, err := p.subscriber.HasString(nixcache.Marker)
	st.Current = err == nil && marked && v.Exact()
	if err == nil && !marked {
		st.Error = "the filter has no hashes of store paths; publish it with umbel-nix publish"
	}
	return st
}
