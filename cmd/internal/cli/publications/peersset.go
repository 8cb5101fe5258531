package publications

import (
	"context"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
	"github.com/umbel-filters/umbel/cmd/internal/publish/replica"
)

// remotePeers are the publications of a replica.
type remotePeers struct{ node *remote.Client }

func (p remotePeers) list(ctx context.Context) ([]api.Subscription, error) {
	return p.node.Subscriptions(ctx)
}

func (p remotePeers) owners(ctx context.Context, keys []string) (api.Owners, error) {
	return p.node.Owners(ctx, keys)
}

func (p remotePeers) close() error { return nil }

// localPeers are publications that this process follows.
type localPeers struct{ set *replica.Set }

func (p localPeers) list(context.Context) ([]api.Subscription, error) { return p.set.List(), nil }

func (p localPeers) owners(_ context.Context, keys []string) (api.Owners, error) {
	all := make([][]byte, len(keys))
	for i, k := range keys {
		all[i] = []byte(k)
	}
	return p.set.Who(all, func(string) bool { return true }), nil
}

func (p localPeers) close() error { return p.set.Close() }
