// Package waltest contains a directory in memory whose disk fails, fills and loses power as a test
// demands, and damages files.
package waltest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"

	"github.com/umbel-filters/umbel/cmd/internal/wal"
)

// sector is the unit in which data reaches the disk.
const sector = 512

var errClosed = errors.New("waltest: the process that had the file open has ended")

// Op is an operation of a disk.
type Op string

// Operations of files and directories.
const (
	Read     Op = "read"
	Write    Op = "write"
	Truncate Op = "truncate"
	Allocate Op = "allocate"
	Sync     Op = "sync"
	SyncDir  Op = "sync directory"
	Create   Op = "create"
	Rename   Op = "rename"
	Remove   Op = "remove"
)

// Disk is a directory in memory, over the ends of the processes that use it. Its methods may be
// called concurrently.
type Disk struct {
	mu     sync.Mutex
	life   int // of the process that uses it
	locked bool
	names  map[string]*inode
	stable map[string]*inode // names as the last sync of the directory made them durable
	moves  []move            // since then
	before func(op Op, name string) error
	space  int64 // bytes that files may have; negative: unlimited
}

// inode is a file.
type inode struct {
	data   []byte
	safe   []byte             // as it was synced
	states map[int64][][]byte // what a sector contained since then, in order
	sizes  []int              // sizes since then
}

// move is a change of the directory.
type move struct {
	from, to string // a rename; to alone: a creation, from alone: a removal
	file     *inode
}

// NewDisk returns an empty disk.
func NewDisk() *Disk {
	return &Disk{names: map[string]*inode{}, stable: map[string]*inode{}, space: -1}
}

// Dir returns the directory for a new process. The process that used it before ends.
func (d *Disk) Dir() wal.Dir {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.life++
	d.locked = false
	return &dir{d, d.life}
}

// Open opens the log in the directory, as a new process.
func (d *Disk) Open(o wal.Options) (*wal.Log, error) { return wal.OpenDir(d.Dir(), o) }

// Before sets a function that is called before each operation; its error is the result of the
// operation. nil removes it.
func (d *Disk) Before(hook func(op Op, name string) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.before = hook
}

// Space sets the number of bytes that all files together may have. Negative: no limit.
func (d *Disk) Space(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.space = bytes
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
			apply(d.stable, m)
		}
	}
	d.moves = nil
	d.names = maps.Clone(d.stable)
	for _, f := range d.names {
		f.cut(random, luck)
	}
}

func (f *inode) cut(random *rand.Rand, luck float64) {
	data := bytes.Clone(f.safe)
	if len(f.sizes) > 0 && random.Float64() < luck {
		data = resize(data, f.sizes[random.IntN(len(f.sizes))])
	}
	for _, at := range slices.Sorted(maps.Keys(f.states)) {
		if random.Float64() < luck && at < int64(len(data)) {
			states := f.states[at]
			copy(data[at:], states[random.IntN(len(states))])
		}
	}
	f.data = data
	f.settle()
}

// settle makes the data of a file durable.
func (f *inode) settle() {
	f.safe = bytes.Clone(f.data)
	f.states, f.sizes = nil, nil
}

func resize(b []byte, n int) []byte {
	if n <= len(b) {
		return b[:n:n]
	}
	return append(b, make([]byte, n-len(b))...)
}

// apply does a change of the directory, if the files that it needs are there.
func apply(names map[string]*inode, m move) {
	switch {
	case m.from == "":
		names[m.to] = m.file
	case m.to == "":
		delete(names, m.from)
	case names[m.from] == m.file:
		delete(names, m.from)
		names[m.to] = m.file
	}
}

// Clone returns a disk with the same files, without hooks and limits.
func (d *Disk) Clone() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := NewDisk()
	for name, f := range d.names {
		g := &inode{data: bytes.Clone(f.data)}
		g.settle()
		c.names[name], c.stable[name] = g, g
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

// SetFile replaces a file. nil removes it.
func (d *Disk) SetFile(name string, data []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if data == nil {
		delete(d.names, name)
		delete(d.stable, name)
		return
	}
	f := &inode{data: bytes.Clone(data)}
	f.settle()
	d.names[name], d.stable[name] = f, f
}

// Overwrite replaces the contents of a file in place: processes that have it open see the change.
func (d *Disk) Overwrite(name string, data []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.names[name]
	f.data = bytes.Clone(data)
	f.settle()
}

// dir is the disk as one process uses it.
type dir struct {
	disk *Disk
	life int
}

// begin calls the hook and locks the disk.
func (d *dir) begin(op Op, name string) error {
	d.disk.mu.Lock()
	hook := d.disk.before
	d.disk.mu.Unlock()
	if hook != nil {
		if err := hook(op, name); err != nil {
			return err
		}
	}
	return d.enter()
}

// enter locks the disk, unless the process has ended.
func (d *dir) enter() error {
	d.disk.mu.Lock()
	if d.life != d.disk.life {
		d.disk.mu.Unlock()
		return errClosed
	}
	return nil
}

func (d *dir) open(name string, write bool) (wal.File, error) {
	if err := d.begin(Read, name); err != nil {
		return nil, err
	}
	defer d.disk.mu.Unlock()
	f := d.disk.names[name]
	if f == nil {
		return nil, fmt.Errorf("open %s: %w", name, fs.ErrNotExist)
	}
	return &file{d, f, name, write}, nil
}

func (d *dir) Open(name string) (wal.File, error) { return d.open(name, false) }
func (d *dir) Edit(name string) (wal.File, error) { return d.open(name, true) }

func (d *dir) Create(name string) (wal.File, error) {
	if err := d.begin(Create, name); err != nil {
		return nil, err
	}
	defer d.disk.mu.Unlock()
	f := &inode{}
	d.disk.change(move{to: name, file: f})
	return &file{d, f, name, true}, nil
}

// change does a change of the directory, which is not durable yet.
func (d *Disk) change(m move) {
	apply(d.names, m)
	d.moves = append(d.moves, m)
}

func (d *dir) Rename(from, to string) error {
	if err := d.begin(Rename, from); err != nil {
		return err
	}
	defer d.disk.mu.Unlock()
	f := d.disk.names[from]
	if f == nil {
		return fmt.Errorf("rename %s: %w", from, fs.ErrNotExist)
	}
	d.disk.change(move{from, to, f})
	return nil
}

func (d *dir) Remove(name string) error {
	if err := d.begin(Remove, name); err != nil {
		return err
	}
	defer d.disk.mu.Unlock()
	if d.disk.names[name] == nil {
		return fmt.Errorf("remove %s: %w", name, fs.ErrNotExist)
	}
	d.disk.change(move{from: name})
	return nil
}

func (d *dir) List() ([]string, error) {
	if err := d.begin(Read, "."); err != nil {
		return nil, err
	}
	defer d.disk.mu.Unlock()
	return slices.Sorted(maps.Keys(d.disk.names)), nil
}

func (d *dir) Sync() error {
	if err := d.begin(SyncDir, "."); err != nil {
		return err
	}
	defer d.disk.mu.Unlock()
	d.disk.stable = maps.Clone(d.disk.names)
	d.disk.moves = nil
	return nil
}

func (d *dir) Lock(bool) (io.Closer, error) {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	if d.disk.locked {
		return nil, wal.ErrLocked
	}
	d.disk.locked = true
	return unlock{d}, nil
}

type unlock struct{ *dir }

func (u unlock) Close() error {
	u.disk.mu.Lock()
	defer u.disk.mu.Unlock()
	if u.life == u.disk.life {
		u.disk.locked = false
	}
	return nil
}

// room returns an error if files cannot grow by n bytes. Called with mu held.
func (d *Disk) room(n int) error {
	if d.space < 0 || n <= 0 {
		return nil
	}
	used := int64(0)
	for _, f := range d.names {
		used += int64(len(f.data))
	}
	if used+int64(n) > d.space {
		return fmt.Errorf("write: %w", syscall.ENOSPC)
	}
	return nil
}
