package filters

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
)

// room returns words about the keys for which a filter has room, if it was made for a size that is enough for
// more keys than it has.
func (s Summary) room(sized bool) string {
	if p := s.Planned; sized && p != nil && p.FPRate == spec.LeastRate {
		return fmt.Sprintf("; the size is enough for %v keys at a rate of %s", quantity.Count(p.Keys), cli.Percent(p.FPRate))
	}
	return ""
}

// replacedFilter describes the filter that a new one replaces.
type replacedFilter struct {
	Kind      string `json:"kind"`
	FileBytes int64  `json:"fileBytes"`
}

// filterAt describes the filter in the file at path, by its first bytes. It returns nil if the file isn't a regular one, or
// has no filter.
func filterAt(path string) *replacedFilter {
	if path == "-" {
		return nil
	}
	kind, size, ok := container.Describe(path)
	if !ok {
		return nil
	}
	return &replacedFilter{kind, size}
}

// words describes the replacement in a summary.
func (r *replacedFilter) words() string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("; replaces a filter of kind %s of %v bytes", r.Kind, quantity.Count(r.FileBytes))
}

// Judge warns if the filter of a verb with --strict is overfull, and makes exit code 6 the result of the verb, unless --lossy
// is given. With --strict it returns an error with the consequence.
func (s Summary) Judge(streams *cli.Streams, t Tolerance, consequence string) error {
	text := s.Overfull()
	switch {
	case !t.judges || text == "":
		return nil
	case t.Strict:
		return errors.New(text + "; " + consequence)
	}
	t.Exceeds(streams, text)
	return nil
}

// Overfull returns the warning about a filter that is overfull, and "" about others.
func (s Summary) Overfull() string {
	if s.Planned == nil || !s.Planned.Overfull {
		return ""
	}
	made := plannedWords(api.Planned{Keys: s.Planned.Keys, FPRate: s.Planned.FPRate})
	text := fmt.Sprintf("%s is overfull: it was made for %s, and its false-positive rate is %s", s.File, made, cli.Percent(s.FPRate))
	if !isFinite(s.Keys.Estimate) {
		return text + "; make it again with more --keys"
	}
	if float64(s.Keys.Estimate) <= float64(s.Planned.Keys) {
		return text + fmt.Sprintf(" with only about %s: one of the filters in it is overfull; make that one again", WholeKeys(float64(s.Keys.Estimate)))
	}
	text += fmt.Sprintf(" with about %s", WholeKeys(float64(s.Keys.Estimate)))
	if !isFinite(s.Keys.High) {
		return text + "; make it again with more --keys"
	}
	most := math.Ceil(float64(s.Keys.High)) // an estimate of an overfull filter may be far too low
	return text + fmt.Sprintf(", at most %s; make it again with --keys %.0f", WholeKeys(most), most)
}

// Summary is the result of a verb that writes a filter.
type Summary struct {
	File   string       `json:"file,omitempty"` // "": in memory only
	Kind   string       `json:"kind"`
	Cells  uint64       `json:"cells"`
	K      cli.Float    `json:"k"`
	Bytes  uint64       `json:"bytes"`
	Keys   api.Estimate `json:"keys"`
	Fill   cli.Float    `json:"fill"`
	FPRate cli.Float    `json:"fpRate"`
	// Planned is what the filter was made for, if that is known.
	Planned *api.Planned `json:"planned,omitempty"`
	Read    *uint64      `json:"read,omitempty"` // keys read
	// Distinct is the number of different keys read, counted or estimated.
	Distinct uint64 `json:"distinct,omitempty"`
	Fold     uint64 `json:"fold,omitempty"` // factor of a fold
	// Replaced is the filter that was in the file before, if umbel make replaced one.
	Replaced *replacedFilter `json:"replaced,omitempty"`
	// Weights is what a log of queries has gained.
	Weights *weightsInfo `json:"weights,omitempty"`
}

// Summarize returns the summary of a filter in memory.
func Summarize(file string, f umbel.Filter) Summary {
	s, state := f.Stats(), f.State()
	return Summary{
		File: file, Kind: state.Kind, Planned: api.NewPlanned(state.Planned, state.Planned.Exceeded(s.FPRate)), Cells: s.Cells, K: cli.Float(s.K), Bytes: s.Bytes,
		Keys: api.NewEstimate(s), Fill: cli.Float(s.Fill), FPRate: cli.Float(s.FPRate),
	}
}

// SummaryOf is [Summarize] for a filter on a node.
func SummaryOf(name string, in remote.Info) Summary {
	return Summary{
		File: name, Kind: in.Kind, Planned: in.Planned, Cells: in.Cells, K: in.K, Bytes: in.Bytes,
		Keys: in.Keys, Fill: in.Fill, FPRate: in.FPRate,
	}
}

// Print prints the summary, unless --quiet. done is the text for what was done.
func (s Summary) Print(streams *cli.Streams, done string) error {
	return streams.Report(s.File, s, func(w io.Writer) error { return s.Write(w, done) })
}

// Write writes the summary. The filter may be in memory only, without a file.
func (s Summary) Write(w io.Writer, done string) error {
	if s.File != "" {
		done = s.File + ": " + done
	}
	_, err := fmt.Fprintf(w, "%s\n%s filter of %v cells, k %.4g, %v; %s; false-positive rate %s\n",
		done, s.Kind, quantity.Count(s.Cells), s.K, quantity.Size(s.Bytes), keysBrief(s.Keys, s.Kind), cli.RateOf(float64(s.FPRate)))
	if err == nil && s.Weights != nil {
		err = s.Weights.Write(w)
	}
	return err
}
