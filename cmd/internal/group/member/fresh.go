package member

import (
	"fmt"
	"time"

	"github.com/umbel-filters/umbel/share"
)

// errStale is wrapped by the errors of Fresh.
var errStale = fmt.Errorf("this node may be behind its group: %w", share.ErrStale)

// Fresh returns an error that wraps share.ErrStale if an answer of this node may lack a key that a client added: a leader cannot know
// whether another one leads by now, or a follower has not seen the end of the log within Options.MaxAge, or not at all since it
// started. Without MaxAge, a follower that cannot reach the log answers.
func (m *Member) Fresh() error {
	if d := m.leader.Load(); d != nil {
		if d.MayAnswerAbsent() {
			return nil
		}
		return fmt.Errorf("%w: the leader has not reached the log of the group; query another member, or try again", errStale)
	}
	if m.o.MaxAge == 0 && m.current.Load() {
		return nil
	}
	age, known := m.Age()
	m.current.Store(known)
	switch {
	case m.o.MaxAge == 0 && (known || m.trouble.Load() != nil || m.problem.Load() != nil):
		return nil
	case !known:
		return fmt.Errorf("%w: it has not seen the end of the log since it started; query another member, or try again", errStale)
	case age > m.o.MaxAge:
		return fmt.Errorf("%w: it has not seen the end of the log for %v, and max-age is %v; query another member, or try again",
			errStale, age.Round(time.Millisecond), m.o.MaxAge)
	}
	return nil
}

// Stranded returns why this node can neither follow nor lead, or nil.
func (m *Member) Stranded() error {
	if err := m.problem.Load(); err != nil {
		return *err
	}
	return nil
}

// Age returns the time for which this node may lack changes of clients, at most. known is false if it has not seen the end of the log
// since it started.
func (m *Member) Age() (age time.Duration, known bool) {
	if d := m.leader.Load(); d != nil {
		if d.MayAnswerAbsent() {
			return 0, true
		}
		if age, leads := d.Age(); leads {
			return age, true
		}
	}
	if l := m.shared.Load(); l != nil {
		if at := l.Current(); !at.IsZero() {
			return time.Since(at), true
		}
	}
	return 0, false
}
