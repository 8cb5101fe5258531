package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/umbel-filters/umbel"
)

// Parse returns the state in container b, whose memory it doesn't keep. All of b
// is one container: bytes behind it are an error. The error wraps umbel.ErrCorrupt
// or, where the container asks for more than l allows, umbel.ErrLimit; for a
// version or a coding that later versions of this package may know it wraps
// errors.ErrUnsupported as well. The state passes its Check.
func Parse(b []byte, l Limits) (umbel.State, error) {
	return parse(b, l, DefaultBytes)
}

// parse is Parse with another default limit.
func parse(b []byte, l Limits, defaultBytes uint64) (umbel.State, error) {
	n := uint64(len(b))
	return newDecoder(bytes.NewReader(b), n, budget{Limits: l.orDefault(max(defaultBytes, n))}).decode()
}

// Read reads r to its end and returns the state in the container that it holds.
// Where r is an [io.Seeker] that tells how much it holds, as files do, a plane is
// read straight to its place; otherwise its memory is taken as blocks arrive: 1 MiB,
// and then four times what is full. Errors are those of [Parse] and those of r.
func Read(r io.Reader, l Limits) (umbel.State, error) { return read(r, streamed(l, DefaultBytes)) }

func read(r io.Reader, b budget) (umbel.State, error) {
	size, err := remaining(r)
	if err != nil {
		return umbel.State{}, fmt.Errorf("wire: %w", err)
	}
	return newDecoder(r, size, b).decode()
}

// unknown stands for the size of a source that doesn't tell.
const unknown = math.MaxUint64

// remaining returns how many bytes r still holds, and unknown if it doesn't tell.
func remaining(r io.Reader) (uint64, error) {
	s, ok := r.(io.Seeker)
	if !ok {
		return unknown, nil
	}
	here, err := s.Seek(0, io.SeekCurrent)
	if err != nil {
		return unknown, nil // a pipe or a terminal
	}
	end, err := s.Seek(0, io.SeekEnd)
	if _, back := s.Seek(here, io.SeekStart); back != nil {
		return 0, back
	}
	if err != nil || end <= here {
		return unknown, nil
	}
	return uint64(end - here), nil
}

// decode reads a container to the end of its source.
func (d *decoder) decode() (umbel.State, error) {
	s, err := d.container()
	if err != nil {
		return umbel.State{}, fmt.Errorf("wire: byte %d: %w", d.off, err)
	}
	return s, nil
}

func (d *decoder) container() (umbel.State, error) {
	if err := d.magic(); err != nil {
		return umbel.State{}, err
	}
	s, err := d.state(1)
	if err != nil {
		return umbel.State{}, err
	}
	sum := d.crc
	b, err := d.next(crcBytes)
	if err != nil {
		return umbel.State{}, err
	}
	if got := binary.LittleEndian.Uint32(b); got != sum {
		return umbel.State{}, fmt.Errorf("checksum %08x, want %08x: the container was damaged: %w", got, sum, umbel.ErrCorrupt)
	}
	switch _, err = d.r.ReadByte(); {
	case err == nil:
		return umbel.State{}, fmt.Errorf("bytes follow the container: %w", umbel.ErrCorrupt)
	case err != io.EOF:
		return umbel.State{}, err
	}
	return s, nil
}

func (d *decoder) magic() error {
	b, err := d.next(len(magic))
	if err != nil {
		return err
	}
	last := len(magic) - 1
	if IsDelta(b) {
		return fmt.Errorf("this is a delta, no container: it is applied to one: %w", umbel.ErrCorrupt)
	}
	if string(b[:last]) != magic[:last] {
		return fmt.Errorf("begins with %q, want %q: this is no container: %w", b, magic, umbel.ErrCorrupt)
	}
	if b[last] != magic[last] {
		return fmt.Errorf("container of version %d, this program reads version %d: %w: %w", b[last], magic[last], errors.ErrUnsupported, umbel.ErrCorrupt)
	}
	return nil
}
