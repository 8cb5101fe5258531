package share

// LocalObjects returns the number of objects that s notes for its cache.
func (s *Subscriber) LocalObjects() int { return len(s.cache.local.objects) }

// Last returns the last head that s accepted, in this process or before.
func (s *Subscriber) Last() *Head { return s.chooser.order.last }

// ChangedShare is what Feed.WhenChanged is compared with.
var ChangedShare = changedShare
