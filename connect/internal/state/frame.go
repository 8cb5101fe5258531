package state

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
)

// A journal is a sequence of frames. A frame has the length of its payload, a checksum of the length, and a checksum of the
// payload, as 32 bits each, little endian; then the payload. The first payload is a head, the others are batches.
//
//	head   1, the ID of the filter (32 bytes), number of sources; of each: name, next position, seen bits, passed bits
//	batch  2, number of sources, their names, number of entries; of each: digest (16 bytes), flags, and of one with a
//	       position: number of the source, position
//
// Names are preceded by their lengths. Lengths, numbers and positions are unsigned varints, bits and digests little endian.
const (
	headMark, batchMark = 1, 2
	frameBytes          = 12
	maxFrame            = 1 << 28
	maxSource           = 4096 // bytes of the name of a source

	flagPassed, flagPosition = 1, 2
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// head is the first frame of a journal: the state at its beginning.
type head struct {
	id      wire.ID
	windows map[string]*window
}

// Entry is a key of a message, and the position of the message in its source.
type Entry struct {
	Digest   umbel.Digest
	Source   string
	Position uint64
	Known    bool // the position
}

// change is an entry as it was applied.
type change struct {
	Entry
	passed bool
}

// appendFrame appends a frame with the payload that fill appends.
func appendFrame(dst []byte, fill func([]byte) []byte) []byte {
	at := len(dst)
	dst = fill(append(dst, make([]byte, frameBytes)...))
	payload, h := dst[at+frameBytes:], dst[at:]
	binary.LittleEndian.PutUint32(h, uint32(len(payload)))
	binary.LittleEndian.PutUint32(h[4:], crc32.Checksum(h[:4], castagnoli))
	binary.LittleEndian.PutUint32(h[8:], crc32.Checksum(payload, castagnoli))
	return dst
}

func appendName(dst []byte, name string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(name))), name...)
}

func appendBits(dst []byte, bits []uint64) []byte {
	for _, w := range bits {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst
}

func (h *head) append(dst []byte) []byte {
	dst = append(append(dst, headMark), h.id[:]...)
	dst = binary.AppendUvarint(dst, uint64(len(h.windows)))
	for name, w := range h.windows {
		dst = binary.AppendUvarint(appendName(dst, name), w.next)
		dst = appendBits(appendBits(dst, w.seen[:]), w.passed[:])
	}
	return dst
}

func appendBatch(dst []byte, batch []change) []byte {
	dst = append(dst, batchMark)
	numbers := map[string]uint64{}
	var names []string
	for _, c := range batch {
		if _, ok := numbers[c.Source]; c.Known && !ok {
			numbers[c.Source] = uint64(len(names))
			names = append(names, c.Source)
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(names)))
	for _, name := range names {
		dst = appendName(dst, name)
	}
	dst = binary.AppendUvarint(dst, uint64(len(batch)))
	for _, c := range batch {
		dst = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, c.Digest.H1), c.Digest.H2)
		flags := byte(0)
		if c.passed {
			flags |= flagPassed
		}
		if c.Known {
			flags |= flagPosition
		}
		if dst = append(dst, flags); c.Known {
			dst = binary.AppendUvarint(binary.AppendUvarint(dst, numbers[c.Source]), c.Position)
		}
	}
	return dst
}

// readJournal calls begin with the head of a journal, and then apply with each batch. It returns the number of bytes before a frame that
// was not written completely when the process or the machine ended. Everything else that is no frame is an error wrapping umbel.ErrCorrupt.
func readJournal(data []byte, begin func(head) error, apply func([]change) error) (size int64, err error) {
	for rest := data; len(rest) > 0; rest = data[size:] {
		payload, err := nextFrame(rest)
		if err != nil {
			return size, fmt.Errorf("byte %d: %w", size, err)
		}
		if payload == nil {
			return size, nil
		}
		d := decoder{payload}
		if size == 0 {
			h, err := d.head()
			if err == nil {
				err = begin(h)
			}
			if err != nil {
				return size, err
			}
		} else {
			batch, err := d.batch()
			if err == nil {
				err = apply(batch)
			}
			if err != nil {
				return size, fmt.Errorf("byte %d: %w", size, err)
			}
		}
		size += int64(frameBytes + len(payload))
	}
	return size, nil
}

// nextFrame returns the payload of the frame with which data begins, and nil if that is an incomplete last one.
func nextFrame(data []byte) ([]byte, error) {
	if len(data) < frameBytes || len(bytes.TrimLeft(data, "\x00")) == 0 {
		return nil, nil
	}
	n := binary.LittleEndian.Uint32(data)
	if crc32.Checksum(data[:4], castagnoli) != binary.LittleEndian.Uint32(data[4:]) || n == 0 || n > maxFrame {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "the length of a frame is damaged")
	}
	end := uint64(frameBytes) + uint64(n)
	if uint64(len(data)) < end {
		return nil, nil
	}
	payload := data[frameBytes:end]
	if crc32.Checksum(payload, castagnoli) != binary.LittleEndian.Uint32(data[8:]) {
		if uint64(len(data)) == end {
			return nil, nil
		}
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "a frame of %d bytes is damaged", n)
	}
	return payload, nil
}

// decoder reads a payload.
type decoder struct{ rest []byte }

var errPayload = sentinel.Errorf(umbel.ErrCorrupt, "a frame with a valid checksum is malformed")

func (d *decoder) bytes(n uint64) ([]byte, error) {
	if n > uint64(len(d.rest)) {
		return nil, errPayload
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b, nil
}

func (d *decoder) uvarint() (uint64, error) {
	x, n := binary.Uvarint(d.rest)
	if n <= 0 {
		return 0, errPayload
	}
	d.rest = d.rest[n:]
	return x, nil
}

func (d *decoder) name() (string, error) {
	n, err := d.uvarint()
	if err != nil || n > maxSource {
		return "", errPayload
	}
	b, err := d.bytes(n)
	return string(b), err
}

func (d *decoder) bits(dst []uint64) error {
	b, err := d.bytes(uint64(8 * len(dst)))
	if err != nil {
		return err
	}
	_, err = binary.Decode(b, binary.LittleEndian, dst)
	return err
}

func (d *decoder) mark(want byte) error {
	if b, err := d.bytes(1); err != nil || b[0] != want {
		return errPayload
	}
	return nil
}

// end returns an error if there are more bytes.
func (d *decoder) end() error {
	if len(d.rest) > 0 {
		return errPayload
	}
	return nil
}

func (d *decoder) head() (h head, err error) {
	if err := d.mark(headMark); err != nil {
		return h, err
	}
	id, err := d.bytes(uint64(len(h.id)))
	if err != nil {
		return h, err
	}
	copy(h.id[:], id)
	n, err := d.uvarint()
	h.windows = make(map[string]*window)
	for ; err == nil && n > 0; n-- {
		w := new(window)
		var name string
		if name, err = d.name(); err == nil {
			w.next, err = d.uvarint()
		}
		if err == nil {
			err = d.bits(w.seen[:])
		}
		if err == nil {
			err = d.bits(w.passed[:])
		}
		h.windows[name] = w
	}
	if err == nil {
		err = d.end()
	}
	return h, err
}

func (d *decoder) batch() (batch []change, err error) {
	if err := d.mark(batchMark); err != nil {
		return nil, err
	}
	var names []string
	n, err := d.uvarint()
	for ; err == nil && n > 0; n-- {
		var name string
		name, err = d.name()
		names = append(names, name)
	}
	if err != nil {
		return nil, err
	}
	n, err = d.uvarint()
	for ; err == nil && n > 0; n-- {
		var c change
		if c, err = d.change(names); err == nil {
			batch = append(batch, c)
		}
	}
	if err == nil {
		err = d.end()
	}
	return batch, err
}

func (d *decoder) change(names []string) (c change, err error) {
	b, err := d.bytes(17)
	if err != nil {
		return c, err
	}
	c.Digest = umbel.Digest{H1: binary.LittleEndian.Uint64(b), H2: binary.LittleEndian.Uint64(b[8:])}
	if b[16]&^(flagPassed|flagPosition) != 0 {
		return c, errPayload
	}
	c.passed, c.Known = b[16]&flagPassed != 0, b[16]&flagPosition != 0
	if !c.Known {
		return c, nil
	}
	i, err := d.uvarint()
	if err != nil || i >= uint64(len(names)) {
		return c, errPayload
	}
	c.Source = names[i]
	c.Position, err = d.uvarint()
	return c, err
}
