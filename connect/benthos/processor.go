package benthos

import (
	"context"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/umbel-filters/umbel/connect/internal/state"
)

const (
	fieldKeep = "keep"

	// metaHas and metaNew are the metadata that umbel_has and umbel_add set.
	metaHas = "umbel_has"
	metaNew = "umbel_new"
)

func init() {
	register := func(name string, spec *service.ConfigSpec, make func(processor) decide) {
		constructor := func(conf *service.ParsedConfig, mgr *service.Resources) (service.BatchProcessor, error) {
			return newProcessor(conf, mgr, make)
		}
		err := service.RegisterBatchProcessor(name, spec.Categories("Utility").Fields(filterFields()...), constructor)
		if err != nil {
			panic(err)
		}
	}
	register("umbel_uniq", service.NewConfigSpec().
		Summary("Passes messages whose key is new, with a filter of fixed size instead of a cache.").
		Description("A new key is dropped with the false-positive rate. A key is never passed twice, except by messages whose position shows that "+
			"they came again. Without position, a message whose processing failed after this component is dropped when it comes again."),
		func(processor) decide { return uniq })
	register("umbel_add", service.NewConfigSpec().
		Summary("Adds the keys of messages to a filter, and passes all messages.").
		Description("The metadata "+metaNew+" of a message is true if its key was absent."),
		func(processor) decide { return add })
	register("umbel_has", service.NewConfigSpec().
		Summary("States whether the key of a message may be in a filter.").
		Description("The metadata "+metaHas+" is true or false: false is certain, true is wrong with the false-positive rate for an absent key.").
		Field(service.NewStringEnumField(fieldKeep, "all", "present", "absent").Description("Messages that pass.").Default("all")),
		func(p processor) decide { return p.has })
}

// decide sets keep[i] to whether message i passes, and may set metadata of messages, which are copies.
type decide func(s *state.State, messages []*service.Message, entries []state.Entry, keep []bool) error

// processor is one instance of a component; the engine makes one for each thread.
type processor struct {
	mappings
	shared *shared
	keep   string // of umbel_has
	decide decide
}

func newProcessor(conf *service.ParsedConfig, mgr *service.Resources, make func(processor) decide) (*processor, error) {
	var p processor
	var err error
	if p.mappings, err = newMappings(conf); err != nil {
		return nil, err
	}
	if conf.Contains(fieldKeep) {
		if p.keep, err = conf.FieldString(fieldKeep); err != nil {
			return nil, err
		}
	}
	if p.shared, err = acquire(conf, mgr); err != nil {
		return nil, err
	}
	p.decide = make(p)
	return &p, nil
}

// ProcessBatch implements service.BatchProcessor.
func (p *processor) ProcessBatch(_ context.Context, batch service.MessageBatch) ([]service.MessageBatch, error) {
	out := batch.Copy()
	k, _ := p.entries(p.shared.Hasher(), out, func(i int, err error) error {
		out[i].SetError(err)
		return nil
	})
	messages := make([]*service.Message, len(k.at))
	for i, at := range k.at {
		messages[i] = out[at]
	}
	keep := make([]bool, len(k.entries))
	if err := p.decide(p.shared.State, messages, k.entries, keep); err != nil {
		return nil, err
	}
	dropped := make(map[int]bool)
	for i, passes := range keep {
		if !passes {
			dropped[k.at[i]] = true
		}
	}
	var passed service.MessageBatch
	for i, m := range out {
		if !dropped[i] {
			passed = append(passed, m)
		}
	}
	if len(passed) == 0 {
		return nil, nil
	}
	return []service.MessageBatch{passed}, nil
}

// Close implements service.Closer.
func (p *processor) Close(context.Context) error { return p.shared.release() }

func uniq(s *state.State, _ []*service.Message, entries []state.Entry, keep []bool) error {
	return s.Apply(entries, keep)
}

func add(s *state.State, messages []*service.Message, entries []state.Entry, keep []bool) error {
	isNew := make([]bool, len(entries))
	if err := s.Apply(entries, isNew); err != nil {
		return err
	}
	for i, m := range messages {
		m.MetaSetMut(metaNew, isNew[i])
		keep[i] = true
	}
	return nil
}

func (p processor) has(s *state.State, messages []*service.Message, entries []state.Entry, keep []bool) error {
	for i, m := range messages {
		has := s.Has(entries[i].Digest)
		m.MetaSetMut(metaHas, has)
		keep[i] = p.keep != "present" && !has || p.keep != "absent" && has
	}
	return nil
}
