package snapfile

import (
	"errors"
	"io/fs"
)

// Reserve creates a file of size bytes, or keeps the one that exists. It holds room on the disk until
// Release: a full disk then has room for what is needed to make more room. It is not part of Bytes, but
// takes from Options.Disk.
func (d *Dir) Reserve(size int64) error {
	if d.options.ReadOnly {
		return ErrReadOnly
	}
	d.reserving.Lock()
	defer d.reserving.Unlock()
	if d.reserved == size {
		return nil
	}
	d.spare.Set(0) // Allocate replaces the file
	err := d.spare.Grow(size)
	if err == nil {
		err = d.allocate(size)
	}
	if err != nil {
		return errors.Join(err, d.release())
	}
	d.reserved = size
	return nil
}

// allocate creates the file of Reserve. After an error a part of it may exist.
func (d *Dir) allocate(size int64) error {
	f, err := d.files.Create(reserveName)
	if err != nil {
		return err
	}
	if err = f.Allocate(size); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Free returns the number of bytes that the file system has left. The error wraps errors.ErrUnsupported if the
// system does not report it.
func (d *Dir) Free() (int64, error) {
	n, err := d.files.Free()
	if err != nil {
		return 0, err
	}
	return n, nil
}

// Reserved returns the size of the file of Reserve, 0 if there is none.
func (d *Dir) Reserved() int64 {
	d.reserving.Lock()
	defer d.reserving.Unlock()
	return d.reserved
}

// Release removes the file of Reserve, if it exists.
func (d *Dir) Release() error {
	d.reserving.Lock()
	defer d.reserving.Unlock()
	return d.release()
}

// release removes the file. The caller holds reserving.
func (d *Dir) release() error {
	d.reserved = 0
	if err := d.files.Remove(reserveName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	d.spare.Set(0)
	return nil
}
