package benthos

import (
	"fmt"
	"strconv"

	"github.com/redpanda-data/benthos/v4/public/bloblang"
	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/connect/internal/state"
	"github.com/umbel-filters/umbel/filter"
)

// Names of fields.
const (
	fieldPath     = "path"
	fieldKey      = "key"
	fieldKind     = "kind"
	fieldKeys     = "keys"
	fieldRate     = "fpr"
	fieldSource   = "source"
	fieldPosition = "position"
	fieldVolatile = "volatile"
)

// filterFields are the fields of the filter of a component.
func filterFields() []*service.ConfigField {
	return []*service.ConfigField{
		service.NewStringField(fieldPath).Description("Directory of the filter, which is made if there is none. Components with the same " +
			"directory share the filter, and another process cannot open it. The file filter.umb in it is the filter as of the last checkpoint, for " +
			"all commands of umbel."),
		service.NewBloblangField(fieldKey).Description("Mapping of a message to its key: a string, bytes, or a value that is taken as JSON. A " +
			"message whose key is null or deleted passes.").Default("content()"),
		service.NewStringField(fieldKind).Description("Kind of a new filter, such as bloom, counting or scalable.").Default("bloom"),
		service.NewIntField(fieldKeys).Description("Number of keys for which a new filter is planned.").
			Default(1_000_000).LintRule(`root = if this < 1 { ["want at least 1 key"] }`),
		service.NewFloatField(fieldRate).Description("False-positive rate of a new filter with this number of keys, as a fraction.").
			Default(0.001).LintRule(`root = if this <= 0 || this >= 1 { ["want a rate between 0 and 1"] }`),
		service.NewBloblangField(fieldPosition).Description("Mapping of a message to its position in its source, a whole number below 2^63, such " +
			"as the offset in a partition. Messages that come again are then handled once; those of a source may overtake each other by up to 16384 " +
			"positions.").Optional(),
		service.NewBloblangField(fieldSource).Description("Mapping of a message to the name of its source, such as topic and partition. If " +
			"positions begin again, as in a new topic of the same name, give it another name.").Default(`""`),
		service.NewBoolField(fieldVolatile).Description("Do not wait until a batch is on the disk. A power failure may then lose the last ones.").
			Default(false).Advanced(),
	}
}

// mappings are the Bloblang mappings of a component. position is nil without one.
type mappings struct{ key, source, position *bloblang.Executor }

func newMappings(conf *service.ParsedConfig) (m mappings, err error) {
	if m.key, err = conf.FieldBloblang(fieldKey); err != nil {
		return m, err
	}
	if m.source, err = conf.FieldBloblang(fieldSource); err != nil {
		return m, err
	}
	if conf.Contains(fieldPosition) {
		m.position, err = conf.FieldBloblang(fieldPosition)
	}
	return m, err
}

// keyed are the messages of a batch that have a key, as entries, and their numbers.
type keyed struct {
	entries []state.Entry
	at      []int
}

// entries returns the keys of a batch and their positions. If a mapping fails, failed is called with the number of the message and the
// error; if it returns nil, the others follow.
func (m *mappings) entries(h umbel.Hasher, batch service.MessageBatch, failed func(i int, err error) error) (k keyed, err error) {
	key, source := batch.BloblangExecutor(m.key), batch.BloblangExecutor(m.source)
	var position *service.MessageBatchBloblangExecutor
	if m.position != nil {
		position = batch.BloblangExecutor(m.position)
	}
	for i := range batch {
		e, ok, err := entry(h, i, key, source, position)
		if err != nil {
			if err := failed(i, err); err != nil {
				return k, err
			}
		} else if ok {
			k.entries, k.at = append(k.entries, e), append(k.at, i)
		}
	}
	return k, nil
}

// entry returns the key of a message and its position. It reports false if the message has no key.
func entry(h umbel.Hasher, i int, key, source, position *service.MessageBatchBloblangExecutor) (e state.Entry, ok bool, err error) {
	b, ok, err := query(key, i)
	if !ok || err != nil {
		return e, false, wrap(fieldKey, err)
	}
	if e.Digest = h.HashBytes(b); position == nil {
		return e, true, nil
	}
	if b, _, err = query(source, i); err != nil {
		return e, false, wrap(fieldSource, err)
	}
	e.Source = string(b)
	b, _, err = query(position, i)
	if err == nil {
		if e.Position, err = strconv.ParseUint(string(b), 10, 63); err != nil {
			err = fmt.Errorf("%.40q is not a whole number from 0 to 2^63-1", b)
		}
	}
	e.Known = true
	return e, err == nil, wrap(fieldPosition, err)
}

func wrap(field string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", field, err)
}

// query returns the result of a mapping for message i as bytes: of a string its own, of other values their JSON. It reports false if the
// result is deleted, null, or the text null.
func query(x *service.MessageBatchBloblangExecutor, i int) ([]byte, bool, error) {
	m, err := x.Query(i)
	if m == nil || err != nil {
		return nil, false, err
	}
	b, err := m.AsBytes()
	return b, err == nil && string(b) != "null", err
}

// stateOptions returns the options of the filter of a component.
func stateOptions(conf *service.ParsedConfig) (o state.Options, err error) {
	o.Kinds = filter.All
	if o.Directory, err = conf.FieldString(fieldPath); err != nil {
		return o, err
	}
	if o.Volatile, err = conf.FieldBool(fieldVolatile); err != nil {
		return o, err
	}
	name, err := conf.FieldString(fieldKind)
	if err != nil {
		return o, err
	}
	keys, err := conf.FieldInt(fieldKeys)
	if err != nil {
		return o, err
	}
	rate, err := conf.FieldFloat(fieldRate)
	if err != nil {
		return o, err
	}
	kind, err := filter.All.Find(name)
	if err != nil {
		return o, err
	}
	o.New = func() (umbel.Filter, error) {
		return kind.New(umbel.Goal{Keys: uint64(max(keys, 0)), FPRate: rate}, nil)
	}
	return o, nil
}
