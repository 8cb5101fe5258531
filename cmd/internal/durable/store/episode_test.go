package store

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
	"github.com/umbel-filters/umbel/internal/faultlog"
	"github.com/umbel-filters/umbel/internal/race"
)

// Messages of an episode.
const (
	beginning = "disk full;"
	ending    = "disk has room again;"
)

// wantLogged fails the test unless the log has n messages with each text.
func wantLogged(t *testing.T, log *lockedBuffer, n int, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if got := strings.Count(log.String(), text); got != n {
			t.Errorf("%d messages %q, want %d", got, text, n)
		}
	}
	if t.Failed() {
		t.Log(log.String())
	}
}

// startLogged starts a node that logs to a buffer.
func startLogged(t *testing.T, d *drive, o Options) (*node, *lockedBuffer) {
	log := new(lockedBuffer)
	o.Log = slog.New(slog.NewTextHandler(log, nil))
	return start(t, d, o), log
}

// A refusal of a moment is logged if a client got it, and only then. Refusals that follow soon belong to the same episode.
func TestShortRefusalIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, log := startLogged(t, newDisk(), Options{Disk: budget.New(8 << 20)})
		f, _, err := n.Create("f", "bloom", umbel.Goal{Keys: 1000, FPRate: .01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		n.refuse(n.errMaxDisk(), untilRoom) // as growing does
		n.accept()
		synctest.Wait()
		wantLogged(t, log, 0, beginning, ending)
		for i := range 4 {
			synctest.Wait() // for the look of this moment, which would accept changes
			n.refuse(n.errMaxDisk(), untilRoom)
			if err := n.Writable(); !errors.Is(err, errFull) {
				t.Errorf("error %v, want %v", err, errFull)
			}
			for range 3 {
				if _, _, err := f.Add(nil, digests(0, 10)); !errors.Is(err, errFull) || !errors.Is(err, engine.ErrReadOnly) {
					t.Errorf("error %v, want %v", err, errFull)
				}
			}
			n.accept()
			synctest.Wait()
			wantLogged(t, log, 1, beginning)
			wantLogged(t, log, 0, ending)
			if got := n.Status().Refused; got != uint64(3*i+3) {
				t.Errorf("%d changes are refused, want %d", got, 3*i+3)
			}
			time.Sleep(calm - look)
		}
		time.Sleep(3 * look)
		wantLogged(t, log, 1, beginning, ending, "refused=12", fmt.Sprintf("took=%v", 3*(calm-look)))
		synctest.Wait()
		n.refuse(n.errMaxDisk(), untilRoom)
		f.Add(nil, digests(0, 10))
		n.accept()
		synctest.Wait()
		wantLogged(t, log, 2, beginning)
		time.Sleep(2 * calm)
		wantLogged(t, log, 2, beginning, ending)
		wantLogged(t, log, 1, "refused=1\n")
		n.end(t)
	})
}

// Clients that write at full speed reach the limit again and again. That is one episode.
func TestOneEpisodeAtMaxDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		d.files.Before(func(disktest.Op, string) error { time.Sleep(10 * time.Millisecond); return nil })
		n, log := startLogged(t, d, Options{Disk: budget.New(8 << 20), Reserve: 64 << 20})
		f, _, err := n.Create("counts", "counting", umbel.Goal{Keys: 20_000, FPRate: .01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		refusals := 0
		for refusals < 5 {
			if err := toggleOnce(n, f); errors.Is(err, errFull) {
				refusals++
				time.Sleep(look)
			} else if err != nil {
				t.Fatal(err)
			}
		}
		wantLogged(t, log, 1, beginning)
		wantLogged(t, log, 0, ending)
		_, within, _ := strings.Cut(log.String(), beginning)
		if got := strings.Count(within, "snapshot taken"); got != 1 || n.files.LastNumber() < 4 {
			t.Errorf("%d of %d snapshots are logged, want one within the episode", got, n.files.LastNumber())
		}
		time.Sleep(time.Minute)
		wantLogged(t, log, 1, beginning, ending)
		wantLogged(t, log, 0, "log write failed", "log writable again")
		if got := n.Status().Refused; got < uint64(refusals) {
			t.Errorf("%d changes are refused, want at least %d", got, refusals)
		}
		n.end(t)
	})
}

// A full disk that the log finds is one error in the log of the node, and its end is one message. The error has what is missing.
func TestFullDiskIsLoggedOnce(t *testing.T) {
	race.Skip(t, "varies what a disk has room for, with one goroutine that changes")
	synctest.Test(t, func(t *testing.T) {
		d := newSmallDisk(16 << 20)
		n, log := startLogged(t, d, Options{Reserve: 64 << 10})
		f, _, err := n.Create("counts", "counting", umbel.Goal{Keys: 2_000_000, FPRate: .01}, nil) // about 10 MB
		if err != nil {
			t.Fatal(err)
		}
		f.Add(nil, digests(0, 100_000))
		snap(t, n)
		f.Add(nil, digests(200_000, 200_500)) // all segments differ from the snapshot
		_ = toggle(n, f)
		time.Sleep(time.Minute)
		wantLogged(t, log, 1, beginning)
		wantLogged(t, log, 0, ending, "log write failed")
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, beginning) && !strings.Contains(line, " missing=") {
				t.Errorf("the error does not have what is missing: %s", line)
			}
		}
		d.files.Limit(64 << 20)
		time.Sleep(time.Minute)
		wantLogged(t, log, 1, beginning, ending)
		wantLogged(t, log, 0, "log write failed", "log writable again")
		n.end(t)
	})
}

// While the disk stays full, the messages of each attempt are logged once per minute, and again at once in the next episode.
func TestAttemptsOfAFullDiskAreLoggedOnce(t *testing.T) {
	race.Skip(t, "varies what a disk has room for, with one goroutine that changes")
	synctest.Test(t, func(t *testing.T) {
		attempts := []string{"snapshot failed; log not truncated", "disk still full; will retry"}
		d := newSmallDisk(16 << 20)
		n, log := startLogged(t, d, Options{Reserve: 64 << 10})
		f, _, err := n.Create("counts", "counting", umbel.Goal{Keys: 2_000_000, FPRate: .01}, nil) // about 10 MB
		if err != nil {
			t.Fatal(err)
		}
		f.Add(nil, digests(0, 100_000))
		snap(t, n)
		f.Add(nil, digests(200_000, 200_500)) // all segments differ from the snapshot
		_ = toggle(n, f)
		time.Sleep(faultlog.Period - fullRetry)
		wantLogged(t, log, 1, attempts...)
		wantLogged(t, log, 0, "omitted=")
		time.Sleep(2 * faultlog.Period)
		wantLogged(t, log, 3, attempts...)
		wantLogged(t, log, 4, "omitted=1") // ten attempts or more
		d.files.Limit(64 << 20)
		time.Sleep(faultlog.Period)
		wantLogged(t, log, 1, beginning, ending)
		d.files.Limit(d.files.Used())
		f.Add(nil, digests(0, 100_000))
		_ = toggle(n, f)
		time.Sleep(faultlog.Period / 2)
		wantLogged(t, log, 2, beginning)
		wantLogged(t, log, 4, "disk still full; will retry")
		n.kill()
	})
}

// A log that fails for another reason than a full disk is logged as such, and refused changes are counted.
func TestFailedLogIsNoEpisode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		n, log := startLogged(t, d, Options{})
		f, _, err := n.Create("f", "bloom", umbel.Goal{Keys: 1000, FPRate: .01}, nil)
		if err == nil {
			err = n.Sync(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		d.Files.Before(func(op disktest.Op, _ string) error {
			if op == disktest.Write {
				return errors.New("input/output error")
			}
			return nil
		})
		_, pos, err := f.Add(nil, digests(0, 10))
		if err != nil || n.Wait(t.Context(), pos) == nil {
			t.Fatalf("the log does not fail: %v", err)
		}
		if _, _, err := f.Add(nil, digests(10, 20)); !errors.Is(err, engine.ErrReadOnly) {
			t.Errorf("error %v, want %v", err, engine.ErrReadOnly)
		}
		if got := n.Status().Refused; got != 1 {
			t.Errorf("%d changes are refused, want 1", got)
		}
		d.Files.Before(nil)
		time.Sleep(time.Minute)
		wantLogged(t, log, 1, "log write failed", "log writable again")
		wantLogged(t, log, 0, beginning, ending)
		n.end(t)
	})
}
