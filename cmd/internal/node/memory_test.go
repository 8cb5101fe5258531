package node

import (
	"math"
	"net/http"
	"runtime/debug"
	"strings"
	"testing"
)

// Where there is no limit what the machine hasn't is refused all the same: Go ends a process
// that asks for it.
func TestNoLimitIsTheMachine(t *testing.T) {
	c := testConfig(t)
	c.MaxMemory = Memory{}
	n := started(t, c)
	defer debug.SetMemoryLimit(math.MaxInt64)
	if n.limit() == 0 {
		t.Skip("the system doesn't tell how much memory there is")
	}
	r := dial(t, n, nil)
	r.want("BF.RESERVE k 1e-300 1073741824", "-ERR Insufficient memory to create filter")
	r.want("BF.INSERT k ERROR 1e-300 CAPACITY 1073741824 ITEMS a", "-ERR Insufficient memory to create filter")
	r.want("UM.MAKE k bloom KEYS 1000 BYTES 1PiB", "-OOM")
	r.want("UM.MAKE small bloom KEYS 1000", "+OK")
	r.want("UM.UNFOLD small 1073741824", "-OOM")
	web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := web.Post("http://"+n.HTTP().String()+"/v1/filters/small/unfold", "application/json", strings.NewReader(`{"factor": 1073741824}`))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusInsufficientStorage {
		t.Errorf("status %d", response.StatusCode)
	}
	r.want("CONFIG SET maxmemory 1EiB", "+OK")
	r.want("BF.RESERVE k 1e-300 1073741824", "-ERR Insufficient memory to create filter")
	r.want("PING", "+PONG")
}

// The collector's bound follows the limit: it would never rest where filters take more.
func TestBoundFollowsLimit(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	n := started(t, testConfig(t))
	defer debug.SetMemoryLimit(math.MaxInt64)
	for _, limit := range []string{"1GiB", "4GiB", "2GiB"} {
		var m Memory
		if err := m.Set(limit); err != nil {
			t.Fatal(err)
		}
		n.setMemory(m)
		if got := debug.SetMemoryLimit(-1); got < int64(m.Bytes) || got > 2*int64(m.Bytes) {
			t.Errorf("bound %d where filters may take %s", got, limit)
		}
	}
}
