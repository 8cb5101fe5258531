package resp

import (
	"bytes"
	"errors"
	"fmt"
)

const (
	// maxInlineLine is the maximum length of a line in bytes, as in Redis.
	maxInlineLine = 64 << 10
	// maxUnauthenticatedArgs and maxUnauthenticatedBulk limit commands before AUTH.
	maxUnauthenticatedArgs = 10
	maxUnauthenticatedBulk = 16 << 10

	minBuffer     = 512
	maxKeptBuffer = 64 << 10 // larger buffers are released after their command
)

// errTooLarge means that a command exceeds Limits.Query. The client gets no reply.
var errTooLarge = errors.New("query exceeds the limit")

// protocolError is an error reply that ends the connection.
type protocolError string

func (e protocolError) Error() string { return "Protocol error: " + string(e) }

// parser splits input into commands. Their words share the memory of the input buffer. It does
// not parse any part of an incomplete command twice.
type parser struct {
	buf   []byte
	start int // of the incomplete command
	at    int // everything before is parsed

	words []span // of the incomplete command
	left  int    // words that are still missing; 0: the command has not begun
	bulk  int    // length of the next word; -1: unknown

	head      span   // the previous command up to its last word; empty: overwritten
	headWords []span // words in head

	args [][]byte // words of all commands since release

	maxArgs, maxBulk, maxQuery int

	unauthenticated bool // limits before AUTH apply
}

// limit sets the limits of commands.
func (p *parser) limit(l *Limits) { p.maxArgs, p.maxBulk, p.maxQuery = l.Args, l.Bulk, l.Query }

// complete reports whether all input was parsed and has run.
func (p *parser) complete() bool { return p.start == len(p.buf) }

// span is a word in the buffer.
type span struct{ from, to int }

// next returns the words of the next command, or nil if it is incomplete. They are valid until
// release. No more commands can be read after an error.
func (p *parser) next() ([][]byte, error) {
	for {
		if p.left == 0 {
			p.start = p.at
			if p.at == len(p.buf) {
				return nil, nil
			}
			if p.buf[p.at] != '*' {
				words, whole, err := p.inline()
				if err != nil || !whole {
					return nil, err
				}
				if len(words) == 0 {
					continue
				}
				return words, nil
			}
			if !p.repeatHead() {
				if whole, err := p.begin(); err != nil || !whole {
					return nil, err
				}
				if p.left == 0 {
					continue
				}
			}
		}
		for p.left > 0 {
			if p.left == 1 && p.bulk < 0 {
				p.head = span{p.start, p.at}
			}
			if p.bulk < 0 {
				if whole, err := p.header(); err != nil || !whole {
					return nil, err
				}
			}
			end := p.at + p.bulk
			if end+2 > len(p.buf) {
				return nil, nil
			}
			p.words = append(p.words, span{p.at, end})
			p.at = end + 2 // like Redis, it does not check the end of the line
			p.bulk = -1
			p.left--
		}
		return p.takeWords(), nil
	}
}

// takeWords returns the words of the command, which is complete.
func (p *parser) takeWords() [][]byte {
	from := len(p.args)
	for _, w := range p.words {
		p.args = append(p.args, p.buf[w.from:w.to:w.to])
	}
	p.words, p.headWords = p.headWords[:0], p.words[:len(p.words)-1]
	return p.args[from:len(p.args):len(p.args)]
}

// repeatHead takes all words except the last from the previous command if they are equal, as they
// usually are in a pipeline.
func (p *parser) repeatHead() bool {
	head := p.buf[p.head.from:p.head.to]
	if len(head) == 0 || !bytes.HasPrefix(p.buf[p.at:], head) {
		return false
	}
	on := p.at - p.head.from
	for _, w := range p.headWords {
		p.words = append(p.words, span{w.from + on, w.to + on})
	}
	p.at += len(head)
	p.left, p.bulk = 1, -1
	return true
}

// begin parses the line with the number of words.
func (p *parser) begin() (whole bool, err error) {
	n, ok := p.shortLine()
	if !ok {
		line, whole := p.line()
		if !whole {
			return false, p.tooLong("too big mbulk count string")
		}
		if n, ok = number(line[1:]); !ok {
			return false, protocolError("invalid multibulk length")
		}
	}
	if n > p.maxArgs {
		return false, protocolError("invalid multibulk length")
	}
	if p.unauthenticated && n > maxUnauthenticatedArgs {
		return false, protocolError("unauthenticated multibulk length")
	}
	p.left, p.bulk = max(n, 0), -1
	return true, nil
}

// header parses the line with the length of a word.
func (p *parser) header() (whole bool, err error) {
	var n int
	ok := false
	if p.at < len(p.buf) && p.buf[p.at] == '$' {
		n, ok = p.shortLine()
	}
	if !ok {
		line, whole := p.line()
		if !whole {
			return false, p.tooLong("too big bulk count string")
		}
		if len(line) == 0 {
			line = []byte{'\r'}
		}
		if line[0] != '$' {
			return false, protocolError(fmt.Sprintf("expected '$', got '%s'", line[:1]))
		}
		if n, ok = number(line[1:]); !ok || n < 0 {
			return false, protocolError("invalid bulk length")
		}
	}
	if n > p.maxBulk {
		return false, protocolError("invalid bulk length")
	}
	if p.unauthenticated && n > maxUnauthenticatedBulk {
		return false, protocolError("unauthenticated bulk length")
	}
	if p.at-p.start+n+2 > p.maxQuery {
		return false, errTooLarge
	}
	p.bulk = n
	return true, nil
}

// shortLine parses a complete line that consists of a mark and a number below 10,000,000. Almost
// all lines do.
func (p *parser) shortLine() (n int, ok bool) {
	b := p.buf[p.at:]
	if len(b) < 4 {
		return 0, false
	}
	d := b[1] - '0'
	if d > 9 {
		return 0, false
	}
	if b[2] == '\r' {
		p.at += 4
		return int(d), true
	}
	if d == 0 {
		return 0, false
	}
	n = int(d)
	for i := 2; i < min(len(b)-1, 9); i++ {
		if b[i] == '\r' {
			p.at += i + 2
			return n, true
		}
		d := b[i] - '0'
		if d > 9 {
			return 0, false
		}
		n = n*10 + int(d)
	}
	return 0, false
}

// line returns the next line without its end, which is \r and any byte.
func (p *parser) line() (line []byte, whole bool) {
	b := p.buf[p.at:]
	n := bytes.IndexByte(b[:min(len(b), maxInlineLine+1)], '\r')
	if n < 0 || n+1 >= len(b) {
		return nil, false
	}
	p.at += n + 2
	return b[:n], true
}

// tooLong returns an error if the incomplete line is too long.
func (p *parser) tooLong(text string) error {
	b := p.buf[p.at:]
	if len(b) > maxInlineLine && bytes.IndexByte(b[:maxInlineLine+1], '\r') < 0 {
		return protocolError(text)
	}
	return nil
}

// inline parses a command that is a line of words.
func (p *parser) inline() (words [][]byte, whole bool, err error) {
	b := p.buf[p.at:]
	n := bytes.IndexByte(b[:min(len(b), maxInlineLine+1)], '\n')
	if n < 0 {
		if len(b) > maxInlineLine {
			return nil, false, protocolError("too big inline request")
		}
		return nil, false, nil
	}
	p.at += n + 1
	p.start = p.at
	from := len(p.args)
	all, ok := split(p.args, b[:n])
	if !ok {
		return nil, false, protocolError("unbalanced quotes in request")
	}
	p.args = all
	return all[from:len(all):len(all)], true, nil
}

// number parses a whole number as Redis does: without plus sign and without leading zeros.
func number(b []byte) (n int, ok bool) {
	digits, negative := b, false
	if len(b) > 0 && b[0] == '-' {
		digits, negative = b[1:], true
	}
	if len(digits) == 0 || len(digits) > 10 || digits[0] == '0' && (negative || len(digits) > 1) {
		return 0, false
	}
	var v int64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	if v > 1<<31-1 {
		return 0, false
	}
	if negative {
		v = -v
	}
	return int(v), true
}

// release invalidates the words of all commands after they ran. It reports whether their memory
// is released, so that nobody should keep it.
func (p *parser) release() (large bool) {
	large = cap(p.buf) > maxKeptBuffer || cap(p.args) > maxKeptBuffer/16
	if large {
		p.args = nil
	}
	p.args = p.args[:0]
	return large
}

// room returns the buffer for the next read. It grows only if the buffer is full.
func (p *parser) room() []byte {
	p.head = span{}
	if p.start == len(p.buf) {
		p.buf, p.start, p.at = p.buf[:0], 0, 0
		if cap(p.buf) > maxKeptBuffer {
			p.buf = nil
		}
		if max(cap(p.words), cap(p.headWords)) > maxKeptBuffer/16 {
			p.words, p.headWords = nil, nil
		}
	} else if p.start > 0 {
		n := copy(p.buf, p.buf[p.start:])
		for i := range p.words {
			p.words[i].from -= p.start
			p.words[i].to -= p.start
		}
		p.buf, p.at, p.start = p.buf[:n], p.at-p.start, 0
	}
	if len(p.buf) < cap(p.buf) {
		return p.buf[len(p.buf):cap(p.buf)]
	}
	size := max(2*cap(p.buf), minBuffer)
	if size > maxKeptBuffer && p.left == 1 && p.bulk >= 0 {
		size = min(size, p.at+p.bulk+2) // the length of the command is known
	}
	p.resize(size)
	return p.buf[len(p.buf):cap(p.buf)]
}

// grow enlarges a buffer that a read has filled.
func (p *parser) grow() {
	if size := cap(p.buf); size < maxKeptBuffer {
		p.resize(min(8*size, maxKeptBuffer))
	}
}

func (p *parser) resize(size int) {
	buf := make([]byte, len(p.buf), size)
	copy(buf, p.buf)
	p.buf = buf
}

// filled adds n bytes that were read into the result of room.
func (p *parser) filled(n int) { p.buf = p.buf[:len(p.buf)+n] }

// memory returns the bytes that the parser has allocated.
func (p *parser) memory() int {
	return cap(p.buf) + 16*(cap(p.words)+cap(p.headWords)) + 24*cap(p.args)
}
