package member

import (
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
)

// Status is the state of a member.
type Status struct {
	Role     string  // Leads, Follows or Stranded
	Leader   Address // zero: unknown
	At       sharedlog.Position
	Age      time.Duration // see Age; negative: unknown
	Silence  time.Duration // after which another member claims the log
	Problem  string        // what an operator should know; "": nothing
	Snapshot *Snapshot     // of the group, of this process; nil: none
}

// The roles of a member.
const (
	Leads    = "leader"
	Follows  = "follower"
	Stranded = "stranded" // it can neither follow nor lead
)

// Leads reports whether this node leads.
func (m *Member) Leads() bool {
	d := m.leader.Load()
	return d != nil && d.Err() == nil
}

// Leader returns the address of the leader, which is zero if it is unknown.
func (m *Member) Leader() Address {
	if a := m.address.Load(); a != nil {
		return *a
	}
	return Address{}
}

// Status returns the state of the member.
func (m *Member) Status() Status {
	s := Status{Role: Follows, Leader: m.Leader(), Age: -time.Second, Snapshot: m.last.Load()}
	if age, known := m.Age(); known {
		s.Age = age
	}
	if l := m.shared.Load(); l != nil {
		s.At, s.Silence = l.Position(), l.Silence()
	}
	if m.Leads() {
		s.Role, s.At = Leads, m.leader.Load().Committed()
	}
	if err := m.trouble.Load(); err != nil {
		s.Problem = "the log of the group cannot be reached: " + (*err).Error()
	}
	if err := m.problem.Load(); err != nil {
		s.Role, s.Problem = Stranded, (*err).Error()
	}
	return s
}
