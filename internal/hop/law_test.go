package hop

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/umbel-filters/umbel/internal/hop/hoptest"
	"github.com/umbel-filters/umbel/internal/httptarget"
)

// TestLaw: what passes through a proxy passes unchanged.
func TestLaw(t *testing.T) {
	var failed atomic.Int64
	r := hoptest.Run(t, hoptest.Options{
		Proxy: func(t *testing.T, origin *url.URL) string {
			next := &http.Transport{DisableCompression: true}
			transport := Transport(next)
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				target, err := httptarget.Received(r)
				var to *url.URL
				if err == nil {
					to, err = httptarget.On(origin, target)
				}
				if err != nil {
					http.Error(w, err.Error(), http.StatusBadRequest)
					return
				}
				Proxy{
					Transport: transport,
					Request:   func(out *http.Request) { out.URL = to },
					Fail: func(w http.ResponseWriter, _ *http.Request, err error) {
						if client, ok := errors.AsType[*ClientError](err); ok {
							http.Error(w, err.Error(), client.Status)
							return
						}
						failed.Add(1)
						http.Error(w, err.Error(), http.StatusBadGateway)
					},
				}.ServeHTTP(w, r)
			}))
			s.Config.DisableGeneralOptionsHandler = true
			s.Config.ErrorLog = silent
			s.Start()
			t.Cleanup(func() {
				next.CloseIdleConnections()
				s.Close()
			})
			return s.Listener.Addr().String()
		},
	})
	if int(failed.Load()) != r.FailedOrigins {
		t.Errorf("%d failures of the origin are noted, want %d", failed.Load(), r.FailedOrigins)
	}
	t.Logf("%+v", r)
}
