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

const hubHelp = `A hub collects the traffic that proxies and followed logs on many machines publish. It
keeps it for a day by default, and any number of screens can watch it. It is a NATS
server with JetStream, built into toolscope; any other NATS server works as well.

Other machines can connect, to tls://hub:4222, only with --public, which requires
--auth, --tls-cert and --tls-key. --new-key makes a key for a machine or a viewer;
'toolscope help hubs' lists the permissions for such keys.`

// hubCommandFlags are the flags of a hub.
type hubCommandFlags struct {
	fleet.HubOptions
	bytes, sync string
	newKey      string
	traces      traceFlags
}

func (a *app) hubCommand() *cobra.Command {
	var f hubCommandFlags
	cmd := &cobra.Command{
		Use: "hub", Short: "Run a hub that collects traffic from many machines", Long: hubHelp, Args: noArgs,
		Example: "toolscope hub\ntoolscope proxy --publish nats://127.0.0.1:4222\ntoolscope open 'nats://127.0.0.1:4222?since=15m'\ntoolscope print 'nats://127.0.0.1:4222?until=now' --format jsonl",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.newKey != "" {
				return a.newKey(f.newKey)
			}
			return a.runHub(cmd.Context(), &f)
		},
	}
	to := cmd.Flags()
	to.StringVar(&f.Listen, "listen", "127.0.0.1:4222", "")
	to.StringVar(&f.Store, "store", "", "")
	to.DurationVar(&f.Keep, "max-age", 24*time.Hour, "")
	to.StringVar(&f.bytes, "max-bytes", "20GB", "")
	f.sync = "1s"
	to.Var(&enumFlag{&f.sync, []string{"1s", "always"}, "1s"}, "sync", "")
	to.BoolVar(&f.Public, "public", false, "")
	to.StringVar(&f.Auth, "auth", "", "")
	to.StringVar(&f.Cert, "tls-cert", "", "")
	to.StringVar(&f.Key, "tls-key", "", "")
	to.StringVar(&f.newKey, "new-key", "", "")
	addFlagCheck(to, "max-bytes", isSize("--max-bytes"))
	markSettings(to, "hub", "listen", "store", "max-age", "max-bytes", "sync", "auth", "tls-cert", "tls-key")
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	a.traceFlags(cmd, &f.traces, "hub")
	return cmd
}

// runHub runs a hub until a signal arrives.
func (a *app) runHub(ctx context.Context, f *hubCommandFlags) (err error) {
	addr, err := net.ResolveTCPAddr("tcp", f.Listen)
	switch {
	case err != nil:
		return usageErrorf("--listen %q: %w\nuse HOST:PORT, e.g. 127.0.0.1:4222", f.Listen, err)
	case f.Public && (f.Auth == "" || f.Cert == ""):
		return usageErrorf("--public: needs --auth, --tls-cert and --tls-key\nwithout them, everyone who can reach this machine could read and write")
	case !f.Public && !addr.IP.IsLoopback():
		return usageErrorf("--listen %s: other machines could connect\nallow that with --public, or use 127.0.0.1:%d for this machine only", f.Listen, addr.Port)
	case f.Keep < time.Second:
		return usageErrorf("--max-age %s: too short\nuse a time of at least 1s", f.Keep)
	}
	if f.KeepBytes, err = sizeOf("--max-bytes", f.bytes); err != nil {
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
