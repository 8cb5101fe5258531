package resp

import "testing"

func TestStats(t *testing.T) {
	s := NewServer(Options{Limits: Limits{Clients: 1}})
	nc := pipe(t, s)
	check(t, ask(t, nc, "ping", "nosuch", "multi", "echo", "exec"), "+PONG", "-ERR unknown command 'nosuch', with args beginning with: ",
		"+OK", "-ERR wrong number of arguments for 'echo' command", "-EXECABORT Transaction discarded because of previous errors.")
	other := pipe(t, s)
	if _, err := other.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	got := s.Stats()
	if got.Connections != 1 || got.Rejected != 1 || got.Errors != 3 {
		t.Errorf("%+v, want 1 connection, 1 rejected, 3 errors", got)
	}
	if in, out := uint64(len(say("ping", "nosuch", "multi", "echo", "exec"))), got.Written; got.Read != in || out < 100 {
		t.Errorf("%d bytes were read, want %d; %d written", got.Read, in, out)
	}
}
