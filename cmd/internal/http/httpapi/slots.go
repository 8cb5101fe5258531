package httpapi

import (
	"cmp"
	"io"
	"net/http"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/slots"
)

// checkPlace returns an error if another node of the slot map has the filter in the path, or if it is moving and the request may
// change it. A filter that is left here can be described, fetched and deleted.
func (req *request) checkPlace() error {
	if req.Slots == nil || req.name == "" || req.http.Header.Get(api.HeaderMove) == "1" {
		return nil
	}
	err := req.placeOf(req.name, req.route.right&(access.Add|access.Remove) != 0)
	switch req.http.Method {
	case http.MethodGet, http.MethodHead, http.MethodDelete:
		if err != nil && problemTypeOf(err) == elsewhere && req.Engine.Get([]byte(req.name)) != nil {
			return nil
		}
	}
	return err
}

// placeOf returns an error unless the filter with a name is here and, with write, can be changed.
func (req *request) placeOf(name string, write bool) error {
	if req.Slots == nil {
		return nil
	}
	v, slot := req.Slots.View(), slots.Of([]byte(name))
	switch v.Where(slot, write, true) {
	case slots.Later:
		return problemf(readOnly, "filter %q is being moved to another node, and can be changed again when it has; query it meanwhile", name)
	case slots.Nowhere:
		return problemf(notReady, "no node leads the group that has slot %d, and filter %q", slot, name)
	case slots.Elsewhere:
		n := v.Leader(v.Owner(slot))
		return problemf(elsewhere, "the slot map gives filter %q, in slot %d, to %s; send the request there", name, slot, cmp.Or(n.URL, n.Addr))
	}
	return nil
}

// maxSlotMap is the size of the largest slot map in bytes.
const maxSlotMap = 1 << 20

// slotMap responds with the slot map in force.
func (req *request) slotMap() error {
	if req.Slots == nil {
		return problemf(absent, "the node has no slot map; set slot-map")
	}
	req.Header().Set("Content-Type", api.MediaText)
	req.Header().Set("Cache-Control", "no-store")
	_, err := req.Write(req.Slots.View().Text())
	return err
}

// installSlotMap replaces the file of the slot map.
func (req *request) installSlotMap() error {
	if req.Slots == nil {
		return problemf(absent, "the node has no slot map; set slot-map, and restart it")
	}
	if _, err := bodyType(req.http, api.MediaText); err != nil {
		return err
	}
	text, err := io.ReadAll(req.limitedBody(maxSlotMap))
	if err != nil {
		return bodyError(err)
	}
	if err := req.Slots.Install(text); err != nil {
		return problemf(badRequest, "%w", err)
	}
	req.WriteHeader(http.StatusNoContent)
	return nil
}
