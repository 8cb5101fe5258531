package builtin

import (
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
)

// Names and patterns have bounds: to hold one against the other takes as long as both together.
func TestLongNames(t *testing.T) {
	p := start(t, nil)
	p.add("bloom", "a")
	long := strings.Repeat("n", engine.MaxName)
	for _, call := range [][]string{{"RENAME", "a", long + "n"}, {"KEYS", long}, {"SCAN", "0", "MATCH", long}, {"COPY", "a", long + "n"}} {
		if got := p.Do(call...); !strings.HasPrefix(got, "-ERR ") {
			t.Errorf("%s: %.100s", call[0], got)
		}
	}
	p.Expect("EXISTS a", ":1")
	if got := p.Do("RENAME", "a", long); got != "+OK" {
		t.Error(got)
	}
}

// While a snapshot is made for one client another one's EXEC runs, and all others go on.
func TestSaveLetsOthersRun(t *testing.T) {
	p := start(t, nil)
	begun, end := make(chan struct{}), make(chan struct{})
	p.node.saving = func() { close(begun); <-end }
	other := resptest.Dial(t, p.addr)
	p.Send("SAVE")
	<-begun
	for _, line := range []string{"MULTI", "DBSIZE", "EXEC"} {
		other.Line(line)
	}
	if got := other.Line("DBSIZE"); got != ":0" {
		t.Error(got)
	}
	close(end)
	if got := p.Reply(); got != "+OK" {
		t.Error(got)
	}
}
