// Package waltest contains a disk in memory for logs of batches, which fails, fills, loses power and
// loses batches as a test demands.
package waltest

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
)

// Disk is a directory in memory in which a log is kept, over the ends of processes. Its methods may be
// called concurrently.
type Disk struct {
	Files *disktest.Disk

	mu     sync.Mutex
	before func(op disktest.Op, name string) error
	fail   int
	kept   bool
	why    error
	full   bool
	places map[uint64]place // of frames that were altered
}

// place is where the frame of a batch is.
type place struct {
	file    string
	scope   int // offset of its scope; at if it has none
	at, end int
}

// NewDisk returns an empty disk.
func NewDisk() *Disk {
	d := &Disk{Files: disktest.NewDisk(), places: map[uint64]place{}}
	d.Files.Before(d.fault)
	return d
}

// Options are those of the logs: small segments, so that tests have several.
func Options() wal.Options { return wal.Options{SegmentBytes: 256 << 10} }

// Open opens the log. The process that had it open before ends.
func (d *Disk) Open() (*wal.Log, error) { return d.OpenWith(Options()) }

// OpenWith is Open with options.
func (d *Disk) OpenWith(o wal.Options) (*wal.Log, error) {
	return wal.OpenDir(d.Files.Dir(), o)
}

// Kill ends the process as kill -9 would: all that it wrote is there.
func (d *Disk) Kill() { d.Files.Kill() }

// PowerCut ends the process and loses what was not synced, in one of many combinations.
func (d *Disk) PowerCut() { d.Files.PowerCut(rand.New(rand.NewPCG(rand.Uint64(), 0))) }

// Clone returns another disk with the same contents and without faults.
func (d *Disk) Clone() *Disk {
	c := &Disk{Files: d.Files.Clone(), places: map[uint64]place{}}
	c.Files.Before(c.fault)
	return c
}

// Before sets a function that is called before each operation of the disk. It may wait. Its error is the result of the operation. nil removes it.
func (d *Disk) Before(hook func(op disktest.Op, name string) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.before = hook
}

// BeforeAppend is Before for a function that is called only before a batch is written.
func (d *Disk) BeforeAppend(hook func() error) {
	d.Before(func(op disktest.Op, name string) error {
		if op == disktest.Write && isSegment(name) {
			return hook()
		}
		return nil
	})
}

// Hang makes the disk hang before a batch is written, until the test ends.
func (d *Disk) Hang(t testing.TB) {
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	d.BeforeAppend(func() error { <-ended; return nil })
}

// FailAppends lets the next n attempts to append fail with an error: before the batch is written, or
// after it is durable.
func (d *Disk) FailAppends(n int, kept bool, why error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail, d.kept, d.why = n, kept, why
}

// Fill makes the disk full, or no longer full.
func (d *Disk) Fill(full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = full
}

// fault is the hook of the files.
func (d *Disk) fault(op disktest.Op, name string) error {
	d.mu.Lock()
	before := d.before
	d.mu.Unlock()
	if before != nil {
		if err := before(op, name); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	segment := isSegment(name)
	switch {
	case d.full && (op == disktest.Write && segment || op == disktest.Allocate):
		return fmt.Errorf("write: %w", syscall.ENOSPC)
	case d.fail > 0 && op == disktest.Write && (name == "head") == d.kept && (segment || d.kept):
		d.fail--
		return d.why
	}
	return nil
}

func isSegment(name string) bool { return strings.HasSuffix(name, ".wal") }

// Numbers returns the numbers of all batches in the files.
func (d *Disk) Numbers() (all []uint64) {
	for _, name := range d.segments() {
		b := d.Files.File(name)
		for at := 0; at+frameHeader <= len(b); at += 8 {
			if isFrame(b[at:]) {
				all = append(all, binary.LittleEndian.Uint64(b[at+8:]))
			}
		}
	}
	return all
}

// frameHeader is the size of the header of a frame: see frame in package wal. This package reads its bytes.
const frameHeader = 64

// isFrame reports whether b begins with the frame of a batch.
func isFrame(b []byte) bool {
	return string(b[:4]) == "umb\x01" && b[56] == 1 && b[57]|b[58]|b[59] == 0
}

func (d *Disk) segments() (names []string) {
	for _, name := range d.Files.Names() {
		if isSegment(name) {
			names = append(names, name)
		}
	}
	return names
}

// find returns the place of a batch's frame: the same as before if the frame may have been altered.
func (d *Disk) find(number uint64, altered bool) (p place, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p, ok = d.places[number]; ok && altered {
		return p, true
	}
	for _, name := range d.segments() {
		b := d.Files.File(name)
		scope := -1
		for at := 0; at+frameHeader <= len(b); at += 8 {
			if binary.LittleEndian.Uint64(b[at+8:]) != number {
				continue
			}
			if string(b[at:at+4]) == "ums\x01" {
				scope = at
			}
			if isFrame(b[at:]) {
				n := int(binary.LittleEndian.Uint32(b[at+4:]))
				if scope < 0 {
					scope = at
				}
				p = place{name, scope, at, at + frameHeader + n + 4}
				d.places[number] = p
				return p, true
			}
		}
	}
	return place{}, false
}

// alter changes the bytes of a batch's frame.
func (d *Disk) alter(number uint64, altered bool, change func(frame []byte)) {
	if p, ok := d.find(number, altered); ok {
		b := d.Files.File(p.file)
		change(b[p.at:p.end])
		d.Files.Change(p.file, func([]byte) []byte { return b })
	}
}

// Flip alters one bit of a batch: bit modulo the number of its bits.
func (d *Disk) Flip(number uint64, bit int) {
	d.alter(number, true, func(b []byte) { b[bit/8%len(b)] ^= 1 << (bit % 8) })
}

// Lose removes batches with their scopes: zeros are in their place.
func (d *Disk) Lose(numbers ...uint64) {
	for _, n := range numbers {
		if p, ok := d.find(n, false); ok {
			d.Files.Change(p.file, func(b []byte) []byte {
				clear(b[p.scope:p.end])
				return b
			})
		}
	}
}

// LoseData removes batches, but not their scopes.
func (d *Disk) LoseData(numbers ...uint64) {
	for _, n := range numbers {
		d.alter(n, false, func(b []byte) { clear(b) })
	}
}

// tear leaves only the first half of a batch.
func (d *Disk) tear(number uint64) {
	d.alter(number, false, func(b []byte) { clear(b[frameHeader+(len(b)-frameHeader)/2:]) })
}

// LoseHead removes both files of the head.
func (d *Disk) LoseHead() { d.Files.Lose("head", "head.copy") }
