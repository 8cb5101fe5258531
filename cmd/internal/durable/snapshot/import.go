package snapshot

import (
	"context"

	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/durable/statecode"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// Import writes a snapshot of filters that are not in an engine, in an empty directory. Until Publish, a
// start refuses the directory.
type Import struct {
	files          *snapfile.Dir
	packer         *packer
	filters, bytes uint64
}

// The numbers of the manifests of an import.
const (
	unfinishedImport = 1
	finishedImport   = 2
)

// NewImport begins an import.
func NewImport(files *snapfile.Dir) (*Import, error) {
	if err := files.Publish(unfinishedImport, 0, Manifest{Unfinished: true}.Append(nil)); err != nil {
		return nil, err
	}
	return &Import{files: files, packer: newPacker(files)}, nil
}

// Filter adds a filter. segment returns its segments, in their order.
func (i *Import) Filter(ctx context.Context, m engine.Meta, segments int, segment func(n int) ([]byte, error)) error {
	made := make([]*Reference, segments)
	for n := range made {
		b, err := segment(n)
		if err != nil {
			return err
		}
		room, err := i.packer.room(ctx)
		if err != nil {
			return err
		}
		made[n] = i.packer.add(copy(room, b), nil)
	}
	i.filters++
	i.bytes += statecode.Size(&m.State)
	return i.packer.filter(ctx, m, made)
}

// Publish completes the import. s describes the snapshot, and gets its number and catalog; it may be
// nil if there are no filters.
func (i *Import) Publish(ctx context.Context, s *Snapshot) error {
	if err := i.packer.flush(ctx); err != nil {
		return err
	}
	catalog, err := i.packer.finish(ctx)
	if err != nil {
		return err
	}
	position := engine.Position(0)
	if s != nil {
		s.Number, s.Filters, s.Bytes, s.Catalog = finishedImport, i.filters, i.bytes, catalog
		position = s.Position
	}
	if err := i.files.Publish(finishedImport, uint64(position), Manifest{Snapshot: s}.Append(nil)); err != nil {
		return err
	}
	return i.files.Sweep([]uint64{finishedImport}, func(uint64) bool { return true })
}
