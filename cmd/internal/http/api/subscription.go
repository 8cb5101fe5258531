package api

import "time"

// States of a subscription.
const (
	SubscriptionWaiting = "waiting" // no version has arrived
	SubscriptionExact   = "exact"   // the version is verified and its head is valid
	SubscriptionStale   = "stale"   // the head has expired
)

// Subscription describes a publication that a replica follows. What belongs to a version is absent until one
// has arrived. Numbers of updates, objects and bytes are those since the start of the process.
type Subscription struct {
	Filter       string     `json:"filter"` // name of the filter on the replica
	Path         string     `json:"path"`   // of the filter
	Name         string     `json:"name"`   // of the publication
	Source       string     `json:"source"` // URL without credentials, or directory
	Zone         int        `json:"zone"`   // peers of smaller zones are tried first
	Cost         float64    `json:"cost"`   // within a zone, peers of smaller costs are tried first
	State        string     `json:"state"`
	Error        string     `json:"error,omitempty"` // of the last update
	Version      uint64     `json:"version,omitempty"`
	Time         *time.Time `json:"time,omitempty"` // when the head was signed
	AgeSeconds   float64    `json:"ageSeconds"`     // of the head
	Expires      *time.Time `json:"expires,omitempty"`
	ID           string     `json:"id,omitempty"`
	Kind         string     `json:"kind,omitempty"`
	Fold         uint64     `json:"fold,omitempty"`   // the factor of the fold that answers; absent for the whole filter
	Bytes        uint64     `json:"bytes,omitempty"`  // memory of the filter
	Keys         Float      `json:"keys,omitempty"`   // estimate
	FPRate       Float      `json:"fpRate,omitempty"` // now
	Versions     uint64     `json:"versions"`         // that were applied
	Objects      uint64     `json:"objects"`          // that were fetched
	FetchedBytes uint64     `json:"fetchedBytes"`     // of these objects
	Resyncs      uint64     `json:"resyncs"`          // ways to a version that failed, after which another was tried
	Failures     uint64     `json:"failures"`         // updates that failed
}

// SubscriptionList has the publications that a replica follows and whose filters the user may read.
type SubscriptionList struct {
	Subscriptions []Subscription `json:"subscriptions"`
}

// KeyList has keys that are text.
type KeyList struct {
	Keys []string `json:"keys"`
}

// Owners has, for each key, the filters that may contain it, in the order in which to try them, and the
// publications that could not answer. Those may have every key.
type Owners struct {
	Filters    [][]string   `json:"filters"`
	Unanswered []Unanswered `json:"unanswered"`
}

// Unanswered is a publication that could not answer whether it has keys.
type Unanswered struct {
	Filter string `json:"filter"`
	State  string `json:"state"` // SubscriptionWaiting or SubscriptionStale
	Error  string `json:"error"` // why there is no answer
}
