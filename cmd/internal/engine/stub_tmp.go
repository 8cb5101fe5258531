package engine

func (e *Engine) Hide(id uint64) { panic("todo") }
func (e *Engine) Settle() error  { panic("todo") }
