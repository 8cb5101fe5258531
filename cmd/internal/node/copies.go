package node

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
)

// copiesDir returns the directory for copies of large filters while they are sent.
func copiesDir(data string) string { return filepath.Join(data, "copies") }

// removeCopies opens the directory of copies, which may make it, and removes the files in it. It returns soon
// after ctx is done, also if the disk does not respond; then no file is removed after the current one.
func removeCopies(ctx context.Context, open func() (disk.Dir, error)) error {
	done := make(chan error, 1)
	go func() {
		dir, err := open()
		if err == nil {
			err = removeFiles(ctx, dir)
		}
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// removeFiles removes the files of a directory until ctx is done.
func removeFiles(ctx context.Context, dir disk.Dir) error {
	list, err := dir.List()
	for _, f := range list {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err = errors.Join(err, dir.Remove(f.Name))
	}
	return err
}
