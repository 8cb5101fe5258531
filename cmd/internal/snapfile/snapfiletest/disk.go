// Package snapfiletest has a directory in memory for tests of snapshots: it fails, fills, loses power
// and is damaged as a test requires.
package snapfiletest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"

	"github.com/umbel-filters/umbel/cmd/internal/snapfile"
)

// Op is a call of a directory.
type Op string

// The calls of a directory. The name that a hook receives is empty for List and SyncDir, and the new
// name for Rename.
const (
	Create  Op = "create"
	Write   Op = "write"
	Sync    Op = "sync"
	Read    Op = "read"
	Rename  Op = "rename"
	Remove  Op = "remove"
	List    Op = "list"
	Alloc   Op = "allocate"
	SyncDir Op = "syncdir"
)

var errKilled = errors.New("snapfiletest: the process was killed")

// Disk is a directory that outlives processes. Contents are durable after Sync, names after SyncDir.
// Its methods may be called concurrently.
type Disk struct {
	mu      sync.Mutex
	life    int // of the process that has it open
	names   map[string]*inode
	durable map[string]*inode // names as of the last SyncDir
	before  func(op Op, name string) error
	room    int64 // bytes that the files may have; 0: no limit
}

type inode struct {
	data   []byte
	synced []byte
}

// NewDisk returns an empty disk.
func NewDisk() *Disk {
	return &Disk{names: map[string]*inode{}, durable: map[string]*inode{}}
}

// FS returns the directory for a new process. A process that had it before is killed.
func (d *Disk) FS() snapfile.FS {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.life++
	return &process{disk: d, life: d.life}
}

// Open opens the directory of a new process.
func (d *Disk) Open() (*snapfile.Dir, error) { return snapfile.Open(d.FS(), snapfile.Options{}) }

// Before calls hook before every call. The call fails with its error. nil removes the hook.
func (d *Disk) Before(hook func(op Op, name string) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.before = hook
}

// Limit limits the size of all files; 0 removes the limit. Further writes fail with ENOSPC.
func (d *Disk) Limit(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = bytes
}

// Kill ends the process that has the directory open. All that it wrote remains.
func (d *Disk) Kill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.life++
}

// PowerCut ends the process. Of the names that were not synced, each change is kept or lost by chance;
// of contents that were not synced, a random part of random quality remains. The generator is seeded
// by seed.
func (d *Disk) PowerCut(seed uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.life++
	rng := rand.New(rand.NewPCG(seed, 0))
	all := maps.Clone(d.names)
	maps.Copy(all, d.durable)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if old := d.durable[name]; old != d.names[name] && rng.IntN(2) == 0 {
			if d.names[name] = old; old == nil {
				delete(d.names, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.names)) {
		d.names[name].tear(rng)
	}
	d.durable = maps.Clone(d.names)
}

// tear loses a part of what was not synced.
func (n *inode) tear(rng *rand.Rand) {
	if bytes.Equal(n.data, n.synced) {
		return
	}
	if len(n.synced) > 0 || rng.IntN(3) == 0 {
		n.data = n.synced
	} else {
		n.data = bytes.Clone(n.data[:rng.IntN(len(n.data)+1)])
		if len(n.data) > 0 && rng.IntN(2) == 0 {
			clear(n.data[rng.IntN(len(n.data)):]) // allocated, but not written
		}
	}
	n.synced = n.data
}

// Clone returns another disk with the same files, without hook and limit.
func (d *Disk) Clone() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := NewDisk()
	same := map[*inode]*inode{}
	copied := func(from map[string]*inode) map[string]*inode {
		to := map[string]*inode{}
		for name, n := range from {
			if same[n] == nil {
				same[n] = &inode{bytes.Clone(n.data), bytes.Clone(n.synced)}
			}
			to[name] = same[n]
		}
		return to
	}
	c.names, c.durable = copied(d.names), copied(d.durable)
	return c
}

// Names returns the names of all files, in order.
func (d *Disk) Names() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.names))
}

// Used returns the size of all files.
func (d *Disk) Used() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.size()
}

// Size returns the size of a file.
func (d *Disk) Size(name string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.names[name].data)
}

// Lose removes files.
func (d *Disk) Lose(names ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range names {
		delete(d.names, name)
		delete(d.durable, name)
	}
}

// Change replaces the contents of a file by what change returns.
func (d *Disk) Change(name string, change func([]byte) []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.names[name]
	n.data = change(bytes.Clone(n.data))
	n.synced = n.data
}

// Flip inverts a bit of a file: bit modulo the number of its bits.
func (d *Disk) Flip(name string, bit int) {
	d.Change(name, func(b []byte) []byte {
		b[bit/8%len(b)] ^= 1 << (bit % 8)
		return b
	})
}

// Truncate cuts a file to size bytes.
func (d *Disk) Truncate(name string, size int) {
	d.Change(name, func(b []byte) []byte { return b[:size] })
}

// process is a disk as one process sees it.
type process struct {
	disk *Disk
	life int
}

// enter calls the hook and returns with the disk locked, or an error with the disk unlocked.
func (p *process) enter(op Op, name string) error {
	d := p.disk
	d.mu.Lock()
	before := d.before
	d.mu.Unlock()
	if before != nil {
		if err := before(op, name); err != nil {
			return fmt.Errorf("%s %s: %w", op, name, err)
		}
	}
	d.mu.Lock()
	if p.life != d.life {
		d.mu.Unlock()
		return errKilled
	}
	return nil
}

// size returns the size of all files.
func (d *Disk) size() (sum int64) {
	for _, n := range d.names {
		sum += int64(len(n.data))
	}
	return sum
}

func (p *process) Create(name string) (snapfile.File, error) {
	if err := p.enter(Create, name); err != nil {
		return nil, err
	}
	defer p.disk.mu.Unlock()
	n := &inode{}
	p.disk.names[name] = n
	return &file{p, n, name}, nil
}

func (p *process) Read(name string, limit int) ([]byte, error) {
	if err := p.enter(Read, name); err != nil {
		return nil, err
	}
	defer p.disk.mu.Unlock()
	n := p.disk.names[name]
	if n == nil {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return bytes.Clone(n.data[:min(limit, len(n.data))]), nil
}

func (p *process) ReadAt(name string, b []byte, offset int64) (int, error) {
	if err := p.enter(Read, name); err != nil {
		return 0, err
	}
	defer p.disk.mu.Unlock()
	n := p.disk.names[name]
	if n == nil {
		return 0, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return copy(b, n.data[min(int(offset), len(n.data)):]), nil
}

func (p *process) Prefetch(string) {}

func (p *process) Rename(from, to string) error {
	if err := p.enter(Rename, to); err != nil {
		return err
	}
	defer p.disk.mu.Unlock()
	n := p.disk.names[from]
	if n == nil {
		return fmt.Errorf("%s: %w", from, fs.ErrNotExist)
	}
	p.disk.names[to] = n
	delete(p.disk.names, from)
	return nil
}

func (p *process) Remove(name string) error {
	if err := p.enter(Remove, name); err != nil {
		return err
	}
	defer p.disk.mu.Unlock()
	if p.disk.names[name] == nil {
		return fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	delete(p.disk.names, name)
	return nil
}

func (p *process) List() (list []snapfile.Info, err error) {
	if err := p.enter(List, ""); err != nil {
		return nil, err
	}
	defer p.disk.mu.Unlock()
	for name, n := range p.disk.names {
		list = append(list, snapfile.Info{Name: name, Size: int64(len(n.data))})
	}
	return list, nil
}

func (p *process) Allocate(name string, size int64) error {
	if err := p.enter(Alloc, name); err != nil {
		return err
	}
	defer p.disk.mu.Unlock()
	n := &inode{}
	p.disk.names[name] = n
	if room := p.disk.room; room > 0 && p.disk.size()+size > room {
		return fmt.Errorf("allocate %s: %w", name, syscall.ENOSPC)
	}
	n.data = make([]byte, size)
	n.synced = n.data
	return nil
}

func (p *process) SyncDir() error {
	if err := p.enter(SyncDir, ""); err != nil {
		return err
	}
	defer p.disk.mu.Unlock()
	p.disk.durable = maps.Clone(p.disk.names)
	return nil
}

// file is a file of a process.
type file struct {
	*process
	inode *inode
	name  string
}

func (f *file) Write(b []byte) (int, error) {
	if err := f.enter(Write, f.name); err != nil {
		return 0, err
	}
	defer f.disk.mu.Unlock()
	n := len(b)
	if room := f.disk.room; room > 0 {
		n = max(0, min(n, int(room-f.disk.size())))
	}
	f.inode.data = append(f.inode.data, b[:n]...)
	if n < len(b) {
		return n, fmt.Errorf("write %s: %w", f.name, syscall.ENOSPC)
	}
	return n, nil
}

func (f *file) Sync() error {
	if err := f.enter(Sync, f.name); err != nil {
		return err
	}
	defer f.disk.mu.Unlock()
	f.inode.synced = bytes.Clone(f.inode.data)
	return nil
}

func (f *file) Close() error { return nil }
