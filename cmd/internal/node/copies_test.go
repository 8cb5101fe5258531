package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
)

// A start removes the copies that a killed process left.
func TestCopiesAreRemoved(t *testing.T) {
	d := disktest.NewDisk()
	d.SetFile("umbel-copy-1", make([]byte, 10))
	d.SetFile("umbel-copy-2", nil)
	if err := removeCopies(t.Context(), func() (disk.Dir, error) { return d.Dir(), nil }); err != nil {
		t.Fatal(err)
	}
	if left := d.Names(); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// A start whose disk hangs while copies are removed can be cancelled, and removes no further copy.
func TestRemovalOfCopiesIsCancelled(t *testing.T) {
	for _, hangs := range []disktest.Op{disktest.List, disktest.Remove} {
		synctest.Test(t, func(t *testing.T) {
			d := disktest.NewDisk()
			for i := range 3 {
				d.SetFile(fmt.Sprint("umbel-copy-", i), nil)
			}
			release := make(chan struct{})
			d.Before(func(op disktest.Op, _ string) error {
				if op == hangs {
					<-release
				}
				return nil
			})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- removeCopies(ctx, func() (disk.Dir, error) { return d.Dir(), nil }) }()
			synctest.Wait()
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("%s hangs: error %v, want %v", hangs, err, context.Canceled)
			}
			close(release)
			synctest.Wait()
			if left := d.Names(); len(left) < 2 || !slices.Contains(left, "umbel-copy-2") {
				t.Errorf("%s hangs: only %q are left", hangs, left)
			}
		})
	}
}
