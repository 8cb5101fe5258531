package node

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/report"
)

// A duration is text in every format.
func TestDurationsInTheLog(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, form := range []string{"json", "text"} {
		report.New(file, form, slog.LevelInfo).Info("shutdown complete", "took", 1500*time.Millisecond)
	}
	b, err := os.ReadFile(file.Name())
	if err != nil || !strings.Contains(string(b), `"took":"1.5s"`) || !strings.Contains(string(b), "took=1.5s\n") {
		t.Errorf("logged: %s, %v", b, err)
	}
}

// A filter that becomes overfull is logged, with figures and the beginning of a long name.
func TestOverfullInTheLog(t *testing.T) {
	var b strings.Builder
	e := newEngine(engine.Options{Overfull: overfullLogger(slog.New(slog.NewJSONHandler(&b, nil)))})
	f, _, err := e.Create(strings.Repeat("f", 1000), "bloom", umbel.Goal{Keys: 8, FPRate: 0.01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ds := make([]umbel.Digest, 10_000) // which set every cell
	for i := range ds {
		ds[i] = f.Hasher().HashUint64(uint64(i))
	}
	if _, _, err := f.Add(make([]bool, len(ds)), ds); err != nil {
		t.Fatal(err)
	}
	f.Stats()
	f.Stats()
	const want = `"level":"WARN","msg":"filter is overfull","event":"filter-overfull","filter":"fff`
	if got := b.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, want) || !strings.Contains(got, `f","keys":128,"rate":1,"planned":0.01}`) || len(got) > 400 {
		t.Errorf("logged %q", got)
	}
}
