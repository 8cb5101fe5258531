package main

import "time"

// State is what the answers of a subscriber are worth.
type State string

const (
	// Exact: it answers from the last version.
	Exact State = "exact"
	// Late: it answers from an earlier version, whose head is valid.
	Late State = "late"
	// Stale: it has no version whose head is valid, and refuses to answer.
	Stale State = "stale"
	// Off: it does not run.
	Off State = "off"
)

// Report is the state of the demonstration at one moment. Bytes are those since its begin.
type Report struct {
	Seconds     float64      `json:"seconds"`
	Set         Set          `json:"set"`
	Filter      Filter       `json:"filter"`
	Subscribers []Subscriber `json:"subscribers"`
	// Received and Costs are the sums over all subscribers.
	Received uint64 `json:"receivedBytes"`
	Costs    Costs  `json:"sameVersions"`
	Hourly   Hourly `json:"hourlyDigests"`
	// Wrong is the number of answers that were wrong although they were given as exact.
	Wrong  uint64  `json:"wrong"`
	Events []Event `json:"-"`
	// Final marks the report of the end.
	Final bool `json:"final"`
}

// Set describes the set and its publication.
type Set struct {
	Keys      uint64  `json:"keys"`
	Added     uint64  `json:"added"`
	Removed   uint64  `json:"removed"`
	PerSecond float64 `json:"changesPerSecond"` // on average since the begin
	Version   uint64  `json:"version"`
	Skipped   int     `json:"skipped"` // files that could not be read
	URL       string  `json:"url"`
}

// Filter describes the filter that is published.
type Filter struct {
	Cells uint64 `json:"cells"`
	Bytes uint64 `json:"bytes"`
}

// Subscriber describes one subscriber.
type Subscriber struct {
	Name  string `json:"name"`
	About string `json:"-"`
	State State  `json:"state"`
	// Version is the one that it has, 0 for none; Behind is the number of later ones.
	Version uint64 `json:"version"`
	Behind  uint64 `json:"behind"`
	// Late is how long ago the version after its own was published, in seconds.
	Late float64 `json:"lateSeconds"`
	// Fold is the factor of the fold class that it follows, 0 for none, and Expected the rate of false
	// positives by the fill of its filter.
	Fold     uint64  `json:"fold"`
	Expected float64 `json:"expectedRate"`

	Received uint64 `json:"receivedBytes"`
	Heads    uint64 `json:"headBytes"`   // bodies of replies with heads
	Objects  uint64 `json:"objectBytes"` // bodies of replies with objects and indexes
	Lost     uint64 `json:"lostSegments"`
	Segments uint64 `json:"segments"`

	Present       uint64  `json:"presentQueries"`
	Wrong         uint64  `json:"wrong"`
	Absent        uint64  `json:"absentQueries"`
	FalsePositive uint64  `json:"falsePositives"`
	Rate          float64 `json:"recentRate"` // of false positives

	Resyncs  uint64 `json:"resyncs"`
	Failures uint64 `json:"failures"` // updates that failed, and objects that were fetched again
	Error    string `json:"lastError,omitempty"`
	// Costs are the bytes of the versions that it applied in other forms.
	Costs Costs `json:"sameVersions"`
}

// Hourly are digests that are fetched once an hour.
type Hourly struct {
	Bytes    float64 `json:"scaledBytes"` // of all subscribers, scaled to the time since the begin
	Age      float64 `json:"ageSeconds"`  // of an answer, on average
	Outdated float64 `json:"outdated"`    // share of the keys that a digest lacks, on average
}

// Event is something that happened once.
type Event struct {
	Seconds float64
	Text    string
}

// Report returns the state of the demonstration, and the last one after its end. It is safe to call
// concurrently with Run.
func (d *Demo) Report() Report {
	if last := d.last.Load(); last != nil {
		return *last
	}
	now := time.Now()
	keys, added, removed := d.set.size()
	passed := now.Sub(d.begin).Seconds()
	r := Report{Seconds: passed, Filter: Filter{d.cells.Load(), d.cells.Load() / 8}}
	r.Set = Set{
		Keys: keys, Added: added, Removed: removed, PerSecond: float64(added+removed) / passed,
		Version: d.versions.last(), Skipped: int(d.skipped.Load()), URL: d.p.url,
	}
	for _, s := range d.subscribers {
		row := s.report(now, d.begin)
		r.Subscribers = append(r.Subscribers, row)
		r.Received += row.Received
		r.Wrong += row.Wrong
		r.Costs.add(row.Costs)
	}
	r.Hourly = Hourly{
		Bytes:    float64(len(d.subscribers)) * float64(digestBytes(keys)) * passed / digestPeriod.Seconds(),
		Age:      digestPeriod.Seconds() / 2,
		Outdated: outdated(keys, float64(added)/passed),
	}
	r.Events = d.events.all()
	return r
}

// report returns the state of a subscriber.
func (s *subscriber) report(now, begin time.Time) Subscriber {
	s.mu.Lock()
	running, version, past := s.running, s.version, s.past
	r := Subscriber{Name: s.name, About: s.about, State: Off, Version: version, Costs: s.costs}
	s.mu.Unlock()
	if running != nil {
		c := running.Counters()
		past.Resyncs += c.Resyncs
		r.State = Stale
		if v := running.View(); v != nil {
			h := v.Head()
			r.Version, r.Fold, r.Expected = h.Version, h.Fold, v.Rate()
			if v.Exact() {
				r.State = Exact
			}
		}
	}
	last := s.p.versions.last()
	if r.Version < last {
		r.Behind = last - r.Version
		since := begin
		if r.Version > 0 {
			since, _ = s.p.versions.at(r.Version + 1)
		}
		r.Late = now.Sub(since).Seconds()
		if r.State == Exact {
			r.State = Late
		}
	}
	l := s.link
	r.Received, r.Heads, r.Objects = l.received.Load(), l.heads.Load(), l.objects.Load()
	r.Lost, r.Segments = l.lost.Load(), l.segments.Load()
	r.Resyncs = past.Resyncs
	r.Failures, r.Error = s.failures.get()
	a := &s.answers
	a.mu.Lock()
	defer a.mu.Unlock()
	r.Present, r.Wrong, r.Absent, r.FalsePositive = a.present, a.wrong, a.absent, a.positive
	if a.recent > 0 {
		r.Rate = a.positives / a.recent
	}
	return r
}
