package benthos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/umbel-filters/umbel/connect/internal/state"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
)

const (
	fieldTo          = "to"
	fieldPrivateKey  = "private_key"
	fieldEvery       = "every"
	fieldValid       = "valid"
	fieldMaxInFlight = "max_in_flight"
)

func init() {
	spec := service.NewConfigSpec().Categories("Utility").
		Summary("Adds the keys of messages to a filter, and publishes its versions.").
		Description("A message is acknowledged when its key is on the disk, and published at the next look at the filter. Any web server can " +
			"serve the directory; umbel fetch, umbel replica and umbel unite follow it.").
		Fields(filterFields()...).
		Field(service.NewStringField(fieldTo).Description("Directory of the publication.")).
		Field(service.NewStringField(fieldPrivateKey).Description("File of the private key, made by umbel keygen.")).
		Field(service.NewDurationField(fieldEvery).Description("Time between two looks at the filter: a version is published if it has changed.").Default("10s")).
		Field(service.NewDurationField(fieldValid).Description("Time for which a head is valid, in whole seconds. Subscribers then know that they " +
			"are out of date.").Default("1m")).
		Field(service.NewIntField(fieldMaxInFlight).Description("Number of batches that are added at the same time.").Default(64).Advanced())
	constructor := func(conf *service.ParsedConfig, mgr *service.Resources) (service.BatchOutput, service.BatchPolicy, int, error) {
		o, maxInFlight, err := newOutput(conf, mgr)
		return o, service.BatchPolicy{}, maxInFlight, err
	}
	if err := service.RegisterBatchOutput("umbel_publish", spec, constructor); err != nil {
		panic(err)
	}
}

// output is an umbel_publish.
type output struct {
	mappings
	conf         *service.ParsedConfig
	mgr          *service.Resources
	to, key      string
	every, valid time.Duration

	mu        sync.Mutex // guards the fields below
	shared    *shared
	store     *dir.Store
	publisher *share.Publisher
	stop      context.CancelFunc
	ended     chan struct{} // closed when nothing publishes any more
	seen      uint64        // the version of the state that was published last; of the goroutine that publishes
	reported  string        // the last error of publishing; of that goroutine
}

func newOutput(conf *service.ParsedConfig, mgr *service.Resources) (o *output, maxInFlight int, err error) {
	o = &output{conf: conf, mgr: mgr}
	if o.mappings, err = newMappings(conf); err != nil {
		return nil, 0, err
	}
	if o.to, err = conf.FieldString(fieldTo); err != nil {
		return nil, 0, err
	}
	if o.key, err = conf.FieldString(fieldPrivateKey); err != nil {
		return nil, 0, err
	}
	if o.every, err = conf.FieldDuration(fieldEvery); err != nil {
		return nil, 0, err
	}
	if o.valid, err = conf.FieldDuration(fieldValid); err != nil {
		return nil, 0, err
	}
	if o.every <= 0 || o.valid < 2*o.every {
		return nil, 0, fmt.Errorf("%s is %v and %s %v; want a positive time, and a validity of at least twice as long", fieldEvery, o.every, fieldValid, o.valid)
	}
	maxInFlight, err = conf.FieldInt(fieldMaxInFlight)
	return o, maxInFlight, err
}

// Connect implements service.BatchOutput: it opens the filter and the publication, and begins to publish.
func (o *output) Connect(context.Context) (err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.publisher != nil {
		return nil
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.closeFiles())
		}
	}()
	text, err := os.ReadFile(o.key)
	if err != nil {
		return err
	}
	key, err := share.ParseKey(strings.TrimSpace(string(text)))
	if err != nil {
		return fmt.Errorf("%s: %w", o.key, err)
	}
	if o.shared, err = acquire(o.conf, o.mgr); err != nil {
		return err
	}
	if o.store, err = dir.Create(o.to); err != nil {
		o.store = nil
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	p, err := share.NewPublisher(ctx, share.PublisherOptions{Store: o.store, Key: key, Valid: o.valid, Kinds: filter.All})
	if err != nil {
		stop()
		return err
	}
	o.publisher, o.stop, o.ended = p, stop, make(chan struct{})
	go o.publish(ctx, p, o.shared.State, o.ended)
	return nil
}

// publish publishes the filter until ctx ends.
func (o *output) publish(ctx context.Context, p *share.Publisher, s *state.State, ended chan<- struct{}) {
	defer close(ended)
	log := o.mgr.Logger()
	err := p.Run(ctx, share.Feed{Period: o.every, Hold: true,
		Next: func(context.Context) (*share.Update, error) { return o.next(s) },
		Done: func(_ *share.Head, err error) {
			text := ""
			if err != nil {
				text = err.Error()
			}
			switch {
			case text == o.reported:
			case err != nil:
				log.Errorf("publishing to %s failed: %v", o.to, err)
			default:
				log.Infof("publishing to %s succeeds again", o.to)
			}
			o.reported = text
		},
	})
	if ctx.Err() == nil {
		log.Errorf("publishing to %s ended: %v", o.to, err)
	}
}

// next returns a copy of the filter, nil if it has not changed since the last one.
func (o *output) next(s *state.State) (*share.Update, error) {
	if v := s.Version() + 1; v == o.seen {
		return nil, nil
	}
	copied, version, err := s.Copy()
	if err != nil {
		return nil, err
	}
	o.seen = version + 1
	return &share.Update{State: copied}, nil
}

// WriteBatch implements service.BatchOutput.
func (o *output) WriteBatch(_ context.Context, batch service.MessageBatch) error {
	o.mu.Lock()
	s := o.shared
	o.mu.Unlock()
	if s == nil {
		return service.ErrNotConnected
	}
	k, err := o.entries(s.Hasher(), batch, func(i int, err error) error { return fmt.Errorf("message %d of the batch: %w", i, err) })
	if err != nil {
		return err
	}
	return s.Apply(k.entries, make([]bool, len(k.entries)))
}

// Close implements service.Closer: it publishes what was added last.
func (o *output) Close(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.publisher == nil {
		return nil
	}
	o.stop()
	<-o.ended
	copied, _, err := o.shared.Copy()
	if err == nil {
		_, err = o.publisher.Publish(ctx, copied)
	}
	return errors.Join(err, o.publisher.Close(ctx), o.closeFiles())
}

// closeFiles releases the filter and the publication.
func (o *output) closeFiles() error {
	var errs []error
	if o.store != nil {
		errs = append(errs, o.store.Close())
	}
	if o.shared != nil {
		errs = append(errs, o.shared.release())
	}
	o.publisher, o.store, o.shared = nil, nil, nil
	return errors.Join(errs...)
}
