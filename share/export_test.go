package share

// RecipeLen returns the number of objects that s notes for its cache.
func (s *Subscriber) RecipeLen() int { return len(s.held.recipe) }

// Last returns the last head that s accepted, in this process or before.
func (s *Subscriber) Last() *Head { return s.last }
