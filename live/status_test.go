package live_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"expvar"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/live"
)

// full returns a filter whose cells are all set, so that its keys are +Inf.
func full(t *testing.T, path string) *live.Filter {
	f := open(t, path, bloom.Kind, umbel.Goal{Keys: 2, FPRate: 0.01}, live.Options{Every: -1})
	for i := range uint64(1000) {
		f.Add(digest(i))
	}
	must(t, f.Save())
	if !math.IsInf(f.Stats().Keys, 1) {
		t.Fatalf("%+v, want a full filter", f.Stats())
	}
	return f
}

// The JSON for expvar is valid in every state, and has the numbers of Status.
func TestExpvar(t *testing.T) {
	f := full(t, filepath.Join(t.TempDir(), "filter.umb"))
	expvar.Publish("live-test-"+strconv.Itoa(os.Getpid())+f.Status().Saved.String(), f) // it is an expvar.Var
	var got struct {
		Keys          *float64
		Fill, FPRate  float64
		PlannedKeys   uint64
		PlannedFPRate float64
		Overfull      bool
		Unsaved       uint64
		Error         string
	}
	must(t, json.Unmarshal([]byte(f.String()), &got))
	if got.Keys != nil || got.Fill != 1 || got.FPRate != 1 || got.PlannedKeys != 2 || got.PlannedFPRate != 0.01 || !got.Overfull || got.Error != "" {
		t.Errorf("%+v of %s", got, f)
	}
	status := f.Status()
	status.Err = errors.New(`disk "full"`)
	b, err := json.Marshal(status)
	if err != nil || json.Unmarshal(b, &got) != nil || got.Error != `disk "full"` {
		t.Errorf("%s, %v", b, err)
	}
}

// A logger prints the file and the numbers, also those of a full filter.
func TestLogValue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter.umb")
	var b bytes.Buffer
	slog.New(slog.NewJSONHandler(&b, nil)).Info("state", "seen", full(t, path))
	var got struct {
		Seen struct {
			File, Kind  string
			Keys        any // null
			PlannedKeys uint64
			Overfull    bool
		}
	}
	must(t, json.Unmarshal(b.Bytes(), &got))
	if s := got.Seen; s.File != path || s.Kind != "bloom" || s.PlannedKeys != 2 || s.Keys != nil || !s.Overfull {
		t.Errorf("%+v of %s", s, &b)
	}
}

// sample matches a line of the text format of Prometheus.
var sample = regexp.MustCompile(`^(umbel_[a-z_]+)\{filter="((?:[^"\\\n]|\\["\\n])*)"\} (\S+)$`)

// The metrics have a family for all filters each, which its HELP and TYPE begin, and values that a parser accepts.
func TestWriteMetrics(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a\"\\b")
	first := full(t, path)
	second := open(t, filepath.Join(dir, "second"), bloom.Kind, small, live.Options{Every: -1})
	second.AddString("a")
	var b bytes.Buffer
	must(t, live.WriteMetrics(&b, first, second))
	values := map[string]float64{}
	var family string
	seen := map[string]bool{}
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSuffix(line, "\n")
		if words := strings.Fields(line); words[0] == "#" {
			if words[1] == "HELP" {
				family = words[2]
				if seen[family] {
					t.Errorf("family %s appears twice", family)
				}
				seen[family] = true
			} else if words[1] != "TYPE" || words[2] != family || words[3] != "gauge" {
				t.Errorf("line %q after the HELP of %s", line, family)
			}
			continue
		}
		m := sample.FindStringSubmatch(line)
		if m == nil || m[1] != family {
			t.Fatalf("line %q in family %s", line, family)
		}
		name, err := strconv.Unquote(`"` + m[2] + `"`)
		must(t, err)
		v, err := strconv.ParseFloat(m[3], 64)
		must(t, err)
		values[family+" "+filepath.Base(name)] = v
	}
	for name, want := range map[string]float64{
		"umbel_filter_keys a\"\\b": math.Inf(1), "umbel_filter_overfull a\"\\b": 1, "umbel_filter_save_healthy a\"\\b": 1,
		"umbel_filter_planned_keys a\"\\b": 2, "umbel_filter_planned_keys second": 2000, "umbel_filter_overfull second": 0,
		"umbel_filter_unsaved_changes a\"\\b": 0, "umbel_filter_unsaved_changes second": 1,
		"umbel_filter_planned_false_positive_ratio second": 0.01,
	} {
		if got, ok := values[name]; !ok || got != want {
			t.Errorf("%s is %v, %v, want %v", name, got, ok, want)
		}
	}
	if s := second.Status(); math.Abs(values["umbel_filter_keys second"]-s.Keys) > 1e-9 || len(seen) != 10 {
		t.Errorf("%v, want those of %+v", values, s)
	}
	if err := live.WriteMetrics(failing{}, first); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("to a closed file: %v", err)
	}
}

// failing is a writer that fails.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, fmt.Errorf("write: %w", fs.ErrClosed) }
