package squidpeer

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/service/status"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
)

// The states of a peer.
const (
	starting = "starting" // no answer yet
	current  = "current"  // its digest is served
	expired  = "expired"  // the last digest is out of date, and there is no reason yet
	none     = "none"     // it has no digest
	failed   = "failed"   // it does not answer, or its digest is refused
)

// Status is what a relay knows about a peer.
type Status struct {
	Name      string    `json:"name"`
	URL       string    `json:"url"`
	State     string    `json:"state"`
	Reason    string    `json:"reason,omitempty"` // of states none and failed
	Served    bool      `json:"served"`           // a digest is served, the last one if the state is not current
	Fetched   time.Time `json:"fetched,omitzero"`
	Expires   time.Time `json:"expires,omitzero"`
	Next      time.Time `json:"next,omitzero"` // fetch
	Fetches   uint64    `json:"fetches"`       // that succeeded
	Failures  uint64    `json:"failures"`      // since the start
	Published string    `json:"published,omitempty"`

	Keys   uint32  `json:"keys"`   // objects, as the peer counts them
	Bytes  int     `json:"bytes"`  // of the peer's mask
	FPRate float64 `json:"fpRate"` // of the peer's digest
	// RelayedBytes and RelayedFPRate are those of the digest that is served.
	RelayedBytes  int     `json:"relayedBytes"`
	RelayedFPRate float64 `json:"relayedFpRate"`
}

// with returns s after a digest was fetched.
func (s Status) with(got Fetched, relayed squid.Digest, now time.Time) Status {
	s.State, s.Reason, s.Published = current, "", ""
	s.Fetched, s.Expires = now, now.Add(got.Valid)
	s.Fetches++
	s.Keys, s.Bytes, s.RelayedBytes = got.Digest.Count, len(got.Digest.Mask), len(relayed.Mask)
	s.FPRate, s.RelayedFPRate = math.Pow(got.Digest.Fill(), squid.K), math.Pow(relayed.Fill(), squid.K)
	return s
}

// Status returns the status of each peer, in the order of the options.
func (r *Relay) Status() Report {
	all := make(Report, len(r.peers))
	for i, p := range r.peers {
		served := p.digest(late) != nil
		p.mu.Lock()
		all[i] = p.status
		p.mu.Unlock()
		all[i].Served = served
		if all[i].State == current && !time.Now().Before(all[i].Expires) {
			all[i].State = expired
		}
	}
	return all
}

// Report is the status of each peer.
type Report []Status

// Metrics returns the report for Prometheus.
func (all Report) Metrics() []status.Metric {
	var list []status.Metric
	for _, s := range all {
		list = append(list,
			status.If("umbel_relay_served", "1 while the digest of the peer is served.", s.Served, "peer", s.Name),
			status.If("umbel_relay_current", "1 while the digest of the peer is current.", s.State == current, "peer", s.Name),
			status.Counter("umbel_relay_fetches_total", "Digests that were fetched.", s.Fetches, "peer", s.Name),
			status.Counter("umbel_relay_failures_total", "Fetches that failed.", s.Failures, "peer", s.Name),
			status.Gauge("umbel_relay_keys", "Objects in the digest, as the peer counts them.", s.Keys, "peer", s.Name),
			status.Gauge("umbel_relay_bytes", "Bytes of the digest that is served.", s.RelayedBytes, "peer", s.Name),
			status.Gauge("umbel_relay_false_positive_ratio", "False-positive rate of the digest that is served.", s.RelayedFPRate, "peer", s.Name),
		)
	}
	return list
}

// Write writes the report as a table, and the reasons below it.
func (all Report) Write(w io.Writer) error {
	t := table.New("Peer", "State", "Served", " Objects", " Rate", " Relayed", " Rate", "Expires")
	for _, s := range all {
		expires, served := "", "no"
		if s.Served {
			served = "yes"
		}
		if !s.Expires.IsZero() {
			expires = s.Expires.UTC().Format(time.RFC3339)
		}
		t.Row(s.Name, s.State, served, quantity.Count(s.Keys).String(), fmt.Sprintf("%.3g%%", 100*s.FPRate),
			quantity.Size(s.RelayedBytes).String(), fmt.Sprintf("%.3g%%", 100*s.RelayedFPRate), expires)
	}
	if _, err := t.WriteTo(w); err != nil {
		return err
	}
	for _, s := range all {
		for _, reason := range []string{s.Reason, s.Published} {
			if reason != "" {
				if _, err := fmt.Fprintf(w, "\n%s: %s\n", s.Name, reason); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
