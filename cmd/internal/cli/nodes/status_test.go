package nodes

import (
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// Changes that a limit refuses are not reported as accepted, and the line about them says what ends that.
func TestStatusOfRefusedGrowth(t *testing.T) {
	var b strings.Builder
	if err := writeStatus(&b, api.Status{Growth: []api.Growth{{
		Reason: "memory", Since: time.Unix(0, 0), Filter: "seen", Error: "memory limit reached", Needed: 2<<20 - 1, Refused: 1234,
	}}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"changes     accepted, except those for which a filter must become larger\n",
		"growth      refused since 1970-01-01T00:00:00Z at max-memory, 1,234 changes, for example of \"seen\": memory limit reached; raise max-memory to at least 2.00 MiB, or delete filters\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s\nwithout %q", b.String(), want)
		}
	}
}

// The line about the disk says what ends the refusal of changes: room on the disk, or a higher limit.
func TestDiskText(t *testing.T) {
	for name, c := range map[string]struct {
		status    api.Status
		want, not string
	}{
		"accepted":  {api.Status{DiskBytes: 1 << 20}, "1.00 MiB", "need"},
		"full disk": {api.Status{DiskBytes: 1 << 20, MissingBytes: 2 << 20}, "2.00 MiB must be freed", "max-disk"},
		"limit": {api.Status{DiskBytes: 1 << 20, MaxDisk: 8 << 20, MissingBytes: 2 << 20, NeededMaxDisk: 9 << 20},
			"a max-disk of at least 9.00 MiB is needed", "freed"},
	} {
		if got := diskText(c.status); !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
			t.Errorf("%s: %q, want %q, not %q", name, got, c.want, c.not)
		}
	}
}
