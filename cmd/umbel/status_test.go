package main

import (
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/api"
)

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
