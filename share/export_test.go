package share

// RecipeLen returns the number of objects that s notes for its cache.
func (s *Subscriber) RecipeLen() int { return len(s.held.recipe) }
