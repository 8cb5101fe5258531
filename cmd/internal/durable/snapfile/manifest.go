package snapfile

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/zeebo/xxh3"
)

// Manifest is what a directory contains of one manifest.
type Manifest struct {
	Number   uint64 // greater than those of all manifests before
	Position uint64 // as it was passed to Publish
	Data     []byte // nil if no copy is whole
	Whole    int    // number of copies that are whole, 0 to 2
	// Interrupted is true if a copy is missing because the process ended while it wrote or removed the
	// manifest. A temporary file proves that, and Complete makes it the missing copy.
	Interrupted bool
	Err         error // why a copy is not whole; if none is, wraps ErrDamaged, or ErrUnreadable if the disk cannot read one
}

// Copies is the number of copies of a whole manifest.
const Copies = len(copies)

const sumBytes = 16

// Publish makes the pieces durable that were put before, and then a manifest of up to MaxManifest
// bytes. number must be greater than LastNumber. After an error the manifest may be durable
// nevertheless: then its pieces stay until Sweep, and another attempt needs another number. Otherwise the
// pieces are removed.
func (d *Dir) Publish(number, position uint64, data []byte) error {
	switch last := d.LastNumber(); {
	case d.options.ReadOnly:
		return ErrReadOnly
	case len(data) > MaxManifest-sumBytes:
		return fmt.Errorf("a manifest of %d bytes, want at most %d", len(data), MaxManifest-sumBytes)
	case number <= last:
		return fmt.Errorf("manifest %d after %d", number, last)
	}
	g := generation{number, position}
	if err := d.prepare(g, data); err != nil {
		return fmt.Errorf("manifest %d: %w", number, errors.Join(err, d.removeTemporary(), d.Discard()))
	}
	defer d.count()
	d.fresh = nil
	if err := d.publish(g, len(data)+sumBytes); err != nil {
		return fmt.Errorf("manifest %d: %w", number, err)
	}
	return nil
}

// prepare makes the pieces durable, and writes the copies of a manifest to temporary files.
func (d *Dir) prepare(g generation, data []byte) error {
	if err := d.sync(); err != nil {
		return err
	}
	if err := d.disk.Grow(int64(len(copies) * (len(data) + sumBytes))); err != nil {
		return err
	}
	if err := d.files.Sync(); err != nil { // the names of the pieces
		return err
	}
	whole := append(slices.Clone(data), g.sum(data)...)
	d.stray = true
	for _, copy := range copies {
		if err := d.write(temporary(copy), whole); err != nil {
			return err
		}
	}
	return nil
}

// publish gives the temporary files of a manifest, which have a size, their names.
func (d *Dir) publish(g generation, size int) error {
	for _, copy := range copies {
		d.addManifest(g, int64(size)) // even if an error follows, it may exist
		if err := d.files.Rename(temporary(copy), g.name(copy)); err != nil {
			return err
		}
	}
	d.stray = false
	return d.files.Sync()
}

// write writes and syncs a file.
func (d *Dir) write(name string, data []byte) error {
	f, err := d.files.Create(name)
	if err != nil {
		return err
	}
	if _, err = f.WriteAt(data, 0); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// readFile returns the contents of a manifest.
func (d *Dir) readFile(name string) ([]byte, error) {
	f, err := d.files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, MaxManifest)
}

func (d *Dir) addManifest(g generation, size int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.manifests[g] += size
	d.bytes += size
}

// sum returns the sum at the end of the file of a manifest.
func (g generation) sum(data []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, g.number)
	b = binary.LittleEndian.AppendUint64(b, g.position)
	sum := xxh3.Hash128(append(b, data...)).Bytes()
	return sum[:]
}

// LastNumber returns the greatest number of a manifest that exists, damaged or not, and 0 if there
// is none.
func (d *Dir) LastNumber() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := uint64(0)
	for g := range d.manifests {
		last = max(last, g.number)
	}
	return last
}

// Manifests reads all manifests, the newest first. It returns an error if a copy cannot be read for other
// reasons than ErrUnreadable, and no other copy is whole.
func (d *Dir) Manifests() ([]Manifest, error) {
	d.mu.Lock()
	generations := slices.SortedFunc(maps.Keys(d.manifests), func(a, b generation) int {
		return cmp.Or(cmp.Compare(b.number, a.number), cmp.Compare(b.position, a.position))
	})
	d.mu.Unlock()
	var list []Manifest
	for _, g := range generations {
		m, err := d.read(g)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// read reads the copies of a manifest.
func (d *Dir) read(g generation) (Manifest, error) {
	m := Manifest{Number: g.number, Position: g.position}
	var unread error
	altered := false
	for _, copy := range copies {
		b, err := d.readFile(g.name(copy))
		n := len(b) - sumBytes
		switch {
		case errors.Is(err, fs.ErrNotExist):
			m.Err = errors.Join(m.Err, fmt.Errorf("%s is missing", g.name(copy)))
		case err != nil:
			unread = errors.Join(unread, readError(g.name(copy), err))
		case n < 0 || string(g.sum(b[:n])) != string(b[n:]):
			altered = true
			m.Err = errors.Join(m.Err, fmt.Errorf("%s is altered", g.name(copy)))
		default:
			m.Data, m.Whole = b[:n:n], m.Whole+1
		}
	}
	switch {
	case m.Whole > 0:
		if m.Interrupted = m.Whole < len(copies) && !altered && unread == nil && d.temporaryOf(g) != ""; m.Interrupted {
			m.Err = nil
			return m, nil
		}
		m.Err = errors.Join(m.Err, unread)
		return m, nil
	case errors.Is(unread, ErrUnreadable):
		m.Err = errors.Join(m.Err, unread)
		return m, nil
	case unread != nil:
		return m, unread
	}
	m.Err = fmt.Errorf("%w: %w", ErrDamaged, m.Err)
	return m, nil
}
