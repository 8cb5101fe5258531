package share

import (
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"golang.org/x/mod/sumdb/note"
)

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
