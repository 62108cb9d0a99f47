package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture/fleet"
	"toolscope/stream"
)

const hubHelp = `Takes what proxies and followed logs of many machines publish, keeps it for a
while, and has any number of screens watch it: a NATS server with JetStream, in
one program. Any other one will do as well.

  toolscope hub                                         for this machine alone
  toolscope proxy --publish nats://127.0.0.1:4222       each proxy on it
  toolscope open 'nats://127.0.0.1:4222?since=15m'      all of them, on a screen
  toolscope print 'nats://127.0.0.1:4222?until=now' --format jsonl

Other machines can connect, to tls://hub:4222, only with --public, which wants
--auth, --tls-cert and --tls-key. --new-key makes the key of a machine or of who
views; 'toolscope help fleet' has the permissions to give it.`

// hubCommandFlags are those of a hub.
type hubCommandFlags struct {
	fleet.HubOptions
	bytes, sync string
	newKey      string
	traces      traceFlags
}

func (a *app) hubCommand() *cobra.Command {
	var f hubCommandFlags
	cmd := &cobra.Command{
		Use: "hub", Short: "Gather what many machines publish", Long: hubHelp, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.newKey != "" {
				return a.newKey(f.newKey)
			}
			return a.runHub(cmd.Context(), &f)
		},
	}
	to := cmd.Flags()
	to.StringVar(&f.Listen, "listen", "127.0.0.1:4222", "`ADDR` to listen on; port 0 picks a free one")
	to.StringVar(&f.Store, "store", "", "keep what comes in this `DIR`, in place of toolscope's own folder")
	to.DurationVar(&f.Keep, "keep", 24*time.Hour, "how long it is kept")
	to.StringVar(&f.bytes, "keep-bytes", "20GB", "how much of it is kept, a `SIZE`")
	f.sync = "1s"
	to.Var(&enumFlag{&f.sync, []string{"1s", "always"}, "1s"}, "sync", "when it is forced to the disk: 1s, each second, or always, before it is acknowledged")
	to.BoolVar(&f.Public, "public", false, "listen where other machines reach it; wants --auth, --tls-cert and --tls-key")
	to.StringVar(&f.Auth, "auth", "", "who may do what: authorization as NATS configures it, in this `FILE`")
	to.StringVar(&f.Cert, "tls-cert", "", "the certificate, in this `FILE`")
	to.StringVar(&f.Key, "tls-key", "", "its key, in this `FILE`")
	to.StringVar(&f.newKey, "new-key", "", "no hub: write a new key for --nkey into this `FILE`, and print its public half for --auth")
	addFlagCheck(to, "keep-bytes", isSize("--keep-bytes"))
	markSettings(to, "hub", "listen", "store", "keep", "keep-bytes", "sync", "auth", "tls-cert", "tls-key")
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	a.traceFlags(cmd, &f.traces, "hub")
	return cmd
}

// runHub is a hub until a signal.
func (a *app) runHub(ctx context.Context, f *hubCommandFlags) (err error) {
	addr, err := net.ResolveTCPAddr("tcp", f.Listen)
	switch {
	case err != nil:
		return usageErrorf("--listen %q: %w\nwanted is HOST:PORT, as in 127.0.0.1:4222", f.Listen, err)
	case f.Public && (f.Auth == "" || f.Cert == ""):
		return usageErrorf("--public: whoever reaches this machine could read and write\n--auth FILE, --tls-cert FILE and --tls-key FILE keep strangers out")
	case !f.Public && !addr.IP.IsLoopback():
		return usageErrorf("--listen %s: other machines could connect there\n--public allows that; 127.0.0.1:%d is this machine only", f.Listen, addr.Port)
	case f.Keep < time.Second:
		return usageErrorf("--keep %s: wanted is a time from 1s", f.Keep)
	}
	if f.KeepBytes, err = sizeOf("--keep-bytes", f.bytes); err != nil {
		return err
	}
	if f.Store == "" {
		if f.Store, err = inStateFolder("hub"); err != nil {
			return err
		}
	}
	traces, err := a.startTracing(&f.traces, stream.Machine{}, a.traceNotices(f.traces.to))
	if err != nil {
		return err
	}
	f.SyncAlways, f.Log = f.sync == "always", func(text string) { a.printNote("%s", text) }
	caught, stop := a.catchEnd()
	defer stop()
	defer quitQuietly()()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	began, started := time.Now(), make(chan error, 1)
	var hub *fleet.Hub
	go func() {
		var err error
		hub, err = fleet.StartHub(ctx, f.HubOptions)
		started <- err
	}()
	signalled, err := a.waitForEnd(started, caught)
	if signalled {
		cancel()
		err = <-started
	}
	switch {
	case signalled && errors.Is(err, context.Canceled):
		return nil
	case err != nil:
		return fmt.Errorf("hub: %w", err)
	}
	defer hub.Close()
	unwatch, err := a.watchHub(hub, traces, f.Store, began)
	if err != nil {
		return err
	}
	defer unwatch()
	if !signalled {
		a.stdout.printLine("%s", hub.URL())
		_, _ = a.waitForEnd(nil, caught)
	}
	return nil
}
