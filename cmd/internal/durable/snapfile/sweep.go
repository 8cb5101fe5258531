package snapfile

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
)

// Sweep removes all manifests except those with the given numbers, and all pieces for which needed
// returns false. It also removes what a crash left. It continues after an error; what remains is
// removed by the next call.
func (d *Dir) Sweep(manifests []uint64, needed func(piece uint64) bool) error {
	if d.options.ReadOnly {
		return ErrReadOnly
	}
	defer d.count()
	if err := d.sweepManifests(manifests); err != nil {
		return err
	}
	var errs []error
	for _, number := range d.Pieces() {
		if !needed(number) {
			errs = append(errs, d.remove(number))
		}
	}
	return errors.Join(errs...)
}

// removeManifest removes a manifest. Until its last copy is removed, the first one is a temporary file: see
// Manifest.Interrupted.
func (d *Dir) removeManifest(g generation) error {
	if err := d.files.Rename(g.name(copies[0]), temporary(copies[0])); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, copy := range copies[1:] {
		if err := d.removeFile(g.name(copy)); err != nil {
			return err
		}
	}
	return nil
}

// sweepManifests removes temporary files and manifests, and makes that durable: their pieces are
// removed afterwards.
func (d *Dir) sweepManifests(keep []uint64) error {
	d.mu.Lock()
	gone := slices.DeleteFunc(slices.Collect(maps.Keys(d.manifests)), func(g generation) bool { return slices.Contains(keep, g.number) })
	d.mu.Unlock()
	if len(gone) == 0 && !d.stray {
		return nil
	}
	d.stray = true
	for _, g := range gone {
		if err := d.removeManifest(g); err != nil {
			return err
		}
	}
	if err := d.removeTemporary(); err != nil {
		return err
	}
	if err := d.files.Sync(); err != nil {
		return err
	}
	d.stray = false
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, g := range gone {
		d.bytes -= d.manifests[g]
		delete(d.manifests, g)
	}
	return nil
}

// removeFile removes a file if it exists.
func (d *Dir) removeFile(name string) error {
	if err := d.files.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
