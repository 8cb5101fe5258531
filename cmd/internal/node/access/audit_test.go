package access

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAudit(t *testing.T) {
	var out bytes.Buffer
	a := NewAudit(slog.New(slog.NewJSONHandler(&out, nil)))
	long := strings.Repeat("n", 10_000)
	a.Record("root", "192.0.2.1:5", "flush", "a\nb", nil)
	a.Record("shop", "192.0.2.1:5", "login", "", ErrWrongPassword)
	a.Record("root", "192.0.2.1:5", "save", "", errors.New("disk full"))
	a.Record(long, "192.0.2.1:5", "get", long, ErrDenied)
	d := json.NewDecoder(&out)
	for _, want := range []map[string]string{
		{"level": "INFO", "user": "root", "client": "192.0.2.1:5", "action": "flush", "target": "a\nb", "outcome": "done"},
		{"level": "WARN", "user": "shop", "action": "login", "outcome": "refused", "error": ErrWrongPassword.Error()},
		{"level": "WARN", "user": "root", "action": "save", "outcome": "failed", "error": "disk full"},
		{"user": long[:maxWord] + "...", "target": long[:maxWord] + "...", "outcome": "refused"},
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
	(*Audit)(nil).Record("", "", "", "", nil)
}

// A client that repeats itself is logged a few times and then once a minute, with the number of repetitions.
// Others are logged meanwhile.
func TestAuditOfRepetitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		a := NewAudit(slog.New(slog.NewTextHandler(&out, nil)))
		refuse := func(n int, user, host, action string, err error) (records int) {
			out.Reset()
			for i := range n {
				a.Record(user, fmt.Sprintf("%s:%d", host, 1000+i), action, fmt.Sprint("target ", i), err)
			}
			return strings.Count(out.String(), "\n")
		}
		if n := refuse(10_000, "pool", "192.0.2.1", "login", ErrWrongPassword); n != repeatBurst {
			t.Errorf("%d records of repetitions, want %d", n, repeatBurst)
		}
		for _, n := range []int{
			refuse(1, "pool", "192.0.2.1", "login", ErrTooMany), refuse(1, "pool", "192.0.2.2", "login", ErrWrongPassword),
			refuse(1, "root", "192.0.2.1", "login", ErrWrongPassword), refuse(1, "pool", "192.0.2.1", "bf.add", ErrDenied),
		} {
			if n != 1 {
				t.Errorf("%d records of another refusal, want 1", n)
			}
		}
		time.Sleep(repeatPeriod)
		if n := refuse(3, "pool", "192.0.2.1", "login", ErrWrongPassword); n != 1 || !strings.Contains(out.String(), "omitted=9995") {
			t.Errorf("%d records after a minute, want one of 9995 omitted ones: %s", n, out.String())
		}
		if n := refuse(100, "root", "192.0.2.1", "config|set", nil); n != 100 {
			t.Errorf("%d of 100 actions of an administrator are recorded", n)
		}
	})
}

// Refusals that differ, for example in the user, are limited together, and none of them is lost.
func TestAuditIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		a := NewAudit(slog.New(slog.NewJSONHandler(&out, nil)))
		for i := range 10_000 {
			a.Record(fmt.Sprint("user ", i), "192.0.2.1:5", "login", "", ErrWrongPassword)
		}
		if n := strings.Count(out.String(), "\n"); n != 100 {
			t.Errorf("%d records, want 100", n)
		}
		if len(a.limits) != maxRefusals {
			t.Errorf("%d limits are kept, want %d", len(a.limits), maxRefusals)
		}
		time.Sleep(repeatPeriod)
		a.Record("another", "192.0.2.1:5", "login", "", ErrWrongPassword)
		if !strings.Contains(out.String(), `"omitted":9900`) {
			t.Error("the number of those omitted is lost")
		}
		if len(a.limits) > 2 {
			t.Errorf("%d limits are kept although they are not used any more", len(a.limits))
		}
	})
}
