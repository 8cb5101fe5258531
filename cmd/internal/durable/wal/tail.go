package wal

import (
	"fmt"
	"io"
)

// tail is the end of a log, as it was found in a segment.
type tail struct {
	tip     link     // last entry
	segment *segment // that contains it and is continued; nil if there is none
	end     int64    // offset after its frame
	fresh   int64    // offset of the first frame that the head does not name as durable; end if there is none
	proof   uint64
	torn    string // what follows and was never acknowledged
	unread  bool   // a part of the segment cannot be read
	foreign bool   // the last durable entry is not the one that the head names
}

// run is a sequence of frames each of which names the one before.
type run struct {
	first  uint64 // index of the first frame
	before link   // what the first frame names
	fresh  int64  // as in tail
	last   link
	end    int64
}

// readTail reads a segment and finds the end of the log in it. known is what the head names as the last
// durable entry, and proof an index that is known to be durable, 0 if none is.
//
// A power cut may leave a frame incomplete that was being written, and a whole one after it. Neither
// was acknowledged; they are torn. But a frame that is missing or altered although it had been synced
// is damage. What decides is proof: the highest index that the head, the header of a segment, or any
// whole frame names as durable. Entries up to it must be there. Entries after it count up to the
// first that is not whole.
func readTail(file io.ReaderAt, s *segment, known link, proof uint64) (tail, error) {
	t := tail{tip: s.before, end: segmentHeader, fresh: segmentHeader}
	runs, rest, durable, err := readRuns(file, s, func(l link) bool {
		t.foreign = t.foreign || l.index == known.index && l != known
		return l.index <= known.index
	})
	if err != nil {
		return tail{}, err
	}
	t.proof = max(proof, s.before.index, durable)
	for _, r := range runs {
		if r.before != t.tip && !t.isDamage(r) {
			if t.tip.index < t.proof {
				return t, nil
			}
			t.torn = fmt.Sprintf("batches %d to %d, of which %d is incomplete", t.tip.index+1, runs[len(runs)-1].last.index, t.tip.index+1)
			return t, nil
		}
		t.tip, t.end, t.fresh = r.last, r.end, r.fresh
	}
	if rest != nil && t.tip.index >= t.proof {
		t.torn = fmt.Sprintf("batch %d, which is incomplete (%v)", t.tip.index+1, rest)
	}
	return t, nil
}

// isDamage reports whether a run that does not follow the tip proves that something between them is
// lost: it or the entry before it was durable.
func (t *tail) isDamage(r run) bool {
	return r.first > t.tip.index && (r.first <= t.proof || r.first-1 > t.tip.index && r.first-1 <= t.proof)
}

// readRuns returns the frames of a segment, and the highest index that they name as durable. rest is
// not nil if the header of another frame follows the last one. Frames that are not known are fresh.
func readRuns(file io.ReaderAt, s *segment, known func(link) bool) (runs []run, rest error, durable uint64, err error) {
	scan := newScanner(file, s)
	for {
		f, ok, err := scan.next()
		if err != nil {
			return nil, nil, 0, err
		}
		if !ok {
			if scan.begun {
				rest = scan.bad
			}
			return runs, rest, durable, nil
		}
		durable = max(durable, f.durable)
		if n := len(runs); n > 0 && f.before == runs[n-1].last {
			runs[n-1].last, runs[n-1].end = f.link, scan.offset
		} else {
			runs = append(runs, run{first: f.index, before: f.before, last: f.link, end: scan.offset})
			if n > 0 {
				runs[n].fresh = runs[n-1].fresh
			}
		}
		if r := &runs[len(runs)-1]; known(f.link) {
			r.fresh = scan.offset
		} else if r.fresh == 0 {
			r.fresh = segmentHeader
		}
	}
}
