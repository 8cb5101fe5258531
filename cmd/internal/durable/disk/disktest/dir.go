package disktest

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
)

// move is a change of the directory.
type move struct {
	from, to string // a rename; to alone: a creation, from alone: a removal
	file     *inode
}

// apply does a change of the directory, if the files that it needs are there.
func (m move) apply(names map[string]*inode) {
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

// change does a change of the directory, which is not durable yet.
func (d *Disk) change(m move) {
	m.apply(d.names)
	d.moves = append(d.moves, m)
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
			return fmt.Errorf("%s %s: %w", op, name, err)
		}
	}
	return d.enter()
}

// enter locks the disk, unless the process has ended.
func (d *dir) enter() error {
	d.disk.mu.Lock()
	if d.life != d.disk.life {
		d.disk.mu.Unlock()
		return errEnded
	}
	return nil
}

func (d *dir) open(name string, write bool) (disk.File, error) {
	if err := d.begin(Open, name); err != nil {
		return nil, err
	}
	defer d.disk.mu.Unlock()
	f := d.disk.names[name]
	if f == nil {
		return nil, fmt.Errorf("open %s: %w", name, fs.ErrNotExist)
	}
	return &file{d, f, name, write}, nil
}

func (d *dir) Open(name string) (disk.File, error) { return d.open(name, false) }
func (d *dir) Edit(name string) (disk.File, error) { return d.open(name, true) }

func (d *dir) Create(name string) (disk.File, error) {
	if err := d.begin(Create, name); err != nil {
		return nil, err
	}
	defer d.disk.mu.Unlock()
	f := &inode{}
	d.disk.change(move{to: name, file: f})
	return &file{d, f, name, true}, nil
}

func (d *dir) Rename(from, to string) error {
	if err := d.begin(Rename, to); err != nil {
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

func (d *dir) List() (list []disk.Info, err error) {
	if err := d.begin(List, ""); err != nil {
		return nil, err
	}
	defer d.disk.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(d.disk.names)) {
		list = append(list, disk.Info{Name: name, Size: int64(len(d.disk.names[name].data)), Regular: true})
	}
	return list, nil
}

func (d *dir) Sync() error {
	if err := d.begin(SyncDir, ""); err != nil {
		return err
	}
	defer d.disk.mu.Unlock()
	d.disk.stable = maps.Clone(d.disk.names)
	d.disk.moves = nil
	return nil
}

func (d *dir) Free() (int64, error) {
	if err := d.begin(Free, ""); err != nil {
		return 0, err
	}
	defer d.disk.mu.Unlock()
	return d.disk.free(), nil
}

func (d *dir) Lock(bool) (io.Closer, error) {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	if d.disk.locked {
		return nil, disk.ErrLocked
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
