package nats_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/umbel-filters/umbel/share"
	sharenats "github.com/umbel-filters/umbel/share/nats"
	"github.com/umbel-filters/umbel/share/sharetest"
)

func TestStore(t *testing.T) {
	sharetest.Store(t, func(t *testing.T) share.Store {
		s, _ := both(t, node{})
		return s
	})
}

func TestSource(t *testing.T) {
	open := func(t *testing.T) (share.Store, share.Source) { return both(t, node{}) }
	sharetest.Source(t, open)
	sharetest.Publication(t, open)
}

// The suite passes if messages are small. The least that a part can have is what the rest of a message
// leaves.
func TestSmallMessages(t *testing.T) {
	sharetest.Store(t, func(t *testing.T) share.Store {
		s, _ := both(t, node{MaxPayload: 20 << 10})
		return s
	})
}

// content returns random bytes and their name.
func content(n int, seed byte) ([]byte, string) {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{seed}).Read(b)
	return b, share.RefOf(b).Hash.String()
}

func upload(t testing.TB, s share.Store, b []byte) share.Upload {
	t.Helper()
	u, err := s.NewObject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for piece := range slices.Chunk(b, 300_000) {
		if _, err := u.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

// messages returns the number of messages in the stream.
func messages(t testing.TB, js jetstream.JetStream) uint64 {
	t.Helper()
	s, err := js.Stream(t.Context(), options.Stream)
	if err != nil {
		t.Fatal(err)
	}
	return s.CachedInfo().State.Msgs
}

// A large object has parts of 512 KiB, which are removed with it. If it is not committed, nothing
// remains.
func TestLarge(t *testing.T) {
	_, js := connect(t, start(t, node{Store: t.TempDir(), Port: -1}).ClientURL())
	s := create(t, js, options)
	b, name := content(10<<20+1, 1)
	u := upload(t, s, b)
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	if n := messages(t, js); n != 0 {
		t.Errorf("%d messages remain after Close", n)
	}
	u = upload(t, s, b)
	if err := u.Commit(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	if n := messages(t, js); n != 22 {
		t.Errorf("%d messages, want 21 parts and the object", n)
	}
	for _, offset := range []int{0, 1, 512 << 10, 5<<20 - 1, 10 << 20, 10<<20 + 1, 20 << 20} {
		body, err := s.Object(t.Context(), name, int64(offset))
		if err != nil {
			t.Fatal(err)
		}
		want := b[min(offset, len(b)):]
		if got, err := io.ReadAll(body); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes from %d on, %v; want %d", len(got), offset, err, len(want))
		}
		if n := body.(interface{ Size() int64 }).Size(); n != int64(len(b)) {
			t.Errorf("Size is %d, want %d", n, len(b))
		}
		body.Close()
	}
	if err := s.Remove(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if n := messages(t, js); n != 0 {
		t.Errorf("%d messages remain after Remove", n)
	}
}

// Create removes the parts that an interrupted publisher left more than a day ago, and no others.
func TestInterruptedBefore(t *testing.T) {
	_, js := connect(t, start(t, node{Store: t.TempDir(), Port: -1}).ClientURL())
	s := create(t, js, options)
	b, name := content(1<<20, 1)
	u := upload(t, s, b)
	if err := u.Commit(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	upload(t, s, b) // It is interrupted, a moment ago.
	before := messages(t, js)
	const text = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	const old, used = "00000000000a" + text, "00000000000b" + text
	for _, subject := range []string{"part." + old + ".0", "part." + old + ".1", "part." + used + ".0"} {
		if _, err := js.Publish(t.Context(), options.Subject+"."+subject, []byte("part")); err != nil {
			t.Fatal(err)
		}
	}
	_, other := content(4, 2)
	m := nats.NewMsg(options.Subject + ".object." + other)
	m.Header.Set("Umbel-Parts", used+" 4 1000")
	if _, err := js.PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	create(t, js, options)
	if n := messages(t, js); n != before+2 {
		t.Errorf("%d messages, want %d", n, before+2)
	}
}

// Create does not use a stream that would lose messages.
func TestOtherStream(t *testing.T) {
	_, js := connect(t, start(t, node{Store: t.TempDir(), Port: -1}).ClientURL())
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "OTHER", Subjects: []string{"share.>"}, AllowDirect: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := sharenats.Create(t.Context(), js, sharenats.Options{Stream: "OTHER", Subject: "share.set"}); err == nil {
		t.Error("Create uses a stream that keeps several messages per subject")
	}
	for _, o := range []sharenats.Options{{}, {Stream: "S"}, {Stream: "S", Subject: "a..b"}, {Stream: "S", Subject: "a.>"}, {Stream: "S.T", Subject: "a"}} {
		if _, err := sharenats.Open(js, o); err == nil {
			t.Errorf("Open accepts %+v", o)
		}
	}
}

// Of two publishers, the one that did not write last gets an error, even if both read the last head
// before.
func TestTwoWriters(t *testing.T) {
	_, js := connect(t, start(t, node{Store: t.TempDir(), Port: -1}).ClientURL())
	a, b := create(t, js, options), create(t, js, options)
	for _, s := range []*sharenats.Store{a, b} {
		if _, err := s.Record(t.Context(), share.HeadName); !errors.Is(err, share.ErrNotFound) {
			t.Fatal(err)
		}
	}
	if err := a.PutRecord(t.Context(), share.HeadName, []byte("a")); err != nil {
		t.Fatal(err)
	}
	if err := b.PutRecord(t.Context(), share.HeadName, []byte("b")); !errors.Is(err, share.ErrFork) {
		t.Errorf("the second writer: %v, want ErrFork", err)
	}
	if err := a.PutRecord(t.Context(), share.HeadName, []byte("c")); err != nil {
		t.Error(err)
	}
}

// False messages delay a subscriber until the record is requested again, and no longer.
func TestFalseMessages(t *testing.T) {
	nc, js := connect(t, start(t, node{Store: t.TempDir(), Port: -1}).ClientURL())
	store, source := create(t, js, options), open(t, js)
	p, verifier := sharetest.Publisher(t, store)
	f := sharetest.Set(t, 1<<18, 0, 1000)
	sharetest.Publish(t, p, f)
	s := sharetest.Subscriber(t, source, verifier)
	sharetest.Run(t, s, time.Hour)
	sharetest.Arrives(t, s, f)
	for i, m := range []struct{ sequence, object, data string }{
		{"18446744073709551615", "", "junk"},
		{"18446744073709551614", "0000000000000000000000000g 4", "junkjunk"},
		{"18446744073709551614", "0000000000000000000000000g 400", "junk"},
		{"x", "", "junk"},
		{"5", "x -1", "junk"},
		{"", "", ""},
	} {
		msg := nats.NewMsg(options.Subject + ".live.head")
		msg.Header.Set("Umbel-Sequence", m.sequence)
		msg.Header.Set("Umbel-Object", m.object)
		msg.Data = []byte(m.data)
		if err := nc.PublishMsg(msg); err != nil {
			t.Fatal(err)
		}
		f.Add(f.Hasher().HashUint64(1e9 + uint64(i)))
		sharetest.Publish(t, p, f)
		sharetest.Arrives(t, s, f)
	}
}

// A subscriber that has every version sends no request: the deltas come with the heads.
func TestNoRequests(t *testing.T) {
	server := start(t, node{Store: t.TempDir(), Port: -1})
	_, publisher := connect(t, server.ClientURL())
	nc, js := connect(t, server.ClientURL())
	p, verifier := sharetest.Publisher(t, create(t, publisher, options))
	f := sharetest.Set(t, 1<<20, 0, 10_000)
	sharetest.Publish(t, p, f)
	s := sharetest.Subscriber(t, open(t, js), verifier)
	sharetest.Run(t, s, time.Hour)
	sharetest.Arrives(t, s, f)
	sent := uint64(0)
	for i := range uint64(20) {
		for j := range uint64(10) {
			f.Add(f.Hasher().HashUint64(1e9 + 10*i + j))
		}
		sharetest.Publish(t, p, f)
		sharetest.Arrives(t, s, f)
		if i == 0 {
			sent = nc.Stats().OutMsgs // The first wait subscribes and requests the head.
		}
	}
	if n := nc.Stats().OutMsgs - sent; n != 0 {
		t.Errorf("%d requests for 19 versions, want none", n)
	}
	if n := nc.Stats().InBytes; n > 1<<20/8+25*1500 {
		t.Errorf("received %d bytes", n)
	}
}
