package pause

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestFor(t *testing.T) {
	for name, c := range map[string]struct {
		pause, end time.Duration // end of the context, 0: it ended before
		takes      time.Duration
		want       bool
	}{
		"the context lasts":            {pause: time.Second, end: time.Hour, takes: time.Second, want: true},
		"the context ends":             {pause: time.Hour, end: time.Second, takes: time.Second},
		"the context has ended":        {pause: time.Hour},
		"no pause":                     {pause: -time.Second, end: time.Hour, want: true},
		"no pause, and no context any": {pause: 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.end)
				defer cancel()
				began := time.Now()
				if got := For(ctx, c.pause); got != c.want || time.Since(began) != c.takes {
					t.Errorf("got %v after %v, want %v after %v", got, time.Since(began), c.want, c.takes)
				}
			})
		})
	}
}

func TestDoubling(t *testing.T) {
	d := Doubling{First: 3, Most: 20}
	got := []time.Duration{d.Next(), d.Next(), d.Next(), d.Next(), d.Next()}
	d.Reset()
	if got = append(got, d.Next()); !slices.Equal(got, []time.Duration{3, 6, 12, 20, 20, 3}) {
		t.Errorf("got %v, want 3, 6, 12, 20, 20 and after a success 3", got)
	}
}
