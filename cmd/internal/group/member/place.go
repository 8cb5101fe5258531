package member

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/wholefile"
)

// place is how far a node is. Its file is written after the own log was synced, so the own log has at least the batches up to it.
//
//	offset  bytes
//	     0      8  "umbelat" and version 1
//	     8     64  position in the shared log
//	    72      8  index up to which the own log must reach before the filters are complete
//	    80      4  CRC-32C of all before it
type place struct {
	at    sharedlog.Position
	reach uint64
}

const placeMagic = "umbelat\x01"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func placeFile(data string) string { return filepath.Join(data, "group-position") }

// Belongs reports whether a data directory is that of a member.
func Belongs(data string) bool {
	_, err := os.Lstat(placeFile(data))
	return err == nil
}

// readPlace reads the place of a data directory, which is zero without a file.
func readPlace(data string) (p place, err error) {
	path := placeFile(data)
	b, err := os.ReadFile(path)
	switch n := len(placeMagic) + sharedlog.PositionBytes; {
	case errors.Is(err, fs.ErrNotExist):
		return p, nil
	case err != nil:
		return p, err
	case len(b) != n+12 || string(b[:len(placeMagic)]) != placeMagic || crc32.Checksum(b[:n+8], castagnoli) != binary.LittleEndian.Uint32(b[n+8:]):
		return p, fmt.Errorf("%s is damaged, or of a later version", path)
	default:
		p.reach = binary.LittleEndian.Uint64(b[n:])
		return p, p.at.UnmarshalBinary(b[len(placeMagic):n])
	}
}

// write writes the place of a data directory.
func (p place) write(data string) error {
	b, err := p.at.AppendBinary([]byte(placeMagic))
	if err != nil {
		return err
	}
	b = binary.LittleEndian.AppendUint64(b, p.reach)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	return wholefile.Replace(placeFile(data), 0o600, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// persist writes the place of the node to its file, after the own log is durable up to it.
func (m *Member) persist(ctx context.Context, was *sharedlog.Position) error {
	l := m.shared.Load()
	if l == nil {
		return nil
	}
	at := l.Position()
	if d := m.leader.Load(); d != nil {
		if at = d.Committed(); at.Index >= m.o.Own.Next() { // not written to the own log yet
			var err error
			if at, err = d.Position(m.o.Own.Next() - 1); err != nil {
				return nil
			}
		}
	}
	if at == *was {
		return nil
	}
	n, err := m.o.Own.Commit(ctx)
	if err != nil || at.Index > n {
		return err
	}
	if err := (place{at: at}).write(m.o.Data); err != nil {
		return err
	}
	*was = at
	return nil
}

// Keep writes the place of the node to its file from time to time until ctx is done.
func (m *Member) Keep(ctx context.Context) {
	var was sharedlog.Position
	for tick := time.NewTicker(keepEvery); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		if err := m.persist(ctx, &was); err != nil && ctx.Err() == nil {
			m.o.Log.Warn("could not write the node's place in its group; will retry", event.CleanupFailed, "error", err)
		}
	}
}

const keepEvery = 5 * time.Second
