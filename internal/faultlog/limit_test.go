package faultlog

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Above the limit messages are counted, and the next one has their number.
func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := slog.New(slog.NewTextHandler(&out, nil))
		l := NewLimit(time.Minute, 5)
		for range 1000 {
			l.Logger(log).Warn("message")
		}
		if n := strings.Count(out.String(), "\n"); n != 5 || strings.Contains(out.String(), "omitted") {
			t.Errorf("%d messages were logged, want 5: %.300s", n, out.String())
		}
		time.Sleep(time.Minute)
		out.Reset()
		l.Logger(log).Warn("message")
		if !strings.Contains(out.String(), "omitted=995\n") {
			t.Errorf("got %q, want 995 omitted messages", out.String())
		}
	})
}

// What a limit omits is part of what the next limit reports.
func TestLimitsInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimit(time.Second, 1)
		if n, ok := l.Allow(7); n != 7 || !ok {
			t.Errorf("the first message: %d, %v, want 7, true", n, ok)
		}
		if n, ok := l.Allow(2); n != 0 || ok {
			t.Errorf("the second message: %d, %v, want 0, false", n, ok)
		}
		if l.Idle() {
			t.Error("a limit that has omitted messages is idle")
		}
		time.Sleep(time.Second)
		if n, ok := l.Allow(1); n != 4 || !ok {
			t.Errorf("the third message: %d, %v, want 4, true", n, ok)
		}
		time.Sleep(time.Second)
		if !l.Idle() {
			t.Error("a limit that has nothing to report is not idle")
		}
	})
}
