package api

import (
	"strings"
	"time"
)

// States of a publication.
const (
	PublicationStarting   = "starting"
	PublicationCurrent    = "published"
	PublicationMissing    = "missing"     // there is no filter of this name
	PublicationIncomplete = "incomplete"  // the filter is being loaded, or data of it was lost
	PublicationSeed       = "secret-seed" // its seed must not be published
	PublicationFailed     = "failed"      // the node tries again
)

// Publication describes the publication of a filter. What belongs to a version is absent until the process
// has published one.
type Publication struct {
	Filter        string     `json:"filter"`
	Path          string     `json:"path"`
	Name          string     `json:"name"` // of the key
	PublicKey     string     `json:"publicKey"`
	Public        bool       `json:"public"`
	State         string     `json:"state"`
	Error         string     `json:"error,omitempty"`
	Failures      uint64     `json:"failures"` // since the start
	Version       uint64     `json:"version,omitempty"`
	Time          *time.Time `json:"time,omitempty"` // when the head was signed
	AgeSeconds    float64    `json:"ageSeconds"`     // of the head
	Expires       *time.Time `json:"expires,omitempty"`
	ID            string     `json:"id,omitempty"`
	Kind          string     `json:"kind,omitempty"`
	Bytes         uint64     `json:"bytes,omitempty"`         // memory of the filter
	DeltaBytes    uint64     `json:"deltaBytes,omitempty"`    // from the version before
	SnapshotBytes uint64     `json:"snapshotBytes,omitempty"` // the newest one
	DiskBytes     uint64     `json:"diskBytes,omitempty"`     // of all its files
	TookSeconds   float64    `json:"tookSeconds,omitempty"`   // to make the last head
}

// PublicationPath returns the path of the publication of a filter.
func PublicationPath(filter string) string {
	return strings.Replace(FilterPath(filter), "/v1/filters/", "/v1/publications/", 1)
}

// Published is the answer to a request to publish now.
type Published struct {
	Version uint64 `json:"version"`
}

// PublicationList has all publications that the user may read.
type PublicationList struct {
	Publications []Publication `json:"publications"`
}
