package share

import (
	"slices"
	"time"

	"github.com/umbel-filters/umbel"
)

// Publisher publishes versions of a filter. Its methods must not be called concurrently.
//
// Of the filter and of each fold class it keeps a copy of the last version, 7 % of its memory in hashes and
// counts, and what changed before it: at most half of the memory of the filter that is not folded, unless
// PublisherOptions.MaxOldBytes permits more. The zero Publisher cannot be used.
type Publisher struct {
	o       PublisherOptions
	stream  Stream
	version uint64    // the last one, 0 before the first
	before  time.Time // the latest of the heads in the store and of those that were signed
	classes []*class  // the whole filter, then those of Folds
	current bool      // the last call of Publish succeeded
	guard   guard
	catalog *catalog
}

// State returns the state of the last version, nil before the first one. It must not be changed, and is valid until the
// next call of another method.
func (p *Publisher) State() *umbel.State {
	if c := p.whole(); c.head != nil {
		return &c.history.state
	}
	return nil
}

// Head returns the last head of the whole filter that was signed, nil before the first version.
func (p *Publisher) Head() *Head { return p.whole().head }

// whole returns the class of the filter that is not folded.
func (p *Publisher) whole() *class { return p.classes[0] }

// isComplete reports whether the last version has a head in each class, which announces them all.
func (p *Publisher) isComplete() bool {
	for _, c := range p.classes {
		if c.head == nil {
			return false
		}
	}
	announced := p.Head().Classes
	return len(announced) == 0 && len(p.classes) == 1 ||
		slices.EqualFunc(announced, p.classes, func(a Class, c *class) bool { return a.Fold == c.fold })
}
