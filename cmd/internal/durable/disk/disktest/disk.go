// Package disktest contains a directory in memory whose disk fails, fills and loses power as a test
// demands, and damages files.
package disktest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
)

var (
	// ErrKilled is the error of a hook that ends the process before an operation.
	ErrKilled = errors.New("the process is killed")

	errEnded = errors.New("the process that had the file open has ended")
	errRead  = errors.New("the file is open for reading only")
)

// Op is an operation of a disk.
type Op string

// Operations of files and directories. The name that a hook receives is empty for List, SyncDir and
// Free, and the new name for Rename.
const (
	Open     Op = "open"
	Read     Op = "read"
	List     Op = "list"
	Write    Op = "write"
	Truncate Op = "truncate"
	Allocate Op = "allocate"
	Sync     Op = "sync"
	SyncDir  Op = "sync directory"
	Create   Op = "create"
	Rename   Op = "rename"
	Remove   Op = "remove"
	Free     Op = "free"
)

// ReadOnly reports whether an operation changes nothing.
func (op Op) ReadOnly() bool { return op == Open || op == Read || op == List || op == Free }

// Half is the error of a hook that lets a write fail after its first half.
type Half struct{ Err error }

func (h Half) Error() string { return h.Err.Error() }

// Disk is a directory in memory, over the ends of the processes that use it. Its methods may be
// called concurrently.
type Disk struct {
	*volume
	life   int // of the process that uses it
	locked bool
	names  map[string]*inode
	stable map[string]*inode // names as the last sync of the directory made them durable
	moves  []move            // since then
	before func(op Op, name string) error
}

// volume is a file system, on which one or more directories are.
type volume struct {
	mu    sync.Mutex // guards the directories, too
	disks []*Disk
	space int64 // bytes that files may have; negative: unlimited
}

// NewDisk returns an empty disk.
func NewDisk() *Disk {
	d := &Disk{names: map[string]*inode{}, stable: map[string]*inode{}}
	d.volume = &volume{disks: []*Disk{d}, space: -1}
	return d
}

// Join makes d a directory of the file system of another disk. Then both share its room, and Limit and Used
// are those of the file system. It is called before d is used.
func (d *Disk) Join(other *Disk) {
	d.volume = other.volume
	d.mu.Lock()
	defer d.mu.Unlock()
	d.disks = append(d.disks, d)
}

// Dir returns the directory for a new process. The process that used it before ends.
func (d *Disk) Dir() disk.Dir {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.life++
	d.locked = false
	return &dir{d, d.life}
}

// Before sets a function that is called before each operation; its error is the result of the
// operation. nil removes it.
func (d *Disk) Before(hook func(op Op, name string) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.before = hook
}

// Limit limits the number of bytes that all files together may have. Negative: no limit.
func (d *Disk) Limit(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.space = bytes
}

// Used returns the number of bytes that all files together have.
func (d *Disk) Used() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.used()
}

func (v *volume) used() (sum int64) {
	for _, d := range v.disks {
		for _, f := range d.names {
			sum += int64(len(f.data))
		}
	}
	return sum
}

// room returns how many of n further bytes files may have, and an error if it is not all of them.
// Called with mu held.
func (v *volume) room(n int) (int, error) {
	if n <= 0 {
		return n, nil
	}
	if left := v.free(); int64(n) > left {
		return int(left), fmt.Errorf("write: %w", syscall.ENOSPC)
	}
	return n, nil
}

// free returns the number of bytes that files may still take. Called with mu held.
func (v *volume) free() int64 {
	if v.space < 0 {
		return math.MaxInt64
	}
	return max(0, v.space-v.used())
}

// Kill ends the process that uses the disk. All that it wrote is there.
func (d *Disk) Kill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.life++
}

// PowerCut ends the process. Of what was not synced, an arbitrary part remains: any state that each
// sector had since the last sync, any size, and some of the changes of the directory.
func (d *Disk) PowerCut(random *rand.Rand) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.life++
	luck := random.Float64() // how much of it remains
	for _, m := range d.moves {
		if random.Float64() < luck {
			m.apply(d.stable)
		}
	}
	d.moves = nil
	d.names = maps.Clone(d.stable)
	for _, name := range slices.Sorted(maps.Keys(d.names)) {
		d.names[name].cut(random, luck)
	}
}

// Clone returns a disk with the same files, all of which are durable, without hooks and limits.
func (d *Disk) Clone() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := NewDisk()
	for name, f := range d.names {
		c.set(name, bytes.Clone(f.data))
		c.names[name].spoilt = f.spoilt
	}
	return c
}

// Names returns the names of all files, sorted.
func (d *Disk) Names() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.names))
}

// File returns a copy of the contents of a file.
func (d *Disk) File(name string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return bytes.Clone(d.names[name].data)
}

// SetFile replaces a file.
func (d *Disk) SetFile(name string, data []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.set(name, bytes.Clone(data))
}

func (d *Disk) set(name string, data []byte) {
	f := &inode{data: data}
	f.settle()
	d.names[name], d.stable[name] = f, f
}

// Change replaces the contents of a file in place: processes that have it open see the change.
func (d *Disk) Change(name string, change func([]byte) []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.names[name]
	f.data = change(bytes.Clone(f.data))
	f.settle()
}

// Flip inverts a bit of a file: bit modulo the number of its bits.
func (d *Disk) Flip(name string, bit int) {
	d.Change(name, func(b []byte) []byte {
		b[bit/8%len(b)] ^= 1 << (bit % 8)
		return b
	})
}

// Spoil makes reads of bytes of a file fail with EIO: those from an offset to before another one.
func (d *Disk) Spoil(name string, from, to int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.names[name].spoilt = [2]int{from, to}
}

// Lose removes files.
func (d *Disk) Lose(names ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range names {
		delete(d.names, name)
		delete(d.stable, name)
	}
}
