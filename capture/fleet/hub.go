//go:build !nohub

package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"toolscope/capture/record"
)

// HasHub says that this program can be a hub.
const HasHub = true

// A Hub is a NATS server in this process, with the streams of captures and of their index.
type Hub struct {
	o      HubOptions
	conf   *server.Options
	inside []nats.Option // how this process connects to it
	log    *hubLog
	url    string
	let    func()        // lets go of its folder
	end    func()        // has it not begin anew any more
	healed chan struct{} // closed when it does not

	mu     sync.Mutex
	server *server.Server // another one after each time that it began anew
}

// startTimeout is how long a hub may take to look through its files.
const startTimeout = 2 * time.Minute

// StartHub starts a hub. It returns when others can connect.
func StartHub(ctx context.Context, o HubOptions) (*Hub, error) {
	conf, inside, err := o.serverOptions()
	if err != nil {
		return nil, err
	}
	let, err := lockStore(o.Store)
	if err != nil {
		return nil, err
	}
	h := &Hub{o: o, conf: conf, inside: inside, let: let, log: &hubLog{say: o.Log, failed: make(chan error, 1), stuck: make(chan string, 1)}, healed: make(chan struct{})}
	if err := h.startServer(ctx); err != nil {
		let()
		return nil, err
	}
	scheme := "nats"
	if o.Cert != "" {
		scheme = "tls"
	}
	conf.Port = h.server.Addr().(*net.TCPAddr).Port
	h.url = scheme + "://" + net.JoinHostPort(cmp.Or(conf.Host, "0.0.0.0"), strconv.Itoa(conf.Port))
	ctx, h.end = context.WithCancel(context.Background())
	go h.restartOnDiskError(ctx)
	return h, nil
}

// lockStore takes the folder of a hub: of two that write to it each one would lose what the other has.
func lockStore(dir string) (let func(), err error) {
	let, ok, err := record.LockDir(dir)
	if err != nil {
		return nil, fmt.Errorf("--store %s: %w", dir, plainReason(err))
	}
	if !ok {
		return nil, fmt.Errorf("--store %s: another hub keeps there what comes to it\nwanted is a folder of its own", dir)
	}
	return let, nil
}

// startServer starts the server and has the streams in it.
func (h *Hub) startServer(ctx context.Context) error {
	s, err := server.NewServer(h.conf.Clone())
	if err != nil {
		return plainReason(err)
	}
	h.server = s
	s.SetLoggerV2(h.log, false, false, false)
	go s.Start()
	for began := time.Now(); !s.ReadyForConnections(100 * time.Millisecond); {
		select {
		case err := <-h.log.failed:
			s.Shutdown()
			return err
		default:
		}
		if ctx.Err() == nil && time.Since(began) < startTimeout {
			continue
		}
		s.Shutdown()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return errors.New("it did not start in " + startTimeout.String())
	}
	if err := h.o.createStreams(ctx, s, h.inside); err != nil {
		s.Shutdown()
		s.WaitForShutdown()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	return nil
}

// serverOptions is the server's own options, and how this process connects to it.
func (o *HubOptions) serverOptions() (conf *server.Options, inside []nats.Option, err error) {
	if conf, inside, err = o.authOptions(); err != nil {
		return nil, nil, err
	}
	host, port, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, nil, fmt.Errorf("--listen %s: %w", o.Listen, err)
	}
	if conf.Port, err = strconv.Atoi(port); err != nil {
		return nil, nil, fmt.Errorf("--listen %s: %w", o.Listen, err)
	}
	if conf.Port == 0 {
		conf.Port = server.RANDOM_PORT
	}
	conf.Host, conf.NoSigs, conf.ServerName = host, true, "toolscope"
	conf.JetStream, conf.StoreDir, conf.SyncInterval, conf.SyncAlways = true, o.Store, time.Second, o.SyncAlways
	// A stream that was larger before is larger still while the server starts. What limits each is its
	// own MaxBytes.
	conf.JetStreamMaxStore, conf.JetStreamMaxMemory = math.MaxInt64/2, 64<<20
	if o.Cert != "" {
		config, err := server.GenTLSConfig(&server.TLSConfigOpts{CertFile: o.Cert, KeyFile: o.Key})
		if err != nil {
			return nil, nil, fmt.Errorf("--tls-cert: %w", err)
		}
		conf.TLSConfig, conf.TLS, conf.TLSTimeout = config, true, 5
	}
	return conf, inside, nil
}

// wantedAuth is what a file of --auth looks like.
const wantedAuth = "wanted is authorization { users: […] }, as in 'toolscope help fleet'"

// authOptions is the server's options as --auth has them, and how this process gets in.
func (o *HubOptions) authOptions() (conf *server.Options, inside []nats.Option, err error) {
	if o.Auth == "" {
		return &server.Options{}, nil, nil
	}
	if conf, err = server.ProcessConfigFile(o.Auth); err != nil {
		return nil, nil, fmt.Errorf("--auth: %w", err)
	}
	switch part := otherPart(conf); {
	case part != "":
		return nil, nil, fmt.Errorf("--auth %s: it has more than who may do what: %s\n%s; any NATS server with JetStream is a hub as well", o.Auth, part, wantedAuth)
	case len(conf.Accounts) > 0 || len(conf.TrustedOperators) > 0:
		return nil, nil, fmt.Errorf("--auth %s: accounts and operators are for a server of your own\n%s; any NATS server with JetStream is a hub as well", o.Auth, wantedAuth)
	case o.Public && conf.NoAuthUser != "":
		return nil, nil, fmt.Errorf("--auth %s: it lets in everybody, as no_auth_user: %s\nwith --public each one has a key or a password", o.Auth, conf.NoAuthUser)
	case conf.Authorization != "":
		inside = append(inside, nats.Token(conf.Authorization))
	case conf.Username != "":
		inside = append(inside, nats.UserInfo(conf.Username, conf.Password))
	case len(conf.Users)+len(conf.Nkeys) > 0:
		self, err := nkeys.CreateUser()
		if err != nil {
			return nil, nil, err
		}
		public, err := self.PublicKey()
		if err != nil {
			return nil, nil, err
		}
		conf.Nkeys = append(conf.Nkeys, &server.NkeyUser{Nkey: public})
		inside = append(inside, nats.Nkey(public, self.Sign))
	default:
		return nil, nil, fmt.Errorf("--auth %s: it lets in everybody: no key, no password and no token is in it\n%s", o.Auth, wantedAuth)
	}
	return conf, inside, nil
}

// otherPart is what would have a server listen, or connect, as no option of a hub says; "" for nothing.
func otherPart(conf *server.Options) string {
	for _, p := range []struct {
		name string
		is   bool
	}{
		{"http", conf.HTTPPort != 0}, {"https", conf.HTTPSPort != 0}, {"prof_port", conf.ProfPort != 0}, {"cluster", conf.Cluster.Port != 0 || len(conf.Routes) > 0},
		{"gateway", conf.Gateway.Port != 0}, {"leafnodes", conf.LeafNode.Port != 0 || len(conf.LeafNode.Remotes) > 0},
		{"websocket", conf.Websocket.Port != 0}, {"mqtt", conf.MQTT.Port != 0}, {"tls, which --tls-cert and --tls-key are for", conf.TLSConfig != nil},
	} {
		if p.is {
			return p.name
		}
	}
	return ""
}

// createStreams makes the streams, or has them as the options say.
func (o *HubOptions) createStreams(ctx context.Context, s *server.Server, inside []nats.Option) error {
	conn, err := nats.Connect("", append(inside, nats.InProcessServer(s))...)
	if err != nil {
		return fmt.Errorf("--auth: %w", plainReason(err))
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for _, c := range []jetstream.StreamConfig{
		{Name: StreamName, Subjects: []string{"toolscope.*." + bytesKind + ".>"}, Description: "captures of toolscope", MaxBytes: o.KeepBytes},
		{Name: IndexName, Subjects: []string{"toolscope.*." + indexKind + ".>"}, Description: "the calls in them", MaxBytes: o.KeepBytes / indexPart},
	} {
		c.Storage, c.Retention, c.Discard, c.AllowDirect = jetstream.FileStorage, jetstream.LimitsPolicy, jetstream.DiscardOld, true
		c.MaxAge, c.Replicas = o.Keep, 1
		if _, err = js.CreateOrUpdateStream(ctx, c); err != nil {
			return fmt.Errorf("stream %s: %w", c.Name, plainReason(err))
		}
	}
	return nil
}

// URL is where the hub listens: where it was told to, and at which port.
func (h *Hub) URL() string { return h.url }

// Watch is a view of all that came to the hub since then, and comes.
func (h *Hub) Watch(ctx context.Context, since time.Time) (*View, error) {
	return openView(ctx, Address{Since: TimeSpec{set: true, at: since}}, Credentials{}, append(slices.Clone(h.inside), nats.InProcessServer(h))...)
}

// InProcessConn is a connection to the server within this process.
func (h *Hub) InProcessConn() (net.Conn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.server.InProcessConn()
}

// Close ends the hub. What it acknowledged is on the disk then.
func (h *Hub) Close() {
	h.end()
	<-h.healed
	h.server.Shutdown()
	h.server.WaitForShutdown()
	h.let()
}

// hubLog passes on what the server complains of.
type hubLog struct {
	say    func(string)
	failed chan error
	stuck  chan string // why nothing more is taken
}

func (l *hubLog) Noticef(string, ...any) {}
func (l *hubLog) Debugf(string, ...any)  {}
func (l *hubLog) Tracef(string, ...any)  {}

func (l *hubLog) Warnf(format string, v ...any) { l.say("hub: " + fmt.Sprintf(format, v...)) }

func (l *hubLog) Errorf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	if isRefused(text) {
		return
	}
	l.say("hub: " + text)
	if !isStuck(format) {
		return
	}
	select {
	case l.stuck <- reasonOf(v):
	default: // it is told
	}
}

// Fatalf is called where the server's own program would end.
func (l *hubLog) Fatalf(format string, v ...any) {
	select {
	case l.failed <- fmt.Errorf(format, v...):
	default:
	}
}
