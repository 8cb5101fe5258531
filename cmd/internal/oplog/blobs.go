package oplog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

func (l *chain) PutBlob(ctx context.Context, data []byte) (uint64, error) {
	if len(data) == 0 || len(data) > MaxBlob {
		return 0, fmt.Errorf("oplog: a blob of %d bytes: there are 1 to %d", len(data), MaxBlob)
	}
	l.storing.Lock()
	defer l.storing.Unlock()
	number, err := l.putBlob(ctx, data)
	return number, l.outcome(Blobs, err, "put a blob")
}

func (l *chain) putBlob(ctx context.Context, data []byte) (uint64, error) {
	if err := l.ready(); err != nil {
		return 0, err
	}
	var err error
	for range 3 { // an earlier one, given up by then, may have come in
		number := l.blob + 1
		if err := l.fill(ctx, Blobs, number); err != nil {
			return 0, err
		}
		l.stored = appendFrame(l.stored[:0], frame{kind: kindBlob, number: number, data: data})
		if err = l.medium.Append(ctx, Blobs, number, l.stored); err == nil {
			l.blob = number
			if err := l.mark(false, func(h *head) { h.blob = number }); err != nil {
				return 0, err
			}
			return number, nil
		}
		if !errors.Is(err, ErrNumber) {
			return 0, err
		}
		_, used, err := l.medium.Bounds(ctx, Blobs)
		if err != nil {
			return 0, err
		}
		l.blob = max(l.blob, used)
	}
	return 0, err
}

func (l *chain) Blob(ctx context.Context, number uint64) ([]byte, error) {
	_, f, err := l.get(ctx, Blobs, number)
	switch {
	case err == nil && f.kind == kindVoid:
		return nil, fmt.Errorf("oplog: blob %d: %w", number, ErrNotFound)
	case errors.Is(err, errFrame):
		return nil, fmt.Errorf("oplog: %w: blob %d: %w", ErrHole, number, err)
	case err != nil:
		return nil, fmt.Errorf("oplog: blob %d: %w", number, err)
	}
	return f.data, nil
}

func (l *chain) DeleteBlobs(ctx context.Context, numbers []uint64) error {
	if len(numbers) == 0 {
		return nil
	}
	l.storing.Lock()
	defer l.storing.Unlock()
	err := l.ready()
	if err == nil {
		err = l.medium.Remove(ctx, Blobs, numbers)
	}
	return l.outcome(Blobs, err, "delete blobs")
}

func (l *chain) Blobs(ctx context.Context, each func(number uint64) error) error {
	return l.medium.Numbers(ctx, Blobs, each)
}

// keptManifests is how many manifests are kept, the last one among them.
const keptManifests = 8

func (l *chain) Manifest(ctx context.Context) ([]byte, uint64, error) {
	l.storing.Lock()
	defer l.storing.Unlock()
	if l.manifests == 0 {
		return nil, 0, nil
	}
	_, f, err := l.get(ctx, Manifests, l.manifests)
	switch {
	case err == nil && f.kind == kindManifest:
		return f.data, l.manifests, nil
	case err == nil || errors.Is(err, ErrNotFound):
		return nil, 0, fmt.Errorf("oplog: %w: manifest %d was kept, and is gone", ErrHole, l.manifests)
	case errors.Is(err, errFrame):
		return nil, 0, fmt.Errorf("oplog: %w: manifest %d: %w", ErrHole, l.manifests, err)
	}
	return nil, 0, fmt.Errorf("oplog: manifest %d: %w", l.manifests, err)
}

func (l *chain) OldManifest(ctx context.Context) ([]byte, uint64, error) {
	l.storing.Lock()
	defer l.storing.Unlock()
	var data []byte
	err := l.medium.Scan(ctx, Manifests, 1, l.manifests, func(number uint64, whole []byte) error {
		if f, err := parseFrame(whole, kindManifest, number); err == nil && f.kind == kindManifest {
			data = bytes.Clone(f.data)
		}
		return nil
	})
	return data, l.manifests, err
}

func (l *chain) SetManifest(ctx context.Context, data []byte, revision uint64) (uint64, error) {
	if len(data) == 0 || len(data) > MaxBlob {
		return 0, fmt.Errorf("oplog: a manifest of %d bytes: there are 1 to %d", len(data), MaxBlob)
	}
	l.storing.Lock()
	defer l.storing.Unlock()
	revision, err := l.setManifest(ctx, data, revision)
	if errors.Is(err, ErrConflict) {
		return 0, err
	}
	return revision, l.outcome(Manifests, err, "set the manifest")
}

func (l *chain) setManifest(ctx context.Context, data []byte, revision uint64) (uint64, error) {
	if err := l.ready(); err != nil {
		return 0, err
	}
	if revision != l.manifests {
		return 0, fmt.Errorf("oplog: %w: it is %d, not %d", ErrConflict, l.manifests, revision)
	}
	number := revision + 1
	if err := l.fill(ctx, Manifests, number); err != nil {
		return 0, err
	}
	l.stored = appendFrame(l.stored[:0], frame{kind: kindManifest, number: number, data: data})
	err := l.medium.Append(ctx, Manifests, number, l.stored)
	if errors.Is(err, ErrNumber) {
		// An earlier one came in whose end wasn't known: this one again, or another.
		whole, getErr := l.medium.Get(ctx, Manifests, number)
		switch {
		case getErr != nil && !errors.Is(getErr, ErrNotFound):
			return 0, getErr
		case bytes.Equal(whole, l.stored):
			err = nil
		default:
			l.manifests = number
			return 0, fmt.Errorf("oplog: %w: it is %d by now", ErrConflict, number)
		}
	}
	if err != nil {
		return 0, err
	}
	if err := l.mark(true, func(h *head) { h.manifest = number }); err != nil {
		return 0, err
	}
	l.manifests = number
	if number > keptManifests {
		// If that fails, the next manifest's purge makes up for it.
		_ = l.medium.Purge(ctx, Manifests, number-keptManifests+1)
	}
	return number, nil
}
