package share

import (
	"context"
	"errors"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Source is where a subscriber reads a publication. Nothing that it returns is trusted. Methods are
// safe for concurrent use.
type Source interface {
	// Record returns a small record that may change, such as the head. The error wraps
	// ErrNotFound if there is none. A source may refuse a record of more than MaxRecord bytes.
	Record(ctx context.Context, name string) ([]byte, error)
	// Object returns the bytes of an object from the offset on. Names are those of Hash.String
	// and Hash.ChunksName. The error wraps ErrNotFound if there is no such object.
	//
	// If the result is an io.Seeker too, it is one of the whole object. If it has a method
	// Size() int64, that returns the bytes of the whole object, or -1. Package web can then serve
	// ranges.
	Object(ctx context.Context, name string, offset int64) (io.ReadCloser, error)
}

// Watcher is a Source that can wait for a change. WatchRecord returns the record when it differs
// from last, and as it is after a time that the source chooses.
type Watcher interface {
	WatchRecord(ctx context.Context, name string, last []byte) ([]byte, error)
}

// Store is where a publisher writes a publication, and where a subscriber keeps what it has
// fetched.
type Store interface {
	Source
	// PutRecord replaces a record, as a whole or not at all. All objects that were committed
	// before are durable when it returns.
	PutRecord(ctx context.Context, name string, data []byte) error
	// NewObject begins an object.
	NewObject(ctx context.Context) (Upload, error)
	// Objects yields the names of all objects, in any order.
	Objects(ctx context.Context) iter.Seq2[string, error]
	// Remove removes an object. It is no error if there is none.
	Remove(ctx context.Context, name string) error
}

// Upload receives the bytes of an object.
type Upload interface {
	io.Writer
	// Commit makes the object readable under its name.
	Commit(ctx context.Context, name string) error
	// Close removes what was written, unless Commit succeeded.
	Close() error
}

// put writes an object, and the list of its chunks if it has several. write writes its bytes.
func put(ctx context.Context, store Store, write func(io.Writer) error) (Ref, error) {
	u, err := store.NewObject(ctx)
	if err != nil {
		return Ref{}, err
	}
	defer u.Close()
	var h hasher
	if err := write(io.MultiWriter(u, &h)); err != nil {
		return Ref{}, err
	}
	r := h.ref()
	if err := u.Commit(ctx, r.Hash.String()); err != nil {
		return Ref{}, err
	}
	if len(h.chunks) < 2 {
		return r, nil
	}
	list, err := store.NewObject(ctx)
	if err != nil {
		return Ref{}, err
	}
	defer list.Close()
	for _, c := range h.chunks {
		if _, err := list.Write(c[:]); err != nil {
			return Ref{}, err
		}
	}
	return r, list.Commit(ctx, r.Hash.ChunksName())
}

// putBytes writes an object.
func putBytes(ctx context.Context, store Store, data []byte) (Ref, error) {
	return put(ctx, store, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// HeadName is the name of the record that contains the head of a publication.
const HeadName = "head"

// classPrefix is the beginning of the names of the records of classes.
const classPrefix = HeadName + "-"

// ClassRecord returns the name of the record with the heads of the class of a factor: HeadName for the
// whole filter, otherwise head-FACTOR.
func ClassRecord(fold uint64) string {
	if fold <= 1 {
		return HeadName
	}
	return classPrefix + strconv.FormatUint(fold, 10)
}

// IsHead reports whether name is that of a record with heads: of the whole filter or of a class. A
// carrier for subscribers needs no other records.
func IsHead(name string) bool {
	if name == HeadName {
		return true
	}
	digits, ok := strings.CutPrefix(name, classPrefix)
	fold, err := strconv.ParseUint(digits, 10, 64)
	return ok && err == nil && fold > 1 && ClassRecord(fold) == name
}

// MaxRecord is the maximum number of bytes of a record.
const MaxRecord = 16 << 10

// CheckRecord returns an error wrapping ErrCorrupt unless name can be the name of a record: that of a
// head (IsHead), or 1 to 32 lower-case letters, but not "objects", which carriers may use for the objects.
func CheckRecord(name string) error {
	if IsHead(name) {
		return nil
	}
	notLetter := func(c rune) bool { return c < 'a' || c > 'z' }
	if name == "" || len(name) > 32 || name == "objects" || strings.ContainsFunc(name, notLetter) {
		return sentinel.Errorf(ErrCorrupt, "%.40q is not the name of a record, want 1 to 32 of a-z, or head- and a number", name)
	}
	return nil
}

// Errors that callers distinguish.
var (
	// ErrCorrupt is umbel.ErrCorrupt: data violates its format, or has another hash.
	ErrCorrupt = umbel.ErrCorrupt
	// ErrNotFound: a source has no such record or object.
	ErrNotFound = errors.New("not found")
	// ErrSignature: a head is not signed with a key that the subscriber trusts, or is the head of
	// another publication.
	ErrSignature = errors.New("no valid signature")
	// ErrReplayed: a head is older than one that was accepted before.
	ErrReplayed = errors.New("older than a head that was accepted before")
	// ErrFork: two heads contradict each other. The key signs for two publishers.
	ErrFork = errors.New("two different heads claim to be the same version")
	// ErrFuture: the time of a head is ahead of the subscriber's clock.
	ErrFuture = errors.New("from the future")
	// ErrStale: there is no head whose validity has not ended.
	ErrStale = errors.New("stale")
	// ErrBudget: an update waits until Budget.BytesPerSecond permits it.
	ErrBudget = errors.New("the budget of bytes per second is spent")
	// ErrSeed: publishing the filter would publish its secret seed.
	ErrSeed = errors.New("the filter has a secret seed")
)
