package publisher

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/publish/signing"
	"github.com/umbel-filters/umbel/cmd/internal/service/status"
	"github.com/umbel-filters/umbel/share"
	"golang.org/x/mod/sumdb/note"
)

// report is the state of a publication, as subscribers see it.
type report struct {
	Name    string    `json:"name"`
	Version uint64    `json:"version"` // 0 if the head cannot be read
	ID      string    `json:"id,omitempty"`
	Kind    string    `json:"kind,omitempty"`
	Bytes   uint64    `json:"bytes"` // memory of the filter
	Signed  time.Time `json:"signed,omitzero"`
	Expires time.Time `json:"expires,omitzero"`
	Error   string    `json:"error,omitempty"` // of reading the head
}

// reportOf returns the state of the publication in a source.
func reportOf(source share.Source, key signing.Key) report {
	b, err := source.Record(context.Background(), share.HeadName)
	if err == nil {
		var h *share.Head
		if h, err = share.OpenHead(b, key.Signer.Name(), note.VerifierList(key.Verifier)); err == nil {
			return report{Name: h.Name, Version: h.Version, ID: h.ID.String(), Kind: h.Kind, Bytes: h.Bytes, Signed: h.Time.UTC(), Expires: h.Expires().UTC()}
		}
	}
	return report{Name: key.Signer.Name(), Error: err.Error()}
}

// Write writes the report as a table.
func (r report) Write(w io.Writer) error {
	t := table.New("", "")
	t.Row("name", r.Name)
	t.Row("version", quantity.Count(r.Version).String())
	if r.Error != "" {
		t.Row("error", r.Error)
	} else {
		t.Row("filter", fmt.Sprintf("%s of %v", r.Kind, quantity.Size(r.Bytes)))
		t.Row("id", r.ID)
		t.Row("signed", r.Signed.Format(time.RFC3339))
		t.Row("expires", r.Expires.Format(time.RFC3339))
	}
	_, err := t.WriteTo(w)
	return err
}

// Metrics returns the report for Prometheus.
func (r report) Metrics() []status.Metric {
	return []status.Metric{
		status.Gauge("umbel_published_version", "Version of the head, 0 if it cannot be read.", r.Version, "name", r.Name),
		status.Gauge("umbel_published_bytes", "Memory of the filter.", r.Bytes, "name", r.Name),
		status.Gauge("umbel_published_signed_timestamp_seconds", "Time at which the head was signed, in seconds since 1970.", seconds(r.Signed), "name", r.Name),
		status.Gauge("umbel_published_expiry_timestamp_seconds", "Time at which the head expires, in seconds since 1970.", seconds(r.Expires), "name", r.Name),
	}
}

// seconds returns a time in seconds since 1970, 0 for the zero time.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
