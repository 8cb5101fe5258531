package rdb

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/durable/statecode"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Parse returns the filter of a payload whose cells need at most maxBytes. It calls take
// before it allocates cells, and allocates memory only for bytes that are present. It returns the
// error of take, or one wrapping ErrEnvelope, ErrFormat or umbel.ErrLimit.
func Parse(b []byte, maxBytes uint64, take func(bytes uint64) error) (*redisbloom.Filter, error) {
	if len(b) < rdbTail || sum(b[:len(b)-8]) != binary.LittleEndian.Uint64(b[len(b)-8:]) {
		return nil, ErrEnvelope
	}
	p := payload{rest: b[:len(b)-rdbTail], room: maxBytes, hold: take}
	s, err := p.filter()
	if err != nil {
		return nil, err
	}
	f, err := redisbloom.Open(s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return f, nil
}

// payload is unread input. The first error stays in err, and later reads return zero.
type payload struct {
	rest []byte
	room uint64 // bytes that strings may still use
	hold func(bytes uint64) error
	err  error
}

func (p *payload) filter() (umbel.State, error) {
	s := umbel.State{Kind: redisbloom.Name, Hasher: redisbloom.RedisHasher}
	if p.byte() != rdbModule || p.length() != moduleID() {
		p.fail("no filter of version %d", moduleVersion)
	}
	items, layers, options, expansion := p.number(), p.number(), p.number(), p.number()
	s.Params = umbel.Params{{Name: "expansion", Value: umbel.Uint(expansion)}, {Name: "options", Value: umbel.Uint(options)}}
	for uint64(len(s.Parts)) < layers && p.err == nil {
		l := p.layer()
		items -= l.Params.Uint("entries")
		s.Parts = append(s.Parts, l)
	}
	if p.byte() != rdbEnd || len(p.rest) > 0 {
		p.fail("%d bytes behind the filter", len(p.rest))
	}
	if items != 0 {
		p.fail("the layers haven't as many items as the filter")
	}
	return s, p.err
}

func (p *payload) layer() umbel.State {
	capacity, rate, k, perKey := p.number(), p.double(), p.number(), p.double()
	bits, n2 := p.number(), p.number()
	if bits%64 != 0 || bits == 0 {
		p.fail("%d bits, want whole words of 64", bits)
	}
	words := p.cells(bits / 64)
	return umbel.State{
		Kind:   redisbloom.LayerKind,
		Hasher: redisbloom.RedisHasher,
		Params: umbel.Params{
			{Name: "capacity", Value: umbel.Uint(capacity)},
			{Name: "entries", Value: umbel.Uint(p.number())},
			{Name: "k", Value: umbel.Uint(k)},
			{Name: "n2", Value: umbel.Uint(n2)},
			{Name: "error-rate", Value: umbel.Float(rate)},
			{Name: "bits-per-key", Value: umbel.Float(perKey)},
		},
		Arrays: []cells.Array{{Len: bits, Width: 1, Words: words}},
	}
}

func (p *payload) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
	}
}

// take returns the next n bytes.
func (p *payload) take(n uint64) []byte {
	if p.err == nil && n > uint64(len(p.rest)) {
		p.fail("%d bytes are missing", n-uint64(len(p.rest)))
	}
	if p.err != nil {
		return nil
	}
	b := p.rest[:n]
	p.rest = p.rest[n:]
	return b
}

func (p *payload) byte() byte {
	if b := p.take(1); b != nil {
		return b[0]
	}
	return 0
}

// length reads a number written by appendLength.
func (p *payload) length() uint64 {
	first := p.byte()
	if first >= 0xc0 {
		p.fail("a number that begins with %#x", first)
	}
	return p.lengthAfter(first)
}

func (p *payload) lengthAfter(first byte) uint64 {
	switch {
	case first < 0x40:
		return uint64(first)
	case first < 0x80:
		return uint64(first&0x3f)<<8 | uint64(p.byte())
	case first == 0x80:
		if b := p.take(4); b != nil {
			return uint64(binary.BigEndian.Uint32(b))
		}
	case first == 0x81:
		if b := p.take(8); b != nil {
			return binary.BigEndian.Uint64(b)
		}
	default:
		p.fail("a number that begins with %#x", first)
	}
	return 0
}

func (p *payload) number() uint64 {
	if p.byte() != rdbNumber {
		p.fail("no number where one belongs")
	}
	return p.length()
}

func (p *payload) double() float64 {
	if p.byte() != rdbDouble {
		p.fail("no double where one belongs")
	}
	b := p.take(8)
	if b == nil {
		return 0
	}
	f := math.Float64frombits(binary.LittleEndian.Uint64(b))
	if math.IsNaN(f) || math.IsInf(f, 0) {
		p.fail("a rate of %v", f)
		return 0
	}
	return f
}

// cells reads a string of n words. It may be plain, compressed or, if it consists of decimal
// digits, a number.
func (p *payload) cells(n uint64) []uint64 {
	if p.byte() != rdbString {
		p.fail("no string where one belongs")
	}
	if n > p.room/8 {
		p.failLimit(n)
	}
	p.room -= min(n*8, p.room)
	if p.err == nil {
		p.err = p.hold(n * 8)
	}
	b := p.string(n * 8)
	if p.err == nil && uint64(len(b)) != n*8 {
		p.fail("%d bytes of cells, want %d", len(b), n*8)
	}
	if p.err != nil {
		return nil
	}
	words := make([]uint64, n)
	statecode.Words(words, b)
	return words
}

func (p *payload) failLimit(words uint64) {
	if p.err == nil {
		p.err = sentinel.Errorf(umbel.ErrLimit, "a layer of %d words is more than %d bytes", words, p.room)
	}
}

// string reads a string of want bytes; another length is an error before memory is allocated.
func (p *payload) string(want uint64) []byte {
	switch first := p.byte(); first {
	case 0xc0:
		return p.digits(1)
	case 0xc1:
		return p.digits(2)
	case 0xc2:
		return p.digits(4)
	case 0xc3:
		packed, plain := p.length(), p.length()
		b := p.take(packed)
		if p.err == nil && plain != want {
			p.fail("%d bytes of cells, want %d", plain, want)
		}
		if p.err != nil {
			return nil
		}
		plainBytes, err := unLZF(nil, b, plain)
		if err != nil {
			p.fail("%v", err)
		}
		return plainBytes
	default:
		return p.take(p.lengthAfter(first))
	}
}

// digits reads a signed little-endian number of n bytes as decimal digits.
func (p *payload) digits(n int) []byte {
	b := p.take(uint64(n))
	if b == nil {
		return nil
	}
	var wide [4]byte
	copy(wide[:], b)
	v := int32(binary.LittleEndian.Uint32(wide[:])) << (32 - 8*n) >> (32 - 8*n)
	return strconv.AppendInt(nil, int64(v), 10)
}
