package live

import (
	"encoding/json"
	"log/slog"
	"math"
	"time"

	"github.com/umbel-filters/umbel"
)

// Status describes a filter and its file.
type Status struct {
	umbel.Stats               // as Filter.Stats returns them
	Planned     umbel.Planned // what the file was made for; zero if that is unknown
	Overfull    bool          // the false-positive rate is above twice the planned one: see umbel.Planned
	Unsaved     uint64        // changes that the file does not have, of a large filter about; 0 only if there are none
	Saved       time.Time     // of the last save, or of the file when it was opened
	Err         error         // of the last save; nil if it succeeded
}

// Stats returns numbers about the filter. It reads no cells: the package comment states how exact they are.
func (f *Filter) Stats() umbel.Stats {
	m := f.base.Load()
	return m.after(f.fresh() - m.fresh)
}

// Status returns numbers about the filter and its file. It reads no cells.
func (f *Filter) Status() Status {
	s := Status{Stats: f.Stats(), Planned: f.planned}
	s.Overfull = f.planned.Exceeded(s.FPRate)
	f.last.Lock()
	defer f.last.Unlock()
	s.Saved, s.Err = f.last.at, f.last.err
	if f.last.running || f.dirty.Load() {
		s.Unsaved = max(f.changes.total()-f.last.changes, 1)
	}
	return s
}

// MarshalJSON returns an object. A number that is infinite, as Keys of a full filter, is null.
func (s Status) MarshalJSON() ([]byte, error) {
	text := ""
	if s.Err != nil {
		text = s.Err.Error()
	}
	return json.Marshal(struct {
		Keys          any       `json:"keys"`
		Low           any       `json:"low"`
		High          any       `json:"high"`
		Fill          float64   `json:"fill"`
		FPRate        float64   `json:"fpRate"`
		Bytes         uint64    `json:"bytes"`
		PlannedKeys   uint64    `json:"plannedKeys"`
		PlannedFPRate float64   `json:"plannedFPRate"`
		Overfull      bool      `json:"overfull"`
		Unsaved       uint64    `json:"unsaved"`
		Saved         time.Time `json:"saved"`
		Error         string    `json:"error,omitempty"`
	}{
		finite(s.Keys), finite(s.Low), finite(s.High), s.Fill, s.FPRate, s.Bytes,
		s.Planned.Keys, s.Planned.FPRate, s.Overfull, s.Unsaved, s.Saved, text,
	})
}

// finite returns x, or nil if it is infinite, since JSON has no such numbers.
func finite(x float64) any {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return x
}

// String returns Status as JSON, so that f is an expvar.Var: expvar.Publish("seen", f).
func (f *Filter) String() string {
	b, err := f.Status().MarshalJSON()
	if err != nil {
		return "null" // a time after the year 9999
	}
	return string(b)
}

// LogValue returns the most important numbers of Status, for log/slog.
func (f *Filter) LogValue() slog.Value {
	s := f.Status()
	return slog.GroupValue(slog.String("file", f.path), slog.String("kind", f.kind.Name),
		slog.Any("keys", finite(math.Round(s.Keys))), slog.Uint64("plannedKeys", s.Planned.Keys),
		slog.Float64("fpRate", s.FPRate), slog.Bool("overfull", s.Overfull), slog.Uint64("unsaved", s.Unsaved))
}
