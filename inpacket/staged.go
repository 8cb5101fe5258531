package inpacket

// matchStage asks the stage that routers ask which see h's TTL.
func (t *Table) matchStage(dst []uint64, h *Header) {
	s, ok := stageFor(h.Filter, h.Bits, h.TTL)
	if !ok {
		t.none(dst)
		return
	}
	t.matchBits(dst, h.Filter, s.first, s.bits, StageSeed(h.Seed, s.nibble), int(h.K))
}
