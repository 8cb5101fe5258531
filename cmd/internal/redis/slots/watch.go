package slots

import (
	"context"
	"net/http"
	"time"
)

// watchEvery is the time between two looks at the nodes of shards.
const watchEvery = time.Second

// Watch keeps the leaders of shards with several nodes up to date until ctx is done, except that of the own shard if its group states it
// (Lead). The leader is the node that answers GET /writable with 200, as followers and replicas do not. The map has the URLs of
// these nodes. client must bound the time of a request.
func (p *Place) Watch(ctx context.Context, client *http.Client) {
	t := time.NewTicker(watchEvery)
	defer t.Stop()
	for {
		v := p.View()
		for i, s := range v.Shards {
			if p.watched(v, i) {
				p.look(ctx, client, s, v.leaders[i])
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// look finds the leader of a shard. The present one is asked first.
func (p *Place) look(ctx context.Context, client *http.Client, s Shard, present int) {
	for i := range s.Nodes {
		if n := s.Nodes[(max(present, 0)+i)%len(s.Nodes)]; n.URL != "" && writable(ctx, client, n.URL) {
			p.found(n.Addr)
			return
		}
	}
}

func writable(ctx context.Context, client *http.Client, url string) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/writable", nil)
	if err != nil {
		return false
	}
	response, err := client.Do(r)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}
