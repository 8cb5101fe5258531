package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/internal/race"
)

// damage damages a random file of a disk and returns what it did.
func damage(rng *rand.Rand, d *drive) string {
	dir := d.files
	if rng.IntN(2) == 0 {
		dir = d.Disk.Files
	}
	names := dir.Names()
	name := names[rng.IntN(len(names))]
	b := dir.File(name)
	if len(b) == 0 || rng.IntN(6) == 0 {
		dir.Lose(name)
		return name + " removed"
	}
	at := rng.IntN(len(b))
	if rng.IntN(2) == 0 {
		at = rng.IntN(min(len(b), 20_000)) // the end of a segment is not used yet
	}
	switch rng.IntN(4) {
	case 0:
		dir.SetFile(name, b[:at])
		return fmt.Sprintf("%s cut to %d of %d bytes", name, at, len(b))
	case 1:
		clear(b[at:min(len(b), at+4096)])
		dir.SetFile(name, b)
		return fmt.Sprintf("4096 bytes at %d of %s zeroed", at, name)
	default:
		b[at] ^= 1 << rng.IntN(8)
		dir.SetFile(name, b)
		return fmt.Sprintf("a bit of byte %d of %s flipped", at, name)
	}
}

// If one file of the log or of the snapshots is damaged in any way, either a start finds everything, or it
// reports what is lost; and if the loss is acknowledged, no filter has a false negative. UMBEL_LONG=1 damages
// 2,000 times.
func TestRandomDamage(t *testing.T) {
	race.Skip(t, "varies damage and failures, in one goroutine")
	d, names, keys, want := history(t, 3)
	tries := 60
	if os.Getenv("UMBEL_LONG") != "" {
		tries = 2000
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	refused := 0
	for range tries {
		c := d.Clone()
		what := damage(rng, c)
		n, err := tryStart(c, Options{})
		if err == nil {
			wantSame(t, contents(n.Engine), want)
			// New snapshots do not refer to what is damaged.
			for i := range 3 {
				n.Get([]byte("bloom")).Expire(1<<50 + int64(i))
				snap(t, n)
			}
			now := contents(n.Engine)
			n.end(t)
			if n, err = tryStart(c, Options{}); err != nil {
				t.Fatalf("%s; after three snapshots: %v", what, err)
			}
			wantSame(t, contents(n.Engine), now)
			n.end(t)
		} else {
			refused++
			if !errors.Is(err, ErrLost) && !errors.Is(err, wal.ErrHole) || !strings.Contains(err.Error(), "accept") {
				t.Errorf("error %v", err)
			}
			wantAccepted(t, c, names, keys)
		}
		if t.Failed() {
			t.Fatal(what)
		}
	}
	t.Logf("%d damages: %d refused, %d whole", tries, refused, tries-refused)
}

// A filter that was restored from the previous snapshot and the log has the cells that the damaged copy
// had. The next snapshot does not take the copy for whole because of that.
func TestDamagedCopyIsNotReused(t *testing.T) {
	d := newDisk()
	n := start(t, d, Options{})
	f, _, err := n.Create("a", "bloom", umbel.Goal{Keys: 20_000, FPRate: .01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if _, _, err := f.Add(nil, digests(100*i, 100*i+100)); err != nil {
			t.Fatal(err)
		}
		snap(t, n)
	}
	want := contents(n.Engine)
	n.kill()
	restored := 0
	for _, name := range d.pieces() {
		c := d.Clone()
		c.files.Flip(name, 12345)
		n := start(t, c, Options{})
		wantSame(t, contents(n.Engine), want)
		for i := range 3 { // the cells stay as they are
			n.Get([]byte("a")).Expire(1<<50 + int64(i))
			snap(t, n)
		}
		now := contents(n.Engine)
		n.end(t)
		n, err := tryStart(c, Options{})
		if err != nil {
			t.Errorf("%s damaged: after three snapshots: %v", name, err)
			continue
		}
		wantSame(t, contents(n.Engine), now)
		n.end(t)
		restored++
	}
	if restored < 3 {
		t.Errorf("%d pieces, want at least 3", restored)
	}
}
