package wal_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
)

// A disk that hangs holds no caller whose context is done, and Close gives up.
func TestHangingDisk(t *testing.T) {
	for _, hangs := range []disktest.Op{disktest.Sync, disktest.Write} {
		synctest.Test(t, func(t *testing.T) {
			d := disktest.NewDisk()
			l, err := wal.OpenDir(d.Dir(), wal.Options{SegmentBytes: 64 << 10})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := l.Propose(t.Context(), []byte("1"), nil); err != nil {
				t.Fatal(err)
			}
			if n, err := l.Commit(t.Context()); n != 1 || err != nil || l.Health() != nil {
				t.Fatalf("committed %d, %v, health: %v", n, err, l.Health())
			}
			release := make(chan struct{})
			d.Before(func(op disktest.Op, name string) error {
				if op == hangs && name != "head" {
					<-release
				}
				return nil
			})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := l.Propose(ctx, []byte("2"), nil)
				if err == nil {
					_, err = l.Commit(ctx)
				}
				ended <- err
			}()
			synctest.Wait()
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("%s: error %v, want %v", hangs, err, context.Canceled)
			}
			if hangs == disktest.Write {
				if _, err := l.Propose(t.Context(), []byte("2"), nil); err == nil {
					t.Error("a batch was proposed after one of which the end is unknown")
				}
			}
			if l.Close() == nil {
				t.Errorf("%s: the log was closed while the disk hangs", hangs)
			}
			close(release)
			synctest.Wait()
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// The removal of batches holds no caller whose context is done either, and Close gives up, also if the disk
// hangs only then.
func TestHangingRemoval(t *testing.T) {
	for _, hangs := range []string{"purge", "trim", "close"} {
		synctest.Test(t, func(t *testing.T) {
			d := disktest.NewDisk()
			l, err := wal.OpenDir(d.Dir(), wal.Options{SegmentBytes: 64 << 10})
			if err != nil {
				t.Fatal(err)
			}
			for range 10 {
				if _, err := l.Propose(t.Context(), make([]byte, 40<<10), nil); err != nil {
					t.Fatal(err)
				}
			}
			n, err := l.Commit(t.Context())
			if err == nil && hangs == "trim" { // there is something to remove
				err = l.Purge(t.Context(), n)
			}
			if err != nil {
				t.Fatal(err)
			}
			release := make(chan struct{})
			d.Before(func(op disktest.Op, _ string) error {
				if op == disktest.Remove || op == disktest.Sync {
					<-release
				}
				return nil
			})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				switch hangs {
				case "purge":
					ended <- l.Purge(ctx, n)
				case "trim":
					ended <- l.Trim(ctx)
				default:
					<-ctx.Done()
					ended <- ctx.Err()
				}
			}()
			synctest.Wait()
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("%s: error %v, want %v", hangs, err, context.Canceled)
			}
			if l.Close() == nil {
				t.Errorf("%s: the log was closed while the disk hangs", hangs)
			}
			close(release)
			synctest.Wait()
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
