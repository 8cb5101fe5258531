package share

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
)

// parseHead parses the text of a head. It accepts only what text returns.
func parseHead(text string) (*Head, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if lines[0] != headMagic {
		return nil, sentinel.Errorf(ErrCorrupt, "begins with %.40q, want %q", lines[0], headMagic)
	}
	if most := 6 + MaxHeadDeltas + 1 + 1 + MaxFolds; len(lines) < 6 || len(lines) > most {
		return nil, sentinel.Errorf(ErrCorrupt, "has %d lines, want 6 to %d", len(lines), most)
	}
	h := &Head{Name: lines[1], Fold: 1}
	p := fields{}
	f := p.line(lines[2], "stream", 2)
	h.Stream, h.Version = p.stream(f[0]), p.number(f[1])
	f = p.line(lines[3], "time", 2)
	h.Time, h.Valid = time.UnixMilli(int64(p.limited(f[0], maxMilli))).UTC(), time.Duration(p.limited(f[1], maxSeconds))*time.Second
	f = p.line(lines[4], "state", 3)
	h.ID, h.Kind, h.Bytes = p.id(f[0]), f[1], p.number(f[2])
	f = p.line(lines[5], "index", 2)
	h.Index = p.ref(f[0], f[1])
	rest := lines[6:]
	for len(rest) > 0 && len(h.Deltas) < MaxHeadDeltas && strings.HasPrefix(rest[0], "delta ") {
		f = p.line(rest[0], "delta", 3)
		if p.number(f[0]) != uint64(len(h.Deltas)+1) {
			p.fail("delta %q, want %d", f[0], len(h.Deltas)+1)
		}
		h.Deltas, rest = append(h.Deltas, p.ref(f[1], f[2])), rest[1:]
	}
	p.classes(h, rest)
	if p.err == nil {
		p.err = umbel.CheckName(h.Kind)
	}
	switch {
	case p.err != nil:
		return nil, p.err
	case h.Version == 0 || uint64(len(h.Deltas)) >= h.Version:
		return nil, sentinel.Errorf(ErrCorrupt, "has %d deltas to version %d", len(h.Deltas), h.Version)
	case h.text() != text:
		return nil, sentinel.Errorf(ErrCorrupt, "is not in its canonical form")
	}
	return h, nil
}

// fields parses the fields of lines and keeps the first error.
type fields struct{ err error }

func (p *fields) fail(format string, args ...any) {
	if p.err == nil {
		p.err = sentinel.Errorf(ErrCorrupt, "has "+format, args...)
	}
}

// line returns the n fields of a line after its name.
func (p *fields) line(l, name string, n int) []string {
	f := strings.Split(l, " ")
	if f[0] != name || len(f) != n+1 {
		p.fail("the line %.80q, want %q and %d fields", l, name, n)
		return make([]string, n)
	}
	return f[1:]
}

func (p *fields) number(s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		p.fail("%.40q, want a number", s)
	}
	return n
}

func (p *fields) limited(s string, limit uint64) uint64 {
	n := p.number(s)
	if n > limit {
		p.fail("%d, want at most %d", n, limit)
		return 0
	}
	return n
}

func (p *fields) stream(s string) Stream {
	if len(s) != 32 {
		p.fail("the stream %.40q, want 32 hexadecimal digits", s)
		return Stream{}
	}
	began, err := strconv.ParseInt(s[:16], 16, 64)
	nonce, err2 := strconv.ParseUint(s[16:], 16, 64)
	if err != nil || err2 != nil || began < 0 || began > maxMilli {
		p.fail("the stream %.40q, want 32 hexadecimal digits", s)
	}
	return Stream{began, nonce}
}

func (p *fields) id(s string) (id wire.ID) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) != len(id) {
		p.fail("the ID %.80q, want %d bytes in base64url", s, len(id))
		return id
	}
	return wire.ID(b)
}

func (p *fields) ref(bytes, name string) Ref {
	h, err := ParseHash(name)
	if err != nil {
		p.fail("the object %.40q, want 26 of 0-9, a-v", name)
	}
	return Ref{h, p.number(bytes)}
}

// classes reads the lines of a head about classes.
func (p *fields) classes(h *Head, lines []string) {
	if len(lines) > 0 && strings.HasPrefix(lines[0], "class ") {
		h.Fold, lines = p.number(p.line(lines[0], "class", 1)[0]), lines[1:]
		if h.Fold < 2 || len(lines) == 0 {
			p.fail("the class %d and %d classes", h.Fold, len(lines))
		}
	}
	if len(lines) == 1 || len(lines) > 1+MaxFolds {
		p.fail("%d classes, want none or 2 to %d", len(lines), 1+MaxFolds)
		return
	}
	listed := h.Fold == 1
	for _, l := range lines {
		f := p.line(l, "fold", 4)
		c := Class{p.number(f[0]), p.number(f[1]), p.number(f[2]), float64(p.limited(f[3], rateUnit)) / rateUnit}
		finer := uint64(0)
		if n := len(h.Classes); n > 0 {
			finer = h.Classes[n-1].Fold
		}
		if finer == 0 && c.Fold != 1 || finer > 0 && (c.Fold <= finer || c.Fold%finer != 0) {
			p.fail("the class %d after %d", c.Fold, finer)
		}
		listed = listed || c.Fold == h.Fold
		h.Classes = append(h.Classes, c)
	}
	if !listed {
		p.fail("the class %d, which is not one of its classes", h.Fold)
	}
}
