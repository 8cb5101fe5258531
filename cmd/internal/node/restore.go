package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/umbel-filters/umbel/cmd/internal/durable/backup"
	"github.com/umbel-filters/umbel/cmd/internal/durable/store"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
)

// RestoreDir makes a data directory from a backup and reports what a start would find in it. The directory must
// not contain a log. After an error everything that it made is removed: a partial restore must not look complete.
func RestoreDir(ctx context.Context, data string, log *slog.Logger, r io.Reader) (_ store.Report, err error) {
	for _, dir := range []string{logDir(data), snapshotsDir(data)} {
		if _, err := os.Stat(dir); err == nil {
			return store.Report{}, fmt.Errorf("%s already contains the data of a node; choose an empty directory", data)
		}
	}
	made, err := makeDirs(data)
	_, noSeed := os.Stat(seedFile(data))
	defer func() {
		if err == nil {
			return
		}
		err = errors.Join(err, os.RemoveAll(logDir(data)), os.RemoveAll(snapshotsDir(data)))
		if errors.Is(noSeed, fs.ErrNotExist) {
			_ = os.Remove(seedFile(data)) // it may not have been written
		}
		for _, dir := range made {
			_ = os.Remove(dir) // somebody may have put a file into it meanwhile
		}
	}()
	if err != nil {
		return store.Report{}, err
	}
	c := DefaultConfig()
	c.Data = data
	if err := fill(ctx, c, log, r); err != nil {
		return store.Report{}, err
	}
	found, _, err := Check(ctx, c, log)
	return found, err
}

// fill writes a backup to a data directory.
func fill(ctx context.Context, c Config, log *slog.Logger, r io.Reader) error {
	on, err := openData(ctx, c, log, wal.Open, nil, false)
	if err != nil {
		return err
	}
	seed, err := backup.Restore(ctx, r, on.log, on.snapshots)
	if err := errors.Join(err, on.log.Close()); err != nil || seed == nil {
		return err
	}
	return writeSeed(seedFile(c.Data), seed)
}

// makeDirs makes a directory and its parents, and returns those that did not exist, the innermost first.
func makeDirs(dir string) (made []string, err error) {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = append(made, at)
	}
	return made, os.MkdirAll(dir, 0o700)
}
