package share

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
	"golang.org/x/mod/sumdb/note"
)

// Head is the signed description of the current version of a publication. It is a note in the form
// of Go's checksum database (golang.org/x/mod/sumdb/note). It has at most 500 bytes if the names are
// short; spec/share.md has the format.
type Head struct {
	// Name of the publication, which is the name of its key.
	Name string
	// Stream identifies a publication from its beginning. Versions count from 1 in each stream.
	Stream  Stream
	Version uint64
	// Time is when the head was signed, in milliseconds. The head is valid until Time + Valid.
	Time  time.Time
	Valid time.Duration // whole seconds
	// ID, Kind and Bytes are those of the filter's state.
	ID    wire.ID
	Kind  string
	Bytes uint64
	// Index refers to the index: see Index.
	Index Ref
	// Deltas are the deltas to this version from the version before it, from the one before
	// that, and so on: at most MaxHeadDeltas.
	Deltas []Ref
	// Fold is the factor of the fold class that the head belongs to; 1 is the whole filter. ID, Bytes,
	// Index and Deltas are those of the folded filter.
	Fold uint64
	// Classes are all fold classes of the publication in ascending order of their factors, the whole
	// filter first. It is empty if there are no others.
	Classes []Class
}

// MaxHeadDeltas is the maximum number of deltas in a head. The index contains more.
const MaxHeadDeltas = 3

// Stream identifies what a publisher writes to a store from an empty one on. Streams are ordered by
// their time, then by their nonce.
type Stream struct {
	Began int64 // milliseconds since 1970
	Nonce uint64
}

// Compare returns -1 if s began before t, 1 if it began later, and 0 if they are the same.
func (s Stream) Compare(t Stream) int {
	return cmp.Or(cmp.Compare(s.Began, t.Began), cmp.Compare(s.Nonce, t.Nonce))
}

// String returns the stream as it is in a head: two hexadecimal numbers of 16 digits.
func (s Stream) String() string { return fmt.Sprintf("%016x%016x", uint64(s.Began), s.Nonce) }

// Expires returns the end of the head's validity.
func (h *Head) Expires() time.Time { return h.Time.Add(h.Valid) }

const (
	headMagic = "umbel publication 1"
	// maxHead bounds a head, with the signatures that a carrier may have added.
	maxHead = MaxRecord / 4
	// maxSeconds bounds the validity, and maxMilli the times.
	maxSeconds = 1 << 31
	maxMilli   = 1 << 53
)

// text returns the text of the head that is signed.
func (h *Head) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\nstream %s %d\ntime %d %d\n", headMagic, h.Name, h.Stream, h.Version, h.Time.UnixMilli(), h.Valid/time.Second)
	fmt.Fprintf(&b, "state %s %s %d\n", base64.RawURLEncoding.EncodeToString(h.ID[:]), h.Kind, h.Bytes)
	fmt.Fprintf(&b, "index %d %s\n", h.Index.Bytes, h.Index.Hash)
	for i, d := range h.Deltas {
		fmt.Fprintf(&b, "delta %d %d %s\n", i+1, d.Bytes, d.Hash)
	}
	if h.Fold > 1 {
		fmt.Fprintf(&b, "class %d\n", h.Fold)
	}
	for _, c := range h.Classes {
		fmt.Fprintf(&b, "fold %d %d %d %.0f\n", c.Fold, c.Snapshot, c.Delta, c.Rate*rateUnit)
	}
	return b.String()
}

// Sign returns the signed head. The signer's name is the head's.
func (h *Head) Sign(signer note.Signer) ([]byte, error) {
	signed, err := note.Sign(&note.Note{Text: h.text()}, signer)
	if err != nil {
		return nil, fmt.Errorf("share: sign the head: %w", err)
	}
	if len(signed) > maxHead {
		return nil, fmt.Errorf("share: the head has %d bytes, want at most %d: give the key a shorter name: %w", len(signed), maxHead, umbel.ErrLimit)
	}
	return signed, nil
}

// OpenHead returns the head in a signed note. The error wraps ErrSignature unless a key of the
// verifiers that has the name of the publication has signed it, and ErrCorrupt if its format is
// wrong.
func OpenHead(b []byte, name string, keys note.Verifiers) (*Head, error) {
	if len(b) > maxHead {
		return nil, fmt.Errorf("share: a head of %d bytes, want at most %d: %w", len(b), maxHead, ErrCorrupt)
	}
	n, err := note.Open(b, keys)
	if err != nil {
		if unverified := (*note.UnverifiedNoteError)(nil); errors.As(err, &unverified) {
			return nil, fmt.Errorf("share: the head is not signed by %s: %w", name, ErrSignature)
		}
		return nil, fmt.Errorf("share: the head: %w: %w", err, ErrSignature)
	}
	signed := false
	for _, s := range n.Sigs {
		signed = signed || s.Name == name
	}
	if !signed {
		return nil, fmt.Errorf("share: the head is signed, but not by %s: %w", name, ErrSignature)
	}
	h, err := parseHead(n.Text)
	if err != nil {
		return nil, fmt.Errorf("share: the head is signed, but %w", err)
	}
	if h.Name != name {
		return nil, fmt.Errorf("share: the head is of the publication %q, want %q: %w", h.Name, name, ErrSignature)
	}
	return h, nil
}

// parseHead parses the text of a head. It accepts only what text returns.
func parseHead(text string) (*Head, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if lines[0] != headMagic {
		return nil, fmt.Errorf("begins with %.40q, want %q: %w", lines[0], headMagic, ErrCorrupt)
	}
	if most := 6 + MaxHeadDeltas + 1 + 1 + MaxFolds; len(lines) < 6 || len(lines) > most {
		return nil, fmt.Errorf("has %d lines, want 6 to %d: %w", len(lines), most, ErrCorrupt)
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
		return nil, fmt.Errorf("has %d deltas to version %d: %w", len(h.Deltas), h.Version, ErrCorrupt)
	case h.text() != text:
		return nil, fmt.Errorf("is not in its canonical form: %w", ErrCorrupt)
	}
	return h, nil
}

// fields parses the fields of lines and keeps the first error.
type fields struct{ err error }

func (p *fields) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("has "+format+": %w", append(args, ErrCorrupt)...)
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
