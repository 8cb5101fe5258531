package access

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAudit(t *testing.T) {
	var out bytes.Buffer
	a := NewAudit(slog.New(slog.NewJSONHandler(&out, nil)))
	a.Record(&User{Name: "root"}, "192.0.2.1:5", "flush", "a\nb", nil)
	a.Record(nil, "192.0.2.1:5", "login", "", ErrWrongPassword)
	d := json.NewDecoder(&out)
	for _, want := range []map[string]string{
		{"user": "root", "client": "192.0.2.1:5", "action": "flush", "target": "a\nb", "outcome": "done"},
		{"user": "", "action": "login", "outcome": "refused"},
	} {
		var got map[string]any
		if err := d.Decode(&got); err != nil {
			t.Fatal(err)
		}
		for k, v := range want {
			if got[k] != v {
				t.Errorf("%s is %v, want %q", k, got[k], v)
			}
		}
		if got["time"] == nil {
			t.Error("no time")
		}
	}
	Audit{}.Record(nil, "", "", "", nil)
}

// Who is refused ten thousand times fills no log, and the number isn't lost.
func TestAuditIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		a := NewAudit(slog.New(slog.NewJSONHandler(&out, nil)))
		for range 10_000 {
			a.Record(nil, "192.0.2.1:5", "login", "", ErrWrongPassword)
		}
		if n := strings.Count(out.String(), "\n"); n != refusalBurst {
			t.Errorf("%d records, want %d", n, refusalBurst)
		}
		time.Sleep(time.Second)
		a.Record(nil, "192.0.2.1:5", "login", "", ErrWrongPassword)
		if !strings.Contains(out.String(), `"omitted":9900`) {
			t.Error("the number of those omitted is lost")
		}
	})
}
