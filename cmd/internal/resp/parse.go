package resp

import (
	"bytes"
	"errors"
	"fmt"
)

const (
	// longestLine is the bytes in which a line has to end, as Redis has it.
	longestLine = 64 << 10
	// strangerArgs and strangerBulk bound the commands of clients that have yet to say who they are.
	strangerArgs = 10
	strangerBulk = 16 << 10

	leastBuffer = 512
	mostBuffer  = 64 << 10 // larger ones are for a single command, and go with it
)

// errTooLarge: a command has more bytes than Limits.Query. There is no reply to it.
var errTooLarge = errors.New("a command is larger than the limit")

// protocolError is a reply, after which the connection ends.
type protocolError string

func (e protocolError) Error() string { return "Protocol error: " + string(e) }

// parser cuts what a client sends into commands. They lie in the buffer it was read to; what it has
// seen of a command that isn't whole yet it doesn't look at again.
type parser struct {
	buf   []byte
	start int // of the command that isn't whole
	at    int // all before it is parsed

	words []span // of that command
	left  int    // its words that are yet to come; 0: it has not begun
	bulk  int    // bytes of the next of them; -1: not known yet

	head      span   // of the command before, up to its last word; empty: it isn't there any more
	headWords []span // in it

	args [][]byte // of commands since release

	maxArgs, maxBulk, maxQuery int

	stranger bool // bounds are those before AUTH
}

// span is a word in the buffer.
type span struct{ from, to int }

// next returns the words of the next command, or nil if it isn't whole. They are valid until
// release. After an error there is nothing more to be had.
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
			if !p.repeats() {
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
			p.at = end + 2 // the line's end is taken for granted, as Redis does
			p.bulk = -1
			p.left--
		}
		return p.lift(), nil
	}
}

// lift returns the words of the command that became whole.
func (p *parser) lift() [][]byte {
	from := len(p.args)
	for _, w := range p.words {
		p.args = append(p.args, p.buf[w.from:w.to:w.to])
	}
	p.words, p.headWords = p.headWords[:0], p.words[:len(p.words)-1]
	return p.args[from:len(p.args):len(p.args)]
}

// repeats takes all words but the last of a command that has those of the one before, as most of
// a pipeline's have.
func (p *parser) repeats() bool {
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

// begin reads the line that says how many words a command has.
func (p *parser) begin() (whole bool, err error) {
	n, ok := p.short()
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
	if p.stranger && n > strangerArgs {
		return false, protocolError("unauthenticated multibulk length")
	}
	p.left, p.bulk = max(n, 0), -1
	return true, nil
}

// header reads the line that says how long a word is.
func (p *parser) header() (whole bool, err error) {
	var n int
	ok := false
	if p.at < len(p.buf) && p.buf[p.at] == '$' {
		n, ok = p.short()
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
	if p.stranger && n > strangerBulk {
		return false, protocolError("unauthenticated bulk length")
	}
	if p.at-p.start+n+2 > p.maxQuery {
		return false, errTooLarge
	}
	p.bulk = n
	return true, nil
}

// short reads a line of a mark and a number below 10000000, if it is all there: as good as
// all lines are.
func (p *parser) short() (n int, ok bool) {
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
	n := bytes.IndexByte(b[:min(len(b), longestLine+1)], '\r')
	if n < 0 || n+1 >= len(b) {
		return nil, false
	}
	p.at += n + 2
	return b[:n], true
}

// tooLong returns the error if the line that isn't whole is too long to become so.
func (p *parser) tooLong(text string) error {
	b := p.buf[p.at:]
	if len(b) > longestLine && bytes.IndexByte(b[:longestLine+1], '\r') < 0 {
		return protocolError(text)
	}
	return nil
}

// inline reads a command that is a line of words.
func (p *parser) inline() (words [][]byte, whole bool, err error) {
	b := p.buf[p.at:]
	n := bytes.IndexByte(b[:min(len(b), longestLine+1)], '\n')
	if n < 0 {
		if len(b) > longestLine {
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

// number reads a whole number as Redis does: no sign but a minus, no zeros before it.
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

// release takes back the words of all commands: they were run. It reports whether their memory is
// to be let go, so that nothing should keep them.
func (p *parser) release() (large bool) {
	large = cap(p.buf) > mostBuffer || cap(p.args) > mostBuffer/16
	if large {
		p.args = nil
	}
	p.args = p.args[:0]
	return large
}

// room returns where to read to. It takes more memory only if what was read fills what is there.
func (p *parser) room() []byte {
	p.head = span{}
	if p.start == len(p.buf) {
		p.buf, p.start, p.at = p.buf[:0], 0, 0
		if cap(p.buf) > mostBuffer {
			p.buf = nil
		}
		if max(cap(p.words), cap(p.headWords)) > mostBuffer/16 {
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
	size := max(2*cap(p.buf), leastBuffer)
	if size > mostBuffer && p.left == 1 && p.bulk >= 0 {
		size = min(size, p.at+p.bulk+2) // the end is known
	}
	p.resize(size)
	return p.buf[len(p.buf):cap(p.buf)]
}

// widen makes a buffer larger that a client fills with each read.
func (p *parser) widen() {
	if size := cap(p.buf); size < mostBuffer {
		p.resize(min(8*size, mostBuffer))
	}
}

// shrink lets go of memory while the client says nothing.
func (p *parser) shrink() {
	if p.start == len(p.buf) {
		p.buf, p.words, p.headWords, p.start, p.at = nil, nil, nil, 0, 0
	}
	p.args = nil
}

func (p *parser) resize(size int) {
	buf := make([]byte, len(p.buf), size)
	copy(buf, p.buf)
	p.buf = buf
}

// filled says that n bytes were read to what room returned.
func (p *parser) filled(n int) { p.buf = p.buf[:len(p.buf)+n] }

// held returns the bytes of memory that it holds.
func (p *parser) held() int { return cap(p.buf) + 16*(cap(p.words)+cap(p.headWords)) + 24*cap(p.args) }
