package snapfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"syscall"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
)

// MaxPiece is the maximum size of a piece in bytes, MaxManifest that of a manifest.
const (
	MaxPiece    = 1 << 20
	MaxManifest = 1 << 20
)

// maxUnsynced is the number of pieces that are written before they are synced together. One commit
// of the file system then serves many pieces.
const maxUnsynced = 32

var (
	// ErrNotFound is wrapped if a piece does not exist.
	ErrNotFound = errors.New("piece not found")
	// ErrUnreadable is that of package disk.
	ErrUnreadable = disk.ErrUnreadable
	// ErrDamaged is wrapped if no copy of a manifest is whole.
	ErrDamaged = errors.New("manifest damaged")
	// ErrReadOnly is wrapped by all methods that write if the directory was opened for reading.
	ErrReadOnly = errors.New("snapshot directory is read-only")
)

// Options say how a directory is opened.
type Options struct {
	ReadOnly bool
	// Disk limits the size of all files. Writes that need more return an error wrapping budget.ErrDisk.
	// nil means no limit.
	Disk *budget.Budget
}

// Dir is a directory of snapshots. Put, Discard, Publish and Sweep are called by one goroutine at a
// time. All other methods may be called concurrently with them and with each other.
type Dir struct {
	files   disk.Dir
	options Options

	next     uint64      // number of the next piece
	fresh    []uint64    // pieces that were put since the last Publish
	unsynced []disk.File // the last of them
	stray    bool        // temporary files may exist

	reserving sync.Mutex    // held during Reserve and Release
	reserved  int64         // size of the file of Reserve
	spare     *budget.Files // what it takes of Options.Disk

	disk *budget.Files // what all other files take of Options.Disk

	mu        sync.Mutex
	pieces    map[uint64]int64     // sizes
	manifests map[generation]int64 // sizes of all copies
	bytes     int64                // size of all files
}

// Open lists a directory. Its cost is proportional to the number of files. A directory that does not exist
// is empty for reading.
func Open(files disk.Dir, o Options) (*Dir, error) {
	list, err := files.List()
	if err != nil && !(o.ReadOnly && errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	d := &Dir{
		files: files, options: o, next: 1, pieces: make(map[uint64]int64), manifests: make(map[generation]int64),
		spare: o.Disk.Files(), disk: o.Disk.Files(),
	}
	for _, f := range list {
		if !f.Regular {
			continue
		} else if number, ok := parsePiece(f.Name); ok {
			d.pieces[number] = f.Size
			d.next = max(d.next, number+1)
		} else if g, _, ok := parseManifest(f.Name); ok {
			d.manifests[g] += f.Size
		} else if isTemporary(f.Name) {
			d.stray = true
			continue
		} else if f.Name == reserveName {
			d.reserved = f.Size
			continue
		} else {
			continue // not ours
		}
		d.bytes += f.Size
	}
	d.spare.Set(d.reserved)
	d.disk.Set(d.bytes)
	return d, nil
}

// OpenDir opens the directory at path, which is made if it does not exist and o allows it.
func OpenDir(path string, o Options) (*Dir, error) {
	files := disk.OS(path)
	if !o.ReadOnly {
		var err error
		if files, err = disk.Make(path); err != nil {
			return nil, err
		}
	}
	return Open(files, o)
}

// ReadOnly reports whether the directory was opened for reading.
func (d *Dir) ReadOnly() bool { return d.options.ReadOnly }

// Put writes a piece of 1 to MaxPiece bytes and returns its number. It becomes durable with the next
// Publish. If Put returns an error, the caller must call Discard.
func (d *Dir) Put(data []byte) (uint64, error) {
	switch {
	case d.options.ReadOnly:
		return 0, ErrReadOnly
	case len(data) == 0 || len(data) > MaxPiece:
		return 0, fmt.Errorf("a piece of %d bytes, want 1 to %d", len(data), MaxPiece)
	}
	if err := d.disk.Grow(int64(len(data))); err != nil {
		return 0, err
	}
	defer d.count()
	number := d.next
	d.next++
	f, err := d.files.Create(pieceName(number))
	if err != nil {
		return 0, err
	}
	d.fresh = append(d.fresh, number)
	d.unsynced = append(d.unsynced, f)
	d.added(number, int64(len(data)))
	_, err = f.WriteAt(data, 0)
	if err == nil && len(d.unsynced) >= maxUnsynced {
		err = d.sync()
	}
	if err != nil {
		return 0, err
	}
	return number, nil
}

// sync syncs and closes the pieces that are not synced yet. No file is synced again after an error,
// because the second attempt may succeed without the data.
func (d *Dir) sync() error {
	var err error
	for _, f := range d.unsynced {
		err = errors.Join(err, f.Sync(), f.Close())
	}
	clear(d.unsynced)
	d.unsynced = d.unsynced[:0]
	return err
}

// Discard removes the pieces that were put since the last Publish. Those that it cannot remove are
// left to Sweep.
func (d *Dir) Discard() error {
	var errs []error
	for _, f := range d.unsynced {
		f.Close()
	}
	clear(d.unsynced)
	d.unsynced = d.unsynced[:0]
	for _, number := range d.fresh {
		errs = append(errs, d.remove(number))
	}
	d.fresh = nil
	d.count()
	return errors.Join(errs...)
}

// Piece returns the contents of a piece. The error wraps ErrNotFound if it does not exist. After any other
// error it may exist; the error wraps ErrUnreadable if the disk cannot read it.
func (d *Dir) Piece(number uint64) (b []byte, err error) {
	f, err := d.open(number)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if b, err = readAll(f, MaxPiece); err != nil {
		return nil, readError(pieceName(number), err)
	}
	return b, nil
}

// ReadAt reads a part of a piece into b. It returns fewer bytes if the piece ends before. Errors are
// those of Piece.
func (d *Dir) ReadAt(number uint64, b []byte, offset int64) (int, error) {
	f, err := d.open(number)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n, err := f.ReadAt(b, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, readError(pieceName(number), err)
	}
	return n, nil
}

// readError returns the error of reading a file. It wraps ErrUnreadable if the disk is the cause, and not
// rights or the limits of the process, for example.
func readError(name string, err error) error {
	if errors.Is(err, syscall.EIO) {
		err = fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// Prefetch makes the system read a piece in the background, if it can.
func (d *Dir) Prefetch(number uint64) {
	if f, err := d.open(number); err == nil {
		f.Prefetch()
		f.Close()
	}
}

func (d *Dir) open(number uint64) (disk.File, error) {
	f, err := d.files.Open(pieceName(number))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, pieceName(number))
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// readAll returns the contents of a file, or its first limit bytes.
func readAll(f disk.File, limit int64) ([]byte, error) {
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(size, limit))
	if n, err := f.ReadAt(b, 0); n < len(b) {
		return nil, err
	}
	return b, nil
}

// Pieces returns the numbers of all pieces, in order.
func (d *Dir) Pieces() []uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.pieces))
}

// Size returns the size of a piece in bytes, 0 if it does not exist.
func (d *Dir) Size(number uint64) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pieces[number]
}

// Bytes returns the size of all files.
func (d *Dir) Bytes() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return uint64(d.bytes)
}

// count corrects what the files take of Options.Disk. It is called by the goroutine that writes files.
func (d *Dir) count() { d.disk.Set(int64(d.Bytes())) }

func (d *Dir) added(number uint64, size int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pieces[number] = size
	d.bytes += size
}

// remove removes a piece.
func (d *Dir) remove(number uint64) error {
	if err := d.files.Remove(pieceName(number)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bytes -= d.pieces[number]
	delete(d.pieces, number)
	return nil
}
