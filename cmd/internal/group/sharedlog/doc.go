// Package sharedlog is a log that several nodes share. It needs one thing of the engine that keeps it (Medium): to
// keep a value for a key if the key has none. Entries have numbers, and the key of an entry is its number.
//
//	member.Follow   number n: read, check, apply;  n+1: read, check, apply;  n+2: nothing yet, wait
//	leader.Propose  number n+2: put;  n+3: put;  …  Commit: n+2 and n+3 are there
//
// # Rules
//
//  1. Every entry has the hash of the entry before (chain), the number of its epoch, and sums: see frame. Readers
//     stop at an entry that is missing, damaged, or does not follow the one before.
//  2. If the medium returns an error for a put, its result is unknown. The entry is read: equal bytes were put; other
//     bytes mean that another process was faster; nothing means that the same bytes are put again.
//  3. Who wants to lead puts a claim as the next entry. The order of the log decides: the process whose claim is there
//     leads the epoch that begins with it. A process that led before learns it at its next put, which is refused.
//  4. A leader puts up to 16 entries at the same time. A batch is committed when the medium has it and all before it.
//     After a claim with number c, the next entry has number c+16.
//  5. A leader holds a lease of half the silence from the moment at which it began to put its last committed entry. A new
//     leader commits nothing before the silence has passed since it read the last entry before its claim.
//  6. The first entry and claims are never deleted. Others are deleted up to 32 before the last one: see Leader.Trim.
//  7. Open proves that the medium refuses a second value for a key.
//
// # Why it holds
//
// The medium never changes a value, so the entries that follow each other from number 1 are the same for all readers:
// each has read a part of them.
//
// A committed batch is in every longer part: it has a number, all entries before it are there, and nothing replaces
// them. It is there once, since a batch is never put under a second number.
//
// Let q be the first number that a leader failed to put, because there is the claim of another process. It has begun no
// entry with number q+16 or higher, since it has no more than 16 in flight. So what it has put after q, or what the
// medium still receives of it, has numbers from q+1 to q+15, which nobody reads: the entry after the claim has number
// q+16. It has acknowledged none of them, since q was not committed.
//
// Only claims follow the last entry of a leader other than its own entries. Claims are never deleted. So a process that
// led, and continues after any time, finds q taken, even if everything else was deleted meanwhile.
//
// A process that continues after a long time before its claim may put the claim under a number that was deleted. The
// medium takes it. That process then lists the log, finds entries from 16 numbers after the claim on (the last 32 before a
// deletion are kept), and does not lead. A node that reads this claim, since it was away for as long, finds that nothing
// follows it: ErrHole, as without the claim.
//
// The lease: let a leader begin to put its last committed entry at time t. Another process claims after it has read
// this entry, so it reads it after t, and commits nothing before one silence later. The lease ended half a silence
// after t. Clocks may show any time, but must not differ in speed by a factor of two. A leader uses the faster one of
// two clocks, since a steady clock may stop while the machine sleeps; who waits uses the steady one. If a machine is
// suspended and neither of its clocks goes on, the lease does not hold (commits do): hypervisors that do this set the
// clock afterwards.
//
// # Faults
//
//	fault                                      effect
//	an error, though the value was put         the entry is read (rule 2)
//	a put that arrives late, or twice          refused, or void (rules 4, 6)
//	a medium that hangs, throttles, fails      attempts end after a time, and are repeated; Commit returns the error
//	a leader that stops for any time           another claims; the lease ends by its clocks (rule 5)
//	a bit of an entry, an entry cut short      ErrDamaged (CRC-32C)
//	a missing entry                            ErrHole
//	the last entries missing, an older copy    ErrRegressed or ErrFork at nodes that have more; ErrHole at others
//	a medium that ignores conditions           ErrUnfit (rule 7)
//	the log of another group                   ErrOtherGroup
package sharedlog
