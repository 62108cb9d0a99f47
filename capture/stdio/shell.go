package stdio

import (
	"os/exec"
	"runtime"

	"toolscope/capture"
)

// Watch runs a shell command, which keeps this program's standard streams. It records the command, its
// start and how it ended. An error means that the command could not be started.
func Watch(args []string, command string, o Options) (Ending, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w := &wrapper{o: o, cmd: exec.Command(args[0], args[1:]...), exited: make(chan struct{})}
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = o.Stdin, o.Stdout, o.Stderr
	w.putRecord(capture.Record{
		Side: capture.Request, Data: []byte(command),
		Head: &capture.Head{Method: capture.Shell, URL: "shell:" + o.Name, Start: o.Began},
	})
	signals, stop := catchSignals()
	defer stop()
	killWithParent(w.cmd)
	if err := w.cmd.Start(); err != nil {
		w.putRecord(capture.Record{End: capture.EndEOF, Why: "can't start it: " + capture.WithoutPath(err).Error(), By: capture.Toolscope})
		return Ending{}, err
	}
	go w.forwardSignals(signals)
	_ = w.cmd.Wait()
	close(w.exited)
	return w.recordEnd(), nil
}
