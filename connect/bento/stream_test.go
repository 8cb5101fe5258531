// Code generated from package benthos; DO NOT EDIT.

package bento_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	_ "github.com/umbel-filters/umbel/connect/bento"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
	"github.com/umbel-filters/umbel/wire"
	_ "github.com/warpstreamlabs/bento/public/components/io"
	_ "github.com/warpstreamlabs/bento/public/components/pure"
	"github.com/warpstreamlabs/bento/public/service"
)

// message is a message with its position in metadata.
type message struct {
	text     string
	position int
}

// run sends messages one by one through processors of the real engine, and returns what passes, with metadata appended.
func run(t *testing.T, processors, output string, messages ...message) (passed []string) {
	t.Helper()
	b := service.NewStreamBuilder()
	if err := b.SetLoggerYAML("level: error"); err != nil {
		t.Fatal(err)
	}
	send, err := b.AddProducerFunc()
	if err != nil {
		t.Fatal(err)
	}
	if processors != "" {
		if err := b.AddProcessorYAML(processors); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	if output != "" {
		err = b.AddOutputYAML(output)
	} else {
		err = b.AddConsumerFunc(func(_ context.Context, m *service.Message) error {
			text, err := m.AsBytes()
			mu.Lock()
			defer mu.Unlock()
			line := string(text)
			for _, name := range []string{"umbel_has", "umbel_new"} {
				if v, ok := m.MetaGetMut(name); ok {
					line += fmt.Sprintf(" %v", v)
				}
			}
			if m.GetError() != nil {
				line += " error"
			}
			passed = append(passed, line)
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	stream, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- stream.Run(t.Context()) }()
	for _, m := range messages {
		msg := service.NewMessage([]byte(m.text))
		msg.MetaSetMut("offset", m.position)
		if err := send(t.Context(), msg); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.StopWithin(time.Minute); err != nil {
		t.Fatal(err)
	}
	<-ended
	return passed
}

// texts returns messages without positions that matter.
func texts(list ...string) (messages []message) {
	for i, s := range list {
		messages = append(messages, message{s, i})
	}
	return messages
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("passed %q, want %q", got, want)
	}
}

// Components of several runs, that is after restarts, have one filter; its file is a container.
func TestProcessors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seen")
	with := func(name, more string) string { return fmt.Sprintf("%s:\n  path: %s\n%s", name, path, more) }
	want(t, run(t, with("umbel_uniq", ""), "", texts("a", "b", "a", "c", "b")...), "a", "b", "c")
	want(t, run(t, with("umbel_uniq", ""), "", texts("c", "d")...), "d")
	want(t, run(t, with("umbel_add", ""), "", texts("d", "e", "e")...), "d false", "e true", "e false")
	want(t, run(t, with("umbel_has", ""), "", texts("e", "f")...), "e true", "f false")
	want(t, run(t, with("umbel_has", "  keep: present"), "", texts("e", "f")...), "e true")
	want(t, run(t, with("umbel_has", "  keep: absent"), "", texts("e", "f")...), "f false")
	want(t, run(t, with("umbel_uniq", "  key: this.id"), "", texts(`{"id":"a","n":1}`, `{"id":"g","n":2}`, `{"id":"g","n":3}`, `{"id":7}`, `{"id":7}`, `{"n":1}`, `{"n":1}`, `no JSON`)...),
		`{"id":"g","n":2}`, `{"id":7}`, `{"n":1}`, `{"n":1}`, `no JSON error`)
	b, err := os.ReadFile(filepath.Join(path, "filter.umb"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := wire.Read(bytes.NewReader(b), wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := filter.All.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a", "e", "g", "7"} {
		if !f.Has(f.Hasher().HashString(key)) {
			t.Errorf("the file lacks %q", key)
		}
	}
}

// Two components of one stream share a filter, in several threads.
func TestShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seen")
	got := run(t, fmt.Sprintf("try:\n  - umbel_has: {path: %s}\n  - umbel_add: {path: %[1]s}", path), "", texts("a", "a", "b")...)
	want(t, got, "a false true", "a true false", "b false true")
}

// A message that comes again has the decision that it had: it is passed again, or dropped again, and a counting filter counts it once.
func TestPositions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seen")
	config := fmt.Sprintf("umbel_uniq: {path: %s, kind: counting, position: 'meta(\"offset\")', source: '\"topic/0\"'}", path)
	want(t, run(t, config, "", message{"a", 10}, message{"b", 11}, message{"a", 12}, message{"a", 13}), "a", "b")
	want(t, run(t, config, "", message{"b", 11}, message{"a", 12}, message{"a", 13}, message{"c", 14}, message{"c", 15}), "b", "c")
	b, err := os.ReadFile(filepath.Join(path, "filter.umb"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := wire.Read(bytes.NewReader(b), wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := filter.All.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	for key, times := range map[string]uint64{"a": 3, "b": 1, "c": 2} {
		if n, _ := f.(umbel.Counter).Count(f.Hasher().HashString(key)); n != times {
			t.Errorf("%s is counted %d times, want %d", key, n, times)
		}
	}
}

// The output publishes what it was sent; a second run continues the publication.
func TestPublish(t *testing.T) {
	directory := t.TempDir()
	_, private, err := share.NewKey("example.org/seen")
	if err != nil {
		t.Fatal(err)
	}
	public, err := share.PublicKey(private)
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(directory, "key")
	if err := os.WriteFile(key, []byte(private+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	verifier, err := share.ParsePublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(directory, "public")
	config := fmt.Sprintf("umbel_publish: {path: %s, to: %s, private_key: %s, every: 50ms, valid: 1h}", filepath.Join(directory, "seen"), to, key)
	for i, keys := range [][]string{{"a", "b"}, {"c"}} {
		run(t, "", config, texts(keys...)...)
		s, err := share.NewSubscriber(t.Context(), share.SubscriberOptions{Source: dir.Open(to), Verifier: verifier, Kinds: filter.All, Stale: share.StaleError})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Update(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, key := range slices.Concat([]string{"a", "b"}, keys) {
			if has, err := s.HasString(key); !has || err != nil {
				t.Errorf("run %d: %q: %v, %v", i, key, has, err)
			}
		}
		s.Close()
	}
}

// The engine's linter accepts the configurations of the documentation, and refuses wrong ones.
func TestLint(t *testing.T) {
	for config, fault := range map[string]string{
		"umbel_uniq: {path: seen}":                                        "",
		"umbel_uniq: {path: seen, key: this.id, position: 'meta(\"o\")'}": "",
		"umbel_has: {path: seen, keep: absent}":                           "",
		"umbel_uniq: {key: this.id}":                                      "path",
		"umbel_uniq: {path: seen, fpr: 2}":                                "rate between",
		"umbel_uniq: {path: seen, keys: 0}":                               "at least 1 key",
		"umbel_uniq: {path: seen, key: 'this.'}":                          "expected method or field path",
		"umbel_has: {path: seen, keep: some}":                             "some",
		"umbel_add: {path: seen, size: 3}":                                "size",
	} {
		err := service.NewStreamBuilder().AddProcessorYAML(config)
		if (err == nil) != (fault == "") || err != nil && !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: %v, want %q", config, err, fault)
		}
	}
}

// The engine's linter accepts the components of the configuration in docs/scale.md.
func TestLintOfPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "scale.md"))
	if err != nil {
		t.Fatal(err)
	}
	between := func(begin, end string) (text string) {
		_, text, found := strings.Cut(string(page), begin)
		if !found {
			t.Fatalf("docs/scale.md has no %q", begin)
		}
		text, _, _ = strings.Cut(text, end)
		return text
	}
	b := service.NewStreamBuilder()
	if err := b.AddProcessorYAML("umbel_uniq:\n" + between("    - umbel_uniq:\n", "output:\n")); err != nil {
		t.Error(err)
	}
	if err := b.AddOutputYAML("umbel_publish:\n" + between("  umbel_publish:\n", "```")); err != nil {
		t.Error(err)
	}
}
