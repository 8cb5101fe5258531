package share

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
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

// MaxFolds is the maximum number of fold classes of a publication, apart from the whole filter.
const MaxFolds = 8

// Class is a fold class as a head announces it: the publication of the filter folded by a factor.
type Class struct {
	Fold     uint64  // the factor; 1 is the whole filter
	Snapshot uint64  // bytes of the last snapshot
	Delta    uint64  // bytes of the delta from the version before; 0 if there is none
	Rate     float64 // measured false-positive rate of this version, rounded up to a multiple of 1e-9
}

// rateUnit is the number of units of a rate in a head.
const rateUnit = 1e9

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

// class returns the class of a head as the head announces it; its bytes are zero if it announces none.
func (h *Head) class() Class {
	for _, c := range h.Classes {
		if c.Fold == h.Fold {
			return c
		}
	}
	return Class{Fold: h.Fold}
}

// checkClass returns an error unless the head is of the class of a factor: a carrier may have put it into
// the record of another one.
func (h *Head) checkClass(fold uint64) error {
	if h.Fold != fold {
		return sentinel.Errorf(ErrCorrupt, "the record %s has a head of class %d", ClassRecord(fold), h.Fold)
	}
	return nil
}

// Sign returns the signed head. The signer's name is the head's.
func (h *Head) Sign(signer note.Signer) ([]byte, error) {
	signed, err := note.Sign(&note.Note{Text: h.text()}, signer)
	if err != nil {
		return nil, fmt.Errorf("sign the head: %w", err)
	}
	if len(signed) > maxHead {
		return nil, sentinel.Errorf(umbel.ErrLimit, "the head has %d bytes, want at most %d: give the key a shorter name", len(signed), maxHead)
	}
	return signed, nil
}

// OpenHead returns the head in a signed note. The error wraps ErrSignature unless a key of the
// verifiers that has the name of the publication has signed it, and ErrCorrupt if its format is
// wrong.
func OpenHead(b []byte, name string, keys note.Verifiers) (*Head, error) {
	if len(b) > maxHead {
		return nil, sentinel.Errorf(ErrCorrupt, "a head of %d bytes, want at most %d", len(b), maxHead)
	}
	n, err := note.Open(b, keys)
	if err != nil {
		if unverified := (*note.UnverifiedNoteError)(nil); errors.As(err, &unverified) {
			return nil, fmt.Errorf("the head is not signed by %s: %w", name, ErrSignature)
		}
		return nil, fmt.Errorf("the head: %w: %w", err, ErrSignature)
	}
	signed := false
	for _, s := range n.Sigs {
		signed = signed || s.Name == name
	}
	if !signed {
		return nil, fmt.Errorf("the head is signed, but not by %s: %w", name, ErrSignature)
	}
	h, err := parseHead(n.Text)
	if err != nil {
		return nil, fmt.Errorf("the head is signed, but %w", err)
	}
	if h.Name != name {
		return nil, fmt.Errorf("the head is of the publication %q, want %q: %w", h.Name, name, ErrSignature)
	}
	return h, nil
}
