package wire

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// decoder reads a container field by field, each checked before the next.
type decoder struct {
	r    *bufio.Reader
	size uint64 // bytes there are; more than there can be if that isn't known
	off  uint64 // bytes read
	crc  uint32 // of them
	left budget
	line line[load]
	// In a scan, what gets the blocks, and the way to the part that they are of.
	each func(Block) error
	part []int
	buf  [255]byte
	// plain holds a block on its way to words, where they can't be read in place.
	plain []byte
}

// bufferBytes is small, so that most of a block goes from the source to its place.
const bufferBytes uint64 = 4096

// newDecoder returns a decoder of r, which holds size bytes.
func newDecoder(r io.Reader, size uint64, l budget) *decoder {
	return &decoder{
		r: bufio.NewReaderSize(r, int(min(size, bufferBytes))), size: size, left: l,
		line: line[load]{workers: l.Workers, work: (*load).decode},
	}
}

// there returns how many bytes are left, as far as that is known.
func (d *decoder) there() uint64 { return d.size - min(d.off, d.size) }

// read fills b with the next bytes.
func (d *decoder) read(b []byte) error {
	n, err := io.ReadFull(d.r, b)
	d.off += uint64(n)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("the container is cut off here: %w", umbel.ErrCorrupt)
	}
	d.crc = crc32.Update(d.crc, castagnoli, b)
	return err
}

// next returns the next n bytes, n up to 255, valid until it is called again.
func (d *decoder) next(n int) ([]byte, error) {
	b := d.buf[:n]
	return b, d.read(b)
}

// byte returns the next byte, and 0 if there is an error.
func (d *decoder) byte() (byte, error) {
	if err := d.read(d.buf[:1]); err != nil {
		return 0, err
	}
	return d.buf[0], nil
}

// state reads a state that is depth states deep.
func (d *decoder) state(depth int) (umbel.State, error) {
	if depth > umbel.MaxDepth {
		return umbel.State{}, fmt.Errorf("parts nest deeper than %d: %w", umbel.MaxDepth, umbel.ErrCorrupt)
	}
	if d.left.States == 0 {
		return umbel.State{}, fmt.Errorf("more states than the limit allows: raise the limit to read it: %w", umbel.ErrLimit)
	}
	d.left.States--
	s, err := d.head()
	if err != nil {
		return s, err
	}
	if err := d.planes(&s); err != nil {
		return s, err
	}
	return s, d.parts(&s, depth)
}

// head reads what comes before the planes of a state.
func (d *decoder) head() (s umbel.State, err error) {
	if s.Kind, err = d.name(); err != nil {
		return s, err
	}
	alg, err := d.byte()
	if err != nil {
		return s, err
	}
	s.Hasher.Alg = umbel.Alg(alg)
	var seed [16]byte
	if err := d.read(seed[:]); err != nil {
		return s, err
	}
	s.Hasher.Seed = umbel.SeedFrom(seed)
	if s.Params, err = d.params(); err != nil {
		return s, err
	}
	return s, s.Check()
}

// params reads a list of parameters.
func (d *decoder) params() (umbel.Params, error) {
	n, err := d.byte()
	if err != nil {
		return nil, err
	}
	ps := make(umbel.Params, 0, n)
	for range n {
		p, err := d.param()
		if err != nil {
			return ps, err
		}
		ps = append(ps, p)
	}
	return ps, nil
}

func (d *decoder) planes(s *umbel.State) error {
	n, err := d.byte()
	if err != nil {
		return err
	}
	s.Arrays = make([]cells.Array, 0, n)
	for i := range n {
		p, err := d.plane(s)
		if err != nil {
			return fmt.Errorf("plane %d: %w", i, err)
		}
		s.Arrays = append(s.Arrays, p)
	}
	return nil
}

func (d *decoder) parts(s *umbel.State, depth int) error {
	b, err := d.next(2)
	if err != nil {
		return err
	}
	here := len(d.part)
	defer func() { d.part = d.part[:here] }()
	for i := range binary.LittleEndian.Uint16(b) {
		d.part = append(d.part[:here], int(i))
		p, err := d.state(depth + 1)
		if err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
		s.Parts = append(s.Parts, p)
	}
	return nil
}

// name reads the name of a kind or a parameter.
func (d *decoder) name() (string, error) {
	n, err := d.byte()
	if err != nil {
		return "", err
	}
	b, err := d.next(int(n))
	if err != nil {
		return "", err
	}
	name := string(b)
	return name, umbel.CheckName(name)
}

// The types of a parameter.
const (
	whole = 0
	float = 1
)

func (d *decoder) param() (umbel.Param, error) {
	name, err := d.name()
	if err != nil {
		return umbel.Param{}, err
	}
	b, err := d.next(9)
	if err != nil {
		return umbel.Param{}, err
	}
	value := umbel.Uint(binary.LittleEndian.Uint64(b[1:]))
	switch b[0] {
	case whole:
	case float:
		value = umbel.Float(math.Float64frombits(value.Bits()))
	default:
		return umbel.Param{}, fmt.Errorf("parameter %q is of type %d, want 0 or 1: %w", name, b[0], umbel.ErrCorrupt)
	}
	return umbel.Param{Name: name, Value: value}, nil
}
