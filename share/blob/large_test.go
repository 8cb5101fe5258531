package blob_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/share"
	shareblob "github.com/umbel-filters/umbel/share/blob"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
)

// large is more than what is kept in memory.
const large = 9<<20 + 17

// begin writes n bytes of an object and returns them.
func begin(t testing.TB, s share.Store, n int) (share.Upload, []byte) {
	t.Helper()
	data := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(n)}).Read(data)
	u, err := s.NewObject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for piece := range slices.Chunk(data, 1<<20) {
		if _, err := u.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	return u, data
}

// commit writes an object and returns its name.
func commit(t testing.TB, s share.Store, n int) (string, []byte) {
	t.Helper()
	u, data := begin(t, s, n)
	name := share.RefOf(data).Hash.String()
	if err := u.Commit(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	return name, data
}

// keys returns all keys of a bucket.
func keys(t testing.TB, b *blob.Bucket) (all []string) {
	t.Helper()
	for l := b.List(nil); ; {
		o, err := l.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o.Key)
	}
}

func wantKeys(t testing.TB, b *blob.Bucket, want ...string) {
	t.Helper()
	if got := keys(t, b); !slices.Equal(got, want) {
		t.Errorf("keys %v, want %v", got, want)
	}
}

func wantObject(t testing.TB, s share.Source, name string, offset int, want []byte) {
	t.Helper()
	body, err := s.Object(t.Context(), name, int64(offset))
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if n := body.(interface{ Size() int64 }).Size(); n != int64(len(want)) {
		t.Errorf("Size is %d, want %d", n, len(want))
	}
	if got, err := io.ReadAll(body); err != nil || !bytes.Equal(got, want[offset:]) {
		t.Errorf("%d bytes from %d on, %v; want %d", len(got), offset, err, len(want)-offset)
	}
}

// A large object is visible when it is complete, and leaves nothing else.
func TestLarge(t *testing.T) {
	for _, d := range drivers {
		t.Run(d.name, func(t *testing.T) {
			b := d.open(t)
			s := create(t, b)
			u, data := begin(t, s, large)
			name := share.RefOf(data).Hash.String()
			if _, err := s.Object(t.Context(), name, 0); !errors.Is(err, share.ErrNotFound) {
				t.Errorf("Object before Commit: %v, want ErrNotFound", err)
			}
			for range s.Objects(t.Context()) {
				t.Error("an object is listed before Commit")
			}
			if err := u.Commit(t.Context(), name); err != nil {
				t.Fatal(err)
			}
			if err := u.Close(); err != nil {
				t.Fatal(err)
			}
			wantObject(t, s, name, 0, data)
			wantObject(t, s, name, large-1000, data)
			wantObject(t, s, name, large, data)
			wantKeys(t, b, "objects/"+name)
		})
	}
}

// A large object that is not committed leaves nothing.
func TestLargeClosed(t *testing.T) {
	for _, d := range drivers {
		t.Run(d.name, func(t *testing.T) {
			b := d.open(t)
			u, data := begin(t, create(t, b), large)
			if err := u.Close(); err != nil {
				t.Fatal(err)
			}
			wantKeys(t, b)
			if err := u.Commit(t.Context(), share.RefOf(data).Hash.String()); err == nil {
				t.Error("Commit after Close succeeds")
			}
			wantKeys(t, b)
		})
	}
}

// If the service refuses to copy, the object is read and written.
func TestCopyRefused(t *testing.T) {
	server := newServer(t)
	var refused atomic.Int64
	server.handle(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Amz-Copy-Source") != "" {
			refused.Add(1)
			http.Error(w, "too large", http.StatusBadRequest)
			return
		}
		server.s3.ServeHTTP(w, r)
	})
	b := server.bucket(t)
	s := create(t, b)
	name, data := commit(t, s, large)
	if n := refused.Load(); n != 1 {
		t.Errorf("%d copies were refused, want 1", n)
	}
	wantObject(t, s, name, 0, data)
	wantKeys(t, b, "objects/"+name)
}

// Create removes what a publisher left that was interrupted more than a day ago, and nothing else.
func TestInterruptedBefore(t *testing.T) {
	path := t.TempDir()
	b, err := fileblob.OpenBucket(path, &fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	name, _ := commit(t, create(t, b), 1000)
	for key, age := range map[string]time.Duration{
		".writer/old": 25 * time.Hour, ".writer/new": 23 * time.Hour, "objects/" + name: 1000 * time.Hour, "other": 1000 * time.Hour,
	} {
		if key != "objects/"+name {
			if err := b.WriteAll(t.Context(), key, []byte("data"), nil); err != nil {
				t.Fatal(err)
			}
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(filepath.Join(path, filepath.FromSlash(key)), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := shareblob.Create(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	wantKeys(t, b, ".writer/new", "objects/"+name, "other")
}
