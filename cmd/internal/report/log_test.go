package report_test

import (
	"encoding/json"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/report"
)

// The standard logger, which transports of net/http use, writes to the log of the program.
func TestStandardLogger(t *testing.T) {
	defer log.SetOutput(os.Stderr)
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	report.New(file, "json", slog.LevelInfo)
	log.Printf("http: Unsolicited response received on idle HTTP channel starting with %q; err=<nil>", "EXTRA")
	b, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	var line struct{ Event, Error string }
	if err := json.Unmarshal(b, &line); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	if want := `Unsolicited response received on idle HTTP channel starting with "EXTRA"; err=<nil>`; line.Event != "http-error" || line.Error != want {
		t.Errorf("%s", b)
	}
}
