package nodes

import (
	"fmt"
	"io"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/durable/store"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// findings is the contents of a data directory or a backup.
type findings struct {
	Filters  int        `json:"filters"`
	Bytes    uint64     `json:"bytes"`
	Snapshot *time.Time `json:"snapshot"` // null for none
	Batches  uint64     `json:"batches"`
	Changes  uint64     `json:"changes"`
	Digests  uint64     `json:"digests"`
	Seconds  float64    `json:"seconds"`
	Torn     string     `json:"torn,omitempty"`
	Lost     []string   `json:"lost"`
	Damaged  []string   `json:"damaged,omitempty"` // and not needed now

	Incomplete      int      `json:"incomplete"`
	IncompleteNames []string `json:"incompleteNames"`

	Missing *api.Missing `json:"missingNames,omitempty"`

	LeastMaxDisk uint64 `json:"leastMaxDisk,omitempty"` // that the filters need; of a data directory only
	maxDisk      uint64
}

func newFindings(r store.Report) findings {
	f := findings{
		Filters: r.Filters, Bytes: r.Bytes, Batches: r.Batches, Changes: r.Changes, Digests: r.Digests,
		Seconds: r.Took.Seconds(), Torn: r.Torn, Lost: append([]string{}, r.Lost...), Damaged: r.Damaged,
		Incomplete: r.Incomplete, IncompleteNames: append([]string{}, r.IncompleteNames...),
	}
	if m := r.Missing; m != nil {
		f.Missing = &api.Missing{Since: m.Time(), Batches: m.Batches}
	}
	if !r.Snapshot.IsZero() {
		f.Snapshot = &r.Snapshot
	}
	return f
}

func (f findings) Write(w io.Writer) error {
	t := table.New("", "")
	t.Row("filters", fmt.Sprintf("%v, %v", quantity.Count(f.Filters), quantity.Size(f.Bytes)))
	if f.Snapshot != nil {
		t.Row("snapshot", f.Snapshot.UTC().Format(time.RFC3339))
	}
	t.Row("log since", fmt.Sprintf("%s, %s, %s", quantity.Count(f.Batches).Of("batch"), quantity.Count(f.Changes).Of("change"),
		quantity.Count(f.Digests).Of("key")))
	t.Row("took", time.Duration(f.Seconds*float64(time.Second)).Round(time.Millisecond).String())
	if f.maxDisk > 0 && f.maxDisk < f.LeastMaxDisk {
		t.Row("max-disk", fmt.Sprintf("%v is too small for the filters, which need at least %v; changes may be refused",
			quantity.Size(f.maxDisk), quantity.Size(f.LeastMaxDisk).RoundUp()))
	}
	if f.Torn != "" {
		t.Row("torn end", f.Torn)
	}
	for _, lost := range f.Lost {
		t.Row("lost", lost)
	}
	for _, damaged := range f.Damaged {
		t.Row("damaged", damaged)
	}
	if f.Incomplete > 0 {
		t.Row("incomplete", fmt.Sprintf("%v; queries of these filters return true until they are created again:", quantity.Count(f.Incomplete)))
		for _, name := range f.IncompleteNames {
			t.Row("", cli.NameWords(name))
		}
		if more := f.Incomplete - len(f.IncompleteNames); more > 0 {
			t.Row("", fmt.Sprintf("and %v more", quantity.Count(more)))
		}
	}
	if f.Missing != nil {
		t.Row("missing", missingText(*f.Missing))
	}
	_, err := t.WriteTo(w)
	return err
}
