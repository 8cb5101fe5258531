package faultlog

import (
	"bytes"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// recorder returns a logger, and a function that returns what was logged since its last call, without times.
func recorder() (*slog.Logger, func() string) {
	var out bytes.Buffer
	h := slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	return slog.New(h), func() string {
		defer out.Reset()
		return out.String()
	}
}

// A fault is logged when it begins, once per minute while it lasts, and when it is over.
func TestFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, logged := recorder()
		want := func(what, text string) {
			t.Helper()
			if got := logged(); got != text {
				t.Errorf("%s: logged %q, want %q", what, got, text)
			}
		}
		var f Fault
		f.Succeeded(log).Info("over")
		want("no fault", "")
		if began, lasts := f.Since(); lasts {
			t.Errorf("without a fault, one lasts since %v", began)
		}
		begin := time.Now()
		f.Failed(log).Warn("fault")
		want("the beginning", "level=WARN msg=fault\n")
		for range 119 {
			time.Sleep(time.Second)
			f.Failed(log).Warn("fault")
		}
		want("two minutes", "level=WARN msg=fault omitted=59\n")
		time.Sleep(time.Second / 2)
		if began, lasts := f.Since(); !lasts || !began.Equal(begin) {
			t.Errorf("the fault lasts since %v, %v, want %v", began, lasts, begin)
		}
		f.Succeeded(log).Info("over")
		f.Succeeded(log).Info("over")
		want("the end", "level=INFO msg=over lasted=1m59.5s omitted=59\n")
		f.Failed(log).Warn("fault")
		want("the next fault", "level=WARN msg=fault\n")
	})
}

// A fault that begins and ends all the time is logged three times, and then about once per minute.
func TestFlapping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f Fault
		begun, ended, counted := 0, 0, uint64(0)
		for range 600 {
			n, ok := f.Fail()
			if counted += n; ok {
				begun, counted = begun+1, counted+1
			}
			time.Sleep(time.Second / 2)
			_, n, over := f.Succeed()
			if counted += n; over {
				ended++
			}
			time.Sleep(time.Second / 2)
		}
		if begun < 3+8 || begun > 3+10 || ended != begun || counted < 500 {
			t.Errorf("in ten minutes %d beginnings and %d ends of %d faults are logged", begun, ended, counted)
		}
	})
}

// A fault that begins after too many others is logged once there may be a message about it.
func TestLateMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f Fault
		for range burst {
			f.Fail()
			f.Succeed()
		}
		for range 59 {
			if _, ok := f.Fail(); ok {
				t.Fatal("one more fault is logged")
			}
			time.Sleep(time.Second)
		}
		time.Sleep(time.Second)
		if n, ok := f.Fail(); n != 59 || !ok {
			t.Errorf("after a minute: %d omitted, %v, want 59, true", n, ok)
		}
		if _, _, over := f.Succeed(); !over {
			t.Error("the end is not logged")
		}
	})
}

// Settle is the time after a failure in which a success ends nothing.
func TestSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := Fault{Settle: 2 * time.Second}
		f.Fail()
		time.Sleep(time.Second)
		if _, _, over := f.Succeed(); over {
			t.Error("a success ends the fault after a second")
		}
		f.Fail()
		time.Sleep(2 * time.Second)
		if lasted, n, over := f.Succeed(); !over || lasted != 3*time.Second || n != 1 {
			t.Errorf("after 2 seconds: %v, %d, %v, want 3s, 1, true", lasted, n, over)
		}
	})
}

// Another cause of the same fault is logged at once, and one that differs only in digits is the same.
func TestCauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f Fault
		for i, x := range []struct {
			cause   string
			omitted uint64
			ok      bool
		}{
			{"3 keys", 0, true}, {"4 keys", 0, false}, {"no such file", 1, true}, {"no such file", 0, false}, {"3 keys", 1, true},
			{"no such file", 0, false}, // a burst is over
		} {
			if n, ok := f.FailBy(x.cause); n != x.omitted || ok != x.ok {
				t.Errorf("%d, %s: %d, %v, want %d, %v", i, x.cause, n, ok, x.omitted, x.ok)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(Period - 5*time.Second)
		if n, ok := f.FailBy("no such file"); n != 1 || !ok {
			t.Errorf("after a minute: %d, %v, want 1, true", n, ok)
		}
	})
}

// Causes that alternate are logged three times, and then about once per minute.
func TestAlternatingCauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f Fault
		logged := 0
		for i := range 600 {
			if _, ok := f.FailBy([]string{"a", "b"}[i%2]); ok {
				logged++
			}
			time.Sleep(time.Second)
		}
		if logged < 3+8 || logged > 3+10 {
			t.Errorf("%d messages in ten minutes", logged)
		}
	})
}

// At the end of a program the omitted failures are counted once.
func TestRest(t *testing.T) {
	var f Fault
	for range 4 {
		f.Fail()
	}
	if n, again := f.Rest(), f.Rest(); n != 3 || again != 0 {
		t.Errorf("%d and %d failures were omitted, want 3 and 0", n, again)
	}
}

func BenchmarkSucceed(b *testing.B) {
	var f Fault
	for b.Loop() {
		f.Succeed()
	}
}
