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
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"toolscope/capture/record"
)

// A Hub is a NATS server in this process, with the streams of captures and of their index.
type Hub struct {
	o      HubOptions
	conf   *server.Options
	inside []nats.Option // options of this process's own connections
	log    *hubLog
	url    string
	let    func()        // unlocks its folder
	end    func()        // ends restartOnDiskError
	healed chan struct{} // closed when restartOnDiskError has ended

	mu     sync.Mutex
	server *server.Server // a new one after each restart
}

// startTimeout is the maximum time a hub may take to read its files when it starts.
const startTimeout = 2 * time.Minute

// StartHub starts a hub. It returns when clients can connect.
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
	repairStore(o.Store, o.Log)
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

// lockStore locks the folder of a hub, and returns a function that unlocks it. Two hubs that write to one
// folder would lose each other's data.
func lockStore(dir string) (let func(), err error) {
	let, ok, err := record.LockDir(dir)
	if err != nil {
		return nil, fmt.Errorf("--store %s: %w", dir, plainReason(err))
	}
	if !ok {
		return nil, fmt.Errorf("--store %s: another hub uses this folder\nuse a different folder", dir)
	}
	return let, nil
}

// startServer starts the server and creates the streams in it.
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
		return errors.New("the hub did not start within " + startTimeout.String())
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

// serverOptions returns the server's options, and the options of this process's own connections.
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
	// While the server starts, a stream may still have a larger limit from an earlier run. After that, each stream's
	// own MaxBytes applies.
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

// wantedAuth explains what the file of --auth must contain.
const wantedAuth = "use authorization { users: […] }, as in 'toolscope help hubs'"

// authOptions returns the server's options from --auth, and the credentials of this process.
func (o *HubOptions) authOptions() (conf *server.Options, inside []nats.Option, err error) {
	if o.Auth == "" {
		return &server.Options{}, nil, nil
	}
	if conf, err = server.ProcessConfigFile(o.Auth); err != nil {
		return nil, nil, fmt.Errorf("--auth: %w", err)
	}
	switch part := otherPart(conf); {
	case part != "":
		return nil, nil, fmt.Errorf("--auth %s: the file sets more than permissions: %s\n%s; or run any NATS server with JetStream as a hub", o.Auth, part, wantedAuth)
	case len(conf.Accounts) > 0 || len(conf.TrustedOperators) > 0:
		return nil, nil, fmt.Errorf("--auth %s: accounts and operators need your own NATS server\n%s; or run any NATS server with JetStream as a hub", o.Auth, wantedAuth)
	case o.Public && conf.NoAuthUser != "":
		return nil, nil, fmt.Errorf("--auth %s: the file admits anyone, because no_auth_user is %s\nwith --public, give each user a key or a password", o.Auth, conf.NoAuthUser)
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
		return nil, nil, fmt.Errorf("--auth %s: the file admits anyone, because it has no key, password or token\n%s", o.Auth, wantedAuth)
	}
	return conf, inside, nil
}

// otherPart returns the name of a setting that would make the server listen or connect in ways that the hub's options
// don't allow, or "".
func otherPart(conf *server.Options) string {
	for _, p := range []struct {
		name string
		is   bool
	}{
		{"http", conf.HTTPPort != 0}, {"https", conf.HTTPSPort != 0}, {"prof_port", conf.ProfPort != 0}, {"cluster", conf.Cluster.Port != 0 || len(conf.Routes) > 0},
		{"gateway", conf.Gateway.Port != 0}, {"leafnodes", conf.LeafNode.Port != 0 || len(conf.LeafNode.Remotes) > 0},
		{"websocket", conf.Websocket.Port != 0}, {"mqtt", conf.MQTT.Port != 0}, {"tls (use --tls-cert and --tls-key)", conf.TLSConfig != nil},
	} {
		if p.is {
			return p.name
		}
	}
	return ""
}

// createStreams creates the streams, or applies the options to existing ones.
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
		{Name: StreamName, Subjects: []string{"toolscope.*." + bytesKind + ".>"}, Description: "captures from toolscope", MaxBytes: o.KeepBytes},
		{Name: IndexName, Subjects: []string{"toolscope.*." + indexKind + ".>"}, Description: "calls in captures from toolscope", MaxBytes: o.KeepBytes / indexPart},
	} {
		c.Storage, c.Retention, c.Discard, c.AllowDirect = jetstream.FileStorage, jetstream.LimitsPolicy, jetstream.DiscardOld, true
		c.MaxAge, c.Replicas = o.Keep, 1
		if _, err = js.CreateOrUpdateStream(ctx, c); err != nil {
			return fmt.Errorf("stream %s: %w", c.Name, plainReason(err))
		}
	}
	return nil
}

// URL returns the address at which the hub listens, with the actual port.
func (h *Hub) URL() string { return h.url }

// Watch returns a view of everything that the hub has received since a given time. The view has no end.
func (h *Hub) Watch(ctx context.Context, since time.Time) (*View, error) {
	return openView(ctx, Address{Since: TimeSpec{set: true, at: since}}, Credentials{}, append(slices.Clone(h.inside), nats.InProcessServer(h))...)
}

// InProcessConn returns a connection to the server that stays within this process.
func (h *Hub) InProcessConn() (net.Conn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.server.InProcessConn()
}

// Close stops the hub. All acknowledged messages are then on the disk.
func (h *Hub) Close() {
	h.end()
	<-h.healed
	h.server.Shutdown()
	h.server.WaitForShutdown()
	h.let()
}

// hubLog receives the server's log and passes on warnings and errors.
type hubLog struct {
	say    func(string)
	failed chan error
	stuck  chan string // the reason why the server no longer stores data
}

func (l *hubLog) Noticef(string, ...any) {}
func (l *hubLog) Debugf(string, ...any)  {}
func (l *hubLog) Tracef(string, ...any)  {}

func (l *hubLog) Warnf(format string, v ...any) { l.say("hub: " + fmt.Sprintf(format, v...)) }

func (l *hubLog) Errorf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	if strings.Contains(text, "failed to store a msg") { // logged for each message while a stream is stuck
		return
	}
	l.say("hub: " + text)
	// After a failed write, a stream accepts no more messages until the server restarts, even if there is room again.
	if !strings.Contains(format, "critical write error") {
		return
	}
	why := "the disk can't be written to"
	if len(v) > 0 {
		if err, is := v[len(v)-1].(error); is {
			why = plainReason(err).Error()
		}
	}
	select {
	case l.stuck <- why:
	default: // already reported
	}
}

// Fatalf is called where the server's own program would exit.
func (l *hubLog) Fatalf(format string, v ...any) {
	select {
	case l.failed <- fmt.Errorf(format, v...):
	default:
	}
}

const (
	minHealPause = 2 * time.Second // pause before a hub checks for room again; doubled each time
	maxHealPause = time.Minute     // maximum pause; if the last restart was longer ago than this, the pauses start again at minHealPause
	minHealRoom  = 16 << 20        // number of bytes that must be free for a restart
)

var errFull = errors.New("there is no space")

// restartOnDiskError restarts the server after a failed write, once there is room. It runs until ctx ends. Senders
// keep their data during a restart, and reconnect.
func (h *Hub) restartOnDiskError(ctx context.Context) {
	defer close(h.healed)
	pause, since := minHealPause, time.Time{} // since is the time of the last restart
	for {
		select {
		case <-ctx.Done():
			return
		case why := <-h.log.stuck:
			h.log.say("hub: the hub stores no more data: " + why + "; machines keep their data until there is space")
		}
		if time.Since(since) > maxHealPause {
			pause = minHealPause
		}
		for err := errFull; err != nil; pause = min(2*pause, maxHealPause) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
			if err = record.HasRoom(h.o.Store, minHealRoom); err != nil {
				continue
			}
			if err = h.restart(ctx); err != nil && ctx.Err() == nil {
				h.log.say("hub: the hub can't restart: " + plainReason(err).Error())
			}
		}
		since = time.Now()
		h.log.say("hub: there is space again, so the hub stores data again")
	}
}

// restart stops the server and starts a new one, at the same address.
func (h *Hub) restart(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.server.Shutdown()
	h.server.WaitForShutdown()
	for len(h.log.stuck) > 0 {
		<-h.log.stuck // drop a report from the old server
	}
	return h.startServer(ctx)
}
