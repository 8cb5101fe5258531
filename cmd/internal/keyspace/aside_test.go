package keyspace

import (
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/resptest"
)

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
