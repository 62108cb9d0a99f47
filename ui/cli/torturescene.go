package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"toolscope/capture/proxy"
	"toolscope/capture/record"
	"toolscope/providers/torture"
)

// sceneRun is one run of a scene.
type sceneRun struct {
	*tortureOptions
	scene  *torture.Scene
	server *sceneServer
	live   *liveInput
	limit  time.Duration // maximum time without any byte or event
}

// runScene runs a client once in a scene, and returns the facts.
func (o *tortureOptions) runScene(ctx context.Context, scene *torture.Scene, limit time.Duration) (facts torture.Facts, err error) {
	r := &sceneRun{tortureOptions: o, scene: scene, limit: limit}
	folder, remove, err := makeScratchFolder()
	if err != nil {
		return facts, err
	}
	defer remove()
	path := o.capturePath(scene)
	replaceSceneFiles(path)
	began := time.Now()
	r.live = newLiveInput(newRedactor(), began)
	if r.live.rec, err = o.app.startCapture(path, began, "toolscope torture"); err != nil {
		return facts, err
	}
	leave, err := record.MakeCompanionDir(path)
	if err != nil {
		return facts, err
	}
	defer leave()
	r.server = &sceneServer{scene: scene, seed: o.seed, pace: o.pace, began: began, active: began}
	stop, at, direct, err := r.startProvider(ctx)
	if err != nil {
		return facts, err
	}
	c, err := newSceneClient(o, folder, at, direct, record.CompanionDir(path))
	if err == nil {
		facts, err = r.runClient(ctx, c)
		c.removeFiles()
	}
	return facts, errors.Join(err, stop())
}

// startProvider starts the provider, and a proxy that records in front of it. The result at is the address of the
// proxy, and direct is the address of the provider. The function stop stops both.
func (r *sceneRun) startProvider(ctx context.Context) (stop func() error, at, direct string, err error) {
	upstream, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", "", err
	}
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		upstream.Close()
		return nil, "", "", err
	}
	provider := &http.Server{Handler: r.server, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = provider.Serve(upstream) }()
	to := url.URL{Scheme: "http", Host: upstream.Addr().String()}
	routes := make([]route, len(r.routes))
	for i, known := range r.routes {
		u := to
		routes[i] = route{known.prefix, known.host, &u, true}
	}
	tool := to
	tool.Path = toolPath
	routed := append(proxyRoutes(routes), proxy.Route{Prefix: toolPath, Upstream: &tool})
	recording, err := proxy.New(proxy.Options{Routes: routed, Record: r.live.addRecord, Began: r.live.began})
	if err != nil {
		return nil, "", "", errors.Join(err, upstream.Close(), front.Close())
	}
	r.live.proxy = recording
	r.live.start(callDirect)
	go func() {
		for range r.live.shown.All { // there is no screen
		}
	}()
	go func() { _ = recording.Serve(ctx, front) }()
	return func() error {
		ending, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		_ = recording.Close(ending)
		front.Close()
		_ = provider.Close()
		err := r.live.drainRecords(ending)
		return errors.Join(err, r.live.rec.Close(ending))
	}, "http://" + front.Addr().String(), to.String(), nil
}

// runClient runs the client until it ends, or until it has done nothing for too long.
func (r *sceneRun) runClient(ctx context.Context, c *sceneClient) (facts torture.Facts, err error) {
	output, err := createOutput(r.live)
	if err != nil {
		return facts, err
	}
	defer output.Close()
	if r.inside != nil {
		return r.runInside(ctx, c)
	}
	cmd := c.sceneCmd(output)
	began := time.Now()
	done, err := startOnThread(cmd)
	if err != nil {
		return facts, fmt.Errorf("%s: %w", programOf(c.args[0]), withoutExecError(err))
	}
	ended := r.waitForClient(ctx, done)
	took := time.Since(began)
	endGroup(cmd, done)
	facts = r.server.takeFacts()
	facts.Ended, facts.Took = ended, took
	if !ended {
		facts.Exit = cmd.ProcessState.ExitCode()
		facts.Signal = signalOf(cmd.ProcessState)
	}
	return facts, ctx.Err()
}

// startOnThread starts a program in its own process group. The channel is closed when the program has ended.
func startOnThread(cmd *exec.Cmd) (<-chan struct{}, error) {
	done, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the program ends when the thread that started it ends
		defer runtime.UnlockOSThread()
		err := startGroup(cmd)
		failed <- err
		if err == nil {
			_ = cmd.Wait()
		}
		close(done)
	}()
	return done, <-failed
}

// runInside runs a client in this process.
func (r *sceneRun) runInside(ctx context.Context, c *sceneClient) (facts torture.Facts, err error) {
	began, done, end, exit := time.Now(), make(chan struct{}), make(chan struct{}), 0
	go func() {
		defer close(done)
		exit = r.inside(c.vars, end)
	}()
	ended := r.waitForClient(ctx, done)
	took := time.Since(began)
	close(end)
	<-done
	facts = r.server.takeFacts()
	facts.Ended, facts.Took, facts.Exit = ended, took, exit
	return facts, ctx.Err()
}

// withoutExecError returns the reason in an error from package exec.
func withoutExecError(err error) error {
	var e *exec.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// waitForClient waits until the client has ended. It reports whether the client must be killed instead.
func (r *sceneRun) waitForClient(ctx context.Context, done <-chan struct{}) (mustEnd bool) {
	r.server.noteChange(func() {}) // the idle time begins now
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return false
		case <-ctx.Done():
			return true
		case <-tick.C:
			if r.server.idleTime() > r.limit {
				return true
			}
		}
	}
}

// capturePath returns the path of a scene's capture.
func (o *tortureOptions) capturePath(scene *torture.Scene) string {
	return filepath.Join(o.out, scene.Name+record.Extension)
}

// withAbsolutePaths returns a command in which the relative paths of existing files are absolute, because the client
// runs in another folder.
func withAbsolutePaths(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		if i == 0 && filepath.Base(arg) == arg {
			continue // a name that is looked up in PATH
		}
		if info, err := os.Stat(arg); err == nil && info.Mode().IsRegular() {
			if path, err := filepath.Abs(arg); err == nil {
				args[i] = path
			}
		}
	}
	return args
}
