package httpapi

import (
	"net/http"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
)

// subscriptionRoutes are the routes of the publications that a replica follows. They show those whose
// filters the user may read.
func subscriptionRoutes() []route {
	return []route{
		{pattern: "GET /v1/subscriptions", list: true, serve: (*request).listSubscriptions},
		{pattern: "POST /v1/subscriptions/has", serve: (*request).findOwners},
	}
}

func (req *request) listSubscriptions() error {
	list := api.SubscriptionList{Subscriptions: []api.Subscription{}}
	for _, s := range req.Subscriptions.List() {
		if req.allowed(access.Read, s.Filter) {
			list.Subscriptions = append(list.Subscriptions, s)
		}
	}
	return writeJSON(req.response, http.StatusOK, list)
}

// findOwners responds with the filters that may contain each key, and with those that have no answer.
func (req *request) findOwners() error {
	if req.Subscriptions == nil {
		return problemf(absent, "the server follows no publications")
	}
	var list api.KeyList
	if err := req.readJSON(&list); err != nil {
		return err
	}
	keys := make([][]byte, len(list.Keys))
	for i, key := range list.Keys {
		keys[i] = []byte(key)
	}
	owners := req.Subscriptions.Who(keys, func(filter string) bool { return req.allowed(access.Read, filter) })
	return writeJSON(req.response, http.StatusOK, owners)
}
