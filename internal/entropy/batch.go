package entropy

// Job is a payload and the strings in it.
type Job struct {
	Code []byte // AppendAll appends to it, DecodeAll reads it
	Strs []Bits
	Ones []uint64 // of each string; AppendAll counts them if it is nil
	Err  error    // of DecodeAll
}

// AppendAll does what [Coder.Append] does for each job, side by side in one loop,
// which is faster: it appends the code of a job's strings to its Code.
func (c *Coder) AppendAll(jobs []Job) {
	var mine [lanes]*Job
	var ready [lanes]int // symbols that a kernel may put
	for {
		var live team
		for i := range lanes {
			for e := &c.encoders[i]; ready[i] == 0; {
				if mine[i] != nil {
					if ready[i] = e.advance(); ready[i] > 0 {
						break
					}
					mine[i].Code, mine[i] = e.finish(), nil
				}
				if len(jobs) == 0 {
					break
				}
				mine[i], jobs = &jobs[0], jobs[1:]
				e.begin(mine[i].Code, mine[i].Strs, mine[i].Ones)
			}
			live.join(i, ready[i])
		}
		switch live.size {
		case 0:
			return
		case 1:
			c.encoders[live.of[0]].put(live.symbols)
		default:
			var l [lanes]putter
			for k := range lanes {
				l[k] = c.encoders[live.lane(k)].putter
			}
			putAll(&l, live.symbols)
			for k, i := range live.of[:live.size] {
				c.encoders[i].putter = l[k]
			}
		}
		for _, i := range live.of[:live.size] {
			ready[i] -= live.symbols
		}
	}
}

// DecodeAll does what [Coder.Decode] does for each job, side by side in one loop,
// which is faster: it decodes a job's Code into its Strs, and sets its Err.
func (c *Coder) DecodeAll(jobs []Job) {
	var mine [lanes]*Job
	for {
		var gaps, bytes team
		for i := range lanes {
			ready := 0
			for d := &c.decoders[i]; ready == 0; {
				if mine[i] != nil {
					if ready = d.advance(); ready > 0 {
						break
					}
					mine[i].Err, mine[i] = d.err, nil
					*d = decoder{}
				}
				if len(jobs) == 0 {
					break
				}
				mine[i], jobs = &jobs[0], jobs[1:]
				d.begin(mine[i].Code, mine[i].Strs)
			}
			if ready > 0 && c.decoders[i].table.dense {
				bytes.join(i, ready)
			} else {
				gaps.join(i, ready)
			}
		}
		if gaps.size+bytes.size == 0 {
			c.takers = [lanes]taker{}
			return
		}
		c.take(&gaps, (*taker).takeGaps, takeGaps)
		c.take(&bytes, (*taker).takeBytes, takeBytes)
	}
}

// take lets a team's lanes take as many symbols as each of them can.
func (c *Coder) take(live *team, alone func(*taker, int), all func(*[lanes]taker, int)) {
	switch live.size {
	case 0:
	case 1:
		alone(&c.decoders[live.of[0]].taker, live.symbols)
	default:
		for k := range lanes {
			c.takers[k] = c.decoders[live.lane(k)].taker
		}
		all(&c.takers, live.symbols)
		for k, i := range live.of[:live.size] {
			c.decoders[i].taker = c.takers[k]
		}
	}
}

// team is the lanes that a kernel works on together.
type team struct {
	of      [lanes]int
	size    int
	symbols int // the fewest of a lane
}

// join adds lane i, unless it has no symbols.
func (t *team) join(i, symbols int) {
	if symbols == 0 {
		return
	}
	if t.size == 0 || symbols < t.symbols {
		t.symbols = symbols
	}
	t.of[t.size] = i
	t.size++
}

// lane returns the k-th lane of a kernel. One too many repeats what the first does, to
// the same memory.
func (t *team) lane(k int) int {
	if k < t.size {
		return t.of[k]
	}
	return t.of[0]
}
