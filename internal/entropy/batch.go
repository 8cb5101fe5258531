package entropy

// Job is a payload and the strings in it.
type Job struct {
	Code []byte // AppendAll appends to it, DecodeAll reads it
	Strs []Bits
	Err  error // of DecodeAll
}

// AppendAll does what [Coder.Append] does for each job, side by side in one loop,
// which is faster: it appends the code of a job's strings to its Code.
func (c *Coder) AppendAll(jobs []Job) {
	var owner [lanes]int // the job of each encoder
	var busy [lanes]bool
	var ready [lanes]int // symbols that a kernel may put
	next := 0
	for {
		for i := range lanes {
			e := &c.encoders[i]
			for ready[i] == 0 {
				if busy[i] {
					if ready[i] = e.advance(); ready[i] > 0 {
						break
					}
					jobs[owner[i]].Code = e.finish()
					busy[i] = false
				}
				if next == len(jobs) {
					break
				}
				e.begin(jobs[next].Code, jobs[next].Strs)
				owner[i], busy[i] = next, true
				next++
			}
		}
		// Lanes that have nothing to do repeat what another does.
		var l [lanes]putter
		var from [lanes]int
		live, n := 0, 0
		for i := range lanes {
			if ready[i] > 0 {
				l[live], from[live] = c.encoders[i].putter, i
				if live == 0 || ready[i] < n {
					n = ready[i]
				}
				live++
			}
		}
		switch live {
		case 0:
			return
		case 1:
			c.encoders[from[0]].put(n)
		default:
			for i := live; i < lanes; i++ {
				l[i] = l[0]
			}
			putAll(&l, n)
			for i := range live {
				c.encoders[from[i]].putter = l[i]
			}
		}
		for i := range live {
			ready[from[i]] -= n
		}
	}
}

// DecodeAll does what [Coder.Decode] does for each job, side by side in one loop,
// which is faster: it decodes a job's Code into its Strs, and sets its Err.
func (c *Coder) DecodeAll(jobs []Job) {
	var owner [lanes]int
	var busy [lanes]bool
	var ready [lanes]int
	next := 0
	for {
		for i := range lanes {
			d := &c.decoders[i]
			for ready[i] == 0 {
				if busy[i] {
					if ready[i] = d.advance(); ready[i] > 0 {
						break
					}
					jobs[owner[i]].Err = d.err
					*d, busy[i] = decoder{}, false
				}
				if next == len(jobs) {
					break
				}
				d.begin(jobs[next].Code, jobs[next].Strs)
				owner[i], busy[i] = next, true
				next++
			}
		}
		done := true
		for _, dense := range []bool{false, true} {
			var l [lanes]taker
			var from [lanes]int
			live, n := 0, 0
			for i := range lanes {
				if d := &c.decoders[i]; ready[i] > 0 && d.table.dense == dense {
					l[live], from[live] = d.taker, i
					if live == 0 || ready[i] < n {
						n = ready[i]
					}
					live++
				}
			}
			if live == 0 {
				continue
			}
			done = false
			for i := live; i < lanes; i++ {
				l[i] = l[0]
			}
			switch {
			case live == 1 && dense:
				l[0].takeBytes(n)
			case live == 1:
				l[0].takeGaps(n)
			case dense:
				takeBytes(&l, n)
			default:
				takeGaps(&l, n)
			}
			for i := range live {
				c.decoders[from[i]].taker = l[i]
				ready[from[i]] = 0
			}
		}
		if done {
			return
		}
	}
}
