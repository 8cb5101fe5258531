package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"

	"github.com/umbel-filters/umbel/cmd/internal/durable/backup"
	"github.com/umbel-filters/umbel/cmd/internal/durable/store"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// Check reads a data directory as a start would, and reports what it found, and the least max-disk, in bytes, that
// its filters need. It changes nothing. It returns an error wrapping disk.ErrLocked if a node uses the
// directory, or wal.ErrHole if durable data is missing.
func Check(ctx context.Context, c Config, log *slog.Logger) (found store.Report, maxDisk uint64, err error) {
	if err := c.Validate(); err != nil {
		return found, 0, err
	}
	err = withStore(ctx, c, log, true, func(s *store.Store, r store.Report) error {
		found, maxDisk = r, s.LimitFor()
		return nil
	})
	return found, maxDisk, err
}

// Backup writes a backup of a data directory that no node uses. A running node makes backups over
// HTTP.
func Backup(ctx context.Context, c Config, log *slog.Logger, w io.Writer) error {
	return withStore(ctx, c, log, false, func(s *store.Store, _ store.Report) error { return s.Backup(ctx, w) })
}

// withStore opens the log of an existing data directory for reading. check makes it read everything.
func withStore(ctx context.Context, c Config, log *slog.Logger, check bool, use func(*store.Store, store.Report) error) (err error) {
	if _, err := os.Stat(logDir(c.Data)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("data directory %s has no data: umbel serve makes it at its first start", c.Data)
	} else if err != nil {
		return fmt.Errorf("data directory %s: %w", c.Data, err)
	}
	on, err := openData(ctx, c, log, wal.Open, nil, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, on.log.Close()) }()
	s, found, err := store.Open(ctx, on.log, on.snapshots,
		newEngine(engine.Options{MaxMemory: memoryLimit(c.MaxMemory, 0)}),
		store.Options{Reserve: diskReserve, AcceptLoss: c.AcceptLoss, Lost: on.lost, Check: check, Seed: seedOf(c.Data), Log: log.With("part", "store")})
	if err != nil {
		return fmt.Errorf("data directory %s: %w", c.Data, err)
	}
	logTorn(log, found)
	return errors.Join(use(s, found), s.Close(ctx))
}

// VerifyFile reads a backup as RestoreDir and a start would, and reports what it contains.
func VerifyFile(ctx context.Context, r io.Reader) (store.Report, error) {
	return backup.Verify(ctx, r, newEngine(engine.Options{}))
}
