package node

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// damaged starts a node with the filter "known", whose log lost the batches after the snapshots, and the loss
// is accepted.
func damaged(t *testing.T) (*Node, Config) {
	t.Helper()
	c := testConfig(t)
	c.Cuckoo = true
	n := started(t, c)
	r := dial(t, n, nil)
	r.Want("BF.ADD known a", ":1")
	r.Want("SAVE", "+OK")
	r.Want("BF.ADD known b", ":1")
	r.Want("SAVE", "+OK")
	r.Want("BF.ADD lost a", ":1")
	stopped(t, n)
	segments, err := filepath.Glob(filepath.Join(logDir(c.Data), "*.wal"))
	if err != nil || len(segments) == 0 {
		t.Fatal(segments, err)
	}
	for _, name := range segments {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	c.AcceptLoss = true
	n = started(t, c)
	c.AcceptLoss = false
	return n, c
}

const missingText = "names of filters may be missing"

// While names may be missing, every command with a key that has no filter fails, except those that make one.
func TestMissingNames(t *testing.T) {
	n, c := damaged(t)
	r := dial(t, n, nil)
	wantMissing := func(words ...string) {
		t.Helper()
		if reply := r.Do(words...); !strings.HasPrefix(reply, "-ERR ") || !strings.Contains(reply, missingText) {
			t.Errorf("%q: %q", words, reply)
		}
	}
	makes := strings.Fields("bf.reserve bf.add bf.madd bf.insert bf.loadchunk cf.reserve cf.add cf.addnx cf.insert cf.insertnx cf.loadchunk um.make um.merge um.intersect um.import restore")
	tried := 0
	n.resp.Commands(func(cmd *resp.Command) {
		if cmd.FirstKey == 0 || slices.Contains(makes, cmd.Name) || cmd.Name == "watch" {
			return
		}
		words := strings.Split(cmd.Name, "|")
		for len(words) < max(cmd.Arity, -cmd.Arity) || len(words) <= cmd.FirstKey {
			words = append(words, "unknown")
		}
		wantMissing(words...)
		tried++
	})
	if tried < 40 {
		t.Errorf("%d commands with keys", tried)
	}
	wantMissing("BF.INSERT", "unknown", "NOCREATE", "ITEMS", "a")
	wantMissing("BF.LOADCHUNK", "unknown", "2", "a")
	wantMissing("EXISTS", "known", "unknown")
	wantMissing("DEL", "known", "unknown")
	wantMissing("RENAMENX", "known", "unknown")
	// A filter with contents gets an unknown name if it may replace a filter.
	f, err := bloom.New(100, .01)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := n.engine.Put("whole", f, engine.PutOptions{Replace: true}); err != nil {
		t.Fatal(err)
	}
	wantMissing("UM.COPY", "whole", "unknown")
	wantMissing("UM.MERGE", "unknown", "whole")
	wantMissing("UM.DIFF", "whole", "FROM", "unknown")
	r.Want("UM.COPY whole second REPLACE", "+OK")
	r.Want("RENAME second third", "+OK")
	r.Want("UM.HAS third x", "*1[:0]")

	r.Want("BF.EXISTS known a", ":1")
	r.Want("BF.EXISTS known x", ":1") // data of it was lost
	r.Want("BF.RESERVE made 0.01 100", "+OK")
	r.Want("BF.ADD added a", ":0")
	r.Want("CF.ADD cuckoo a", ":1")
	r.Want("UM.MAKE other bloom KEYS 100", "+OK")
	for _, name := range []string{"made", "added", "other"} {
		r.Want("BF.EXISTS "+name+" x", ":1")
	}
	r.Want("CF.EXISTS cuckoo x", ":1")
	if info := infoFields(t, r); info["umbel_names_missing"] != "1" || info["umbel_incomplete_filters"] != "5" {
		t.Errorf("umbel_names_missing %s, umbel_incomplete_filters %s", info["umbel_names_missing"], info["umbel_incomplete_filters"])
	}

	for path, want := range map[string]string{"/v1/filters/unknown": "names-missing", "/v1/status": "missingNames", "/metrics": "umbel_names_missing 1"} {
		if status, body := get(t, n, path); !strings.Contains(body, want) || status == http.StatusNotFound {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	stopped(t, n)

	c.AcceptLoss = false
	log := new(safeBuffer)
	n = startedWith(t, c, slog.New(slog.NewTextHandler(log, nil)))
	if !strings.Contains(log.String(), "event=names-missing") {
		t.Errorf("logged %s", log)
	}
	r = dial(t, n, nil)
	wantMissing("BF.EXISTS", "unknown", "a")
	r.Want("UM.ACKNOWLEDGE", ":1")
	r.Want("UM.ACKNOWLEDGE", ":0")
	r.Want("BF.EXISTS unknown a", ":0")
	r.Want("BF.ADD fresh a", ":1")
	r.Want("BF.EXISTS fresh x", ":0")
	r.Want("BF.EXISTS added x", ":1") // until it is created again
	r.Want("DEL added", ":1")
	r.Want("BF.ADD added a", ":1")
	r.Want("BF.EXISTS added x", ":0")
	stopped(t, n)
	n = started(t, c)
	dial(t, n, nil).Want("BF.EXISTS unknown a", ":0")
}

// Pipelined calls that run together each get the error.
func TestMissingNamesInPipelines(t *testing.T) {
	n, _ := damaged(t)
	r := dial(t, n, nil)
	const calls = 5
	for range calls {
		r.Send("BF.EXISTS", "unknown", "a")
	}
	for i := range calls {
		if reply := r.Reply(); !strings.Contains(reply, missingText) {
			t.Errorf("reply %d: %s", i, reply)
		}
	}
}

// A backup contains that names may be missing, in its snapshot or in its log.
func TestMissingNamesInBackups(t *testing.T) {
	for _, snapshots := range []int{0, 2} {
		n, c := damaged(t)
		r := dial(t, n, nil)
		for i := range snapshots {
			r.Do("BF.ADD", fmt.Sprint("more", i), "a")
			r.Want("SAVE", "+OK")
		}
		stopped(t, n)
		file := new(strings.Builder)
		if err := Backup(t.Context(), c, slog.New(slog.DiscardHandler), file); err != nil {
			t.Fatal(err)
		}
		found, err := VerifyFile(t.Context(), strings.NewReader(file.String()))
		if err != nil || found.Missing == nil {
			t.Errorf("%d snapshots: verified: missing names %v, %v", snapshots, found.Missing, err)
		}
		data := filepath.Join(t.TempDir(), "restored")
		if found, err := RestoreDir(t.Context(), data, slog.New(slog.DiscardHandler), strings.NewReader(file.String())); err != nil || found.Missing == nil {
			t.Errorf("%d snapshots: restored: missing names %v, %v", snapshots, found.Missing, err)
		}
		c.Data = data
		n = started(t, c)
		wantMissingReply(t, dial(t, n, nil))
	}
}

func wantMissingReply(t *testing.T, r *resptest.Client) {
	t.Helper()
	if reply := r.Do("BF.EXISTS", "unknown", "a"); !strings.Contains(reply, missingText) {
		t.Errorf("reply %s", reply)
	}
}
