package share

import "context"

// unkept is what was fetched but is not in the cache yet. If the cache cannot be written, the next update
// to the same version tries that again and fetches nothing.
type unkept struct {
	held    // the version
	objects map[Ref][]byte
}

// add adds an object.
func (u *unkept) add(r Ref, data []byte) {
	if u.objects == nil {
		u.objects = make(map[Ref][]byte)
	}
	u.objects[r] = data
}

// write writes the objects of a recipe to a cache.
func (u *unkept) write(ctx context.Context, cache Store, recipe []step) error {
	for _, s := range recipe {
		data, ok := u.objects[s.Ref]
		if !ok {
			continue // the cache has it
		}
		if _, err := putBytes(ctx, cache, data); err != nil {
			return err
		}
		delete(u.objects, s.Ref)
	}
	return nil
}

// base returns the state from which to reach a version.
func (s *Subscriber) base(h *Head) held {
	if u := s.unkept.held; u.head != nil && u.head.ID == h.ID && u.head.Stream == h.Stream {
		return u
	}
	s.unkept = unkept{}
	return s.held
}
