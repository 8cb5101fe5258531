// Package oplogtest contains a disk in memory for logs of batches, which fails, fills, loses power and
// loses batches as a test demands.
package oplogtest

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/durable/oplog"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
)

// Op is a call of a log.
type Op string

// Calls of a log.
const (
	Append Op = "append" // Propose
	Commit Op = "commit"
	Purge  Op = "purge"
)

// Disk is a directory in memory in which a log is kept, over the ends of processes. Its methods may be
// called concurrently.
type Disk struct {
	Files *disktest.Disk

	mu     sync.Mutex
	before func(ctx context.Context, op Op, number uint64) error
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
func (d *Disk) Open(context.Context) (oplog.Log, error) { return d.OpenWith(Options()) }

// OpenWith is Open with options.
func (d *Disk) OpenWith(o wal.Options) (oplog.Log, error) {
	l, err := wal.OpenDir(d.Files.Dir(), o)
	if err != nil {
		return nil, err
	}
	return &log{oplog.Alone(l), d}, nil
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

// Before sets a function that is called before each call of a log, with the number of the batch that
// is appended, or before which batches are purged. It may wait. Its error is the result of the call.
// nil removes it.
func (d *Disk) Before(hook func(ctx context.Context, op Op, number uint64) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.before = hook
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
	defer d.mu.Unlock()
	segment := strings.HasSuffix(name, ".wal")
	switch {
	case d.full && (op == disktest.Write && segment || op == disktest.Allocate):
		return fmt.Errorf("write: %w", syscall.ENOSPC)
	case d.fail > 0 && op == disktest.Write && (name == "head") == d.kept && (segment || d.kept):
		d.fail--
		return d.why
	}
	return nil
}

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

const frameHeader = 64

// isFrame reports whether b begins with the frame of a batch.
func isFrame(b []byte) bool {
	return string(b[:4]) == "umb\x01" && b[56] == byte(wal.Batch) && b[57]|b[58]|b[59] == 0
}

func (d *Disk) segments() (names []string) {
	for _, name := range d.Files.Names() {
		if strings.HasSuffix(name, ".wal") {
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

// Tear leaves only the first half of a batch.
func (d *Disk) Tear(number uint64) {
	d.alter(number, false, func(b []byte) { clear(b[frameHeader+(len(b)-frameHeader)/2:]) })
}

// LoseHead removes both files of the head.
func (d *Disk) LoseHead() { d.Files.Lose("head", "head.copy") }

// log is a log whose calls the disk may delay or refuse.
type log struct {
	oplog.Log
	disk *Disk
}

func (l *log) ask(ctx context.Context, op Op, number uint64) error {
	l.disk.mu.Lock()
	before := l.disk.before
	l.disk.mu.Unlock()
	if before == nil {
		return nil
	}
	return before(ctx, op, number)
}

func (l *log) Propose(ctx context.Context, batch, scope []byte) (uint64, error) {
	_, last := l.Bounds()
	if err := l.ask(ctx, Append, last+1); err != nil {
		return 0, err
	}
	return l.Log.Propose(ctx, batch, scope)
}

func (l *log) Commit(ctx context.Context) (uint64, error) {
	if err := l.ask(ctx, Commit, 0); err != nil {
		return 0, err
	}
	return l.Log.Commit(ctx)
}

func (l *log) Purge(ctx context.Context, before uint64) error {
	if err := l.ask(ctx, Purge, before); err != nil {
		return err
	}
	return l.Log.Purge(ctx, before)
}

func (l *log) Health() error {
	l.disk.mu.Lock()
	full := l.disk.full
	l.disk.mu.Unlock()
	if full {
		return fmt.Errorf("write: %w", syscall.ENOSPC)
	}
	return l.Log.Health()
}
