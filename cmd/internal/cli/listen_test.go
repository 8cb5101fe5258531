package cli

import (
	"net"
	"net/http"
	"testing"
)

// A listener that fails ends the context, and its error is that of the verb. One that is stopped has none.
func TestServing(t *testing.T) {
	for _, fails := range []bool{false, true} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, ended := Serving(t.Context(), &http.Server{Handler: http.NotFoundHandler()}, l)
		if fails {
			l.Close()
			<-ctx.Done()
		} else {
			r, err := http.Get("http://" + l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			r.Body.Close()
			if ctx.Err() != nil {
				t.Error("the context has ended although the listener serves")
			}
		}
		if err := ended(); (err != nil) != fails {
			t.Errorf("the listener fails: %v, and the error is %v", fails, err)
		}
		if ctx.Err() == nil {
			t.Error("the context goes on without a listener")
		}
	}
}
